/*
 * The NetworkPolicy: what the Pod's packets may reach if the gate let them
 * all out. Never less than the gate lets out, and no more than that language
 * can say: a name is every public address, on the ports of all names, and a
 * denial counts where it is of all ports.
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

/* Denied on every port, whatever allows it; the floor's own apart. */
static bool is_closed(const struct kube *k, const struct cidr *net)
{
	vec_each(d, &k->policy->deny)
		if (d->dest.kind == IR_DEST_CIDR && !d->has_http &&
		    ports_all(&d->ports) && d->from.layer != LAYER_FLOOR &&
		    cidr_covers(&d->dest.u.cidr.net, net))
			return true;
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
	return is_closed(k, net) || is_floor(net);
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

/* Strictly inside, as the API wants it. IPv4 in IPv6 (::ffff:0:0/96) is no
 * packet's address, and Go takes it for IPv4. */
static void leave_out(const struct kube *k, kube_nets *out,
		      const struct cidr *net, const struct cidr *hole)
{
	struct addr v4;

	if (hole->bits > net->bits && cidr_covers(net, hole) &&
	    !addr_mapped(&hole->addr, &v4))
		*vec_push(k->a, out) = *hole;
}

static kube_nets net_holes(const struct kube *k, bool publicly,
			   const struct cidr *net)
{
	const struct addr_special *s;
	kube_nets all = {0}, out = {0};

	for (size_t i = 0; (s = addr_special(i)); i++)
		if (s->scope == ADDR_NEVER ||
		    (s->scope == ADDR_PRIVATE && publicly))
			leave_out(k, &all, net, &s->net);
	vec_each(d, &k->policy->deny)
		if (d->dest.kind == IR_DEST_CIDR &&
		    is_closed(k, &d->dest.u.cidr.net))
			leave_out(k, &all, net, &d->dest.u.cidr.net);
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

void kube_net_put(const struct kube *k, struct kube_node *block, bool publicly,
		  const struct cidr *net)
{
	kube_nets holes = net_holes(k, publicly, net);
	struct kube_node *list;
	char text[CIDR_TEXT_MAX];

	kube_tree_text(block, "cidr",
		       arena_fmt(k->a, "%s", cidr_text(net, text)));
	if (holes.n == 0)
		return;
	list = kube_tree_list(block, "except");
	vec_each(h, &holes)
		kube_tree_text(list, NULL,
			       arena_fmt(k->a, "%s", cidr_text(h, text)));
}

static void put_block(const struct kube *k, struct kube_node *to,
		      const struct opening *o, const struct cidr *net)
{
	struct kube_node *b = kube_tree_map(kube_tree_map(to, NULL), "ipBlock");

	kube_net_put(k, b, o->names && !o->privately, net);
}

static void put_opening(const struct kube *k, struct kube_node *egress,
			struct opening *o)
{
	static const struct cidr everything[] = {{.addr = {.family = ADDR_V4}},
						 {.addr = {.family = ADDR_V6}}};
	struct kube_node *rule = kube_tree_map(egress, NULL), *list;

	list = kube_tree_list(rule, "ports");
	vec_each(p, &o->ports)
		put_port(list, p);
	list = kube_tree_list(rule, "to");
	for (size_t i = 0; o->names && i < ARRAY_LEN(everything); i++)
		put_block(k, list, o, &everything[i]);
	vec_sort(&o->nets, by_cidr);
	vec_each(net, &o->nets)
		put_block(k, list, o, net);
	vec_each(from, &o->from)
		kube_tree_from(k->in, rule, *from);
}

/* The gate asks it, over UDP and, where an answer is long, over TCP. */
static void put_resolver(const struct kube *k, struct kube_node *egress)
{
	const struct ir_resolver *r = &k->policy->resolver.v;
	struct ir_port port = {IR_PROTO_TCP, r->port, r->port, {0}};
	struct cidr net = {r->addr, addr_bits(r->addr.family)};
	struct kube_node *rule = kube_tree_map(egress, NULL), *list;
	static const struct opening none = {0};

	list = kube_tree_list(rule, "ports");
	put_port(list, &port);
	port.proto = IR_PROTO_UDP;
	put_port(list, &port);
	put_block(k, kube_tree_list(rule, "to"), &none, &net);
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
