/*
 * The NetworkPolicy: what the Pod's packets may reach if the gate let them
 * all out. Never less than the gate lets out, and no more than that language
 * can say: a name is every public address, on the ports of all names; what is
 * denied of networks and ports is left out, and denials of names and requests
 * are not in it. `compile --prove` holds that against the policy.
 */
#include "compiler/emit/kubernetes/parts.h"

#include "compiler/ir/ports.h"
#include "compiler/ir/published.h"

#include <stdlib.h>

#define SINGLE_PORTS 8u /* a range of more is written as one (1.25) */

/* Networks of one list of ports; each with those that are out of it. */
struct opening {
	struct str key; /* the ports' text, and what they lead to */
	ir_ports ports;
	bool names, privately; /* public addresses; and private ones */
	VEC(struct cidr) nets;
	VEC(const struct ir_origin *) from;
};
typedef VEC(struct opening) openings;

static struct opening *opening_of(struct arena *a, openings *all,
				  struct str key)
{
	struct opening *o;

	vec_each(one, all)
		if (str_eq(one->key, key))
			return one;
	o = vec_push(a, all);
	o->key = key;
	return o;
}

/* All names are one opening, and those that may lead to private addresses
 * another: an address has no name here. */
static void open_name(const struct kube *k, openings *all,
		      const struct ir_grant *g)
{
	bool privately = g->private.set && g->private.v;
	struct opening *o = opening_of(
		k->a, all, privately ? STR("private names") : STR("names"));

	o->names = true;
	o->privately = privately;
	vec_each(p, &g->ports)
		*vec_push(k->a, &o->ports) = *p;
	*vec_push(k->a, &o->from) = &g->from;
}

/* Is it about whole packets, where it is of networks, and at that port; NULL:
 * at every port? The floor's own are not. */
static bool is_denial(const struct ir_grant *d, const struct ir_port *at)
{
	if (ir_grant_http(d) || d->from.layer == LAYER_FLOOR)
		return false;
	return at ? ports_has(&d->ports, at->proto, at->lo)
		  : ports_all(&d->ports);
}

/* Denied whole, whatever allows it. */
static bool is_closed(const struct kube *k, const struct cidr *net,
		      const struct ir_port *at)
{
	vec_each(d, &k->policy->deny) {
		const struct cidr *of = ir_dest_net(&d->dest);

		if (is_denial(d, at) && (d->dest.kind == IR_DEST_ANY ||
					 (of && cidr_covers(of, net))))
			return true;
	}
	return false;
}

/* A grant that is no more specific than the floor's entry opens none of it. */
static bool is_floor(const struct cidr *net)
{
	const struct addr_special *s;

	for (size_t i = 0; (s = addr_special(i)); i++)
		if (s->scope == ADDR_NEVER && cidr_cmp(&s->net, net) == 0)
			return true;
	return false;
}

bool kube_net_is_shut(const struct kube *k, const struct cidr *net)
{
	return is_closed(k, net, NULL) || is_floor(net);
}

static void open_net(const struct kube *k, openings *all,
		     const struct ir_grant *g, const struct cidr *net)
{
	struct opening *o;

	if (kube_net_is_shut(k, net))
		return;
	o = opening_of(k->a, all, ir_ports_text(k->a, &g->ports));
	o->ports = g->ports;
	*vec_push(k->a, &o->nets) = *net;
	*vec_push(k->a, &o->from) = &g->from;
}

static void open_all(const struct kube *k, openings *all)
{
	const ir_grants *lists[] = {&k->policy->allow, &k->policy->ask};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		vec_each(g, lists[i]) {
			const struct cidr *net = ir_dest_net(&g->dest);

			if (net)
				open_net(k, all, g, net);
			else
				open_name(k, all, g);
		}
	vec_each(o, all)
		if (o->names)
			ports_normalise(&o->ports);
}

/* --- what is out of a network --------------------------------------------- */

typedef VEC(struct cidr) kube_nets;

static int by_cidr(const void *a, const void *b)
{
	return cidr_cmp(a, b);
}

/* Strictly inside, as the API wants it: a network that is denied as a whole is
 * not there. IPv4 in IPv6 (::ffff:0:0/96) is no packet's address, and Go takes
 * it for IPv4. */
static void leave_out(const struct kube *k, kube_nets *out,
		      const struct cidr *net, const struct cidr *hole)
{
	struct addr v4;

	if (cidr_covers(net, hole) && !addr_mapped(&hole->addr, &v4))
		*vec_push(k->a, out) = *hole;
}

