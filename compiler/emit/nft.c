#include "compiler/emit/nft.h"

#include "compiler/emit/nft_nets.h"
#include "compiler/emit/nft_write.h"
#include "compiler/emit/profiles.h"
#include "compiler/ir/inside.h"
#include "compiler/ir/ports.h"

#include <stdlib.h>

static const enum addr_family families[] = {ADDR_V4, ADDR_V6};
static const enum ir_proto protos[] = {IR_PROTO_TCP, IR_PROTO_UDP};

#define each_family(f)                                                         \
	for (const enum addr_family *f = families; f < families + 2; f++)
#define each_proto(p) for (const enum ir_proto *p = protos; p < protos + 2; p++)

typedef VEC(const struct ir_grant *) members;

/* What a way to where only HTTP and TLS may pass stands for. */
#define ONLY_HTTP (MARKS_FOR(GRANTED) | MARKS_FOR(NOT_HTTP))

struct rules {
	const struct emit_in *in;
	struct buf *out;
	emit_classes grants, denials;
	struct nft_nets *grant_nets, *http_nets,
		*denial_nets; /* by class, from 0 */
	bool l7;	      /* there is an HAProxy */
	bool any_direct;      /* '*' does not go through it */
	struct nft_nets floor, private;
	struct nft_nets requests; /* where some are denied that may be QUIC */
	ir_ports inside;	  /* ports where names or requests are denied */
	ir_ports quic; /* and of UDP, where QUIC could be for those */
	ir_ports published;
	/* By class, from 0; NULL where nobody asks for marks. */
	members *granters, *deniers;
};

static void make_published(struct rules *r)
{
	vec_each(x, &r->in->policy->docker_args)
		if (x->is_publish)
			*vec_push(r->in->a, &r->published) = (struct ir_port){
				x->publish.proto, x->publish.lo, x->publish.hi,
				x->from.at};
	ports_normalise(&r->published);
}

/* --- where lines came from ----------------------------------------------- */

/* What a class has a rule for. */
enum kind { CIDR, HOST, ANY, GUARD, HTTP, CIDR_HTTP, ANY_HTTP };

static members *make_members(const struct emit_in *in,
			     const emit_classes *classes,
			     const ir_grants *grants)
{
	members *out;

	if (!in->marks)
		return NULL;
	out = arena_array(in->a, classes->n + 1, sizeof(*out));
	vec_each(g, grants) {
		uint32_t k = g->from.layer == LAYER_FLOOR
				     ? 0
				     : emit_class_of(in->a, classes, g);

		if (k)
			*vec_push(in->a, &out[k - 1]) = g;
	}
	return out;
}

/* Whether the rule of that kind and family is there for this grant. */
static bool is_kind(const struct ir_grant *g, enum kind kind,
		    enum addr_family f)
{
	const struct cidr *net = ir_dest_net(&g->dest);
	bool http = ir_grant_http(g), any = g->dest.kind == IR_DEST_ANY;
	bool named = !net && (!any || (g->private.set && g->private.v));

	switch (kind) {
	case CIDR:
		return net && !http && net->addr.family == f;
	case CIDR_HTTP:
		return net && http && net->addr.family == f;
	case HOST:
	case GUARD:
		return named && !http;
	case HTTP:
		return named && http;
	case ANY:
		return any && !http;
	case ANY_HTTP:
		return any && http;
	}
	abort();
}

static unsigned use_of(enum addr_family f, enum ir_proto proto)
{
	if (f == ADDR_V4)
		return proto == IR_PROTO_TCP ? MARKS_TCP4 : MARKS_UDP4;
	return proto == IR_PROTO_TCP ? MARKS_TCP6 : MARKS_UDP6;
}

/* The rule that is written next is there for some of a class. */
static void mark_rule(struct rules *r, const members *of, enum kind kind,
		      enum addr_family f, enum ir_proto proto, uint64_t reasons)
{
	if (!of || !reasons)
		return;
	vec_each(g, of)
		if (is_kind(*g, kind, f))
			marks_add(r->in->marks,
				  (struct marks_one){.at = r->out->n,
						     .from = &(*g)->from,
						     .uses = use_of(f, proto),
						     .reasons = reasons});
}

