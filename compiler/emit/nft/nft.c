#include "compiler/emit/nft/nft.h"

#include "compiler/emit/nft/nft_parts.h"
#include "compiler/emit/profiles.h"
#include "compiler/ir/inspection.h"
#include "compiler/ir/ports.h"
#include "compiler/ir/upstream.h"

#define PASS NFT_PASS
#define RAW  ":" GATE_TEXT(GATE_PORT_RAW)
#define HTTP ":" GATE_TEXT(GATE_PORT_HTTP)
#define NETS ":" GATE_TEXT(GATE_PORT_NETS)
#define ASK  ":" GATE_TEXT(GATE_PORT_ASK)
/* IPv6 that HAProxy gets: the mark routes it there. */
#define TAKEN "meta mark set " GATE_TEXT(GATE_MARK_TPROXY) " accept"

static void make_published(struct nft *r)
{
	vec_each(x, &r->in->policy->docker_args)
		if (x->is_publish)
			*vec_push(r->in->a, &r->published) = (struct ir_port){
				x->publish.proto, x->publish.lo, x->publish.hi,
				x->from.at};
	ports_normalise(&r->published);
}

/*
 * TCP of one family: what never gets there, what needs no look, and the rest
 * in the order raw, only NFT_HTTP, what nobody granted and a person may. Who is
 * guarded is not raw. whole: what needs no look, where it does not pass by
 * itself.
 */
static void put_diversion(struct nft *r, enum addr_family f, const char *whole,
			  const char *raw, const char *strict, const char *ask)
{
	const uint64_t granted = MARKS_FOR(GRANTED), asked = MARKS_FOR(ASK);
	const char *pass = r->taken ? whole : "accept";

	/* The chain forward refuses them. */
	nft_match_kind(r, NFT_DENY, f, IR_PROTO_TCP, "accept", 0);
	nft_match_kind(r, NFT_GUARD, f, IR_PROTO_TCP, strict,
		       MARKS_FOR(DENIED));
	nft_match_nets(r, true, f, raw);
	nft_match_nets(r, false, f, pass);
	if (r->any_direct)
		nft_match_kind(r, NFT_ANY, f, IR_PROTO_TCP, pass, granted);
	nft_match_kind(r, NFT_HOST, f, IR_PROTO_TCP, raw, granted);
	if (!r->any_direct)
		nft_match_kind(r, NFT_ANY, f, IR_PROTO_TCP, raw, granted);
	nft_match_kind(r, NFT_HTTP, f, IR_PROTO_TCP, strict, NFT_ONLY_HTTP);
	nft_match_kind(r, NFT_CIDR_HTTP, f, IR_PROTO_TCP, strict,
		       NFT_ONLY_HTTP);
	nft_match_kind(r, NFT_ANY_HTTP, f, IR_PROTO_TCP, strict, NFT_ONLY_HTTP);
	nft_match_kind(r, NFT_ASK, f, IR_PROTO_TCP, ask, asked);
	nft_match_kind(r, NFT_ASK_CIDR, f, IR_PROTO_TCP, ask, asked);
	nft_match_kind(r, NFT_ASK_ANY, f, IR_PROTO_TCP, ask, asked);
}

static void put_about_asks(struct nft *r)
{
	if (r->asks.classes.n)
		nft_about(
			r->out,
			ASK " is where connections wait until a person was asked");
}

