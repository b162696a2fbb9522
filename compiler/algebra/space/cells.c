#include "compiler/algebra/space/cells.h"

#include "compiler/algebra/space/numbers.h"
#include "compiler/algebra/space/paths.h"
#include "compiler/algebra/space/trie.h"
#include "compiler/ir/http.h"
#include "compiler/ir/inspection.h"
#include "compiler/ir/ports.h"

struct ir_request cells_connect(const struct target *to, enum ir_proto proto,
				uint16_t port)
{
	return (struct ir_request){.kind = IR_REQ_CONNECT,
				   .proto = proto,
				   .name = to->name,
				   .has_addr = to->has_addr,
				   .addr = to->addr,
				   .port = port};
}

struct ir_request cells_quic(const struct target *to, uint16_t port)
{
	struct ir_request r = cells_connect(to, IR_PROTO_UDP, port);

	r.quic = true;
	return r;
}

struct ir_request cells_kept(struct arena *a, const struct ir_request *r)
{
	struct ir_request copy = *r;

	copy.name = arena_str(a, r->name);
	copy.method = arena_str(a, r->method);
	copy.type = arena_str(a, r->type);
	copy.url.name = arena_str(a, r->url.name);
	copy.url.path = arena_str(a, r->url.path);
	return copy;
}

struct ir_request cells_resolve(struct str name)
{
	return (struct ir_request){
		.kind = IR_REQ_RESOLVE, .name = name, .type = STR("A")};
}

/* --- ports --------------------------------------------------------------- */

/* From at on a rule has the ports, or has them no longer. */
struct edge {
	enum ir_proto proto;
	uint32_t at;
	bool begins;
	uint32_t id; /* SIDES_NONE: of only */
};

/* Of no rule here: where something is refused for what others are denied. */
#define OTHERS_EDGE (SIDES_NONE - 1)

typedef VEC(struct edge) edge_list;

