#include "compiler/commands/suggest.h"

#include "compiler/base/secret.h"
#include "compiler/lint/third_party.h"

#include <string.h>

#define NAME_ONLY_PORT 443 /* of a name that was only asked for */

/* --- paths ---------------------------------------------------------------- */

static int by_rule(const void *va, const void *vb)
{
	const struct suggest_http *a = va, *b = vb;
	int c = str_cmp(a->method, b->method);

	return c ? c : str_cmp(a->path, b->path);
}

static void sort_rules(suggest_rules *list)
{
	uint32_t n = 0;

	vec_sort(list, by_rule);
	vec_each(x, list)
		if (n == 0 || by_rule(&list->v[n - 1], x))
			list->v[n++] = *x;
	list->n = n;
}

/* "/a/b" of "/a/b/c" and of "/a/b/c/"; empty at the root. */
static struct str folder(struct str path)
{
	while (path.n && path.p[path.n - 1] == '/')
		path.n--;
	return str_parent(path);
}

static bool covers(const struct suggest_http *outer,
		   const struct suggest_http *x)
{
	struct str p = outer->path;

	while (p.n && p.p[p.n - 1] == '/')
		p.n--;
	return outer != x && str_eq(outer->method, x->method) &&
	       str_starts(x->path, p) &&
	       (x->path.n == p.n || x->path.p[p.n] == '/');
}

/* All that another one permits as well. */
static void drop_covered(suggest_rules *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		bool covered = false;

		for (uint32_t k = 0; k < list->n && !covered; k++)
			covered = covers(&list->v[k], &list->v[i]) &&
				  (k < n || k > i);
		if (!covered)
			list->v[n++] = list->v[i];
	}
	list->n = n;
}

/* Which methods a path is asked with, among these rules: "GET,POST". */
static struct str methods_of(struct arena *a, const suggest_rules *list,
			     struct str path)
{
	struct buf b;

	buf_init(&b, a);
	vec_each(x, list)
		if (str_eq(x->path, path))
			buf_addf(&b, "%s%.*s", b.n ? "," : "",
				 STR_ARG(x->method));
	return buf_str(&b);
}

/* Three or more in one folder, asked with the same methods, become it. */
static bool merge_paths(struct arena *a, suggest_rules *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		struct str in = folder(list->v[i].path);
		struct str methods = methods_of(a, list, list->v[i].path);
		uint32_t n = 0;

		if (in.n == 0)
			continue;
		for (uint32_t k = 0; k < list->n; k++)
			n += str_eq(list->v[k].method, list->v[i].method) &&
			     str_eq(folder(list->v[k].path), in) &&
			     str_eq(methods_of(a, list, list->v[k].path),
				    methods);
		if (n < SUGGEST_SIBLINGS)
			continue;
		*vec_push(a, list) = (struct suggest_http){
			list->v[i].method, arena_fmt(a, "%.*s/", STR_ARG(in))};
		sort_rules(list);
		drop_covered(list);
		return true;
	}
	return false;
}

/* --- one destination ------------------------------------------------------ */

static struct suggest_port *port_of(struct arena *a, struct suggest_grant *g,
				    enum ir_proto proto, uint16_t port)
{
	vec_each(p, &g->ports)
		if (p->proto == proto && p->port == port)
			return p;
	*vec_push(a, &g->ports) =
		(struct suggest_port){.proto = proto, .port = port};
	return &g->ports.v[g->ports.n - 1];
}

/* A path may hold what should not stand in a policy: then its folder. */
static struct str without_secret(struct str path)
{
	struct secret s;

	while (path.n && secret_next(path, 0, &s))
		path = folder(path);
	return path.n ? path : STR("/");
}

static bool is_method(struct str m)
{
	for (size_t i = 0; i < m.n; i++)
		if (m.p[i] < 'A' || m.p[i] > 'Z')
			return false;
	return m.n > 0 && !str_is(m, "CONNECT");
}

static void add_url(struct arena *a, struct suggest_grant *g,
		    const struct deed *d)
{
	const struct ir_url *u = &d->r.url;
	struct suggest_port *p = port_of(a, g, IR_PROTO_TCP, u->port);

	/* What no rule can say, needs a grant without rules. */
	p->unseen |= d->upgraded || !is_method(d->r.method) ||
		     !decide_path_canonical(u->path) ||
		     (g->is_addr && u->scheme == IR_SCHEME_HTTPS);
	*vec_push(a, &p->http) =
		(struct suggest_http){d->r.method, without_secret(u->path)};
}

static void add_deed(struct arena *a, struct suggest_grant *g,
		     const struct deed *d)
{
	struct suggest_port *p;

	switch (d->r.kind) {
	case IR_REQ_CONNECT:
		g->private |= !g->is_addr && d->r.has_addr &&
			      addr_scope(&d->r.addr) == ADDR_PRIVATE;
		p = port_of(a, g, d->r.proto, d->r.port);
		p->unseen |= d->unseen > 0;
		return;
	case IR_REQ_HTTP:
		add_url(a, g, d);
		return;
	case IR_REQ_RESOLVE:
	case IR_REQ_READ:
	case IR_REQ_WRITE:
	case IR_REQ_ARG:
		return;
	}
}

