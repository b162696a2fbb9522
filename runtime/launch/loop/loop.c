#include "runtime/launch/loop/loop.h"

#include "compiler/base/sys/proc.h"
#include "runtime/launch/docker/docker_session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RETRY_MS    50	  /* for a container that Docker is still making */
#define REPEAT_MS   300	  /* signals closer than this are one */
#define LOOK_MS	    500	  /* for a container of which no event came */
#define LATE_MS	    100	  /* between looks at others that start here */
#define PAUSED_MS   1000  /* between looks at who has paused the agent */
#define WAIT_MAX_MS 60000 /* of one poll */
#define GATE_ENDED  "the gate ended"
#define VIEW_ENDED  "the view of the workspace ended"

int64_t loop_elapsed(const struct loop *r)
{
	int64_t ms = proc_now_ms() - r->begun;

	return ms > 0 ? ms : 1;
}

static void tell_progress(struct loop *r, const char *what)
{
	if (!r->progress || r->was_told)
		return;
	fprintf(stderr, "\r\033[Kmembrane: %s…", what);
	fflush(stderr);
	r->was_told = true;
}

static void clear_progress(struct loop *r)
{
	if (!r->was_told)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	r->was_told = false;
}

static void note_failure(struct loop *r, const struct err *why)
{
	if (r->failed)
		return;
	r->failed = why->code < 0 ? why->code : -EIO;
	r->why = *why;
}

/* --- timers --------------------------------------------------------------- */

static bool look_for_agent(struct loop *r);
static bool join_network(struct loop *r);
static bool rescue_paused(struct loop *r);
static bool send_signal(struct loop *r);
static bool kill_agent(struct loop *r);
static bool get_ready(struct loop *r);
static bool say_progress(struct loop *r);
static bool reach_limit(struct loop *r);
static bool lose_view(struct loop *r);

/*
 * When each is due, counted from when it is set, and what is done then: true
 * sets it again. The limit's time is that of the state. What the tracer and the
 * control socket wait for only ends the poll: each turn looks after them.
 */
static const struct {
	int after_ms;
	bool (*act)(struct loop *r);
} timers[COURSE_TIMERS] = {
	[COURSE_LOOK] = {LOOK_MS, look_for_agent},
	[COURSE_JOIN] = {RETRY_MS, join_network},
	[COURSE_PAUSE] = {PAUSED_MS, rescue_paused},
	[COURSE_RESEND] = {RETRY_MS, send_signal},
	[COURSE_REKILL] = {RETRY_MS, kill_agent},
	[COURSE_QUEUE] = {LATE_MS, get_ready},
	[COURSE_PROGRESS] = {LOOP_PROGRESS_MS, say_progress},
	[COURSE_VIEW] = {LOOP_VIEW_MS, lose_view},
	[COURSE_LIMIT] = {0, reach_limit},
};

static void set_timer(struct loop *r, enum course_timer t)
{
	course_set(&r->course, t, proc_now_ms() + timers[t].after_ms);
}

static void clear_timer(struct loop *r, enum course_timer t)
{
	course_set(&r->course, t, 0);
}

static void act_on_timers(struct loop *r)
{
	int64_t now = proc_now_ms();

	for (enum course_timer t = 0; t < COURSE_TIMERS; t++)
		if (course_take(&r->course, t, now) && timers[t].act &&
		    timers[t].act(r))
			set_timer(r, t);
}

/* Docker has said something: what waits for its containers looks at once. */
static void hurry_timers(struct loop *r)
{
	int64_t now = proc_now_ms();

	course_hurry(&r->course, COURSE_JOIN, now);
	course_hurry(&r->course, COURSE_RESEND, now);
	course_hurry(&r->course, COURSE_REKILL, now);
}

static int next_wait(struct loop *r)
{
	int64_t now = proc_now_ms();
	int tracer = r->tracer ? tracer_wait_ms(r->tracer) : -1;

	course_set(&r->course, COURSE_TRACER, tracer >= 0 ? now + tracer : 0);
	course_set(&r->course, COURSE_CONTROL, control_deadline(r->control));
	return course_wait(&r->course, now, WAIT_MAX_MS);
}

/* --- from one state to the next ------------------------------------------- */

