/*
 * The gate of a plan, tried by the native engine: what probe.c does by Docker.
 */
#include "runtime/launch/probe.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/proc.h"
#include "compiler/plan/files.h"
#include "runtime/launch/docker/hosts.h"
#include "runtime/launch/docker/vectors.h"
#include "runtime/launch/gate.h"
#include "runtime/launch/native/native.h"
#include "runtime/launch/parts.h"
#include "runtime/launch/prepare.h"
#include "runtime/launch/reap.h"
#include "runtime/launch/resolvers.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP_MS 50 /* the end of a process wakes nobody */

struct trial {
	struct arena *a;
	struct launch_opts o;
	struct session session;
	struct vectors vectors;
	struct vectors_values values;
	struct native *native; /* NULL: it was not opened */
	struct gate *gate;
	struct probe_gate *out;
	int64_t begun;
};

static const char *no_variable(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return NULL;
}

static void settle_gate(struct trial *t, enum fact works, const char *words)
{
	struct probe_part *p = &t->out->part;

	if (p->works != FACT_UNKNOWN)
		return;
	p->works = works;
	p->words = arena_cstr(t->a, str_of(words));
	p->ms = clock_ms() - t->begun;
}

/* As runtime/launch/lifecycle/engines.c opens it for a session. */
static int open_engine(struct trial *t, struct err *err)
{
	struct native_place place = {.dir = t->session.dir,
				     .sockets = t->vectors.sockets};
	int rc = native_programs_folder(t->a, &t->values.programs, err);

	if (rc == 0)
		rc = session_set_native(&t->session, err);
	if (rc == 0)
		rc = native_write_files(t->a, t->session.dir, geteuid(),
					getegid(), err);
	return rc < 0 ? rc : native_open(t->a, &place, &t->native, err);
}

static int start_gate(struct trial *t, struct err *err)
{
	hosts h = {0};
	char **argv;
	int rc = open_engine(t, err);

	if (rc == 0 && vectors_asks_host(&t->vectors))
		rc = resolvers_find(t->a, getenv(RESOLVERS_ENV), "",
				    &t->values.resolver, err);
	if (rc == 0)
		rc = vectors_expand(t->a, &t->vectors.gate, &t->values, &argv,
				    err);
	if (rc == 0)
		rc = hosts_find(t->a, NULL, &h, err);
	if (rc == 0)
		rc = gate_start(t->gate, native_engine(t->native), argv,
				t->session.dir, -1, err);
	return rc < 0 ? rc
		      : gate_hello(t->gate,
				   hosts_hello_trial(t->a, t->session.id, &h),
				   err);
}

static void pump_trial(struct trial *t)
{
	struct gate *g = t->gate;
	struct err err;
	int status;

	if (g->pid > 0 && waitpid(g->pid, &status, WNOHANG) == g->pid) {
		g->pid = 0;
		g->status = proc_status(status);
	}
	if (g->out >= 0 && gate_pump(g, &err) < 0)
		settle_gate(t, FACT_NO, err.text);
	t->out->ipv6 = g->ready && g->ipv6;
	if (g->ready)
		settle_gate(t, FACT_YES, "");
	else if (g->pid == 0)
		settle_gate(t, FACT_NO, gate_last_words(g));
}

/* The engine hears what becomes of its parts, and of the way out. */
static void wait_step(struct trial *t)
{
	struct pollfd p[] = {
		{t->gate->out, POLLIN, 0},
		{t->gate->err, POLLIN, 0},
		{proc_signals_fd(), POLLIN, 0},
	};
	struct engine *e = native_engine(t->native);
	struct err err;

	if (e->ops->poll(e, p, ARRAY_LEN(p), STEP_MS, &err) < 0)
		settle_gate(t, FACT_NO, err.text);
}

static int wait_for_gate(struct trial *t, struct err *err)
{
	int64_t until = t->begun + PROBE_TRY_MS;

	for (;;) {
		pump_trial(t);
		if (t->out->part.works != FACT_UNKNOWN)
			return 0;
		if (probe_interrupted())
			return err_set(err, -EINTR, "interrupted");
		if (clock_ms() > until)
			break;
		wait_step(t);
	}
	settle_gate(t, FACT_NO, "it is not ready in time");
	return 0;
}

/* It ends with its stdin, and all that is left of it with the engine. */
static int end_trial(struct trial *t, struct err *err)
{
	int64_t until = clock_ms() + PROBE_END_MS;

	gate_close_stdin(t->gate);
	while (t->gate->pid > 0 && clock_ms() < until) {
		wait_step(t);
		pump_trial(t);
		probe_interrupted();
	}
	probe_kill(t->gate->pid);
	t->gate->pid = 0;
	gate_done(t->gate);
	native_close(t->native);
	return reap_alone(t->o.state, &t->session, err);
}

static void init_trial(struct trial *t)
{
	t->gate = arena_new_of(t->a, struct gate);
	gate_init(t->gate, summary_new(t->a, NULL));
	t->values = (struct vectors_values){
		.session = t->session.id,
		.workspace = t->o.state,
		.home = t->o.state,
		.state = t->o.state,
		.owner = "0:0",
		.command = (char *const[]){NULL},
		.env = no_variable,
	};
}

static int try_gate(struct trial *t, struct err *err)
{
	const struct plan_file *f = plan_file(t->o.plan, PLAN_NATIVE);
	struct err why;
	int rc = f ? vectors_parse(t->a, f->data, &t->vectors, err)
		   : err_set(err, -EPROTO, "the plan has no " PLAN_NATIVE);

	if (rc == 0)
		rc = prepare_folder(t->a, &t->o, &t->session, err);
	if (rc < 0)
		return rc;
	t->begun = clock_ms();
	if (start_gate(t, &why) < 0)
		settle_gate(t, FACT_NO, why.text);
	rc = wait_for_gate(t, err);
	if (rc == 0)
		return end_trial(t, err);
	ignore(end_trial(t, &why));
	return rc;
}

int probe_native(struct arena *a, const char *state, const struct plan *plan,
		 struct probe_gate *out, struct err *err)
{
	struct trial t = {.a = a,
			  .out = out,
			  .o = {.state = state,
				.workspace = state,
				.plan = plan,
				.native = true,
				.quiet = true}};
	struct probe_place place;
	int rc = probe_begin(a, state, &t.session, &place, err);

	if (rc < 0)
		return rc;
	init_trial(&t);
	return probe_end(&t.session, &place, try_gate(&t, err), err);
}
