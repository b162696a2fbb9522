#include "runtime/launch/tracer/tracer.h"

#include "compiler/base/buf.h"
#include "compiler/base/json.h"
#include "compiler/base/sys/proc.h"
#include "compiler/plan/trace_json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CHUNK		65536u
#define CHUNKS_PER_PUMP 64u /* so that a chatty tracer starves nobody */
/* Of what is packed here, which takes longer. */
#define CHUNKS_OF_TRACEE 16u
#define SILENT_MS	 15000 /* without one process of a running agent */
#define TICK_MS		 100

/*
 * The first reason counts; nothing it still says is listened to. Also after its
 * own end: a last frame may find the disk full.
 */
static void fail(struct tracer *t, const struct err *why)
{
	if (t->state == TRACER_FAILED)
		return;
	t->state = TRACER_FAILED;
	t->why = *why;
	tracefile_done(&t->file);
	/* whom the agent ends with goes on, and nobody keeps its records */
	if (t->holds_agent && t->pid)
		return;
	fd_close(&t->in);
	t->in = -1;
	fd_close(&t->out);
	t->out = -1;
}

/* --- the plan ------------------------------------------------------------- */

/* Of at least one. */
static bool get_some(const cJSON *o, const char *name, uint64_t *out)
{
	return json_get_u64(o, name, JSON_WHOLE_MAX, out) && *out > 0;
}

static int read_limits(struct tracer *t, const cJSON *root,
		       struct tracefile_limits *out, struct err *err)
{
	const cJSON *rotate =
		cJSON_GetObjectItemCaseSensitive(root, TRACE_JSON_ROTATE);
	const cJSON *must =
		cJSON_GetObjectItemCaseSensitive(root, TRACE_JSON_REQUIRED);

	t->required = cJSON_IsTrue(must);
	if (cJSON_IsBool(must) &&
	    get_some(rotate, TRACE_JSON_SIZE, &out->bytes) &&
	    get_some(rotate, TRACE_JSON_AGE, &out->age_s) &&
	    get_some(rotate, TRACE_JSON_KEEP, &out->files) &&
	    get_some(rotate, TRACE_JSON_TOTAL, &out->total))
		return 0;
	return err_set(err, -EPROTO,
		       "trace.json: no 'required', or no whole 'rotate'");
}

static int write_member(void *ctx, struct str member, struct err *err)
{
	struct tracer *t = ctx;
	int rc = tracefile_add(&t->file, member, err);

	return rc < 0 ? err_while(err, "writing the trace") : 0;
}

static int read_plan(struct arena *a, struct tracer *t, struct str json,
		     struct tracefile_limits *out, struct err *err)
{
	cJSON *root = cJSON_ParseWithLength(json.p, json.n);
	int rc = read_limits(t, root, out, err);

	if (rc == 0 && cJSON_HasObjectItem(root, TRACE_JSON_TRACEE))
		rc = tracee_new(a, root, write_member, t, &t->tracee, err);
	cJSON_Delete(root);
	return rc;
}

/* --- its beginning -------------------------------------------------------- */

void tracer_init(struct tracer *t)
{
	t->in = t->out = t->err = -1;
	t->file.fd = t->file.copy = -1;
}

int tracer_start(struct arena *a, struct tracer *t, struct engine *e,
		 char *const *argv, struct str json, const char *dir,
		 const char *session, int keep_fd, struct err *err)
{
	struct tracefile_limits limits;
	int rc;

	tracer_init(t);
	rc = read_plan(a, t, json, &limits, err);
	if (rc < 0)
		return rc;
	tracefile_init(&t->file, dir, session, &limits);
	if (!t->tracee)
		watch_init(&t->watch, a);
	rc = engine_start_piped(e, ENGINE_TRACER, argv, keep_fd, &t->pid,
				&t->in, &t->out, &t->err, err);
	if (rc < 0)
		fail(t, err);
	return 0;
}

void tracer_tell(struct tracer *t, uint32_t netns, uint32_t pidns,
		 const char *host)
{
	struct err err;

	if (t->told || t->state != TRACER_LOADED)
		return;
	t->told = true;
	if (netns == 0 && !host) {
		err_set(&err, -ENOTSUP,
			"the gate could not say which processes are the agent's");
		fail(t, &err);
		return;
	}
	if (watch_hello(t->in, host ? 0 : netns, pidns, host, t->own, &err) < 0)
		fail(t, &err);
}

