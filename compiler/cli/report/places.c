/*
 * Where a session went, by destination: the gate's decisions, and whose
 * connections the trace saw.
 */
#include "compiler/cli/report/parts.h"

#include "compiler/base/ascii.h"
#include "compiler/base/json.h"

#include <stdlib.h>

#define REQUEST_BYTES 200u

void places_init(struct places *p, struct arena *a)
{
	*p = (struct places){.a = a};
	p->keys.a = p->ends.a = p->words.a = a;
}

static struct goal *place_at(struct places *p, struct str who, bool is_name,
			     struct str proto, uint16_t port)
{
	struct arena *scratch = arena_new();
	struct str key = arena_fmt(scratch, "%.*s %u %.*s", STR_ARG(proto),
				   port, STR_ARG(who));
	uint32_t i = texts_index(&p->keys, key, true);

	arena_free(scratch);
	if (!i)
		return NULL;
	if (i > p->v.n) {
		key = p->keys.v.v[i - 1];
		*vec_push(p->a, &p->v) = (struct goal){
			.who = str_slice(key, key.n - who.n, key.n),
			.is_name = is_name,
			.proto = str_slice(key, 0, proto.n),
			.port = port};
	}
	return &p->v.v[i - 1];
}

static uint32_t end_index(struct places *p, struct str proto, struct str addr,
			  uint16_t port, bool add)
{
	struct arena *scratch = arena_new();
	uint32_t i = texts_index(&p->ends,
				 arena_fmt(scratch, "%.*s %.*s %u",
					   STR_ARG(proto), STR_ARG(addr), port),
				 add);

	arena_free(scratch);
	return i;
}

static void note_end(struct places *p, const struct goal *x, struct str addr)
{
	uint32_t i = end_index(p, x->proto, addr, x->port, true);

	if (!i)
		return;
	if (i > p->by_end.n)
		*vec_push(p->a, &p->by_end) = 0;
	p->by_end.v[i - 1] = (uint32_t)(x - p->v.v) + 1;
}

/* --- decisions ------------------------------------------------------------ */

static void note_request(struct places *p, struct goal *x, const cJSON *o,
			 bool allow, uint64_t n)
{
	struct str method = json_find_str(o, "method"),
		   path = json_find_str(o, "path");
	struct arena *scratch = arena_new();
	struct str text = texts_cut(
		scratch,
		arena_fmt(scratch, "%.*s %.*s", STR_ARG(method),
			  STR_ARG(str_slice(path, 0, str_find(path, '?', 0)))),
		REQUEST_BYTES);
	uint32_t i = 0;

	while (i < x->requests && (x->request[i].allow != allow ||
				   !str_eq(x->request[i].text, text)))
		i++;
	if (i == PLACE_REQUESTS) {
		x->more_requests += n;
	} else {
		if (!x->request)
			x->request = arena_alloc(
				p->a, PLACE_REQUESTS * sizeof(*x->request));
		if (i == x->requests)
			x->request[x->requests++] = (struct goal_request){
				arena_str(p->a, text), allow, 0};
		x->request[i].n += n;
	}
	arena_free(scratch);
}

static void note_verdict(struct places *p, struct goal *x, const cJSON *o,
			 bool allow, uint64_t n)
{
	struct str source = json_find_str(o, "source");

	if (allow)
		x->allowed += n;
	else
		x->refused += n;
	if (!allow && x->reason.n == 0)
		texts_keep(&p->words, json_find_str(o, "reason"), &x->reason);
	if (source.n)
		texts_keep(&p->words, source, &x->source);
	if (source.n)
		x->line = json_find_u64(o, "line", UINT32_MAX);
}

/* A flow that ended: its decision came when it began. */
static void take_end(struct places *p, const cJSON *o)
{
	uint32_t i = end_index(
		p, json_find_str(o, "proto"), json_find_str(o, "addr"),
		(uint16_t)json_find_u64(o, "port", UINT16_MAX), false);
	struct goal *x = i ? &p->v.v[p->by_end.v[i - 1] - 1] : NULL;

	if (!x)
		return;
	x->sent += json_find_u64(o, "sent", JSON_WHOLE_MAX);
	x->received += json_find_u64(o, "received", JSON_WHOLE_MAX);
}

static void take_decision(struct places *p, const cJSON *o, struct str kind)
{
	struct str name = json_find_str(o, "name"),
		   addr = json_find_str(o, "addr"),
		   proto = json_find_str(o, "proto");
	bool allow = str_is(json_find_str(o, "verdict"), "allow");
	bool asked = str_is(kind, "resolve");
	uint64_t n = json_find_u64(o, "count", UINT32_MAX);
	struct goal *x;

	if (name.n && name.p[name.n - 1] == '.')
		name.n--;
	x = place_at(p, name.n ? name : addr, name.n > 0,
		     asked     ? STR("")
		     : proto.n ? proto
			       : STR("tcp"),
		     asked ? 0
			   : (uint16_t)json_find_u64(o, "port", UINT16_MAX));
	if (!x)
		return;
	n = n ? n : 1;
	note_verdict(p, x, o, allow, n);
	if (!asked && addr.n)
		note_end(p, x, addr);
	if (json_find_str(o, "method").n)
		note_request(p, x, o, allow, n);
	x->sent += json_find_u64(o, "sent", JSON_WHOLE_MAX);
	x->received += json_find_u64(o, "received", JSON_WHOLE_MAX);
}