/* IPv6: a redirect would lose the address that the client meant. */
static void put_divert(struct nft *r)
{
	struct buf *out = r->out;

	if (!r->l7)
		return;
	nft_about(
		out,
		"IPv6 over TCP that HAProxy decides: it gets those as they are. " RAW
		" may be anything");
	nft_about(out, "that is granted, " HTTP " HTTP and TLS alone");
	put_about_asks(r);
	nft_chain_begin(out, "divert");
	nft_chain_hook(out, "filter", "prerouting", "mangle", "accept");
	nft_rule(out, "iifname != " NFT_LINK " accept");
	nft_rule(out, "meta nfproto != ipv6 accept");
	nft_match_denied_any(r, IR_PROTO_TCP, "accept", 0);
	/* Flows that are open: their address may have left its set. */
	nft_match_set(out, "host", ADDR_V6, "accept");
	nft_match_set(out, "floor", ADDR_V6, "accept");
	nft_note(out,
		 "Flows that are open: their address may have left its set");
	nft_rule(out, "ct state established socket transparent 1 " TAKEN);
	put_diversion(r, ADDR_V6, "tproxy ip6 to " NETS " " TAKEN,
		      "tproxy ip6 to " RAW " " TAKEN,
		      "tproxy ip6 to " HTTP " " TAKEN,
		      "tproxy ip6 to " ASK " " TAKEN);
	nft_chain_end(out);
	buf_addc(out, '\n');
}

static void put_published(struct nft *r)
{
	each_proto(p) {
		if (!nft_has_proto(&r->published, *p))
			continue;
		each_family(f) {
			nft_begin(r->out);
			nft_word(r->out, "iifname != " NFT_LINK);
			nft_dport(r->out, &r->published, *p);
			nft_word(r->out,
				 *f == ADDR_V4 ? "dnat ip to " LINK_AGENT_V4
					       : "dnat ip6 to " LINK_AGENT_V6);
			nft_end(r->out);
		}
	}
}

static void put_prerouting(struct nft *r)
{
	struct buf *out = r->out;

	if (r->published.n == 0 && !r->l7)
		return;
	nft_about(out,
		  r->l7 ? "IPv4 over TCP that HAProxy decides goes there: " RAW
			  " may be anything that is granted,"
			: "Ports that are published lead to the agent");
	if (r->l7)
		nft_about(
			out, HTTP
			" HTTP and TLS alone; ports that are published lead to the agent");
	put_about_asks(r);
	nft_chain_begin(out, "prerouting");
	nft_chain_hook(out, "nat", "prerouting", "dstnat", "accept");
	put_published(r);
	if (r->l7) {
		nft_rule(out, "iifname != " NFT_LINK " accept");
		nft_match_denied_any(r, IR_PROTO_TCP, "accept", 0);
		nft_match_set(out, "host", ADDR_V4, "accept");
		nft_match_set(out, "floor", ADDR_V4, "accept");
		put_diversion(r, ADDR_V4, "redirect to " NETS,
			      "redirect to " RAW, "redirect to " HTTP,
			      "redirect to " ASK);
	}
	nft_chain_end(out);
	buf_addc(out, '\n');
}

static void put_input(struct nft *r)
{
	struct buf *out = r->out;

	nft_about(
		out,
		"What the gate itself takes: questions for its resolver, and what was sent to HAProxy above");
	nft_chain_begin(out, "input");
	nft_chain_hook(out, "filter", "input", "filter", "drop");
	nft_rule(out, "iifname \"lo\" accept");
	nft_rule(
		out,
		"icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept");
	nft_rule(out,
		 "iifname != " NFT_LINK " ct state established,related accept");
	nft_rule(out, "iifname != " NFT_LINK " drop");
	nft_rule(out, "ip daddr " LINK_GATE_V4 " udp dport 53 accept");
	nft_rule(out, "ip daddr " LINK_GATE_V4 " tcp dport 53 accept");
	nft_rule(out, "ip6 daddr " LINK_GATE_V6 " udp dport 53 accept");
	nft_rule(out, "ip6 daddr " LINK_GATE_V6 " tcp dport 53 accept");
	/* What the chains above sent to HAProxy, and nothing else there. */
	if (r->l7) {
		nft_rule(
			out,
			arena_fmt(
				r->in->a,
				"tcp dport { " GATE_TEXT(GATE_PORT_RAW) ", " GATE_TEXT(
					GATE_PORT_HTTP) "%s%s } ct status dnat accept",
				r->taken ? ", " GATE_TEXT(GATE_PORT_NETS) : "",
				r->asks.classes.n
					? ", " GATE_TEXT(GATE_PORT_ASK)
					: "")
				.p);
		nft_rule(out, "meta l4proto tcp meta mark " GATE_TEXT(
				      GATE_MARK_TPROXY) " accept");
	}
	if (ir_allows_machine(r->in->policy))
		nft_rule(out, "ip daddr " LINK_MACHINE_V4 " goto machine");
	nft_rule(out, "meta pkttype != host drop");
	nft_rule(out, NFT_REFUSE("floor"));
	nft_chain_end(out);
	buf_addc(out, '\n');
}