static unsigned both_of(enum addr_family f)
{
	return use_of(f, IR_PROTO_TCP) | use_of(f, IR_PROTO_UDP);
}

/* What is refused where no rule of the policy decides. */
static void mark_default(struct rules *r, unsigned uses, uint64_t reasons)
{
	marks_add(r->in->marks, (struct marks_one){.at = r->out->n,
						   .uses = uses,
						   .reasons = reasons});
}

/* at: where the elements of the set stand. */
static void mark_elements(struct rules *r, const ranges *set, const size_t *at,
			  const struct ir_grant *g, uint64_t reasons)
{
	const struct cidr *net = ir_dest_net(&g->dest);
	struct addr last = cidr_last(net);

	for (uint32_t i = 0; i < set->n; i++) {
		const struct range *x = &set->v[i];
		struct marks_one one = {.at = at[i],
					.from = &g->from,
					.uses = both_of(net->addr.family),
					.reasons = reasons,
					.has_range = true,
					.lo = x->lo,
					.hi = x->hi};

		if (addr_cmp(&x->hi, &net->addr) < 0 ||
		    addr_cmp(&x->lo, &last) > 0)
			continue;
		if (addr_cmp(&net->addr, &one.lo) > 0)
			one.lo = net->addr;
		if (addr_cmp(&last, &one.hi) < 0)
			one.hi = last;
		marks_add(r->in->marks, one);
	}
}

/* --- sets ---------------------------------------------------------------- */

static bool any_any(const emit_classes *classes)
{
	vec_each(k, classes)
		if (k->has_any || k->has_anyhttp)
			return true;
	return false;
}

static void put_both(struct rules *r, const char *stem, struct nft_nets *nets)
{
	each_family(f)
		nft_put_ranges(r->out, (struct nft_set){stem, *f, 0},
			       nft_nets_of(nets, *f));
}

/* A set, and which of its elements a grant or denial put there. */
static void put_class_set(struct rules *r, struct nft_set set,
			  const ranges *nets, const members *of, enum kind kind,
			  uint64_t reasons)
{
	size_t *at = NULL;

	if (of)
		at = arena_array(r->in->a, nets->n, sizeof(*at));
	nft_put_ranges_at(r->out, set, nets, at);
	if (of)
		vec_each(g, of)
			if (is_kind(*g, kind, set.family))
				mark_elements(r, nets, at, *g, reasons);
}

static void put_class_sets(struct rules *r, const char *stem,
			   struct nft_nets *nets, uint32_t n, const members *of,
			   enum kind kind, uint64_t reasons)
{
	for (uint32_t k = 0; k < n; k++)
		each_family(f)
			if (nft_nets_of(&nets[k], *f)->n)
				put_class_set(
					r, (struct nft_set){stem, *f, k + 1},
					nft_nets_of(&nets[k], *f),
					of ? &of[k] : NULL, kind, reasons);
}

static void put_floor(struct rules *r)
{
	each_family(f) {
		const ranges *nets = nft_nets_of(&r->floor, *f);
		size_t *at = arena_array(r->in->a, nets->n + 1, sizeof(*at));

		nft_put_ranges_at(r->out, (struct nft_set){"floor", *f, 0},
				  nets, at);
		if (!r->in->marks)
			continue;
		vec_each(d, &r->in->policy->deny)
			if (d->from.layer == LAYER_FLOOR &&
			    is_kind(d, CIDR, *f))
				mark_elements(r, nets, at, d, MARKS_FOR(FLOOR));
	}
}

static bool has_name(const struct emit_class *k)
{
	return k->has_name;
}

static bool has_http(const struct emit_class *k)
{
	return k->has_http;
}

