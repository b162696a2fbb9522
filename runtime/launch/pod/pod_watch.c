/*
 * What kubectl tells while the session runs: the Pod and its events, and what
 * the gate prints.
 */
#include "runtime/launch/pod/parts.h"

#include <errno.h>
#include <string.h>

/* --- the Pod, and its events ------------------------------------------------
 */

static int on_pod(void *ctx, struct str line, struct err *err)
{
	struct pod *p = ctx;
	cJSON *o = seen_object(&p->object, line);

	ignore(err);
	if (o)
		seen_take(&p->seen, o);
	cJSON_Delete(o);
	return 0;
}

static int on_event(void *ctx, struct str line, struct err *err)
{
	struct pod *p = ctx;
	cJSON *o = seen_object(&p->event, line);
	char text[SEEN_TEXT_MAX];

	ignore(err);
	if (!o)
		return 0;
	switch (seen_event(o, text)) {
	case SEEN_USUAL:
		break;
	case SEEN_TROUBLE:
		pod_trouble_tell(p, text);
		break;
	case SEEN_HOPELESS:
		memcpy(p->hopeless, text, sizeof(text));
		break;
	}
	cJSON_Delete(o);
	return 0;
}

/* --- the gate's log ---------------------------------------------------------
 */

/* Nobody answers in a cluster: they are records. */
static int on_question(void *ctx, const char *name, const cJSON *event,
		       struct str line, struct err *err)
{
	ignore(name);
	ignore(event);
	line.n++; /* with its LF */
	return gate_note(ctx, line, err);
}

/* Both of its streams are one there. */
static int on_log(void *ctx, struct str line, struct err *err)
{
	struct pod *p = ctx;
	struct gate *g = p->run.gate;
	int rc;

	if (p->log_skip) {
		p->log_skip--;
		return 0;
	}
	p->log_lines++;
	if (!str_starts(line, STR("{"))) {
		gate_take_words(g, line);
		return 0;
	}
	rc = gate_take(g, line, err);
	return rc < 0 ? rc : gate_take(g, STR("\n"), err);
}

/* --- their lives ------------------------------------------------------------
 */

static const char *pod_name(struct pod *p)
{
	return arena_cstr(p->a, p->objects.name);
}

void pod_watch_init(struct pod *p)
{
	stream_init(&p->watch, p->a, on_pod, p);
	stream_init(&p->events, p->a, on_event, p);
	stream_init(&p->log, p->a, on_log, p);
	buf_init(&p->object, p->a);
	buf_init(&p->event, p->a);
	p->run.gate->on_question = on_question;
	p->run.gate->question_ctx = p->run.gate;
}

static int start_stream(struct pod *p, struct stream *s,
			const char *const *words, struct err *err)
{
	int rc = stream_start(s, p->a, &p->objects.at, words, err);

	if (rc == 0)
		watchdog_tell(&p->watchdog, s->pid);
	return rc;
}

static int watch_pod(struct pod *p, struct err *err)
{
	const char *words[] = {"get",	   "pod",
			       pod_name(p), "--watch",
			       "--output=json", "--output-watch-events",
			       NULL};

	buf_cut(&p->object, 0); /* the last watch may have ended within one */
	return start_stream(p, &p->watch, words, err);
}

/* Whoever may not read events has less of an explanation, and no more. */
static void watch_events(struct pod *p)
{
	const char *words[] = {
		"get",
		"events",
		"--field-selector",
		arena_fmt(p->a, "involvedObject.name=%s", pod_name(p)).p,
		"--watch",
		"--output=json",
		"--output-watch-events",
		NULL};
	struct err ignored;

	ignore(start_stream(p, &p->events, words, &ignored));
}

static int follow_log(struct pod *p, struct err *err)
{
	const char *words[] = {"logs", "--follow", "--container=gate",
			       pod_name(p), NULL};

	p->log_skip = p->log_lines;
	return start_stream(p, &p->log, words, err);
}

static int fail_stream(const struct stream *s, const char *what,
		       struct err *err)
{
	struct str words = stream_last_words(s);

	return err_set(err, -EREMOTEIO, "%s: kubectl: %.*s", what,
		       STR_ARG(words.n ? words : STR("it ended")));
}

/* Of a Pod that is not there any more kubectl says just that. */
static bool is_not_found(struct pod *p)
{
	return p->seen.known && !p->watch.said && p->watch.complaint.n &&
	       strstr(arena_cstr(p->a, stream_last_words(&p->watch)),
		      "(NotFound)");
}

static void tend_watch(struct pod *p)
{
	struct err err;
	int rc = 0;

	if (!stream_is_over(&p->watch) || p->seen.gone)
		return;
	if (is_not_found(p)) {
		p->seen.gone = true;
		return;
	}
	switch (pod_again(&p->watch_again)) {
	case POD_NEXT_WAIT:
		break;
	case POD_NEXT_TRY:
		rc = watch_pod(p, &err);
		break;
	case POD_NEXT_FAIL:
		rc = fail_stream(&p->watch, "the Pod cannot be watched", &err);
		break;
	}
	if (rc < 0)
		pod_fail(p, &err);
}

/* There is one, and not all of it is read. */
static bool wants_log(const struct pod *p)
{
	enum seen_state gate = p->seen.of[SEEN_GATE].state;

	if (gate < SEEN_RUNS || p->state >= POD_ENDING ||
	    !stream_is_over(&p->log))
		return false;
	return p->log_again.begun_ms == 0 || gate != SEEN_ENDED;
}

static void tend_log(struct pod *p)
{
	struct err err;
	int rc = 0;

	p->log_again.next_ms = 0;
	if (!wants_log(p))
		return;
	switch (pod_again(&p->log_again)) {
	case POD_NEXT_WAIT:
		break;
	case POD_NEXT_TRY:
		rc = follow_log(p, &err);
		break;
	case POD_NEXT_FAIL:
		rc = fail_stream(&p->log, "the gate's log cannot be followed",
				 &err);
		break;
	}
	if (rc < 0)
		pod_fail(p, &err);
}

void pod_watch_tend(struct pod *p)
{
	if (p->events.pid == 0 && p->watch_again.begun_ms == 0)
		watch_events(p);
	tend_watch(p);
	tend_log(p);
}

size_t pod_watch_fds(const struct pod *p, struct pollfd *out)
{
	size_t n = stream_fds(&p->watch, out);

	n += stream_fds(&p->events, out + n);
	return n + stream_fds(&p->log, out + n);
}

void pod_watch_pump(struct pod *p)
{
	struct err err;

	if (stream_pump(&p->watch, &err) < 0 ||
	    stream_pump(&p->events, &err) < 0 || stream_pump(&p->log, &err) < 0)
		pod_fail(p, &err);
}

bool pod_watch_ended(struct pod *p, pid_t pid, int status)
{
	return stream_ended(&p->watch, pid, status) ||
	       stream_ended(&p->events, pid, status) ||
	       stream_ended(&p->log, pid, status);
}

bool pod_watch_has_log(const struct pod *p)
{
	return p->seen.of[SEEN_GATE].state == SEEN_ENDED ||
	       (!stream_is_over(&p->log) && p->log.said);
}

void pod_watch_done(struct pod *p)
{
	stream_end(&p->watch);
	stream_end(&p->events);
	stream_end(&p->log);
}