/* Below 0: as long as it takes. */
static int64_t limit_of(const struct loop *r, enum course_state state)
{
	switch (state) {
	case COURSE_STARTING:
		return LOOP_READY_MS;
	case COURSE_QUEUED:
		return LOOP_LATE_MS;
	case COURSE_AGENT:
		return -1;
	case COURSE_ASKED: /* 0: at once */
		return 1000 * (int64_t)session_grace(r->session, LOOP_GRACE_S);
	case COURSE_ENDING:
	case COURSE_REMOVING:
	case COURSE_FORCING:
		return LOOP_END_MS;
	}
	abort();
}

static void set_limit(struct loop *r)
{
	int64_t limit = limit_of(r, r->course.state);

	course_set(&r->course, COURSE_LIMIT,
		   limit < 0 ? 0 : proc_now_ms() + limit);
}

static bool is_starting(const struct loop *r)
{
	return r->course.state < COURSE_AGENT;
}

static bool is_ending(const struct loop *r)
{
	return r->course.state >= COURSE_ENDING;
}

/* Whose start all others wait for. */
static const char *awaited_part(const struct loop *r)
{
	if (!r->gate->ready)
		return "gate";
	return r->view && !r->view->ready ? "view of the workspace" : "tracer";
}

static void say_late(struct loop *r, enum course_state state)
{
	struct err err;

	if (state == COURSE_QUEUED)
		err_set(&err, -ETIMEDOUT,
			"other sessions that start in the same folders took more than %d s",
			LOOP_LATE_MS / 1000);
	else
		err_set(&err, -ETIMEDOUT, "the %s was not ready within %d s",
			awaited_part(r), LOOP_READY_MS / 1000);
	note_failure(r, &err);
}

/*
 * Kill the agent's container through Docker, and if need be its command. That
 * may be about to make the container: again, until it has ended.
 */
static bool kill_agent(struct loop *r)
{
	struct err err;

	if (r->agent == 0)
		return false;
	if (docker_remove(r->docker, r->agent_name, &err) < 0)
		kill(r->agent, SIGKILL); /* the reaper finds the container */
	clear_timer(r, COURSE_RESEND);
	r->was_killed = true;
	return true;
}

static void take_output(struct loop *r);

static void end_rest(struct loop *r)
{
	set_timer(r, COURSE_PROGRESS);
	/* what the agent was told last is on record, too */
	if (r->tracer)
		take_output(r);
	gate_close_stdin(r->gate);
	if (r->tracer)
		tracer_end(r->tracer, proc_now_ms());
	if (r->view)
		view_close_stdin(r->view);
}

static void remove_rest(struct loop *r)
{
	struct err err;

	if (docker_remove(r->docker, r->gate_name, &err) < 0)
		note_failure(r, &err);
	if (r->tracer && docker_remove(r->docker, r->tracer_name, &err) < 0)
		note_failure(r, &err);
	if (r->view && docker_remove(r->docker, r->view_name, &err) < 0)
		note_failure(r, &err);
}

static void kill_commands(struct loop *r)
{
	struct err err;

	err_set(&err, -ETIMEDOUT, "docker does not end");
	note_failure(r, &err);
	if (r->agent)
		kill(r->agent, SIGKILL);
	if (r->gate->pid)
		kill(r->gate->pid, SIGKILL);
	if (r->tracer && r->tracer->pid)
		kill(r->tracer->pid, SIGKILL);
	if (r->view && r->view->pid)
		kill(r->view->pid, SIGKILL);
}

static void on_course(struct loop *r, enum course_event event)
{
	enum course_state from = r->course.state;
	struct course_step step = course_after(from, event);

	r->course.state = step.to;
	if (step.acts & COURSE_SAY_LATE)
		say_late(r, from);
	if (step.acts & COURSE_PASS_ON && !r->signal.is_shared &&
	    send_signal(r))
		set_timer(r, COURSE_RESEND);
	if (step.acts & COURSE_KILL_AGENT && kill_agent(r))
		set_timer(r, COURSE_REKILL);
	if (step.acts & COURSE_END_REST)
		end_rest(r);
	if (step.acts & COURSE_REMOVE_REST)
		remove_rest(r);
	if (step.acts & COURSE_KILL_ALL)
		kill_commands(r);
	if (step.has_new_time)
		set_limit(r);
}

static bool reach_limit(struct loop *r)
{
	on_course(r, COURSE_DEADLINE);
	return false;
}

void loop_stop(struct loop *r, const struct err *why)
{
	note_failure(r, why);
	on_course(r, COURSE_FAILURE);
}

/* --- the agent ------------------------------------------------------------ */

