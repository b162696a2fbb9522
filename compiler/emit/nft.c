#include "compiler/emit/nft.h"

#include "compiler/emit/nft_write.h"
#include "compiler/ir/ports.h"

static const enum addr_family families[] = {ADDR_V4, ADDR_V6};
static const enum ir_proto protos[] = {IR_PROTO_TCP, IR_PROTO_UDP};

#define each_family(f)                                                         \
	for (const enum addr_family *f = families; f < families + 2; f++)
#define each_proto(p) for (const enum ir_proto *p = protos; p < protos + 2; p++)

/* Addresses of a class, per family. */
struct nets {
	ranges v4, v6;
};

struct rules {
	const struct emit_in *in;
	struct buf *out;
	emit_classes grants, denials;
	struct nets *grant_nets, *denial_nets; /* by class, from 0 */
	struct nets floor, private;
	ir_ports published;
};

static ranges *of_family(struct nets *n, enum addr_family family)
{
	return family == ADDR_V4 ? &n->v4 : &n->v6;
}

static void add_net(struct arena *a, struct nets *n, const struct cidr *net)
{
	ranges_add(a, of_family(n, net->addr.family), net);
}

static void settle(struct nets *n)
{
	ranges_settle(&n->v4);
	ranges_settle(&n->v6);
}

/* --- what goes into the sets --------------------------------------------- */

/* The networks of each class, in one walk over the grants. */
static struct nets *class_nets(struct arena *a, const emit_classes *classes,
			       const ir_grants *grants)
{
	struct nets *nets = arena_array(a, classes->n + 1, sizeof(*nets));

	vec_each(g, grants) {
		uint32_t k = 0;

		if (g->dest.kind == IR_DEST_CIDR &&
		    g->from.layer != LAYER_FLOOR)
			k = emit_class_of(a, classes, g);
		if (k)
			add_net(a, &nets[k - 1], &g->dest.u.cidr.net);
	}
	for (uint32_t k = 0; k < classes->n; k++)
		settle(&nets[k]);
	return nets;
}

/*
 * The floor without what more specific grants open of it, each entry carved by
 * itself.
 */
static void make_floor(struct rules *r)
{
	struct arena *a = r->in->a;

	vec_each(d, &r->in->policy->deny) {
		const struct cidr *net = &d->dest.u.cidr.net;
		struct nets whole = {0}, opened = {0};
		ranges rest;

		if (d->from.layer != LAYER_FLOOR)
			continue;
		add_net(a, &whole, net);
		vec_each(g, &r->in->policy->allow)
			if (g->dest.kind == IR_DEST_CIDR && !g->has_http &&
			    g->dest.u.cidr.net.bits > net->bits &&
			    cidr_covers(net, &g->dest.u.cidr.net))
				add_net(a, &opened, &g->dest.u.cidr.net);
		settle(&opened);
		rest = ranges_minus(a, of_family(&whole, net->addr.family),
				    of_family(&opened, net->addr.family));
		vec_each(x, &rest)
			*vec_push(a, of_family(&r->floor, net->addr.family)) =
				*x;
	}
	settle(&r->floor);
}

/* What '*' does not open: all that is not public, the carved floor included. */
static void make_private(struct rules *r)
{
	const struct addr_special *s;
	struct cidr net;

	for (size_t at = 0; addr_private_next(&at, &net);)
		add_net(r->in->a, &r->private, &net);
	for (size_t i = 0; (s = addr_special(i)); i++) {
		cidr_parse(str_of(s->text), &net);
		add_net(r->in->a, &r->private, &net);
	}
	settle(&r->private);
}

static void make_published(struct rules *r)
{
	vec_each(x, &r->in->policy->docker_args)
		if (x->is_publish)
			*vec_push(r->in->a, &r->published) = (struct ir_port){
				x->publish.proto, x->publish.lo, x->publish.hi,
				x->from.at};
	ports_normalise(&r->published);
}

/* --- sets ---------------------------------------------------------------- */

static bool any_any(const emit_classes *classes)
{
	vec_each(k, classes)
		if (k->has_any)
			return true;
	return false;
}

static void put_both(struct rules *r, const char *stem, struct nets *nets)
{
	each_family(f)
		nft_put_ranges(r->out, (struct nft_set){stem, *f, 0},
			       of_family(nets, *f));
}

static void put_class_sets(struct rules *r, const char *stem, struct nets *nets,
			   uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		each_family(f)
			if (of_family(&nets[k], *f)->n)
				nft_put_ranges(
					r->out,
					(struct nft_set){stem, *f, k + 1},
					of_family(&nets[k], *f));
}

