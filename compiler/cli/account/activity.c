#include "compiler/cli/account/activity.h"

#include "compiler/cli/account/parts.h"

#include "compiler/base/hash.h"
#include "compiler/cli/workspace/grantable.h"

#include "compiler/algebra/decide/ask.h"
#include "compiler/base/ascii.h"
#include "compiler/base/json.h"
#include "compiler/base/limits.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/ir/text.h"
#include "compiler/plan/files.h"
#include "compiler/plan/view_hello.h"
#include "runtime/launch/session/decisions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS		(8 * ACTIVITY_MAX)
#define TYPE_STREAM	1
#define SCRATCH_RECORDS 512u /* whose leavings are let go of together */

/* Texts and a number for each: deeds, flows that were decided, addresses. */
struct activity_index {
	struct {
		struct str text;
		uint32_t value;
	} slot[SLOTS];
	uint32_t used;
	struct arena *scratch; /* of the record at hand */
	unsigned records;
};

void activity_init(struct activity *d, struct arena *a)
{
	*d = (struct activity){
		.a = a,
		.refused = summary_new(a, grantable),
		.paths = refusals_new(a, STR(""), written_read(a, STR(""))),
		.index = arena_new_of(a, struct activity_index)};
}

void activity_mounted(struct activity *d, const char *path)
{
	*vec_push(d->a, &d->mounted) = arena_fmt(d->a, "%s/", path);
}

struct arena *activity_scratch(struct activity *d)
{
	struct activity_index *x = d->index;

	if (!x->scratch)
		x->scratch = arena_new();
	return x->scratch;
}

void activity_next_record(struct activity *d)
{
	struct activity_index *x = d->index;

	if (++x->records < SCRATCH_RECORDS)
		return;
	arena_free(x->scratch);
	x->scratch = NULL;
	x->records = 0;
}

uint32_t *activity_slot(struct activity *d, struct str text, bool add)
{
	struct activity_index *x = d->index;
	uint64_t h = hash64_bytes(HASH64_SEED, text.p, text.n);

	for (h %= SLOTS; x->slot[h].text.p; h = (h + 1) % SLOTS)
		if (str_eq(x->slot[h].text, text))
			return &x->slot[h].value;
	if (!add || x->used >= SLOTS / 2)
		return NULL;
	x->used++;
	x->slot[h].text = arena_str(d->a, text);
	return &x->slot[h].value;
}

/* --- requests ------------------------------------------------------------- */

struct act *activity_add(struct activity *d, const struct ir_request *r,
			 enum act_then then, enum reason reason)
{
	struct str text = ir_request_text(activity_scratch(d), r);
	uint32_t *at = activity_slot(
		d,
		arena_fmt(activity_scratch(d), "%d%.*s", then, STR_ARG(text)),
		d->v.n < ACTIVITY_MAX);
	struct act *x;

	if (!at) {
		d->beyond++;
		return NULL;
	}
	if (*at == 0) {
		x = vec_push(d->a, &d->v);
		*at = d->v.n;
		*x = (struct act){.r = *r,
				  .text = arena_str(d->a, text),
				  .then = then,
				  .reason = reason,
				  .order = d->v.n};
		x->r.name = arena_str(d->a, r->name);
		x->r.method = arena_str(d->a, r->method);
		x->r.url.name = arena_str(d->a, r->url.name);
		x->r.url.path = arena_str(d->a, r->url.path);
		x->r.type = arena_str(d->a, r->type);
		x->r.path = arena_str(d->a, r->path);
	}
	x = &d->v.v[*at - 1];
	x->n++;
	return x;
}

struct str act_who(struct arena *a, const struct act *d)
{
	char text[ADDR_TEXT_MAX];

	switch (d->r.kind) {
	case IR_REQ_CONNECT:
		if (d->r.name.n)
			return d->r.name;
		return arena_str(a, str_of(addr_text(&d->r.addr, text)));
	case IR_REQ_RESOLVE:
		return d->r.name;
	case IR_REQ_HTTP:
		if (d->r.url.who != IR_DEST_CIDR)
			return d->r.url.name;
		return arena_str(a,
				 str_of(addr_text(&d->r.url.net.addr, text)));
	case IR_REQ_READ:
	case IR_REQ_WRITE:
	case IR_REQ_ARG:
		break;
	}
	return STR("");
}

static bool is_file(const struct act *d)
{
	return d->r.kind == IR_REQ_READ || d->r.kind == IR_REQ_WRITE;
}

static int by_text(const void *va, const void *vb)
{
	const struct act *a = va, *b = vb;
	int c = is_file(a) - is_file(b);

	c = c ? c : str_cmp(a->text, b->text);
	return c ? c : (int)a->then - (int)b->then;
}

struct str activity_name_behind(struct activity *d, struct str addr)
{
	uint32_t *at = activity_slot(
		d, arena_fmt(activity_scratch(d), "=%.*s", STR_ARG(addr)),
		false);

