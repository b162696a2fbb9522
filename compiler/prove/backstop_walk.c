/*
 * networkpolicy.yaml against the policy: every cell of addresses, ports and
 * Pods. What may leave has to be let out; and of what is let out each packet
 * is one that may leave, or that nothing but a denial of names or of requests
 * keeps back, since that language has neither. The same of what comes in,
 * where there is nothing that it could not say.
 */
#include "compiler/prove/parts.h"

#include "compiler/base/buf.h"
#include "compiler/ir/ports.h"
#include "compiler/ir/published.h"
#include "compiler/plan/files.h"
#include "compiler/plan/kubernetes_json.h"

#define PORT_DNS  53
#define ENDS_MAX  8u
#define NAMES_FOR ", as an address of "

static const uint32_t protos[] = {BACKSTOP_TCP, BACKSTOP_UDP, BACKSTOP_SCTP};

/* Another Pod. */
struct other {
	const char *what;
	const backstop_labels *labels;
	bool elsewhere;
};

struct walk {
	struct proof *p;
	struct proof
		*wide; /* its policy without denials of names and requests */
	struct backstop policies;
	backstop_labels agent, gate; /* of the Pods; gate: where it has one */
	struct other others[ENDS_MAX];
	size_t n_others;
	const struct name_cell *
		*open[2]; /* names that may lead to an address */
	uint32_t n_open[2];
};

/* --- what the policy says --------------------------------------------------
 */

bool backstop_publishes(const struct proof *p, uint32_t port)
{
	struct ir_published x;

	vec_each(t, &p->in->policy->ports)
		if (!published_parse(t->s, &x) && x.to == port)
			return true;
	return false;
}

/* Is it what that language has no word for? */
static bool is_unsayable(const struct ir_grant *d)
{
	return ir_grant_http(d) ||
	       (d->dest.kind != IR_DEST_CIDR && d->dest.kind != IR_DEST_ANY);
}

/* The same proof, of the policy without them. */
static void widen_policy(struct walk *w)
{
	struct arena *a = w->p->a;
	struct ir_policy *policy = arena_new_of(a, struct ir_policy);
	struct prove_in *in = arena_new_of(a, struct prove_in);

	*policy = *w->p->in->policy;
	policy->deny = (ir_grants){0};
	vec_each(d, &w->p->in->policy->deny)
		if (!is_unsayable(d))
			*vec_push(a, &policy->deny) = *d;
	*in = *w->p->in;
	in->policy = policy;
	w->wide = arena_new_of(a, struct proof);
	*w->wide = *w->p;
	w->wide->in = in;
	proof_add_yes(w->wide);
}

static bool has_names(const struct ir_policy *p)
{
	vec_each(g, &p->allow)
		if (!ir_dest_net(&g->dest))
			return true;
	vec_each(g, &p->ask)
		if (!ir_dest_net(&g->dest))
			return true;
	return false;
}

/* Which names lead to an address, by the policy and by the wider one. */
static void find_open(struct walk *w, const struct spot *to)
{
	const struct proof *both[] = {w->p, w->wide};

	for (int i = 0; i < 2; i++) {
		w->n_open[i] = 0;
		vec_each(n, &w->p->names)
			if (!n->machine &&
			    answers_opens(both[i], n->name, &to->addr))
				w->open[i][w->n_open[i]++] = n;
	}
}

/* The gate's own questions. */
static bool asks_there(const struct walk *w, bool wide, const struct addr *to,
		       uint16_t port)
{
	const struct ir_resolver *r = &w->p->in->policy->resolver.v;

	if (r->host || !addr_eq(&r->addr, to) || r->port != port)
		return false;
	if (wide)
		return has_names(w->p->in->policy);
	vec_each(n, &w->p->names)
		if (answers_asks(n))
			return true;
	return false;
}

/* May a packet leave for there, by whatever name or by none? */
static bool may_leave(const struct walk *w, bool wide, const struct spot *to,
		      uint32_t proto, uint16_t port, struct decision *out)
{
	const struct proof *p = wide ? w->wide : w->p;
	struct decide_flow q = {.proto = proto == BACKSTOP_TCP ? IR_PROTO_TCP
							       : IR_PROTO_UDP,
				.port = port,
				.has_addr = true,
				.addr = to->addr};
	struct decision named;

	*out = (struct decision){.reason = REASON_PROTOCOL};
	if (proto == BACKSTOP_SCTP)
		return false;
	if (walk_leaves(p, &q, out) || asks_there(w, wide, &to->addr, port))
		return true;
	for (uint32_t i = 0; i < w->n_open[wide]; i++) {
		q.name = w->open[wide][i]->name;
		if (walk_leaves(p, &q, &named)) {
			*out = named;
			return true;
		}
	}
	return false;
}

