#include "compiler/cli/account/suggest.h"

#include "compiler/algebra/decide/ask.h"
#include "compiler/base/secret.h"
#include "compiler/cli/workspace/grantable.h"
#include "compiler/ir/http.h"
#include "compiler/ir/text.h"

#define NAME_ONLY_PORT 443 /* of a name that was only asked for */

typedef VEC(const struct act *) act_list;

/* What was seen of one destination: of each of its ports, of it at all. */
struct seen_port {
	enum ir_proto proto;
	uint16_t port;
	bool open;	   /* something flowed that nobody looked into */
	act_list requests; /* of HTTP */
};
struct seen {
	struct str who;
	bool is_addr, is_v6, once;
	bool flows; /* something did, whatever becomes of it */
	VEC(struct seen_port) ports;
	act_list all;
};

/* What is to become of what was done, or tried. */
enum fate { FATE_NONE, FATE_GRANT, FATE_ASK };

struct one {
	struct str who;
	const struct act *d;
	enum fate fate;
	bool once; /* FATE_ASK: no answer may last */
};
typedef VEC(struct one) one_list;

struct maker {
	struct arena *a;
	enum fate fate;		       /* of which it is made now */
	const struct ir_policy *under; /* or NULL */
	bool checked;		       /* whatever is put in fits under it */
	struct suggestion *out;
};

/* --- what was seen -------------------------------------------------------- */

static struct seen_port *port_of(struct arena *a, struct seen *s,
				 enum ir_proto proto, uint16_t port)
{
	vec_each(p, &s->ports)
		if (p->proto == proto && p->port == port)
			return p;
	*vec_push(a, &s->ports) =
		(struct seen_port){.proto = proto, .port = port};
	return &s->ports.v[s->ports.n - 1];
}

/* Was all of it HTTP? Then its requests are what there is to say. */
static bool is_of_requests(const struct one *group, uint32_t n,
			   const struct act *d)
{
	for (uint32_t i = 0; i < n && d->unseen == 0; i++)
		if (group[i].d->r.kind == IR_REQ_HTTP &&
		    group[i].fate != FATE_NONE && d->r.proto == IR_PROTO_TCP &&
		    group[i].d->r.url.port == d->r.port)
			return true;
	return false;
}

static void see_act(struct arena *a, struct seen *s, const struct one *group,
		    uint32_t n, const struct act *d)
{
	struct seen_port *p;

	*vec_push(a, &s->all) = d;
	switch (d->r.kind) {
	case IR_REQ_CONNECT:
		if (is_of_requests(group, n, d))
			return;
		p = port_of(a, s, d->r.proto, d->r.port);
		p->open |= d->unseen > 0;
		return;
	case IR_REQ_HTTP:
		p = port_of(a, s, IR_PROTO_TCP, d->r.url.port);
		*vec_push(a, &p->requests) = d;
		return;
	case IR_REQ_RESOLVE:
	case IR_REQ_READ:
	case IR_REQ_WRITE:
	case IR_REQ_ARG:
		return;
	}
}

static bool is_at_private(const struct act *d)
{
	return d->r.kind == IR_REQ_CONNECT && d->r.has_addr &&
	       addr_scope(&d->r.addr) == ADDR_PRIVATE;
}

static bool any_private(const struct seen *s)
{
	vec_each(d, &s->all)
		if (!s->is_addr && is_at_private(*d))
			return true;
	return false;
}

/* --- requests as rules ---------------------------------------------------- */

/* A path may hold what should not stand in a policy: then its folder. */
static struct str without_secret(struct str path)
{
	struct secret s;

	while (path.n && secret_next(path, 0, &s))
		path = suggest_merge_folder(path);
	return path.n ? path : STR("/");
}

static void note_act(struct arena *a, suggest_texts *list, const struct act *d)
{
	struct ir_request r = d->r;

	if (r.kind == IR_REQ_HTTP)
		r.url.path = without_secret(r.url.path);
	*vec_push(a, list) = ir_request_text(a, &r);
}

/* CONNECT names no path; TLS at an address without a name, no server. */
static bool is_sayable(struct arena *a, const struct seen *s,
		       const struct act *d)
{
	const char *near;

	return http_method_fits(a, d->r.method, &near) &&
	       !str_is(d->r.method, "CONNECT") &&
	       decide_path_canonical(d->r.url.path) &&
	       !(s->is_addr && d->r.url.scheme == IR_SCHEME_HTTPS);
}