static void put_dynamic_sets(struct rules *r, const char *stem,
			     const emit_classes *classes,
			     bool (*wanted)(const struct emit_class *k))
{
	for (uint32_t k = 0; k < classes->n; k++)
		each_family(f)
			if (wanted(&classes->v[k]))
				nft_put_dynamic(
					r->out,
					(struct nft_set){stem, *f, k + 1});
}

/* Only where a rule speaks of them: see put_quic_named(). */
static void put_requests(struct rules *r)
{
	each_family(f)
		if (nft_nets_of(&r->requests, *f)->n)
			nft_put_ranges(r->out,
				       (struct nft_set){"requests", *f, 0},
				       nft_nets_of(&r->requests, *f));
}

static void put_sets(struct rules *r)
{
	struct nft_nets none = {0};

	put_floor(r);
	put_both(r, "host", &none);
	if (any_any(&r->grants))
		put_both(r, "private", &r->private);
	put_requests(r);
	put_class_sets(r, "deny", r->denial_nets, r->denials.n, r->deniers,
		       CIDR, MARKS_FOR(DENIED));
	put_class_sets(r, "cidr", r->grant_nets, r->grants.n, r->granters, CIDR,
		       MARKS_FOR(GRANTED));
	put_class_sets(r, "cidrhttp", r->http_nets, r->grants.n, r->granters,
		       CIDR_HTTP, ONLY_HTTP);
	put_dynamic_sets(r, "guard", &r->denials, has_name);
	put_dynamic_sets(r, "host", &r->grants, has_name);
	put_dynamic_sets(r, "http", &r->grants, has_http);
}

/* --- chains -------------------------------------------------------------- */

#define REFUSE(reason)                                                         \
	"counter log prefix \"membrane:" reason ":\" group 77 goto refuse"
#define GRANTED "goto granted"

/* One rule: an address set or none, the ports of one protocol, a verdict. */
static void put_match(struct buf *out, const struct nft_set *set, bool is_in,
		      const ir_ports *ports, enum ir_proto proto,
		      const char *verdict)
{
	if (!nft_has_proto(ports, proto))
		return;
	nft_begin(out);
	if (set)
		nft_daddr(out, *set, is_in);
	nft_dport(out, ports, proto);
	nft_word(out, verdict);
	nft_end(out);
}

static void put_set_rule(struct buf *out, const char *stem,
			 enum addr_family family, const char *verdict)
{
	nft_begin(out);
	nft_daddr(out, (struct nft_set){stem, family, 0}, true);
	nft_word(out, verdict);
	nft_end(out);
}

/* Denied networks and ports, of one family and protocol; what follows. */
static void put_denials(struct rules *r, enum addr_family family,
			enum ir_proto proto, const char *verdict,
			uint64_t reasons)
{
	for (uint32_t k = 0; k < r->denials.n; k++) {
		const struct emit_class *class = &r->denials.v[k];
		struct nft_set set = {"deny", family, k + 1};

		if (!nft_nets_of(&r->denial_nets[k], family)->n)
			continue;
		if (r->deniers && nft_has_proto(&class->ports, proto))
			mark_rule(r, &r->deniers[k], CIDR, family, proto,
				  reasons);
		put_match(r->out, &set, true, &class->ports, proto, verdict);
	}
}

static void put_denials_any(struct rules *r, enum ir_proto proto,
			    const char *verdict, uint64_t reasons)
{
	for (uint32_t k = 0; k < r->denials.n; k++) {
		const ir_ports *ports = &r->denials.v[k].ports;

		if (!r->denials.v[k].has_any)
			continue;
		if (r->deniers && nft_has_proto(ports, proto))
			each_family(f)
				mark_rule(r, &r->deniers[k], ANY, *f, proto,
					  reasons);
		put_match(r->out, NULL, true, ports, proto, verdict);
	}
}

/* --- one kind of set, all classes ---------------------------------------- */

