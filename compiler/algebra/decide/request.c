/*
 * Decisions about requests of HTTP, and about the hellos and connections that
 * carry them.
 */
#include "compiler/algebra/decide/decide.h"

#include "compiler/base/ascii.h"
#include "compiler/base/buf.h"
#include "compiler/base/name_match.h"
#include "compiler/ir/http.h"
#include "compiler/ir/inspection.h"
#include "compiler/ir/ports.h"

#include <stdlib.h>

/* --- paths --------------------------------------------------------------- */

/* The byte behind '%' at i, or -1: none, in lower case, or one to refuse. */
static int escaped_byte(struct str s, size_t i)
{
	int hi = i + 1 < s.n ? ascii_hex(s.p[i + 1]) : -1;
	int lo = i + 2 < s.n ? ascii_hex(s.p[i + 2]) : -1;
	int v = hi * 16 + lo;

	if (hi < 0 || lo < 0 || ascii_is_lower(s.p[i + 1]) ||
	    ascii_is_lower(s.p[i + 2]) || ascii_is_unreserved((char)v) ||
	    v == '/' || v == '\\' || v == '%' || v < 0x20 || v == 0x7f)
		return -1;
	return v;
}

static bool is_dots(struct str segment)
{
	struct str name = str_slice(segment, 0, str_find(segment, ';', 0));

	return str_is(name, ".") || str_is(name, "..");
}

bool decide_path_canonical(struct str path)
{
	size_t beg = 1;

	if (path.n == 0 || path.p[0] != '/')
		return false;
	for (size_t i = 0; i < path.n; i++) {
		unsigned char c = (unsigned char)path.p[i];

		if (c <= 0x20 || c >= 0x7f || c == '\\' || c == '#')
			return false;
		if (c == '%' && escaped_byte(path, i) < 0)
			return false;
	}
	for (;;) {
		size_t end = str_find(path, '/', beg);

		if (end == beg && end < path.n)
			return false;
		if (is_dots(str_slice(path, beg, end)))
			return false;
		if (end == path.n)
			return true;
		beg = end + 1;
	}
}

/* One byte of a canonical path, an escape decoded; *i moves on. */
static int next_byte(struct str s, size_t *i)
{
	int v = s.p[*i] == '%' ? escaped_byte(s, *i) : -1;

	if (v >= 0)
		*i += 3;
	else
		v = (unsigned char)s.p[(*i)++];
	return v;
}

struct str decide_path_decoded(struct arena *a, struct str path)
{
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < path.n;)
		buf_addc(&b, (char)next_byte(path, &i));
	return buf_str(&b);
}

/* Under the prefix, at a boundary of segments. */
static bool is_below(struct str path, struct str prefix)
{
	return str_starts(path, prefix) &&
	       (path.n == prefix.n || path.p[prefix.n] == '/');
}

/* The same for a denial, which an escape that may be one does not evade. */
static bool is_below_decoded(struct str path, struct str prefix)
{
	size_t i = 0, k = 0;

	while (k < prefix.n) {
		if (i >= path.n || next_byte(path, &i) != next_byte(prefix, &k))
			return false;
	}
	return i == path.n || path.p[i] == '/';
}

/* --- rules ---------------------------------------------------------------- */

struct asked {
	struct arena *a;
	const struct ir_policy *p;
	const struct decide_request *r;
	/* The grant of the address as such, whatever is said there. */
	const struct ir_grant *net;
	struct str name; /* that the client states */
	struct str path; /* without the query */
};

static bool has_port(const struct ir_grant *g, uint16_t port)
{
	return ports_has(&g->ports, IR_PROTO_TCP, port);
}

/* Names do not end in a number: patterns are not about addresses. */
static bool is_address(struct str name)
{
	struct addr ignored;
	char last = name.p[name.n - 1];

	if ((last < '0' || last > '9') && str_find(name, ':', 0) == name.n)
		return false;
	return addr_parse(name, &ignored);
}

/* Does the destination speak of the request's? */
static bool speaks_http(const struct ir_grant *g, const struct asked *q)
{
	const struct cidr *net = ir_dest_net(&g->dest);

	if (net && g->key != IR_KEY_DENY)
		return q->r->has_addr && ir_grant_reaches(g, &q->r->addr);
	if (net)
		return q->r->has_addr && cidr_has(net, &q->r->addr);
	if (q->name.n == 0)
		return false;
	if (g->dest.kind != IR_DEST_ANY && is_address(q->name))
		return false;
	switch (g->dest.kind) {
	case IR_DEST_ANY:
		return true;
	case IR_DEST_HOST:
		return str_eq(g->dest.u.host.name, q->name);
	case IR_DEST_PATTERN:
		return name_matches(g->dest.u.pattern.name, q->name);
	case IR_DEST_URL:
		return name_matches(g->dest.u.url.name, q->name);
	case IR_DEST_CIDR:
	case IR_DEST_POISON:
		return false;
	}
	abort();
}

