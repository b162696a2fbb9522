#include "runtime/launch/run.h"

#include "compiler/base/proc.h"
#include "runtime/launch/docker/docker_session.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RETRY_MS    50	  /* for a signal that came before its container */
#define REPEAT_MS   300	  /* signals closer than this are one */
#define LOOK_MS	    500	  /* for a container of which no event came */
#define LATE_MS	    100	  /* between looks at others that start here */
#define PAUSED_MS   1000  /* between looks at who has paused the agent */
#define WAIT_MAX_MS 60000 /* of one poll */
#define GATE_ENDED  "the gate ended"

int64_t run_elapsed(const struct run *r)
{
	int64_t ms = proc_now_ms() - r->begun;

	return ms > 0 ? ms : 1;
}

static void tell(struct run *r, const char *what)
{
	if (!r->progress || r->was_told)
		return;
	fprintf(stderr, "\r\033[Kmembrane: %s…", what);
	fflush(stderr);
	r->was_told = true;
}

static void untell(struct run *r)
{
	if (!r->was_told)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	r->was_told = false;
}

static void fail(struct run *r, const struct err *why)
{
	if (r->failed)
		return;
	r->failed = why->code < 0 ? why->code : -EIO;
	r->why = *why;
}

/*
 * Kill the agent's container through Docker, and if need be its command. That
 * may be about to make the container: on_time() does it again until it ends.
 */
static void kill_agent(struct run *r)
{
	struct err err;

	if (r->agent == 0)
		return;
	if (docker_remove(r->docker, r->agent_name, &err) < 0)
		kill(r->agent, SIGKILL); /* the reaper finds the container */
	r->signal_pending = false;
	r->killing = true;
}

static void take_output(struct run *r);

static void begin_ending(struct run *r)
{
	if (r->phase == RUN_ENDING)
		return;
	r->phase = RUN_ENDING;
	r->ending_at = proc_now_ms();
	r->deadline = r->ending_at + RUN_END_MS;
	/* what the agent was told last is on record, too */
	if (r->tracer)
		take_output(r);
	gate_close_stdin(r->gate);
	if (r->tracer)
		tracer_end(r->tracer, proc_now_ms());
}

void run_stop(struct run *r, const struct err *why)
{
	fail(r, why);
	kill_agent(r);
	begin_ending(r);
}

static void start_agent(struct run *r)
{
	struct proc_opts o = {.argv = r->agent_argv,
			      .group = r->shares_terminal ? PROC_SAME
							  : PROC_GROUP,
			      .in = -1,
			      .out = -1,
			      .err = -1,
			      .keep = r->watchdog->keep_fd};
	struct err err;
	int rc;

	untell(r);
	r->phase = RUN_AGENT;
	r->deadline = 0;
	if (r->stage) {
		o.group = PROC_SESSION;
		o.in = r->stage->child[0];
		o.out = r->stage->child[1];
		o.err = r->stage->child[2];
	}
	rc = proc_spawn(&o, &r->agent, &err);
	if (r->stage)
		stage_close_child(r->stage);
	if (rc < 0) {
		r->agent = 0;
		run_stop(r, &err);
		return;
	}
	r->agent_made = true;
	watchdog_tell(r->watchdog, r->agent);
	r->at.agent_spawned = run_elapsed(r);
}

static void agent_runs(struct run *r)
{
	if (r->agent_runs)
		return;
	r->agent_runs = true;
	if (r->tracer)
		tracer_agent_runs(r->tracer, proc_now_ms());
}

/* At once, before anything else is looked at. */
static void check_start(struct run *r)
{
	struct err err;

	if (!r->agent_runs || r->is_checked)
		return;
	r->is_checked = true;
	if (r->on_started(r->ctx, &err) < 0 ||
	    (r->on_agent_runs && r->on_agent_runs(r->ctx, &err) < 0))
		run_stop(r, &err);
}

static void note_pause(struct run *r, const struct docker_event *e)
{
	if (strcmp(e->action, "pause") == 0) {
		r->paused = arena_cstr(r->a, str_of(e->id));
		r->paused_at = proc_now_ms();
	} else if (strcmp(e->action, "unpause") == 0) {
		r->paused = NULL;
	}
}