static bool has_kind(struct rules *r, enum kind kind, uint32_t k,
		     enum addr_family f)
{
	switch (kind) {
	case CIDR:
		return nft_nets_of(&r->grant_nets[k], f)->n > 0;
	case CIDR_HTTP:
		return nft_nets_of(&r->http_nets[k], f)->n > 0;
	case HOST:
		return r->grants.v[k].has_name;
	case HTTP:
		return r->grants.v[k].has_http;
	case ANY:
		return r->grants.v[k].has_any;
	case ANY_HTTP:
		return r->grants.v[k].has_anyhttp;
	case GUARD:
		return r->denials.v[k].has_name;
	}
	abort();
}

static void put_kind(struct rules *r, enum kind kind, enum addr_family f,
		     enum ir_proto proto, const char *verdict, uint64_t reasons)
{
	static const char *const stems[] = {
		[CIDR] = "cidr",	[HOST] = "host",
		[ANY] = "private",	[GUARD] = "guard",
		[HTTP] = "http",	[CIDR_HTTP] = "cidrhttp",
		[ANY_HTTP] = "private",
	};
	const emit_classes *classes = kind == GUARD ? &r->denials : &r->grants;
	const members *of = kind == GUARD ? r->deniers : r->granters;
	bool is_in = kind != ANY && kind != ANY_HTTP;

	for (uint32_t k = 0; k < classes->n; k++) {
		struct nft_set set = {stems[kind], f, is_in ? k + 1 : 0};

		if (!has_kind(r, kind, k, f))
			continue;
		if (of && nft_has_proto(&classes->v[k].ports, proto))
			mark_rule(r, &of[k], kind, f, proto, reasons);
		put_match(r->out, &set, is_in, &classes->v[k].ports, proto,
			  verdict);
	}
}

/*
 * Networks without http, TCP: on the ports where a name or a request is denied
 * (is_inside), or on all others. See compiler/ir/inside.h.
 */
static void put_nets(struct rules *r, bool is_inside, enum addr_family f,
		     const char *verdict)
{
	for (uint32_t k = 0; k < r->grants.n; k++) {
		struct nft_set set = {"cidr", f, k + 1};
		ir_ports ports;

		if (!has_kind(r, CIDR, k, f))
			continue;
		ports = ports_split(r->in->a, &r->grants.v[k].ports, &r->inside,
				    IR_PROTO_TCP, is_inside);
		if (ports.n == 0)
			continue;
		if (r->granters)
			mark_rule(r, &r->granters[k], CIDR, f, IR_PROTO_TCP,
				  MARKS_FOR(GRANTED));
		put_match(r->out, &set, true, &ports, IR_PROTO_TCP, verdict);
	}
}

/* --- the way to HAProxy -------------------------------------------------- */

/*
 * TCP of one family: what never gets there, what needs no look, and the rest
 * in the order raw, only HTTP. Who is guarded is not raw.
 */
static void put_diversion(struct rules *r, enum addr_family f, const char *pass,
			  const char *raw, const char *strict)
{
	const uint64_t granted = MARKS_FOR(GRANTED);

	/* The chain forward refuses them. */
	put_denials(r, f, IR_PROTO_TCP, pass, 0);
	put_kind(r, GUARD, f, IR_PROTO_TCP, strict, MARKS_FOR(DENIED));
	put_nets(r, true, f, raw);
	put_nets(r, false, f, pass);
	if (r->any_direct)
		put_kind(r, ANY, f, IR_PROTO_TCP, pass, granted);
	put_kind(r, HOST, f, IR_PROTO_TCP, raw, granted);
	if (!r->any_direct)
		put_kind(r, ANY, f, IR_PROTO_TCP, raw, granted);
	put_kind(r, HTTP, f, IR_PROTO_TCP, strict, ONLY_HTTP);
	put_kind(r, CIDR_HTTP, f, IR_PROTO_TCP, strict, ONLY_HTTP);
	put_kind(r, ANY_HTTP, f, IR_PROTO_TCP, strict, ONLY_HTTP);
}

