/*
 * From the applied objects to their end: the states of parts.h, and every bound
 * on waiting.
 */
#include "runtime/launch/pod/parts.h"

#include "runtime/launch/loop/progress.h"

#include <errno.h>
#include <poll.h>
#include <sys/wait.h>

#define REPEAT_MS 300 /* signals closer than this are one */
#define FDS	  (POD_WATCH_FDS + TELL_FDS + 1)

static void set_state(struct pod *p, enum pod_state state, int64_t for_ms)
{
	p->state = state;
	p->deadline = for_ms ? clock_ms() + for_ms : 0;
}

/* --- the end --------------------------------------------------------------- */

static void lose_pod(struct pod *p, const struct err *why)
{
	p->is_left = true;
	progress_clear(&p->run);
	fprintf(stderr, "membrane: left for the next call to clean up: %s\n",
		why->text);
	set_state(p, POD_GONE, 0);
}

/* Nothing of ours goes before the Pod does. */
static void end_pod(struct pod *p, uint32_t grace_s)
{
	struct err err;

	if (objects_end(p->a, &p->objects, grace_s, &err) < 0)
		lose_pod(p, &err);
	else
		set_state(p, POD_ENDING,
			  POD_END_MS + 1000 * (int64_t)grace_s);
}

void pod_fail(struct pod *p, const struct err *why)
{
	if (!p->run.failed && !p->run.signal.number) {
		p->run.failed = why->code < 0 ? why->code : -EIO;
		p->run.why = *why;
	}
	progress_clear(&p->run);
	if (p->state < POD_ENDING)
		end_pod(p, p->state == POD_STARTING ? 1 : p->grace_s);
}

/* --- what comes ------------------------------------------------------------ */

static void on_signal(struct pod *p, int number)
{
	int64_t now = clock_ms();
	bool first = p->run.signal.number == 0;

	if (!first && now - p->signal_ms < REPEAT_MS)
		return; /* timeout(1) sends to us and to our group */
	p->signal_ms = now;
	p->run.signal.number = first ? number : p->run.signal.number;
	p->grace_s = session_grace(&p->session, LOOP_GRACE_S);
	if (p->state < POD_ENDING)
		end_pod(p, p->grace_s);
	else if (!first)
		end_pod(p, 0);
}

static void reap_child(struct pod *p, pid_t pid)
{
	int status;

	if (pid && waitpid(pid, &status, WNOHANG) == pid &&
	    !pod_watch_ended(p, pid, status) &&
	    !pod_streams_ended(p, pid, status))
		return;
}

static void take_signals(struct pod *p)
{
	struct proc_signal s;

	while (proc_signals_next(&s)) {
		if (s.signo != SIGCHLD) {
			on_signal(p, s.signo);
			continue;
		}
		reap_child(p, p->watch.pid);
		reap_child(p, p->events.pid);
		reap_child(p, p->log.pid);
		reap_child(p, p->output);
		reap_child(p, p->input);
	}
}

static void wait_for_news(struct pod *p)
{
	int64_t until[] = {p->deadline,
			   p->progress_ms,
			   p->watch_again.next_ms,
			   p->log_again.next_ms,
			   p->output_again.next_ms,
			   tell_deadline(p->run.tell)};
	int64_t now = clock_ms(), left = -1;
	struct pollfd fds[FDS];
	size_t n = pod_watch_fds(p, fds);

	for (size_t i = 0; i < ARRAY_LEN(until); i++)
		if (until[i] && (left < 0 || until[i] - now < left))
			left = until[i] > now ? until[i] - now : 0;
	n += tell_fds(p->run.tell, fds + n);
	fds[n++] = (struct pollfd){.fd = proc_signals_fd(), .events = POLLIN};
	if (poll(fds, n, left > INT32_MAX ? INT32_MAX : (int)left) < 0)
		return; /* a signal: it is in its pipe */
}

/* --- from state to state ---------------------------------------------------- */