static void on_event(void *ctx, const struct docker_event *e)
{
	struct run *r = ctx;

	if (strcmp(e->role, "gate") == 0) {
		if (strcmp(e->action, "start") == 0)
			r->at.gate_started = run_elapsed(r);
		if (strcmp(e->action, "die") == 0)
			r->at.gate_died = run_elapsed(r);
		if (strcmp(e->action, "destroy") == 0)
			r->gate_removed = true;
	}
	if (strcmp(e->role, "tracer") == 0 && strcmp(e->action, "destroy") == 0)
		r->tracer_removed = true;
	if (strcmp(e->role, "agent") != 0)
		return;
	if (r->tracer && tracer_wants_agent(r->tracer))
		tracer_agent(r->tracer, e->id);
	note_pause(r, e);
	if (strcmp(e->action, "create") == 0)
		r->at.agent_created = run_elapsed(r);
	if (strcmp(e->action, "destroy") == 0)
		r->agent_removed = true;
	if (strcmp(e->action, "start") == 0) {
		r->at.agent_started = run_elapsed(r);
		agent_runs(r);
	}
	if (strcmp(e->action, "die") == 0 && r->phase == RUN_AGENT) {
		/* its container is still being removed: use that time */
		r->at.agent_died = run_elapsed(r);
		r->signal_pending = false;
		begin_ending(r);
	}
}

bool run_left_nothing(const struct run *r)
{
	return r->gate_removed && (r->agent_removed || !r->agent_made) &&
	       (r->tracer_removed || !r->tracer);
}

/* Somebody waits to hear of the agent's container. */
static bool is_awaited(const struct run *r)
{
	return (!r->agent_runs && r->agent != 0) ||
	       (r->agent_made && r->tracer && tracer_wants_agent(r->tracer));
}

/* Docker's events tell it at once; should they not come, this does. */
static void look_for_agent(struct run *r)
{
	docker_containers list = {0};
	struct err ignored;

	if (docker_list(r->docker, r->session->id, &list, &ignored) < 0)
		return;
	vec_each(c, &list) {
		if (strcmp(c->role, "agent") != 0)
			continue;
		if (r->tracer)
			tracer_agent(r->tracer, c->id);
		if (strcmp(c->state, "running") == 0)
			agent_runs(r);
	}
}

/* --- signals ------------------------------------------------------------- */

static const char *signal_name(int signo)
{
	switch (signo) {
	case SIGINT:
		return "SIGINT";
	case SIGHUP:
		return "SIGHUP";
	case SIGQUIT:
		return "SIGQUIT";
	default:
		return "SIGTERM";
	}
}

static void deliver(struct run *r)
{
	struct err err;
	int rc;

	/* a signal would let it go on, while another session counts on that
	 * it does not */
	r->signal_pending = r->paused && r->on_paused(r->ctx, r->paused);
	if (r->signal_pending)
		return;
	rc = docker_signal(r->docker, r->agent_name, signal_name(r->signal),
			   &err);

	/* not there or not running yet: until the deadline, again */
	r->signal_pending = rc == -ENOENT;
}

static void on_signal(struct run *r, const struct proc_signal *s)
{
	int64_t now = proc_now_ms();

	if (r->signal && now - r->signal_at < REPEAT_MS)
		return; /* timeout(1) sends to us and to our group */
	r->signal_at = now;
	if (r->signal) { /* meant it */
		kill_agent(r);
		return;
	}
	r->signal = s->signo;
	if (r->agent == 0 || r->phase != RUN_AGENT) {
		begin_ending(r);
		return;
	}
	r->deadline = now + 1000 * session_grace(r->session, RUN_GRACE_S);
	/* docker's command has the terminal's signal, and passes it on */
	if (!s->from_terminal || !r->shares_terminal)
		deliver(r);
}

static void reap_children(struct run *r)
{
	int status;

	if (r->agent && waitpid(r->agent, &status, WNOHANG) == r->agent) {
		r->agent = 0;
		r->agent_status = proc_status(status);
		r->at.agent_ended = run_elapsed(r);
		begin_ending(r);
	}
	if (r->gate->pid &&
	    waitpid(r->gate->pid, &status, WNOHANG) == r->gate->pid) {
		r->gate->pid = 0;
		r->gate->status = proc_status(status);
		r->at.gate_ended = run_elapsed(r);
	}
	if (r->tracer && r->tracer->pid &&
	    waitpid(r->tracer->pid, &status, WNOHANG) == r->tracer->pid) {
		/* the last chance to know whose its records are */
		if (is_awaited(r))
			look_for_agent(r);
		tracer_ended(r->tracer, proc_status(status));
	}
}

