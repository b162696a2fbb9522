/* Flows that the agent opens: every cell, by the policy and by the packets. */
#include "compiler/prove/parts.h"

#include "compiler/base/buf.h"
#include "compiler/base/name_match.h"
#include "compiler/ir/inspection.h"
#include "compiler/ir/ports.h"
#include "compiler/plan/gate.h"

#include <stdlib.h>

/* How a datagram begins: what QUIC is, and what is taken for it by nobody. */
static const struct form {
	const char *name;
	bool quic;
	uint32_t byte, version, id_length, old_version, length;
} forms[] = {
	{"QUIC 1", true, 0xc3, 1, 8, 0, 1208},
	{"QUIC 2", true, 0xd3, 0x6b3343cf, 8, 0, 1208},
	{"QUIC, a draft", true, 0xe3, 0xff00001d, 20, 0, 1208},
	{"QUIC, a reserved version", true, 0xc3, 0x1a2a3a4a, 1, 0, 1208},
	{"QUIC, a list of versions", true, 0xc0, 0, 8, 0, 50},
	{"QUIC 1, its bit cleared", true, 0x83, 1, 8, 0, 1208},
	{"Google's QUIC", true, 0x83, 0x51303530, 0, 0, 1000},
	{"Google's first QUIC", true, 0x09, 0x31323334, 0x35, 0x51303433, 1100},
	{"QUIC, later on", false, 0x43, 1, 8, 0, 1208},
	{"DNS", false, 0xc3, 0x05010000, 1, 0, 40},
	{"NTP", false, 0xe3, 0x0006ec00, 1, 0, 56},
	{"DTLS", false, 0x16, 0xfeff0000, 0, 0, 1300},
	{"RTP", false, 0x80, 0x6f3344cf, 0, 0, 100},
	{"WireGuard", false, 1, 0, 0, 0, 156},
};

struct flow {
	struct proof *p;
	const struct spot *spot;
	bool is_host;
	const struct tie *tie[2];
	uint16_t port;
	enum ir_proto proto;
	const struct form *form; /* of UDP */
};

static struct str flow_text(const struct flow *f)
{
	struct arena *a = f->p->a;
	struct buf b;
	char text[ADDR_TEXT_MAX];

	buf_init(&b, a);
	buf_addf(&b,
		 f->spot->addr.family == ADDR_V6 ? "%s [%s]:%u" : "%s %s:%u",
		 ir_proto_name(f->proto), addr_text(&f->spot->addr, text),
		 f->port);
	for (int i = 0; i < 2 && f->tie[i]; i++)
		buf_addf(&b, "%s%.*s", i ? " and " : ", resolved for ",
			 STR_ARG(f->tie[i]->name->name));
	if (f->is_host)
		buf_adds(&b, ", the host's own");
	if (f->form)
		buf_addf(&b, ", saying %s", f->form->name);
	return buf_str(&b);
}

static struct decide_flow asked_flow(const struct flow *f, int name)
{
	struct decide_flow out = {.proto = f->proto,
				  .port = f->port,
				  .has_addr = true,
				  .addr = f->spot->addr,
				  .is_host = f->is_host,
				  .is_quic = f->form && f->form->quic};

	if (f->tie[name])
		out.name = f->tie[name]->name->name;
	return out;
}

/* Can the entry have a part in it at all? */
static bool speaks_of(const struct ir_grant *g, const struct decide_flow *q)
{
	const struct cidr *net = ir_dest_net(&g->dest);

	if (!ports_has(&g->ports, q->proto, q->port))
		return false;
	return net ? cidr_has(net, &q->addr)
		   : g->dest.kind == IR_DEST_ANY ||
			       name_matches(ir_dest_name(&g->dest), q->name);
}