static int by_place(const void *va, const void *vb)
{
	const struct edge *a = va, *b = vb;

	if (a->proto != b->proto)
		return (int)a->proto - (int)b->proto;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static void add_edges(struct arena *a, edge_list *to, const ir_ports *ports,
		      uint32_t id)
{
	vec_each(p, ports) {
		*vec_push(a, to) = (struct edge){p->proto, p->lo, true, id};
		*vec_push(a, to) =
			(struct edge){p->proto, p->hi + 1u, false, id};
	}
}

/* And where a denial of requests, or of some ports, is about QUIC. */
static void add_rule_edges(struct arena *a, edge_list *to, const struct rule *r,
			   uint32_t id)
{
	const struct ir_grant *g = rule_grant(r);
	ir_ports ports = {0};

	if (!r->deny ||
	    !(inspection_denies_tls(g) || inspection_quic_names(g))) {
		add_edges(a, to, &g->ports, id);
		return;
	}
	vec_each(p, &g->ports)
		*vec_push(a, &ports) = *p;
	vec_each(p, &g->ports) {
		*vec_push(a, &ports) = *p;
		ports.v[ports.n - 1].proto = IR_PROTO_UDP;
	}
	ports_normalise(&ports);
	add_edges(a, to, &ports, id);
}

static uint16_t best_known(enum ir_proto proto, uint16_t lo, uint16_t hi)
{
	static const uint16_t tcp[] = {443, 80, 22, 8080, 53, 0};
	static const uint16_t udp[] = {53, 443, 123, 0};
	const uint16_t *known = proto == IR_PROTO_TCP ? tcp : udp;

	for (; *known; known++)
		if (lo <= *known && *known <= hi)
			return *known;
	return lo;
}

struct sweep {
	struct sides *s;
	cells_ports_visit visit;
	void *ctx;
	trie_ids open, shown;
	trie_ids nets; /* grants that open the floor on whatever port */
	/* Denials of requests to addresses: QUIC of names that lead there is
	 * refused on the ports of others, too. */
	trie_ids quic;
	uint32_t grants;
	bool limited;
	uint32_t within; /* ranges of only that are open */
};

static void step_edge(struct sweep *w, const struct edge *e)
{
	uint32_t at, last;
	bool deny;

	if (e->id == OTHERS_EDGE)
		return;
	if (e->id == SIDES_NONE) {
		w->within += e->begins ? 1 : -1u;
		return;
	}
	deny = w->s->rules.v[e->id].deny;
	w->grants += deny ? 0 : e->begins ? 1 : -1u;
	if (e->begins) {
		w->s->places[e->id] = w->open.n;
		*vec_push(w->s->scratch, &w->open) = e->id;
		return;
	}
	at = w->s->places[e->id];
	last = w->open.v[--w->open.n];
	w->open.v[at] = last;
	w->s->places[last] = at;
}

static bool is_open(const struct sweep *w, uint32_t id)
{
	vec_each(o, &w->open)
		if (*o == id)
			return true;
	return false;
}

static void put_ports(struct sweep *w, const struct edge *from, uint32_t end)
{
	struct cells_ports c = {.proto = from->proto,
				.lo = (uint16_t)from->at,
				.hi = (uint16_t)(end - 1)};

	if (!w->grants || (w->limited && !w->within))
		return;
	w->shown.n = 0;
	vec_each(id, &w->open)
		*vec_push(w->s->scratch, &w->shown) = *id;
	vec_each(id, &w->nets)
		if (!is_open(w, *id))
			*vec_push(w->s->scratch, &w->shown) = *id;
	vec_each(id, &w->quic)
		if (c.proto == IR_PROTO_UDP && !is_open(w, *id))
			*vec_push(w->s->scratch, &w->shown) = *id;
	c.shown = best_known(c.proto, c.lo, c.hi);
	c.ids = w->shown.v;
	c.n = w->shown.n;
	w->visit(w->ctx, &c);
}

/*
 * Where the floor denies, a grant of a network matters beyond its own ports:
 * it decides whether others reach through. doc/semantics.md, section 3.
 */
static void add_openers(struct sweep *w, const uint32_t *ids, uint32_t n)
{
	bool floor = false;

	for (uint32_t i = 0; i < n; i++)
		floor |= rule_grant(&w->s->rules.v[ids[i]])->from.layer ==
			 LAYER_FLOOR;
	for (uint32_t i = 0; floor && i < n; i++) {
		const struct rule *r = &w->s->rules.v[ids[i]];
		const struct ir_grant *g = rule_grant(r);

		if (!r->deny && g->dest.kind == IR_DEST_CIDR && !g->has_http)
			*vec_push(w->s->scratch, &w->nets) = ids[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct rule *r = &w->s->rules.v[ids[i]];

		if (r->deny && inspection_quic_net(rule_grant(r)))
			*vec_push(w->s->scratch, &w->quic) = ids[i];
	}
}

void cells_ports(struct sides *s, const uint32_t *ids, uint32_t n,
		 const ir_ports *only, cells_ports_visit visit, void *ctx)
{
	struct sweep w = {.s = s, .visit = visit, .ctx = ctx};
	edge_list edges = {0};

	for (uint32_t i = 0; i < n; i++)
		add_rule_edges(s->scratch, &edges, &s->rules.v[ids[i]], ids[i]);
	for (uint32_t k = 0; k < 2; k++)
		add_edges(s->scratch, &edges, &s->view[k].quic, OTHERS_EDGE);
	for (uint32_t k = 0; k < 2; k++)
		add_edges(s->scratch, &edges, &s->view[k].inside, OTHERS_EDGE);
	w.limited = only;
	add_openers(&w, ids, n);
	if (only)
		add_edges(s->scratch, &edges, only, SIDES_NONE);
	vec_sort(&edges, by_place);
	/* At the end of a protocol and behind the last edge none is open. */
	for (uint32_t i = 0; i < edges.n; i++) {
		const struct edge *e = &edges.v[i], *next = e + 1;

		step_edge(&w, e);
		if (i + 1 < edges.n && next->at > e->at)
			put_ports(&w, e, next->at);
	}
}

/* --- http ---------------------------------------------------------------- */

#define WHOLE UINT32_MAX /* not one of its entries: the rule itself */

/* What a path is matched with: one entry of a rule, or the set asked for. */
struct entry {
	uint32_t rule; /* SIDES_NONE: the set */
	uint32_t http;
};

struct requests {
	struct sides *s;
	const struct target *to;
	uint16_t port;
	const struct ir_http *only;
	cells_http_visit visit;
	void *ctx;
	struct paths *paths;
	VEC(struct entry) entries;
	trie_ids found, rules; /* of one class: entries, and their rules */
	bool unnamed;	       /* CONNECT is asked, and no rule names it */
};

static void add_entry(struct requests *q, uint32_t rule, uint32_t http,
		      struct str prefix, bool decoded)
{
	paths_add(q->paths, prefix, decoded, q->entries.n);
	*vec_push(q->s->scratch, &q->entries) = (struct entry){rule, http};
}

static void add_rule(struct requests *q, uint32_t id)
{
	const struct rule *r = &q->s->rules.v[id];
	const struct ir_grant *g = rule_grant(r);
	struct http_rules rules;

	if (!ir_grant_http(g)) {
		add_entry(q, id, WHOLE, STR(""), false);
		return;
	}
	/* What TLS without a name goes by: that there is such a denial,
	 * of whatever path. */
	if (r->deny && q->to->has_addr)
		add_entry(q, id, WHOLE, STR(""), false);
	rules = http_rules(q->s->scratch, g);
	for (uint32_t i = 0; i < rules.n; i++) {
		uint32_t http = g->has_http ? i : WHOLE;
		ir_texts paths;

		if (http_any_path(&g->dest, &rules.v[i])) {
			add_entry(q, id, http, STR(""), false);
			continue;
		}
		paths = http_paths(q->s->scratch, &g->dest, &rules.v[i]);
		vec_each(p, &paths)
			add_entry(q, id, http, p->s, r->deny);
	}
}

/*
 * Entries lie in the order of rules, that of a whole rule before its parts.
 * Methods that they name are put into out_methods; false: the path is not in
 * the set that was asked for.
 */
static bool put_views(struct requests *q, const struct paths_class *c,
		      ir_texts *out_methods)
{
	struct sides *s = q->s;
	bool within = !q->only;

	q->found.n = q->rules.n = 0;
	for (uint32_t i = 0; i < c->n; i++)
		*vec_push(s->scratch, &q->found) = c->ids[i];
	numbers_sort(q->found.v, q->found.n);
	sides_clear(s);
	for (uint32_t i = 0, end; i < q->found.n; i = end) {
		const struct entry *e = &q->entries.v[q->found.v[i]];
		VEC(struct ir_http) http = {0};
		uint32_t last = WHOLE;

		end = i + 1;
		if (e->rule == SIDES_NONE) {
			within = true;
			continue;
		}
		for (end = i; end < q->found.n; end++) {
			const struct entry *x = &q->entries.v[q->found.v[end]];
			const struct ir_http *h;

			if (x->rule != e->rule)
				break;
			if (x->http == last)
				continue;
			last = x->http;
			h = &rule_grant(&s->rules.v[x->rule])->http.v[last];
			*vec_push(s->scratch, &http) = *h;
			vec_each(m, &h->methods)
				*vec_push(s->scratch, out_methods) = *m;
		}
		sides_put(s, e->rule, http.v, http.n);
		*vec_push(s->scratch, &q->rules) = e->rule;
	}
	return within;
}

static bool is_among(const ir_texts *list, struct str s)
{
	vec_each(t, list)
		if (str_eq(t->s, s))
			return true;
	return false;
}

static struct str other_method(struct arena *a, const ir_texts *named)
{
	static const char *const known[] = {"GET",     "POST",	 "PUT",
					    "DELETE",  "PATCH",	 "HEAD",
					    "OPTIONS", "REPORT", "SEARCH"};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (!is_among(named, str_of(known[i])))
			return str_of(known[i]);
	for (struct str s = STR("X-A");; s = arena_fmt(a, "%.*sA", STR_ARG(s)))
		if (!is_among(named, s))
			return s;
}

static void ask_request(struct requests *q, struct str path, struct str method,
			bool other)
{
	const struct target *to = q->to;
	struct cells_http c = {.other = other,
			       .unnamed = q->unnamed,
			       .ids = q->rules.v,
			       .n = q->rules.n};
	struct ir_request *r = &c.request;

	r->kind = IR_REQ_HTTP;
	r->method = method;
	r->url.who = to->name.n ? IR_DEST_HOST : IR_DEST_CIDR;
	r->url.name = to->name;
	r->has_addr = to->has_addr && to->name.n;
	r->addr = to->addr;
	r->url.net = (struct cidr){to->addr, addr_bits(to->addr.family)};
	r->url.port = q->port;
	r->url.path = path;
	for (int i = 0; i < 2; i++) {
		/* What is seen first, is shown: the scheme of the port. */
		r->url.scheme = (q->port == 80) == (i == 0) ? IR_SCHEME_HTTP
							    : IR_SCHEME_HTTPS;
		q->visit(q->ctx, &c);
	}
}

static void visit_path(void *ctx, const struct paths_class *c)
{
	struct requests *q = ctx;
	ir_texts named = {0}, done = {0};
	const ir_texts *list = &named;

	if (!put_views(q, c, &named))
		return;
	if (q->only && !q->only->any_method)
		list = &q->only->methods;
	else
		ask_request(q, c->path, other_method(q->s->scratch, &named),
			    true);
	vec_each(m, list) {
		if (str_is(m->s, "CONNECT") || is_among(&done, m->s))
			continue;
		*vec_push(q->s->scratch, &done) = *m;
		ask_request(q, c->path, m->s, false);
	}
}

static bool is_connect_named(const struct requests *q, const uint32_t *ids,
			     uint32_t n)
{
	if (q->only && !q->only->any_method)
		return is_among(&q->only->methods, STR("CONNECT"));
	for (uint32_t i = 0; i < n; i++)
		if (rule_connect(&q->s->rules.v[ids[i]]))
			return true;
	return false;
}

/* It has no path, and whoever looks refuses it: all rules together tell. */
static void ask_connect(struct requests *q, const uint32_t *ids, uint32_t n)
{
	bool named = is_connect_named(q, ids, n);

	/* Whoever may send it may send all the others as well. */
	if (q->only && (!named || !q->only->any_path))
		return;
	q->unnamed = !named;
	q->rules.n = 0;
	for (uint32_t i = 0; i < n; i++)
		*vec_push(q->s->scratch, &q->rules) = ids[i];
	sides_put_all(q->s, q->rules.v, q->rules.n);
	ask_request(q, STR("/"), STR("CONNECT"), false);
}

void cells_http(struct sides *s, const struct target *to, uint16_t port,
		const uint32_t *ids, uint32_t n, const struct ir_http *only,
		cells_http_visit visit, void *ctx)
{
	struct requests q = {.s = s,
			     .to = to,
			     .port = port,
			     .only = only,
			     .visit = visit,
			     .ctx = ctx};

	q.paths = paths_new(s->scratch);
	for (uint32_t i = 0; i < n; i++)
		add_rule(&q, ids[i]);
	if (only && only->any_path)
		add_entry(&q, SIDES_NONE, 0, STR(""), true);
	else if (only)
		vec_each(p, &only->paths)
			add_entry(&q, SIDES_NONE, 0, p->s, true);
	paths_each(q.paths, visit_path, &q);
	ask_connect(&q, ids, n);
}

void cells_tunnel(struct sides *s, const struct target *to, uint16_t port,
		  const uint32_t *ids, uint32_t n, cells_http_visit visit,
		  void *ctx)
{
	struct requests q = {
		.s = s, .to = to, .port = port, .visit = visit, .ctx = ctx};

	ask_connect(&q, ids, n);
}

bool cells_no_requests(const struct sides *s, const struct target *to,
		       const uint32_t *ids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (ir_grant_http(rule_grant(&s->rules.v[ids[i]])))
			return false;
	return !to->has_addr;
}

void cells_crooked(struct sides *s, const struct target *to, uint16_t port,
		   uint32_t *ids, uint32_t n, cells_http_visit visit, void *ctx)
{
	struct requests q = {
		.s = s, .to = to, .port = port, .visit = visit, .ctx = ctx};
	ir_texts named = {0}, done = {0};
	bool paths = false;

	for (uint32_t i = 0; i < n; i++) {
		const struct ir_grant *g = rule_grant(&s->rules.v[ids[i]]);

		*vec_push(s->scratch, &q.rules) = ids[i];
		paths |= ir_grant_http(g) && http_has_paths(s->scratch, g);
		vec_each(h, &g->http)
			vec_each(m, &h->methods)
				*vec_push(s->scratch, &named) = *m;
	}
	if (!paths)
		return;
	sides_put_all(s, ids, n);
	ask_request(&q, STR(CELLS_CROOKED), other_method(s->scratch, &named),
		    true);
	vec_each(m, &named) {
		if (str_is(m->s, "CONNECT") || is_among(&done, m->s))
			continue;
		*vec_push(s->scratch, &done) = *m;
		ask_request(&q, STR(CELLS_CROOKED), m->s, false);
	}
}