static kube_nets net_holes(const struct kube *k, bool publicly,
			   const struct cidr *net, const struct ir_port *at)
{
	const struct addr_special *s;
	kube_nets all = {0}, out = {0};

	for (size_t i = 0; (s = addr_special(i)); i++)
		if (s->scope == ADDR_NEVER || publicly)
			leave_out(k, &all, net, &s->net);
	vec_each(d, &k->policy->deny)
		if (ir_dest_net(&d->dest) && is_denial(d, at))
			leave_out(k, &all, net, ir_dest_net(&d->dest));
	vec_sort(&all, by_cidr);
	vec_each(c, &all)
		if (!out.n || !cidr_covers(&out.v[out.n - 1], c))
			*vec_push(k->a, &out) = *c;
	return out;
}

/* --- the manifest --------------------------------------------------------- */

struct kube_node *kube_network_port(struct kube_node *list, uint16_t port,
				    const char *proto)
{
	struct kube_node *item = kube_tree_map(list, NULL);

	kube_tree_number(item, "port", port);
	kube_tree_word(item, "protocol", proto);
	return item;
}

static void put_port(struct kube_node *list, const struct ir_port *p)
{
	const char *proto = p->proto == IR_PROTO_TCP ? "TCP" : "UDP";
	bool is_range = (unsigned)(p->hi - p->lo) >= SINGLE_PORTS;
	unsigned last = is_range ? p->lo : p->hi;

	for (unsigned n = p->lo; n <= last; n++) {
		struct kube_node *item = kube_tree_map(list, NULL);

		if (p->lo > 1 || p->hi < UINT16_MAX) {
			kube_tree_number(item, "port", n);
			if (is_range)
				kube_tree_number(item, "endPort", p->hi);
		}
		kube_tree_word(item, "protocol", proto);
	}
}

static void put_net(struct kube_node *block, const struct cidr *net,
		    const kube_nets *holes)
{
	struct arena *a = block->a;
	struct kube_node *list;
	char text[CIDR_TEXT_MAX];

	kube_tree_text(block, "cidr", arena_fmt(a, "%s", cidr_text(net, text)));
	if (holes->n == 0)
		return;
	list = kube_tree_list(block, "except");
	vec_each(h, holes)
		kube_tree_text(list, NULL,
			       arena_fmt(a, "%s", cidr_text(h, text)));
}

void kube_net_put(const struct kube *k, struct kube_node *block, bool publicly,
		  const struct cidr *net)
{
	kube_nets holes = net_holes(k, publicly, net, NULL);

	put_net(block, net, &holes);
}

/* --- ports on which something is denied ------------------------------------
 */

/* Ports of an opening that lead to the same; and what that is. */
struct group {
	struct str key;
	ir_ports ports;
	VEC(struct block {
		struct cidr net;
		kube_nets holes;
	})
	blocks;
};
typedef VEC(struct group) group_list;

static void add_block(const struct kube *k, struct group *g,
		      const struct opening *o, const struct cidr *net,
		      const struct ir_port *at)
{
	struct block *b;

	if (is_closed(k, net, at))
		return;
	b = vec_push(k->a, &g->blocks);
	b->net = *net;
	b->holes = net_holes(k, o->names && !o->privately, net, at);
}

/* Where a piece of its ports leads to, between which nothing is denied. */
static struct group group_at(const struct kube *k, const struct opening *o,
			     const struct ir_port *at)
{
	static const struct cidr everything[] = {{.addr = {.family = ADDR_V4}},
						 {.addr = {.family = ADDR_V6}}};
	struct group g = {0};
	char text[CIDR_TEXT_MAX];
	struct buf key;

	for (size_t i = 0; o->names && i < ARRAY_LEN(everything); i++)
		add_block(k, &g, o, &everything[i], at);
	vec_each(net, &o->nets)
		add_block(k, &g, o, net, at);
	buf_init(&key, k->a);
	vec_each(b, &g.blocks) {
		buf_addf(&key, "%s", cidr_text(&b->net, text));
		vec_each(h, &b->holes)
			buf_addf(&key, " %s", cidr_text(h, text));
		buf_addc(&key, '\n');
	}
	g.key = buf_str(&key);
	return g;
}

/* The last port from at->lo on that is denied as that one is. */
static uint16_t piece_end(const struct kube *k, const struct ir_port *at)
{
	uint16_t hi = at->hi;

	vec_each(d, &k->policy->deny)
		vec_each(p, &d->ports) {
			if (p->proto != at->proto || p->hi < at->lo)
				continue;
			if (p->lo > at->lo && p->lo <= hi)
				hi = (uint16_t)(p->lo - 1);
			if (p->lo <= at->lo && p->hi < hi)
				hi = p->hi;
		}
	return hi;
}

