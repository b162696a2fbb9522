/*
 * What a trace tells of and no decision has, as requests.
 */
#include "compiler/cli/account/parts.h"

#include "compiler/algebra/decide/ask.h"
#include "compiler/base/json.h"
#include "compiler/base/standin_nets.h"
#include "compiler/ir/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#define TYPE_STREAM 1

/* What was asked about may have been permitted, or not. */
static enum act_then then_of(enum verdict v)
{
	switch (v) {
	case VERDICT_DENY:
		return ACT_REFUSED;
	case VERDICT_ASK:
		return ACT_UNKNOWN;
	case VERDICT_ALLOW:
		return ACT_ALLOWED;
	}
	abort();
}

/*
 * What became of it: the session's own policy knows, if that is known. It says
 * the same each time, and most of what is done is done again.
 */
static void add_event(struct activity *d, const struct ir_request *r,
		      const struct ir_policy *p,
		      const struct decide_files *files)
{
	struct decision was = {.verdict = VERDICT_ALLOW};
	struct str text;
	uint32_t *at;
	struct act *x;

	if (d->is_unlisted)
		return;
	text = ir_request_text(activity_scratch(d), r);
	at = activity_slot(
		d, arena_fmt(activity_scratch(d), "?%.*s", STR_ARG(text)),
		true);
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
	x = activity_add(d, r, p ? then_of(was.verdict) : ACT_UNKNOWN,
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

/* It stands for a name that is asked about, or goes by a proxy: what became of
 * that the gate tells by the name. */
static bool is_stand_in(const struct activity *d, const struct ir_policy *p,
			const struct addr *addr)
{
	return d->has_decisions && p && (p->ask.n || p->upstream.set) &&
	       standin_nets_have(addr);
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
	    activity_slot(d, activity_flow_key(d, &r), false) ||
	    is_stand_in(d, p, &r.addr))
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

struct str activity_path(const struct activity *d, struct str path)
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

	r.path = activity_path(d, path);
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
