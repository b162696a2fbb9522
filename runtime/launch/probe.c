#include "runtime/launch/probe.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/files.h"
#include "runtime/launch/docker/engine.h"
#include "runtime/launch/docker/hosts.h"
#include "runtime/launch/gate.h"
#include "runtime/launch/parts.h"
#include "runtime/launch/prepare.h"
#include "runtime/launch/reap.h"
#include "runtime/launch/resolvers.h"
#include "runtime/launch/tracer/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define STEP_MS	   50 /* a docker command's end wakes nobody */
#define OUTPUT_MAX 4096u

struct trial {
	struct arena *a;
	struct docker *docker;
	struct docker_engine engine;
	struct launch_opts o;
	struct session session;
	struct vectors vectors;
	struct vectors_values values;
	struct gate *gate;
	struct tracer *tracer;
	struct probe_session *out;
	int64_t begun;
};

static const char *no_variable(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return NULL;
}

static void settle_part(struct trial *t, struct probe_part *p, enum fact works,
			const char *words)
{
	if (p->works != FACT_UNKNOWN)
		return;
	p->works = works;
	p->words = arena_cstr(t->a, str_of(words));
	p->ms = clock_ms() - t->begun;
}

/* --- starting ------------------------------------------------------------- */

static int start_gate(struct trial *t, struct err *err)
{
	hosts h = {0};
	char **argv;
	int rc = 0;

	if (vectors_asks_host(&t->vectors))
		rc = resolvers_find(t->a, getenv(RESOLVERS_ENV), "",
				    &t->values.resolver, err);
	if (rc == 0)
		rc = vectors_expand(t->a, &t->vectors.gate, &t->values, &argv,
				    err);
	if (rc == 0)
		rc = hosts_find(t->a, t->docker, &h, err);
	if (rc == 0)
		rc = gate_start(t->gate, &t->engine.engine, argv,
				t->session.dir, -1, err);
	if (rc == 0)
		rc = gate_hello(
			t->gate,
			hosts_hello_trial(t->a, t->session.id, &h), err);
	return rc;
}

static int start_tracer(struct trial *t, struct err *err)
{
	const struct plan_file *f = plan_file(t->o.plan, PLAN_TRACE);
	char **argv;
	int rc;

	if (!f)
		return err_set(err, -ENOENT, "the plan traces nothing");
	rc = vectors_expand(t->a, &t->vectors.tracer, &t->values, &argv, err);
	return rc < 0 ? rc
		      : tracer_start(t->a, t->tracer, &t->engine.engine, argv,
				     f->data, t->session.dir, t->session.id, -1,
				     err);
}

/* --- waiting -------------------------------------------------------------- */

static void reap_commands(struct trial *t)
{
	int status;

	if (t->gate->pid > 0 &&
	    waitpid(t->gate->pid, &status, WNOHANG) == t->gate->pid) {
		t->gate->pid = 0;
		t->gate->status = proc_status(status);
	}
	if (t->tracer->pid > 0 &&
	    waitpid(t->tracer->pid, &status, WNOHANG) == t->tracer->pid)
		tracer_ended(t->tracer, proc_status(status));
}

static void pump_trial(struct trial *t)
{
	struct gate *g = t->gate;
	bool ended;
	struct err err;

	reap_commands(t);
	ended = g->pid == 0;
	if (g->out >= 0 && gate_pump(g, &err) < 0)
		settle_part(t, &t->out->gate, FACT_NO, err.text);
	t->out->ipv6 = g->ready && g->ipv6;
	if (g->ready)
		settle_part(t, &t->out->gate, FACT_YES, "");
	else if (ended)
		settle_part(t, &t->out->gate, FACT_NO, gate_last_words(g));
	if (t->tracer->out >= 0 || t->tracer->err >= 0)
		tracer_pump(t->tracer);
	switch (t->tracer->state) {
	case TRACER_STARTING:
		break;
	case TRACER_LOADED:
	case TRACER_READY:
	case TRACER_ENDED:
		settle_part(t, &t->out->tracer, FACT_YES, "");
		t->out->back_end = t->tracer->watch.back_end;
		t->out->io_uring = t->tracer->watch.io_uring;
		t->out->missing = t->tracer->watch.missing;
		break;
	case TRACER_FAILED:
		settle_part(t, &t->out->tracer, FACT_NO, t->tracer->why.text);
		break;
	}
}