bool tracer_is_required(struct str json)
{
	cJSON *root = cJSON_ParseWithLength(json.p, json.n);
	bool required = cJSON_IsTrue(
		cJSON_GetObjectItemCaseSensitive(root, TRACE_JSON_REQUIRED));

	cJSON_Delete(root);
	return required;
}

int tracer_check_release(struct str json, const char *said, struct err *err)
{
	cJSON *root = cJSON_ParseWithLength(json.p, json.n);
	int rc = tracee_check_release(root, said, err);

	cJSON_Delete(root);
	return rc;
}

void tracer_answer(struct tracer *t, struct str line)
{
	/* before that there is no agent */
	if (t->in >= 0 && t->told)
		watch_answer(&t->watch, line, t->in);
}

bool tracer_ask(struct tracer *t, uint32_t id, const cJSON *decision)
{
	return !t->tracee && t->state == TRACER_READY && t->in >= 0 &&
	       t->told && watch_ask(&t->watch, id, decision, t->in);
}

uint64_t tracer_lost(const struct tracer *t)
{
	return t->tracee ? t->tracee->lost + t->tracee->broken
			 : t->watch.lost + t->watch.unsaid;
}

/* --- records -------------------------------------------------------------- */

static void on_frames(struct tracer *t, struct str got)
{
	struct err err;

	if (t->state == TRACER_FAILED)
		return;
	if (watch_output(&t->watch, got, write_member, t, &err) < 0)
		fail(t, &err);
}

/* Lines of Tracee's. */
static void on_records(struct tracer *t, struct str got)
{
	struct err err;

	if (tracee_output(t->tracee, got, &err) < 0)
		fail(t, &err);
}

/* --- lines ---------------------------------------------------------------- */

static void on_words_of_tracee(struct tracer *t, struct str line)
{
	struct err err;

	if (tracee_said(t->tracee, line, &t->why, &err) < 0) {
		fail(t, &err);
		return;
	}
	if (t->tracee->is_ready && t->state == TRACER_STARTING)
		t->state = TRACER_READY;
}

static void on_words_of_watch(struct tracer *t, struct str line)
{
	struct err err;

	if (watch_said(&t->watch, line, &t->why, &err) < 0) {
		fail(t, &err);
		return;
	}
	switch (t->watch.stage) {
	case WATCH_STARTING:
		break;
	case WATCH_LOADED:
		t->state = TRACER_LOADED;
		break;
	case WATCH_READY:
		t->state = TRACER_READY;
		break;
	case WATCH_ENDED:
		t->state = TRACER_ENDED;
		break;
	}
}

static void on_line(struct tracer *t, struct str line)
{
	if (t->state == TRACER_FAILED)
		return;
	if (t->tracee)
		on_words_of_tracee(t, line);
	else
		on_words_of_watch(t, line);
}

static void end_line(struct tracer *t)
{
	on_line(t, (struct str){t->line, t->line_n});
	t->line_n = 0;
}

static void on_stderr(struct tracer *t, struct str got)
{
	for (size_t i = 0; i < got.n; i++) {
		if (got.p[i] != '\n') {
			/* longer than any of ours: its end is not needed */
			if (t->line_n < sizeof(t->line))
				t->line[t->line_n++] = got.p[i];
			continue;
		}
		end_line(t);
	}
}

/* --- pipes ---------------------------------------------------------------- */

/* Read what there is; *fd is -1 afterwards when that was the end. */
static void drain(struct tracer *t, int *fd,
		  void take(struct tracer *, struct str))
{
	static char buf[CHUNK];
	unsigned most = t->tracee ? CHUNKS_OF_TRACEE : CHUNKS_PER_PUMP;

	for (unsigned i = 0; i < most; i++) {
		struct str text = {buf, proc_read(fd, buf, sizeof(buf))};

		if (text.n == 0)
			return;
		take(t, text);
	}
}

void tracer_pump(struct tracer *t)
{
	watch_send(&t->watch, t->in);
	drain(t, &t->err, on_stderr);
	drain(t, &t->out, t->tracee ? on_records : on_frames);
}

bool tracer_is_done(const struct tracer *t)
{
	return t->state == TRACER_ENDED && watch_is_whole(&t->watch);
}

/*
 * It ends by itself when it is told to, and has written all then. One that
 * was still being loaded has nothing to write.
 */