static void put_helpers(struct buf *out)
{
	nft_about(out,
		  "A flow that is granted: recorded, and its bytes counted");
	nft_chain_begin(out, "granted");
	/* Asking for bytes makes the kernel count them; the mark is for the
	 * record of the flow's end: runtime/gate/wire/flow_msg.h. */
	nft_rule(out, "ct bytes > 0 ct mark set " GATE_TEXT(GATE_MARK_FLOW));
	nft_rule(out, "log prefix \"" GATE_LOG_PREFIX GATE_LOG_ALLOW
		      ":\" group " GATE_TEXT(GATE_LOG_GRANTED) " accept");
	nft_chain_end(out);
	buf_addc(out, '\n');
	nft_link_refuse(out);
}

/* Whatever a grant says, and of flows that are open, too. */
static void put_refused(struct nft *r)
{
	const uint64_t denied = MARKS_FOR(DENIED);

	each_family(f) {
		nft_marks_default(r, nft_marks_both(*f),
				  MARKS_FOR(HOST_ADDRESS));
		nft_match_set(r->out, "host", *f, NFT_REFUSE("host-address"));
	}
	each_family(f) {
		nft_marks_default(r, nft_marks_both(*f), MARKS_FOR(FLOOR));
		nft_match_set(r->out, "floor", *f, NFT_REFUSE("floor"));
	}
	/* What is asked about does not get here. */
	each_family(f)
		if (nft_nets_of(&r->floor_asked, *f)->n) {
			nft_marks_default(r, nft_marks_both(*f),
					  MARKS_FOR(FLOOR));
			nft_match_set(r->out, "floorask", *f,
				      NFT_REFUSE("floor"));
		}
	each_proto(p)
		each_family(f)
			nft_match_kind(r, NFT_DENY, *f, *p,
				       NFT_REFUSE("denied"), denied);
	each_proto(p)
		nft_match_denied_any(r, *p, NFT_REFUSE("denied"), denied);
	/* HAProxy, where there is one, knows whom TCP is for. */
	each_family(f)
		each_proto(p)
			if (*p == IR_PROTO_UDP || !r->l7)
				nft_match_kind(r, NFT_GUARD, *f, *p,
					       NFT_REFUSE("denied"), denied);
	each_family(f)
		nft_quic_put(r, *f);
}

/* What needs no look at names; the rest went to HAProxy. */
static void put_granted(struct nft *r)
{
	const uint64_t granted = MARKS_FOR(GRANTED);

	/* TCP is the gate's own beside a proxy; UDP goes past that. */
	each_family(f) {
		if (!r->in->policy->upstream.set)
			nft_match_nets(r, false, *f, PASS);
		nft_match_kind(r, NFT_CIDR, *f, IR_PROTO_UDP, PASS, granted);
	}
	each_family(f)
		nft_match_kind(r, NFT_HOST, *f, IR_PROTO_UDP, PASS, granted);
	each_family(f)
		each_proto(p)
			if (*p == IR_PROTO_UDP ||
			    (r->any_direct && !r->in->policy->upstream.set))
				nft_match_kind(r, NFT_ANY, *f, *p, PASS,
					       granted);
}