/* IPv6: a redirect would lose the address that the client meant. */
static void put_divert(struct rules *r)
{
	struct buf *out = r->out;

	if (!r->l7)
		return;
	nft_chain_begin(out, "divert");
	nft_chain_hook(out, "filter", "prerouting", "mangle", "accept");
	nft_rule(out, "iifname != \"agent0\" accept");
	nft_rule(out, "meta nfproto != ipv6 accept");
	nft_rule(out, "tcp dport { 15001, 15002 } accept");
	put_denials_any(r, IR_PROTO_TCP, "accept", 0);
	/* Flows that are open: their address may have left its set. */
	put_set_rule(out, "host", ADDR_V6, "accept");
	put_set_rule(out, "floor", ADDR_V6, "accept");
	nft_rule(out, "ct state established socket transparent 1 meta mark set "
		      "0x00000001 accept");
	put_diversion(r, ADDR_V6, "accept",
		      "tproxy ip6 to :15001 meta mark set 0x00000001 accept",
		      "tproxy ip6 to :15002 meta mark set 0x00000001 accept");
	nft_chain_end(out);
	buf_addc(out, '\n');
}

static void put_published(struct rules *r)
{
	each_proto(p) {
		if (!nft_has_proto(&r->published, *p))
			continue;
		each_family(f) {
			nft_begin(r->out);
			nft_word(r->out, "iifname != \"agent0\"");
			nft_dport(r->out, &r->published, *p);
			nft_word(r->out, *f == ADDR_V4 ? "dnat ip to 192.0.0.2"
						       : "dnat ip6 to "
							 "fd00:6d65:6d62::2");
			nft_end(r->out);
		}
	}
}

static void put_prerouting(struct rules *r)
{
	struct buf *out = r->out;

	if (r->published.n == 0 && !r->l7)
		return;
	nft_chain_begin(out, "prerouting");
	nft_chain_hook(out, "nat", "prerouting", "dstnat", "accept");
	put_published(r);
	if (r->l7) {
		nft_rule(out, "iifname != \"agent0\" accept");
		put_denials_any(r, IR_PROTO_TCP, "accept", 0);
		put_set_rule(out, "host", ADDR_V4, "accept");
		put_set_rule(out, "floor", ADDR_V4, "accept");
		put_diversion(r, ADDR_V4, "accept", "redirect to :15001",
			      "redirect to :15002");
	}
	nft_chain_end(out);
	buf_addc(out, '\n');
}

static void put_input(struct rules *r)
{
	struct buf *out = r->out;

	nft_chain_begin(out, "input");
	nft_chain_hook(out, "filter", "input", "filter", "drop");
	nft_rule(out, "iifname \"lo\" accept");
	nft_rule(out, "icmpv6 type { nd-neighbor-solicit, "
		      "nd-neighbor-advert } accept");
	nft_rule(out, "iifname != \"agent0\" ct state established,related "
		      "accept");
	nft_rule(out, "iifname != \"agent0\" drop");
	nft_rule(out, "ip daddr 192.0.0.1 udp dport 53 accept");
	nft_rule(out, "ip daddr 192.0.0.1 tcp dport 53 accept");
	nft_rule(out, "ip6 daddr fd00:6d65:6d62::1 udp dport 53 accept");
	nft_rule(out, "ip6 daddr fd00:6d65:6d62::1 tcp dport 53 accept");
	/* What the chains above sent to HAProxy, and nothing else there. */
	if (r->l7) {
		nft_rule(out, "tcp dport { 15001, 15002 } ct status dnat "
			      "accept");
		nft_rule(out, "meta l4proto tcp meta mark 0x00000001 accept");
	}
	nft_rule(out, "meta pkttype != host drop");
	nft_rule(out, REFUSE("floor"));
	nft_chain_end(out);
	buf_addc(out, '\n');
}

