/*
 * names.h: which names are shown for patterns, and that these are all classes
 * there are: what matches is asked of name_match.h.
 */
#include "compiler/algebra/space/names.h"

#include "compiler/algebra/space/numbers.h"
#include "compiler/base/buf.h"
#include "compiler/base/limits.h"
#include "compiler/base/name_match.h"

#include "tests/check.h"

#define PATTERNS_MAX 32u

struct visits {
	struct arena *a;
	struct str patterns[PATTERNS_MAX];
	uint32_t n;
	struct buf shown;
	VEC(uint32_t) sets; /* of each class, one bit per pattern */
	struct str first;   /* what is shown of the first pattern alone */
};

/* "name=0,2 " */
static void show_class(void *ctx, const struct names_class *c)
{
	struct visits *v = ctx;
	uint32_t set = 0, ids[PATTERNS_MAX];

	for (uint32_t i = 0; i < c->n; i++)
		ids[i] = c->ids[i];
	numbers_sort(ids, c->n);
	buf_addf(&v->shown, "%.*s=", STR_ARG(c->name));
	for (uint32_t i = 0; i < c->n; i++) {
		buf_addf(&v->shown, i ? ",%u" : "%u", ids[i]);
		set |= 1u << ids[i];
	}
	buf_addc(&v->shown, ' ');
	*vec_push(v->a, &v->sets) = set;
	for (uint32_t i = 0; i < v->n; i++)
		CHECK_MSG(name_matches(v->patterns[i], c->name) ==
				  (set >> i & 1),
			  "%.*s and %.*s", STR_ARG(v->patterns[i]),
			  STR_ARG(c->name));
}

static void visit_patterns(struct visits *v, const char *patterns)
{
	struct names *n;
	struct str rest = str_of(patterns), word;

	*v = (struct visits){.a = arena_new()};
	n = names_new(v->a);
	buf_init(&v->shown, v->a);
	while (str_field(&rest, ' ', &word)) {
		names_add(n, word, v->n);
		v->patterns[v->n++] = word;
	}
	CHECK(names_each(n, show_class, v));
}

static const struct {
	const char *patterns, *classes;
} cases[] = {
	{"", "example.com= "},
	{"a.test", "example.com= a.test=0 "},
	{"test", "example.com= test=0 "},
	{"**", "example.com=0 "},
	{"*.test", "example.com= example.test=0 "},
	{"**.test", "example.com= example.test=0 "},
	{"a.test b.test", "example.com= a.test=0 b.test=1 "},
	{"a.b.test", "example.com= b.test= a.b.test=0 "},
	{"*.test a.test", "example.com= example.test=0 a.test=0,1 "},
	{"**.test a.test",
	 "example.com= example.test=0 a.test=0,1 www.a.test=0 "},
	{"**.test *.test", "example.com= example.test=0,1 www.example.test=0 "},
	{"*.*.test", "example.com= example.test= www.example.test=0 "},
	{"a.*.test *.b.test",
	 "example.com= example.test= a.example.test=0 b.test= www.b.test=1 a.b.test=0,1 "},
	{"**.test a.*.test",
	 "example.com= example.test=0 www.example.test=0 a.example.test=0,1 "},
	{"com", "example.org= com=0 "},
	{"a.com", "example.org= a.com=0 "},
	{"a.com com", "example.org= com=1 a.com=0 "},
	{"a.com b.org c.net d.io e.example",
	 "example.x1= a.com=0 e.example=4 d.io=3 c.net=2 b.org=1 "},
	{"a.com b.org c.net d.io e.example f.x1",
	 "example.x2= a.com=0 e.example=4 d.io=3 c.net=2 b.org=1 f.x1=5 "},
	{"*.com example.com", "example.org= site.com=0 example.com=0,1 "},
	{"** a.test", "example.com=0 example.test=0 a.test=0,1 "},
	{"a.test a.test", "example.com= a.test=0,1 "},
	{"**.a.test **.b.a.test",
	 "example.com= a.test= www.a.test=0 b.a.test=0 www.b.a.test=0,1 "},
	{"**.b.test a.b.test c.a.b.test",
	 "example.com= b.test= www.b.test=0 a.b.test=0,1 www.a.b.test=0 c.a.b.test=0,2 "},
	{"*.test www.test api.test app.test mail.test host.test",
	 "example.com= example.test=0 api.test=0,2 app.test=0,3 host.test=0,5 mail.test=0,4 www.test=0,1 "},
	{"*.test x1.test www.test api.test app.test mail.test host.test",
	 "example.com= example.test=0 api.test=0,3 app.test=0,4 host.test=0,6 mail.test=0,5 www.test=0,2 x1.test=0,1 "},
	{"**.test eu.test www.eu.test",
	 "example.com= example.test=0 eu.test=0,1 api.eu.test=0 www.eu.test=0,2 "},
	{"*.* *.a", "com= example.com=0 example.a=0,1 "},
	{"**.*.test", "example.com= example.test= www.example.test=0 "},
	{"test *.test **",
	 "example.com=2 test=0,2 example.test=1,2 www.example.test=2 "},
	{"*.a.test a.test *.*.test",
	 "example.com= example.test= www.example.test=2 a.test=1 www.a.test=0,2 "},
	{"x.b.test x.*.test",
	 "example.com= example.test= x.example.test=1 b.test= x.b.test=0,1 "},
	{"a.*.b.test", "example.com= b.test= www.b.test= a.eu.b.test=0 "},
	{"a.*.*.b.test",
	 "example.com= b.test= www.b.test= www.eu.b.test= a.eu.eu.b.test=0 "},
	{"** a.*", "com=0 example.com=0 a.com=0,1 "},
};