/* May somebody be asked, and would a yes open the connection, or requests? */
static bool is_asked(const struct proof *p, const struct decide_flow *q,
		     const struct ir_grant **out_entry)
{
	for (uint32_t i = 0; i < p->in->policy->ask.n; i++) {
		struct decision d;

		if (!speaks_of(&p->in->policy->ask.v[i], q))
			continue;
		d = decide_connect(&p->with[i], q);
		if (d.verdict != VERDICT_ALLOW && d.reason != REASON_NOT_HTTP)
			continue;
		*out_entry = &p->in->policy->ask.v[i];
		return true;
	}
	return false;
}

bool walk_leaves(const struct proof *p, const struct decide_flow *q,
		 struct decision *out)
{
	const struct ir_grant *entry;

	*out = decide_connect(p->in->policy, q);
	if (out->verdict == VERDICT_ALLOW)
		return true;
	if (q->proto != IR_PROTO_TCP)
		return false;
	if (out->reason == REASON_NOT_HTTP)
		return true;
	if (!is_asked(p, q, &entry))
		return false;
	*out = (struct decision){VERDICT_ASK, REASON_ASK, entry, NULL};
	return true;
}

/* What the policy wants to become of it. */
enum wanted {
	WANTED_RESOLVER,
	WANTED_PASSES,
	WANTED_HTTP,  /* HAProxy looks who it is for */
	WANTED_ASKED, /* and here somebody is asked */
	WANTED_REFUSED,
};

static struct str wanted_text(struct arena *a, enum wanted w,
			      const struct decision *d)
{
	switch (w) {
	case WANTED_RESOLVER:
		return STR("taken by the resolver");
	case WANTED_PASSES:
		return STR("permitted, whatever it carries");
	case WANTED_HTTP:
		return STR("permitted where HTTP or TLS say so");
	case WANTED_ASKED:
		return STR("asked about");
	case WANTED_REFUSED:
		return arena_fmt(a, "denied (%s)", reason_name(d->reason));
	}
	abort();
}

/* Is a denial about names or requests, which HAProxy reads? */
static bool is_named(const struct decision *d)
{
	return d->reason == REASON_DENIED && d->grant &&
	       d->grant->dest.kind != IR_DEST_CIDR &&
	       d->grant->dest.kind != IR_DEST_ANY;
}

static bool is_gates(const struct flow *f)
{
	return addr_eq(&f->spot->addr, &f->p->gate[0].addr) ||
	       addr_eq(&f->spot->addr, &f->p->gate[1].addr);
}

static bool is_resolvers(const struct flow *f)
{
	return f->port == 53 && is_gates(f);
}

/* Under one name, or under none. */
static enum wanted wanted_of(const struct flow *f, int name,
			     struct decision *out)
{
	struct decide_flow q = asked_flow(f, name);
	const struct ir_grant *entry;

	*out = decide_connect(f->p->in->policy, &q);
	if (is_resolvers(f))
		return WANTED_RESOLVER;
	if (out->verdict == VERDICT_ALLOW)
		return WANTED_PASSES;
	if (f->proto != IR_PROTO_TCP)
		return WANTED_REFUSED;
	if (out->reason == REASON_NOT_HTTP || is_named(out))
		return WANTED_HTTP;
	if (is_asked(f->p, &q, &entry)) {
		out->verdict = VERDICT_ASK;
		out->reason = REASON_ASK;
		out->grant = entry;
		return WANTED_ASKED;
	}
	return WANTED_REFUSED;
}

/* The denial of one of the names that QUIC to their address would get by;
 * which one has a grant there does not matter. doc/semantics.md, section 3. */
static const struct ir_grant *quic_denial(const struct flow *f)
{
	vec_each(d, &f->p->in->policy->deny)
		for (int i = 0; i < 2; i++)
			if (f->form && f->form->quic &&
			    inspection_quic_names(d) &&
			    inspection_quic(d, f->port) &&
			    name_matches(ir_dest_name(&d->dest),
					 f->tie[i]->name->name))
				return d;
	return NULL;
}

/*
 * Under two: what is denied under one is, and QUIC that could be for it; else
 * what either may. That is how grants add up, and how `deny` wins.
 */
