#include "runtime/launch/tracer.h"

#include "compiler/base/fileio.h"
#include "runtime/launch/proc.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define CHUNK		65536u
#define CHUNKS_PER_PUMP 64u /* so that a chatty tracer starves nobody */

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
	tracer_close_stdin(t);
	fd_close(&t->out);
	t->out = -1;
	tracefile_done(&t->file);
}

/* --- the plan ------------------------------------------------------------- */

static bool number(const cJSON *o, const char *name, uint64_t *out)
{
	const cJSON *n = cJSON_GetObjectItemCaseSensitive(o, name);

	if (!cJSON_IsNumber(n) || n->valuedouble < 1 ||
	    n->valuedouble > (double)(1ull << 53))
		return false;
	*out = (uint64_t)n->valuedouble;
	return true;
}

static int read_limits(struct tracer *t, struct str json,
		       struct tracefile_limits *out, struct err *err)
{
	cJSON *root = cJSON_ParseWithLength(json.p, json.n);
	const cJSON *rotate = cJSON_GetObjectItemCaseSensitive(root, "rotate");
	const cJSON *must = cJSON_GetObjectItemCaseSensitive(root, "required");
	bool ok = cJSON_IsBool(must) && number(rotate, "size", &out->bytes) &&
		  number(rotate, "age", &out->age_s) &&
		  number(rotate, "keep", &out->files) &&
		  number(rotate, "total", &out->total);

	t->required = cJSON_IsTrue(must);
	cJSON_Delete(root);
	return ok ? 0
		  : err_set(err, -EPROTO,
			    "trace.json: no 'required', or no "
			    "whole 'rotate'");
}

/* --- its beginning -------------------------------------------------------- */

int tracer_start(struct arena *a, struct tracer *t, char *const *argv,
		 struct str json, const char *dir, const char *session,
		 int keep_fd, struct err *err)
{
	struct tracefile_limits limits;
	int rc;

	memset(t, 0, sizeof(*t));
	t->in = t->out = t->err = -1;
	rc = read_limits(t, json, &limits, err);
	if (rc < 0)
		return rc;
	tracefile_init(&t->file, dir, session, &limits);
	t->frame = arena_alloc(a, TRACER_FRAME_MAX);
	rc = proc_spawn_piped(argv, keep_fd, &t->pid, &t->in, &t->out, &t->err,
			      err);
	if (rc < 0)
		fail(t, err);
	return 0;
}

static void send_hello(struct tracer *t, uint32_t netns, uint32_t pidns)
{
	char host[HOST_NAME_MAX + 1] = "";
	cJSON *o = cJSON_CreateObject();
	struct err err;
	char *text;

	gethostname(host, sizeof(host) - 1);
	cJSON_AddNumberToObject(o, "version", 1);
	cJSON_AddStringToObject(o, "host", host);
	cJSON_AddNumberToObject(o, "netns", netns);
	cJSON_AddNumberToObject(o, "pidns", pidns);
	text = cJSON_PrintUnformatted(o);
	cJSON_Delete(o);
	/* far below what a pipe takes without anybody reading */
	if (!text || fileio_write_all(t->in, str_of(text), &err) < 0 ||
	    fileio_write_all(t->in, STR("\n"), &err) < 0) {
		err_set(&err, -EPIPE, "the tracer is gone");
		fail(t, &err);
	}
	cJSON_free(text);
}

void tracer_tell(struct tracer *t, uint32_t netns, uint32_t pidns)
{
	struct err err;

	if (t->told || t->state != TRACER_LOADED)
		return;
	t->told = true;
	if (netns == 0) {
		err_set(&err, -ENOTSUP,
			"the gate could not say which "
			"processes are the agent's");
		fail(t, &err);
		return;
	}
	send_hello(t, netns, pidns);
}

/* --- answers -------------------------------------------------------------- */

static bool say(struct tracer *t, struct str line)
{
	if (line.n > sizeof(t->say) - t->say_n)
		return false;
	memcpy(t->say + t->say_n, line.p, line.n);
	t->say_n += line.n;
	return true;
}

/* As much as the pipe takes. */
static void send_said(struct tracer *t)
{
	ssize_t n = t->say_n && t->in >= 0 ? write(t->in, t->say, t->say_n) : 0;

	if (n <= 0)
		return; /* when it is gone, its end is noticed elsewhere */
	t->say_n -= (size_t)n;
	memmove(t->say, t->say + n, t->say_n);
}

void tracer_answer(struct tracer *t, struct str line)
{
	char text[96];
	int n;

	/* before that there is no agent */
	if (t->in < 0 || !t->told)
		return;
	n = snprintf(text, sizeof(text),
		     "{\"event\":\"answer\",\"missing\":%llu}\n",
		     (unsigned long long)t->unsaid);
	if (t->unsaid && say(t, (struct str){text, (size_t)n}))
		t->unsaid = 0;
	if (t->unsaid || !say(t, line))
		t->unsaid++;
	send_said(t);
}

uint64_t tracer_lost(const struct tracer *t)
{
	return t->lost + t->unsaid;
}

/* --- frames --------------------------------------------------------------- */

