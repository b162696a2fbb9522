/* The gate's own Pod, kept up by a Deployment, and the Service that gives it an
 * address which is known before it is there. */
#include "compiler/emit/kubernetes/parts.h"

#include "compiler/plan/gate.h"

#define PORT_DNS 53

/* HAProxy and the resolver listen at the ports of the policy, without a right
 * to: this sysctl is a Pod's own, and every level of Pod Security admits it. */
static void put_sysctls(struct kube_node *context)
{
	struct kube_node *s =
		kube_tree_map(kube_tree_list(context, "sysctls"), NULL);

	kube_tree_word(s, "name", "net.ipv4.ip_unprivileged_port_start");
	kube_tree_word(s, "value", "0");
}

static void put_context(struct kube_node *spec)
{
	struct kube_node *s = kube_tree_map(spec, "securityContext");

	kube_tree_number(s, "fsGroup", GATE_UID);
	kube_tree_word(s, "fsGroupChangePolicy", "OnRootMismatch");
	kube_tree_bool(s, "runAsNonRoot", true);
	kube_tree_word(kube_tree_map(s, "seccompProfile"), "type",
		       "RuntimeDefault");
	put_sysctls(s);
}

/* It asks the policy's resolver itself; nothing in it asks the node's. */
static void put_spec(const struct kube *k, struct kube_node *spec)
{
	kube_tree_bool(spec, "automountServiceAccountToken", false);
	kube_gate_put(k, kube_tree_list(spec, "containers"));
	kube_tree_word(spec, "dnsPolicy", "Default");
	kube_pod_hosts_nothing(k, spec);
	kube_tree_word(spec, "restartPolicy", "Always");
	put_context(spec);
	kube_tree_bool(spec, "shareProcessNamespace", false);
	kube_tree_number(spec, "terminationGracePeriodSeconds", 30);
	kube_gate_volumes(k, kube_tree_list(spec, "volumes"));
}

struct kube_node *kube_apart_deployment(const struct kube *k)
{
	struct kube_node *meta, *root, *spec, *t, *m;

	root = kube_object(k, "apps/v1", "Deployment",
			   kube_role_name(k, KUBE_ROLE_GATE), &meta);
	kube_tree_flag(meta->items.v[0], "--name");
	kube_labels_put(k, meta, KUBE_ROLE_GATE);
	spec = kube_tree_map(root, "spec");
	kube_tree_number(spec, "replicas", 1);
	m = kube_tree_map(kube_tree_map(spec, "selector"), "matchLabels");
	kube_tree_text(m, KUBE_NAME_LABEL, kube_role_name(k, KUBE_ROLE_GATE));
	kube_tree_word(kube_tree_map(spec, "strategy"), "type", "Recreate");
	t = kube_tree_map(spec, "template");
	kube_labels_put(k, kube_tree_map(t, "metadata"), KUBE_ROLE_GATE);
	put_spec(k, kube_tree_map(t, "spec"));
	return root;
}

/* --- the Service ---------------------------------------------------------- */

static struct kube_node *put_port(struct kube_node *list, struct str name,
				  const char *proto, uint16_t port)
{
	struct kube_node *p = kube_tree_map(list, NULL);

	kube_tree_text(p, "name", name);
	kube_tree_number(p, "port", port);
	kube_tree_word(p, "protocol", proto);
	kube_tree_number(p, "targetPort", port);
	return p;
}

static void put_ports(const struct kube *k, struct kube_node *spec)
{
	struct kube_node *list = kube_tree_list(spec, "ports");
	ir_ports ports = kube_apart_ports(k);

	put_port(list, STR("dns-udp"), "UDP", PORT_DNS);
	put_port(list, STR("dns-tcp"), "TCP", PORT_DNS);
	vec_each(r, &ports)
		for (unsigned n = r->lo; n <= r->hi; n++)
			kube_apart_from(
				k,
				put_port(list, arena_fmt(k->a, "tcp-%u", n),
					 "TCP", (uint16_t)n),
				(uint16_t)n);
}

static void put_addresses(const struct kube *k, struct kube_node *spec)
{
	const struct kube_options *o = k->o;
	struct kube_node *all, *families;
	char text[ADDR_TEXT_MAX];

	kube_tree_flag(kube_tree_text(spec, "clusterIP",
				      arena_fmt(k->a, "%s",
						addr_text(&o->gate_at[0],
							  text))),
		       "--gate-address");
	all = kube_tree_list(spec, "clusterIPs");
	families = kube_tree_list(spec, "ipFamilies");
	for (uint32_t i = 0; i < o->n_gate_at; i++) {
		kube_tree_text(all, NULL,
			       arena_fmt(k->a, "%s",
					 addr_text(&o->gate_at[i], text)));
		kube_tree_word(families, NULL,
			       o->gate_at[i].family == ADDR_V6 ? "IPv6"
							       : "IPv4");
	}
	kube_tree_flag(all, "--gate-address");
	kube_tree_word(spec, "ipFamilyPolicy",
		       o->n_gate_at > 1 ? "RequireDualStack" : "SingleStack");
}

struct kube_node *kube_apart_service(const struct kube *k)
{
	struct kube_node *meta, *root, *spec;

	root = kube_object(k, "v1", "Service",
			   kube_role_name(k, KUBE_ROLE_GATE), &meta);
	kube_tree_flag(meta->items.v[0], "--name");
	kube_labels_put(k, meta, KUBE_ROLE_GATE);
	spec = kube_tree_map(root, "spec");
	put_addresses(k, spec);
	put_ports(k, spec);
	kube_role_put(k, kube_tree_map(spec, "selector"), KUBE_ROLE_GATE);
	kube_tree_word(spec, "type", "ClusterIP");
	return root;
}