static void take_signals(struct run *r)
{
	struct proc_signal s;
	bool child = false;

	while (proc_signals_next(&s)) {
		if (s.signo == SIGCHLD)
			child = true;
		else
			on_signal(r, &s);
	}
	if (child)
		reap_children(r);
}

/* --- the gate ------------------------------------------------------------ */

static void take_output(struct run *r)
{
	bool running = r->phase != RUN_ENDING;
	struct err err;

	if (gate_pump(r->gate, &err) < 0) {
		run_stop(r, &err);
		/* what it says from here on is not listened to */
		fd_close(&r->gate->out);
		r->gate->out = -1;
		return;
	}
	if (running && (r->gate->out < 0 || r->gate->pid == 0)) {
		/* whatever it said last is read until its end, and put in */
		err_set(&err, -EPIPE, GATE_ENDED);
		run_stop(r, &err);
	} else if (r->gate->ready && !r->at.ready) {
		r->at.ready = run_elapsed(r);
	}
}

/* A session that must not go on blind ends; any other goes on, and says so. */
static void take_trace(struct run *r)
{
	struct tracer *t = r->tracer;
	struct err err;

	if (!t)
		return;
	tracer_pump(t);
	if (t->state == TRACER_LOADED && r->gate->ready)
		tracer_tell(t, r->gate->netns, r->gate->pidns, r->agent_host);
	if (t->state == TRACER_LOADED && !r->at.tracer_loaded)
		r->at.tracer_loaded = run_elapsed(r);
	if (t->state == TRACER_READY && !r->at.tracer_ready)
		r->at.tracer_ready = run_elapsed(r);
	if (t->state == TRACER_FAILED && t->required &&
	    r->phase != RUN_ENDING) {
		err_set(&err, -EIO,
			"the trace is required, and the tracer failed: %s",
			t->why.text);
		run_stop(r, &err);
	}
}

static void grant_wish(struct run *r)
{
	struct err err;

	if (!r->tracer)
		return;
	switch (tracer_tick(r->tracer, proc_now_ms())) {
	case TRACER_GO_ON:
		return;
	case TRACER_TERM:
		/* what does not hear it is removed when its time is over */
		if (docker_signal(r->docker, r->tracer_name, "SIGTERM", &err) <
		    0)
			return;
		return;
	case TRACER_KILL:
		if (docker_remove(r->docker, r->tracer_name, &err) < 0 &&
		    r->tracer->pid)
			kill(r->tracer->pid, SIGKILL);
		return;
	}
}

static bool is_ready(const struct run *r)
{
	return r->gate->ready &&
	       (!r->tracer || r->tracer->state >= TRACER_READY);
}

static void on_deadline(struct run *r)
{
	struct err err;

	if (r->phase == RUN_STARTING) {
		if (r->is_late)
			err_set(&err, -ETIMEDOUT,
				"other sessions that start in the same folders took more than %d s",
				RUN_LATE_MS / 1000);
		else
			err_set(&err, -ETIMEDOUT,
				"the %s was not ready within %d s",
				r->gate->ready ? "tracer" : "gate",
				RUN_READY_MS / 1000);
		run_stop(r, &err);
	} else if (r->phase == RUN_AGENT) {
		r->deadline = 0;
		kill_agent(r);
		begin_ending(r);
	} else if (r->ended_hard++ == 0) {
		kill_agent(r);
		if (docker_remove(r->docker, r->gate_name, &err) < 0)
			fail(r, &err);
		if (r->tracer &&
		    docker_remove(r->docker, r->tracer_name, &err) < 0)
			fail(r, &err);
		r->deadline = proc_now_ms() + RUN_END_MS;
	} else {
		err_set(&err, -ETIMEDOUT, "docker does not end");
		fail(r, &err);
		if (r->agent)
			kill(r->agent, SIGKILL);
		if (r->gate->pid)
			kill(r->gate->pid, SIGKILL);
		if (r->tracer && r->tracer->pid)
			kill(r->tracer->pid, SIGKILL);
		r->deadline = proc_now_ms() + RUN_END_MS;
	}
}