static enum wanted wanted_both(const struct flow *f, struct decision *out)
{
	struct decision d[2];
	enum wanted w[2];

	for (int i = 0; i < 2; i++)
		w[i] = wanted_of(f, i, &d[i]);
	for (int i = 0; i < 4; i++) {
		enum reason first = i < 2 ? REASON_DENIED : REASON_QUIC;

		if (d[i % 2].reason != first)
			continue;
		*out = d[i % 2];
		return w[i % 2];
	}
	*out = w[0] <= w[1] ? d[0] : d[1];
	if (out->verdict == VERDICT_ALLOW && quic_denial(f)) {
		*out = (struct decision){.reason = REASON_QUIC,
					 .grant = quic_denial(f)};
		return WANTED_REFUSED;
	}
	return w[0] <= w[1] ? w[0] : w[1];
}

/* The reasons that the packet filter tells apart. */
static struct str reason_in_filter(enum reason r)
{
	return r == REASON_FLOOR || r == REASON_DENIED || r == REASON_QUIC ||
			       r == REASON_HOST_ADDRESS
		       ? str_of(reason_name(r))
		       : STR("no-grant");
}

/* Of the floor, and of a denial that somebody wrote as well: one that is the
 * same as the floor's own stands for it. */
static bool is_denied_too(const struct flow *f)
{
	vec_each(d, &f->p->in->policy->deny) {
		const struct cidr *net = ir_dest_net(&d->dest);

		if (d->from.layer != LAYER_FLOOR && net && !ir_grant_http(d) &&
		    cidr_has(net, &f->spot->addr) &&
		    ports_has(&d->ports, f->proto, f->port))
			return true;
	}
	return false;
}

/*
 * Does the gate find an entry to ask by, when the connection waits? Which of
 * several it is, the person is told, and not the packet. An address that stands
 * in for a name is none of a network's: who calls it so is refused there.
 */
static bool is_entry(const struct flow *f, const struct decision *d)
{
	bool standin = false;

	for (int i = 0; i < 2 && f->tie[i]; i++) {
		const struct name_cell *n = f->tie[i]->name;

		standin |= n->match.n_lines == 0;
		if (names_asked(&f->p->map, n->name, f->port))
			return true;
	}
	if (standin)
		return ir_dest_net(&d->grant->dest) != NULL;
	return names_asked_addr(&f->p->map, &f->spot->addr, f->port) != NULL;
}

static bool is_so(const struct flow *f, enum wanted w, const struct decision *d,
		  const struct fate *got)
{
	const bool proxied = f->p->in->policy->upstream.set;
	bool taken = got->end == FATE_TAKEN;

	switch (w) {
	case WANTED_RESOLVER:
		return got->end == FATE_RESOLVER;
	case WANTED_PASSES:
		if (taken)
			return f->proto == IR_PROTO_TCP &&
			       (got->port == GATE_PORT_RAW ||
				(proxied && got->port == GATE_PORT_NETS));
		return got->end == FATE_PASSES &&
		       str_is(got->reason, GATE_LOG_ALLOW) &&
		       !(proxied && f->proto == IR_PROTO_TCP &&
			 !addr_is_machine(&f->spot->addr));
	case WANTED_HTTP:
		return taken ? got->port == GATE_PORT_HTTP
			     : is_named(d) && got->end == FATE_REFUSED &&
				       str_is(got->reason, "denied");
	case WANTED_ASKED:
		return taken && got->port == GATE_PORT_ASK && is_entry(f, d);
	case WANTED_REFUSED:
		/* Of its own addresses the gate says one thing. */
		return got->end == FATE_REFUSED &&
		       (str_eq(got->reason, reason_in_filter(d->reason)) ||
			(is_gates(f) && str_is(got->reason, "floor")) ||
			(d->reason == REASON_FLOOR && is_denied_too(f) &&
			 str_is(got->reason, "denied")));
	}
	abort();
}

