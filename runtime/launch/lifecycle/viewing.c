/*
 * The start of the view of the workspace, and what it is told of that.
 */
#include "runtime/launch/lifecycle/parts.h"

#include "compiler/plan/docker_json.h"
#include "compiler/plan/files.h"
#include "compiler/plan/mounts_plan.h"
#include "runtime/launch/docker/rootless.h"
#include "runtime/launch/inside/inside.h"
#include "runtime/launch/view/hello.h"
#include "runtime/launch/view/kept.h"
#include "runtime/launch/view/mounted.h"
#include "runtime/launch/view/refusals.h"
#include "runtime/launch/view/written.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

int viewing_open(struct launch *l, struct err *err)
{
	struct mounts *m = &l->mounts;
	int rc = 0;

	if (m->view < 0)
		rc = engines_view(l, DOCKER_JSON_VIEW_MOUNT, &m->view, err);
	m->home = l->owner.home;
	m->home_at = MOUNTS_PLAN_HOME;
	if (rc == 0 && l->protects && m->home_view < 0)
		rc = engines_view(l, DOCKER_JSON_VIEW_HOME, &m->home_view, err);
	return rc;
}

/* Named like the program, the main process is that program's. */
static int add_home(struct launch *l, const struct mountsplan *plan,
		    const struct hello_owner *owner, struct str *hello,
		    struct err *err)
{
	const char *command = l->o.command[0], *name = NULL;
	bool serves = false;
	struct str home;
	int rc;

	if (command)
		name = strrchr(command, '/') ? strrchr(command, '/') + 1
					     : command;
	vec_each(by, &plan->by)
		serves |= name && str_is(*by, name);
	if (!serves && !l->o.quiet)
		fprintf(stderr,
			"membrane: files that 'protect' names are for %.*s, and the command is %s: nobody opens them\n",
			STR_ARG(plan->by.v[0]),
			name ? "another" : "the image's own");
	if (serves)
		l->values.command = inside_sealed(l->a, l->image_name,
						  l->o.command);
	rc = hello_write_home(l->a, l->owner.home, owner, serves ? name : NULL,
			      &home, err);
	if (rc == 0)
		*hello = arena_fmt(l->a, "%.*s%.*s", STR_ARG(*hello),
				   STR_ARG(home));
	return rc;
}

int viewing_tell(struct launch *l, struct err *err)
{
	const struct plan_file *f = plan_file(l->o.plan, PLAN_MOUNTS);
	struct hello_owner owner = {l->owner.uid, l->owner.gid};
	hello_holds *holds = arena_new_of(l->a, hello_holds);
	struct looked *looked = arena_new_of(l->a, struct looked);
	looked_notes notes = {0};
	char state[PATH_MAX];
	struct looked_at at;
	struct str hello;
	int rc = looked_state(l->o.state, l->o.workspace, state, err);

	if (rc < 0)
		return rc;
	at = (struct looked_at){.state = arena_str(l->a, str_of(state)),
				.root_path = str_of(l->o.workspace),
				.root = l->mounts.root,
				.mounts = f->data,
				.own = l->mounts.own,
				.linked = l->o.linked,
				.outside = &l->outside,
				.readonly = l->values.readonly};
	rc = looked_make(l->a, &at, looked, err);
	if (rc < 0)
		return rc;
	l->run.view->inside = looked_inside(looked);
	committed_find(l->a, at.root_path, looked->plan.ignore, &looked->found,
		       &looked->git.repos, true, &l->git);
	l->git.filtered = plan_file(l->o.plan, PLAN_GIT_ATTRIBUTES) &&
			  committed_filtered(l->a, at.root_path, &l->git);
	rc = hello_write(l->a, looked, &l->git, &owner, holds, &hello, err);
	if (rc == 0 && l->protects)
		rc = add_home(l, &looked->plan, &owner, &hello, err);
	if (rc < 0)
		return rc;
	l->looked = looked;
	refusals_know(l->run.view->refusals, holds);
	view_tell(l->run.view, hello);
	looked_git_notes(l->a, looked, &l->git, true, &notes);
	mounts_say(&l->mounts, &notes, l->values.readonly);
	return 0;
}

static int find_protected(struct launch *l, struct str plan, struct err *err)
{
	struct mountsplan read;
	int rc = mountsplan_read(l->a, plan, &read, err);

	l->protects = rc == 0 && read.by.n > 0;
	if (l->protects && rootless_entered())
		rc = err_set(
			err, -ENOTSUP,
			"'protect' does not work with a rootless Docker: its containers cannot share the host's processes, of which the view has to know who asks (docker context use default, for one that runs as root)");
	return rc;
}

int viewing_start(struct launch *l, struct err *err)
{
	const struct plan_file *f = plan_file(l->o.plan, PLAN_MOUNTS);
	const struct plan_file *at = plan_file(l->o.plan, PLAN_PROVENANCE);
	struct view *v;
	char **argv;
	int rc;

	if (!l->vectors.view.image)
		return 0;
	if (!f)
		return err_set(err, -EPROTO, "the plan has no mounts.plan");
	rc = find_protected(l, f->data, err);
	if (rc == 0)
		rc = mounted_prepare(l->a, &l->session, rootless_entered(),
				     err);
	if (rc == 0 && l->protects)
		rc = mounted_prepare_home(l->a, &l->session, err);
	if (rc == 0 && l->protects)
		rc = inside_write_seal(l->session.dir, err);
	if (rc == 0)
		rc = vectors_expand(l->a, &l->vectors.view, &l->values, &argv,
				    err);
	if (rc < 0)
		return rc;
	v = l->run.view = arena_new_of(l->a, struct view);
	view_init(v,
		  refusals_new(l->a, f->data,
			       written_read(l->a, at ? at->data : STR(""))),
		  kept_new(l->a), l->mounts.root, &l->run.gate->decisions);
	v->linked = l->o.linked;
	v->serves_home = l->protects;
	rc = view_start(v, l->run.engine, argv, l->watchdog.keep_fd, err);
	if (v->pid)
		watchdog_tell(&l->watchdog, v->pid);
	return rc;
}