/* The command's last line on a terminal may be unfinished: not over it. */
static bool is_slow_to_end(const struct run *r, int64_t now)
{
	return r->phase == RUN_ENDING && r->agent == 0 &&
	       (!r->agent_made || !isatty(STDOUT_FILENO)) &&
	       now >= r->ending_at + RUN_PROGRESS_MS;
}

static int next_wait(const struct run *r)
{
	int64_t wait = WAIT_MAX_MS, now = proc_now_ms(), left;

	if (r->deadline) {
		left = r->deadline - now;
		if (left < wait)
			wait = left;
	}
	if ((r->signal_pending || (r->killing && r->agent)) && wait > RETRY_MS)
		wait = RETRY_MS;
	if (is_awaited(r) && wait > LOOK_MS)
		wait = LOOK_MS;
	if (r->paused && wait > PAUSED_MS)
		wait = PAUSED_MS;
	if (r->is_late && r->phase == RUN_STARTING && wait > LATE_MS)
		wait = LATE_MS;
	if (r->network && r->phase == RUN_STARTING && wait > RETRY_MS)
		wait = RETRY_MS;
	if (r->tracer && tracer_wait_ms(r->tracer) >= 0 &&
	    wait > tracer_wait_ms(r->tracer))
		wait = tracer_wait_ms(r->tracer);
	if (r->progress && !r->was_told && r->phase != RUN_AGENT) {
		left = (r->phase == RUN_STARTING ? r->begun : r->ending_at) +
		       RUN_PROGRESS_MS - now;
		if (left > 0 && left < wait)
			wait = left;
	}
	if (control_deadline(r->control) &&
	    control_deadline(r->control) - now < wait)
		wait = control_deadline(r->control) - now;
	return wait < 0 ? 0 : (int)wait;
}

/* The bridge link: the gate waits for it, and Docker knows the gate soon. */
static void join_network(struct run *r)
{
	struct err err;
	int rc = docker_connect(r->docker, r->network, r->gate_name, &err);

	if (rc == 0)
		r->network = NULL;
	else if (rc != -ENOENT)
		run_stop(r, &err);
}

static void on_time(struct run *r)
{
	int64_t now = proc_now_ms();

	if (is_awaited(r) && now >= r->look_at) {
		if (r->look_at)
			look_for_agent(r);
		r->look_at = now + LOOK_MS;
	}
	if (r->network && r->phase == RUN_STARTING)
		join_network(r);
	if (r->paused && now - r->paused_at >= PAUSED_MS) {
		r->paused_at = now;
		(void)r->on_paused(r->ctx, r->paused);
	}

	if (r->signal_pending && r->agent)
		deliver(r);
	if (r->killing && r->agent)
		kill_agent(r);
	if (r->phase == RUN_STARTING && now - r->begun >= RUN_PROGRESS_MS)
		tell(r, "starting the gate");
	if (is_slow_to_end(r, now))
		tell(r, "ending the session");
	if (r->deadline && now >= r->deadline)
		on_deadline(r);
}

/*
 * Nothing needs the uplink any more. Docker takes as long to take it down as
 * the gate takes to end and the agent's container to be removed: all at once.
 */
static void leave_uplink(struct run *r)
{
	if (r->at.agent_died == 0 || !r->uplink || r->may_leave)
		return;
	docker_leave(r->docker, r->uplink, r->gate_name);
	r->uplink = NULL;
}

/* Nothing runs any more, and all that the gate said has been read. */
static bool is_over(const struct run *r)
{
	const struct tracer *t = r->tracer;
	bool read_all = r->gate->out < 0 && r->gate->err < 0 &&
			(!t || (t->out < 0 && t->err < 0));

	if (r->stage && r->agent_made && !stage_is_over(r->stage))
		read_all = false;
	/* a helper of docker's may still hold a pipe: not for ever */
	return r->agent == 0 && r->gate->pid == 0 && (!t || t->pid == 0) &&
	       (read_all || r->ended_hard > 0);
}

/*
 * All went as it should: the agent's container is gone, and the gate and the
 * tracer have said their last. Docker removes what is left of them.
 */
static bool can_leave(const struct run *r)
{
	return r->may_leave && r->agent == 0 && r->agent_removed &&
	       !r->failed && !r->signal && r->ended_hard == 0 &&
	       r->gate->done && (!r->tracer || tracer_is_done(r->tracer));
}

