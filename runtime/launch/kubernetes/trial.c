#include "runtime/launch/kubernetes/trial.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define DELETE_MS 30000
#define NAMES_MAX 16u
#define LOG_TRIES 3u /* of one that ends without a line */

/* --- what removes them ------------------------------------------------------ */

struct sweep {
	struct arena *a;
	const struct kubectl *at;
	const char *const *names;
};

static int delete_objects(const struct sweep *s, struct err *err)
{
	const char *words[NAMES_MAX + 5] = {"delete"};
	struct kubectl_call c = {.words = words, .timeout_ms = DELETE_MS};
	size_t n = 1;

	for (size_t i = 0; s->names[i] && i < NAMES_MAX; i++)
		words[n++] = s->names[i];
	words[n++] = "--ignore-not-found";
	words[n++] = "--wait=false";
	words[n++] = "--grace-period=1";
	return kubectl_do(s->a, s->at, &c, err);
}

/* The process itself: 0 ends when nobody has the other end any more. */
static int run_broom(void *ctx, char *const *argv)
{
	struct err err;
	char c;

	(void)argv;
	proc_close_others(-1, -1);
	while (read(STDIN_FILENO, &c, 1) != 0)
		if (errno != EINTR)
			break;
	if (delete_objects(ctx, &err) == 0)
		return 0;
	fprintf(stderr, "%s", err.text);
	return 1;
}

int trial_broom_start(struct arena *a, const struct kubectl *k,
		      const char *const *names, struct trial_broom *out,
		      struct err *err)
{
	char *const name[] = {arena_cstr(a, STR("broom")), NULL};
	struct sweep s = {a, k, names};
	auto_fd int in = -1, complaint = -1;
	struct proc_opts o = {.argv = name,
			      .group = PROC_SESSION,
			      .out = -1,
			      .keep = -1,
			      .run = run_broom,
			      .ctx = &s};
	int rc;

	*out = (struct trial_broom){.alive = -1, .said = -1};
	if (proc_pipe(&in, &out->alive, err) < 0)
		return err->code;
	rc = proc_pipe(&out->said, &complaint, err);
	o.in = in;
	o.err = complaint;
	if (rc == 0)
		rc = proc_spawn(&o, &out->pid, err);
	if (rc < 0) {
		fd_close(&out->alive);
		fd_close(&out->said);
	}
	return rc;
}

void trial_broom_hold(const struct trial_broom *b, bool held)
{
	fcntl(b->alive, F_SETFD, held ? 0 : FD_CLOEXEC);
}

