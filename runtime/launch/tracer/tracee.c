#include "runtime/launch/tracer/tracee.h"

#include "compiler/base/json.h"
#include "compiler/plan/trace_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <zlib.h>

#define GZIP_LEVEL  1
#define GZIP_WINDOW (15 + 16) /* as deflateInit2() wants it for gzip */

/* --- members -------------------------------------------------------------- */

static int write_packed(struct tracee *t, struct str text, struct err *err)
{
	z_stream z = {0};
	unsigned char *out;
	uLong room;
	int rc;

	if (deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 9,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return err_set(err, -ENOMEM, "no memory for the trace");
	room = deflateBound(&z, text.n);
	out = malloc(room);
	if (!out) {
		deflateEnd(&z);
		return err_set(err, -ENOMEM, "no memory for the trace");
	}
	z.next_in = (unsigned char *)(uintptr_t)text.p;
	z.avail_in = (uInt)text.n;
	z.next_out = out;
	z.avail_out = (uInt)room;
	rc = deflate(&z, Z_FINISH) == Z_STREAM_END
		     ? t->write(t->write_ctx,
				(struct str){(char *)out, z.total_out}, err)
		     : err_set(err, -EIO, "a block that cannot be packed");
	deflateEnd(&z);
	free(out);
	return rc;
}

/* --- records of ours ------------------------------------------------------ */

static void add_arg(cJSON *args, const char *name, const char *type,
		    cJSON *take_value)
{
	cJSON *arg = json_object();

	json_put_cstr(arg, "name", name);
	json_put_cstr(arg, "type", type);
	json_put(arg, "value", take_value);
	json_push(args, arg);
}

static void add_count(cJSON *args, const char *name, uint64_t n)
{
	add_arg(args, name, "uint64", cJSON_CreateNumber((double)n));
}

/* A line that is no event of a process, in the shape of the others. */
static int write_own(struct tracee *t, const char *event, cJSON *take_args,
		     struct err *err)
{
	struct timespec now;
	struct str line;
	cJSON *o = json_object();

	clock_gettime(CLOCK_REALTIME, &now);
	cJSON_AddRawToObject(
		o, "timestamp",
		arena_fmt(t->a, "%lld%09ld", (long long)now.tv_sec, now.tv_nsec)
			.p);
	json_put_cstr(o, "eventId", "0");
	json_put_cstr(o, "eventName", event);
	json_put_u64(o, "argsNum", (uint64_t)cJSON_GetArraySize(take_args));
	json_put_u64(o, "returnValue", 0);
	json_put(o, "args", take_args);
	line = json_compact(t->a, o);
	return write_packed(t, arena_fmt(t->a, "%.*s\n", STR_ARG(line)), err);
}

static int write_start(struct tracee *t, struct err *err)
{
	cJSON *args = json_array();

	add_arg(args, "back_end", "string", json_str(STR("tracee")));
	add_arg(args, "version", "string", json_str(str_of(t->release)));
	return write_own(t, "membrane_start", args, err);
}

int tracee_end(struct tracee *t, struct err *err)
{
	cJSON *args = json_array();

	t->broken += t->agent && t->n;
	t->n = 0;
	add_count(args, "events", t->events);
	add_count(args, "filtered", t->others);
	add_count(args, "lost", t->lost + t->broken);
	add_arg(args, "back_end", "string", json_str(STR("tracee")));
	add_count(args, "lost_in_kernel", t->lost);
	add_count(args, "broken", t->broken);
	return write_own(t, "membrane_end", args, err);
}

/* --- records -------------------------------------------------------------- */

static bool is_agents(struct tracee *t, struct str line)
{
	const char *end = NULL;
	struct str id = {0};
	cJSON *o = cJSON_ParseWithLengthOpts(line.p, line.n, &end, false);
	bool is_record =
		end == line.p + line.n && json_get_str(o, "containerId", &id);
	bool is_ours = is_record && str_is(id, t->agent);

	t->broken += !is_record;
	t->events += is_ours;
	t->others += is_record && !is_ours;
	cJSON_Delete(o);
	return is_ours;
}

/* What is kept of the lines moves to the front, where they were. */
static int keep_agents(struct tracee *t, struct err *err)
{
	struct str all = {t->text, t->n};
	size_t kept = 0, at = 0, end;
	int rc;

	for (; (end = str_find(all, '\n', at)) < all.n; at = end + 1) {
		if (!is_agents(t, str_slice(all, at, end)))
			continue;
		memmove(t->text + kept, t->text + at, end + 1 - at);
		kept += end + 1 - at;
	}
	rc = kept ? write_packed(t, (struct str){t->text, kept}, err) : 0;
	memmove(t->text, t->text + at, t->n - at);
	t->n -= at;
	return rc;
}

int tracee_agent(struct tracee *t, const char *id, struct err *err)
{
	if (t->agent)
		return 0;
	t->agent = arena_cstr(t->a, str_of(id));
	return keep_agents(t, err);
}

int tracee_output(struct tracee *t, struct str got, struct err *err)
{
	if (got.n > TRACEE_ROOM - t->n)
		return err_set(err, -ENOBUFS, "Tracee's output is too long: %s",
			       t->agent ? "a line without an end"
					: "nobody knows the agent yet");
	memcpy(t->text + t->n, got.p, got.n);
	t->n += got.n;
	return t->agent ? keep_agents(t, err) : 0;
}

/* --- its log -------------------------------------------------------------- */

/* One of zap's objects: {"L":"WARN","M":"what"}; other levels spell it out. */
static struct str log_member(const cJSON *o, const char *name,
			     const char *otherwise)
{
	struct str s = {0};

	if (!json_get_str(o, name, &s))
		json_get_str(o, otherwise, &s);
	return s;
}

/* For a person's terminal, should this be why it ended. The first counts. */
static void keep_reason(struct str text, struct err *why)
{
	if (why->code || text.n == 0)
		return;
	err_set(why, -EPIPE, "%.*s", STR_ARG(text));
	for (char *p = why->text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
}

static uint64_t lost_events(struct str message)
{
	uint64_t n;

	return str_starts(message, STR("Lost ")) &&
			       str_ends(message, STR(" events")) &&
			       str_u64(str_slice(message, 5, message.n - 7),
				       UINT32_MAX, &n)
		       ? n
		       : 0;
}

int tracee_said(struct tracee *t, struct str line, struct err *why,
		struct err *err)
{
	cJSON *o = cJSON_ParseWithLength(line.p, line.n);
	struct str level = log_member(o, "L", "level");
	struct str message = log_member(o, "M", "msg");
	bool is_start =
		!t->is_ready && str_is(message, "Tracee is ready callback");
	struct str error = log_member(o, "error", "err");

	t->lost += lost_events(message);
	/* Docker's words, or Tracee's on its usage */
	if (!cJSON_IsObject(o))
		keep_reason(str_trim(line), why);
	else if (str_is(level, "FATAL") || str_is(level, "fatal"))
		keep_reason(arena_fmt(t->a, "%.*s: %.*s", STR_ARG(message),
				      STR_ARG(error)),
			    why);
	cJSON_Delete(o);
	t->is_ready |= is_start;
	return is_start ? write_start(t, err) : 0;
}

/* --- its beginning -------------------------------------------------------- */

int tracee_check_release(const cJSON *plan, const char *said, struct err *err)
{
	static const struct str front = STR_INIT("Tracee version: ");
	struct str release, is = str_of(said);

	if (!json_get_str(plan, TRACE_JSON_TRACEE, &release))
		return err_set(err, -EPROTO, "trace.json: no release");
	if (str_starts(is, front))
		is = str_slice(is, front.n, is.n);
	if (str_starts(is, STR("v")))
		is = str_slice(is, 1, is.n);
	if (str_eq(is, release))
		return 0;
	return err_set(
		err, -EPROTO,
		"the policy is for Tracee %.*s, and the image of that name says '%.100s'; 'docker pull aquasec/tracee:%.*s' fetches that release again",
		STR_ARG(release), said, STR_ARG(release));
}

int tracee_new(struct arena *a, const cJSON *plan, tracee_write *write,
	       void *write_ctx, struct tracee **out, struct err *err)
{
	struct tracee *t = arena_new_of(a, struct tracee);
	struct str release;

	if (!json_get_str(plan, TRACE_JSON_TRACEE, &release))
		return err_set(err, -EPROTO,
			       "trace.json: no release of Tracee");
	t->a = a;
	t->release = arena_cstr(a, release);
	t->write = write;
	t->write_ctx = write_ctx;
	t->text = malloc(TRACEE_ROOM);
	if (!t->text)
		return err_set(err, -ENOMEM, "no memory for the trace");
	*out = t;
	return 0;
}

void tracee_free(struct tracee *t)
{
	if (!t)
		return;
	free(t->text);
	t->text = NULL;
	t->n = 0;
}
