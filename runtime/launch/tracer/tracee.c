#include "runtime/launch/tracer/tracee.h"

#include "compiler/plan/trace_json.h"
#include "runtime/launch/tracer/tracee_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#define GZIP_LEVEL  1
#define GZIP_WINDOW (15 + 16) /* as deflateInit2() wants it for gzip */
#define LOOK_MS	    100	      /* at what is pending */

/* --- members -------------------------------------------------------------- */

static int pack(struct tracee *t, struct str text, struct err *err)
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

static int flush(struct tracee *t, struct err *err)
{
	struct str text = {t->block.p, t->block.n};

	t->block.n = 0;
	return text.n ? pack(t, text, err) : 0;
}

static int add_line(struct tracee *t, struct str line, int64_t now_ms,
		    struct err *err)
{
	int rc = t->block.n + line.n + 1 > t->block.room ? flush(t, err) : 0;

	if (rc < 0)
		return rc;
	if (t->block.n == 0)
		t->block.since_ms = now_ms;
	memcpy(t->block.p + t->block.n, line.p, line.n);
	t->block.p[t->block.n + line.n] = '\n';
	t->block.n += line.n + 1;
	return t->block.n >= TRACEE_BLOCK_BYTES ? flush(t, err) : 0;
}

/* --- facts ---------------------------------------------------------------- */

struct fact {
	const char *name, *text; /* text: NULL for the number */
	uint64_t number;
};

/* A line that is no event of a process, in the shape of the others. */
static int add_facts(struct tracee *t, const char *event,
		     const struct fact *facts, size_t n, struct err *err)
{
	cJSON *o = cJSON_CreateObject();
	cJSON *args;
	struct timespec now;
	char *text;
	int rc;

	clock_gettime(CLOCK_REALTIME, &now);
	cJSON_AddRawToObject(
		o, "timestamp",
		arena_fmt(t->a, "%lld%09ld", (long long)now.tv_sec, now.tv_nsec)
			.p);
	cJSON_AddStringToObject(o, "eventId", "0");
	cJSON_AddStringToObject(o, "eventName", event);
	cJSON_AddNumberToObject(o, "argsNum", (double)n);
	cJSON_AddNumberToObject(o, "returnValue", 0);
	args = cJSON_AddArrayToObject(o, "args");
	for (size_t i = 0; i < n; i++) {
		cJSON *arg = cJSON_CreateObject();

		cJSON_AddStringToObject(arg, "name", facts[i].name);
		cJSON_AddStringToObject(arg, "type",
					facts[i].text ? "string" : "uint64");
		if (facts[i].text)
			cJSON_AddStringToObject(arg, "value", facts[i].text);
		else
			cJSON_AddNumberToObject(arg, "value",
						(double)facts[i].number);
		cJSON_AddItemToArray(args, arg);
	}
	text = cJSON_PrintUnformatted(o);
	cJSON_Delete(o);
	if (!text)
		return err_set(err, -ENOMEM, "no memory for the trace");
	rc = add_line(t, str_of(text), 0, err);
	cJSON_free(text);
	return rc;
}

static struct str without(struct arena *a, const struct tracee *t)
{
	struct buf b;

	buf_init(&b, a);
	vec_each(name, &t->without)
		buf_addf(&b, "%s%.*s", b.n ? ", " : "", STR_ARG(*name));
	buf_addc(&b, '\0');
	return str_slice(buf_str(&b), 0, b.n - 1);
}

uint64_t tracee_lost(const struct tracee *t)
{
	return t->n.lost + t->n.broken + t->n.unplaced + t->scope.missed;
}

struct str tracee_lacks(struct arena *a, const struct tracee *t)
{
	struct buf b;

	buf_init(&b, a);
	if (t->n.events == 0 && t->sees_start && t->agent_ms)
		buf_adds(&b, "Tracee sent no record of the agent");
	if (t->without.n)
		buf_addf(&b, "%sTracee cannot record here: %s", b.n ? "; " : "",
			 without(a, t).p);
	if (t->n.errors)
		buf_addf(&b, "%sTracee reported %llu error%s, the first: %s",
			 b.n ? "; " : "", (unsigned long long)t->n.errors,
			 t->n.errors == 1 ? "" : "s", t->first_error);
	return buf_str(&b);
}

/* --- records -------------------------------------------------------------- */

static bool is_wanted(const struct tracee *t, struct str name)
{
	vec_each(n, &t->names)
		if (str_eq(*n, name))
			return true;
	return false;
}

static int keep(struct tracee *t, const struct tracee_record *r,
		struct str line, int64_t now_ms, struct err *err)
{
	t->last_ms = now_ms;
	/* asked for on its own behalf only */
	if (strcmp(r->name, "cgroup_mkdir") == 0 &&
	    !is_wanted(t, str_of(r->name)))
		return 0;
	t->n.events++;
	return add_line(t, line, now_ms, err);
}