void places_decision(struct places *p, const cJSON *o)
{
	struct str event = json_find_str(o, "event"),
		   kind = json_find_str(o, "kind");

	if (str_is(event, "end")) {
		take_end(p, o);
		return;
	}
	if (!str_is(event, "decision") || str_is(kind, "read") ||
	    str_is(kind, "write"))
		return;
	p->decisions++;
	take_decision(p, o, kind);
}

/* --- the trace ------------------------------------------------------------ */

static void note_program(struct places *p, struct goal *x, struct str comm)
{
	uint32_t i;

	if (comm.n == 0) /* the gate tells of a question, not whose it is */
		return;
	for (i = 0; i < x->programs; i++)
		if (str_eq(x->program[i], comm))
			return;
	i = x->programs < PLACE_PROGRAMS ? texts_index(&p->words, comm, true)
					 : 0;
	if (i)
		x->program[x->programs++] = p->words.v.v[i - 1];
	else
		x->more_programs = true;
}

/* An answer that the gate refused, or a question: whom it is about. */
static struct goal *asked_place(struct places *p, struct str name)
{
	struct goal *x = NULL;
	struct arena *scratch = arena_new();
	uint32_t i;

	name = ascii_lower(scratch, name);
	if (name.n && name.p[name.n - 1] == '.')
		name.n--;
	i = texts_index(&p->keys, arena_fmt(scratch, " 0 %.*s", STR_ARG(name)),
			false);
	if (i)
		x = &p->v.v[i - 1];
	arena_free(scratch);
	return x;
}

static struct goal *flow_place(struct places *p, const struct trace_event *e,
			       struct str proto)
{
	struct trace_object o = trace_object(e);
	struct addr parsed;
	struct goal *x;
	uint32_t i;

	if (o.port == 0)
		return NULL;
	i = end_index(p, proto, o.addr, o.port, false);
	if (i)
		return &p->v.v[p->by_end.v[i - 1] - 1];
	/* What the gate did not see went nowhere. */
	if (p->decisions || !addr_parse(o.addr, &parsed) ||
	    addr_scope(&parsed) == ADDR_NEVER)
		return NULL;
	x = place_at(p, o.addr, false, proto, o.port);
	if (x)
		x->unknown++;
	return x;
}

uint32_t places_event(struct places *p, const struct trace_event *e)
{
	struct goal *x = NULL;

	switch (trace_kind(e)) {
	case TRACE_CONNECT:
		x = flow_place(p, e, STR("tcp"));
		if (!x)
			x = flow_place(p, e, STR("udp"));
		break;
	case TRACE_SEND:
		x = flow_place(p, e, STR("udp"));
		break;
	case TRACE_DNS:
		x = asked_place(p, trace_object(e).name);
		break;
	case TRACE_EXEC:
	case TRACE_FORK:
	case TRACE_EXIT:
	case TRACE_FILE:
	case TRACE_LISTEN:
	case TRACE_ATTEMPT:
	case TRACE_ITSELF:
	case TRACE_OTHER:
	case TRACE_KINDS:
		break;
	}
	if (!x)
		return 0;
	/* That one may ask says less than where one went. */
	if (x->port == 0 && x->refused == 0)
		return 0;
	note_program(p, x, e->comm);
	return (uint32_t)(x - p->v.v) + 1;
}

/* --- in order ------------------------------------------------------------- */

static int by_weight(const void *va, const void *vb)
{
	const struct goal *a = *(const struct goal *const *)va,
			  *b = *(const struct goal *const *)vb;
	uint64_t wa = a->sent + a->received, wb = b->sent + b->received;
	bool ra = a->allowed || a->unknown, rb = b->allowed || b->unknown;

	if (ra != rb)
		return ra ? -1 : 1;
	if (wa != wb)
		return wa > wb ? -1 : 1;
	wa = a->allowed + a->refused + a->unknown;
	wb = b->allowed + b->refused + b->unknown;
	if (wa != wb)
		return wa > wb ? -1 : 1;
	return str_cmp(a->who, b->who);
}

/* Was it reached, or refused, by a port as well? Then that says more. */
static bool is_beside(struct texts *flows, const struct goal *x)
{
	return x->port == 0 && x->proto.n == 0 &&
	       texts_index(flows, x->who, false);
}

void places_sorted(const struct places *p, place_list *out)
{
	struct texts *flows = arena_new_of(p->a, struct texts);

	flows->a = p->a;
	vec_each(x, &p->v)
		if (x->proto.n)
			texts_index(flows, x->who, true);
	vec_each(x, &p->v)
		if (!is_beside(flows, x))
			*vec_push(p->a, out) = x;
	vec_sort(out, by_weight);
}

struct str place_text(struct arena *a, const struct goal *p)
{
	bool v6 = !p->is_name && str_find(p->who, ':', 0) < p->who.n;

	if (p->port == 0)
		return p->who;
	return arena_fmt(a, v6 ? "[%.*s]:%u" : "%.*s:%u", STR_ARG(p->who),
			 p->port);
}
