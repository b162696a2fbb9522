/*
 * What the gate and the view decided, as requests.
 */
#include "compiler/cli/account/parts.h"

#include "compiler/base/ascii.h"
#include "compiler/base/json.h"
#include "compiler/base/limits.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/plan/files.h"
#include "compiler/plan/view_hello.h"
#include "runtime/launch/session/decisions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

/* As policies have names: lower case, without a dot at the end. */
static struct str name_of(struct activity *d, struct str name)
{
	name = ascii_lower(activity_scratch(d), name);
	if (name.n && name.p[name.n - 1] == '.')
		name.n--;
	return name;
}

/*
 * What a record says of the policy. False where it speaks of something else: a
 * malformed message, a hello, packets that are neither TCP nor UDP, or not the
 * agent's.
 */
static bool then_of(const cJSON *o, enum act_then *out, enum reason *reason)
{
	*out = ACT_ALLOWED;
	*reason = REASON_GRANTED;
	if (str_is(json_find_str(o, "verdict"), "allow"))
		return true;
	if (!reason_parse(json_find_str(o, "reason"), reason))
		return false;
	*out = ACT_REFUSED;
	switch (*reason) {
	case REASON_NO_STAND_IN:
	case REASON_UPSTREAM:
	case REASON_HANDSHAKE:
	case REASON_ANSWERED:
	case REASON_GRANTED: /* permitted; it failed further on */
		*out = ACT_ALLOWED;
		return true;
	case REASON_NO_GRANT:
	case REASON_ASK: /* and nobody said yes */
	case REASON_DENIED:
	case REASON_FLOOR:
	case REASON_PORT:
	case REASON_SCHEME:
	case REASON_METHOD:
	case REASON_PATH:
	case REASON_PATH_NOT_CANONICAL:
	case REASON_PRIVATE_ADDRESS:
	case REASON_UDP:
	case REASON_QUERY_TYPE:
	case REASON_IGNORED:
	case REASON_READONLY:
	case REASON_PROTECTED:
	case REASON_NOT_ANSWERED:
	case REASON_ANSWERED_NO:
	case REASON_NOT_ASKED:
	case REASON_TOO_MANY:
		return true;
	case REASON_NOT_HTTP:
	case REASON_NO_SNI:
	case REASON_ECH:
	case REASON_NAME_MISMATCH:
	case REASON_HOST_ADDRESS:
	case REASON_QUIC:
	case REASON_PROTOCOL:
	case REASON_FORGED_SOURCE:
	case REASON_BAD_QUERY:
	case REASON_BAD_HELLO:
	case REASON_SECOND_HELLO:
	case REASON_BAD_REQUEST:
	case REASON_NOT_RESOLVED:
	case REASON_OVERRIDE:
	case REASON_UPGRADE:
	case REASON_UNTRUSTED_WORKSPACE:
		break;
	}
	return false;
}

struct str activity_flow_key(struct activity *d, const struct ir_request *r)
{
	char text[ADDR_TEXT_MAX];

	return arena_fmt(activity_scratch(d), "@%s %s:%u",
			 ir_proto_name(r->proto), addr_text(&r->addr, text),
			 r->port);
}

static struct ir_request url_of(const struct ir_request *c, bool tls,
				struct str method, struct str path)
{
	struct ir_request r = {.kind = IR_REQ_HTTP, .method = method};

	r.url.scheme = tls ? IR_SCHEME_HTTPS : IR_SCHEME_HTTP;
	r.url.who = c->name.n ? IR_DEST_HOST : IR_DEST_CIDR;
	r.url.name = c->name;
	r.url.net.addr = c->addr;
	r.url.net.bits = addr_bits(c->addr.family);
	r.url.port = c->port;
	r.url.path = str_slice(path, 0, str_find(path, '?', 0));
	return r;
}

/* By a person: once, or by what was said of the session while it ran. */
static bool is_answered(const cJSON *o)
{
	return str_is(json_find_str(o, "reason"),
		      reason_name(REASON_ANSWERED)) ||
	       str_is(json_find_str(o, "source"), layer_name(LAYER_SESSION));
}

static void take_flow(struct activity *d, const cJSON *o, bool is_request,
		      enum act_then then, enum reason reason)
{
	struct str method = json_find_str(o, "method"),
		   path = json_find_str(o, "path");
	bool seen = is_request && method.n && str_starts(path, STR("/"));
	bool tls = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "tls"));
	struct ir_request c = {
		.kind = IR_REQ_CONNECT,
		.proto = str_is(json_find_str(o, "proto"), "udp")
				 ? IR_PROTO_UDP
				 : IR_PROTO_TCP,
		.name = name_of(d, json_find_str(o, "name")),
		.port = (uint16_t)json_find_u64(o, "port", UINT16_MAX),
	};
	bool answered;
	struct act *x;

	c.has_addr = addr_parse(json_find_str(o, "addr"), &c.addr);
	if (c.port == 0 || !c.has_addr || addr_scope(&c.addr) == ADDR_NEVER)
		return;
	answered = is_answered(o);
	activity_slot(d, activity_flow_key(d, &c), true);
	if (seen) {
		struct ir_request r = url_of(&c, tls, method, path);

		x = activity_add(d, &r, then, reason);
		if (x)
			x->answered |= answered;
	}
	/* Of a request that was refused, the connection may have been fine. */
	if (seen && then == ACT_REFUSED)
		return;
	x = activity_add(d, &c, then, reason);
	/* What failed tells not whether it would have been looked into. */
	if (x && reason == REASON_GRANTED)
		x->unseen += !seen;
	if (x)
		x->answered |= answered;
}

