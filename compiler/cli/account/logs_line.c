#include "compiler/cli/account/logs_line.h"

#include "compiler/base/json.h"
#include "compiler/base/question.h"
#include "runtime/launch/session/decisions.h"
#include "runtime/launch/session/refusal.h"

#include <inttypes.h>
#include <cjson/cJSON.h>
#include <string.h>

#define CLOCK_AT       11u /* "2026-01-31T" */
#define CLOCK_BYTES    12u /* "12:00:00.123" */
#define REFUSAL_INDENT 20u /* below what it is about */
#define COMMAND_MAX    200u

/* The name where one is known, and the address that it led to. */
static void other_end(struct buf *out, const cJSON *d)
{
	const char *name = json_find_str(d, "name").p,
		   *addr = json_find_str(d, "addr").p;
	const char *host = *name ? name : addr;
	bool brackets = strchr(host, ':') != NULL;
	unsigned port = (unsigned)json_find_u64(d, "port", UINT16_MAX);

	buf_adds(out, brackets ? "[" : "");
	view_clean(out, str_of(host));
	buf_adds(out, brackets ? "]" : "");
	if (port)
		buf_addf(out, ":%u", port);
}

void logs_line_object(struct buf *out, const cJSON *d)
{
	struct str kind = json_find_str(d, "kind");
	unsigned status = (unsigned)json_find_u64(d, "status", UINT16_MAX);
	const char *proto = json_find_str(d, "proto").p;

	if (str_is(kind, "resolve")) {
		buf_adds(out, "resolve ");
		other_end(out, d);
		buf_addc(out, ' ');
		view_clean(out, json_find_str(d, "type"));
		return;
	}
	if (str_is(kind, "read") || str_is(kind, "write")) {
		buf_addf(out, "%.*s ", STR_ARG(kind));
		view_clean(out, json_find_str(d, "path"));
		return;
	}
	if (str_is(kind, "request") && json_find_str(d, "method").n) {
		view_clean(out, json_find_str(d, "method"));
		buf_addc(out, ' ');
	} else if (*proto && strcmp(proto, "tcp") != 0) {
		view_clean(out, str_of(proto));
		buf_addc(out, ' ');
	}
	other_end(out, d);
	view_clean(out, json_find_str(d, "path"));
	if (status)
		buf_addf(out, " (%u)", status);
}

void logs_line_question(struct buf *out, const cJSON *d)
{
	struct str method = json_find_str(d, "method");

	view_clean(out, method);
	buf_adds(out, method.n ? " " : "");
	logs_line_object(out, d);
}

void logs_line_answer(struct buf *out, const cJSON *d)
{
	buf_addf(out,
		 "question %u: ", (unsigned)json_find_u64(d, "id", UINT32_MAX));
	view_clean(out, json_find_str(d, "answer"));
}

void logs_line_person(struct buf *out, const cJSON *d)
{
	const cJSON *who = cJSON_GetObjectItemCaseSensitive(d, "who");

	if (!who)
		return;
	buf_adds(out, "by ");
	view_clean(out, json_find_str(who, "name"));
}

struct str logs_line_why(struct arena *a, const cJSON *d, bool allow)
{
	const char *source = json_find_str(d, "source").p;
	uint64_t line = json_find_u64(d, "line", UINT32_MAX);
	struct buf b;

	buf_init(&b, a);
	if (!allow)
		view_clean(&b, json_find_str(d, "reason"));
	if (json_find_str(d, "detail").n) {
		buf_adds(&b, ": ");
		view_clean(&b, json_find_str(d, "detail"));
	}
	if (*source) {
		buf_adds(&b, b.n ? "  " : "");
		view_clean(&b, str_of(source));
		if (line)
			buf_addf(&b, ":%" PRIu64, line);
	}
	return buf_str(&b);
}

/* How much a flow moved whose decision stands further up. */
static bool ended_line(const struct view *v, const cJSON *d)
{
	struct str time = json_find_str(d, "time");

	if (time.n <= CLOCK_AT)
		return false;
	view_clean(v->out, str_slice(time, CLOCK_AT, CLOCK_AT + CLOCK_BYTES));
	buf_adds(v->out, " end   ");
	logs_line_object(v->out, d);
	buf_addf(v->out, "  %" PRIu64 " bytes out, %" PRIu64 " in\n",
		 json_find_u64(d, "sent", JSON_WHOLE_MAX),
		 json_find_u64(d, "received", JSON_WHOLE_MAX));
	return true;
}