static void put_helpers(struct buf *out)
{
	nft_chain_begin(out, "granted");
	/* Asking for bytes makes the kernel count them; the mark is for the
	 * record of the flow's end: runtime/gate/flow_msg.h. */
	nft_rule(out, "ct bytes > 0 ct mark set 0x00000001");
	nft_rule(out, "log prefix \"membrane:allow:\" group 77 accept");
	nft_chain_end(out);
	buf_addc(out, '\n');
	nft_chain_begin(out, "refuse");
	nft_rule(out, "meta l4proto tcp reject with tcp reset");
	nft_rule(out, "reject with icmpx admin-prohibited");
	nft_chain_end(out);
	buf_addc(out, '\n');
}

/*
 * The first packets of QUIC, which are long ones: a first byte with its top bit
 * set, and a version (RFC 8999, section 5.1). 1 and 2, drafts, Google's and
 * Meta's own; a server answers others with a list of those that it knows.
 */
#define QUIC                                                                   \
	"@th,64,8 >= 0x80 @th,72,32 { 0x1, 0x51000000-0x51ffffff, "            \
	"0x54000000-0x54ffffff, 0x6b3343cf, 0xfaceb000-0xfaceb0ff, "           \
	"0xff000000-0xff0000ff } " REFUSE("quic")

static ir_ports quic_ports(struct rules *r, uint32_t k)
{
	return ports_split(r->in->a, &r->grants.v[k].ports, &r->quic,
			   IR_PROTO_UDP, true);
}

/* See compiler/ir/inside.h. Other datagrams may have gone before. */
static void put_quic(struct rules *r, enum addr_family f)
{
	static const enum kind kinds[] = {CIDR, ANY};

	for (uint32_t i = 0; i < 2 * r->grants.n; i++) {
		enum kind kind = kinds[i / r->grants.n];
		uint32_t k = i % r->grants.n;
		struct nft_set set = {kind == CIDR ? "cidr" : "private", f,
				      kind == CIDR ? k + 1 : 0};
		ir_ports ports;

		if (!has_kind(r, kind, k, f))
			continue;
		ports = quic_ports(r, k);
		if (ports.n)
			put_match(r->out, &set, kind == CIDR, &ports,
				  IR_PROTO_UDP, QUIC);
	}
}

/* Names that lead to where requests are denied. */
static void put_quic_named(struct rules *r, enum addr_family f)
{
	for (uint32_t k = 0; k < r->grants.n; k++) {
		ir_ports ports;

		if (!has_kind(r, HOST, k, f) ||
		    !nft_nets_of(&r->requests, f)->n)
			continue;
		ports = quic_ports(r, k);
		if (!ports.n)
			continue;
		nft_begin(r->out);
		nft_daddr(r->out, (struct nft_set){"host", f, k + 1}, true);
		nft_daddr(r->out, (struct nft_set){"requests", f, 0}, true);
		nft_dport(r->out, &ports, IR_PROTO_UDP);
		nft_word(r->out, QUIC);
		nft_end(r->out);
	}
}

/* The networks of put_quic_named(), if it has anything to say. */
static void make_requests(struct rules *r)
{
	bool any = false;

	for (uint32_t k = 0; k < r->grants.n; k++)
		any |= r->grants.v[k].has_name && quic_ports(r, k).n;
	vec_each(d, &r->in->policy->deny)
		if (any && inside_quic_net(d))
			nft_nets_add(r->in->a, &r->requests,
				     inside_quic_net(d));
	nft_nets_settle(&r->requests);
}