static void wait_for(struct tracee *t, struct tracee_other *other,
		     struct str line)
{
	if (line.n + 1 > TRACEE_PENDING_MAX - t->pending.n) {
		other->dropped++;
		return;
	}
	/* it may stand further behind in the same place */
	memmove(t->pending.p + t->pending.n, line.p, line.n);
	t->pending.p[t->pending.n + line.n] = '\n';
	t->pending.n += line.n + 1;
}

static int take(struct tracee *t, struct str line, int64_t now_ms,
		struct err *err)
{
	struct tracee_record r = tracee_scope_read(&t->scope, line, now_ms);

	switch (r.whose) {
	case TRACEE_OURS:
		return keep(t, &r, line, now_ms, err);
	case TRACEE_UNKNOWN:
		wait_for(t, r.other, line);
		return 0;
	case TRACEE_OTHERS:
		t->n.others++;
		return 0;
	case TRACEE_NOBODYS:
		/* The policy lets no event of the host in; Tracee's first
		 * records, about itself, are of no container either. */
		t->n.unplaced += t->is_ready && !r.of_itself;
		return 0;
	case TRACEE_BROKEN:
		t->n.broken++;
		return 0;
	}
	abort();
}

/* Something may be known by now of what could not be told before. */
static int look_again(struct tracee *t, int64_t now_ms, struct err *err)
{
	struct str rest = {t->pending.p, t->pending.n}, line;
	int rc = 0;

	t->pending.looked_ms = now_ms;
	t->pending.n = 0;
	/* what stays is copied to the front, never over what is yet to come */
	while (rc == 0 && str_field(&rest, '\n', &line))
		if (line.n)
			rc = take(t, line, now_ms, err);
	return rc;
}

void tracee_agent(struct tracee *t, const char *id)
{
	if (!t->scope.has_agent)
		tracee_scope_agent(&t->scope, str_of(id));
}

int tracee_output(struct tracee *t, struct str got, int64_t now_ms,
		  struct err *err)
{
	struct str line;
	int rc = 0;

	while (got.n && rc == 0) {
		size_t end = str_find(got, '\n', 0);
		size_t n = end < TRACEE_LINE_MAX - t->line_n
				   ? end
				   : TRACEE_LINE_MAX - t->line_n;

		memcpy(t->line + t->line_n, got.p, n);
		t->line_n += n;
		t->skipping |= n < end;
		if (end == got.n)
			break;
		line = (struct str){t->line, t->line_n};
		if (t->skipping)
			t->n.broken++;
		else if (line.n)
			rc = take(t, line, now_ms, err);
		t->line_n = 0;
		t->skipping = false;
		got = str_slice(got, end + 1, got.n);
	}
	return rc;
}

int tracee_tick(struct tracee *t, int64_t now_ms, struct err *err)
{
	int rc = 0;

	if (t->pending.n && now_ms - t->pending.looked_ms >= LOOK_MS)
		rc = look_again(t, now_ms, err);
	if (rc == 0 && t->block.n &&
	    now_ms - t->block.since_ms >= TRACEE_BLOCK_MS)
		rc = flush(t, err);
	if (rc == 0 && t->sees_start && t->n.events == 0 && t->agent_ms &&
	    !t->is_ending && now_ms - t->agent_ms >= TRACEE_SILENT_MS)
		rc = err_set(
			err, -ETIMEDOUT,
			"Tracee is ready, and sends no record of the agent");
	return rc;
}

/*
 * Every record has come by now: one that is still unknown is not the agent's,
 * if it is known at all who that is.
 */
int tracee_settle(struct tracee *t, struct err *err)
{
	int rc = 0;

	t->n.broken += t->line_n > 0;
	t->line_n = 0;
	if (t->scope.has_agent)
		rc = look_again(t, INT64_MAX / 2, err);
	for (size_t i = 0; i < t->pending.n; i++)
		t->n.unplaced += t->pending.p[i] == '\n';
	for (uint32_t i = 0; i < t->scope.n_others; i++)
		if (!t->scope.has_agent)
			t->n.unplaced += t->scope.others[i].dropped;
	t->pending.n = 0;
	return rc < 0 ? rc : flush(t, err);
}

int tracee_end(struct tracee *t, struct err *err)
{
	int rc = tracee_settle(t, err);
	const struct fact facts[] = {
		{"events", NULL, t->n.events},
		{"filtered", NULL, t->n.others},
		{"lost", NULL, tracee_lost(t)},
		{"back_end", "tracee", 0},
		{"lost_in_kernel", NULL, t->n.lost},
		{"broken", NULL, t->n.broken},
		{"unplaced", NULL, t->n.unplaced + t->scope.missed},
		{"errors", NULL, t->n.errors},
		{"without", without(t->a, t).p, 0},
	};

	if (rc == 0)
		rc = add_facts(t, "membrane_end", facts, ARRAY_LEN(facts), err);
	return rc < 0 ? rc : flush(t, err);
}

