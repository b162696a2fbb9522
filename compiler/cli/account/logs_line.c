#include "compiler/cli/account/logs_line.h"

#include <cjson/cJSON.h>
#include <string.h>

#define CLOCK_AT    11u /* "2026-01-31T" */
#define CLOCK_BYTES 12u /* "12:00:00.123" */

static const char *text_of(const cJSON *o, const char *key)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsString(m) ? m->valuestring : "";
}

static unsigned number_of(const cJSON *o, const char *key)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsNumber(m) && m->valuedouble >= 0 &&
			       m->valuedouble <= UINT16_MAX
		       ? (unsigned)m->valuedouble
		       : 0;
}

/* The name where one is known, and the address that it led to. */
static void other_end(struct buf *out, const cJSON *d)
{
	const char *name = text_of(d, "name"), *addr = text_of(d, "addr");
	const char *host = *name ? name : addr;
	bool brackets = strchr(host, ':') != NULL;
	unsigned port = number_of(d, "port");

	buf_adds(out, brackets ? "[" : "");
	view_clean(out, str_of(host));
	buf_adds(out, brackets ? "]" : "");
	if (port)
		buf_addf(out, ":%u", port);
}

static void object(struct buf *out, const cJSON *d, struct str kind)
{
	unsigned status = number_of(d, "status");
	const char *proto = text_of(d, "proto");

	if (str_is(kind, "resolve")) {
		buf_adds(out, "resolve ");
		other_end(out, d);
		buf_addc(out, ' ');
		view_clean(out, str_of(text_of(d, "type")));
		return;
	}
	if (str_is(kind, "request") && *text_of(d, "method")) {
		view_clean(out, str_of(text_of(d, "method")));
		buf_addc(out, ' ');
	} else if (*proto && strcmp(proto, "tcp") != 0) {
		view_clean(out, str_of(proto));
		buf_addc(out, ' ');
	}
	other_end(out, d);
	view_clean(out, str_of(text_of(d, "path")));
	if (status)
		buf_addf(out, " (%u)", status);
}

static struct str why(struct arena *a, const cJSON *d, bool allow)
{
	const char *source = text_of(d, "source");
	struct buf b;

	buf_init(&b, a);
	if (!allow)
		view_clean(&b, str_of(text_of(d, "reason")));
	if (*text_of(d, "detail")) {
		buf_adds(&b, ": ");
		view_clean(&b, str_of(text_of(d, "detail")));
	}
	if (*source) {
		buf_adds(&b, b.n ? "  " : "");
		view_clean(&b, str_of(source));
		if (number_of(d, "line"))
			buf_addf(&b, ":%u", number_of(d, "line"));
	}
	return buf_str(&b);
}

static double amount(const cJSON *o, const char *key)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsNumber(m) && m->valuedouble >= 0 ? m->valuedouble : 0;
}

/* How much a flow moved whose decision stands further up. */
static bool ended(const struct view *v, const cJSON *d)
{
	struct str time = str_of(text_of(d, "time"));

	if (time.n <= CLOCK_AT)
		return false;
	view_clean(v->out, str_slice(time, CLOCK_AT, CLOCK_AT + CLOCK_BYTES));
	buf_adds(v->out, " end   ");
	object(v->out, d, str_of(text_of(d, "kind")));
	buf_addf(v->out, "  %.0f bytes out, %.0f in\n", amount(d, "sent"),
		 amount(d, "received"));
	return true;
}

static bool decision(const struct view *v, const cJSON *d)
{
	struct str time = str_of(text_of(d, "time"));
	struct str kind = str_of(text_of(d, "kind"));
	struct str verdict = str_of(text_of(d, "verdict"));
	bool allow = str_is(verdict, "allow");
	struct view inner = *v;
	struct buf b;

	if ((!allow && !str_is(verdict, "deny")) || kind.n == 0 ||
	    time.n <= CLOCK_AT)
		return false;
	buf_init(&b, v->out->a);
	object(&b, d, kind);
	if (number_of(d, "count") > 1) /* several that were alike */
		buf_addf(&b, "  %u×", number_of(d, "count"));
	view_clean(v->out, str_slice(time, CLOCK_AT, CLOCK_AT + CLOCK_BYTES));
	buf_addc(v->out, ' ');
	view_paint(v, allow ? VIEW_GOOD : VIEW_BAD,
		   allow ? STR("allow") : STR("deny "));
	buf_addc(v->out, ' ');
	inner.width = v->width > 40 ? v->width - CLOCK_BYTES - 7 : 40;
	view_row(&inner, 0, VIEW_PLAIN, buf_str(&b), why(v->out->a, d, allow));
	return true;
}

/* Somebody changed the session's policy: what the lines below are decided by.
 */
static bool change(const struct view *v, const cJSON *d)
{
	const cJSON *who = cJSON_GetObjectItemCaseSensitive(d, "who");
	struct str time = str_of(text_of(d, "time"));
	struct view inner = *v;
	struct buf b, by;

	if (time.n <= CLOCK_AT)
		return false;
	buf_init(&b, v->out->a);
	buf_init(&by, v->out->a);
	buf_adds(&b, "the policy: ");
	view_clean(&b, str_of(text_of(d, "verb")));
	buf_addc(&b, ' ');
	view_clean(&b, str_of(text_of(d, "dest")));
	buf_adds(&by, "by ");
	view_clean(&by, str_of(text_of(who, "name")));
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
	const char *event = text_of(d, "event");
	bool ok = cJSON_IsObject(d) &&
		  (strcmp(event, "end") == 0	  ? ended(v, d)
		   : strcmp(event, "change") == 0 ? change(v, d)
						  : decision(v, d));

	cJSON_Delete(d);
	return ok;
}
