/*
 * The end of a session: all that is cleaned up, and what is found out for what
 * is told then.
 */
#include "runtime/launch/lifecycle/parts.h"

#include "runtime/launch/home.h"
#include "runtime/launch/mounts/masks.h"
#include "runtime/launch/reap.h"
#include "runtime/launch/view/mounted.h"

#include <stdio.h>

bool ending_clean(struct launch *l)
{
	struct err err;
	int rc = 0;

	if (l->run.left ||
	    (loop_left_nothing(&l->run) && l->vectors.link == VECTORS_VETH)) {
		rc = masks_release(l->o.state, l->session.id, &err);
		if (rc == 0)
			rc = mounted_remove(l->a, &l->session, &err);
		if (rc == 0)
			home_remove(l->a, &l->session);
	} else if (l->docker) {
		rc = reap_session(l->docker, l->o.state, &l->session, &err);
	} else if (l->native) {
		rc = reap_alone(l->o.state, &l->session, &err);
	}
	/* last: no container of ours can start any more */
	if (rc == 0)
		rc = mounts_end(&l->mounts, l->docker, &err);
	l->run.at.cleaned = loop_elapsed(&l->run);
	if (rc < 0)
		fprintf(stderr,
			"membrane: left for the next call to clean up: %s\n",
			err.text);
	return rc == 0;
}

int ending_stage(struct launch *l, int rc, struct err *err)
{
	struct loop *r = &l->run;

	if (!r->stage)
		return rc;
	if (!r->is_refused && rc >= 0 && (r->agent_runs || rc < 125) &&
	    running_tell_caller(l, err) < 0)
		rc = err->code;
	if (!l->o.keeper->told)
		fwrite(r->stage->words, 1, r->stage->words_n, stderr);
	if (r->stage->spool.unwritten)
		fprintf(stderr,
			"membrane: the record of the output lacks %llu bytes, for which there was no room\n",
			(unsigned long long)r->stage->spool.unwritten);
	stage_done(r->stage);
	return rc;
}

void ending_let_go(struct launch *l, bool cleaned)
{
	struct err ignored;

	if (l->run.left && cleaned) {
		session_shut(&l->session);
		if (watchdog_leave(&l->watchdog, &l->session, &ignored) == 0)
			return;
		cleaned = false;
	}
	session_release(&l->session, cleaned);
	watchdog_stop(&l->watchdog);
}

void ending_executed(struct launch *l, struct executed *out)
{
	struct executed now;

	if (!l->run.agent_made)
		return;
	executed_look(l->a, l->o.workspace, &now);
	executed_changed(l->a, &l->before, &now, out);
}

void ending_emptied(struct launch *l, struct committed *out)
{
	const struct looked *looked = l->looked;
	struct committed now;

	if (!l->run.agent_made || !looked || l->git.paths.n == 0)
		return;
	committed_find(l->a, looked->at.root_path, looked->plan.ignore,
		       &looked->found, &looked->git.repos, false, &now);
	committed_emptied(l->a, &l->git, &now, out);
}
