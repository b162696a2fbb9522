#include "compiler/cli/account/logs_line.h"

#include "compiler/base/json.h"

#include <inttypes.h>
#include <cjson/cJSON.h>
#include <string.h>

#define CLOCK_AT    11u /* "2026-01-31T" */
#define CLOCK_BYTES 12u /* "12:00:00.123" */

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

static void put_object(struct buf *out, const cJSON *d, struct str kind)
{
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

static struct str why_text(struct arena *a, const cJSON *d, bool allow)
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
	put_object(v->out, d, json_find_str(d, "kind"));
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
	put_object(&b, d, kind);
	if (count > 1) /* several that were alike */
		buf_addf(&b, "  %" PRIu64 "×", count);
	view_clean(v->out, str_slice(time, CLOCK_AT, CLOCK_AT + CLOCK_BYTES));
	buf_addc(v->out, ' ');
	view_paint(v, allow ? VIEW_GOOD : VIEW_BAD,
		   allow ? STR("allow") : STR("deny "));
	buf_addc(v->out, ' ');
	inner.width = v->width > 40 ? v->width - CLOCK_BYTES - 7 : 40;
	view_row(&inner, 0, VIEW_PLAIN, buf_str(&b),
		 why_text(v->out->a, d, allow));
	return true;
}

/* Somebody changed the session's policy: what the lines below are decided by.
 */
static bool change_line(const struct view *v, const cJSON *d)
{
	const cJSON *who = cJSON_GetObjectItemCaseSensitive(d, "who");
	struct str time = json_find_str(d, "time");
	struct view inner = *v;
	struct buf b, by;

	if (time.n <= CLOCK_AT)
		return false;
	buf_init(&b, v->out->a);
	buf_init(&by, v->out->a);
	buf_adds(&b, "the policy: ");
	view_clean(&b, json_find_str(d, "verb"));
	buf_addc(&b, ' ');
	view_clean(&b, json_find_str(d, "dest"));
	buf_adds(&by, "by ");
	view_clean(&by, json_find_str(who, "name"));
	view_clean(v->out, str_slice(time, CLOCK_AT, CLOCK_AT + CLOCK_BYTES));
	buf_addc(v->out, ' ');
	view_paint(v, VIEW_WARN, STR("change"));
	buf_addc(v->out, ' ');
	inner.width = v->width > 40 ? v->width - CLOCK_BYTES - 8 : 40;
	view_row(&inner, 0, VIEW_PLAIN, buf_str(&b), buf_str(&by));
	return true;
}

bool logs_line(const struct view *v, struct str line)
{
	cJSON *d = cJSON_ParseWithLength(line.p, line.n);
	const char *event = json_find_str(d, "event").p;
	bool ok = cJSON_IsObject(d) &&
		  (strcmp(event, "end") == 0	  ? ended_line(v, d)
		   : strcmp(event, "change") == 0 ? change_line(v, d)
						  : decision_line(v, d));

	cJSON_Delete(d);
	return ok;
}