static int by_port(const void *va, const void *vb)
{
	const struct suggest_port *a = va, *b = vb;

	if (a->proto != b->proto)
		return (int)a->proto - (int)b->proto;
	return (int)a->port - (int)b->port;
}

static void finish(struct arena *a, struct suggest_grant *g)
{
	if (g->ports.n == 0) /* the least that lets a name be resolved */
		port_of(a, g, IR_PROTO_TCP, NAME_ONLY_PORT)->unseen = true;
	vec_sort(&g->ports, by_port);
	vec_each(p, &g->ports) {
		p->unseen |= p->http.n == 0;
		if (p->unseen)
			p->http.n = 0;
		sort_rules(&p->http);
		drop_covered(&p->http);
		while (merge_paths(a, &p->http))
			;
	}
}

/* --- names alike ---------------------------------------------------------- */

static bool same_ports(const struct suggest_grant *x,
		       const struct suggest_grant *y)
{
	if (x->private != y->private || x->ports.n != y->ports.n)
		return false;
	for (uint32_t i = 0; i < x->ports.n; i++) {
		const suggest_rules *p = &x->ports.v[i].http;
		const suggest_rules *q = &y->ports.v[i].http;

		if (by_port(&x->ports.v[i], &y->ports.v[i]) || p->n != q->n)
			return false;
		for (uint32_t k = 0; k < p->n; k++)
			if (by_rule(&p->v[k], &q->v[k]))
				return false;
	}
	return true;
}

static struct str parent(struct str name)
{
	return str_slice(name, str_find(name, '.', 0) + 1, name.n);
}

/* "co.uk", "com.au": names are sold below it. A guess on the safe side. */
static bool is_suffix(struct str name)
{
	size_t dot = str_find(name, '.', 0);
	struct str tld = str_slice(name, dot + 1, name.n);

	if (dot == name.n)
		return true;
	return str_find(tld, '.', 0) == tld.n && tld.n == 2 && dot <= 4;
}

/* Does "*.x" reach no more places of others than these names did? */
static bool may_merge(const struct suggest_grant *g, struct str pattern)
{
	const struct third_party *row;

	if (is_suffix(parent(g->dest)))
		return false;
	for (size_t i = 0; (row = third_party_at(i)); i++)
		if (decide_name_matches(row->dest, g->dest) ||
		    str_eq(row->dest, pattern) ||
		    decide_name_matches(pattern, row->dest))
			return false;
	return true;
}

static bool alike(const struct suggest_grant *x, const struct suggest_grant *g)
{
	return !x->merged && !x->is_addr &&
	       str_eq(parent(x->dest), parent(g->dest)) && same_ports(x, g);
}

static void merge_names(struct arena *a, suggest_grants *list)
{
	uint32_t all = list->n;

	for (uint32_t i = 0; i < all; i++) {
		struct suggest_grant g = list->v[i];
		uint32_t n = 0;

		if (g.merged || g.is_addr)
			continue;
		for (uint32_t k = i; k < all; k++)
			n += alike(&list->v[k], &g);
		g.dest = arena_fmt(a, "*.%.*s", STR_ARG(parent(g.dest)));
		if (n < SUGGEST_SIBLINGS || !may_merge(&list->v[i], g.dest))
			continue;
		for (uint32_t k = i; k < all; k++)
			if (k != i && alike(&list->v[k], &list->v[i]))
				list->v[k].merged = true;
		list->v[i].merged = true;
		*vec_push(a, list) = g;
	}
}

/* --- all ------------------------------------------------------------------ */

static int by_dest(const void *va, const void *vb)
{
	const struct suggest_grant *a = va, *b = vb;
	int c = a->merged - b->merged;

	c = c ? c : a->is_addr - b->is_addr;
	return c ? c : str_cmp(a->dest, b->dest);
}

struct one {
	struct str who;
	const struct deed *d;
};

static int by_who(const void *va, const void *vb)
{
	const struct one *a = va, *b = vb;
	int c = str_cmp(a->who, b->who);

	return c ? c : (a->d > b->d) - (a->d < b->d);
}

void suggest_make(struct arena *a, const struct deeds *d, suggest_grants *out)
{
	VEC(struct one) ones = {0};
	struct addr addr;

	vec_each(x, &d->v) {
		struct str who = deed_who(a, x);

		if (x->then != DEED_REFUSED && who.n)
			*vec_push(a, &ones) = (struct one){who, x};
	}
	vec_sort(&ones, by_who);
	vec_each(x, &ones) {
		if (x == ones.v || !str_eq(x[-1].who, x->who)) {
			struct suggest_grant *g = vec_push(a, out);

			g->dest = x->who;
			g->is_addr = addr_parse(x->who, &addr);
			g->is_v6 = g->is_addr && addr.family == ADDR_V6;
		}
		add_deed(a, &out->v[out->n - 1], x->d);
	}
	vec_each(g, out)
		finish(a, g);
	merge_names(a, out);
	vec_sort(out, by_dest);
	while (out->n && out->v[out->n - 1].merged)
		out->n--;
}
