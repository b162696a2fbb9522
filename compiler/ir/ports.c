#include "compiler/ir/ports.h"

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
	vec_sort(ports, by_range);
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

/* What lies between lo and hi, of the place it was written at; or nothing. */
static void add_between(struct arena *a, ir_ports *out,
			const struct ir_port *from, uint32_t lo, uint32_t hi)
{
	if (lo > hi)
		return;
	*vec_push(a, out) = (struct ir_port){from->proto, (uint16_t)lo,
					     (uint16_t)hi, from->at};
}

ir_ports ports_split(struct arena *a, const ir_ports *ports, const ir_ports *of,
		     enum ir_proto proto, bool is_in)
{
	ir_ports out = {0};

	vec_each(p, ports) {
		uint32_t left = p->lo; /* the first that is not placed yet */

		if (p->proto != proto)
			continue;
		vec_each(o, of) {
			uint32_t lo = o->lo > p->lo ? o->lo : p->lo;
			uint32_t hi = o->hi < p->hi ? o->hi : p->hi;

			if (o->proto != proto || lo > hi)
				continue;
			if (is_in)
				add_between(a, &out, p, lo, hi);
			else
				add_between(a, &out, p, left, lo - 1);
			left = hi + 1;
		}
		if (!is_in)
			add_between(a, &out, p, left, p->hi);
	}
	return out;
}

bool ports_all(const ir_ports *ports)
{
	return ports->n == 2 && ports->v[0].proto == IR_PROTO_TCP &&
	       ports->v[1].proto == IR_PROTO_UDP && ports->v[0].lo == 1 &&
	       ports->v[1].lo == 1 && ports->v[0].hi == 65535 &&
	       ports->v[1].hi == 65535;
}
