/*
 * The part of the plan's text about the network: what can be reached, grouped
 * by ports, and what cannot.
 */
#include "compiler/cli/plan/parts.h"

#include "compiler/ir/upstream.h"

#include <stdlib.h>

/* A grant as it is shown: sorted by ports, then kind, then name. */
struct line {
	struct str ports;
	const struct ir_grant *grant;
};

static int by_ports(const void *va, const void *vb)
{
	const struct line *a = va, *b = vb;
	int order = str_cmp(a->ports, b->ports);

	if (order)
		return order;
	if (a->grant->dest.kind != b->grant->dest.kind)
		return a->grant->dest.kind < b->grant->dest.kind ? -1 : 1;
	return str_cmp(a->grant->canon, b->grant->canon);
}

/* Does the floor deny all of it? */
static bool is_floors(const struct ir_grant *g)
{
	const struct cidr *net = ir_dest_net(&g->dest);

	return net && g->key != IR_KEY_DENY && addr_never_around(net) &&
	       !ir_grant_reaches(g, &net->addr);
}

/*
 * Without the floor's, and without grants that denials or the floor make void:
 * a warning speaks of those. *out_n: how many there are.
 */
static struct line *sorted_lines(struct arena *a, const ir_grants *grants,
				 const bool *denied, uint32_t *out_n)
{
	struct line *lines =
		arena_array(a, (size_t)grants->n + 1, sizeof(*lines));
	uint32_t n = 0;

	vec_each(g, grants)
		if (g->from.layer != LAYER_FLOOR && !is_floors(g) &&
		    !(denied && denied[g - grants->v]))
			lines[n++] = (struct line){ir_grant_ports(g), g};
	qsort(lines, n, sizeof(*lines), by_ports);
	*out_n = n;
	return lines;
}

static struct str ports_title(struct arena *a, struct str ports)
{
	struct str field;
	struct buf b;

	if (str_is(ports, "tcp/1-65535,udp/1-65535"))
		return STR("any port");
	buf_init(&b, a);
	while (str_field(&ports, ',', &field)) {
		if (b.n)
			buf_adds(&b, ", ");
		if (str_is(field, "tcp/1-65535"))
			buf_adds(&b, "any tcp port");
		else if (str_is(field, "udp/1-65535"))
			buf_adds(&b, "any udp port");
		else
			buf_add(&b, field);
	}
	return buf_str(&b);
}

static void put_grant(const struct view *v, const struct plan_model *m,
		      const struct ir_grant *g, enum view_paint paint)
{
	bool inspect = g->tls.set && g->tls.v == IR_TLS_INSPECT;
	bool private = g->private.set && g->private.v;
	bool past = m->policy->upstream.set && !ir_dest_machine(&g->dest) &&
		    g->key != IR_KEY_DENY &&
		    upstream_passes(m->policy, &g->dest);

	view_row(v, 4, paint,
		 arena_fmt(m->a, "%s%s%s%s",
			   view_cleaned(m->a, ir_dest_text(m->a, &g->dest)).p,
			   inspect ? "  (inspected)" : "",
			   private ? "  (also private addresses)" : "",
			   past ? "  (past the proxy)" : ""),
		 model_source(m, g->from));
	vec_each(h, &g->http)
		view_row(v, 6, VIEW_DIM,
			 arena_fmt(m->a, "only %s",
				   view_cleaned(m->a, ir_http_text(m->a, h)).p),
			 (struct str){0});
}

/* Grants, a line of ports above each group. */
static void put_groups(const struct view *v, const struct plan_model *m,
		       const struct line *lines, uint32_t n,
		       enum view_paint paint)
{
	uint32_t end;

	for (uint32_t i = 0; i < n; i = end) {
		for (end = i;
		     end < n && str_eq(lines[end].ports, lines[i].ports);)
			end++;
		view_row(v, 2, VIEW_DIM, ports_title(m->a, lines[i].ports),
			 (struct str){0});
		for (uint32_t k = i; k < end; k++) {
			if (view_more(v, 4, k - i, end - i))
				break;
			put_grant(v, m, lines[k].grant, paint);
		}
	}
}

/* A network of the policy inside one of the floor: it is opened. */
static bool opens_floor(const struct ir_policy *p)
{
	vec_each(g, &p->allow) {
		const struct cidr *net = ir_dest_net(&g->dest);

		if (net && addr_scope(&net->addr) == ADDR_NEVER &&
		    ir_grant_reaches(g, &net->addr))
			return true;
	}
	return false;
}

static void floor_line(const struct view *v, const struct plan_model *m)
{
	const struct addr_special *s;
	char text[CIDR_TEXT_MAX];
	struct buf b;

	buf_init(&b, m->a);
	for (size_t i = 0; (s = addr_special(i)); i++)
		if (s->scope == ADDR_NEVER && !s->wraps)
			buf_addf(&b, "%s, ", cidr_text(&s->net, text));
	buf_adds(&b, "what wraps one of these in IPv6, ");
	buf_adds(v->out, "  ");
	if (!m->all) {
		view_wrap(
			v, 2, 2,
			arena_fmt(
				m->a,
				"everything else; never this host, the gate, loopback or link-local; private networks only where they are granted%s",
				opens_floor(m->policy)
					? "; but for the networks above that are narrower"
					: ""));
		return;
	}
	view_wrap(
		v, 2, 2,
		arena_fmt(
			m->a,
			"everything else; and never %.*sthe gate and the host itself; nor, by a name, private networks that nothing grants%s",
			STR_ARG(buf_str(&b)),
			opens_floor(m->policy)
				? "; but for the networks above that are narrower"
				: ""));
}

void plan_reach(const struct view *v, const struct plan_model *m)
{
	const struct ir_policy *p = m->policy;
	uint32_t n;
	struct line *lines = sorted_lines(m->a, &p->allow, m->denied, &n);

	view_title(v, "can reach", n, "grant");
	if (n == 0)
		view_row(v, 2, VIEW_PLAIN, STR("nothing"), (struct str){0});
	put_groups(v, m, lines, n, VIEW_GOOD);
	lines = sorted_lines(m->a, &p->deny, NULL, &n);
	view_title(v, "cannot reach", n, n ? "denial" : NULL);
	put_groups(v, m, lines, n, VIEW_BAD);
	floor_line(v, m);
}
