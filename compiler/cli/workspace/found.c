#include "compiler/cli/workspace/found.h"

#include "compiler/plan/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>

static struct str real_of(struct arena *a, const char *path)
{
	char real[PATH_MAX];

	return realpath(path, real) ? arena_str(a, str_of(real)) : STR("");
}

int found_look(struct arena *a, const struct inputs *in,
	       const struct plan *plan, struct found *out, struct err *err)
{
	const struct plan_file *mounts = plan_file(plan, PLAN_MOUNTS);
	struct looked_at at = {.state = real_of(a, in->state),
			       .root_path = str_of(in->workspace),
			       .readonly = scan_is_readonly(in->workspace)};
	int rc;

	*out = (struct found){0};
	if (!mounts)
		return err_set(err, -ENOENT, "the plan has no mounts.plan");
	at.mounts = mounts->data;
	at.root = open(in->workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at.root < 0)
		return err_errno(err, in->workspace);
	rc = looked_make(a, &at, &out->looked, err);
	if (rc < 0) {
		fd_close(&at.root);
		*out = (struct found){0};
		return rc;
	}
	out->a = a;
	out->lines = arena_array(a, out->looked.git.paths.n + 1,
				 sizeof(*out->lines));
	return 0;
}

void found_done(struct found *f)
{
	if (f->a)
		fd_close(&f->looked.at.root);
	f->a = NULL;
}

uint32_t found_line(struct found *f, const struct gitfound_path *p)
{
	uint32_t *line = &f->lines[p - f->looked.git.paths.v];

	if (*line == 0 && !p->is_own)
		*line = gitfound_line(f->a, &p->at);
	return *line;
}

const struct committed *found_committed(struct found *f)
{
	const struct looked *l = &f->looked;

	if (!f->has_committed)
		committed_find(f->a, l->at.root_path, l->plan.ignore, &l->found,
			       &l->git.repos, false, &f->committed);
	f->has_committed = true;
	return &f->committed;
}

void found_identity(struct arena *a, const struct inputs *in,
		    struct gitidentity *out)
{
	gitidentity_find(a, in->workspace, out);
}

void found_linked(struct arena *a, const struct inputs *in,
		  struct gitlinked *out)
{
	const char *home = getenv("HOME");
	struct gitlinked_places at = {
		.root_path = str_of(in->workspace),
		.state = real_of(a, in->state),
		.home = home ? real_of(a, home) : STR(""),
	};

	gitlinked_find(a, &at, out);
}
