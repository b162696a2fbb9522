#include "runtime/launch/tracer/watch.h"

#include "compiler/base/json.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/plan/hello.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* A byte that is no UTF-8 is three. */
#define COMM_ROOM    (3u * 16u + 1u)
#define COMMAND_ROOM (3u * HELLO_COMMAND_MAX + 1u)

void watch_init(struct watch *w, struct arena *a)
{
	w->frame = arena_alloc(a, WATCH_FRAME_MAX);
}

/* --- what it is told ------------------------------------------------------ */

int watch_hello(int fd, uint32_t netns, uint32_t pidns, const char *agent,
		const char *own, struct err *err)
{
	char host[HOST_NAME_MAX + 1] = "";
	cJSON *o = cJSON_CreateObject();
	int rc = 0;
	char *text;

	gethostname(host, sizeof(host) - 1);
	cJSON_AddNumberToObject(o, HELLO_VERSION_KEY, HELLO_VERSION);
	cJSON_AddStringToObject(o, HELLO_HOST, host);
	cJSON_AddNumberToObject(o, HELLO_NETNS, netns);
	cJSON_AddNumberToObject(o, HELLO_PIDNS, pidns);
	if (agent)
		cJSON_AddStringToObject(o, HELLO_AGENT, agent);
	if (own)
		cJSON_AddStringToObject(o, HELLO_WORKSPACE, own);
	text = cJSON_PrintUnformatted(o);
	cJSON_Delete(o);
	/* no more than what a pipe takes without anybody reading */
	if (!text || fileio_write_all(fd, str_of(text), err) < 0 ||
	    fileio_write_all(fd, STR("\n"), err) < 0)
		rc = err_set(err, -EPIPE, "the tracer is gone");
	cJSON_free(text);
	return rc;
}

static bool say_line(struct watch *w, struct str line)
{
	if (line.n > sizeof(w->say) - w->say_n)
		return false;
	memcpy(w->say + w->say_n, line.p, line.n);
	w->say_n += line.n;
	return true;
}

void watch_send(struct watch *w, int fd)
{
	ssize_t n = w->say_n && fd >= 0 ? write(fd, w->say, w->say_n) : 0;

	if (n <= 0)
		return; /* when it is gone, its end is noticed elsewhere */
	w->say_n -= (size_t)n;
	memmove(w->say, w->say + n, w->say_n);
	if (w->missing_end > (size_t)n) {
		w->missing_end -= (size_t)n;
	} else {
		w->missing_end = 0;
		w->missing_are = 0;
	}
}

/* That some answers were not told; one such line at a time. */
static void say_missing(struct watch *w)
{
	cJSON *o = cJSON_CreateObject();
	char text[96];
	size_t n = 0;

	cJSON_AddStringToObject(o, "event", "answer");
	cJSON_AddNumberToObject(o, "missing", (double)w->unsaid);
	if (cJSON_PrintPreallocated(o, text, sizeof(text) - 1, false)) {
		n = strlen(text);
		text[n++] = '\n';
	}
	cJSON_Delete(o);
	if (!n || !say_line(w, (struct str){text, n}))
		return;
	w->missing_end = w->say_n;
	w->missing_are = w->unsaid;
	w->unsaid = 0;
}

void watch_answer(struct watch *w, struct str line, int fd)
{
	if (w->unsaid && !w->missing_are)
		say_missing(w);
	if (w->unsaid || !say_line(w, line))
		w->unsaid++;
	watch_send(w, fd);
}

static bool asks_whose(struct str line)
{
	return str_starts(line, STR("{\"event\":\"" HELLO_WHO "\""));
}

static void put_ports(cJSON *o, const cJSON *decision)
{
	json_put_u64(o, "port", json_find_u64(decision, "port", UINT16_MAX));
	json_put_u64(o, "sport", json_find_u64(decision, "sport", UINT16_MAX));
}

/*
 * What of a decision or a question says it; an agent's text that no JSON holds
 * is left out. A question for a name has no address, whoever asked for the name
 * has most likely called.
 */