static bool decision_line(const struct view *v, const cJSON *d)
{
	struct str time = json_find_str(d, "time");
	struct str kind = json_find_str(d, "kind");
	struct str verdict = json_find_str(d, "verdict");
	uint64_t count = json_find_u64(d, "count", UINT32_MAX);
	bool allow = str_is(verdict, "allow");
	struct view inner = *v;
	struct buf b;

	if ((!allow && !str_is(verdict, "deny")) || kind.n == 0 ||
	    time.n <= CLOCK_AT)
		return false;
	buf_init(&b, v->out->a);
	logs_line_object(&b, d);
	if (count > 1) /* several that were alike */
		buf_addf(&b, "  %" PRIu64 "×", count);
	view_clean(v->out, str_slice(time, CLOCK_AT, CLOCK_AT + CLOCK_BYTES));
	buf_addc(v->out, ' ');
	view_paint(v, allow ? VIEW_GOOD : VIEW_BAD,
		   allow ? STR("allow") : STR("deny "));
	buf_addc(v->out, ' ');
	inner.width = v->width > 40 ? v->width - CLOCK_BYTES - 7 : 40;
	view_row(&inner, 0, VIEW_PLAIN, buf_str(&b),
		 logs_line_why(v->out->a, d, allow));
	return true;
}

/* One row: when, a word for what it is, what it is about, and more. */
static bool put_row(const struct view *v, const cJSON *d, enum view_paint paint,
		    const char *word, struct str what, struct str more)
{
	struct str time = json_find_str(d, "time");
	struct view inner = *v;

	if (time.n <= CLOCK_AT)
		return false;
	view_clean(v->out, str_slice(time, CLOCK_AT, CLOCK_AT + CLOCK_BYTES));
	buf_addc(v->out, ' ');
	view_paint(v, paint, str_of(word));
	buf_addc(v->out, ' ');
	inner.width = v->width > 40 ? v->width - CLOCK_BYTES - 8 : 40;
	view_row(&inner, 0, VIEW_PLAIN, what, more);
	return true;
}

/* Somebody changed the session's policy: what the lines below are decided by.
 */
static bool change_line(const struct view *v, const cJSON *d)
{
	struct buf b, by;

	buf_init(&b, v->out->a);
	buf_init(&by, v->out->a);
	buf_adds(&b, "the policy: ");
	view_clean(&b, json_find_str(d, "verb"));
	buf_addc(&b, ' ');
	view_clean(&b, json_find_str(d, "dest"));
	logs_line_person(&by, d);
	return put_row(v, d, VIEW_WARN, "change", buf_str(&b), buf_str(&by));
}

struct str logs_line_readers(struct arena *a, const cJSON *d)
{
	const cJSON *place = cJSON_GetObjectItemCaseSensitive(d, "third_party");

	return place ? refusal_readers(
			       a, view_cleaned(a, json_find_str(place, "what")),
			       view_cleaned(a, json_find_str(place, "kind")))
		     : STR("");
}

struct str logs_line_process(struct arena *a, const cJSON *d)
{
	const cJSON *by = cJSON_GetObjectItemCaseSensitive(d, "process");
	struct str command = json_find_str(by, "command");
	struct buf b;

	if (!cJSON_IsObject(by))
		return STR("");
	buf_init(&b, a);
	buf_adds(&b, json_find_true(by, "sure") ? "by " : "probably by ");
	view_clean(&b, json_find_str(by, "name"));
	buf_addf(&b, "[%u]", (unsigned)json_find_u64(by, "pid", UINT32_MAX));
	buf_adds(&b, command.n ? ": " : "");
	view_clean(&b, str_slice(command, 0, COMMAND_MAX));
	buf_adds(&b, command.n > COMMAND_MAX ? "…" : "");
	return buf_str(&b);
}

static void put_below(const struct view *v, struct str text)
{
	if (text.n)
		view_row(v, REFUSAL_INDENT, VIEW_DIM, text, (struct str){0});
}

/* Below what it is about: who wanted it, and who reads what is sent there. */
static void put_whose(const struct view *v, const cJSON *d)
{
	put_below(v, logs_line_process(v->out->a, d));
	put_below(v, logs_line_readers(v->out->a, d));
}