static void start_agent(struct loop *r)
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

	clear_progress(r);
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
		loop_stop(r, &err);
		return;
	}
	r->agent_made = true;
	watchdog_tell(r->watchdog, r->agent);
	on_course(r, COURSE_AGENT_SPAWNED);
	set_timer(r, COURSE_LOOK);
	r->at.agent_spawned = loop_elapsed(r);
}

static void note_agent_runs(struct loop *r)
{
	if (r->agent_runs)
		return;
	r->agent_runs = true;
	if (r->tracer)
		tracer_agent_runs(r->tracer, proc_now_ms());
}

/* At once, before anything else is looked at. */
static void check_start(struct loop *r)
{
	int (*on_started)(void *ctx, struct err *err) = r->on_started;
	struct err err;

	if (!r->agent_runs || !on_started)
		return;
	r->on_started = NULL;
	if (on_started(r->ctx, &err) < 0 ||
	    (r->on_agent_runs && r->on_agent_runs(r->ctx, &err) < 0))
		loop_stop(r, &err);
}

static void note_pause(struct loop *r, const struct docker_event *e)
{
	if (strcmp(e->action, "pause") == 0) {
		r->paused = arena_cstr(r->a, str_of(e->id));
		set_timer(r, COURSE_PAUSE);
	} else if (strcmp(e->action, "unpause") == 0) {
		r->paused = NULL;
		clear_timer(r, COURSE_PAUSE);
	}
}

static bool rescue_paused(struct loop *r)
{
	(void)r->on_paused(r->ctx, r->paused);
	return true;
}

static void on_event(void *ctx, const struct docker_event *e)
{
	struct loop *r = ctx;

	hurry_timers(r);
	if (strcmp(e->role, "gate") == 0) {
		if (strcmp(e->action, "start") == 0)
			r->at.gate_started = loop_elapsed(r);
		if (strcmp(e->action, "die") == 0)
			r->at.gate_died = loop_elapsed(r);
		if (strcmp(e->action, "destroy") == 0)
			r->gate_removed = true;
	}
	if (strcmp(e->role, "tracer") == 0 && strcmp(e->action, "destroy") == 0)
		r->tracer_removed = true;
	if (strcmp(e->role, "view") == 0 && strcmp(e->action, "destroy") == 0)
		r->view_removed = true;
	if (strcmp(e->role, "agent") != 0)
		return;
	if (r->tracer && tracer_wants_agent(r->tracer))
		tracer_agent(r->tracer, e->id);
	note_pause(r, e);
	if (strcmp(e->action, "create") == 0)
		r->at.agent_created = loop_elapsed(r);
	if (strcmp(e->action, "destroy") == 0)
		r->agent_removed = true;
	if (strcmp(e->action, "start") == 0) {
		r->at.agent_started = loop_elapsed(r);
		note_agent_runs(r);
	}
	if (strcmp(e->action, "die") == 0 && !is_starting(r) && !is_ending(r)) {
		r->at.agent_died = loop_elapsed(r);
		clear_timer(r, COURSE_RESEND);
		on_course(r, COURSE_AGENT_DIED);
	}
}

bool loop_left_nothing(const struct loop *r)
{
	return r->gate_removed && (r->agent_removed || !r->agent_made) &&
	       (r->tracer_removed || !r->tracer) &&
	       (r->view_removed || !r->view);
}

/* Somebody waits to hear of the agent's container. */
static bool is_awaited(const struct loop *r)
{
	return (!r->agent_runs && r->agent != 0) ||
	       (r->agent_made && r->tracer && tracer_wants_agent(r->tracer));
}