static bool put_about(cJSON *o, const cJSON *decision)
{
	struct str kind = json_find_str(decision, "kind");
	bool is_file = str_is(kind, "read") || str_is(kind, "write");
	const char *key = is_file ? "path" : "name";
	struct str text = json_find_str(decision, key);
	bool is_named = str_is(kind, "resolve") || (!kind.n && text.n);

	if (!is_file && !is_named) {
		json_put_str(o, "addr", json_find_str(decision, "addr"));
		put_ports(o, decision);
		return json_find_str(decision, "addr").n > 0;
	}
	json_put_str(o, key, text);
	if (!kind.n) {
		json_put_bool(o, "calls", true);
		put_ports(o, decision);
	}
	return text.n && text.n <= HELLO_WHOSE_MAX && str_printable(text);
}

bool watch_ask(struct watch *w, uint32_t id, const cJSON *decision, int fd)
{
	struct arena *a = arena_new();
	cJSON *o = json_object();
	struct str line;
	bool ok;

	json_put_cstr(o, "event", HELLO_WHO);
	json_put_u64(o, "id", id);
	ok = put_about(o, decision);
	line = arena_fmt(a, "%s\n", json_compact(a, o).p);
	ok = ok && say_line(w, line);
	arena_free(a);
	watch_send(w, fd);
	return ok;
}

void watch_hush(struct watch *w, int fd)
{
	struct str rest, line;

	watch_send(w, fd);
	rest = (struct str){w->say, w->say_n};
	while (str_line(&rest, &line))
		w->unsaid += !asks_whose(line);
	if (w->missing_are)
		w->unsaid += w->missing_are - 1;
	w->say_n = w->missing_end = 0;
	w->missing_are = 0;
}

/* --- frames --------------------------------------------------------------- */

static size_t take_head(struct watch *w, struct str got, struct err *err)
{
	size_t n = sizeof(w->head) - w->head_n;

	n = n < got.n ? n : got.n;
	memcpy(w->head + w->head_n, got.p, n);
	w->head_n += n;
	if (w->head_n < sizeof(w->head))
		return n;
	w->frame_bytes = 0;
	for (unsigned i = 0; i < sizeof(w->head); i++)
		w->frame_bytes |= (size_t)w->head[i] << (8 * i);
	w->frame_n = 0;
	err->code = w->frame_bytes <= WATCH_FRAME_MAX && !w->was_last
			    ? 0
			    : err_set(err, -EPROTO,
				      "the tracer sent a frame that is none");
	if (w->frame_bytes == 0) {
		w->was_last = true;
		w->head_n = 0;
	}
	return n;
}

static size_t take_frame(struct watch *w, struct str got, watch_write *write,
			 void *ctx, struct err *err)
{
	size_t n = w->frame_bytes - w->frame_n;

	n = n < got.n ? n : got.n;
	memcpy(w->frame + w->frame_n, got.p, n);
	w->frame_n += n;
	if (w->frame_n < w->frame_bytes)
		return n;
	w->head_n = 0;
	/* its code says how that went */
	err->code = write(ctx, (struct str){w->frame, w->frame_n}, err);
	return n;
}

int watch_output(struct watch *w, struct str got, watch_write *write, void *ctx,
		 struct err *err)
{
	err->code = 0;
	while (got.n && err->code == 0) {
		size_t n = w->head_n < sizeof(w->head)
				   ? take_head(w, got, err)
				   : take_frame(w, got, write, ctx, err);

		got = str_slice(got, n, got.n);
	}
	return err->code;
}

bool watch_is_whole(const struct watch *w)
{
	return w->was_last && w->head_n == 0;
}

/* --- words ---------------------------------------------------------------- */

/* The one argument of a line about the tracer. */
static const cJSON *fact(const cJSON *o)
{
	const cJSON *args = cJSON_GetObjectItemCaseSensitive(o, "args");

	return cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(args, 0),
						"value");
}