/* The ports of a gate in a Pod of its own: its resolver's, and those of what is
 * granted, which is TCP. */
static bool is_gates_port(const struct walk *w, uint32_t proto, uint16_t port)
{
	if (port == PORT_DNS)
		return proto != BACKSTOP_SCTP;
	if (proto != BACKSTOP_TCP)
		return false;
	vec_each(g, &w->p->in->policy->allow)
		if (ports_has(&g->ports, IR_PROTO_TCP, port))
			return true;
	return false;
}

/* --- what is said where they differ ----------------------------------------
 */

static const char *proto_name(uint32_t proto)
{
	return proto == BACKSTOP_TCP   ? "tcp"
	       : proto == BACKSTOP_UDP ? "udp"
				       : "sctp";
}

static struct str line_at(struct str text, uint32_t number)
{
	struct str line = {0};

	for (uint32_t i = 0; i < number; i++)
		if (!str_line(&text, &line))
			return (struct str){0};
	return line;
}

static bool differs(struct walk *w, struct str subject,
		    const struct decision *d, struct str wanted,
		    const struct backstop_said *got)
{
	struct prove_out *o = w->p->out;

	o->end = PROVE_DIFFERS;
	o->subject = subject;
	o->want = *d;
	o->wanted = wanted;
	o->got = got->lets ? STR("let through") : STR("kept back");
	o->by = (struct prove_line){
		PLAN_NETWORKPOLICY, got->line,
		str_trim(line_at(w->p->in->pods->network, got->line))};
	w->p->done = true;
	return false;
}

static struct str wanted_text(struct arena *a, bool may,
			      const struct decision *d)
{
	if (may)
		return d->verdict == VERDICT_ASK ? STR("asked about")
		       : d->reason == REASON_NOT_HTTP
			       ? STR("permitted where HTTP or TLS say so")
			       : STR("permitted");
	return arena_fmt(a, "denied (%s)", reason_name(d->reason));
}

/* --- addresses -------------------------------------------------------------
 */

struct shot {
	const char *pod; /* whose */
	const backstop_labels *labels;
	uint32_t proto;
	uint16_t port;
};

static struct str sent_text(struct arena *a, const struct shot *s,
			    const struct addr *to, const struct str name)
{
	char text[ADDR_TEXT_MAX];
	struct buf b;

	buf_init(&b, a);
	buf_addf(&b,
		 to->family == ADDR_V6 ? "%s [%s]:%u, sent by the %s's Pod"
				       : "%s %s:%u, sent by the %s's Pod",
		 proto_name(s->proto), addr_text(to, text), s->port, s->pod);
	if (name.n)
		buf_addf(&b, NAMES_FOR "%.*s", STR_ARG(name));
	return buf_str(&b);
}

/* Of a name that leads there, if it has to be one. */
static struct str name_of(const struct walk *w, const struct spot *to,
			  const struct shot *s)
{
	struct decide_flow q = {
		.proto = s->proto == BACKSTOP_TCP ? IR_PROTO_TCP : IR_PROTO_UDP,
		.port = s->port,
		.has_addr = true,
		.addr = to->addr};
	struct decision d;

	if (walk_leaves(w->p, &q, &d) ||
	    asks_there(w, false, &to->addr, s->port))
		return (struct str){0};
	for (uint32_t i = 0; i < w->n_open[0]; i++) {
		q.name = w->open[0][i]->name;
		if (walk_leaves(w->p, &q, &d))
			return q.name;
	}
	return (struct str){0};
}

static bool compare_sent(struct walk *w, const struct spot *to,
			 const struct shot *s, bool filtered)
{
	struct backstop_end end = {.addr = &to->addr};
	struct backstop_said got = backstop_says(
		&w->policies, s->labels, BACKSTOP_OUT, &end, s->proto, s->port);
	struct decision d = {.reason = REASON_NO_GRANT}, wider;
	bool must = filtered && may_leave(w, false, to, s->proto, s->port, &d);

	w->p->out->cells++;
	if (must == got.lets ||
	    (filtered && got.lets &&
	     may_leave(w, true, to, s->proto, s->port, &wider)))
		return true;
	return differs(w,
		       sent_text(w->p->a, s, &to->addr,
				 must ? name_of(w, to, s) : (struct str){0}),
		       &d, wanted_text(w->p->a, must, &d), &got);
}

