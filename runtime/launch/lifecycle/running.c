/*
 * From the started gate to the end of the session: what the loop is given, and
 * what it has done on its way.
 */
#include "runtime/launch/lifecycle/parts.h"

#include "compiler/plan/docker_json.h"
#include "compiler/plan/files.h"
#include "runtime/launch/docker/hosts.h"
#include "runtime/launch/mounts/freeze.h"
#include "runtime/launch/mounts/masks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * 0, or 1: not now, since somebody else's agent or start is in the way; with
 * may_stop agents are not.
 */
static int prepare_agent(struct launch *l, bool may_stop, struct err *err)
{
	const struct plan_file *f = plan_file(l->o.plan, PLAN_MOUNTS);
	char **argv = NULL;
	int rc;

	if (!f)
		return err_set(err, -EPROTO, "the plan has no mounts.plan");
	if (!l->before.at)
		executed_look(l->a, l->o.workspace, &l->before);
	if (l->run.view && viewing_open(l, err) < 0)
		return err->code;
	rc = engines_mounts(l, f->data, may_stop, &argv, err);
	if (rc == 0 && l->docker)
		rc = masks_fit(argv, environ, err);
	if (rc == 0)
		l->run.agent_argv = argv;
	if (l->mounts.alone_at)
		l->run.at.alone = l->mounts.alone_at - l->run.begun;
	l->run.at.prepared = loop_elapsed(&l->run);
	return rc;
}

/* --- what the loop calls -------------------------------------------------- */

static int on_view(void *ctx, struct err *err)
{
	struct launch *l = ctx;

	return l->run.agent_argv ? 0 : prepare_agent(l, true, err);
}

/* Gate, tracer and view are ready. What could be done before them has been. */
static int on_ready(void *ctx, struct err *err)
{
	struct launch *l = ctx;
	int rc = on_view(l, err);

	engines_gate_ready(l);
	return rc == 0 ? questions_begin(l->run.questions, err) : rc;
}

static int on_started(void *ctx, struct err *err)
{
	struct launch *l = ctx;
	int rc = engines_check(l, err);

	/* one that could not go on has taken its mounts away, and said why */
	if (rc < 0 && l->run.view && view_has_failed(l->run.view))
		rc = err_set(err, -ENOTCONN, "the view of the workspace ended");
	l->run.at.checked = loop_elapsed(&l->run);
	if (rc == 0 && l->run.view)
		view_detach(l->run.view);
	return rc;
}

/* Another session stopped our agent; should that have died, it goes on. */
static bool on_paused(void *ctx, const char *container)
{
	struct launch *l = ctx;

	return freeze_rescue(l->docker, l->o.state, container);
}

/* While the gate ends. Should it fail, ending_clean() does it again, and says
 * so. */
static void release_masks(void *ctx)
{
	struct launch *l = ctx;
	struct err ignored;

	if (masks_release(l->o.state, l->session.id, &ignored) < 0)
		return;
}

int running_tell_caller(void *ctx, struct err *err)
{
	struct launch *l = ctx;

	l->run.progress = false;
	return keeper_tell(l->o.keeper, &l->session, err);
}

/* --- its run -------------------------------------------------------------- */

static bool is_at_terminal(void)
{
	return isatty(STDIN_FILENO) || isatty(STDOUT_FILENO) ||
	       isatty(STDERR_FILENO);
}

void running_init(struct launch *l)
{
	struct loop *r = &l->run;

	r->a = l->a;
	r->session = &l->session;
	r->gate = arena_new_of(l->a, struct gate);
	gate_init(r->gate, summary_new(l->a, l->o.can_grant));
	summary_purposes(r->gate->summary, l->o.purpose, l->o.purpose_of);
	r->control = arena_new_of(l->a, struct control);
	r->control->listen = r->control->client = -1;
	r->questions = arena_new_of(l->a, struct questions);
	r->questions->never_asks = l->o.no_ask;
	r->questions->has_terminal =
		!l->o.keeper && !isatty(STDIN_FILENO) &&
		isatty(STDERR_FILENO) &&
		tcgetpgrp(STDERR_FILENO) == getpgrp();
	l->trace_copy = -1;
	mounts_init(&l->mounts, l->a, l->o.state, &l->session, l->o.quiet);
	l->mounts.linked = l->o.linked;
	r->watchdog = &l->watchdog;
	r->on_ready = on_ready;
	r->on_started = on_started;
	r->on_paused = on_paused;
	r->on_agent_gone = release_masks;
	r->on_agent_runs = l->o.keeper ? running_tell_caller : NULL;
	r->caller = l->o.keeper ? l->o.keeper->caller : -1;
	r->begun_fd = -1;
	r->ctx = l;
	r->progress = !l->o.quiet && isatty(STDERR_FILENO);
	/* in another group it would be stopped for writing there, too */
	r->shares_terminal = !l->o.keeper && is_at_terminal();
}

static int tell_gate(struct launch *l, struct err *err)
{
	hosts h = {0};
	struct str hello;
	int rc = engines_hosts(l, &h, err);

	if (rc < 0)
		return rc;
	hello = hosts_hello(l->a, l->session.id, &h, &l->secrets, &l->proxy);
	rc = gate_hello(l->run.gate, hello, err);
	explicit_bzero((void *)(uintptr_t)hello.p, hello.n);
	secrets_forget(&l->secrets);
	proxy_forget(&l->proxy);
	return rc;
}

int running_loop(struct launch *l, struct err *err)
{
	struct loop *r = &l->run;
	struct err why;
	int rc = tell_gate(l, &why);

	if (rc == 0 && r->view)
		rc = viewing_tell(l, &why);
	if (rc == 0)
		rc = prepare_git(l->a, &l->o, &l->session, &l->values.git,
				 &why);
	/* natively what is seen is mounted before long, or nothing is */
	if (rc == 0 && !r->view && l->docker)
		rc = prepare_agent(l, false, &why);
	/* masks that are mounts should not be older than they have to be */
	if (r->view && engines_may_hold(l))
		r->on_view = on_view;
	if (rc < 0)
		loop_stop(r, &why);
	return loop_run(r, err);
}
