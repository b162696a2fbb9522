/* The borders of a plan and its policy, and what they come down to: prove.h. */
#include "compiler/prove/parts.h"

#include "compiler/algebra/space/names.h"
#include "compiler/algebra/space/numbers.h"
#include "compiler/base/agent_link.h"
#include "compiler/base/buf.h"
#include "compiler/base/limits.h"
#include "compiler/base/standin_nets.h"
#include "compiler/ir/inspection.h"
#include "compiler/ir/ports.h"
#include "compiler/ir/published.h"
#include "compiler/plan/gate.h"

#include <stdlib.h>

/* --- what rules do ------------------------------------------------------- */

struct effect {
	struct str text;
	uint32_t grant;
};

/* All that a decision can ask of a rule, but for where it leads. */
static struct str effect_text(struct proof *p, uint32_t i)
{
	const struct ir_grant *g = p->grants[i];
	const struct ir_dest *d = &g->dest;
	bool url = d->kind == IR_DEST_URL;
	size_t list = i < p->in->policy->allow.n			  ? 0
		      : i < p->in->policy->allow.n + p->in->policy->ask.n ? 1
									  : 2;

	return arena_fmt(p->a, "%zu %d %d %d %d %d %d %d %d %d %.*s", list,
			 g->from.layer == LAYER_FLOOR, (int)d->kind,
			 url ? (int)d->u.url.who : 0,
			 url ? (int)d->u.url.scheme : 0, g->has_http,
			 ir_dest_machine(d), g->private.set, g->private.v,
			 (int)g->lasts.v, STR_ARG(ir_grant_ports(g)));
}

static int by_effect(const void *va, const void *vb)
{
	const struct effect *a = va, *b = vb;

	return str_cmp(a->text, b->text);
}

void space_effects(struct proof *p)
{
	const struct ir_policy *policy = p->in->policy;
	VEC(struct effect) list = {0};
	uint32_t n = 0;

	p->grants = arena_array(
		p->a, policy->allow.n + policy->ask.n + policy->deny.n + 1,
		sizeof(*p->grants));
	vec_each(g, &policy->allow)
		p->grants[p->n_grants++] = g;
	vec_each(g, &policy->ask)
		p->grants[p->n_grants++] = g;
	vec_each(g, &policy->deny)
		p->grants[p->n_grants++] = g;
	p->effects = arena_array(p->a, p->n_grants + 1, sizeof(*p->effects));
	for (uint32_t i = 0; i < p->n_grants; i++)
		*vec_push(p->a, &list) = (struct effect){effect_text(p, i), i};
	vec_sort(&list, by_effect);
	for (uint32_t i = 0; i < list.n; i++) {
		n += i == 0 || !str_eq(list.v[i - 1].text, list.v[i].text);
		p->effects[list.v[i].grant] = n;
	}
}

static void put_numbers(struct buf *b, uint32_t *v, uint32_t n)
{
	n = numbers_unique(v, n);
	buf_add(b, (struct str){(const char *)v, n * sizeof(*v)});
}

/* --- addresses ----------------------------------------------------------- */

typedef VEC(struct addr) addr_list;

/* Both ends of a range, and what is beside them. */
static void add_ends(struct proof *p, addr_list *to, struct addr lo,
		     struct addr hi)
{
	*vec_push(p->a, to) = lo;
	*vec_push(p->a, to) = hi;
	if (addr_step_down(&lo))
		*vec_push(p->a, to) = lo;
	if (addr_step_up(&hi))
		*vec_push(p->a, to) = hi;
}

/* A network, and the forms that wrap it. */
static void add_net(struct proof *p, addr_list *to, const struct cidr *net)
{
	struct cidr form;

	add_ends(p, to, net->addr, cidr_last(net));
	for (size_t i = 0; cidr_wrapped(i, net, &form); i++)
		add_ends(p, to, form.addr, cidr_last(&form));
	if (net->addr.family == ADDR_V4) {
		/* mapped: ::ffff:0:0/96 */
		form = (struct cidr){.addr.family = ADDR_V6,
				     .bits = (uint8_t)(96 + net->bits)};
		form.addr.b[10] = form.addr.b[11] = 0xff;
		memcpy(form.addr.b + 12, net->addr.b, 4);
		add_ends(p, to, form.addr, cidr_last(&form));
	}
}

static void add_nets(struct proof *p, addr_list *to,
		     const struct names_nets *nets)
{
	for (uint32_t i = 0; i < nets->n; i++)
		add_net(p, to, &nets->v[i]);
}