static size_t take_head(struct tracer *t, struct str got, struct err *err)
{
	size_t n = sizeof(t->head) - t->head_n;

	n = n < got.n ? n : got.n;
	memcpy(t->head + t->head_n, got.p, n);
	t->head_n += n;
	if (t->head_n < sizeof(t->head))
		return n;
	t->frame_bytes = 0;
	for (unsigned i = 0; i < sizeof(t->head); i++)
		t->frame_bytes |= (size_t)t->head[i] << (8 * i);
	t->frame_n = 0;
	err->code = t->frame_bytes > 0 && t->frame_bytes <= TRACER_FRAME_MAX
			    ? 0
			    : err_set(err, -EPROTO,
				      "the tracer sent a frame "
				      "that is none");
	return n;
}

static size_t take_frame(struct tracer *t, struct str got, struct err *err)
{
	size_t n = t->frame_bytes - t->frame_n;

	n = n < got.n ? n : got.n;
	memcpy(t->frame + t->frame_n, got.p, n);
	t->frame_n += n;
	if (t->frame_n < t->frame_bytes)
		return n;
	t->head_n = 0;
	if (tracefile_add(&t->file, (struct str){t->frame, t->frame_n}, err) <
	    0)
		err_while(err, "writing the trace");
	return n;
}

static void on_output(struct tracer *t, struct str got)
{
	struct err err = {0};

	while (got.n && err.code == 0) {
		size_t n = t->head_n < sizeof(t->head)
				   ? take_head(t, got, &err)
				   : take_frame(t, got, &err);

		got = str_slice(got, n, got.n);
	}
	if (err.code < 0)
		fail(t, &err);
}

/* --- lines ---------------------------------------------------------------- */

/* The one argument of a line about the tracer. */
static const cJSON *fact(const cJSON *o)
{
	const cJSON *args = cJSON_GetObjectItemCaseSensitive(o, "args");

	return cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(args, 0),
						"value");
}

static void on_words(struct tracer *t, const cJSON *o)
{
	const cJSON *name = cJSON_GetObjectItemCaseSensitive(o, "eventName");
	const cJSON *value = fact(o);
	const char *event = cJSON_IsString(name) ? name->valuestring : "";
	struct err err;

	if (strcmp(event, "loaded") == 0 && t->state == TRACER_STARTING) {
		t->state = TRACER_LOADED;
	} else if (strcmp(event, "ready") == 0 && t->state == TRACER_LOADED) {
		t->state = TRACER_READY;
	} else if (strcmp(event, "lost") == 0 && cJSON_IsNumber(value)) {
		t->lost = (uint64_t)value->valuedouble;
	} else if (strcmp(event, "end") == 0 && cJSON_IsNumber(value)) {
		t->lost = (uint64_t)value->valuedouble;
		t->state = TRACER_ENDED;
	} else {
		err_set(&err, -EIO, "%s",
			cJSON_IsString(value) ? value->valuestring
					      : "it says nothing sensible");
		fail(t, &err);
	}
}

/* A line that is no JSON is docker's: kept, for when the tracer ends. */
static void on_line(struct tracer *t, struct str line)
{
	cJSON *o;

	if (t->state == TRACER_FAILED)
		return;
	o = cJSON_ParseWithLength(line.p, line.n);
	if (cJSON_IsObject(o))
		on_words(t, o);
	else if (t->why.text[0] == '\0' && str_trim(line).n)
		snprintf(t->why.text, sizeof(t->why.text), "%.*s",
			 STR_ARG(str_trim(line)));
	cJSON_Delete(o);
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
		on_line(t, (struct str){t->line, t->line_n});
		t->line_n = 0;
	}
}

/* --- pipes ---------------------------------------------------------------- */

/* Read what there is; *fd is -1 afterwards when that was the end. */
static void drain(struct tracer *t, int *fd,
		  void take(struct tracer *, struct str))
{
	static char buf[CHUNK];

	for (unsigned i = 0; i < CHUNKS_PER_PUMP && *fd >= 0; i++) {
		ssize_t got = read(*fd, buf, sizeof(buf));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return;
		if (got > 0) {
			take(t, (struct str){buf, (size_t)got});
			continue;
		}
		fd_close(fd);
		*fd = -1;
	}
}

void tracer_pump(struct tracer *t)
{
	send_said(t);
	drain(t, &t->err, on_stderr);
	drain(t, &t->out, on_output);
}

void tracer_ended(struct tracer *t, int status)
{
	struct err err;

	t->pid = 0;
	tracer_pump(t);
	if (t->state == TRACER_ENDED)
		return;
	/* snprintf would read what it writes */
	err = t->why;
	if (err.text[0] == '\0')
		err_set(&err, -EPIPE, "it ended (status %d)", status);
	err.code = -EPIPE;
	fail(t, &err);
}

void tracer_close_stdin(struct tracer *t)
{
	send_said(t);
	for (size_t i = 0; i < t->say_n; i++)
		t->unsaid += t->say[i] == '\n';
	t->say_n = 0;
	fd_close(&t->in);
	t->in = -1;
}

void tracer_done(struct tracer *t)
{
	tracer_close_stdin(t);
	fd_close(&t->out);
	fd_close(&t->err);
	t->out = t->err = -1;
	tracefile_done(&t->file);
}