	return at && *at ? d->v.v[*at - 1].r.name : STR("");
}

/* A trace tells of an answer later than of the connection that uses it. */
static void name_the_rest(struct activity *d)
{
	char text[ADDR_TEXT_MAX];

	vec_each(x, &d->v) {
		if (x->r.kind != IR_REQ_CONNECT || x->r.name.n)
			continue;
		activity_next_record(d);
		x->r.name = activity_name_behind(
			d, str_of(addr_text(&x->r.addr, text)));
		if (x->r.name.n)
			x->text = arena_str(
				d->a,
				ir_request_text(activity_scratch(d), &x->r));
	}
}

/* What has become the same by that. */
static void unite_acts(struct activity *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->v.n; i++) {
		struct act *x = &d->v.v[i], *last = &d->v.v[n - 1];

		if (n && last->then == x->then && str_eq(last->text, x->text)) {
			last->n += x->n;
			last->unseen += x->unseen;
			continue;
		}
		d->v.v[n++] = *x;
	}
	d->v.n = n;
}

void activity_sort(struct activity *d)
{
	if (!d->has_decisions)
		name_the_rest(d);
	vec_sort(&d->v, by_text);
	unite_acts(d);
	arena_free(d->index->scratch);
	d->index->scratch = NULL;
}

/* --- decisions ------------------------------------------------------------ */

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
	case REASON_UPSTREAM:
	case REASON_HANDSHAKE:
	case REASON_GRANTED: /* permitted; it failed further on */
		*out = ACT_ALLOWED;
		return true;
	case REASON_NO_GRANT:
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
	struct act *x;

	c.has_addr = addr_parse(json_find_str(o, "addr"), &c.addr);
	if (c.port == 0 || !c.has_addr || addr_scope(&c.addr) == ADDR_NEVER)
		return;
	activity_slot(d, activity_flow_key(d, &c), true);
	if (seen) {
		struct ir_request r = url_of(&c, tls, method, path);

		activity_add(d, &r, then, reason);
	}
	/* Of a request that was refused, the connection may have been fine. */
	if (seen && then == ACT_REFUSED)
		return;
	x = activity_add(d, &c, then, reason);
	/* What failed tells not whether it would have been looked into. */
	if (x && reason == REASON_GRANTED)
		x->unseen += !seen;
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

static int take_part(struct activity *d, const char *path, struct err *err)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int rc = 0;

	if (!f)
		return err_errno(err, path);
	while ((n = getline(&line, &room, f)) > 0) {
		cJSON *o = cJSON_ParseWithLength(line, (size_t)n);

		activity_add_decision(d, o);
		cJSON_Delete(o);
	}
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

/* --- the trace ------------------------------------------------------------ */

/*
 * What became of it: the session's own policy knows, if that is known. It says
 * the same each time, and most of what is done is done again.
 */
static void add_event(struct activity *d, const struct ir_request *r,
		      const struct ir_policy *p,
		      const struct decide_files *files)
{
	struct str text = ir_request_text(activity_scratch(d), r);
	uint32_t *at = activity_slot(
		d, arena_fmt(activity_scratch(d), "?%.*s", STR_ARG(text)),
		true);
	struct decision was = {.allow = true};
	struct act *x;

	if (activity_slot(d, activity_told_key(d, text), false))
		return;
	if (at && *at) {
		x = &d->v.v[*at - 1];
		x->n++;
		x->unseen++;
		return;
	}
	if (p)
		was = decide_asked(activity_scratch(d), p, files, r);
	x = activity_add(d, r,
			 !p	     ? ACT_UNKNOWN
			 : was.allow ? ACT_ALLOWED
				     : ACT_REFUSED,
			 was.reason);
	if (!x)
		return;
	x->unseen++;
	if (at)
		*at = x->order;
}

static bool is_stream(const struct trace_event *e)
{
	struct str type = trace_arg(e, "type");

	return type.n == 0 || str_is(type, "SOCK_STREAM") ||
	       trace_number(e, "type", 0) == TYPE_STREAM;
}

static void take_socket(struct activity *d, const struct trace_event *e,
			const struct ir_policy *p,
			const struct decide_files *files, enum ir_proto proto)
{
	struct trace_object o = trace_object(e);
	struct str addr = o.addr, mapped = STR("::ffff:");
	struct ir_request r = {
		.kind = IR_REQ_CONNECT, .proto = proto, .port = o.port};

	if (str_starts(addr, mapped) && str_find(addr, '.', 0) < addr.n)
		addr = str_slice(addr, mapped.n, addr.n);
	r.has_addr = addr_parse(addr, &r.addr);
	if (!r.has_addr || r.port == 0 || addr_scope(&r.addr) == ADDR_NEVER ||
	    activity_slot(d, activity_flow_key(d, &r), false))
		return;
	r.name = activity_name_behind(d, addr);
	add_event(d, &r, p, files);
}

