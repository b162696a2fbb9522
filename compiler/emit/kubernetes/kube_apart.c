/*
 * The gate in a Pod of its own: what of a policy that holds. It knows a
 * connection by the name in it alone, for all come to one address; so there has
 * to be one in each, in the clear, and it has to be granted by name.
 */
#include "compiler/emit/kubernetes/parts.h"

#include "compiler/ir/inspection.h"
#include "compiler/ir/ports.h"
#include "compiler/plan/kubernetes_json.h"

#include <stdlib.h>

#define PORT_HTTP  80
#define PORT_HTTPS 443
#define PORT_DNS   53
/* A Service lists each of its ports. */
#define RANGE_PORTS 16u

bool kube_apart(const struct emit_in *in)
{
	return in->kubernetes && in->kubernetes->topology == KUBE_APART;
}

/* --- where it is ---------------------------------------------------------- */

const char *kube_gate_at_parse(struct str text, struct kube_options *out)
{
	for (size_t at = 0; at <= text.n;) {
		size_t end = str_find(text, ',', at);
		struct addr a;

		if (!addr_parse(str_slice(text, at, end), &a))
			return "is no address, nor one of IPv4 and one of IPv6 with a comma between them";
		if (addr_scope(&a) == ADDR_NEVER)
			return "has an address that no Service can have";
		if (out->n_gate_at == KUBE_FAMILIES ||
		    (out->n_gate_at && out->gate_at[0].family == a.family))
			return "has more than one address of a family";
		out->gate_at[out->n_gate_at++] = a;
		at = end + 1;
	}
	return NULL;
}

void kube_apart_json(const struct emit_in *in, cJSON *root)
{
	const struct kube_options *o = in->kubernetes;
	cJSON *list = json_array();
	char text[ADDR_TEXT_MAX];

	for (uint32_t i = 0; i < o->n_gate_at; i++)
		json_push_str(list, str_of(addr_text(&o->gate_at[i],
							 text)));
	json_put(root, KUBERNETES_JSON_ADDRESSES, list);
}

/* --- its ports ------------------------------------------------------------ */

ir_ports kube_apart_ports(const struct kube *k)
{
	ir_ports out = {0};

	vec_each(g, &k->policy->allow)
		vec_each(p, &g->ports)
			*vec_push(k->a, &out) = *p;
	ports_normalise(&out);
	return out;
}

void kube_apart_from(const struct kube *k, struct kube_node *n, uint16_t port)
{
	vec_each(g, &k->policy->allow)
		if (ports_has(&g->ports, IR_PROTO_TCP, port))
			kube_tree_from(k->in, n, &g->from);
}

/* --- what it holds -------------------------------------------------------- */

/* A name is in what flows there, by what the policy says of it. */
static bool shows_name(const struct ir_grant *g, const struct ir_port *p)
{
	if (ir_grant_http(g) || g->tls.set)
		return true;
	return p->lo == p->hi && (p->lo == PORT_HTTP || p->lo == PORT_HTTPS);
}

static bool check_port(const struct emit_in *in, const struct ir_grant *g,
		       const struct ir_port *p)
{
	if (p->proto == IR_PROTO_UDP)
		return kube_refuse(
			in, g->from.at,
			"no datagram goes through a gate in another Pod",
			"grant TCP alone, or take '--topology wire'");
	if (!shows_name(g, p))
		return kube_refuse(
			in, g->from.at,
			"a gate in another Pod knows a connection by the name in it, and other protocols than TLS and HTTP show none",
			"write port 443 or 80, 'tls: verify' for TLS at other ports, or a URL of 'http://', or take '--topology wire'");
	if ((unsigned)(p->hi - p->lo) >= RANGE_PORTS)
		return kube_refuse(in, g->from.at,
				   "a Service lists each port of the gate's",
				   "write the ports that are used");
	if (p->lo <= PORT_DNS && PORT_DNS <= p->hi)
		return kube_refuse(in, g->from.at,
				   "port 53 of the gate's address is its resolver's",
				   "take '--topology wire'");
	return true;
}

static bool check_decrypted(const struct emit_in *in, const struct ir_grant *g)
{
	if (!inspection_opens(in->policy, g))
		return true;
	return kube_refuse(
		in, g->from.at,
		"nothing is decrypted: the gate makes its CA when it starts, and a Pod that is not its own cannot be handed that",
		"leave 'http' and 'tls: inspect' out, or write a URL of 'http://', or take '--topology wire'");
}

static bool check_grant(const struct emit_in *in, const struct ir_grant *g)
{
	bool ok = true;

	switch (g->dest.kind) {
	case IR_DEST_ANY:
	case IR_DEST_CIDR:
		return kube_refuse(
			in, g->from.at,
			"a gate in another Pod is called by names: no packet to another address gets to it",
			"grant names, or take '--topology wire'");
	case IR_DEST_HOST:
	case IR_DEST_PATTERN:
	case IR_DEST_URL:
	case IR_DEST_POISON:
		break;
	}
	if (!ir_dest_name(&g->dest).n)
		return kube_refuse(
			in, g->from.at,
			"a gate in another Pod is called by names: no packet to another address gets to it",
			"write a name in the URL, or take '--topology wire'");
	if (!check_decrypted(in, g))
		return false;
	vec_each(p, &g->ports)
		ok = ok && check_port(in, g, p);
	return ok;
}

static bool check_denial(const struct emit_in *in, const struct ir_grant *d)
{
	if (d->dest.kind == IR_DEST_ANY)
		return kube_refuse(in, d->from.at,
				   "a denial of all names is a packet filter's",
				   "leave these ports out of what is granted");
	return check_decrypted(in, d);
}

bool kube_apart_check(const struct emit_in *in)
{
	const struct ir_policy *p = in->policy;
	bool ok = true;

	vec_each(g, &p->allow)
		ok &= check_grant(in, g);
	vec_each(d, &p->deny)
		ok &= check_denial(in, d);
	vec_each(g, &p->ask)
		ok = kube_refuse(in, g->from.at,
				 "what is asked about has an address of its own until it is answered",
				 "leave 'ask' out, or take '--topology wire'");
	vec_each(c, &p->credentials)
		ok = kube_refuse(in, c->from.at,
				 "nothing is decrypted, so no header is added",
				 "take '--topology wire'");
	vec_each(t, &p->ports)
		ok = kube_refuse(in, t->from.at,
				 "nothing comes in to the agent's Pod",
				 "leave 'ports' out, or take '--topology wire'");
	return ok;
}