int trial_broom_finish(struct trial_broom *b, struct err *err)
{
	char text[sizeof(err->text)];
	size_t n = 0;
	int status = 0;

	fd_close(&b->alive);
	while (n < sizeof(text)) {
		ssize_t got = read(b->said, text + n, sizeof(text) - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	fd_close(&b->said);
	while (waitpid(b->pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0 ? 0
			   : err_set(err, -EREMOTEIO, "%.*s", (int)n, text);
}

/* --- what is told ----------------------------------------------------------- */

static int on_object(void *ctx, struct str line, struct err *err)
{
	struct trial *t = ctx;
	cJSON *o = seen_object(&t->object, line);
	const cJSON *pod = cJSON_GetObjectItemCaseSensitive(o, "object");
	struct addr ip;

	ignore(err);
	if (o)
		seen_take(&t->seen, o);
	if (addr_parse(json_find_str(cJSON_GetObjectItemCaseSensitive(
					     pod, "status"),
				     "podIP"),
		       &ip))
		t->ip = ip;
	cJSON_Delete(o);
	return 0;
}

static int on_log(void *ctx, struct str line, struct err *err)
{
	struct trial *t = ctx;

	ignore(err);
	t->on_line(t->ctx, line);
	return 0;
}

int trial_begin(struct trial *t, struct err *err)
{
	const char *words[] = {"get",	 "pod",
			       t->pod,	 "--watch",
			       "--output=json", "--output-watch-events",
			       NULL};

	stream_init(&t->watch, t->a, on_object, t);
	stream_init(&t->log, t->a, on_log, t);
	buf_init(&t->object, t->a);
	return stream_start(&t->watch, t->a, t->at, words, err);
}

/* Once there is one. */
static int follow_log(struct trial *t, struct err *err)
{
	const char *words[] = {
		"logs", "--follow",
		arena_fmt(t->a, "--container=%s", seen_name(t->part)).p, t->pod,
		NULL};

	if (!t->on_line || !stream_is_over(&t->log) || t->log.said ||
	    t->log_tries == LOG_TRIES || t->seen.of[t->part].state < SEEN_RUNS)
		return 0;
	t->log_tries++;
	return stream_start(&t->log, t->a, t->at, words, err);
}

/* --- until it is done ------------------------------------------------------- */

bool trial_interrupted(void)
{
	struct proc_signal s;
	bool any = false;

	while (proc_signals_next(&s))
		any |= s.signo != SIGCHLD;
	return any;
}

static void reap_stream(struct stream *s)
{
	int status;

	if (s->pid > 0 && waitpid(s->pid, &status, WNOHANG) == s->pid)
		stream_ended(s, s->pid, status);
}

static int pump_all(struct trial *t, struct err *err)
{
	int rc = stream_pump(&t->watch, err);

	if (rc == 0)
		rc = stream_pump(&t->log, err);
	reap_stream(&t->watch);
	reap_stream(&t->log);
	return rc == 0 ? follow_log(t, err) : rc;
}

static bool is_hopeless(const struct trial *t, char out[SEEN_TEXT_MAX])
{
	struct str said;

	/* while that one runs its log says what becomes of it */
	if (t->seen.of[t->part].state != SEEN_RUNS &&
	    seen_hopeless(&t->seen, out))
		return true;
	if (t->seen.gone) {
		snprintf(out, SEEN_TEXT_MAX, "somebody else deleted the Pod");
		return true;
	}
	for (size_t i = 0; i < SEEN_PARTS; i++) {
		const struct seen_container *c = &t->seen.of[i];

		/* what it printed says more, and is on its way */
		if (c->state != SEEN_ENDED || c->status == 0 ||
		    (i == t->part && !stream_is_over(&t->log)))
			continue;
		snprintf(out, SEEN_TEXT_MAX, "%s ended with status %d",
			 seen_name((enum seen_part)i), c->status);
		return true;
	}
	if (!stream_is_over(&t->watch))
		return false;
	said = stream_last_words(&t->watch);
	snprintf(out, SEEN_TEXT_MAX, "kubectl get: %.*s",
		 STR_ARG(said.n ? said : STR("the watch of the Pod ended")));
	return true;
}

static void say_late(const struct trial *t, char out[SEEN_TEXT_MAX])
{
	if (t->seen.known && !t->seen.placed && t->seen.text[0])
		snprintf(out, SEEN_TEXT_MAX, "the Pod has no node: %.400s",
			 t->seen.text);
	else
		snprintf(out, SEEN_TEXT_MAX, "not in time: %s",
			 seen_waits_for(&t->seen));
}

int trial_wait(struct trial *t, int64_t until_ms,
	       bool (*is_done)(const struct trial *t), enum trial_end *out_end,
	       char out[SEEN_TEXT_MAX], struct err *err)
{
	for (;;) {
		struct pollfd p[2 * STREAM_FDS + 1];
		int64_t left = until_ms - clock_ms();
		int rc = pump_all(t, err);
		size_t n;

		if (rc < 0)
			return rc;
		if (trial_interrupted())
			return err_set(err, -EINTR, "interrupted");
		*out_end = TRIAL_DONE;
		if (is_done(t))
			return 0;
		*out_end = TRIAL_HOPELESS;
		if (is_hopeless(t, out))
			return 0;
		*out_end = TRIAL_LATE;
		if (left <= 0) {
			say_late(t, out);
			return 0;
		}
		n = stream_fds(&t->watch, p);
		n += stream_fds(&t->log, p + n);
		p[n++] = (struct pollfd){proc_signals_fd(), POLLIN, 0};
		poll(p, (nfds_t)n, (int)left);
	}
}

void trial_done(struct trial *t)
{
	stream_end(&t->watch);
	stream_end(&t->log);
}
