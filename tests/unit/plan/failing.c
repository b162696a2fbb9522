/* A plan that takes the place of another one, when the system says no. */
#include "compiler/base/sys/fileio.h"
#include "compiler/plan/plan.h"
#include "tests/check.h"
#include "tests/unit/failing.h"

#include <limits.h>
#include <stdlib.h>

static struct arena *a;
static struct err err;
static const char *dir, *place;

static struct plan plan_of(const char *text)
{
	struct plan p = {0};

	plan_add(a, &p, STR("ruleset.nft"), str_of(text));
	return p;
}

static int write_plan(const char *text)
{
	struct plan p = plan_of(text);

	return plan_write(place, &p, &err);
}

static bool holds(const char *text)
{
	struct plan p = {0};
	const struct plan_file *f;

	if (plan_read(a, place, &p, &err) < 0)
		return false;
	f = plan_file(&p, "ruleset.nft");
	return f && str_is(f->data, text);
}

/* Beside the plan, and what is none of it. */
static unsigned entries(void)
{
	DIR *d = opendir(dir);
	unsigned n = 0;

	CHECK(d != NULL);
	while (d && readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

/* The old plan is there, whole, and nothing beside it. */
static bool stays(const char *call, unsigned after, int code)
{
	int rc;

	CHECK(write_plan("old") == 0);
	fail_call(call, after, code);
	rc = write_plan("new");
	return has_failed() && rc == -code && holds("old") && entries() == 1;
}

static void check_kept(void)
{
	CHECK(stays("renameat2", 0, EACCES));
	CHECK(stays("fdopendir", 0, ENOMEM));
	CHECK(stays("renameat", 0, EIO)); /* of a file in the new one */
}

/* Where two names cannot be swapped, one goes aside for a moment. */
static void check_aside(void)
{
	static const int unknown[] = {ENOSYS, EINVAL};

	for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
		CHECK(write_plan("old") == 0);
		fail_call("renameat2", 0, unknown[i]);
		CHECK(write_plan("new") == 0 && has_failed());
		CHECK(holds("new") && entries() == 1);
	}
}

/* What takes the place of a plan has a name of its own until then. */
static void check_long(void)
{
	char name[NAME_MAX + 1];
	struct plan p = plan_of("x");

	memset(name, 'x', NAME_MAX);
	name[NAME_MAX] = '\0';
	CHECK(plan_write(arena_fmt(a, "%s/%s", dir, name).p, &p, &err) ==
	      -ENAMETOOLONG);
	CHECK(entries() == 1);
}

static void check_names(void)
{
	static const char *const odd[] = {"../x", "", ".hidden", "a/b"};

	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		struct plan p = {0};

		plan_add(a, &p, str_of(odd[i]), STR("x"));
		CHECK_MSG(plan_write(place, &p, &err) == -EINVAL, "'%s'",
			  odd[i]);
		CHECK(holds("new") && entries() == 1);
	}
}

static void check_reading(void)
{
	struct plan p = {0};

	fail_call("fdopendir", 0, ENOMEM);
	CHECK(plan_read(a, place, &p, &err) == -ENOMEM && has_failed());
	CHECK(p.files.n == 0);
}

int main(void)
{
	char top[] = "/tmp/membrane-plan-XXXXXX";

	a = arena_new();
	CHECK(mkdtemp(top) != NULL);
	dir = top;
	place = arena_fmt(a, "%s/p", dir).p;
	check_kept();
	check_aside();
	check_long();
	check_names();
	check_reading();
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
