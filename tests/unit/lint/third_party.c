/* The table of third parties: each row is what a policy could say, and sound.
 */
#include "compiler/front/word/dest.h"
#include "compiler/lint/parts.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

static struct arena *a;
static struct sources sources;
static struct diags diags;

static void check_dest(const struct third_party *row)
{
	const struct source *s =
		sources_add(&sources, STR("row"), row->dest, LAYER_FLAGS);
	struct text text = {
		row->dest, {s->base, s->base + (uint32_t)row->dest.n}, s->base};
	struct pass_ctx c = {a, &sources, &diags};
	struct ir_dest d;

	CHECK_MSG(dest_parse(&c, &text, &d) && !d.has_port, "%s", row->dest.p);
	CHECK_MSG(d.kind == IR_DEST_HOST || d.kind == IR_DEST_PATTERN, "%s",
		  row->dest.p);
	CHECK_MSG(str_eq(ir_dest_name(&d), row->dest), "%s: not canonical",
		  row->dest.p);
	CHECK_MSG(!row->shared || d.kind == IR_DEST_PATTERN, "%s", row->dest.p);
}

static void check_row(const struct third_party *row)
{
	static const char *const methods[] = {"GET", "POST", "PUT", "PATCH"};
	struct str list = str_of(row->methods), one;

	check_dest(row);
	CHECK_MSG(row->path.p[0] == '/' && row->what[0], "%s", row->dest.p);
	CHECK_MSG(strstr(row->source, "://"), "%s", row->dest.p);
	while (strcmp(row->methods, "*") != 0 && str_field(&list, ',', &one)) {
		bool known = false;

		for (size_t i = 0; i < ARRAY_LEN(methods); i++)
			known |= str_is(one, methods[i]);
		CHECK_MSG(known, "%s: %s", row->dest.p, row->methods);
	}
	for (size_t i = 0; third_party_at(i) != row; i++) {
		const struct third_party *other = third_party_at(i);

		CHECK_MSG(!str_eq(other->dest, row->dest) ||
				  !str_eq(other->path, row->path),
			  "%s is there twice", row->dest.p);
	}
}

/* The same name, or one below it; a "*." in front is any label. */
static bool is_below(struct str name, struct str top)
{
	if (str_starts(top, STR("*.")))
		top = str_slice(top, 2, top.n);
	return str_ends(name, top) &&
	       (name.n == top.n || name.p[name.n - top.n - 1] == '.');
}

/*
 * Rows whose source is the Public Suffix List, against Debian's copy of it,
 * where there is one: the name or one below it is in there.
 */
static void check_psl(void)
{
	FILE *f = fopen("/usr/share/publicsuffix/public_suffix_list.dat", "r");
	VEC(struct str) list = {0};
	const struct third_party *row;
	char text[512];

	while (f && fgets(text, sizeof(text), f)) {
		struct str s = str_of(text);

		s = str_slice(s, 0, str_find(s, '\n', 0));
		if (s.n && !str_starts(s, STR("//")))
			*vec_push(a, &list) = arena_str(a, s);
	}
	if (f)
		fclose(f);
	for (size_t i = 0; list.n && (row = third_party_at(i)); i++) {
		size_t dot = str_find(row->dest, '.', 0);
		struct str base = str_slice(row->dest, dot + 1, row->dest.n);
		bool found = false;

		if (!strstr(row->source, "publicsuffix.org"))
			continue;
		vec_each(s, &list)
			found |= str_find(*s, '.', 0) < s->n &&
				 (is_below(base, *s) || is_below(*s, base));
		CHECK_MSG(found, "%s is not in the list", row->dest.p);
	}
	printf("%u suffixes\n", list.n);
}

static void check_of(const char *name, const char *method, const char *path,
		     const char *want)
{
	const struct third_party *row =
		third_party_of(str_of(name), str_of(method), str_of(path));

	CHECK_MSG(want ? row && str_is(row->dest, want) : !row, "%s: %s", name,
		  row ? row->dest.p : "none");
}

/* Whose a name is; a star is one label, two in front are some. */
static void check_names(void)
{
	const struct third_party *row;

	check_of("gist.github.com", "", "", "gist.github.com");
	check_of("github.com.evil.test", "", "", NULL);
	check_of("", "", "", NULL);
	check_of(".", "", "", NULL);
	check_of("a.nip.io", "", "", "**.nip.io");
	check_of("a.b.c.nip.io", "", "", "**.nip.io");
	check_of("nip.io", "", "", NULL);
	check_of("s3.eu-west-1.amazonaws.com", "", "", "s3.*.amazonaws.com");
	check_of("x.s3.eu-west-1.amazonaws.com", "", "",
		 "**.s3.*.amazonaws.com");
	row = third_party_of(STR("api.github.com"), STR("POST"), STR("/graphql"));
	CHECK(row && str_is(row->path, "/graphql"));
	row = third_party_of(STR("api.github.com"), STR("GET"), STR("/x"));
	CHECK(row && str_is(row->path, "/gists"));
}

int main(void)
{
	const struct third_party *row;
	size_t n;

	a = arena_new();
	sources_init(&sources, a);
	diags_init(&diags, a, &sources);
	for (n = 0; (row = third_party_at(n)); n++)
		check_row(row);
	CHECK(n > 300);
	check_psl();
	check_names();
	arena_free(a);
	return check_status();
}
