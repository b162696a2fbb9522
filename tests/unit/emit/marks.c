/*
 * Which line of an artefact came from which rule, of whole policies: what
 * `explain` shows as carrying a decision, and what a refusal of nft or HAProxy
 * leads back to.
 *
 * tests/unit/emit/marks/NAME.yaml is a policy, NAME.marks what is expected:
 * of each artefact the comments that name rules; then the lines that have
 * marks, in the order in which they were made, and below each its marks. What
 * every policy has is shown of the one that is called builtin. UPDATE=1
 * rewrites; read that diff.
 */
#include "tests/unit/emit/planned.h"

#include "compiler/base/sys/fileio.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define FOLDER "tests/unit/emit/marks/"

static const char *const policies[] = {
	"any",		 "any-looked", "any-mixed",
	"ask",		 "builtin",    "credentials",
	"files",	 "machine",    "machine-denied",
	"names",	 "networks",   "quic",
	"quic-networks", "upstream",
};

static const char *const files[] = {
	"ruleset.nft", "names.map",   "gate.cfg",    "hosts.map",
	"addr.map",    "mounts.plan", "docker.json",
};

/* --- what is shown of an artefact ----------------------------------------- */

static void put_uses(struct buf *out, unsigned uses)
{
	static const char *const names[] = {
		"name",	 "tcp4",    "tcp6", "udp4",  "udp6", "raw",
		"hello", "request", "read", "write", "arg",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (uses & 1u << i)
			buf_addf(out, " %s", names[i]);
}

static void put_reasons(struct buf *out, uint64_t reasons)
{
	if (reasons == MARKS_ANY) {
		buf_adds(out, " any");
		return;
	}
	for (unsigned i = 0; i < 64; i++)
		if (reasons & UINT64_C(1) << i)
			buf_addf(out, " %s", reason_name((enum reason)i));
}

/* " 3: tcp4 for granted, rule 2, 10.0.0.0-10.255.255.255" */
static void put_mark(struct buf *out, struct compilation *c,
		     const struct marks_one *m)
{
	char lo[ADDR_TEXT_MAX], hi[ADDR_TEXT_MAX];

	if (!m->from)
		buf_adds(out, "    -:");
	else if (m->from->layer == LAYER_FLOOR)
		buf_adds(out, "    floor:");
	else
		buf_addf(out, "    %u:",
			 sources_place(&c->sources, m->from->at).line);
	put_uses(out, m->uses);
	buf_adds(out, " for");
	put_reasons(out, m->reasons);
	if (m->rule)
		buf_addf(out, ", rule %u", m->rule);
	if (m->has_range)
		buf_addf(out, ", %s-%s", addr_text(&m->lo, lo),
			 addr_text(&m->hi, hi));
	buf_addc(out, '\n');
}

/* Comments that name rules of the policy, each first one with that before it.
 */
static void put_comments(struct buf *out, struct str text)
{
	struct str line, before = {0};

	while (str_line(&text, &line)) {
		struct str now = str_trim(line);

		if (!str_starts(now, STR("# ")))
			now.n = 0;
		if (now.n && memmem(now.p, now.n, " .membrane.yaml:", 16)) {
			if (before.n)
				buf_addf(out, "%.*s\n", STR_ARG(before));
			buf_addf(out, "%.*s\n", STR_ARG(now));
			now.n = 0;
		}
		before = now;
	}
}

/*
 * The marks of an artefact in their order, below the lines that they are at:
 *
 *	ip daddr @cidr4_1 tcp dport 443 goto granted
 *	    3: tcp4 for granted
 *
 * 3 is the line of the policy, "-" of no rule, "floor" of a built-in one. all:
 * else without the networks and files that are built in.
 */
static void put_marks(struct buf *out, struct compilation *c, const char *file,
		      bool all)
{
	struct str text = planned_file(c, file), line;
	uint32_t last = 0;

	vec_each(m, &c->marks.list) {
		bool policy =
			m->from ? m->from->layer != LAYER_FLOOR : !m->has_range;
		uint32_t at;

		if (strcmp(m->file, file) != 0 || !(policy || all))
			continue;
		at = marks_line(text, m->at, &line);
		if (at != last)
			buf_addf(out, "%.*s\n", STR_ARG(str_trim(line)));
		last = at;
		put_mark(out, c, m);
	}
}

/* --- policies ------------------------------------------------------------- */

static struct str read_text(struct arena *a, const char *name,
			    const char *suffix)
{
	const char *path = arena_fmt(a, FOLDER "%s.%s", name, suffix).p;
	struct err err;
	struct str text;

	if (fileio_read(a, AT_FDCWD, path, 1 << 20, &text, &err) == 0)
		return text;
	CHECK_MSG(false, "%s", err.text);
	return (struct str){0};
}

static void check_expected(struct arena *a, const char *name, struct str got)
{
	struct err err;

	if (getenv("UPDATE"))
		CHECK(fileio_write(AT_FDCWD,
				   arena_fmt(a, FOLDER "%s.marks", name).p, got,
				   0644, &err) == 0);
	CHECK_MSG(str_eq(got, read_text(a, name, "marks")), "%s\n%.*s", name,
		  STR_ARG(got));
}

static void put_file(struct buf *out, struct compilation *c, const char *file,
		     bool all)
{
	buf_addf(out, "== %s\n", file);
	put_comments(out, planned_file(c, file));
	put_marks(out, c, file, all);
}

static void check_policy(const char *name)
{
	bool all = strcmp(name, "builtin") == 0;
	struct arena *a = arena_new();
	struct compilation c;
	struct buf out;

	buf_init(&out, a);
	CHECK_MSG(planned(&c, read_text(a, name, "yaml").p), "%s", name);
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		put_file(&out, &c, files[i], all);
	check_expected(a, name, buf_str(&out));
	driver_done(&c);
	arena_free(a);
}

/* Nobody who does not ask for marks gets any, nor other artefacts. */
static void check_unasked(void)
{
	struct compilation asked, plain;
	const char *policy = "allow: [a.test, 10.0.0.0/8:443]\n"
			     "ask: [b.test]\n"
			     "deny: [10.1.0.0/16, a.test:22]\n";

	CHECK(planned(&asked, policy) && planned_plain(&plain, policy));
	CHECK(asked.marks.list.n && !plain.marks.list.n);
	CHECK(asked.plan.files.n == plain.plan.files.n);
	for (uint32_t i = 0; i < plain.plan.files.n; i++)
		CHECK(str_eq(asked.plan.files.v[i].data,
			     plain.plan.files.v[i].data));
	driver_done(&asked);
	driver_done(&plain);
}

/* The end of a line is its own, and not of the next. */
static void check_line_ends(void)
{
	struct str text = STR("one\ntwo\n"), line;

	CHECK(marks_line(text, 2, &line) == 1 && str_is(line, "one"));
	CHECK(marks_line(text, 3, &line) == 1 && str_is(line, "one"));
	CHECK(marks_line(text, 4, &line) == 2 && str_is(line, "two"));
	CHECK(marks_line(text, 7, &line) == 2 && str_is(line, "two"));
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(policies); i++)
		check_policy(policies[i]);
	check_unasked();
	check_line_ends();
	return check_status();
}
