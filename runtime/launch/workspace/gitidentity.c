#include "runtime/launch/workspace/gitidentity.h"

#include "compiler/base/buf.h"
#include "runtime/launch/workspace/gitcmd.h"
#include "runtime/launch/workspace/wspath.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LISTING_MAX (64u << 10)
#define TIMEOUT_MS  5000

/* As git lists them, and as people write them. */
static const struct {
	const char *listed, *key, *section, *name;
} keys[] = {
	{"user.name", "user.name", "user", "name"},
	{"user.email", "user.email", "user", "email"},
	{"init.defaultbranch", "init.defaultBranch", "init", "defaultBranch"},
};

#define ALL_KEYS "^(user\\.(name|email)|init\\.defaultbranch)$"

/* One line of the listing. */
struct entry {
	struct str scope, origin, key, value;
	bool has_value; /* a key alone has none */
};

static void add_note(struct arena *a, struct gitidentity *g, struct str why)
{
	*vec_push(a, &g->notes) = arena_fmt(
		a, "git's identity does not go in: %.*s", STR_ARG(why));
}

/* --- the listing --------------------------------------------------------- */

static bool next_entry(struct str *rest, struct entry *out)
{
	struct str one;

	*out = (struct entry){0};
	if (!str_field(rest, '\0', &out->scope) ||
	    !str_field(rest, '\0', &out->origin) ||
	    !str_field(rest, '\0', &one))
		return false;
	out->has_value = memchr(one.p, '\n', one.n) != NULL;
	str_field(&one, '\n', &out->key);
	out->value = one;
	return true;
}

/* "file:/home/me/.gitconfig" or, of a variable, "command line:". */
static struct str origin_text(struct arena *a, struct str origin,
			      const char *home)
{
	struct str file = STR("file:");

	if (!str_starts(origin, file))
		return STR("the environment");
	origin = str_slice(origin, file.n, origin.n);
	if (home && *home && wspath_below(origin, str_of(home)))
		origin = arena_fmt(
			a, "~%.*s",
			STR_ARG(str_slice(origin, strlen(home), origin.n)));
	return str_of(wspath_show(a, origin));
}

static bool has_control(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
			return true;
	return false;
}

/* The entry that counts for a key; an empty value takes back what others set.
 */
static void take_entry(struct arena *a, const struct entry *e, const char *key,
		       const char *home, struct gitidentity *out)
{
	struct str from = origin_text(a, e->origin, home);
	const char *why = NULL;

	if (!e->has_value)
		why = "has no value";
	else if (e->value.n > GITIDENTITY_VALUE_MAX)
		why = "is too long";
	else if (has_control(e->value))
		why = "holds control characters";
	if (why)
		add_note(
			a, out,
			arena_fmt(a, "%s of %.*s %s", key, STR_ARG(from), why));
	else if (e->value.n)
		*vec_push(a, &out->values) = (struct gitidentity_value){
			key, arena_str(a, e->value), from};
}

void gitidentity_read(struct arena *a, struct str listing, const char *home,
		      struct gitidentity *out)
{
	*out = (struct gitidentity){0};
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct str rest = listing;
		struct entry e, last = {0};

		while (next_entry(&rest, &e))
			if (str_is(e.key, keys[i].listed) &&
			    !str_is(e.scope, "local") &&
			    !str_is(e.scope, "worktree"))
				last = e;
		if (last.key.n)
			take_entry(a, &last, keys[i].key, home, out);
	}
}

/* --- asking -------------------------------------------------------------- */

/* git's own words, of the first line that says what is wrong. */
static struct str complaint_of(struct arena *a, const struct gitcmd *g)
{
	static const char *const kinds[] = {"fatal: ", "error: "};
	struct str rest = g->complaint, line;

	while (str_line(&rest, &line))
		for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
			if (str_starts(line, str_of(kinds[i])))
				return str_of(wspath_show(
					a, str_slice(line, strlen(kinds[i]),
						     line.n)));
	return arena_fmt(a, "git failed with status %d", g->status);
}

void gitidentity_find(struct arena *a, const char *workspace,
		      struct gitidentity *out)
{
	static const char *const words[] = {"config",
					    "--null",
					    "--show-scope",
					    "--show-origin",
					    "--get-regexp",
					    ALL_KEYS,
					    NULL};
	struct gitcmd g = {.dir = workspace,
			   .words = words,
			   .of = GITCMD_USER,
			   .max = LISTING_MAX,
			   .timeout_ms = TIMEOUT_MS};
	struct err err;

	*out = (struct gitidentity){0};
	if (gitcmd_run(a, &g, &err) < 0) {
		if (err.code != -ENOENT)
			add_note(a, out,
				 err.code == -ETIMEDOUT
					 ? STR("git did not answer in time")
					 : str_of(err.text));
		return;
	}
	/* 1: there is none of the keys */
	if (g.status > 1)
		add_note(a, out, complaint_of(a, &g));
	else
		gitidentity_read(a, g.text, getenv("HOME"), out);
}

/* --- the file ------------------------------------------------------------ */

static void put_value(struct buf *out, size_t key, struct str value)
{
	buf_addf(out, "[%s]\n\t%s = \"", keys[key].section, keys[key].name);
	for (size_t i = 0; i < value.n; i++) {
		if (value.p[i] == '"' || value.p[i] == '\\')
			buf_addc(out, '\\');
		buf_addc(out, value.p[i]);
	}
	buf_adds(out, "\"\n");
}

struct str gitidentity_config(struct arena *a, const struct gitidentity *g)
{
	struct buf out;

	if (g->values.n == 0)
		return STR("");
	buf_init(&out, a);
	buf_adds(
		&out,
		"# Who git takes you for, from the host. Every other setting wins over it.\n");
	vec_each(v, &g->values)
		for (size_t i = 0; i < ARRAY_LEN(keys); i++)
			if (strcmp(v->key, keys[i].key) == 0)
				put_value(&out, i, v->value);
	return buf_str(&out);
}