static void check_shown(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct visits v;

		visit_patterns(&v, cases[i].patterns);
		CHECK_MSG(str_is(buf_str(&v.shown), cases[i].classes),
			  "%s:\n\t\t\"%.*s\"", cases[i].patterns,
			  STR_ARG(buf_str(&v.shown)));
		arena_free(v.a);
	}
}

/* All names of these labels, three at most, are of a class that was visited. */
static void check_complete(const struct visits *v, const char *const labels[],
			   size_t n_labels, struct str tail, int depth)
{
	for (size_t i = 0; i < n_labels; i++) {
		struct str name = tail.n ? arena_fmt(v->a, "%s.%.*s", labels[i],
						     STR_ARG(tail))
					 : str_of(labels[i]);
		uint32_t set = 0;
		bool found = false;

		for (uint32_t k = 0; k < v->n; k++)
			if (name_matches(v->patterns[k], name))
				set |= 1u << k;
		vec_each(s, &v->sets)
			found |= *s == set;
		CHECK_MSG(found, "nothing like %.*s", STR_ARG(name));
		if (depth < 3)
			check_complete(v, labels, n_labels, name, depth + 1);
	}
}

static void check_classes(void)
{
	static const char *const labels[] = {"test", "com", "a",
					     "b",    "www", "z"};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct visits v;

		visit_patterns(&v, cases[i].patterns);
		check_complete(&v, labels, ARRAY_LEN(labels), STR(""), 1);
		arena_free(v.a);
	}
}

/* --- bounds --------------------------------------------------------------- */

/* The name of the first pattern's alone. */
static void keep_first(void *ctx, const struct names_class *c)
{
	struct visits *v = ctx;

	v->n++;
	CHECK(c->name.n);
	if (c->n == 1 && c->ids[0] == 0)
		v->first = arena_str(v->a, c->name);
}

/* A name of so many bytes, of labels that are as long as can be. */
static struct str long_name(struct arena *a, size_t bytes)
{
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < bytes; i++)
		buf_addc(&b, i % 64 == 63 && i + 1 < bytes ? '.' : 'y');
	return buf_str(&b);
}

/*
 * What is shown of '*' before a name of so many bytes, where patterns name
 * labels there: so many of "a", …, "z", "aa", "ab", …
 */
static const struct {
	size_t bytes;
	unsigned taken;
	const char *label; /* NULL: no name is that long */
} below[] = {
	{248, 0, "www"},  {249, 0, "www"}, {250, 0, "a"},   {251, 0, "a"},
	{252, 0, NULL},	  {250, 1, "b"},   {251, 25, "z"},  {250, 26, "aa"},
	{251, 26, NULL},  {250, 27, "ab"}, {250, 61, "a9"}, {250, 62, "ba"},
	{250, 961, "z9"},
};

static struct str taken_label(struct arena *a, unsigned i)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";

	if (i < 26)
		return arena_fmt(a, "%c", digits[i]);
	i -= 26;
	return arena_fmt(a, "%c%c", digits[i / 36], digits[i % 36]);
}

