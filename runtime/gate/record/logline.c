#include "runtime/gate/record/logline.h"

#include "compiler/base/json.h"

#include <cjson/cJSON.h>
#include <string.h>

#define REQUEST_TIMEOUT 408
#define BAD_GATEWAY	502
#define GATEWAY_TIMEOUT 504

/* Cut where a character begins. */
static void copy_text(char *to, size_t size, const char *from)
{
	size_t n = strnlen(from, size - 1);

	while (n && ((unsigned char)from[n] & 0xc0) == 0x80)
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

/* Of a connection that was to go by a proxy: why it did not. */
static bool has_failed_way(const cJSON *o)
{
	return strlen(json_find_str(o, "way").p) > 1;
}

static void take_texts(const cJSON *o, struct logline *l)
{
	const char *rule = json_find_str(o, "rule").p,
		   *name = json_find_str(o, "name").p;

	if (strcmp(rule, "-") != 0)
		copy_text(l->rule, sizeof(l->rule), rule);
	/* No host is called that: HAProxy's own word for nothing. */
	if (strcmp(name, "-") != 0)
		take_name(l->name, name);
	copy_text(l->method, sizeof(l->method), json_find_str(o, "method").p);
	copy_text(l->path, sizeof(l->path), json_find_str(o, "path").p);
	copy_text(l->error, sizeof(l->error),
		  has_failed_way(o) ? json_find_str(o, "way").p
		  : strlen(json_find_str(o, "why").p) > 1
			  ? json_find_str(o, "why").p
		  : strlen(json_find_str(o, "tlserr").p) > 1
			  ? json_find_str(o, "tlserr").p
			  : json_find_str(o, "err").p);
}

static bool take_connect(const cJSON *o, struct logline *l)
{
	const char *verdict = json_find_str(o, "verdict").p;
	uint64_t asked = 0;

	l->tls = strcmp(json_find_str(o, "proto").p, "tls") == 0;
	l->allow = strcmp(verdict, "allow") == 0;
	if (strcmp(verdict, "l7") == 0) {
		(void)str_u64(json_find_str(o, "asked"), UINT32_MAX, &asked);
		l->asked = (uint32_t)asked;
		l->kind = LOGLINE_REQUESTLESS;
		l->allow = true;
		return true;
	}
	l->kind = LOGLINE_CONNECT;
	if (l->allow && has_failed_way(o)) {
		l->reason = REASON_UPSTREAM;
		l->allow = false;
		return true;
	}
	return l->allow || strcmp(verdict, "deny") == 0;
}

/*
 * What was granted is allowed, unless the other side then failed: HAProxy's
 * word for how it ended begins with who did it, and a server's own 503 is an
 * answer like any other.
 */
static void take_request(const cJSON *o, struct logline *l)
{
	bool permitted = l->reason == REASON_GRANTED ||
			 l->reason == REASON_ANSWERED;

	l->kind = l->reason == REASON_HANDSHAKE ? LOGLINE_CONNECT
						: LOGLINE_REQUEST;
	l->tls = json_find_u64(o, "tls", 1) == 1;
	if (permitted && l->status >= BAD_GATEWAY &&
	    l->status <= GATEWAY_TIMEOUT && json_find_str(o, "end").p[0] &&
	    strchr("SsP", json_find_str(o, "end").p[0]))
		l->reason = REASON_UPSTREAM;
	l->allow = permitted && l->reason != REASON_UPSTREAM;
}

static bool take_fields(const cJSON *o, struct logline *l)
{
	const char *kind = json_find_str(o, "k").p,
		   *reason = json_find_str(o, "reason").p;

	l->has_addr = addr_parse(json_find_str(o, "addr"), &l->addr);
	l->port = (uint16_t)json_find_u64(o, "port", UINT16_MAX);
	l->sport = (uint16_t)json_find_u64(o, "sport", UINT16_MAX);
	l->status = (uint16_t)json_find_u64(o, "status", 999);
	l->up = json_find_u64(o, "up", JSON_WHOLE_MAX);
	l->down = json_find_u64(o, "down", JSON_WHOLE_MAX);
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
	if (strcmp(kind, "req") != 0)
		return false;
	take_request(o, l);
	return true;
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
