/*
 * What a session did, counted: each request once, however long its trace is.
 */
#include "compiler/cli/account/activity.h"

#include "tests/check.h"

#include <fcntl.h>
#include <string.h>

#define FILES 6000u /* more than fit what is kept of a record at hand */

static void open_file(struct activity *d, unsigned i, int flags)
{
	char path[64], number[16];
	struct trace_event e = {.name = STR("security_file_open"), .n = 2};

	snprintf(path, sizeof(path), "/workspace/some/folder/file-%u", i);
	snprintf(number, sizeof(number), "%d", flags);
	e.leaf[0] = (struct trace_leaf){STR("pathname"), str_of(path), false};
	e.leaf[1] = (struct trace_leaf){STR("flags"), str_of(number), true};
	activity_event(d, &e, NULL, NULL);
}

/* Twice the same is one that was done twice. */
static void check_long(struct arena *a)
{
	struct activity d;
	char text[64];

	activity_init(&d, a);
	activity_mounted(&d, "/workspace");
	for (unsigned i = 0; i < 2 * FILES; i++)
		open_file(&d, i % FILES, O_WRONLY);
	CHECK_MSG(d.v.n == FILES && d.beyond == 0, "%u", d.v.n);
	for (unsigned i = 0; i < d.v.n; i++) {
		const struct act *x = &d.v.v[i];

		snprintf(text, sizeof(text), "write some/folder/file-%u", i);
		if (!str_is(x->text, text) || x->n != 2 ||
		    !str_is(x->r.path, text + strlen("write ")))
			CHECK_MSG(false, "%u: '%.*s' x%llu", i,
				  STR_ARG(x->text), (unsigned long long)x->n);
	}
	activity_sort(&d);
	CHECK(d.v.n == FILES);
}

int main(void)
{
	struct arena *a = arena_new();

	check_long(a);
	arena_free(a);
	return check_status();
}