static bool rules_of(struct arena *a, const struct seen *s,
		     const struct seen_port *p, suggest_rules *out)
{
	bool all = true;

	vec_each(d, &p->requests) {
		if (!is_sayable(a, s, *d)) {
			all = false;
			continue;
		}
		*vec_push(a, out) = (struct suggest_http){
			(*d)->r.method, without_secret((*d)->r.url.path)};
	}
	suggest_merge_same(out);
	return all;
}

/* --- what fits ------------------------------------------------------------ */

static bool fits_grant(void *ctx, const struct suggest_grant *g)
{
	struct maker *m = ctx;
	suggest_grants one = {0};

	if (!m->checked)
		return true;
	*vec_push(m->a, &one) = *g;
	return suggest_within(m->under, &one);
}

/* Alone, with these rules. */
static bool fits_port(struct maker *m, const struct suggest_grant *g,
		      const struct suggest_port *p, const suggest_rules *http)
{
	struct suggest_grant one = *g;
	struct suggest_port port = *p;

	port.http = *http;
	one.ports.v = &port;
	one.ports.n = 1;
	return fits_grant(m, &one);
}

/* Those of the rules that fit by themselves; others are told of. */
static suggest_rules fitting_rules(struct maker *m,
				   const struct suggest_grant *g,
				   const struct suggest_port *p,
				   const suggest_rules *list)
{
	suggest_rules out = {0};

	vec_each(x, list) {
		suggest_rules one = {.v = x, .n = 1};

		if (fits_port(m, g, p, &one))
			*vec_push(m->a, &out) = *x;
		else
			*vec_push(m->a, &m->out->beyond) =
				arena_fmt(m->a, "%.*s %.*s at %.*s:%u",
					  STR_ARG(x->method), STR_ARG(x->path),
					  STR_ARG(g->dest), p->port);
	}
	return out;
}

static bool fits_any(struct maker *m, const struct suggest_grant *g,
		     const struct suggest_port *p, const suggest_rules *list)
{
	vec_each(x, list) {
		suggest_rules one = {.v = x, .n = 1};

		if (fits_port(m, g, p, &one))
			return true;
	}
	return false;
}

static bool is_https(const struct seen_port *p)
{
	vec_each(d, &p->requests)
		if ((*d)->r.url.scheme != IR_SCHEME_HTTPS)
			return false;
	return true;
}

static void note_unsayable(struct maker *m, const struct seen *s,
			   const struct seen_port *p)
{
	vec_each(d, &p->requests)
		if (!is_sayable(m->a, s, *d))
			note_act(m->a, &m->out->unsaid, *d);
}

static void note_connects(struct maker *m, const struct seen *s,
			  const struct seen_port *p)
{
	vec_each(d, &s->all)
		if ((*d)->r.kind == IR_REQ_RESOLVE ||
		    ((*d)->r.kind == IR_REQ_CONNECT &&
		     (*d)->r.proto == p->proto && (*d)->r.port == p->port))
			note_act(m->a, &m->out->beyond, *d);
}

/* The widest of what fits: whatever flows, folders, what was asked for. */
static void add_port(struct maker *m, const struct seen *s,
		     const struct seen_port *seen, struct suggest_grant *g)
{
	struct suggest_port p = {.proto = seen->proto, .port = seen->port};
	suggest_rules exact = {0}, merged = {0};
	bool all = rules_of(m->a, s, seen, &exact);
	bool open = seen->open || (m->under && !all);

	if ((open || seen->requests.n == 0) && fits_port(m, g, &p, &p.http)) {
		*vec_push(m->a, &g->ports) = p;
		return;
	}
	note_unsayable(m, s, seen);
	vec_each(x, &exact)
		*vec_push(m->a, &merged) = *x;
	suggest_merge_paths(m->a, &merged);
	/* What had it over TLS alone gets no more than that. */
	p.https = exact.n && is_https(seen) && !fits_any(m, g, &p, &exact) &&
		  !fits_port(m, g, &p, &merged);
	if (exact.n && fits_port(m, g, &p, &merged))
		p.http = merged;
	else
		p.http = fitting_rules(m, g, &p, &exact);
	if (p.http.n)
		*vec_push(m->a, &g->ports) = p;
	else if (exact.n == 0 && seen->open)
		note_connects(m, s, seen);
}