static void put_forward(struct nft *r)
{
	struct buf *out = r->out;

	nft_about(
		out,
		"What goes through the gate: refused whatever a grant says, then granted, then refused");
	nft_chain_begin(out, "forward");
	nft_chain_hook(out, "filter", "forward", "filter", "drop");
	nft_rule(out, "iifname != " NFT_LINK " oifname " NFT_LINK
		      " ct state established,related accept");
	if (r->published.n)
		nft_rule(out, "iifname != " NFT_LINK " oifname " NFT_LINK
			      " ct status dnat accept");
	nft_rule(out, "iifname != " NFT_LINK " drop");
	/* Answers to who came in through a published port: perhaps the host. */
	if (r->published.n)
		nft_rule(
			out,
			"ct direction reply ct state established,related accept");
	nft_link_options(out);
	nft_note(
		out,
		"Refused whatever a grant says, and in flows that are open, too");
	put_refused(r);
	nft_note(out,
		 "Granted; TCP to names, where HAProxy is, does not get here");
	nft_rule(out, "ct state established,related accept");
	nft_rule(out, "ct state invalid drop");
	put_granted(r);
	nft_note(out, "Everything else");
	nft_rule(out, "meta l4proto != { tcp, udp } " NFT_REFUSE("protocol"));
	nft_marks_default(r, MARKS_TCP | MARKS_UDP,
			  MARKS_FOR(NO_GRANT) | MARKS_FOR(PORT) |
				  MARKS_FOR(UDP) | MARKS_FOR(PRIVATE_ADDRESS) |
				  MARKS_FOR(NOT_RESOLVED) | MARKS_FOR(NO_SNI));
	nft_rule(out, NFT_REFUSE("no-grant"));
	nft_chain_end(out);
	buf_addc(out, '\n');
}

static void put_postrouting(struct buf *out)
{
	nft_about(out, "The world sees the gate's address");
	nft_chain_begin(out, "postrouting");
	nft_chain_hook(out, "nat", "postrouting", "srcnat", "accept");
	nft_rule(out, "oifname != " NFT_LINK " masquerade");
	nft_chain_end(out);
}

bool nft_emit(const struct emit_in *in, struct buf *out)
{
	const ir_grants *allow = &in->policy->allow, *deny = &in->policy->deny;
	struct nft r = {.in = in, .out = out};
	emit_classes *grants = &r.grants.classes, *denials = &r.denials.classes,
		     *asks = &r.asks.classes;

	if (!emit_classes_make(in, grants) || !emit_denials_make(in, denials) ||
	    !emit_quics_make(in, &r.quics) || !emit_asks_make(in, asks))
		return false;
	r.grant_nets = nft_nets_classes(in, grants, allow, NFT_NETS_WHOLE);
	r.http_nets = nft_nets_classes(in, grants, allow, NFT_NETS_HTTP);
	r.denial_nets = nft_nets_classes(in, denials, deny, NFT_NETS_WHOLE);
	r.ask_nets = nft_nets_classes(in, asks, &in->policy->ask, NFT_NETS_ALL);
	r.grants.members = nft_marks_members(in, grants, allow);
	r.denials.members = nft_marks_members(in, denials, deny);
	r.asks.members = nft_marks_members(in, asks, &in->policy->ask);
	r.l7 = profiles_wanted(in->policy);
	r.any_direct = inspection_unseen(in->policy);
	vec_each(g, allow)
		r.taken |= upstream_takes(in->policy, g);
	r.inside = inspection_ports(in->a, in->policy);
	nft_quic_find(&r);
	nft_nets_floor(in, &r.floor);
	nft_nets_floor_asked(in, &r.floor_asked);
	nft_nets_private(in->a, &r.private);
	make_published(&r);
	buf_adds(
		out,
		"# The packet filter of one policy, in the words in which nft lists it. Sets come first; grants of the\n"
		"# same ports share one, for each kind of destination. The agent sends by " LINK_GATE_IF
		"; TCP that names decide goes\n"
		"# to HAProxy (gate.cfg), everything else is decided in chain forward.\n"
		"table inet " GATE_TABLE " {\n");
	nft_sets_put(&r);
	nft_link_source(out);
	put_prerouting(&r);
	put_divert(&r);
	put_input(&r);
	nft_link_output(&r);
	put_helpers(out);
	nft_machine_put(&r);
	put_forward(&r);
	nft_quic_chain(&r);
	put_postrouting(out);
	buf_adds(out, "}\n");
	return true;
}