static struct firewall_packet packet_of(const struct flow *f, struct cell *c)
{
	struct firewall_packet p;

	*c = (struct cell){
		.p = f->p,
		.called = f->spot,
		.from = &f->p->agent[family_at(f->spot->addr.family)],
		.is_host = f->is_host};
	for (int i = 0; i < 2; i++)
		c->tie[i] = f->tie[i] ? f->tie[i]->classes : NULL;
	p = fate_packet(c, f->proto == IR_PROTO_TCP ? 6 : 17, f->port);
	if (f->form) {
		p.v[FIREWALL_BYTE] = f->form->byte;
		p.v[FIREWALL_VERSION] = f->form->version;
		p.v[FIREWALL_ID_LENGTH] = f->form->id_length;
		p.v[FIREWALL_OLD_VERSION] = f->form->old_version;
		p.v[FIREWALL_LENGTH] = f->form->length;
	}
	return p;
}

/* The same flow once it is open, when the addresses of names may have left
 * their sets. */
static struct fate fate_later(const struct flow *f, const struct fate *first,
			      uint32_t state, bool tied)
{
	struct flow later = *f;
	struct firewall_packet p;
	struct cell c;

	if (!tied)
		later.tie[0] = later.tie[1] = NULL;
	p = packet_of(&later, &c);
	p.v[FIREWALL_STATE] = state;
	p.v[FIREWALL_SOCKET] = first->end == FATE_TAKEN;
	return fate_of(&c, &p);
}

/*
 * A flow that is open: what is refused whatever is granted, still is; what was
 * let through goes on; what HAProxy has of IPv6 it keeps (NAT remembers what it
 * has of IPv4); and one that nobody knows does not begin in its middle.
 */
static bool open_so(const struct flow *f, const struct fate *first,
		    struct fate *got, const char **out_what)
{
	bool always = first->end == FATE_REFUSED &&
		      !str_is(first->reason, "no-grant");
	bool v6 = f->spot->addr.family == ADDR_V6;

	*out_what = ", in a flow that is open";
	if (always) {
		*got = fate_later(f, first, FIREWALL_ESTABLISHED, true);
		return got->end == FATE_REFUSED;
	}
	if (first->end == FATE_TAKEN && v6) {
		*got = fate_later(f, first, FIREWALL_ESTABLISHED, false);
		return got->end == FATE_TAKEN;
	}
	if (first->end != FATE_PASSES)
		return true;
	*got = fate_later(f, first, FIREWALL_ESTABLISHED, false);
	if (got->end != FATE_PASSES)
		return false;
	*out_what = ", in a flow that nobody knows";
	*got = fate_later(f, first, FIREWALL_INVALID, true);
	return got->end != FATE_PASSES;
}

static bool compare_flow(const struct flow *f, enum wanted w,
			 const struct decision *d)
{
	struct cell c;
	struct firewall_packet packet = packet_of(f, &c);
	struct fate got = fate_of(&c, &packet), open;
	const char *what;

	f->p->out->cells++;
	if (!is_so(f, w, d, &got)) {
		proof_differs(f->p, flow_text(f), d, wanted_text(f->p->a, w, d),
			      &got);
		return false;
	}
	f->p->out->cells++;
	if (open_so(f, &got, &open, &what))
		return true;
	proof_differs(f->p, arena_fmt(f->p->a, "%s%s", flow_text(f).p, what), d,
		      got.end == FATE_PASSES && open.end != FATE_PASSES
			      ? STR("let through, as its first packet was")
			      : STR("refused"),
		      &open);
	return false;
}

static enum wanted wanted_flow(const struct flow *f, struct decision *d)
{
	return f->tie[1] ? wanted_both(f, d) : wanted_of(f, 0, d);
}

