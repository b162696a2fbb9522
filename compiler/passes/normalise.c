/*
 * The part of normalise that other passes need for a grant by itself.
 */
#include "compiler/passes/parts.h"

#include "compiler/base/gitignore.h"
#include "compiler/base/sha256.h"
#include "compiler/ir/ports.h"
#include "compiler/ir/text.h"
#include "compiler/passes/args/args.h"
#include "compiler/passes/trace/trace.h"

#include <stdlib.h>
#include <string.h>

/* --- ports --------------------------------------------------------------- */

static void add_all_ports(struct arena *a, struct ir_grant *g,
			  enum ir_proto proto)
{
	*vec_push(a, &g->ports) = (struct ir_port){proto, 1, 65535, g->dest.at};
}

/*
 * No ports: any TCP port for a grant, everything for a denial. A URL has the
 * port of its scheme or the one that was written.
 */
static void settle_ports(struct arena *a, struct ir_grant *g)
{
	ir_ports own = {0};

	/* The list may be shared with the bound document: sort a copy. One
	 * more for dest's own port, two for the default. */
	own.cap = g->ports.n + 2;
	own.v = arena_array(a, own.cap, sizeof(*own.v));
	vec_each(p, &g->ports)
		own.v[own.n++] = *p;
	g->ports = own;
	if (g->dest.kind == IR_DEST_URL)
		*vec_push(a, &g->ports) =
			(struct ir_port){IR_PROTO_TCP, g->dest.u.url.port,
					 g->dest.u.url.port, g->dest.at};
	if (g->dest.has_port)
		*vec_push(a, &g->ports) = g->dest.port;
	g->dest.has_port = false;
	if (g->ports.n == 0) {
		add_all_ports(a, g, IR_PROTO_TCP);
		if (g->key == IR_KEY_DENY)
			add_all_ports(a, g, IR_PROTO_UDP);
	}
	ports_normalise(&g->ports);
}

/* --- http ---------------------------------------------------------------- */

/* Without a leading '/' relative to the URL's: doc/semantics.md, section 2. */
static struct str absolute_path(struct arena *a, const struct ir_dest *dest,
				struct str path)
{
	struct str base = STR("/");

	if (str_starts(path, STR("/")))
		return path;
	if (dest->kind == IR_DEST_URL)
		base = dest->u.url.path;
	if (str_ends(base, STR("/")))
		return arena_fmt(a, "%.*s%.*s", STR_ARG(base), STR_ARG(path));
	return arena_fmt(a, "%.*s/%.*s", STR_ARG(base), STR_ARG(path));
}

struct rule {
	struct str text;
	struct ir_http http;
};

static int by_rule(const void *va, const void *vb)
{
	const struct rule *a = va, *b = vb;
	int c = str_cmp(a->text, b->text);

	if (c)
		return c;
	return a->http.at.beg < b->http.at.beg ? -1 : 1;
}

static void settle_http(struct arena *a, struct ir_grant *g)
{
	struct rule *rules;
	uint32_t n = g->http.n;

	if (n == 0)
		return;
	rules = arena_array(a, n, sizeof(*rules));
	for (uint32_t i = 0; i < n; i++) {
		struct ir_http *h = &rules[i].http;

		*h = g->http.v[i];
		h->methods = ir_texts_sorted(a, &h->methods);
		h->paths = ir_texts_sorted(a, &h->paths);
		vec_each(p, &h->paths)
			p->s = absolute_path(a, &g->dest, p->s);
		h->paths = ir_texts_sorted(a, &h->paths);
		rules[i].text = ir_http_text(a, h);
	}
	qsort(rules, n, sizeof(*rules), by_rule);
	memset(&g->http, 0, sizeof(g->http));
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || !str_eq(rules[i - 1].text, rules[i].text))
			*vec_push(a, &g->http) = rules[i].http;
}

/* --- grants -------------------------------------------------------------- */

/* What was not written. */
static void settle_answer(struct ir_grant *g)
{
	if (!g->lasts.set)
		g->lasts = (ir_opt_lasts){true, g->from, IR_LASTS_SESSION};
	if (!g->wait_s.set)
		g->wait_s = (ir_opt_u64){true, g->from, IR_WAIT_S};
}

void normalise_grant(struct arena *a, struct ir_grant *g)
{
	settle_ports(a, g);
	settle_http(a, g);
	if (g->key == IR_KEY_HOSTNAMES || g->key == IR_KEY_CIDRS)
		g->key = IR_KEY_ALLOW;
	if (g->key == IR_KEY_ASK)
		settle_answer(g);
	g->canon = ir_grant_text(a, g);
}