bool probe_interrupted(void)
{
	struct proc_signal s;

	while (proc_signals_next(&s))
		if (s.signo != SIGCHLD)
			return true;
	return false;
}

static void wait_step(struct trial *t)
{
	struct pollfd p[] = {
		{t->gate->out, POLLIN, 0},	{t->gate->err, POLLIN, 0},
		{t->tracer->out, POLLIN, 0},	{t->tracer->err, POLLIN, 0},
		{proc_signals_fd(), POLLIN, 0},
	};

	poll(p, ARRAY_LEN(p), STEP_MS);
}

static int wait_for_both(struct trial *t, struct err *err)
{
	int64_t until = t->begun + PROBE_TRY_MS;

	for (;;) {
		pump_trial(t);
		if (t->out->gate.works != FACT_UNKNOWN &&
		    t->out->tracer.works != FACT_UNKNOWN)
			return 0;
		if (probe_interrupted())
			return err_set(err, -EINTR, "interrupted");
		if (clock_ms() > until)
			break;
		wait_step(t);
	}
	settle_part(t, &t->out->gate, FACT_NO, "it is not ready in time");
	settle_part(t, &t->out->tracer, FACT_NO, "it is not ready in time");
	return 0;
}

/* --- HAProxy -------------------------------------------------------------- */

/* All that the command prints, up to OUTPUT_MAX; it is killed at until. */
static size_t read_all(int fd, pid_t pid, char *text, int64_t until)
{
	size_t n = 0;

	while (n < OUTPUT_MAX) {
		struct pollfd p = {fd, POLLIN, 0};
		int64_t left = until - clock_ms();
		ssize_t got;

		if (left <= 0 || poll(&p, 1, (int)left) == 0) {
			kill(pid, SIGKILL);
			break;
		}
		got = read(fd, text + n, OUTPUT_MAX - n);
		if (got == 0 || (got < 0 && errno != EINTR))
			break;
		n += got > 0 ? (size_t)got : 0;
	}
	return n;
}

int probe_line(struct arena *a, char *const *argv, const char **out,
	       struct err *err)
{
	auto_fd int read_end = -1;
	int write_end, status = 0, rc;
	char *text = arena_alloc(a, OUTPUT_MAX);
	int64_t until = clock_ms() + PROBE_END_MS;
	struct str rest, line = {0};
	pid_t pid;
	size_t n;

	rc = proc_pipe(&read_end, &write_end, err);
	if (rc < 0)
		return rc;
	rc = proc_spawn(&(struct proc_opts){.argv = argv,
					    .group = PROC_SESSION,
					    .in = -1,
					    .out = write_end,
					    .err = write_end,
					    .keep = -1},
			&pid, err);
	fd_close(&write_end);
	if (rc < 0)
		return rc;
	n = read_all(read_end, pid, text, until);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	rest = (struct str){text, n};
	ignore(str_line(&rest, &line));
	*out = arena_cstr(a, line);
	return status == 0 && line.n
		       ? 0
		       : err_set(err, -EIO, "%.*s",
				 STR_ARG(line.n ? line
						: STR("no answer in time")));
}

static void try_haproxy(struct trial *t)
{
	struct arena *a = t->a;
	const char *words[] = {
		"docker",
		"run",
		"--rm",
		"--pull=never",
		arena_fmt(a, "--name=membrane-doctor-%s", t->session.id).p,
		arena_fmt(a, "--label=" DOCKER_JSON_LABEL_SESSION "=%s",
			  t->session.id)
			.p,
		"--log-driver=none",
		"--network=none",
		"--read-only",
		"--cap-drop=ALL",
		"--security-opt=no-new-privileges",
		"--entrypoint=/usr/sbin/haproxy",
		t->vectors.gate.image,
		"-v",
		NULL};
	char *argv[ARRAY_LEN(words)] = {NULL};
	const char *line;
	struct err err;

	for (size_t i = 0; words[i]; i++)
		argv[i] = arena_cstr(a, str_of(words[i]));
	if (probe_line(a, argv, &line, &err) < 0)
		settle_part(t, &t->out->haproxy, FACT_NO, err.text);
	else
		settle_part(t, &t->out->haproxy, FACT_YES, line);
}

/* --- the end -------------------------------------------------------------- */

