/*
 * Which line of an artefact came from which rule, of whole policies: what
 * `explain` shows as carrying a decision, and what a refusal of nft or HAProxy
 * leads back to.
 *
 * tests/unit/emit/marks/NAME.yaml is a policy, NAME.marks what is expected:
 * of each artefact the comments that name rules; then the lines that have
 * marks, in the order in which they were made, and below each its marks
 * (planned.h). What every policy has is
 * shown of the one that is called builtin. UPDATE=1 rewrites; read that diff.
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
	planned_put_comments(out, planned_file(c, file));
	planned_put_marks(out, c, file, all);
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

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(policies); i++)
		check_policy(policies[i]);
	check_unasked();
	return check_status();
}
