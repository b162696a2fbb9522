/*
 * What ruleset.nft says of the agent's link whatever the policy is: who may
 * send there, and what the gate itself may send where. The addresses are
 * constants (compiler/plan/gate.h), so that the text is, too.
 */
#include "compiler/emit/nft/nft_parts.h"
#include "compiler/ir/upstream.h"
#include "compiler/plan/names_map.h"

/* Neighbour discovery is for neighbours: no router has lowered it. */
#define NEIGHBOURS                                                             \
	"icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept"

/*
 * Sources, before pieces are put together, before conntrack and NAT: whoever
 * may send raw packets writes any source, and with IPV6_FREEBIND every process
 * does in IPv6; what the gate answers would go there. A kernel that has an
 * address of its own looks for neighbours from there, or from none while it
 * makes sure that nobody else has it. By itself it also says where it listens,
 * and so does a bridge that the link leads over (IGMPv3, from the host's
 * address: it snoops, and tells all snoopers). Nobody is told of that.
 */
void nft_link_source(struct buf *out)
{
	nft_about(
		out,
		"First of all: what comes from the agent bears the agent's own addresses");
	nft_chain_begin(out, "source");
	nft_chain_hook(out, "filter", "prerouting", "-450", "accept");
	nft_rule(out, "iifname != " NFT_LINK " accept");
	nft_rule(out, "ip saddr " LINK_AGENT_V4 " accept");
	nft_rule(out, "ip6 saddr " LINK_AGENT_V6 " accept");
	nft_rule(out,
		 "ip6 saddr { ::, fe80::/10 } ip6 hoplimit 255 " NEIGHBOURS);
	nft_rule(
		out,
		"ip6 saddr { ::, fe80::/10 } icmpv6 type { mld-listener-report, mld-listener-done, nd-router-solicit, mld2-listener-report } counter drop");
	nft_rule(out, "ip daddr 224.0.0.22 counter drop");
	nft_rule(
		out,
		"limit rate 6/minute burst 10 packets log prefix \"" GATE_LOG_PREFIX
		"forged-source:\" group " GATE_TEXT(GATE_LOG_REFUSED));
	nft_rule(out, "counter drop");
	nft_chain_end(out);
	buf_addc(out, '\n');
}

/* One program of the gate's, to one place of the world's: no name is asked for,
 * and no address but the proxy's is reached, whoever errs. */
static void put_to_proxy(struct buf *out)
{
	nft_note(out, "To the proxy, and nowhere else");
	nft_rule(
		out,
		"meta skuid " GATE_TEXT(
			GATE_UPSTREAM_UID) " ip daddr . tcp dport @proxy4 ct direction original ct state established,new accept");
	nft_rule(
		out,
		"meta skuid " GATE_TEXT(
			GATE_UPSTREAM_UID) " ip6 daddr . tcp dport @proxy6 ct direction original ct state established,new accept");
}

#define BY_US	 "meta skuid " GATE_TEXT(GATE_UPSTREAM_UID)
#define BY_ASKER "meta skuid 0"
#define OPENS	 " ct direction original ct state established,new accept"
#define OF_NAMES NAMES_MAP_SET_PAST "%u_1"

/* Addresses of names leave their set before the flows to them end. */
static void put_past_proxy(struct nft *r)
{
	struct buf *out = r->out;

	nft_note(
		out,
		"Past it: networks of 'direct', addresses that its names led to, and questions for those");
	each_family(f)
		if (nft_nets_of(&r->past, *f)->n)
			buf_addf(out,
				 "\t\t" BY_US
				 " meta l4proto tcp %s daddr @direct%u" OPENS
				 "\n",
				 *f == ADDR_V4 ? "ip" : "ip6", (unsigned)*f);
	if (!upstream_asks(r->in->policy))
		return;
	each_family(f)
		buf_addf(out,
			 "\t\t" BY_US " meta l4proto tcp %s daddr @" OF_NAMES
			 " ct direction original ct state new accept\n",
			 *f == ADDR_V4 ? "ip" : "ip6", (unsigned)*f);
	nft_rule(
		out, BY_US
		" meta l4proto tcp ct direction original ct state established accept");
	each_family(f)
		each_proto(p)
			buf_addf(out,
				 "\t\t" BY_ASKER
				 " %s daddr . %s dport @resolver%u" OPENS "\n",
				 *f == ADDR_V4 ? "ip" : "ip6",
				 ir_proto_name(*p), (unsigned)*f);
}

/*
 * The gate's own packets. To the agent: all; nobody else is on that link. By
 * the uplink: what resolver and HAProxy begin, neighbours, and that a packet of
 * the world's was too big. No answer goes there, as there is no service.
 */
void nft_link_output(struct nft *r)
{
	struct buf *out = r->out;

	nft_about(
		out,
		"What the gate itself sends: to the agent, and what resolver and HAProxy begin");
	nft_chain_begin(out, "output");
	nft_chain_hook(out, "filter", "output", "filter", "drop");
	nft_rule(out, "oifname \"lo\" accept");
	nft_rule(out, "oifname " NFT_LINK " ip daddr " LINK_AGENT_V4 " accept");
	nft_rule(out,
		 "oifname " NFT_LINK " ip6 daddr " LINK_AGENT_V6 " accept");
	nft_rule(out, NEIGHBOURS);
	nft_rule(out, "oifname " NFT_LINK " drop");
	if (r->in->policy->upstream.set)
		put_to_proxy(out);
	if (r->in->policy->upstream.direct.n)
		put_past_proxy(r);
	if (!r->in->policy->upstream.set)
		nft_rule(
			out,
			"meta l4proto { tcp, udp } ct direction original ct state established,new accept");
	nft_rule(
		out,
		"icmpv6 type { mld-listener-report, mld2-listener-report } accept");
	nft_rule(
		out,
		"ct state related icmp type destination-unreachable icmp code frag-needed accept");
	nft_rule(out, "ct state related icmpv6 type packet-too-big accept");
	nft_rule(out, "counter drop");
	nft_chain_end(out);
	buf_addc(out, '\n');
}

/* So many refusals are answered that nobody waits for nothing, and no more. */
void nft_link_refuse(struct buf *out)
{
	nft_about(
		out,
		"Refused packets are answered, so that nobody waits; a flood of them is not");
	nft_chain_begin(out, "refuse");
	nft_rule(out,
		 "limit rate over 1000/second burst 5000 packets counter drop");
	nft_rule(out, "meta l4proto tcp reject with tcp reset");
	nft_rule(out, "reject with icmpx admin-prohibited");
	nft_chain_end(out);
	buf_addc(out, '\n');
}

/* Options of IPv4, a route of IPv6's: for routers, behind whom the packet may
 * be for somebody else. */
void nft_link_options(struct buf *out)
{
	nft_note(
		out,
		"Options of IPv4, a route of IPv6's: for routers, who may send it to somebody else");
	nft_rule(out, "ip hdrlength != 5 " NFT_REFUSE("protocol"));
	nft_rule(out, "exthdr rt exists " NFT_REFUSE("protocol"));
}
