/*
 * The plan of the newest session of a workspace that has one on record.
 */
#include "compiler/cli/review/parts.h"

#include "runtime/launch/session/change_log.h"

#include <errno.h>
#include <string.h>

static int newest_first(const void *va, const void *vb)
{
	const struct metadata *a = va, *b = vb;

	if (a->started_s != b->started_s)
		return a->started_s < b->started_s ? 1 : -1;
	return strcmp(a->session.id, b->session.id);
}

static int read_plan(struct arena *a, struct ran *r, struct err *err)
{
	change_log_list done = {0};
	int rc = change_log_read(a, &r->about.session, &done, err);

	if (rc < 0)
		return rc;
	return change_log_plan(a, &r->about.session, done.n + 1, &r->plan, err);
}

int ran_find(struct arena *a, const char *state, const char *workspace,
	     struct ran *out, struct err *err)
{
	VEC(struct metadata) here = {0};
	sessions all = {0};
	struct err ignored;
	int rc = session_list(a, state, &all, err);

	if (rc < 0)
		return rc;
	vec_each(s, &all) {
		struct metadata x;

		metadata_read(a, s, &x);
		if (x.known && strcmp(x.workspace, workspace) == 0)
			*vec_push(a, &here) = x;
	}
	vec_sort(&here, newest_first);
	/* One that never came as far as a plan says nothing. */
	vec_each(x, &here) {
		struct ran r = {.about = *x};

		if (read_plan(a, &r, &ignored) == 0) {
			*out = r;
			return 0;
		}
	}
	return err_set(err, -ENOENT, "no session of %s is on record",
		       workspace);
}
