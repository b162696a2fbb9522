#include "compiler/ir/ports.h"

#include <stdlib.h>

static int by_range(const void *va, const void *vb)
{
	const struct ir_port *a = va, *b = vb;

	if (a->proto != b->proto)
		return a->proto < b->proto ? -1 : 1;
	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return (int)b->hi - (int)a->hi;
}

void ports_normalise(ir_ports *ports)
{
	uint32_t n = 0;

	if (ports->n == 0)
		return;
	qsort(ports->v, ports->n, sizeof(*ports->v), by_range);
	for (uint32_t i = 1; i < ports->n; i++) {
		struct ir_port *last = &ports->v[n], *p = &ports->v[i];

		if (p->proto != last->proto || p->lo > (unsigned)last->hi + 1)
			ports->v[++n] = *p;
		else if (p->hi > last->hi)
			last->hi = p->hi;
	}
	ports->n = n + 1;
}

bool ports_cover(const ir_ports *outer, const ir_ports *inner)
{
	vec_each(i, inner) {
		bool found = false;

		vec_each(o, outer)
			found |= o->proto == i->proto && o->lo <= i->lo &&
				 o->hi >= i->hi;
		if (!found)
			return false;
	}
	return true;
}

bool ports_has(const ir_ports *ports, enum ir_proto proto, uint16_t port)
{
	vec_each(r, ports)
		if (r->proto == proto && r->lo <= port && port <= r->hi)
			return true;
	return false;
}

bool ports_all(const ir_ports *ports)
{
	return ports->n == 2 && ports->v[0].proto == IR_PROTO_TCP &&
	       ports->v[1].proto == IR_PROTO_UDP && ports->v[0].lo == 1 &&
	       ports->v[1].lo == 1 && ports->v[0].hi == 65535 &&
	       ports->v[1].hi == 65535;
}