static const struct {
	const char *event, *to; /* to: the argument of a second path */
	bool first_kept, is_folder;
} changes[] = {
	{"security_inode_rename", "new_path", false, false},
	{"rename", "newpath", false, false},
	{"renameat", "newpath", false, false},
	{"renameat2", "newpath", false, false},
	{"link", "newpath", true, false},
	{"linkat", "newpath", true, false},
	{"mkdir", NULL, false, true},
	{"mkdirat", NULL, false, true},
	{"rmdir", NULL, false, true},
};

/* "a/b" for "/workspace/a/b"; empty for what is not the workspace's. */
static struct str in_workspace(const struct activity *d, struct str path)
{
	vec_each(at, &d->mounted)
		if (str_starts(path, *at))
			return str_slice(path, at->n, path.n);
	return STR("");
}

static void add_path(struct activity *d, struct str path, bool is_write,
		     bool is_folder, const struct ir_policy *p,
		     const struct decide_files *files)
{
	struct ir_request r = {.kind = is_write ? IR_REQ_WRITE : IR_REQ_READ};

	r.path = in_workspace(d, path);
	if (r.path.n && is_folder)
		r.path = arena_fmt(activity_scratch(d), "%.*s/",
				   STR_ARG(r.path));
	if (r.path.n)
		add_event(d, &r, p, files);
}

static bool is_opened_to_read(const struct trace_event *e)
{
	int64_t flags = trace_number(e, "flags", 0);

	return (str_is(e->name, "security_file_open") ||
		str_starts(e->name, STR("open"))) &&
	       (flags & O_ACCMODE) == O_RDONLY &&
	       !(flags & (O_CREAT | O_TRUNC));
}

static void take_file(struct activity *d, const struct trace_event *e,
		      const struct ir_policy *p,
		      const struct decide_files *files)
{
	struct str path = trace_object(e).path;
	bool write = !is_opened_to_read(e), folder = false;

	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		if (!str_is(e->name, changes[i].event))
			continue;
		if (changes[i].to)
			add_path(d, trace_arg(e, changes[i].to), true, false, p,
				 files);
		write = !changes[i].first_kept;
		folder = changes[i].is_folder;
	}
	add_path(d, path, write, folder, p, files);
}

/* One address of an answer; an empty one where the name was refused. */
static void take_answer(struct activity *d, const struct trace_event *e,
			struct str addr)
{
	struct str refused = trace_arg(e, "dns_response.refused");
	cJSON *o = json_object();

	json_put_cstr(o, "event", "decision");
	json_put_cstr(o, "kind", "resolve");
	json_put_cstr(o, "verdict", refused.n ? "deny" : "allow");
	json_put_str(o, "reason", refused.n ? refused : STR("granted"));
	json_put_str(o, "name", trace_object(e).name);
	json_put_str(o, "type",
		     trace_arg(e, "dns_response.query_data.query_type"));
	if (addr.n)
		json_put_str(o, "addr", addr);
	activity_add_decision(d, o);
	cJSON_Delete(o);
}

/*
 * Where the gate's decisions are not at hand: what it answered. Of an answer
 * without an address and without a reason nothing is known: the name may be
 * one that nobody has.
 */
static void take_answers(struct activity *d, const struct trace_event *e)
{
	struct addr ignored;

	if (d->has_decisions || !trace_is_answer(e))
		return;
	if (trace_arg(e, "dns_response.refused").n)
		take_answer(d, e, STR(""));
	for (uint32_t i = 0; i < e->n; i++)
		if (str_is(e->leaf[i].key, "dns_response.dns_answer.answer") &&
		    addr_parse(e->leaf[i].text, &ignored))
			take_answer(d, e, e->leaf[i].text);
}

void activity_event(struct activity *d, const struct trace_event *e,
		    const struct ir_policy *p, const struct decide_files *files)
{
	activity_next_record(d);
	/* What failed was not done; a connection may still come about. */
	if (e->ret < 0 && e->ret != -EINPROGRESS)
		return;
	switch (trace_kind(e)) {
	case TRACE_CONNECT:
		/* Of a datagram socket it sends nothing yet. */
		if (is_stream(e))
			take_socket(d, e, p, files, IR_PROTO_TCP);
		return;
	case TRACE_SEND:
		take_socket(d, e, p, files, IR_PROTO_UDP);
		return;
	case TRACE_FILE:
		take_file(d, e, p, files);
		return;
	case TRACE_DNS:
		take_answers(d, e);
		return;
	case TRACE_EXEC:
	case TRACE_FORK:
	case TRACE_EXIT:
	case TRACE_LISTEN:
	case TRACE_ATTEMPT:
	case TRACE_ITSELF:
	case TRACE_OTHER:
	case TRACE_KINDS:
		return;
	}
}