static void put_forward(struct rules *r)
{
	const uint64_t denied = MARKS_FOR(DENIED);
	const uint64_t granted = MARKS_FOR(GRANTED);
	struct buf *out = r->out;

	nft_chain_begin(out, "forward");
	nft_chain_hook(out, "filter", "forward", "filter", "drop");
	nft_rule(out, "iifname != \"agent0\" oifname \"agent0\" ct state "
		      "established,related accept");
	if (r->published.n) {
		nft_rule(out, "iifname != \"agent0\" oifname \"agent0\" "
			      "ct status dnat accept");
	}
	nft_rule(out, "iifname != \"agent0\" drop");
	/* Answers to who came in through a published port: perhaps the host. */
	if (r->published.n)
		nft_rule(out, "ct direction reply ct state "
			      "established,related accept");
	each_family(f) {
		mark_default(r, both_of(*f), MARKS_FOR(HOST_ADDRESS));
		put_set_rule(out, "host", *f, REFUSE("host-address"));
	}
	each_family(f) {
		mark_default(r, both_of(*f), MARKS_FOR(FLOOR));
		put_set_rule(out, "floor", *f, REFUSE("floor"));
	}
	each_proto(p)
		each_family(f)
			put_denials(r, *f, *p, REFUSE("denied"), denied);
	each_proto(p)
		put_denials_any(r, *p, REFUSE("denied"), denied);
	/* HAProxy, where there is one, knows whom TCP is for. */
	each_family(f)
		each_proto(p)
			if (*p == IR_PROTO_UDP || !r->l7)
				put_kind(r, GUARD, *f, *p, REFUSE("denied"),
					 denied);
	each_family(f) {
		put_quic(r, *f);
		put_quic_named(r, *f);
	}
	nft_rule(out, "ct state established,related accept");
	nft_rule(out, "ct state invalid drop");
	each_family(f) {
		put_nets(r, false, *f, GRANTED);
		put_kind(r, CIDR, *f, IR_PROTO_UDP, GRANTED, granted);
	}
	each_family(f)
		put_kind(r, HOST, *f, IR_PROTO_UDP, GRANTED, granted);
	each_family(f)
		each_proto(p)
			if (*p == IR_PROTO_UDP || r->any_direct)
				put_kind(r, ANY, *f, *p, GRANTED, granted);
	nft_rule(out, "meta l4proto != { tcp, udp } " REFUSE("protocol"));
	mark_default(r, MARKS_TCP | MARKS_UDP,
		     MARKS_FOR(NO_GRANT) | MARKS_FOR(PORT) | MARKS_FOR(UDP) |
			     MARKS_FOR(PRIVATE_ADDRESS) |
			     MARKS_FOR(NOT_RESOLVED) | MARKS_FOR(NO_SNI));
	nft_rule(out, REFUSE("no-grant"));
	nft_chain_end(out);
	buf_addc(out, '\n');
}

static void put_postrouting(struct buf *out)
{
	nft_chain_begin(out, "postrouting");
	nft_chain_hook(out, "nat", "postrouting", "srcnat", "accept");
	nft_rule(out, "oifname != \"agent0\" masquerade");
	nft_chain_end(out);
}

bool nft_emit(const struct emit_in *in, struct buf *out)
{
	const ir_grants *allow = &in->policy->allow, *deny = &in->policy->deny;
	struct rules r = {.in = in, .out = out};

	if (!emit_classes_make(in, &r.grants) ||
	    !emit_denials_make(in, &r.denials))
		return false;
	r.grant_nets = nft_nets_classes(in->a, &r.grants, allow, false);
	r.http_nets = nft_nets_classes(in->a, &r.grants, allow, true);
	r.denial_nets = nft_nets_classes(in->a, &r.denials, deny, false);
	r.granters = make_members(in, &r.grants, allow);
	r.deniers = make_members(in, &r.denials, deny);
	r.l7 = profiles_wanted(in->policy);
	r.any_direct = inside_unseen(in->policy);
	r.inside = inside_ports(in->a, in->policy);
	r.quic = inside_quic_ports(in->a, in->policy);
	make_requests(&r);
	nft_nets_floor(in, &r.floor);
	nft_nets_private(in->a, &r.private);
	make_published(&r);
	buf_adds(out, "table inet membrane {\n");
	put_sets(&r);
	put_prerouting(&r);
	put_divert(&r);
	put_input(&r);
	put_helpers(out);
	put_forward(&r);
	put_postrouting(out);
	buf_adds(out, "}\n");
	return true;
}