static int by_addr(const void *a, const void *b)
{
	return addr_cmp(a, b);
}

/* Addresses that people know: of those alike one of these is shown. */
static const char *const known[] = {"1.1.1.1", "2606:4700:4700::1111",
				    "10.0.0.1", "169.254.169.254", "fd00::1"};

static bool is_known(const struct addr *a)
{
	struct addr x;

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (addr_parse(str_of(known[i]), &x) && addr_eq(&x, a))
			return true;
	return false;
}

/* Of networkpolicy.yaml, and whom the resolver asks, which that is about. */
static void add_backstop(struct proof *p, addr_list *to)
{
	const struct ir_resolver *r = &p->in->policy->resolver.v;

	if (!p->backstop)
		return;
	add_ends(p, to, r->addr, r->addr);
	vec_each(x, &p->backstop->policies)
		for (size_t way = 0; way < BACKSTOP_WAYS; way++)
			vec_each(rule, &x->rules[way])
				vec_each(peer, &rule->peers) {
					if (peer->is_pods)
						continue;
					add_ends(p, to, peer->net.addr,
						 cidr_last(&peer->net));
					vec_each(hole, &peer->except)
						add_ends(p, to, hole->net.addr,
							 cidr_last(&hole->net));
				}
}

static addr_list find_borders(struct proof *p)
{
	const struct addr_special *s;
	addr_list out = {0};
	struct addr one;

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (addr_parse(str_of(known[i]), &one))
			*vec_push(p->a, &out) = one;

	for (uint32_t i = 0; i < p->n_grants; i++)
		if (ir_dest_net(&p->grants[i]->dest))
			add_net(p, &out, ir_dest_net(&p->grants[i]->dest));
	for (size_t i = 0; (s = addr_special(i)); i++)
		add_net(p, &out, &s->net);
	for (size_t i = 0; i < STANDIN_NETS; i++)
		add_net(p, &out, &standin_nets[i]);
	vec_each(d, &p->in->policy->upstream.direct)
		if (ir_dest_net(&d->dest))
			add_net(p, &out, ir_dest_net(&d->dest));
	vec_each(t, &p->firewall.terms)
		vec_each(x, &t->list)
			add_ends(p, &out, x->lo, x->hi);
	add_nets(p, &out, &p->map.floor);
	add_nets(p, &out, &p->map.priv);
	add_nets(p, &out, &p->map.cover);
	add_nets(p, &out, &p->map.past);
	for (size_t i = 0; i < 2; i++) {
		add_ends(p, &out, p->gate[i].addr, p->gate[i].addr);
		add_ends(p, &out, p->agent[i].addr, p->agent[i].addr);
	}
	add_ends(p, &out, p->machine.addr, p->machine.addr);
	add_backstop(p, &out);
	vec_sort(&out, by_addr);
	return out;
}

/* The longest network that has it, and a number for none. */
static uint8_t longest_of(const struct names_nets *nets, const struct addr *a)
{
	int bits = -1;

	for (uint32_t i = 0; i < nets->n; i++)
		if (nets->v[i].bits > bits && cidr_has(&nets->v[i], a))
			bits = nets->v[i].bits;
	return (uint8_t)(bits + 1);
}

/* Which networks of rules have it. */
static void put_rules(struct proof *p, struct buf *b, const struct addr *a,
		      uint32_t *room)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_grants; i++) {
		const struct cidr *net = ir_dest_net(&p->grants[i]->dest);

		if (net && cidr_has(net, a))
			room[n++] = p->effects[i] << 1 |
				    ir_grant_reaches(p->grants[i], a);
	}
	put_numbers(b, room, n);
}

/* Is it one that nothing stands for but itself? */
static bool is_single(const struct proof *p, const struct addr *a)
{
	for (size_t i = 0; i < 2; i++)
		if (addr_eq(a, &p->gate[i].addr) ||
		    addr_eq(a, &p->agent[i].addr))
			return true;
	return addr_eq(a, &p->machine.addr);
}

static bool is_direct(const struct proof *p, const struct addr *a)
{
	vec_each(d, &p->in->policy->upstream.direct) {
		const struct cidr *net = ir_dest_net(&d->dest);

		if (net && cidr_has(net, a))
			return true;
	}
	return false;
}

/* Where the addresses of a term are as they are written. */
static uint8_t *find_terms(struct proof *p, const struct addr *a)
{
	uint8_t *in = arena_alloc(p->a, p->firewall.terms.n + 1);

	for (uint32_t i = 0; i < p->firewall.terms.n; i++)
		in[i] = firewall_term_has(&p->firewall.terms.v[i], a);
	return in;
}