/* Is the request one to the grant's destination, port and scheme? */
static bool aims_at_grant(const struct ir_grant *g, const struct asked *q)
{
	enum ir_scheme s = q->r->tls ? IR_SCHEME_HTTPS : IR_SCHEME_HTTP;

	return speaks_http(g, q) && has_port(g, q->r->port) &&
	       ir_dest_has_scheme(&g->dest, s);
}

/* Is the denial one of requests to whatever name, or to the address? */
static bool aims_nameless(const struct ir_grant *d, const struct asked *q)
{
	const struct cidr *net = ir_dest_net(&d->dest);

	if (!inspection_denies_tls(d) || !has_port(d, q->r->port))
		return false;
	return net ? cidr_has(net, &q->r->addr) : d->dest.kind == IR_DEST_ANY;
}

static bool is_net(const struct ir_grant *g)
{
	return g->dest.kind == IR_DEST_CIDR && !g->has_http;
}

static const struct ir_grant *net_of(const struct ir_policy *p,
				     const struct decide_request *r)
{
	if (!r->has_addr)
		return NULL;
	vec_each(g, &p->allow)
		if (is_net(g) && ir_grant_reaches(g, &r->addr) &&
		    has_port(g, r->port))
			return g;
	return NULL;
}

static bool is_inside(const struct ir_policy *p, uint16_t port)
{
	vec_each(d, &p->deny)
		if (inspection_denies(d) && has_port(d, port))
			return true;
	return false;
}

/* Everything but method and path; GRANTED when there is nothing to say. */
static enum reason reached_reason(const struct ir_grant *g,
				  const struct asked *q)
{
	bool is_public =
		!q->r->has_addr || addr_scope(&q->r->addr) == ADDR_PUBLIC;
	bool private = g->private.set && g->private.v;

	if (!speaks_http(g, q))
		return REASON_NO_GRANT;
	if (!has_port(g, q->r->port))
		return REASON_PORT;
	if (!aims_at_grant(g, q))
		return REASON_SCHEME;
	if (ir_dest_net(&g->dest))
		return REASON_GRANTED;
	if (!is_public && !private)
		return REASON_PRIVATE_ADDRESS;
	if (!q->r->has_addr || q->r->is_pinned ||
	    (g->dest.kind == IR_DEST_ANY && is_public))
		return REASON_GRANTED;
	return REASON_NOT_RESOLVED;
}

static bool has_method(const struct ir_http *h, struct str method)
{
	if (h->any_method)
		return true;
	vec_each(m, &h->methods)
		if (str_eq(m->s, method))
			return true;
	return false;
}

static bool has_path(const struct asked *q, const struct ir_grant *g,
		     const struct ir_http *h)
{
	ir_texts paths;

	if (http_any_path(&g->dest, h))
		return true;
	paths = http_paths(q->a, &g->dest, h);
	vec_each(p, &paths)
		if (g->key == IR_KEY_DENY ? is_below_decoded(q->path, p->s)
					  : is_below(q->path, p->s))
			return true;
	return false;
}

/* What the rules of a grant that is reached say. */
static enum reason by_rules(const struct asked *q, const struct ir_grant *g)
{
	struct http_rules rules = http_rules(q->a, g);
	enum reason best = REASON_METHOD;

	for (uint32_t i = 0; i < rules.n; i++) {
		if (!has_method(&rules.v[i], q->r->method))
			continue;
		if (has_path(q, g, &rules.v[i]))
			return REASON_GRANTED;
		best = REASON_PATH;
	}
	return best;
}

static int weight_of(enum reason r)
{
	static const enum reason rising[] = {
		REASON_NO_GRANT,     REASON_PORT,
		REASON_SCHEME,	     REASON_PRIVATE_ADDRESS,
		REASON_NOT_RESOLVED, REASON_METHOD,
		REASON_PATH,	     REASON_GRANTED,
	};

	for (int i = 0; i < (int)ARRAY_LEN(rising); i++)
		if (rising[i] == r)
			return i;
	abort();
}

