/*
 * The CiliumNetworkPolicy: as networkpolicy.yaml, but names are names. A rule
 * for each grant. Never less than the gate lets out:
 *
 * - '*' is any part of a label there, '**.' one label or more: both hold what
 *   they hold here.
 * - A Pod or a node has no address for it, but an identity: what may lead to a
 *   private address is let through to the cluster besides.
 */
#include "compiler/emit/kubernetes/parts.h"

#include "compiler/ir/published.h"

#include <stdlib.h>

#define PORTS_MAX 40u /* of one list: the schema's bound */

/* What somebody has to know who takes it for a wall. */
static const char note[] =
	"a second belt: another name at the same address passes (cilium 31803), a name of many addresses can be refused (28427)";

static void put_port(struct kube_node *list, const struct ir_port *p)
{
	struct kube_node *item = kube_tree_map(list, NULL);

	kube_tree_text(item, "port", arena_fmt(list->a, "%u", p->lo));
	if (p->hi > p->lo)
		kube_tree_number(item, "endPort", p->hi);
	kube_tree_word(item, "protocol",
		       p->proto == IR_PROTO_TCP ? "TCP" : "UDP");
}

/* questions: every one, since the gate asks for what is granted alone. Without
 * these rules Cilium sees no answers. */
static void put_ports(struct kube_node *rule, const ir_ports *ports,
		      bool questions)
{
	struct kube_node *all = kube_tree_list(rule, "toPorts"), *item = NULL;
	struct kube_node *list = NULL;

	for (uint32_t i = 0; i < ports->n; i++) {
		if (i % PORTS_MAX == 0) {
			item = kube_tree_map(all, NULL);
			list = kube_tree_list(item, "ports");
		}
		put_port(list, &ports->v[i]);
	}
	if (!questions)
		return;
	list = kube_tree_list(kube_tree_map(item, "rules"), "dns");
	kube_tree_word(kube_tree_map(list, NULL), "matchPattern", "*");
}

/* One way out: to a network, to a name (net NULL), or to the cluster. */
struct way {
	const struct cidr *net;
	struct str name;
	bool publicly, cluster, questions;
	const ir_ports *ports;
	const struct ir_origin *from;
};

static void put_way(const struct kube *k, struct kube_node *egress,
		    const struct way *w)
{
	struct kube_node *rule = kube_tree_map(egress, NULL), *to;

	if (w->cluster) {
		static const char *const cluster[] = {"cluster", NULL};

		kube_tree_words(rule, "toEntities", cluster);
	} else if (w->net) {
		to = kube_tree_list(rule, "toCIDRSet");
		kube_net_put(k, kube_tree_map(to, NULL), w->publicly, w->net);
	} else {
		bool is_pattern = str_find(w->name, '*', 0) < w->name.n;

		to = kube_tree_map(kube_tree_list(rule, "toFQDNs"), NULL);
		kube_tree_text(to, is_pattern ? "matchPattern" : "matchName",
			       w->name);
	}
	put_ports(rule, w->ports, w->questions);
	kube_tree_from(k->in, rule, w->from);
}

/* May a Pod, a Service or a node have one of these addresses? */
static bool is_private(const struct cidr *net)
{
	const struct addr_special *s;

	for (size_t i = 0; (s = addr_special(i)); i++)
		if (s->scope == ADDR_PRIVATE &&
		    (cidr_covers(&s->net, net) || cidr_covers(net, &s->net)))
			return true;
	return false;
}

static void put_net(const struct kube *k, struct kube_node *egress,
		    struct way w)
{
	put_way(k, egress, &w);
	w.cluster = !w.publicly && is_private(w.net);
	if (w.cluster)
		put_way(k, egress, &w);
}

static void put_grant(const struct kube *k, struct kube_node *egress,
		      const struct ir_grant *g)
{
	static const struct cidr everything[] = {{.addr = {.family = ADDR_V4}},
						 {.addr = {.family = ADDR_V6}}};
	bool privately = g->private.set && g->private.v;
	struct way w = {.net = ir_dest_net(&g->dest),
			.ports = &g->ports,
			.from = &g->from};

	if (w.net) {
		if (!kube_net_is_shut(k, w.net))
			put_net(k, egress, w);
		return;
	}
	w.publicly = !privately;
	if (g->dest.kind == IR_DEST_ANY) {
		for (size_t i = 0; i < ARRAY_LEN(everything); i++) {
			w.net = &everything[i];
			put_net(k, egress, w);
		}
		return;
	}
	w.name = ir_dest_name(&g->dest);
	put_way(k, egress, &w);
	w.cluster = privately;
	if (w.cluster)
		put_way(k, egress, &w);
}

static void put_resolver(const struct kube *k, struct kube_node *egress)
{
	const struct ir_resolver *r = &k->policy->resolver.v;
	struct cidr net = {r->addr, addr_bits(r->addr.family)};
	ir_ports ports = {0};
	struct way w = {.net = &net,
			.questions = true,
			.ports = &ports,
			.from = &k->policy->resolver.from};

	*vec_push(k->a, &ports) =
		(struct ir_port){IR_PROTO_TCP, r->port, r->port, {0}};
	*vec_push(k->a, &ports) =
		(struct ir_port){IR_PROTO_UDP, r->port, r->port, {0}};
	put_net(k, egress, w);
}

static void put_egress(const struct kube *k, struct kube_node *spec)
{
	const ir_grants *lists[] = {&k->policy->allow, &k->policy->ask};
	struct kube_node *egress = kube_tree_list(spec, "egress");
	bool names = false;

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		vec_each(g, lists[i]) {
			put_grant(k, egress, g);
			names |= !ir_dest_net(&g->dest);
		}
	if (names)
		put_resolver(k, egress);
	if (egress->items.n == 0) /* a rule that lets nothing out */
		(void)kube_tree_map(egress, NULL);
}

static void put_ingress(const struct kube *k, struct kube_node *spec)
{
	static const char *const anybody[] = {"all", NULL};
	struct kube_node *rule =
		kube_tree_map(kube_tree_list(spec, "ingress"), NULL);
	ir_ports ports = {0};

	if (k->policy->ports.n == 0)
		return; /* a rule that lets nobody in */
	kube_tree_words(rule, "fromEntities", anybody);
	vec_each(t, &k->policy->ports) {
		struct ir_published p;

		if (published_parse(t->s, &p))
			abort(); /* bound, or of a policy.json that was */
		*vec_push(k->a, &ports) =
			(struct ir_port){IR_PROTO_TCP, p.to, p.to, {0}};
	}
	put_ports(rule, &ports, false);
}

struct kube_node *kube_cilium_tree(const struct kube *k)
{
	struct kube_node *root, *meta, *spec, *match;

	root = kube_object(k, "cilium.io/v2", "CiliumNetworkPolicy", k->o->name,
			   &meta);
	kube_labels_put(k, meta, NULL);
	kube_tree_word(kube_tree_map(meta, "annotations"), "membrane/note",
		       note);
	spec = kube_tree_map(root, "spec");
	kube_tree_flag(spec, "--fqdn");
	put_egress(k, spec);
	match = kube_tree_map(kube_tree_map(spec, "endpointSelector"),
			      "matchLabels");
	kube_tree_text(match, KUBE_PLAN_LABEL,
		       arena_fmt(k->a, "%.*s", (int)KUBE_LABEL_HEX, k->digest));
	put_ingress(k, spec);
	return root;
}
