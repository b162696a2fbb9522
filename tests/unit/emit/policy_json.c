/*
 * policy.json of policies that have every key, and few: each is one itself,
 * and comes out as it went in. tests/oracle/recompile.c does that with whatever
 * policies there are; these are written out, so that a key that is lost in both
 * is missed.
 *
 * tests/unit/emit/policy/NAME.json; UPDATE=1 rewrites: read that diff.
 */
#include "tests/unit/emit/planned.h"

#include "compiler/base/sys/fileio.h"

#include <fcntl.h>
#include <stdlib.h>

static const char *const names[] = {"every", "other", "few"};

static void check_policy(const char *name)
{
	struct arena *a = arena_new();
	const char *path =
		arena_fmt(a, "tests/unit/emit/policy/%s.json", name).p;
	struct compilation c;
	struct str text, got;
	struct err err;

	CHECK(fileio_read(a, AT_FDCWD, path, 1 << 20, &text, &err) == 0);
	if (!planned(&c, text.p)) {
		struct buf b;

		buf_init(&b, a);
		diags_print(&c.diags, &b, false);
		CHECK_MSG(false, "%s\n%.*s", name, STR_ARG(buf_str(&b)));
	}
	got = planned_file(&c, "policy.json");
	if (getenv("UPDATE"))
		CHECK(fileio_write(AT_FDCWD, path, got, 0644, &err) == 0);
	CHECK_MSG(str_eq(got, text), "%s\n%.*s", name, STR_ARG(got));
	driver_done(&c);
	arena_free(a);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		check_policy(names[i]);
	return check_status();
}