static void check_long(void)
{
	for (size_t i = 0; i < ARRAY_LEN(below); i++) {
		struct visits v = {.a = arena_new()};
		struct names *n = names_new(v.a);
		struct str name = long_name(v.a, below[i].bytes), wanted = {0};

		names_add(n, arena_fmt(v.a, "*.%.*s", STR_ARG(name)), 0);
		for (unsigned k = 0; k < below[i].taken; k++)
			names_add(n,
				  arena_fmt(v.a, "%.*s.%.*s",
					    STR_ARG(taken_label(v.a, k)),
					    STR_ARG(name)),
				  1);
		CHECK(names_each(n, keep_first, &v));
		if (below[i].label)
			wanted = arena_fmt(v.a, "%s.%.*s", below[i].label,
					   STR_ARG(name));
		CHECK_MSG(str_eq(v.first, wanted), "%zu, %u: %.*s",
			  below[i].bytes, below[i].taken, STR_ARG(v.first));
		arena_free(v.a);
	}
}

/*
 * Where every label of two letters is taken, and every word that people know
 * and number behind an 'x' that is as long as three.
 */
static void check_taken(void)
{
	static const char *const words[] = {"www", "api", "app", "mail",
					    "host"};
	struct visits v = {.a = arena_new()};
	struct names *n = names_new(v.a);
	struct str name = long_name(v.a, 248);

	names_add(n, arena_fmt(v.a, "*.%.*s", STR_ARG(name)), 0);
	for (unsigned i = 0; i < 26 + 26 * 36; i++)
		names_add(n,
			  arena_fmt(v.a, "%.*s.%.*s",
				    STR_ARG(taken_label(v.a, i)),
				    STR_ARG(name)),
			  1);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		names_add(n, arena_fmt(v.a, "%s.%.*s", words[i], STR_ARG(name)),
			  1);
	for (unsigned i = 10; i < 1000; i++)
		names_add(n, arena_fmt(v.a, "x%u.%.*s", i, STR_ARG(name)), 1);
	CHECK(names_each(n, keep_first, &v));
	CHECK(v.first.n == LIMIT_NAME_BYTES &&
	      str_starts(v.first, STR("x3a8.")));
	arena_free(v.a);
}

/* Stars, as many as a name has labels at most, or one of them in turn "a". */
static void add_stars(struct visits *v, struct names *n, unsigned labels,
		      unsigned named)
{
	struct buf b;

	buf_init(&b, v->a);
	for (unsigned i = 0; i < labels; i++)
		buf_adds(&b, i == named ? i ? ".a" : "a" : i ? ".*" : "*");
	names_add(n, buf_str(&b), 0);
}

static void check_deep(void)
{
	struct visits v = {.a = arena_new()};
	struct names *n = names_new(v.a);

	add_stars(&v, n, 127, 127);
	CHECK(names_each(n, keep_first, &v));
	CHECK(v.n == 127 && v.first.n == LIMIT_NAME_BYTES);
	arena_free(v.a);
}

/* '**' owes a name of its own, which has no room below so many labels. */
static void check_deepest(void)
{
	struct visits v = {.a = arena_new()};
	struct names *n = names_new(v.a);

	add_stars(&v, n, 127, 127);
	names_add(n, STR("**.a"), 1);
	CHECK(names_each(n, keep_first, &v));
	CHECK(v.n > 127 && v.first.n == LIMIT_NAME_BYTES);
	arena_free(v.a);
}

/* What has more labels than a name as long as can be was walked before it. */
static void check_long_behind(void)
{
	struct visits v = {.a = arena_new()};
	struct names *n = names_new(v.a);
	struct str name = long_name(v.a, LIMIT_NAME_BYTES);

	names_add(n, name, 0);
	names_add(n, STR("a.b.c.d.e"), 1);
	CHECK(names_each(n, keep_first, &v));
	CHECK_MSG(str_eq(v.first, name), "%.*s", STR_ARG(v.first));
	arena_free(v.a);
}

/* Two classes at each of 18 labels are more than there may be. */
static void check_many(void)
{
	struct visits v = {.a = arena_new()};
	struct names *n = names_new(v.a);

	for (unsigned i = 0; i < 18; i++)
		add_stars(&v, n, 18, i);
	CHECK(!names_each(n, keep_first, &v));
	CHECK(v.n <= LIMIT_NAME_CLASSES && v.n > LIMIT_NAME_CLASSES - 100);
	arena_free(v.a);
}

int main(void)
{
	check_shown();
	check_classes();
	check_long();
	check_taken();
	check_deep();
	check_deepest();
	check_long_behind();
	check_many();
	return check_status();
}