/* Which blocks of networkpolicy.yaml have it, and is it whom the resolver asks?
 */
static void put_backstop(const struct proof *p, struct buf *b,
			 const struct addr *a)
{
	if (!p->backstop)
		return;
	buf_addc(b, (char)addr_eq(a, &p->in->policy->resolver.v.addr));
	vec_each(x, &p->backstop->policies)
		for (size_t way = 0; way < BACKSTOP_WAYS; way++)
			vec_each(rule, &x->rules[way])
				vec_each(peer, &rule->peers)
					if (!peer->is_pods)
						buf_addc(
							b,
							(char)backstop_peer_has(
								peer, a));
}

/* How much of it there is. */
static uint64_t backstop_parts(const struct proof *p)
{
	uint64_t n = 0;

	if (!p->backstop)
		return 0;
	vec_each(x, &p->backstop->policies)
		for (size_t way = 0; way < BACKSTOP_WAYS; way++)
			vec_each(rule, &x->rules[way]) {
				n += rule->ports.n;
				vec_each(peer, &rule->peers)
					n += 1 + peer->except.n;
			}
	return n;
}

static struct str key_of(struct proof *p, const struct addr *a,
			 const uint8_t *in, uint32_t *room)
{
	struct buf b;

	buf_init(&b, p->a);
	buf_addc(&b, (char)a->family);
	buf_addc(&b, (char)addr_scope(a));
	buf_addc(&b, (char)longest_of(&p->map.floor, a));
	buf_addc(&b, (char)longest_of(&p->map.priv, a));
	buf_addc(&b, (char)longest_of(&p->map.cover, a));
	buf_addc(&b, (char)longest_of(&p->map.past, a));
	buf_addc(&b, (char)(standin_nets_have(a) << 1 | is_direct(p, a)));
	if (is_single(p, a))
		buf_add(&b, (struct str){(const char *)a->b, sizeof(a->b)});
	for (uint32_t i = 0; i < p->firewall.terms.n; i++)
		if (p->firewall.terms.v[i].used)
			buf_addc(&b, (char)in[i]);
	put_rules(p, &b, a, room);
	put_backstop(p, &b, a);
	return buf_str(&b);
}

struct spot space_spot(struct proof *p, struct addr addr)
{
	return (struct spot){.addr = addr, .in = find_terms(p, &addr)};
}

static int by_key(const void *va, const void *vb)
{
	const struct spot *a = va, *b = vb;
	int c = str_cmp(a->key, b->key);

	if (c == 0)
		c = (int)is_known(&b->addr) - (int)is_known(&a->addr);
	return c ? c : addr_cmp(&a->addr, &b->addr);
}

bool space_spots(struct proof *p)
{
	addr_list borders = find_borders(p);
	uint32_t *room = arena_array(p->a, p->n_grants + 1, sizeof(*room));
	uint32_t n = 0;

	if (!proof_bounded(p, "addresses times rules",
			   (uint64_t)borders.n *
				   (p->n_grants + p->firewall.terms.n +
				    backstop_parts(p)),
			   PROVE_STEPS_MAX))
		return false;
	vec_each(x, &borders) {
		struct spot s;

		if (x > borders.v && addr_eq(x - 1, x))
			continue;
		p->out->addresses++;
		s = space_spot(p, *x);
		s.key = key_of(p, x, s.in, room);
		*vec_push(p->a, &p->spots) = s;
	}
	vec_sort(&p->spots, by_key);
	for (uint32_t i = 1; i < p->spots.n; i++)
		if (!str_eq(p->spots.v[i].key, p->spots.v[n].key))
			p->spots.v[++n] = p->spots.v[i];
	p->spots.n = n + 1;
	return true;
}

/* --- ports --------------------------------------------------------------- */

typedef VEC(uint32_t) number_list;

static void add_borders(struct proof *p, number_list *to, uint32_t lo,
			uint32_t hi)
{
	const uint32_t all[] = {lo - 1, lo, lo + 1, hi - 1, hi, hi + 1};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i] >= 1 && all[i] <= UINT16_MAX)
			*vec_push(p->a, to) = all[i];
}

/* Which ports of networkpolicy.yaml it is, which is published, and the one that
 * the resolver asks at. */