void probe_kill(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Both end with their stdin; what does not is removed. */
static int end_trial(struct trial *t, struct err *err)
{
	int64_t until = clock_ms() + PROBE_END_MS;

	gate_close_stdin(t->gate);
	tracer_end(t->tracer, clock_ms());
	while ((t->gate->pid > 0 || t->tracer->pid > 0) &&
	       clock_ms() < until) {
		pump_trial(t);
		wait_step(t);
		probe_interrupted();
	}
	probe_kill(t->gate->pid);
	probe_kill(t->tracer->pid);
	gate_done(t->gate);
	tracer_done(t->tracer);
	return reap_session(t->docker, t->o.state, &t->session, err);
}

int probe_begin(struct arena *a, const char *state, struct session *out,
		struct probe_place *place, struct err *err)
{
	int rc;

	*place = (struct probe_place){
		.state = state,
		.sessions = arena_fmt(a, "%s/sessions", state).p,
		.had_state = access(state, F_OK) == 0,
	};
	place->had_sessions = access(place->sessions, F_OK) == 0;
	rc = fileio_mkdirs(state, 0700, err);
	if (rc == 0)
		rc = proc_signals_catch(err);
	if (rc < 0)
		return rc;
	rc = session_new(a, state, out, err);
	if (rc < 0)
		proc_signals_restore();
	return rc;
}

int probe_end(struct session *s, const struct probe_place *place, int rc,
	      struct err *err)
{
	struct err ignored;

	session_release(s, true);
	/* A trial is no session that somebody would look for. */
	if (fileio_remove_tree(AT_FDCWD, s->dir, &ignored) < 0 && rc == 0)
		rc = err_set(err, ignored.code, "%s", ignored.text);
	proc_signals_restore();
	/* both fail where somebody else uses them by now */
	if (!place->had_sessions)
		rmdir(place->sessions);
	if (!place->had_state)
		rmdir(place->state);
	return rc;
}

static void init_trial(struct trial *t)
{
	t->gate = arena_new_of(t->a, struct gate);
	gate_init(t->gate, summary_new(t->a, NULL));
	t->tracer = arena_new_of(t->a, struct tracer);
	tracer_init(t->tracer);
	t->values = (struct vectors_values){
		.session = t->session.id,
		.workspace = t->o.state,
		.home = t->o.state,
		.state = t->o.state,
		.owner = "0:0",
		.narrow = docker_minor(t->docker) >= DOCKER_NARROW_MINOR,
		.command = (char *const[]){NULL},
		.env = no_variable,
	};
}

static int try_parts(struct trial *t, bool have_gate, bool have_tracer,
		     struct err *err)
{
	const struct plan_file *f = plan_file(t->o.plan, PLAN_DOCKER);
	struct err why;
	int rc = f ? vectors_parse(t->a, f->data, &t->vectors, err)
		   : err_set(err, -EPROTO, "the plan has no docker.json");

	if (rc == 0)
		rc = prepare_folder(t->a, &t->o, &t->session, err);
	if (rc < 0)
		return rc;
	if (have_gate)
		try_haproxy(t);
	t->begun = clock_ms();
	if (!have_gate)
		settle_part(t, &t->out->gate, FACT_NO,
			    "there is no image of it");
	else if (start_gate(t, &why) < 0)
		settle_part(t, &t->out->gate, FACT_NO, why.text);
	if (!have_tracer)
		settle_part(t, &t->out->tracer, FACT_NO,
			    "there is no image of it");
	else if (start_tracer(t, &why) < 0)
		settle_part(t, &t->out->tracer, FACT_NO, why.text);
	rc = wait_for_both(t, err);
	if (rc == 0)
		return end_trial(t, err);
	ignore(end_trial(t, &why));
	return rc;
}

int probe_session(struct arena *a, struct docker *d, const char *state,
		  const struct plan *plan, bool have_gate, bool have_tracer,
		  struct probe_session *out, struct err *err)
{
	struct trial t = {.a = a,
			  .docker = d,
			  .out = out,
			  .o = {.state = state,
				.workspace = state,
				.plan = plan,
				.quiet = true}};
	struct probe_place place;
	int rc = probe_begin(a, state, &t.session, &place, err);

	if (rc < 0)
		return rc;
	docker_engine_init(&t.engine, a, d, t.session.id);
	init_trial(&t);
	return probe_end(&t.session, &place,
			 try_parts(&t, have_gate, have_tracer, err), err);
}
