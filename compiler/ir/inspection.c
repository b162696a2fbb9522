#include "compiler/ir/inspection.h"

#include "compiler/ir/ports.h"

#include <stdlib.h>

bool inspection_has_tcp(const struct ir_grant *g)
{
	vec_each(p, &g->ports)
		if (p->proto == IR_PROTO_TCP)
			return true;
	return false;
}

/* Is it about names or requests? */
static bool is_named(const struct ir_grant *d)
{
	if (d->from.layer == LAYER_FLOOR)
		return false;
	if (ir_grant_http(d))
		return true;
	switch (d->dest.kind) {
	case IR_DEST_HOST:
	case IR_DEST_PATTERN:
		return true;
	case IR_DEST_ANY: /* '*' with ports: packets */
	case IR_DEST_CIDR:
	case IR_DEST_URL:
	case IR_DEST_POISON:
		return false;
	}
	abort();
}

bool inspection_denies(const struct ir_grant *d)
{
	return is_named(d) && inspection_has_tcp(d);
}

bool inspection_denies_tls(const struct ir_grant *d)
{
	return is_named(d) && ir_grant_http(d) &&
	       ir_dest_has_scheme(&d->dest, IR_SCHEME_HTTPS);
}

/*
 * What is denied over TCP goes by HTTP/3 on the same number: what is written
 * of a name's port 443 means its web server, however that is spoken to.
 */
static bool may_be_quic(const struct ir_grant *d)
{
	return ir_grant_http(d) ? inspection_denies_tls(d) : is_named(d);
}

bool inspection_quic(const struct ir_grant *d, uint16_t port)
{
	vec_each(p, &d->ports)
		if (may_be_quic(d) && p->lo <= port && port <= p->hi)
			return true;
	return false;
}

/* A name that is denied whole does not resolve: nothing is known of it. */
bool inspection_quic_names(const struct ir_grant *d)
{
	return may_be_quic(d) && inspection_has_tcp(d) &&
	       ir_dest_name(&d->dest).n &&
	       (ir_grant_http(d) || !ports_all(&d->ports));
}

/* Does a grant of UDP have one of the ports, whatever their protocol? */
static bool shares_port(const ir_ports *udp, const ir_ports *ports)
{
	vec_each(x, udp)
		vec_each(y, ports)
			if (x->proto == IR_PROTO_UDP && x->lo <= y->hi &&
			    y->lo <= x->hi)
				return true;
	return false;
}

bool inspection_quic_guards(const struct ir_policy *p, const struct ir_grant *d)
{
	if (!inspection_quic_names(d))
		return false;
	vec_each(g, &p->allow)
		if (ir_dest_name(&g->dest).n && !ir_grant_http(g) &&
		    shares_port(&g->ports, &d->ports))
			return true;
	return false;
}

ir_ports inspection_quic_same(struct arena *a, const ir_ports *ports)
{
	ir_ports out = {0};

	vec_each(x, ports) {
		*vec_push(a, &out) = *x;
		out.v[out.n - 1].proto = IR_PROTO_UDP;
	}
	ports_normalise(&out);
	return out;
}

const struct cidr *inspection_quic_net(const struct ir_grant *d)
{
	return inspection_denies_tls(d) ? ir_dest_net(&d->dest) : NULL;
}

ir_ports inspection_quic_ports(struct arena *a, const struct ir_policy *p)
{
	ir_ports out = {0};

	vec_each(d, &p->deny)
		vec_each(x, &d->ports) {
			if (!may_be_quic(d))
				continue;
			*vec_push(a, &out) = *x;
			out.v[out.n - 1].proto = IR_PROTO_UDP;
		}
	ports_normalise(&out);
	return out;
}

ir_ports inspection_ports(struct arena *a, const struct ir_policy *p)
{
	ir_ports out = {0};

	vec_each(d, &p->deny) {
		if (!inspection_denies(d))
			continue;
		vec_each(x, &d->ports)
			if (x->proto == IR_PROTO_TCP)
				*vec_push(a, &out) = *x;
	}
	ports_normalise(&out);
	return out;
}

bool inspection_meets(const ir_ports *ports, const struct ir_grant *g)
{
	vec_each(x, ports)
		vec_each(y, &g->ports)
			if (x->proto == IR_PROTO_TCP &&
			    y->proto == IR_PROTO_TCP && x->lo <= y->hi &&
			    y->lo <= x->hi)
				return true;
	return false;
}

bool inspection_decrypts(const struct ir_policy *p, const struct ir_grant *g)
{
	enum ir_tls tls = g->tls.set ? g->tls.v : p->tls.v;

	if (g->dest.kind == IR_DEST_CIDR && !g->has_http)
		return false;
	if (!ir_dest_has_scheme(&g->dest, IR_SCHEME_HTTPS))
		return false;
	return ir_grant_http(g) || tls == IR_TLS_INSPECT;
}

bool inspection_opens(const struct ir_policy *p, const struct ir_grant *g)
{
	return g->key == IR_KEY_DENY ? inspection_denies_tls(g)
				     : inspection_decrypts(p, g);
}

bool inspection_looks(const struct ir_policy *p, const struct ir_grant *g)
{
	return inspection_has_tcp(g) &&
	       (ir_grant_http(g) || inspection_decrypts(p, g));
}

bool inspection_unseen(const struct ir_policy *p)
{
	if (p->credentials.n)
		return false;
	vec_each(d, &p->deny)
		if (inspection_denies(d))
			return false;
	vec_each(g, &p->allow)
		if (inspection_looks(p, g))
			return false;
	return true;
}