/* --- its words ------------------------------------------------------------ */

static void cannot(struct tracee *t, const char *event)
{
	struct str name = str_of(event);

	vec_each(n, &t->without)
		if (str_eq(*n, name))
			return;
	if (t->without.n < TRACEE_WITHOUT_MAX)
		*vec_push(t->a, &t->without) = str_of(arena_cstr(t->a, name));
}

static void can_again(struct tracee *t, const char *event)
{
	for (uint32_t i = 0; i < t->without.n; i++)
		if (str_is(t->without.v[i], event)) {
			t->without.v[i] = t->without.v[--t->without.n];
			return;
		}
}

int tracee_said(struct tracee *t, struct str line, struct err *why,
		struct err *err)
{
	struct tracee_words w;

	tracee_log_read(line, &w);
	switch (w.said) {
	case TRACEE_SAID_NOTHING:
		return 0;
	case TRACEE_SAID_READY:
		if (t->is_ready)
			return 0;
		t->is_ready = true;
		return add_facts(t, "membrane_start",
				 (struct fact[]){{"back_end", "tracee", 0},
						 {"version", t->release, 0}},
				 2, err);
	case TRACEE_SAID_LOST:
		t->n.lost += w.n;
		return 0;
	case TRACEE_SAID_WITHOUT:
		cannot(t, w.text);
		return 0;
	case TRACEE_SAID_AGAIN:
		can_again(t, w.text);
		return 0;
	case TRACEE_SAID_ERROR:
		/* how it ends is no matter, once it was told to */
		if (t->is_ending)
			return 0;
		if (t->n.errors++ == 0)
			snprintf(t->first_error, sizeof(t->first_error), "%s",
				 w.text);
		return 0;
	case TRACEE_SAID_FATAL:
		err_set(why, -EPIPE, "%s", w.text);
		return 0;
	case TRACEE_SAID_WORDS:
		/* the first says what, the others what else there is */
		if (why->code == 0)
			err_set(why, -EPIPE, "%s", w.text);
		return 0;
	}
	abort();
}

/* --- its beginning -------------------------------------------------------- */

static bool read_events(struct tracee *t, const cJSON *list)
{
	const cJSON *e;

	if (!cJSON_IsArray(list))
		return false;
	cJSON_ArrayForEach(e, list) {
		const cJSON *name =
			cJSON_GetObjectItemCaseSensitive(e, TRACE_JSON_NAME);
		const cJSON *filters =
			cJSON_GetObjectItemCaseSensitive(e, TRACE_JSON_FILTERS);

		if (!cJSON_IsString(name) || !cJSON_IsArray(filters))
			return false;
		*vec_push(t->a, &t->names) =
			str_of(arena_cstr(t->a, str_of(name->valuestring)));
		t->sees_start |=
			cJSON_GetArraySize(filters) == 0 &&
			strcmp(name->valuestring, "sched_process_exec") == 0;
	}
	return true;
}

int tracee_new(struct arena *a, const cJSON *plan, tracee_write *write,
	       void *write_ctx, struct tracee **out, struct err *err)
{
	const cJSON *release =
		cJSON_GetObjectItemCaseSensitive(plan, TRACE_JSON_TRACEE);
	struct tracee *t = arena_new_of(a, struct tracee);

	t->a = a;
	t->write = write;
	t->write_ctx = write_ctx;
	if (!cJSON_IsString(release) ||
	    !read_events(t, cJSON_GetObjectItemCaseSensitive(
				    plan, TRACE_JSON_EVENTS)))
		return err_set(
			err, -EPROTO,
			"trace.json: no release or no events for Tracee");
	t->release = arena_cstr(a, str_of(release->valuestring));
	t->block.room = TRACEE_BLOCK_BYTES + TRACEE_LINE_MAX + 1;
	t->line = malloc(TRACEE_LINE_MAX);
	t->pending.p = malloc(TRACEE_PENDING_MAX);
	t->block.p = malloc(t->block.room);
	if (!t->line || !t->pending.p || !t->block.p) {
		tracee_free(t);
		return err_set(err, -ENOMEM, "no memory for the trace");
	}
	*out = t;
	return 0;
}

void tracee_free(struct tracee *t)
{
	if (!t)
		return;
	free(t->line);
	free(t->pending.p);
	free(t->block.p);
	t->line = t->pending.p = t->block.p = NULL;
}
