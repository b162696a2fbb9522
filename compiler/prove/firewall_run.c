/* The evaluator of ruleset.nft: firewall.h. */
#include "compiler/prove/firewall.h"

#include <stdlib.h>

static bool holds(const struct firewall_match *m,
		  const struct firewall_packet *p)
{
	bool in = false;
	uint32_t v;

	if ((m->family && p->v[FIREWALL_FAMILY] != m->family) ||
	    (m->proto && p->v[FIREWALL_PROTO] != m->proto))
		return false;
	if (m->of_addr)
		return (m->of_source ? p->from : p->to)(p->ctx, m->term) !=
		       m->not ;
	v = p->v[m->key];
	/* What is not in the packet ends the rule, whatever it is held
	 * against. */
	if (v == FIREWALL_NONE)
		return false;
	v &= m->mask;
	for (uint32_t i = 0; i < m->spans.n && !in; i++)
		in = m->spans.v[i].lo <= v && v <= m->spans.v[i].hi;
	return in != m->not ;
}

static void add_step(struct firewall_result *out, const struct firewall_rule *r)
{
	if (out->n < FIREWALL_STEPS)
		out->steps[out->n++] = r;
}

/* Does it hold? What it does besides its verdict is done. */
static bool apply_rule(const struct firewall_rule *r, struct firewall_packet *p,
		       struct firewall_result *out)
{
	vec_each(m, &r->matches)
		if (!holds(m, p))
			return false;
	if (r->reason.n)
		out->reason = r->reason;
	if (r->tproxy)
		out->port = r->tproxy;
	if (r->mark)
		p->v[FIREWALL_MARK] = r->mark;
	return true;
}

/* The verdict of a chain, or FIREWALL_GOES_ON at its end. */
static enum firewall_end run_chain(const struct firewall *f, uint32_t chain,
				   struct firewall_packet *p,
				   struct firewall_result *out)
{
	vec_each(r, &f->chains.v[chain].rules) {
		uint32_t n = out->n;
		enum firewall_end end;

		if (!apply_rule(r, p, out) || r->end == FIREWALL_GOES_ON)
			continue;
		add_step(out, r);
		switch (r->end) {
		case FIREWALL_GOES_ON:
			break;
		case FIREWALL_JUMP:
			end = run_chain(f, r->chain, p, out);
			if (end != FIREWALL_GOES_ON)
				return end;
			out->n = n;
			break;
		case FIREWALL_GOTO:
			return run_chain(f, r->chain, p, out);
		case FIREWALL_REDIRECT:
			out->port = r->port;
			return r->end;
		case FIREWALL_ACCEPT:
		case FIREWALL_DROP:
		case FIREWALL_REJECT:
		case FIREWALL_TO_AGENT:
		case FIREWALL_MASQUERADE:
			return r->end;
		}
	}
	return FIREWALL_GOES_ON;
}

void firewall_run(const struct firewall *f, enum firewall_hook hook,
		  struct firewall_packet *p, struct firewall_result *out)
{
	bool first = p->v[FIREWALL_STATE] == FIREWALL_NEW;

	out->end = FIREWALL_ACCEPT;
	vec_each(i, &f->order) {
		const struct firewall_chain *c = &f->chains.v[*i];
		enum firewall_end end;

		if (c->hook != hook || (c->nat && !first))
			continue;
		end = run_chain(f, *i, p, out);
		if (end == FIREWALL_GOES_ON)
			end = c->drops ? FIREWALL_DROP : FIREWALL_ACCEPT;
		if (end != FIREWALL_ACCEPT) {
			out->end = end;
			return;
		}
	}
}