static void put_backstop_port(const struct proof *p, struct buf *b,
			      uint32_t port)
{
	if (!p->backstop)
		return;
	buf_addc(b, port == p->in->policy->resolver.v.port ? '1' : '0');
	buf_addc(b, backstop_publishes(p, port) ? '1' : '0');
	vec_each(x, &p->backstop->policies)
		for (size_t way = 0; way < BACKSTOP_WAYS; way++)
			vec_each(rule, &x->rules[way])
				vec_each(one, &rule->ports)
					buf_addc(b,
						 one->lo <= port &&
								 port <= one->hi
							 ? '1'
							 : '0');
}

static void add_backstop_ports(struct proof *p, number_list *to)
{
	uint32_t asked = p->in->policy->resolver.v.port;
	struct ir_published x;

	if (!p->backstop)
		return;
	add_borders(p, to, asked, asked);
	vec_each(t, &p->in->policy->ports)
		if (!published_parse(t->s, &x))
			add_borders(p, to, x.to, x.to);
	vec_each(y, &p->backstop->policies)
		for (size_t way = 0; way < BACKSTOP_WAYS; way++)
			vec_each(rule, &y->rules[way])
				vec_each(one, &rule->ports)
					add_borders(p, to, one->lo, one->hi);
}

/* Which of the rules' lists of ports have it, and which of the policy's. */
static struct str port_key(struct proof *p, uint32_t port, uint32_t *room)
{
	uint32_t n = 0;
	struct buf b;

	buf_init(&b, p->a);
	vec_each(c, &p->firewall.chains)
		vec_each(r, &c->rules)
			vec_each(m, &r->matches) {
				bool in = false;

				if (m->of_addr || m->key != FIREWALL_DPORT)
					continue;
				vec_each(s, &m->spans)
					in |= s->lo <= port && port <= s->hi;
				buf_addc(&b, in ? '1' : '0');
			}
	for (uint32_t i = 0; i < p->n_grants; i++) {
		const ir_ports *ports = &p->grants[i]->ports;
		bool tcp = ports_has(ports, IR_PROTO_TCP, (uint16_t)port);
		bool udp = ports_has(ports, IR_PROTO_UDP, (uint16_t)port);

		if (tcp || udp)
			room[n++] = p->effects[i] << 2 | (uint32_t)tcp << 1 |
				    (uint32_t)udp;
	}
	put_numbers(&b, room, n);
	put_backstop_port(p, &b, port);
	/* The gate's own are looked at each by itself. */
	if (port == 53 || (port >= GATE_PORT_RAW && port <= GATE_PORT_ASK))
		buf_addu(&b, port);
	return buf_str(&b);
}

static int by_port_key(const void *va, const void *vb)
{
	const struct port_cell *a = va, *b = vb;
	int c = str_cmp(a->key, b->key);

	return c ? c : a->port - b->port;
}

static number_list find_ports(struct proof *p)
{
	number_list out = {0};

	add_borders(p, &out, 1, UINT16_MAX);
	add_borders(p, &out, 53, 53);
	add_borders(p, &out, 80, 80);
	add_borders(p, &out, 443, 443);
	for (uint32_t k = GATE_PORT_RAW; k <= GATE_PORT_ASK; k++)
		add_borders(p, &out, k, k);
	for (uint32_t i = 0; i < p->n_grants; i++)
		vec_each(x, &p->grants[i]->ports)
			add_borders(p, &out, x->lo, x->hi);
	vec_each(c, &p->firewall.chains)
		vec_each(r, &c->rules)
			vec_each(m, &r->matches) {
				if (m->of_addr || m->key != FIREWALL_DPORT)
					continue;
				vec_each(s, &m->spans)
					add_borders(p, &out, s->lo, s->hi);
			}
	add_backstop_ports(p, &out);
	out.n = numbers_unique(out.v, out.n);
	return out;
}

bool space_ports(struct proof *p)
{
	number_list borders = find_ports(p);
	uint32_t *room = arena_array(p->a, p->n_grants + 1, sizeof(*room));
	uint32_t n = 0;

	p->out->ports = borders.n;
	if (!proof_bounded(p, "ports times rules",
			   (uint64_t)borders.n *
				   (p->n_grants + backstop_parts(p)),
			   PROVE_STEPS_MAX))
		return false;
	vec_each(x, &borders)
		*vec_push(p->a, &p->ports) =
			(struct port_cell){(uint16_t)*x, port_key(p, *x, room)};
	vec_sort(&p->ports, by_port_key);
	for (uint32_t i = 1; i < p->ports.n; i++)
		if (!str_eq(p->ports.v[i].key, p->ports.v[n].key))
			p->ports.v[++n] = p->ports.v[i];
	p->ports.n = n + 1;
	return true;
}