static char letter_of(const struct ir_grant *g)
{
	switch (g->key) {
	case IR_KEY_ALLOW:
	case IR_KEY_HOSTNAMES:
	case IR_KEY_CIDRS:
		return 'g';
	case IR_KEY_ASK:
		return 'a';
	case IR_KEY_DENY:
		return 'd';
	}
	abort();
}

/* "g-0123456789" */
static void name_grant(struct arena *a, struct ir_grant *g)
{
	char id[2 + SHA256_HEX_MAX];

	id[0] = letter_of(g);
	id[1] = '-';
	sha256_hex(g->canon, id + 2);
	g->id = arena_str(a, (struct str){id, 12});
}

/* '*' alone among the denials: it says what is so without it. */
static bool says_nothing(const struct ir_grant *g)
{
	return g->key == IR_KEY_DENY && g->dest.kind == IR_DEST_ANY &&
	       g->ports.n == 0 && !g->dest.has_port && !g->has_http;
}

static int by_canon(const void *va, const void *vb)
{
	const struct ir_grant *a = *(const struct ir_grant *const *)va;
	const struct ir_grant *b = *(const struct ir_grant *const *)vb;
	int c = str_cmp(a->canon, b->canon);

	if (c)
		return c;
	return a < b ? -1 : 1;
}

/*
 * One of several with the same canon: the first, but a user's denial before
 * the floor's, since no grant opens what a user denied.
 */
static struct ir_grant *keep_of(struct ir_grant **run, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (run[i]->from.layer != LAYER_FLOOR)
			return run[i];
	return run[0];
}

static void settle_grants(struct arena *a, ir_grants *grants)
{
	struct ir_grant **list;
	ir_grants out = {0};
	uint32_t n = 0, end;

	list = arena_array(a, grants->n + 1, sizeof(*list));
	vec_each(g, grants) {
		if (says_nothing(g))
			continue;
		normalise_grant(a, g);
		list[n++] = g;
	}
	qsort(list, n, sizeof(*list), by_canon);
	out.cap = n;
	out.v = arena_array(a, n, sizeof(*out.v));
	for (uint32_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n; end++)
			if (!str_eq(list[i]->canon, list[end]->canon))
				break;
		out.v[out.n] = *keep_of(list + i, end - i);
		for (uint32_t k = i; k < end; k++)
			if (list[k]->from.at.beg != out.v[out.n].from.at.beg)
				*vec_push(a, &out.v[out.n].again) =
					list[k]->from;
		name_grant(a, &out.v[out.n++]);
	}
	*grants = out;
}

/* --- readonly patterns --------------------------------------------------- */

struct str normalise_literal(const struct ir_pattern *p)
{
	struct str path = p->line, none = {0};

	if (p->back)
		return none;
	for (size_t i = 0; i < path.n; i++)
		if (strchr("*?[\\", path.p[i]))
			return none;
	if (str_ends(path, STR("/")))
		path.n--;
	if (str_find(path, '/', 0) == path.n)
		return none;
	if (path.p[0] == '/')
		path = str_slice(path, 1, path.n);
	return path;
}

/* Hold what the whole list, read to its end, makes readonly. */
static void settle_hold(struct arena *a, ir_patterns *patterns)
{
	struct gitignore *all = gitignore_new(a);
	bool any_back = false;

	vec_each(p, patterns) {
		(void)gitignore_add(all, p->line, NULL);
		any_back |= p->back;
	}
	vec_each(p, patterns) {
		struct str path = normalise_literal(p);
		bool is_dir = str_ends(p->line, STR("/"));

		p->hold = path.n && (!any_back ||
				     gitignore_match(all, path, is_dir, NULL) ==
					     GITIGNORE_MATCH);
		for (struct ir_pattern *q = patterns->v; p->hold && q < p; q++)
			if (q->hold && str_eq(q->line, p->line))
				p->hold = false;
	}
}

bool passes_normalise(struct pass_ctx *c, struct ir_policy *p)
{
	bool ok = true;

	settle_grants(c->a, &p->allow);
	settle_grants(c->a, &p->ask);
	settle_grants(c->a, &p->deny);
	ok &= fast_settle(c, p);
	settle_hold(c->a, &p->readonly);
	ok &= publish_settle(c, p);
	ok &= visible_settle(c, p);
	image_settle(c, p);
	ok &= args_resolve(c, p);
	ok &= trace_expand(c, p);
	if (ok)
		ir_verify(p, IR_NORMALISED);
	return ok;
}