static void end_tracee(struct tracer *t, int status)
{
	struct err err;

	if (!t->was_signalled || (t->state == TRACER_READY && status != 0))
		return;
	if (t->state == TRACER_READY && tracee_end(t->tracee, &err) < 0)
		fail(t, &err);
	else
		t->state = TRACER_ENDED;
}

/* Its last record is no word of honour that all the others came. */
static void end_watch(struct tracer *t)
{
	struct err err;

	if (t->state != TRACER_ENDED || watch_is_whole(&t->watch))
		return;
	err_set(&err, -EIO, "the tracer's last records are missing");
	fail(t, &err);
}

void tracer_ended(struct tracer *t, int status)
{
	char how[PROC_STATUS_TEXT_MAX];
	struct err err;

	t->pid = 0;
	tracer_pump(t);
	if (t->line_n)
		end_line(t);
	if (t->tracee && t->state != TRACER_FAILED)
		end_tracee(t, status);
	else
		end_watch(t);
	if (t->state == TRACER_ENDED || t->state == TRACER_FAILED)
		return;
	/* snprintf would read what it writes */
	err = t->why;
	if (err.text[0] == '\0')
		err_set(&err, -EPIPE, "the tracer ended (%s)",
			proc_status_text(status, how));
	err.code = -EPIPE;
	fail(t, &err);
}

void tracer_end(struct tracer *t, int64_t now_ms)
{
	watch_hush(&t->watch, t->in);
	if (t->end_ms == 0)
		t->end_ms = now_ms;
	fd_close(&t->in);
	t->in = -1;
}

bool tracer_wants_agent(const struct tracer *t)
{
	return t->tracee && !t->tracee->agent && t->state != TRACER_FAILED;
}

void tracer_agent(struct tracer *t, const char *id)
{
	struct err err;

	if (tracer_wants_agent(t) && tracee_agent(t->tracee, id, &err) < 0)
		fail(t, &err);
}

void tracer_agent_runs(struct tracer *t, int64_t now_ms)
{
	if (t->agent_ms == 0)
		t->agent_ms = now_ms;
}

/* Ready, and blind: the kernel is another than it was taken for. */
static void check_found(struct tracer *t, int64_t now_ms)
{
	struct err err;

	if (t->state != TRACER_READY || t->watch.has_found ||
	    t->agent_ms == 0 || t->end_ms || now_ms - t->agent_ms < SILENT_MS)
		return;
	err_set(&err, -ETIMEDOUT, "the tracer saw no process of the agent");
	fail(t, &err);
}

enum tracer_wish tracer_tick(struct tracer *t, int64_t now_ms)
{
	int64_t drain_ms = t->agent_ms ? TRACEE_DRAIN_MS : 0;

	if (!t->tracee)
		check_found(t, now_ms);
	if (!t->tracee || t->pid == 0 || t->was_signalled)
		return TRACER_GO_ON;
	if (t->state != TRACER_FAILED &&
	    (t->end_ms == 0 || now_ms - t->end_ms < drain_ms))
		return TRACER_GO_ON;
	t->was_signalled = true;
	return t->state == TRACER_FAILED ? TRACER_KILL : TRACER_TERM;
}

int tracer_wait_ms(const struct tracer *t)
{
	if (t->tracee && t->pid)
		return TICK_MS;
	return t->agent_ms && !t->watch.has_found && t->state == TRACER_READY
		       ? SILENT_MS
		       : -1;
}

struct str tracer_lacks(struct arena *a, const struct tracer *t)
{
	struct buf b;
	struct str more = {0};

	if (t->agent_ms && t->tracee && t->tracee->events == 0)
		more = STR("Tracee sent no record of the agent");
	else if (t->agent_ms && !t->tracee && !t->watch.has_found)
		more = STR("the tracer saw no process of the agent");
	buf_init(&b, a);
	if (tracer_lost(t))
		buf_addf(
			&b,
			"it lacks %llu events ('membrane trace stats' says why)%s",
			(unsigned long long)tracer_lost(t), more.n ? "; " : "");
	buf_add(&b, more);
	return buf_str(&b);
}

void tracer_done(struct tracer *t)
{
	fd_close(&t->in);
	fd_close(&t->out);
	fd_close(&t->err);
	t->in = t->out = t->err = -1;
	tracefile_done(&t->file);
	tracee_free(t->tracee);
}