/* --- one destination ------------------------------------------------------ */

static void add_grant(struct maker *m, const struct seen *s, bool private)
{
	struct seen_port only = {
		.proto = IR_PROTO_TCP, .port = NAME_ONLY_PORT, .open = true};
	struct suggest_grant g = {.dest = s->who,
				  .is_addr = s->is_addr,
				  .is_v6 = s->is_v6,
				  .private = private,
				  .once = s->once};

	vec_each(p, &s->ports)
		add_port(m, s, p, &g);
	if (!s->flows) /* the least that lets a name be resolved */
		add_port(m, s, &only, &g);
	vec_sort(&g.ports, suggest_merge_by_port);
	if (g.ports.n)
		*vec_push(m->a, &m->out->grants) = g;
}

/* A name at private addresses that a network was granted for. */
static void add_private_addrs(struct maker *m, const struct seen *s)
{
	char text[ADDR_TEXT_MAX];

	vec_each(d, &s->all) {
		struct suggest_grant g = {.is_addr = true};

		if (!is_at_private(*d))
			continue;
		g.dest =
			arena_str(m->a, str_of(addr_text(&(*d)->r.addr, text)));
		g.is_v6 = (*d)->r.addr.family == ADDR_V6;
		*vec_push(m->a, &g.ports) = (struct suggest_port){
			.proto = (*d)->r.proto, .port = (*d)->r.port};
		if (fits_grant(m, &g))
			*vec_push(m->a, &m->out->grants) = g;
	}
}

static void add_seen(struct maker *m, const struct seen *s)
{
	struct suggestion before = *m->out;
	bool private = any_private(s);

	add_grant(m, s, private);
	if (!private || !m->checked || m->out->beyond.n == before.beyond.n)
		return;
	m->out->grants.n = before.grants.n;
	m->out->beyond.n = before.beyond.n;
	m->out->unsaid.n = before.unsaid.n;
	add_private_addrs(m, s);
	add_grant(m, s, false);
}

/* --- all ------------------------------------------------------------------ */

static int by_dest(const void *va, const void *vb)
{
	const struct suggest_grant *a = va, *b = vb;
	int c = a->merged - b->merged;

	c = c ? c : a->is_addr - b->is_addr;
	return c ? c : str_cmp(a->dest, b->dest);
}

static int by_who(const void *va, const void *vb)
{
	const struct one *a = va, *b = vb;
	int c = str_cmp(a->who, b->who);

	return c ? c : (a->d > b->d) - (a->d < b->d);
}

/* Of one whom things are about; next: where to go on. */
static bool seen_next(struct maker *m, const one_list *ones, uint32_t *next,
		      struct seen *out)
{
	const struct one *group;
	uint32_t n = 0;
	struct addr addr;

	if (*next == ones->n)
		return false;
	group = &ones->v[*next];
	*out = (struct seen){.who = group->who};
	out->is_addr = addr_parse(out->who, &addr);
	out->is_v6 = out->is_addr && addr.family == ADDR_V6;
	for (; *next + n < ones->n && str_eq(group[n].who, out->who); n++)
		out->flows |= group[n].d->r.kind != IR_REQ_RESOLVE;
	for (uint32_t i = 0; i < n; i++) {
		if (group[i].fate != m->fate)
			continue;
		out->once |= group[i].once;
		see_act(m->a, out, group, n, group[i].d);
	}
	*next += n;
	return true;
}

