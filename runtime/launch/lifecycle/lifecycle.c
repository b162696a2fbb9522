/*
 * The life of one session around its loop: what comes after what, from a plan
 * to the exit status.
 */
#include "runtime/launch/lifecycle/parts.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"
#include "runtime/launch/docker/rootless.h"
#include "runtime/launch/lifecycle/outcome.h"
#include "runtime/launch/reap.h"
#include "runtime/launch/session/foreign.h"

#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

static int in_session(struct launch *l, struct err *err)
{
	struct termios terminal;
	struct executed executed = {0};
	struct committed emptied = {0};
	struct sshagent_told told;
	struct outcome outcome;
	bool saved = tcgetattr(STDIN_FILENO, &terminal) == 0, cleaned,
	     has_agent;
	/* who cleans up after us is not to look for Docker, whenever we end */
	int rc = l->vectors.native ? session_set_native(&l->session, err) : 0;

	if (rc == 0)
		rc = watchdog_start(l->o.state, &l->session, &l->at,
				    &l->watchdog, err);
	if (rc < 0) {
		session_release(&l->session, true);
		return rc;
	}
	running_init(l);
	rc = values_set(l, err);
	if (rc == 0 && l->vectors.ssh_agent)
		rc = sshagent_start(l->session.dir, getenv("SSH_AUTH_SOCK"),
				    &l->ssh, err);
	if (rc == 0)
		rc = hostports_start(l->session.dir, l->vectors.host_ports.v,
				     l->vectors.host_ports.n, &l->ports, err);
	if (rc == 0)
		rc = published_start(l->session.dir, l->vectors.published.v,
				     l->vectors.published.n, &l->published,
				     err);
	if (rc == 0)
		rc = starting_gate(l, err);
	if (rc == 0)
		rc = running_loop(l, err);
	if (saved && l->run.was_killed) /* docker had no chance to */
		tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
	control_close(l->run.control);
	if (l->run.tell)
		tell_finish(l->run.tell);
	gate_done(l->run.gate);
	if (l->run.tracer)
		tracer_done(l->run.tracer);
	if (l->run.view)
		view_done(l->run.view);
	has_agent = sshagent_stop(&l->ssh, l->o.quiet, &told);
	hostports_stop(&l->ports);
	published_stop(&l->published);
	fd_close(&l->trace_copy);
	rc = ending_stage(l, rc, err);
	native_close(l->native);
	cleaned = ending_clean(l);
	ending_executed(l, &executed);
	ending_emptied(l, &emptied);
	outcome = (struct outcome){.a = l->a,
				   .executed = &executed,
				   .emptied = &emptied,
				   .workspace = l->o.workspace,
				   .engine = values_engine(l),
				   .ssh = has_agent ? &told : NULL,
				   .killed = native_killed(l->native),
				   .run = &l->run,
				   .status = rc,
				   .why = err};
	outcome_write(&outcome);
	ending_let_go(l, cleaned);
	docker_close(l->docker);
	if (!l->o.quiet)
		outcome_print(&outcome);
	if (rc < 0 && l->run.tell) /* whoever called us says why */
		tell_begin_line(l->run.tell);
	return rc;
}

/* Without one, sessions that were Docker's are left for whoever has one. */
static int find_daemon(struct launch *l, struct err *err)
{
	struct err ignored;
	int rc = endpoint_find(l->a, endpoint_getenv, &l->at,
			       l->vectors.native ? &ignored : err);

	if (l->vectors.native)
		return 0;
	return rc < 0 ? rc : rootless_enter(&l->at, err);
}

int launch_run(const struct launch_opts *o, struct err *err)
{
	struct arena *a = arena_new();
	struct launch *l = arena_new_of(a, struct launch);
	int rc;

	l->a = a;
	l->o = *o;
	l->run.begun = clock_ms();
	rc = values_read_plan(l, err);
	if (rc == 0 && l->vectors.ssh_agent)
		rc = sshagent_check(getenv("SSH_AUTH_SOCK"), err);
	if (rc == 0)
		rc = find_daemon(l, err);
	if (rc == 0)
		rc = fileio_mkdirs(o->state, 0700, err);
	if (rc == 0)
		rc = foreign_set_aside(a, o->state, o->quiet, err);
	if (rc == 0)
		rc = proc_signals_catch(err);
	if (rc == 0) {
		reap_others(a, o->state, &l->at, o->quiet);
		rc = session_new(a, o->state, &l->session, err);
		if (rc == 0 && o->id)
			memcpy(o->id, l->session.id, sizeof(l->session.id));
		if (rc == 0)
			rc = in_session(l, err);
		proc_signals_restore();
	}
	arena_free(a);
	return rc;
}