/* published: what leads to the agent has a port of its own. */
static bool compare_received(struct walk *w, const struct spot *from,
			     const struct shot *s, bool published)
{
	struct backstop_end end = {.addr = &from->addr};
	struct backstop_said got = backstop_says(
		&w->policies, s->labels, BACKSTOP_IN, &end, s->proto, s->port);
	bool want = published && s->proto == BACKSTOP_TCP &&
		    backstop_publishes(w->p, s->port);
	char text[ADDR_TEXT_MAX];

	w->p->out->cells++;
	if (want == got.lets)
		return true;
	return differs(
		w,
		arena_fmt(w->p->a, "%s port %u, sent to the %s's Pod by %s",
			  proto_name(s->proto), s->port, s->pod,
			  addr_text(&from->addr, text)),
		&(struct decision){.reason = REASON_NO_GRANT},
		want ? STR("published") : STR("nothing comes in there"), &got);
}

/* --- Pods ------------------------------------------------------------------
 */

static bool is_pod(const struct other *o, const backstop_labels *labels)
{
	return o->labels == labels && !o->elsewhere;
}

/* What one of our two Pods may send another: nothing, but to its gate. */
static bool wants_pod(const struct walk *w, const struct shot *s,
		      enum backstop_way way, const struct other *o)
{
	if (!w->p->in->pods->apart)
		return way == BACKSTOP_IN && s->proto == BACKSTOP_TCP &&
		       backstop_publishes(w->p, s->port);
	if (!is_gates_port(w, s->proto, s->port))
		return false;
	return way == BACKSTOP_OUT
		       ? s->labels == &w->agent && is_pod(o, &w->gate)
		       : s->labels == &w->gate && is_pod(o, &w->agent);
}

static bool compare_pods(struct walk *w, const struct shot *s)
{
	for (size_t i = 0; i < w->n_others * BACKSTOP_WAYS; i++) {
		enum backstop_way way = i % BACKSTOP_WAYS;
		const struct other *o = &w->others[i / BACKSTOP_WAYS];
		struct backstop_end end = {.pod = o->labels,
					   .elsewhere = o->elsewhere};
		struct backstop_said got = backstop_says(
			&w->policies, s->labels, way, &end, s->proto, s->port);
		bool want = wants_pod(w, s, way, o);

		w->p->out->cells++;
		if (want == got.lets)
			continue;
		return differs(
			w,
			arena_fmt(w->p->a,
				  "%s port %u, sent %s the %s's Pod %s %s",
				  proto_name(s->proto), s->port,
				  way == BACKSTOP_OUT ? "by" : "to", s->pod,
				  way == BACKSTOP_OUT ? "to" : "by", o->what),
			&(struct decision){.reason = REASON_NO_GRANT},
			want ? STR("permitted") : STR("nothing permits it"),
			&got);
	}
	return true;
}

/* A Pod of somebody else's is none of what these are about. */
static bool compare_stranger(struct walk *w, const backstop_labels *like)
{
	backstop_labels labels = {0};

	vec_each(l, like) {
		struct backstop_label *mine = vec_push(w->p->a, &labels);

		*mine = *l;
		if (str_is(l->key, KUBE_PLAN_LABEL))
			mine->value = STR("0");
	}
	vec_each(x, &w->policies.policies) {
		struct backstop_said got = {.line = x->line};

		w->p->out->cells++;
		if (!backstop_selects(x, &labels))
			continue;
		return differs(w, STR("a Pod of another plan"),
			       &(struct decision){.reason = REASON_NO_GRANT},
			       STR("no business of this one's"), &got);
	}
	return true;
}

/* --- all of it -------------------------------------------------------------
 */