static struct decision said_decision(enum reason r, const struct ir_grant *g)
{
	return (struct decision){
		.verdict = r == REASON_GRANTED ? VERDICT_ALLOW : VERDICT_DENY,
		.reason = r,
		.grant = g};
}

static struct decision best_grant(const struct asked *q, bool hello)
{
	struct decision best = said_decision(
		q->net ? REASON_GRANTED : REASON_NO_GRANT, q->net);

	vec_each(g, &q->p->allow) {
		enum reason r;

		/* Their other ports are the packet filter's to speak of. */
		if (is_net(g) || !inspection_has_tcp(g))
			continue;
		r = reached_reason(g, q);
		if (r == REASON_GRANTED && !hello)
			r = by_rules(q, g);
		if (weight_of(r) > weight_of(best.reason))
			best = said_decision(r, g);
	}
	return best;
}

/* --- decisions ------------------------------------------------------------ */

/* To an address that is granted as such, for the sake of denials alone. */
static bool decrypts_asked(const struct asked *q)
{
	vec_each(d, &q->p->deny)
		if (inspection_denies(d) && ir_grant_http(d) &&
		    aims_at_grant(d, q))
			return true;
	if (q->net)
		return false;
	vec_each(g, &q->p->allow)
		if (inspection_decrypts(q->p, g) &&
		    reached_reason(g, q) == REASON_GRANTED)
			return true;
	vec_each(c, &q->p->credentials)
		if (str_eq(c->host.u.host.name, q->name) &&
		    (!c->host.has_port || c->host.port.lo == q->r->port))
			return true;
	return false;
}

bool decide_decrypts(const struct ir_policy *p, const struct decide_request *r)
{
	struct asked q = {.p = p, .r = r, .net = net_of(p, r), .name = r->sni};

	return q.name.n && decrypts_asked(&q);
}

/* TLS without a name: only to an address that is granted as such. */
static struct decision decide_nameless(const struct asked *q)
{
	if (!q->net || q->r->is_guarded)
		return said_decision(REASON_NO_SNI, NULL);
	vec_each(d, &q->p->deny)
		if (aims_nameless(d, q))
			return said_decision(REASON_NO_SNI, d);
	return said_decision(REASON_GRANTED, q->net);
}

static struct decision decide_hello(struct asked *q)
{
	q->name = q->r->sni;
	if (q->name.n == 0)
		return decide_nameless(q);
	vec_each(x, &q->p->deny)
		if (inspection_denies(x) && !ir_grant_http(x) &&
		    aims_at_grant(x, q))
			return said_decision(REASON_DENIED, x);
	return best_grant(q, true);
}

/* Does a grant or denial that could decide speak of paths? */
static bool minds_paths(const struct asked *q)
{
	vec_each(d, &q->p->deny)
		if (inspection_denies(d) && ir_grant_http(d) &&
		    aims_at_grant(d, q) && http_has_paths(q->a, d))
			return true;
	if (q->net)
		return false;
	vec_each(g, &q->p->allow)
		if (ir_grant_http(g) && aims_at_grant(g, q) &&
		    http_has_paths(q->a, g))
			return true;
	return false;
}

struct decision decide_request(struct arena *a, const struct ir_policy *p,
			       const struct decide_request *r)
{
	struct asked q = {.a = a, .p = p, .r = r, .net = net_of(p, r)};

	if (q.net && !is_inside(p, r->port))
		return said_decision(REASON_GRANTED, q.net); /* packets */
	if (r->tls) {
		struct decision d = decide_hello(&q);

		if (d.verdict == VERDICT_DENY || r->only_hello ||
		    !decrypts_asked(&q))
			return d;
	}
	q.name = r->host;
	q.path = str_slice(r->path, 0, str_find(r->path, '?', 0));
	if (r->tls && !str_eq(r->sni, r->host))
		return said_decision(REASON_NAME_MISMATCH, NULL);
	if (str_is(r->method, "CONNECT"))
		return said_decision(REASON_METHOD, NULL);
	if (minds_paths(&q) && !decide_path_canonical(q.path))
		return said_decision(REASON_PATH_NOT_CANONICAL, NULL);
	vec_each(d, &p->deny)
		if (inspection_denies(d) && aims_at_grant(d, &q) &&
		    by_rules(&q, d) == REASON_GRANTED)
			return said_decision(REASON_DENIED, d);
	return best_grant(&q, false);
}