/* Something waits for a person. */
static bool question_line(const struct view *v, const cJSON *d)
{
	struct arena *a = v->out->a;
	struct buf b, more;

	buf_init(&b, a);
	buf_init(&more, a);
	logs_line_question(&b, d);
	buf_addf(&more, "question %u, for %u s",
		 (unsigned)json_find_u64(d, "id", UINT32_MAX),
		 (unsigned)json_find_u64(d, "wait_s", UINT32_MAX));
	if (!put_row(v, d, VIEW_WARN, "asks  ", buf_str(&b), buf_str(&more)))
		return false;
	put_whose(v, d);
	return true;
}

static bool answered_line(const struct view *v, const cJSON *d)
{
	struct buf b, by;

	buf_init(&b, v->out->a);
	buf_init(&by, v->out->a);
	logs_line_answer(&b, d);
	logs_line_person(&by, d);
	return put_row(v, d, VIEW_WARN, "answer", buf_str(&b), buf_str(&by));
}

void logs_line_lost(struct buf *b, const cJSON *d)
{
	static const struct {
		enum decisions_lost of;
		const char *one, *more;
	} texts[] = {
		{DECISIONS_LOST_EVENTS, "event is not in the trace",
		 "events are not in the trace"},
		{DECISIONS_LOST_LINES, "decision is on no record",
		 "decisions are on no record"},
		{DECISIONS_LOST_REFUSALS, "refusal is counted alone",
		 "refusals are counted alone"},
	};
	uint64_t count = json_find_u64(d, "count", JSON_WHOLE_MAX);
	uint64_t total = json_find_u64(d, "total", JSON_WHOLE_MAX);
	struct str of = json_find_str(d, "of");
	size_t i = 0;

	if (json_find_str(d, "why").n) {
		buf_adds(b, "the trace is over: ");
		view_clean(b, json_find_str(d, "why"));
		return;
	}
	buf_addf(b, "%" PRIu64 " ", count);
	while (i < ARRAY_LEN(texts) &&
	       !str_is(of, decisions_lost_word(texts[i].of)))
		i++;
	if (i < ARRAY_LEN(texts))
		buf_adds(b, count == 1 ? texts[i].one : texts[i].more);
	else
		view_clean(b, of);
	if (total > count)
		buf_addf(b, ", %" PRIu64 " by now", total);
}

/* What the record lacks, when that was known. */
static bool lost_line(const struct view *v, const cJSON *d)
{
	struct buf b;

	buf_init(&b, v->out->a);
	logs_line_lost(&b, d);
	return put_row(v, d, VIEW_BAD, "lost  ", buf_str(&b), (struct str){0});
}

/* More about a refusal, whose decision stands further up. */
static bool about_line(const struct view *v, const cJSON *d)
{
	const cJSON *of = cJSON_GetObjectItemCaseSensitive(d, "decision");
	struct str grant = json_find_str(d, "grant");
	struct buf what, more;

	buf_init(&what, v->out->a);
	view_clean(&what, json_find_str(d, "what"));
	if (!put_row(v, of, VIEW_BAD, "about ", buf_str(&what),
		     (struct str){0}))
		return false;
	put_whose(v, d);
	if (!grant.n)
		return true;
	buf_init(&more, v->out->a);
	buf_adds(&more, "to allow it:  - ");
	view_clean(&more, grant);
	view_row(v, REFUSAL_INDENT, VIEW_DIM, buf_str(&more), (struct str){0});
	return true;
}

bool logs_line(const struct view *v, struct str line)
{
	cJSON *d = cJSON_ParseWithLength(line.p, line.n);
	const char *event = json_find_str(d, "event").p;
	bool ok = cJSON_IsObject(d) &&
		  (strcmp(event, "end") == 0		? ended_line(v, d)
		   : strcmp(event, "change") == 0	? change_line(v, d)
		   : strcmp(event, QUESTION_EVENT) == 0 ? question_line(v, d)
		   : strcmp(event, ANSWERED_EVENT) == 0 ? answered_line(v, d)
		   : strcmp(event, REFUSAL_EVENT) == 0	? about_line(v, d)
		   : strcmp(event, DECISIONS_LOST_EVENT) == 0	? lost_line(v, d)
							: decision_line(v, d));

	cJSON_Delete(d);
	return ok;
}
