/*
 * The NetworkPolicies where the gate is in a Pod of its own. That of the agent
 * is what keeps it to its gate: there is nothing behind it.
 */
#include "compiler/emit/kubernetes/parts.h"

#define PORT_DNS 53

static struct kube_node *begin_policy(const struct kube *k, const char *role,
				      struct kube_node **out_spec)
{
	struct kube_node *meta, *root;

	root = kube_object(k, "networking.k8s.io/v1", "NetworkPolicy",
			   kube_role_name(k, role), &meta);
	kube_labels_put(k, meta, role);
	*out_spec = kube_tree_map(root, "spec");
	return root;
}

static void end_policy(const struct kube *k, const char *role,
		       struct kube_node *spec)
{
	static const char *const both[] = {"Ingress", "Egress", NULL};
	struct kube_node *selector = kube_tree_map(spec, "podSelector");

	kube_role_put(k, kube_tree_map(selector, "matchLabels"), role);
	kube_tree_words(spec, "policyTypes", both);
}

/* One rule: the gate's ports, and who is at the other end of them. */
static void put_rule(const struct kube *k, struct kube_node *rules,
		     const char *end, const char *role)
{
	struct kube_node *rule = kube_tree_map(rules, NULL), *list, *peer;
	ir_ports ports = kube_apart_ports(k);

	list = kube_tree_list(rule, "ports");
	kube_network_port(list, PORT_DNS, "UDP");
	kube_network_port(list, PORT_DNS, "TCP");
	vec_each(r, &ports)
		for (unsigned n = r->lo; n <= r->hi; n++)
			kube_apart_from(k,
					kube_network_port(list, (uint16_t)n,
							  "TCP"),
					(uint16_t)n);
	peer = kube_tree_map(kube_tree_list(rule, end), NULL);
	peer = kube_tree_map(peer, "podSelector");
	kube_role_put(k, kube_tree_map(peer, "matchLabels"), role);
}

struct kube_node *kube_apart_agent_network(const struct kube *k)
{
	struct kube_node *spec,
		*root = begin_policy(k, KUBE_ROLE_AGENT, &spec);

	put_rule(k, kube_tree_list(spec, "egress"), "to", KUBE_ROLE_GATE);
	kube_tree_list(spec, "ingress");
	end_policy(k, KUBE_ROLE_AGENT, spec);
	return root;
}

struct kube_node *kube_apart_gate_network(const struct kube *k)
{
	struct kube_node *spec, *root = begin_policy(k, KUBE_ROLE_GATE, &spec);

	kube_network_egress(k, spec);
	put_rule(k, kube_tree_list(spec, "ingress"), "from", KUBE_ROLE_AGENT);
	end_policy(k, KUBE_ROLE_GATE, spec);
	return root;
}