static void take_question(struct activity *d, const cJSON *o,
			  enum act_then then, enum reason reason)
{
	struct ir_request r = {.kind = IR_REQ_RESOLVE,
			       .name = name_of(d, json_find_str(o, "name")),
			       .type = json_find_str(o, "type")};
	struct str addr = json_find_str(o, "addr");
	const struct act *x;
	uint32_t *at;

	if (r.name.n == 0)
		return;
	x = activity_add(d, &r, then, reason);
	if (!x || addr.n == 0)
		return;
	/* Whom an address was found for, last. */
	at = activity_slot(
		d, arena_fmt(activity_scratch(d), "=%.*s", STR_ARG(addr)),
		true);
	if (at)
		*at = x->order;
}

struct str activity_told_key(struct activity *d, struct str text)
{
	return arena_fmt(activity_scratch(d), "!%.*s", STR_ARG(text));
}

/* What the view refused. Of what is beyond its room no path is known. */
static void take_path(struct activity *d, const cJSON *o, bool is_write)
{
	struct ir_request r = {.kind = is_write ? IR_REQ_WRITE : IR_REQ_READ,
			       .path = json_find_str(o, "path")};
	uint64_t count = json_find_u64(o, "count", UINT32_MAX);
	enum act_then then;
	enum reason reason;
	struct err ignored;
	bool is_new;
	struct act *x;

	if (refusals_add(d->paths, o, &is_new, &ignored) < 0 ||
	    !then_of(o, &then, &reason))
		return;
	d->decisions++;
	if (str_is(r.path, VIEW_HELLO_OTHERS))
		return;
	x = activity_add(d, &r, then, reason);
	if (!x)
		return;
	x->n += count > 1 ? count - 1 : 0;
	activity_slot(d, activity_told_key(d, x->text), true);
}

void activity_add_decision(struct activity *d, const cJSON *o)
{
	struct str kind = json_find_str(o, "kind");
	enum summary_news news;
	enum act_then then;
	enum reason reason;
	struct err ignored;

	activity_next_record(d);
	if (!str_is(json_find_str(o, "event"), "decision"))
		return;
	if (str_is(kind, "read") || str_is(kind, "write")) {
		take_path(d, o, str_is(kind, "write"));
		return;
	}
	if (summary_add(d->refused, o, &news, &ignored) < 0)
		return;
	d->decisions++;
	if (!then_of(o, &then, &reason))
		return;
	if (str_is(kind, "resolve"))
		take_question(d, o, then, reason);
	else
		take_flow(d, o, str_is(kind, "request"), then, reason);
}

void activity_record(struct activity *d, struct str line)
{
	cJSON *o = cJSON_ParseWithLength(line.p, line.n);

	d->has_decisions = true;
	activity_add_decision(d, o);
	if (d->observe)
		d->observe(d->observe_ctx, o);
	cJSON_Delete(o);
}

static int take_part(struct activity *d, const char *path, struct err *err)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int rc = 0;

	if (!f)
		return err_errno(err, path);
	while ((n = getline(&line, &room, f)) > 0)
		activity_record(d, (struct str){line, (size_t)n});
	if (ferror(f))
		rc = err_set(err, -EIO, "%s: cannot be read", path);
	free(line);
	fclose(f);
	return rc;
}

/* Of the session's own plan; empty where that is not kept. */
static struct str planned(struct activity *d, const char *dir, const char *name)
{
	struct str text = STR("");
	struct err ignored;

	if (fileio_read(d->a, AT_FDCWD,
			arena_fmt(d->a, "%s/plan/%s", dir, name).p,
			LIMIT_PLAN_BYTES, &text, &ignored) < 0)
		return STR("");
	return text;
}

int activity_decisions(struct activity *d, const char *dir, struct err *err)
{
	unsigned part = 0;
	int rc;

	d->paths = refusals_new(
		d->a, planned(d, dir, PLAN_MOUNTS),
		written_read(d->a, planned(d, dir, PLAN_PROVENANCE)));
	do
		rc = take_part(d, decisions_path(d->a, dir, part++), err);
	while (rc == 0);
	d->has_decisions = part > 1;
	return rc == -ENOENT && d->has_decisions ? 0 : rc;
}
