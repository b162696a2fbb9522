/*
 * How a gate gets out. That of a native session: where only names are granted,
 * and over TCP, HAProxy and the resolver make all that leaves, and a broker
 * hands them its sockets. Beside a proxy addresses are no other: HAProxy takes
 * what goes to them. Packets that the gate forwards itself take a network,
 * and whoever writes 'uplink: isolated' has one in any case.
 */
#include "compiler/ir/ir.h"

bool ir_uplink_isolated(const struct ir_policy *p)
{
	return p->uplink.set && str_is(p->uplink.v, IR_UPLINK_ISOLATED);
}

bool ir_uplink_named(const struct ir_policy *p)
{
	return p->uplink.set && !ir_uplink_isolated(p);
}

static bool is_by_name(const struct ir_grant *g)
{
	if (ir_dest_machine(&g->dest))
		return true;
	return g->dest.kind != IR_DEST_ANY && ir_dest_name(&g->dest).n > 0;
}

static bool is_by_tcp(const struct ir_grant *g)
{
	vec_each(port, &g->ports)
		if (port->proto != IR_PROTO_TCP)
			return false;
	return true;
}

bool ir_uplink_sockets(const struct ir_policy *p)
{
	if (ir_uplink_isolated(p))
		return false;
	vec_each(g, &p->allow)
		if ((!p->upstream.set && !is_by_name(g)) || !is_by_tcp(g))
			return false;
	return true;
}