/* Datagrams are decided twice: as QUIC, and as anything else. */
static bool compare_datagrams(struct flow *f)
{
	f->proto = IR_PROTO_UDP;
	for (int quic = 1; quic >= 0; quic--) {
		bool known = false;
		struct decision d;
		enum wanted w = WANTED_REFUSED;

		for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
			if (forms[i].quic != (quic == 1))
				continue;
			f->form = &forms[i];
			if (!known)
				w = wanted_flow(f, &d);
			known = true;
			if (!compare_flow(f, w, &d))
				return false;
		}
	}
	return true;
}

static bool compare_ports(struct flow *f)
{
	struct proof *p = f->p;

	vec_each(port, &p->ports) {
		struct decision d;
		enum wanted w;

		f->port = port->port;
		f->proto = IR_PROTO_TCP;
		f->form = NULL;
		w = wanted_flow(f, &d);
		if (!compare_flow(f, w, &d) || !compare_datagrams(f))
			return false;
	}
	return true;
}

/* Is a tie one of those that other rules have than for names that are granted
 * whole: requests, denials on some ports, what is asked about? */
static bool is_special(const struct names_classes *c)
{
	unsigned k = names_class_next(c, LIMIT_CLASSES + 1);

	return k && k != NAMES_CLASS_PAST;
}

/* Under a second name, which other rules are about: that is where their order
 * counts. */
static bool compare_pairs(struct flow *f, const struct tie *first)
{
	const struct tie *ties = f->p->ties.v + f->spot->first_tie;

	for (uint32_t i = 0; i < f->spot->n_ties; i++) {
		if (&ties[i] == first || !ties[i].special)
			continue;
		f->tie[1] = &ties[i];
		if (!compare_ports(f))
			return false;
	}
	f->tie[1] = NULL;
	return true;
}

static bool compare_names(struct flow *f)
{
	for (uint32_t i = 0; i < f->spot->n_ties; i++) {
		const struct tie *tie = &f->p->ties.v[f->spot->first_tie + i];

		f->tie[0] = tie;
		f->tie[1] = NULL;
		if (!compare_ports(f) || !compare_pairs(f, tie))
			return false;
	}
	return true;
}

/* The link's own addresses are nobody else's. */
static bool may_be_host(const struct proof *p, const struct addr *addr)
{
	for (size_t i = 0; i < 2; i++)
		if (addr_eq(addr, &p->gate[i].addr))
			return false;
	return !addr_is_machine(addr);
}

/* The names that lead to a place, where all answers are as they should be. */
static bool find_ties(struct proof *p, struct spot *s)
{
	s->first_tie = p->ties.n;
	vec_each(n, &p->names) {
		const struct names_classes *classes =
			answers_tie(p, n, &s->addr);

		if (p->done || !answers_host(p, n, &s->addr))
			return false;
		if (classes)
			*vec_push(p->a, &p->ties) =
				(struct tie){n, classes, is_special(classes)};
	}
	s->n_ties = p->ties.n - s->first_tie;
	return true;
}

/* How many cells there are. */
static uint64_t count_cells(const struct proof *p)
{
	uint64_t flows = 0;

	vec_each(s, &p->spots) {
		uint64_t special = 0;

		for (uint32_t i = 0; i < s->n_ties; i++)
			special += p->ties.v[s->first_tie + i].special;
		flows += 2 + s->n_ties + s->n_ties * special;
	}
	return flows * p->ports.n * (1 + ARRAY_LEN(forms)) * 2;
}

bool walk_answers(struct proof *p)
{
	vec_each(s, &p->spots)
		if (!find_ties(p, s))
			return false;
	return true;
}

bool walk_flows(struct proof *p)
{
	if (!walk_answers(p))
		return false;
	if (!proof_bounded(p, "cells", count_cells(p), PROVE_CELLS_MAX))
		return false;
	vec_each(s, &p->spots) {
		struct flow f = {.p = p, .spot = s};

		if (!compare_ports(&f) || !compare_names(&f))
			return false;
		f = (struct flow){.p = p, .spot = s, .is_host = true};
		if (may_be_host(p, &s->addr) && !compare_ports(&f))
			return false;
	}
	return true;
}