/* Docker's events tell it at once; should they not come, this does. */
static bool look_for_agent(struct loop *r)
{
	docker_containers list = {0};
	struct err ignored;

	if (!is_awaited(r))
		return false;
	if (docker_list(r->docker, r->session->id, &list, &ignored) < 0)
		return true;
	vec_each(c, &list) {
		if (strcmp(c->role, "agent") != 0)
			continue;
		if (r->tracer)
			tracer_agent(r->tracer, c->id);
		if (strcmp(c->state, "running") == 0)
			note_agent_runs(r);
	}
	return true;
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

static bool send_signal(struct loop *r)
{
	struct err err;

	if (r->agent == 0)
		return false;
	/* a signal would let it go on, while another session counts on that
	 * it does not */
	if (r->paused && r->on_paused(r->ctx, r->paused))
		return true;
	/* not there or not running yet: until the deadline, again */
	return docker_signal(r->docker, r->agent_name,
			     signal_name(r->signal.number), &err) == -ENOENT;
}

static void on_signal(struct loop *r, const struct proc_signal *s)
{
	int64_t now = proc_now_ms();
	bool first = r->signal.number == 0;

	if (!first && now - r->signal.at < REPEAT_MS)
		return; /* timeout(1) sends to us and to our group */
	r->signal.at = now;
	if (first) {
		r->signal.number = s->signo;
		r->signal.is_shared = s->from_terminal && r->shares_terminal;
	}
	on_course(r, first ? COURSE_SIGNAL : COURSE_SIGNAL_AGAIN);
}

static void reap_children(struct loop *r)
{
	int status;

	if (r->agent && waitpid(r->agent, &status, WNOHANG) == r->agent) {
		r->agent = 0;
		r->agent_status = proc_status(status);
		r->at.agent_ended = loop_elapsed(r);
		on_course(r, COURSE_AGENT_ENDED);
	}
	if (r->gate->pid &&
	    waitpid(r->gate->pid, &status, WNOHANG) == r->gate->pid) {
		r->gate->pid = 0;
		r->gate->status = proc_status(status);
		r->at.gate_ended = loop_elapsed(r);
	}
	if (r->view && r->view->pid &&
	    waitpid(r->view->pid, &status, WNOHANG) == r->view->pid) {
		r->view->pid = 0;
		r->view->status = proc_status(status);
	}
	if (r->tracer && r->tracer->pid &&
	    waitpid(r->tracer->pid, &status, WNOHANG) == r->tracer->pid) {
		/* the last chance to know whose its records are */
		look_for_agent(r);
		tracer_ended(r->tracer, proc_status(status));
	}
}

static void take_signals(struct loop *r)
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

static void take_output(struct loop *r)
{
	bool running = !is_ending(r);
	struct err err;

	if (gate_pump(r->gate, &err) < 0) {
		loop_stop(r, &err);
		/* what it says from here on is not listened to */
		fd_close(&r->gate->out);
		r->gate->out = -1;
		return;
	}
	if (running && (r->gate->out < 0 || r->gate->pid == 0)) {
		/* whatever it said last is read until its end, and put in */
		err_set(&err, -EPIPE, GATE_ENDED);
		loop_stop(r, &err);
	} else if (r->gate->ready && !r->at.ready) {
		r->at.ready = loop_elapsed(r);
	}
}

/* A session that must not go on blind ends; any other goes on, and says so. */
static void take_trace(struct loop *r)
{
	struct tracer *t = r->tracer;
	struct err err;

	if (!t)
		return;
	tracer_pump(t);
	if (t->state == TRACER_LOADED && r->gate->ready)
		tracer_tell(t, r->gate->netns, r->gate->pidns, r->agent_host);
	if (t->state == TRACER_LOADED && !r->at.tracer_loaded)
		r->at.tracer_loaded = loop_elapsed(r);
	if (t->state == TRACER_READY && !r->at.tracer_ready)
		r->at.tracer_ready = loop_elapsed(r);
	if (t->state == TRACER_FAILED && t->required && !is_ending(r)) {
		err_set(&err, -EIO,
			"the trace is required, and the tracer failed: %s",
			t->why.text);
		loop_stop(r, &err);
	}
}

static void tend_tracer(struct loop *r)
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

/* --- the view ------------------------------------------------------------ */

/* Without it the agent has no files any more: it cannot go on. */
static bool lose_view(struct loop *r)
{
	struct err err;

	if (is_ending(r))
		return false;
	err_set(&err, -ENOTCONN, VIEW_ENDED);
	loop_stop(r, &err);
	return false;
}

/*
 * Once it is the agent's alone, its end in order comes of the agent's end, of
 * which Docker may tell later.
 */
static void note_view_end(struct loop *r)
{
	if (!r->view->done || !r->view->is_hidden)
		lose_view(r);
	else if (r->course.due[COURSE_VIEW] == 0)
		set_timer(r, COURSE_VIEW);
}

static void take_view(struct loop *r)
{
	bool running = !is_ending(r);
	struct view *v = r->view;
	struct err err;

	if (!v)
		return;
	if (view_pump(v, &err) < 0) {
		loop_stop(r, &err);
		/* what it says from here on is not listened to */
		fd_close(&v->out);
		v->out = -1;
		return;
	}
	if (running && (v->out < 0 || v->pid == 0))
		note_view_end(r);
	else if (v->ready && !r->at.view_ready)
		r->at.view_ready = loop_elapsed(r);
}

static bool is_ready(const struct loop *r)
{
	return r->gate->ready && (!r->view || r->view->ready) &&
	       (!r->tracer || r->tracer->state >= TRACER_READY);
}

/*
 * A person is told of what takes long. The command's last line on a terminal
 * may be unfinished: not over it.
 */
static bool say_progress(struct loop *r)
{
	if (is_starting(r))
		tell_progress(r, r->gate->ready && r->view && !r->view->ready
					 ? "starting the view of the workspace"
					 : "starting the gate");
	if (!is_ending(r) || (r->agent_made && isatty(STDOUT_FILENO)))
		return false;
	if (r->agent)
		return true;
	tell_progress(r, "ending the session");
	return false;
}

/* The bridge link: the gate waits for it, and Docker knows the gate soon. */
static bool join_network(struct loop *r)
{
	struct err err;
	int rc;

	if (!is_starting(r))
		return false;
	rc = docker_connect(r->docker, r->network, r->gate_name, &err);
	if (rc < 0 && rc != -ENOENT)
		loop_stop(r, &err);
	return rc == -ENOENT;
}

/*
 * Nothing needs the uplink any more. Docker takes as long to take it down as
 * the gate takes to end and the agent's container to be removed: all at once.
 */
static void leave_uplink(struct loop *r)
{
	if (r->at.agent_died == 0 || !r->uplink || r->may_leave)
		return;
	docker_leave(r->docker, r->uplink, r->gate_name);
	r->uplink = NULL;
}

/* Nothing runs any more, and all that gate and view said has been read. */
static bool is_over(const struct loop *r)
{
	const struct tracer *t = r->tracer;
	const struct view *v = r->view;
	bool read_all = r->gate->out < 0 && r->gate->err < 0 &&
			(!t || (t->out < 0 && t->err < 0)) &&
			(!v || (v->out < 0 && v->err < 0));

	if (r->stage && r->agent_made && !stage_is_over(r->stage))
		read_all = false;
	/* a helper of docker's may still hold a pipe: not for ever */
	return r->agent == 0 && r->gate->pid == 0 && (!t || t->pid == 0) &&
	       (!v || v->pid == 0) &&
	       (read_all || r->course.state > COURSE_ENDING);
}

/*
 * All went as it should: the agent's container is gone, and gate, tracer and
 * view have said their last. Docker removes what is left of them.
 */
static bool can_leave(const struct loop *r)
{
	return r->may_leave && r->agent == 0 && r->agent_removed &&
	       !r->failed && !r->signal.number &&
	       r->course.state <= COURSE_ENDING && r->gate->done &&
	       (!r->tracer || tracer_is_done(r->tracer)) &&
	       (!r->view || r->view->done);
}

/*
 * No command ran, and the gate did not end well. What docker's status says then
 * is said of a network that is gone, at times as if the command were missing.
 */
static bool lost_gate(const struct loop *r)
{
	return !r->failed && !r->signal.number && !r->agent_runs &&
	       r->agent_status >= 125 && r->agent_status <= 127 &&
	       (r->gate->status != 0 || r->gate->words_done);
}

/*
 * What the view could not close did not begin (125), or ended with it, of which
 * Docker told before the view's own words came.
 */
static bool lost_view(const struct loop *r)
{
	int status = r->agent_status;

	return !r->failed && !r->signal.number && r->view &&
	       r->view->words_done && !r->view->done &&
	       (status == 125 || status == 128 + SIGKILL);
}

/* Its status where it is known that it is one of a failure. */
static int say_gate(const struct loop *r, struct err *err)
{
	const char *words = gate_last_words(r->gate);
	char how[PROC_STATUS_TEXT_MAX];

	if (r->gate->status == 0)
		return err_set(err, -EPIPE, "%s: %s", r->why.text, words);
	return err_set(err, -EPIPE, "%s (%s): %s", r->why.text,
		       proc_status_text(r->gate->status, how), words);
}

static int say_view(const struct loop *r, struct err *err)
{
	char how[PROC_STATUS_TEXT_MAX];

	return err_set(err, -ENOTCONN, "%s (%s): %s", r->why.text,
		       proc_status_text(r->view->status, how),
		       view_last_words(r->view));
}

static int exit_status(struct loop *r, struct err *err)
{
	struct err why;

	if (lost_gate(r)) {
		err_set(&why, -EPIPE, GATE_ENDED);
		note_failure(r, &why);
	}
	if (lost_view(r)) {
		err_set(&why, -ENOTCONN, VIEW_ENDED);
		note_failure(r, &why);
	}
	if (r->failed == -EPIPE)
		return say_gate(r, err);
	if (r->failed == -ENOTCONN && r->view)
		return say_view(r, err);
	if (r->failed) {
		*err = r->why;
		return r->failed;
	}
	if (r->signal.number)
		return 128 + r->signal.number;
	return r->agent_status;
}

static size_t loop_fds(const struct loop *r, struct pollfd *out)
{
	const struct tracer *t = r->tracer;
	const struct view *v = r->view;
	int fds[] = {proc_signals_fd(),
		     r->gate->out,
		     r->gate->err,
		     t ? t->out : -1,
		     t ? t->err : -1,
		     v ? v->out : -1,
		     v ? v->err : -1,
		     r->agent_runs ? -1 : r->caller,
		     r->renewals ? r->renewals->out : -1};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		out[n++] = (struct pollfd){.fd = fds[i], .events = POLLIN};
	if (v && view_has_to_say(v))
		out[n++] = (struct pollfd){.fd = v->in, .events = POLLOUT};
	if (!is_starting(r) && !is_ending(r))
		n += control_fds(r->control, out + n);
	return n + (r->stage ? stage_fds(r->stage, out + n) : 0);
}

/* Changes of the policy: while the agent runs, and only then. */
static void take_control(struct loop *r)
{
	struct err err;

	if (is_ending(r))
		control_close(r->control);
	else if (!is_starting(r) && control_pump(r->control, &err) < 0)
		loop_stop(r, &err);
}

/* New tokens, or none: the gate hears of it. */
static void take_renewals(struct loop *r)
{
	struct err err;

	if (r->renewals && is_ending(r))
		renewals_done(r->renewals);
	else if (r->renewals && renewals_pump(r->renewals, &err) < 0)
		loop_stop(r, &err);
}

/* Who waits for the agent went away, and would never know of it. */
static void check_caller(struct loop *r)
{
	struct pollfd p = {.fd = r->agent_runs ? -1 : r->caller,
			   .events = POLLIN};
	struct err err;

	if (is_ending(r) || poll(&p, 1, 0) <= 0)
		return;
	r->caller = -1;
	err_set(&err, -ECANCELED, "who started this session is gone");
	loop_stop(r, &err);
}

/*
 * Nothing else can be in the way of the agent's mounts: it starts. Otherwise
 * true, and once more a little later.
 */
static bool get_ready(struct loop *r)
{
	struct err err;
	int rc;

	if (!is_starting(r) || !is_ready(r))
		return false;
	rc = r->on_ready(r->ctx, &err);
	if (rc < 0)
		loop_stop(r, &err);
	if (rc == 0)
		start_agent(r);
	if (rc == 1)
		on_course(r, COURSE_OTHERS_FIRST);
	return rc == 1;
}

/* A session that failed before this has as long: its gate may still start. */
static void set_first_timers(struct loop *r)
{
	course_set(&r->course, COURSE_LIMIT, proc_now_ms() + LOOP_READY_MS);
	if (r->network)
		set_timer(r, COURSE_JOIN);
	if (is_starting(r))
		course_set(&r->course, COURSE_PROGRESS,
			   r->begun + LOOP_PROGRESS_MS);
}

static void pump_all(struct loop *r)
{
	check_start(r);
	leave_uplink(r);
	take_signals(r);
	take_output(r);
	take_trace(r);
	take_view(r);
	if (r->stage)
		stage_pump(r->stage, r->agent);
	take_control(r);
	take_renewals(r);
	check_caller(r);
	tend_tracer(r);
	if (r->course.state == COURSE_STARTING && get_ready(r))
		set_timer(r, COURSE_QUEUE);
	act_on_timers(r);
	if (r->agent == 0 && r->agent_removed && r->on_agent_gone) {
		r->on_agent_gone(r->ctx);
		r->on_agent_gone = NULL;
	}
}

int loop_run(struct loop *r, struct err *err)
{
	struct pollfd fds[DOCKER_FDS_MAX];
	struct err ignored;

	set_first_timers(r);
	if (docker_follow(r->docker, r->session->id, on_event, r, &ignored) < 0)
		r->at.agent_died = 0; /* then the commands' ends tell */
	take_signals(r);
	while (!is_over(r) && !can_leave(r)) {
		if (docker_poll(r->docker, fds, loop_fds(r, fds), next_wait(r),
				&ignored) < 0)
			loop_stop(r, &ignored);
		pump_all(r);
	}
	r->left = !is_over(r);
	clear_progress(r);
	return exit_status(r, err);
}