/* 2^53: up to there, each whole number is one of cJSON's. */
static bool is_count(const cJSON *n)
{
	return cJSON_IsNumber(n) && n->valuedouble >= 0 &&
	       n->valuedouble <= (double)(1ull << 53);
}

/* An argument that is a text, by name. */
static void take_fact(const cJSON *o, const char *name, char *to, size_t n)
{
	const cJSON *args = cJSON_GetObjectItemCaseSensitive(o, "args"), *a;

	cJSON_ArrayForEach(a, args) {
		const cJSON *is = cJSON_GetObjectItemCaseSensitive(a, "name");
		const cJSON *v = cJSON_GetObjectItemCaseSensitive(a, "value");

		if (cJSON_IsString(is) && cJSON_IsString(v) &&
		    strcmp(is->valuestring, name) == 0)
			snprintf(to, n, "%s", v->valuestring);
	}
}

static void on_loaded(struct watch *w, const cJSON *o)
{
	take_fact(o, "back_end", w->back_end, sizeof(w->back_end));
	take_fact(o, "io_uring", w->io_uring, sizeof(w->io_uring));
	take_fact(o, "missing", w->missing, sizeof(w->missing));
	w->stage = WATCH_LOADED;
}

static uint64_t fact_number(const cJSON *o, const char *name)
{
	const cJSON *args = cJSON_GetObjectItemCaseSensitive(o, "args"), *a;

	cJSON_ArrayForEach(a, args)
		if (str_is(json_find_str(a, "name"), name))
			return json_find_u64(a, "value", UINT32_MAX);
	return 0;
}

static void on_whose(struct watch *w, const cJSON *o)
{
	char comm[COMM_ROOM] = "", command[COMMAND_ROOM] = "";
	uint64_t sure = fact_number(o, "sure");
	struct watch_whose x = {
		.id = (uint32_t)fact_number(o, "id"),
		.sure = sure == HELLO_SURELY	 ? HELLO_SURELY
			: sure == HELLO_PROBABLY ? HELLO_PROBABLY
						 : HELLO_NOBODY,
		.pid = (uint32_t)fact_number(o, "pid"),
	};

	take_fact(o, "comm", comm, sizeof(comm));
	take_fact(o, "command", command, sizeof(command));
	x.comm = str_of(comm);
	x.command = str_of(command);
	if (w->on_whose)
		w->on_whose(w->whose_ctx, &x);
}

static int on_words(struct watch *w, const cJSON *o, struct err *err)
{
	const cJSON *name = cJSON_GetObjectItemCaseSensitive(o, "eventName");
	const cJSON *value = fact(o);
	const char *event = cJSON_IsString(name) ? name->valuestring : "";

	if (strcmp(event, "loaded") == 0 && w->stage == WATCH_STARTING) {
		on_loaded(w, o);
	} else if (strcmp(event, "ready") == 0 && w->stage == WATCH_LOADED) {
		w->stage = WATCH_READY;
	} else if (strcmp(event, "found") == 0) {
		w->has_found = true;
	} else if (strcmp(event, HELLO_WHO) == 0) {
		on_whose(w, o);
	} else if (strcmp(event, "lost") == 0 && is_count(value)) {
		w->lost = (uint64_t)value->valuedouble;
	} else if (strcmp(event, "end") == 0 && is_count(value)) {
		w->lost = (uint64_t)value->valuedouble;
		w->stage = WATCH_ENDED;
	} else {
		return err_set(err, -EIO, "%s",
			       cJSON_IsString(value)
				       ? value->valuestring
				       : "it says nothing sensible");
	}
	return 0;
}

int watch_said(struct watch *w, struct str line, struct err *why,
	       struct err *err)
{
	cJSON *o = cJSON_ParseWithLength(line.p, line.n);
	int rc = 0;

	if (cJSON_IsObject(o))
		rc = on_words(w, o, err);
	else if (why->text[0] == '\0' && str_trim(line).n)
		snprintf(why->text, sizeof(why->text), "%.*s",
			 STR_ARG(str_trim(line)));
	cJSON_Delete(o);
	return rc;
}