/* filtered: what the gate lets out leaves by this Pod. */
static bool compare_pod(struct walk *w, const char *name,
			const backstop_labels *labels, bool filtered)
{
	bool published = !w->p->in->pods->apart;
	struct addr v4;

	vec_each(spot, &w->p->spots) {
		if (addr_mapped(&spot->addr, &v4))
			continue; /* no packet's address: RFC 4038, 4.2 */
		find_open(w, spot);
		vec_each(x, &w->p->ports)
			for (size_t i = 0; i < ARRAY_LEN(protos); i++) {
				struct shot s = {name, labels, protos[i],
						 x->port};

				if (!compare_sent(w, spot, &s, filtered) ||
				    !compare_received(w, spot, &s, published))
					return false;
			}
	}
	vec_each(x, &w->p->ports)
		for (size_t i = 0; i < ARRAY_LEN(protos); i++) {
			struct shot s = {name, labels, protos[i], x->port};

			if (!compare_pods(w, &s))
				return false;
		}
	return compare_stranger(w, labels);
}

static void add_others(struct walk *w)
{
	static const backstop_labels none;
	const struct other all[] = {
		{"a Pod without labels", &none, false},
		{w->p->in->pods->apart ? "the agent's Pod"
				       : "a Pod of the same plan",
		 &w->agent, false},
		{"a Pod of another namespace", &none, true},
		{"such a Pod of another namespace", &w->agent, true},
		{"the gate's Pod", &w->gate, false},
		{"a gate's Pod of another namespace", &w->gate, true},
	};

	w->n_others =
		w->p->in->pods->apart ? ARRAY_LEN(all) : ARRAY_LEN(all) - 2;
	for (size_t i = 0; i < w->n_others; i++)
		w->others[i] = all[i];
}

static bool unreadable(struct proof *p, const char *file, struct str text,
		       const struct manifest_fault *fault)
{
	struct prove_out *o = p->out;

	o->end = PROVE_UNREADABLE;
	o->got = text.n ? fault->what : STR("it is empty, or not there");
	o->by = (struct prove_line){file, text.n ? fault->line : 0,
				    str_trim(line_at(text, fault->line))};
	p->done = true;
	return false;
}

static bool read_manifests(struct walk *w)
{
	const struct prove_pods *in = w->p->in->pods;
	struct manifest_fault fault = {0};
	struct arena *a = w->p->a;

	if (!in->network.n ||
	    !backstop_read(a, in->network, &w->policies, &fault))
		return unreadable(w->p, PLAN_NETWORKPOLICY, in->network,
				  &fault);
	if (!in->pod.n || !backstop_pod(a, in->pod, &w->agent, &fault))
		return unreadable(w->p, PLAN_POD, in->pod, &fault);
	if (in->apart &&
	    (!in->gate.n || !backstop_pod(a, in->gate, &w->gate, &fault)))
		return unreadable(w->p, PLAN_GATE_POD, in->gate, &fault);
	return true;
}

static bool compare_all(struct walk *w)
{
	uint64_t n = (uint64_t)w->p->spots.n * w->p->ports.n *
		     ARRAY_LEN(protos) * 2 * (2 + 2 * w->p->names.n);

	if (!proof_bounded(w->p, "cells of networkpolicy.yaml", n,
			   PROVE_CELLS_MAX * 4))
		return false;
	if (!w->p->in->pods->apart)
		return compare_pod(w, "agent", &w->agent, true);
	return compare_pod(w, "agent", &w->agent, false) &&
	       compare_pod(w, "gate", &w->gate, true);
}

bool backstop_prove(struct proof *p)
{
	struct prove_out out = {.end = PROVE_AGREES, .scope = p->out->scope};
	/* Cells of its own: no line of ruleset.nft is asked here. */
	struct proof q = {.a = p->a,
			  .in = p->in,
			  .out = &out,
			  .map = p->map,
			  .effects = p->effects,
			  .n_grants = p->n_grants,
			  .grants = p->grants,
			  .names = p->names,
			  .with = p->with,
			  .machine = p->machine,
			  .gate = {p->gate[0], p->gate[1]},
			  .agent = {p->agent[0], p->agent[1]}};
	struct walk w = {.p = &q};
	bool ok = read_manifests(&w);

	q.backstop = &w.policies;
	for (int i = 0; i < 2; i++)
		w.open[i] = arena_array(p->a, p->names.n + 1,
					sizeof(const struct name_cell *));
	if (ok && space_spots(&q) && space_ports(&q)) {
		widen_policy(&w);
		add_others(&w);
		ok = compare_all(&w);
	}
	ok = ok && !q.done;
	p->out->backstop_cells = out.cells;
	out.cells += p->out->cells;
	out.backstop_cells = p->out->backstop_cells;
	out.addresses = p->out->addresses;
	out.ports = p->out->ports;
	out.names = p->out->names;
	*p->out = out;
	p->done = !ok;
	return ok;
}
