/* What NetworkPolicies do with one packet: backstop.h. */
#include "compiler/prove/backstop.h"

static bool has_label(const backstop_labels *all,
		      const struct backstop_label *wanted)
{
	vec_each(l, all)
		if (str_eq(l->key, wanted->key) &&
		    str_eq(l->value, wanted->value))
			return true;
	return false;
}

static bool has_labels(const backstop_labels *all,
		       const backstop_labels *wanted)
{
	vec_each(l, wanted)
		if (!has_label(all, l))
			return false;
	return true;
}

bool backstop_selects(const struct backstop_policy *p,
		      const backstop_labels *pod)
{
	return has_labels(pod, &p->selects);
}

bool backstop_peer_has(const struct backstop_peer *p, const struct addr *addr)
{
	if (!cidr_has(&p->net, addr))
		return false;
	vec_each(hole, &p->except)
		if (cidr_has(&hole->net, addr))
			return false;
	return true;
}

/* Is it one of the peer? If it would be, but for what is left out, *near says
 * where that stands. */
static bool is_peer(const struct backstop_peer *p,
		    const struct backstop_end *end, uint32_t *near)
{
	if (!end->addr)
		return p->is_pods && !end->elsewhere &&
		       has_labels(end->pod, &p->labels);
	if (p->is_pods)
		return false;
	vec_each(hole, &p->except)
		if (cidr_has(&hole->net, end->addr))
			*near = hole->line;
	return backstop_peer_has(p, end->addr);
}

/* How far the port is from those of the rule: 0, it is one of them; FAR_OFF,
 * none is of its protocol. *near says where the closest stands. */
#define FAR_OFF UINT32_MAX
static uint32_t port_distance(const struct backstop_rule *r, uint32_t proto,
			      uint16_t port, uint32_t *near)
{
	uint32_t least = r->ports.n ? FAR_OFF : 0;

	vec_each(p, &r->ports) {
		uint32_t far = port < p->lo   ? p->lo - port
			       : port > p->hi ? port - p->hi
					      : 0;

		if (p->proto != proto || far >= least)
			continue;
		least = far;
		*near = p->line;
	}
	return least;
}

/* Does the rule let it through, and which line says so? If not, *least and the
 * line are those of what is nearest to doing so. */
static bool rule_lets(const struct backstop_rule *r,
		      const struct backstop_end *end, uint32_t proto,
		      uint16_t port, uint32_t *least, uint32_t *line)
{
	uint32_t near = r->line, hole = 0;
	uint32_t far = port_distance(r, proto, port, &near);
	bool is = r->peers.n == 0;

	vec_each(p, &r->peers)
		if (!is && is_peer(p, end, &hole)) {
			is = true;
			near = far ? near : p->line;
		}
	if (is && far == 0) {
		*line = near;
		return true;
	}
	if (far < *least && (is || hole)) {
		*least = far;
		*line = is ? near : hole;
	}
	return false;
}

struct backstop_said backstop_says(const struct backstop *b,
				   const backstop_labels *pod,
				   enum backstop_way way,
				   const struct backstop_end *end,
				   uint32_t proto, uint16_t port)
{
	struct backstop_said out = {.lets = true};
	uint32_t least = FAR_OFF;

	vec_each(p, &b->policies) {
		if (!p->holds[way] || !backstop_selects(p, pod))
			continue;
		out.lets = false;
		vec_each(r, &p->rules[way])
			if (rule_lets(r, end, proto, port, &least, &out.line)) {
				out.lets = true;
				return out;
			}
	}
	return out;
}