static int by_text(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void sort_texts(suggest_texts *list)
{
	uint32_t n = 0;

	vec_sort(list, by_text);
	vec_each(x, list)
		if (n == 0 || !str_eq(list->v[n - 1], *x))
			list->v[n++] = *x;
	list->n = n;
}

static void make_grants(struct maker *m, const one_list *ones)
{
	suggest_grants *list = &m->out->grants;
	struct seen s;
	uint32_t next = 0;

	*m->out = (struct suggestion){.bounded = m->under != NULL};
	while (seen_next(m, ones, &next, &s))
		if (s.all.n)
			add_seen(m, &s);
	if (m->fate == FATE_GRANT)
		suggest_merge_names(m->a, list, fits_grant, m);
	vec_sort(list, by_dest);
	while (list->n && list->v[list->n - 1].merged)
		list->n--;
	sort_texts(&m->out->unsaid);
	sort_texts(&m->out->beyond);
}

/* As the advice at a session's end has it: one label is no public name. */
static bool may_be_named(struct arena *a, struct str name)
{
	return name.n == 0 ||
	       (str_find(name, '.', 0) < name.n && grantable(a, name));
}

/* Not what a denial, a person or the floor has refused, nor what no 'ask' is
 * for: datagrams, files, names that no policy can have. */
static bool may_be_asked(struct arena *a, const struct act *d)
{
	if (d->r.kind == IR_REQ_CONNECT && d->r.proto != IR_PROTO_TCP)
		return false;
	switch (d->r.kind) {
	case IR_REQ_CONNECT:
	case IR_REQ_RESOLVE:
		if (!may_be_named(a, d->r.name))
			return false;
		break;
	case IR_REQ_HTTP:
		if (!may_be_named(a, d->r.url.name))
			return false;
		break;
	case IR_REQ_READ:
	case IR_REQ_WRITE:
	case IR_REQ_ARG:
		return false;
	}
	return d->reason == REASON_NO_GRANT || d->reason == REASON_PORT ||
	       d->reason == REASON_METHOD || d->reason == REASON_PATH ||
	       d->reason == REASON_SCHEME || d->reason == REASON_ASK ||
	       d->reason == REASON_NOT_ANSWERED ||
	       d->reason == REASON_NOT_ASKED || d->reason == REASON_TOO_MANY;
}

static void find_fate(struct arena *a, const struct suggest_wish *wish,
		      const struct decide_files *files, struct one *x)
{
	const struct act *d = x->d;
	struct decision now = {.verdict = VERDICT_ALLOW};

	x->fate = FATE_NONE;
	if (d->then == ACT_REFUSED) {
		if (wish->ask && may_be_asked(a, d))
			x->fate = FATE_ASK;
		return;
	}
	if (wish->under)
		now = decide_asked(a, wish->under, files, &d->r);
	x->fate = now.verdict == VERDICT_ASK || (wish->ask && d->answered)
			  ? FATE_ASK
			  : FATE_GRANT;
	x->once = now.verdict == VERDICT_ASK && now.grant &&
		  now.grant->lasts.v == IR_LASTS_ONCE;
}

static void find_ones(struct arena *a, const struct activity *d,
		      const struct suggest_wish *wish, one_list *out)
{
	const struct decide_files *files =
		wish->under ? decide_files_new(a, wish->under) : NULL;

	vec_each(x, &d->v) {
		struct one one = {.who = act_who(a, x), .d = x};

		if (one.who.n == 0)
			continue;
		find_fate(a, wish, files, &one);
		*vec_push(a, out) = one;
	}
	vec_sort(out, by_who);
}

/* Nothing bounds them: they are what there was no grant for. */
static void make_asks(struct arena *a, const one_list *ones,
		      struct suggestion *out)
{
	struct suggestion made;
	struct maker m = {.a = a, .fate = FATE_ASK, .out = &made};

	make_grants(&m, ones);
	out->asks = made.grants;
	if (out->asks.n > SUGGEST_ASKS_MAX) {
		out->unasked = out->asks.n - SUGGEST_ASKS_MAX;
		out->asks.n = SUGGEST_ASKS_MAX;
	}
	vec_each(x, &made.unsaid)
		*vec_push(a, &out->unsaid) = *x;
	sort_texts(&out->unsaid);
}

void suggest_make(struct arena *a, const struct activity *d,
		  const struct suggest_wish *wish, struct suggestion *out)
{
	struct maker m = {
		.a = a, .fate = FATE_GRANT, .under = wish->under, .out = out};
	one_list ones = {0};

	find_ones(a, d, wish, &ones);
	make_grants(&m, &ones);
	if (m.under && !suggest_within(m.under, &out->grants)) {
		/* Mostly it fits as a whole; else each part is held against
		 * it. */
		m.checked = true;
		make_grants(&m, &ones);
	}
	make_asks(a, &ones, out);
}
