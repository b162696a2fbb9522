#include "runtime/gate/record/logline.h"

#include <cjson/cJSON.h>
#include <string.h>

#define REQUEST_TIMEOUT 408
#define BAD_GATEWAY	502
#define GATEWAY_TIMEOUT 504

static const char *text_of(const cJSON *o, const char *key)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsString(m) ? m->valuestring : "";
}

/* Whole numbers only, and none that a double cannot hold. */
static uint64_t number_of(const cJSON *o, const char *key, uint64_t max)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, key);

	if (!cJSON_IsNumber(m) || !(m->valuedouble >= 0) ||
	    m->valuedouble > (double)max)
		return 0;
	return (uint64_t)m->valuedouble;
}

/* Cut where a character begins. */
static void copy_text(char *to, size_t size, const char *from)
{
	size_t n = strlen(from);

	if (n > size - 1)
		n = size - 1;
	while (n && from[n] && ((unsigned char)from[n] & 0xc0) == 0x80)
		n--;
	memcpy(to, from, n);
	to[n] = '\0';
}

/* A part of a name would be another name: it shows that it goes on. */
static void take_name(char to[LIMIT_NAME_BYTES + 1], const char *from)
{
	static const char more[] = "…";

	copy_text(to, LIMIT_NAME_BYTES + 1, from);
	if (strlen(from) <= LIMIT_NAME_BYTES)
		return;
	copy_text(to, LIMIT_NAME_BYTES + 2 - sizeof(more), from);
	strcat(to, more);
}

static void take_texts(const cJSON *o, struct logline *l)
{
	const char *rule = text_of(o, "rule"), *name = text_of(o, "name");

	if (strcmp(rule, "-") != 0)
		copy_text(l->rule, sizeof(l->rule), rule);
	/* No host is called that: HAProxy's own word for nothing. */
	if (strcmp(name, "-") != 0)
		take_name(l->name, name);
	copy_text(l->method, sizeof(l->method), text_of(o, "method"));
	copy_text(l->path, sizeof(l->path), text_of(o, "path"));
	copy_text(l->error, sizeof(l->error),
		  strlen(text_of(o, "why")) > 1	     ? text_of(o, "why")
		  : strlen(text_of(o, "tlserr")) > 1 ? text_of(o, "tlserr")
						     : text_of(o, "err"));
}

static bool take_connect(const cJSON *o, struct logline *l)
{
	const char *verdict = text_of(o, "verdict");

	l->tls = strcmp(text_of(o, "proto"), "tls") == 0;
	l->allow = strcmp(verdict, "allow") == 0;
	if (strcmp(verdict, "l7") == 0) {
		l->kind = LOGLINE_ONWARD;
		l->allow = true;
		return true;
	}
	l->kind = LOGLINE_CONNECT;
	return l->allow || strcmp(verdict, "deny") == 0;
}

/*
 * What was granted is allowed, unless the other side then failed: HAProxy's
 * word for how it ended begins with who did it, and a server's own 503 is an
 * answer like any other.
 */
static bool take_request(const cJSON *o, struct logline *l)
{
	l->kind = l->reason == REASON_HANDSHAKE ? LOGLINE_CONNECT
						: LOGLINE_REQUEST;
	l->tls = number_of(o, "tls", 1) == 1;
	if (l->reason == REASON_GRANTED && l->status >= BAD_GATEWAY &&
	    l->status <= GATEWAY_TIMEOUT && text_of(o, "end")[0] &&
	    strchr("SsP", text_of(o, "end")[0]))
		l->reason = REASON_UPSTREAM;
	l->allow = l->reason == REASON_GRANTED;
	return true;
}

static bool take_fields(const cJSON *o, struct logline *l)
{
	const char *kind = text_of(o, "k"), *reason = text_of(o, "reason");

	l->has_addr = addr_parse(str_of(text_of(o, "addr")), &l->addr);
	l->port = (uint16_t)number_of(o, "port", UINT16_MAX);
	l->sport = (uint16_t)number_of(o, "sport", UINT16_MAX);
	l->status = (uint16_t)number_of(o, "status", 999);
	l->up = number_of(o, "up", UINT64_C(1) << 53);
	l->down = number_of(o, "down", UINT64_C(1) << 53);
	take_texts(o, l);
	/* Without a reason HAProxy refused it by itself, or with no answer at
	 * all the client did not like its certificate. */
	if (!reason_parse(str_of(reason), &l->reason))
		l->reason = l->status || strcmp(kind, "req") != 0
				    ? REASON_BAD_REQUEST
				    : REASON_HANDSHAKE;
	if (l->reason == REASON_BAD_REQUEST && l->status == REQUEST_TIMEOUT)
		copy_text(l->error, sizeof(l->error),
			  "the head was not complete in time");
	if (strcmp(kind, "conn") == 0)
		return take_connect(o, l);
	return strcmp(kind, "req") == 0 && take_request(o, l);
}

bool logline_parse(struct str line, struct logline *out)
{
	struct logline l = {0};
	const char *end = NULL;
	cJSON *o;
	bool ok;

	if (line.n == 0 || line.n > LOGLINE_MAX || line.p[0] != '{')
		return false;
	o = cJSON_ParseWithLengthOpts(line.p, line.n, &end, false);
	while (o && end < line.p + line.n && *end == '\n')
		end++;
	ok = cJSON_IsObject(o) && end == line.p + line.n && take_fields(o, &l);
	cJSON_Delete(o);
	if (ok)
		*out = l;
	return ok;
}