/* --- names --------------------------------------------------------------- */

struct collector {
	struct proof *p;
	uint32_t *room;
};

/* What the resolver knows of it, and which rules speak of it. */
static struct str name_key(struct proof *p, const struct name_cell *c,
			   uint32_t *ids, uint32_t n)
{
	const struct names_match *m = &c->match;
	struct buf b;

	buf_init(&b, p->a);
	buf_add(&b,
		(struct str){(const char *)&m->classes, sizeof(m->classes)});
	buf_add(&b, (struct str){(const char *)&m->classes_private,
				 sizeof(m->classes_private)});
	buf_addf(&b, "%d%d%d%d%d %s ", m->n_lines > 0, m->private_ok, m->past,
		 c->denied, c->machine,
		 m->ask ? arena_cstr(p->a, m->ask->line.id) : "-");
	put_numbers(&b, ids, n);
	return buf_str(&b);
}

static void collect_name(void *ctx, const struct names_class *c)
{
	struct collector *to = ctx;
	struct proof *p = to->p;
	struct name_cell cell = {.name = arena_str(p->a, c->name)};
	uint32_t n = 0;

	p->out->names++;
	cell.denied = names_denied(&p->map, cell.name) != NULL;
	(void)names_match(&p->map, cell.name, &cell.match);
	cell.machine = addr_names_machine(cell.name);
	for (uint32_t i = 0; i < c->n; i++)
		if (c->ids[i] < p->n_grants)
			to->room[n++] = p->effects[c->ids[i]];
	cell.key = name_key(p, &cell, to->room, n);
	*vec_push(p->a, &p->names) = cell;
}

static void add_lines(struct names *to, const struct names_line *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		names_add(to, v[i].name, UINT32_MAX);
}

static struct names *all_patterns(struct proof *p)
{
	struct names *to = names_new(p->a);
	struct names_map *m = &p->map;

	for (uint32_t i = 0; i < p->n_grants; i++)
		if (ir_dest_name(&p->grants[i]->dest).n)
			names_add(to, ir_dest_name(&p->grants[i]->dest), i);
	add_lines(to, m->exact, m->n_exact);
	add_lines(to, m->wild, m->n_wild);
	add_lines(to, m->deny, m->n_deny);
	add_lines(to, m->guard, m->n_guard);
	for (uint32_t i = 0; i < m->n_ask; i++)
		if (m->ask[i].line.name.n)
			names_add(to, m->ask[i].line.name, UINT32_MAX);
	for (uint32_t i = 0; i < m->n_passing; i++)
		names_add(to, m->passing[i], UINT32_MAX);
	vec_each(d, &p->in->policy->upstream.direct)
		if (ir_dest_name(&d->dest).n)
			names_add(to, ir_dest_name(&d->dest), UINT32_MAX);
	names_add(to, STR(LINK_MACHINE_NAME), UINT32_MAX);
	names_add(to, STR(LINK_MACHINE_ALIAS), UINT32_MAX);
	return to;
}

static int by_name_key(const void *va, const void *vb)
{
	const struct name_cell *a = va, *b = vb;
	int c = str_cmp(a->key, b->key);
	/* What is above the machine's own name is nobody's. */
	struct str odd = STR("docker.internal");

	if (c == 0)
		c = (int)str_ends(a->name, odd) - (int)str_ends(b->name, odd);
	return c ? c : str_cmp(a->name, b->name);
}

/* Questions are asked of each, packets of one of those alike. */
bool space_names(struct proof *p)
{
	struct collector to = {
		p, arena_array(p->a, p->n_grants + 1, sizeof(*to.room))};
	uint32_t n = 0;

	if (!names_each(all_patterns(p), collect_name, &to)) {
		(void)proof_bounded(p, "names that rules tell apart",
				    LIMIT_NAME_CLASSES + 1, LIMIT_NAME_CLASSES);
		return false;
	}
	if (!proof_bounded(p, "names times rules",
			   (uint64_t)p->names.n * p->n_grants, PROVE_STEPS_MAX))
		return false;
	vec_each(x, &p->names)
		if (!answers_resolve(p, x))
			return false;
	vec_sort(&p->names, by_name_key);
	for (uint32_t i = 1; i < p->names.n; i++)
		if (!str_eq(p->names.v[i].key, p->names.v[n].key))
			p->names.v[++n] = p->names.v[i];
	p->names.n = n + (p->names.n > 0);
	return true;
}