/* Nothing of it runs, and all that it said has been read. What the kubelet still
 * removes nobody waits for. */
static bool has_ended(const struct pod *p)
{
	bool runs = !p->seen.deleting;

	for (size_t i = 0; i < SEEN_PARTS; i++)
		runs |= p->seen.of[i].state == SEEN_RUNS;
	return (p->seen.gone || !runs) && stream_is_over(&p->log) &&
	       p->output == 0;
}

static void advance(struct pod *p)
{
	const struct seen_container *agent = &p->seen.of[SEEN_AGENT];

	switch (p->state) {
	case POD_STARTING:
		if (agent->state < SEEN_RUNS) {
			ignore(pod_trouble_find(p));
			break;
		}
		p->run.agent_runs = true;
		p->run.at.agent_started = loop_elapsed(&p->run);
		set_state(p, POD_RUNS, 0);
		pod_streams_begin(p);
		break;
	case POD_RUNS:
		if (agent->state == SEEN_ENDED)
			set_state(p, POD_OUTPUT, POD_OUTPUT_MS);
		else
			ignore(pod_trouble_find(p));
		break;
	case POD_OUTPUT:
		if (pod_streams_are_over(p) && pod_watch_has_log(p))
			end_pod(p, p->grace_s);
		break;
	case POD_ENDING:
		if (has_ended(p))
			set_state(p, POD_GONE, 0);
		break;
	case POD_GONE:
		break;
	}
}

/* Whatever was waited for did not come. */
static void reach_limit(struct pod *p)
{
	struct err err;

	switch (p->state) {
	case POD_STARTING:
		err_set(&err, -ETIMEDOUT, "the Pod did not begin in %d s: %s%s%s",
			POD_START_MS / 1000, seen_waits_for(&p->seen),
			p->seen.text[0] ? ": " : "", p->seen.text);
		pod_fail(p, &err);
		return;
	case POD_RUNS:
	case POD_GONE:
		return;
	case POD_OUTPUT:
		pod_streams_done(p);
		end_pod(p, p->grace_s);
		return;
	case POD_ENDING:
		/* its node does not answer: it is taken off the list */
		if (objects_end(p->a, &p->objects, 0, &err) < 0)
			lose_pod(p, &err);
		set_state(p, POD_GONE, 0);
		return;
	}
}

static void say_progress(struct pod *p)
{
	p->progress_ms = 0;
	if (p->state == POD_STARTING) {
		progress_clear(&p->run);
		progress_tell(&p->run, seen_waits_for(&p->seen));
		p->progress_ms = clock_ms() + LOOP_PROGRESS_MS;
	} else if (p->state == POD_ENDING) {
		progress_tell(&p->run, "ending the session");
	}
}

static void act_on_time(struct pod *p)
{
	int64_t now = clock_ms();

	if (p->progress_ms && now >= p->progress_ms)
		say_progress(p);
	if (p->deadline && now >= p->deadline)
		reach_limit(p);
}

static int status_of(struct pod *p, struct err *err)
{
	int status;

	if (p->run.failed) {
		*err = p->run.why;
		return p->run.failed;
	}
	if (p->run.signal.number)
		return 128 + p->run.signal.number;
	if (pod_trouble_begin(p, &status))
		return status;
	return p->seen.of[SEEN_AGENT].status;
}

int pod_loop(struct pod *p, struct err *err)
{
	set_state(p, POD_STARTING, POD_START_MS);
	p->progress_ms = p->run.begun + LOOP_PROGRESS_MS;
	while (p->state != POD_GONE) {
		pod_watch_tend(p);
		wait_for_news(p);
		take_signals(p);
		pod_watch_pump(p);
		tell_pump(p->run.tell);
		pod_streams_tend(p);
		advance(p);
		act_on_time(p);
	}
	pod_streams_done(p);
	pod_watch_done(p);
	progress_clear(&p->run);
	return status_of(p, err);
}