/*
 * No command ran, and the gate did not end well. What docker's status says then
 * is said of a network that is gone, at times as if the command were missing.
 */
static bool lost_gate(const struct run *r)
{
	return !r->failed && !r->signal && !r->agent_runs &&
	       r->agent_status >= 125 && r->agent_status <= 127 &&
	       (r->gate->status != 0 || r->gate->words_done);
}

/* Its status where it is known that it is one of a failure. */
static int say_gate(const struct run *r, struct err *err)
{
	const char *words = gate_last_words(r->gate);
	char how[PROC_STATUS_TEXT_MAX];

	if (r->gate->status == 0)
		return err_set(err, -EPIPE, "%s: %s", r->why.text, words);
	return err_set(err, -EPIPE, "%s (%s): %s", r->why.text,
		       proc_status_text(r->gate->status, how), words);
}

static int result(struct run *r, struct err *err)
{
	struct err why;

	if (lost_gate(r)) {
		err_set(&why, -EPIPE, GATE_ENDED);
		fail(r, &why);
	}
	if (r->failed == -EPIPE)
		return say_gate(r, err);
	if (r->failed) {
		*err = r->why;
		return r->failed;
	}
	if (r->signal)
		return 128 + r->signal;
	return r->agent_status;
}

static size_t run_fds(const struct run *r, struct pollfd *out)
{
	const struct tracer *t = r->tracer;
	int fds[] = {proc_signals_fd(), r->gate->out,
		     r->gate->err,	t ? t->out : -1,
		     t ? t->err : -1,	r->agent_runs ? -1 : r->caller};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		out[n++] = (struct pollfd){.fd = fds[i], .events = POLLIN};
	if (r->phase == RUN_AGENT)
		n += control_fds(r->control, out + n);
	return n + (r->stage ? stage_fds(r->stage, out + n) : 0);
}

/* Changes of the policy: while the agent runs, and only then. */
static void take_control(struct run *r)
{
	struct err err;

	if (r->phase == RUN_ENDING)
		control_close(r->control);
	else if (r->phase == RUN_AGENT && control_pump(r->control, &err) < 0)
		run_stop(r, &err);
}

/* Who waits for the agent went away, and would never know of it. */
static void check_caller(struct run *r)
{
	struct pollfd p = {.fd = r->agent_runs ? -1 : r->caller,
			   .events = POLLIN};
	struct err err;

	if (r->phase == RUN_ENDING || poll(&p, 1, 0) <= 0)
		return;
	r->caller = -1;
	err_set(&err, -ECANCELED, "who started this session is gone");
	run_stop(r, &err);
}

/* Nothing else can be in the way of the agent's mounts; or not yet. */
static void get_ready(struct run *r)
{
	int64_t now = proc_now_ms();
	struct err err;
	int rc;

	if (r->is_late && now < r->ready_at)
		return;
	rc = r->on_ready(r->ctx, &err);
	if (rc < 0)
		run_stop(r, &err);
	if (rc == 0)
		start_agent(r);
	if (rc != 1)
		return;
	r->ready_at = now + LATE_MS;
	if (!r->is_late)
		r->deadline = now + RUN_LATE_MS;
	r->is_late = true;
}

int run_loop(struct run *r, struct err *err)
{
	struct pollfd fds[DOCKER_FDS_MAX];
	struct err ignored;

	r->deadline = proc_now_ms() + RUN_READY_MS;
	if (docker_follow(r->docker, r->session->id, on_event, r, &ignored) < 0)
		r->at.agent_died = 0; /* then the commands' ends tell */
	take_signals(r);
	while (!is_over(r) && !can_leave(r)) {
		if (docker_poll(r->docker, fds, run_fds(r, fds), next_wait(r),
				&ignored) < 0)
			run_stop(r, &ignored);
		check_start(r);
		leave_uplink(r);
		take_signals(r);
		take_output(r);
		take_trace(r);
		if (r->stage)
			stage_pump(r->stage, r->agent);
		take_control(r);
		check_caller(r);
		grant_wish(r);
		if (r->phase == RUN_STARTING && is_ready(r))
			get_ready(r);
		on_time(r);
		if (r->agent == 0 && r->agent_removed && r->on_agent_gone) {
			r->on_agent_gone(r->ctx);
			r->on_agent_gone = NULL;
		}
	}
	r->left = !is_over(r);
	untell(r);
	return result(r, err);
}