static void put_sets(struct rules *r)
{
	struct nets none = {0};

	put_both(r, "floor", &r->floor);
	put_both(r, "host", &none);
	if (any_any(&r->grants))
		put_both(r, "private", &r->private);
	put_class_sets(r, "deny", r->denial_nets, r->denials.n);
	put_class_sets(r, "cidr", r->grant_nets, r->grants.n);
	for (uint32_t k = 0; k < r->grants.n; k++)
		each_family(f)
			if (r->grants.v[k].has_name)
				nft_put_dynamic(
					r->out,
					(struct nft_set){"host", *f, k + 1});
}

/* --- chains -------------------------------------------------------------- */

#define REFUSE(reason)                                                         \
	"counter log prefix \"membrane:" reason ":\" group 77 goto refuse"
#define GRANTED "goto granted"

static void put_prerouting(struct rules *r)
{
	if (r->published.n == 0)
		return;
	nft_chain_begin(r->out, "prerouting");
	nft_chain_hook(r->out, "nat", "prerouting", "dstnat", "accept");
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
	nft_chain_end(r->out);
	buf_addc(r->out, '\n');
}

static void put_input(struct buf *out)
{
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
	nft_rule(out, "meta pkttype != host drop");
	nft_rule(out, REFUSE("floor"));
	nft_chain_end(out);
	buf_addc(out, '\n');
}

static void put_helpers(struct buf *out)
{
	nft_chain_begin(out, "granted");
	nft_rule(out, "log prefix \"membrane:allow:\" group 77 accept");
	nft_chain_end(out);
	buf_addc(out, '\n');
	nft_chain_begin(out, "refuse");
	nft_rule(out, "meta l4proto tcp reject with tcp reset");
	nft_rule(out, "reject with icmpx admin-prohibited");
	nft_chain_end(out);
	buf_addc(out, '\n');
}

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

static void put_denials(struct rules *r)
{
	for (uint32_t k = 0; k < r->denials.n; k++) {
		const struct emit_class *class = &r->denials.v[k];

		each_family(f) {
			struct nft_set set = {"deny", *f, k + 1};

			if (of_family(&r->denial_nets[k], *f)->n == 0)
				continue;
			each_proto(p)
				put_match(r->out, &set, true, &class->ports, *p,
					  REFUSE("denied"));
		}
		if (class->has_any)
			each_proto(p)
				put_match(r->out, NULL, true, &class->ports, *p,
					  REFUSE("denied"));
	}
}

/* All classes of one kind of set; is_in: the addresses in it, or the rest. */
static void put_grants(struct rules *r, const char *stem, bool is_in,
		       bool (*wanted)(struct rules *r, uint32_t k,
				      enum addr_family f))
{
	for (uint32_t k = 0; k < r->grants.n; k++)
		each_family(f) {
			struct nft_set set = {stem, *f, is_in ? k + 1 : 0};

			if (!wanted(r, k, *f))
				continue;
			each_proto(p)
				put_match(r->out, &set, is_in,
					  &r->grants.v[k].ports, *p, GRANTED);
		}
}

static bool has_net(struct rules *r, uint32_t k, enum addr_family f)
{
	return of_family(&r->grant_nets[k], f)->n > 0;
}

static bool has_name(struct rules *r, uint32_t k, enum addr_family f)
{
	(void)f;
	return r->grants.v[k].has_name;
}

static bool has_any(struct rules *r, uint32_t k, enum addr_family f)
{
	(void)f;
	return r->grants.v[k].has_any;
}

static void put_forward(struct rules *r)
{
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
	each_family(f)
		put_set_rule(out, "host", *f, REFUSE("host-address"));
	each_family(f)
		put_set_rule(out, "floor", *f, REFUSE("floor"));
	put_denials(r);
	nft_rule(out, "ct state established,related accept");
	nft_rule(out, "ct state invalid drop");
	put_grants(r, "cidr", true, has_net);
	put_grants(r, "host", true, has_name);
	put_grants(r, "private", false, has_any);
	nft_rule(out, "meta l4proto != { tcp, udp } " REFUSE("protocol"));
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
	struct rules r = {.in = in, .out = out};

	if (!emit_classes_make(in, &r.grants) ||
	    !emit_denials_make(in, &r.denials))
		return false;
	r.grant_nets = class_nets(in->a, &r.grants, &in->policy->allow);
	r.denial_nets = class_nets(in->a, &r.denials, &in->policy->deny);
	make_floor(&r);
	make_private(&r);
	make_published(&r);
	buf_adds(out, "table inet membrane {\n");
	put_sets(&r);
	put_prerouting(&r);
	put_input(out);
	put_helpers(out);
	put_forward(&r);
	put_postrouting(out);
	buf_adds(out, "}\n");
	return true;
}