static void add_piece(const struct kube *k, group_list *all,
		      const struct opening *o, const struct ir_port *piece)
{
	struct group now = group_at(k, o, piece);

	if (now.blocks.n == 0)
		return;
	vec_each(g, all)
		if (str_eq(g->key, now.key)) {
			*vec_push(k->a, &g->ports) = *piece;
			return;
		}
	*vec_push(k->a, &now.ports) = *piece;
	*vec_push(k->a, all) = now;
}

static group_list find_groups(const struct kube *k, struct opening *o)
{
	group_list all = {0};

	vec_sort(&o->nets, by_cidr);
	vec_each(p, &o->ports)
		for (struct ir_port rest = *p;;) {
			struct ir_port piece = rest;

			piece.hi = piece_end(k, &rest);
			add_piece(k, &all, o, &piece);
			if (piece.hi == p->hi)
				break;
			rest.lo = (uint16_t)(piece.hi + 1);
		}
	vec_each(g, &all)
		ports_normalise(&g->ports);
	return all;
}

static void put_group(const struct kube *k, struct kube_node *egress,
		      const struct opening *o, const struct group *g)
{
	struct kube_node *rule = kube_tree_map(egress, NULL), *list;

	list = kube_tree_list(rule, "ports");
	vec_each(p, &g->ports)
		put_port(list, p);
	list = kube_tree_list(rule, "to");
	vec_each(b, &g->blocks)
		put_net(kube_tree_map(kube_tree_map(list, NULL), "ipBlock"),
			&b->net, &b->holes);
	vec_each(from, &o->from)
		kube_tree_from(k->in, rule, *from);
}

static void put_opening(const struct kube *k, struct kube_node *egress,
			struct opening *o)
{
	group_list all = find_groups(k, o);

	vec_each(g, &all)
		put_group(k, egress, o, g);
}

/* The gate asks it, over UDP and, where an answer is long, over TCP. */
static void put_resolver(const struct kube *k, struct kube_node *egress)
{
	const struct ir_resolver *r = &k->policy->resolver.v;
	struct ir_port port = {IR_PROTO_TCP, r->port, r->port, {0}};
	struct cidr net = {r->addr, addr_bits(r->addr.family)};
	struct kube_node *rule = kube_tree_map(egress, NULL), *list, *to;
	const kube_nets none = {0};

	list = kube_tree_list(rule, "ports");
	put_port(list, &port);
	port.proto = IR_PROTO_UDP;
	put_port(list, &port);
	to = kube_tree_map(kube_tree_list(rule, "to"), NULL);
	put_net(kube_tree_map(to, "ipBlock"), &net, &none);
	kube_tree_from(k->in, rule, &k->policy->resolver.from);
}

void kube_network_egress(const struct kube *k, struct kube_node *spec)
{
	struct kube_node *egress = kube_tree_list(spec, "egress");
	openings all = {0};
	bool names = false;

	open_all(k, &all);
	vec_each(o, &all) {
		put_opening(k, egress, o);
		names |= o->names;
	}
	if (names)
		put_resolver(k, egress);
}

static void put_ingress(const struct kube *k, struct kube_node *spec)
{
	struct kube_node *ingress = kube_tree_list(spec, "ingress"), *list;

	if (k->policy->ports.n == 0)
		return;
	list = kube_tree_list(kube_tree_map(ingress, NULL), "ports");
	vec_each(t, &k->policy->ports) {
		struct ir_published p;

		if (published_parse(t->s, &p))
			abort(); /* bound, or of a policy.json that was */
		kube_tree_from(k->in, kube_network_port(list, p.to, "TCP"),
			       &t->from);
	}
}

struct kube_node *kube_network_tree(const struct kube *k)
{
	static const char *const both[] = {"Ingress", "Egress", NULL};
	struct kube_node *root, *meta, *spec, *match;

	root = kube_object(k, "networking.k8s.io/v1", "NetworkPolicy",
			   kube_name(k), &meta);
	kube_session_put(k, kube_labels_put(k, meta, NULL));
	spec = kube_tree_map(root, "spec");
	kube_network_egress(k, spec);
	put_ingress(k, spec);
	match = kube_tree_map(kube_tree_map(spec, "podSelector"),
			      "matchLabels");
	kube_tree_text(match, KUBE_PLAN_LABEL,
		       arena_fmt(k->a, "%.*s", (int)KUBE_LABEL_HEX, k->digest));
	kube_tree_words(spec, "policyTypes", both);
	return root;
}
