#include "compiler/algebra/decide.h"

#include "compiler/base/buf.h"
#include "compiler/ir/http.h"

#include <stdlib.h>
#include <string.h>

/* --- paths --------------------------------------------------------------- */

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_unreserved(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
	       c == '~';
}

/* The byte behind '%' at i, or -1: none, in lower case, or one to refuse. */
static int escaped(struct str s, size_t i)
{
	int hi = i + 1 < s.n ? hex(s.p[i + 1]) : -1;
	int lo = i + 2 < s.n ? hex(s.p[i + 2]) : -1;
	int v = hi * 16 + lo;

	if (hi < 0 || lo < 0 || is_unreserved(v) || v == '/' || v == '\\' ||
	    v == '%' || v < 0x20 || v == 0x7f)
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
		if (c == '%' && escaped(path, i) < 0)
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
	int v = s.p[*i] == '%' ? escaped(s, *i) : -1;

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
	struct str name; /* that the client states */
	struct str path; /* without the query */
};

static bool has_port(const struct ir_grant *g, uint16_t port)
{
	vec_each(x, &g->ports)
		if (x->proto == IR_PROTO_TCP && x->lo <= port && port <= x->hi)
			return true;
	return false;
}

static bool has_tcp(const struct ir_grant *g)
{
	vec_each(x, &g->ports)
		if (x->proto == IR_PROTO_TCP)
			return true;
	return false;
}

/* Names do not end in a number: patterns are not about addresses. */
static bool is_address(struct str name)
{
	struct addr ignored;
	char last = name.n ? name.p[name.n - 1] : 'x';

	if ((last < '0' || last > '9') && str_find(name, ':', 0) == name.n)
		return false;
	return addr_parse(name, &ignored);
}

/* Does the destination speak of the request's? */
static bool speaks(const struct ir_grant *g, const struct asked *q)
{
	const struct cidr *net = ir_dest_net(&g->dest);

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
		return decide_name_matches(g->dest.u.pattern.name, q->name);
	case IR_DEST_URL:
		return g->dest.u.url.who == IR_DEST_HOST
			       ? str_eq(g->dest.u.url.name, q->name)
			       : decide_name_matches(g->dest.u.url.name,
						     q->name);
	case IR_DEST_CIDR:
	case IR_DEST_POISON:
		return false;
	}
	abort();
}

/* Is the request one to the grant's destination, port and scheme? */
static bool aims(const struct ir_grant *g, const struct asked *q)
{
	enum ir_scheme s = q->r->tls ? IR_SCHEME_HTTPS : IR_SCHEME_HTTP;

	return speaks(g, q) && has_port(g, q->r->port) &&
	       ir_dest_has_scheme(&g->dest, s);
}

/* Those that HAProxy knows: a network without http is the packet filter's. */
static bool concerns(const struct ir_grant *g)
{
	if (g->from.layer == LAYER_FLOOR || !has_tcp(g))
		return false;
	if (ir_grant_http(g))
		return true;
	if (g->key == IR_KEY_DENY && g->dest.kind == IR_DEST_ANY)
		return false;
	return g->dest.kind != IR_DEST_CIDR;
}

/* Everything but method and path; GRANTED when there is nothing to say. */
static enum reason reached(const struct ir_grant *g, const struct asked *q)
{
	bool is_public =
		!q->r->has_addr || addr_scope(&q->r->addr) == ADDR_PUBLIC;
	bool private = g->private.set && g->private.v;

	if (!speaks(g, q))
		return REASON_NO_GRANT;
	if (!has_port(g, q->r->port))
		return REASON_PORT;
	if (!aims(g, q))
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

	if (!ir_grant_http(g))
		return REASON_GRANTED;
	for (uint32_t i = 0; i < rules.n; i++) {
		if (!has_method(&rules.v[i], q->r->method))
			continue;
		if (has_path(q, g, &rules.v[i]))
			return REASON_GRANTED;
		best = REASON_PATH;
	}
	return best;
}

static int weight(enum reason r)
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

static struct decision said(enum reason r, const struct ir_grant *g)
{
	return (struct decision){
		.allow = r == REASON_GRANTED, .reason = r, .grant = g};
}

static struct decision best_grant(const struct asked *q, bool hello)
{
	struct decision best = said(REASON_NO_GRANT, NULL);

	vec_each(g, &q->p->allow) {
		enum reason r;

		if (!concerns(g))
			continue;
		r = reached(g, q);
		if (r == REASON_GRANTED && !hello)
			r = by_rules(q, g);
		if (weight(r) > weight(best.reason))
			best = said(r, g);
	}
	return best;
}

/* --- decisions ------------------------------------------------------------ */

static bool decrypts(const struct ir_policy *p, const struct ir_grant *g)
{
	enum ir_tls tls = g->tls.set ? g->tls.v : p->tls.v;

	return ir_grant_http(g) || tls == IR_TLS_INSPECT;
}

static bool decrypts_asked(const struct asked *q)
{
	vec_each(g, &q->p->allow)
		if (concerns(g) && decrypts(q->p, g) &&
		    reached(g, q) == REASON_GRANTED)
			return true;
	vec_each(d, &q->p->deny)
		if (concerns(d) && ir_grant_http(d) && aims(d, q))
			return true;
	vec_each(c, &q->p->credentials)
		if (str_eq(c->host.u.host.name, q->name) &&
		    (!c->host.has_port || c->host.port.lo == q->r->port))
			return true;
	return false;
}

bool decide_decrypts(const struct ir_policy *p, const struct decide_request *r)
{
	struct asked q = {.p = p, .r = r, .name = r->sni};

	return decrypts_asked(&q);
}

static struct decision hello(struct asked *q)
{
	struct decision d;

	q->name = q->r->sni;
	if (q->name.n == 0)
		return said(REASON_NO_SNI, NULL);
	vec_each(x, &q->p->deny)
		if (concerns(x) && !ir_grant_http(x) && aims(x, q))
			return said(REASON_DENIED, x);
	d = best_grant(q, true);
	return d;
}

/* Does a grant or denial that could decide speak of paths? */
static bool minds_paths(const struct asked *q)
{
	const ir_grants *lists[] = {&q->p->allow, &q->p->deny};

	for (int i = 0; i < 2; i++)
		vec_each(g, lists[i])
			if (concerns(g) && ir_grant_http(g) && aims(g, q) &&
			    http_has_paths(q->a, g))
				return true;
	return false;
}

struct decision decide_request(struct arena *a, const struct ir_policy *p,
			       const struct decide_request *r)
{
	struct asked q = {a, p, r, {0}, {0}};

	if (r->tls) {
		struct decision d = hello(&q);

		if (!d.allow || r->only_hello || !decrypts_asked(&q))
			return d;
	}
	q.name = r->host;
	q.path = str_slice(r->path, 0, str_find(r->path, '?', 0));
	if (r->tls && !str_eq(r->sni, r->host))
		return said(REASON_NAME_MISMATCH, NULL);
	if (str_is(r->method, "CONNECT"))
		return said(REASON_METHOD, NULL);
	if (minds_paths(&q) && !decide_path_canonical(q.path))
		return said(REASON_PATH_NOT_CANONICAL, NULL);
	vec_each(d, &p->deny)
		if (concerns(d) && aims(d, &q) &&
		    by_rules(&q, d) == REASON_GRANTED)
			return said(REASON_DENIED, d);
	return best_grant(&q, false);
}
