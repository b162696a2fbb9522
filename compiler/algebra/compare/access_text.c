/*
 * A set of connections, requests or questions in words, as people write grants.
 */
#include "compiler/algebra/compare/parts.h"

#include "compiler/base/agent_link.h"
#include "compiler/base/buf.h"
#include "compiler/ir/ports.h"
#include "compiler/ir/text.h"

/* What a text shows of a long list. */
#define SHOWN_PATHS 4
#define SHOWN_LISTS 3

static void put_methods(struct buf *b, const struct access_http *h)
{
	if (h->other) {
		buf_addc(b, '*');
		return;
	}
	vec_each(m, &h->methods)
		buf_addf(b, "%s%.*s", m == h->methods.v ? "" : ",",
			 STR_ARG(m->s));
}

static struct str bracketed(struct arena *a, const struct addr *addr)
{
	char text[ADDR_TEXT_MAX];

	addr_text(addr, text);
	return arena_fmt(a, addr->family == ADDR_V6 ? "[%s]" : "%s", text);
}

/* Whom, without scheme and path. */
static struct str host_text(struct arena *a, const struct ir_dest *d)
{
	struct str name = ir_dest_name(d);

	if (d->kind != IR_DEST_URL)
		return ir_dest_text(a, d);
	if (name.n)
		return name;
	if (ir_dest_machine(d))
		return STR(LINK_MACHINE_NAME);
	return bracketed(a, &d->u.url.net.addr);
}

static bool is_below(struct str path, struct str prefix)
{
	prefix = str_unslashed(prefix);
	return str_starts(path, prefix) &&
	       (path.n == prefix.n || path.p[prefix.n] == '/');
}

static bool same_methods(const struct access_http *x,
			 const struct access_http *y)
{
	if (x->other || y->other || x->methods.n != y->methods.n)
		return x->other && y->other;
	for (uint32_t i = 0; i < x->methods.n; i++)
		if (!str_eq(x->methods.v[i].s, y->methods.v[i].s))
			return false;
	return true;
}

/* Are all of its methods among the other's? */
static bool is_within(const struct access_http *x, const struct access_http *y)
{
	if (y->other)
		return true;
	vec_each(m, &x->methods) {
		bool has = false;

		vec_each(o, &y->methods)
			has |= str_eq(m->s, o->s);
		if (!has)
			return false;
	}
	return !x->other;
}

static int by_path(const void *va, const void *vb)
{
	const struct access_http *a = va, *b = vb;

	return str_cmp(a->path, b->path);
}

/* Sorted, without what lies below another one. */
static void tidy_http(struct access_set *set)
{
	uint32_t n = 0;

	vec_each(h, &set->http)
		ir_texts_sort(&h->methods);
	vec_sort(&set->http, by_path);
	vec_each(h, &set->http) {
		bool said = false;

		for (uint32_t i = 0; i < n && !said; i++)
			said = is_below(h->path, set->http.v[i].path) &&
			       is_within(h, &set->http.v[i]);
		if (!said)
			set->http.v[n++] = *h;
	}
	set->http.n = n;
}

/* All paths that have the methods of the one at first. */
static void put_paths(struct buf *b, const struct access_set *set,
		      uint32_t first)
{
	uint32_t n = 0;

	for (uint32_t i = first; i < set->http.n; i++) {
		if (!same_methods(&set->http.v[i], &set->http.v[first]))
			continue;
		if (n++ < SHOWN_PATHS)
			buf_addf(b, "%s%.*s", n > 1 ? " " : "",
				 STR_ARG(set->http.v[i].path));
	}
	if (n > SHOWN_PATHS)
		buf_addf(b, " and %u more", n - SHOWN_PATHS);
}

/* Is it the first with its methods? */
static bool leads_set(const struct access_set *set, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++)
		if (same_methods(&set->http.v[i], &set->http.v[at]))
			return false;
	return true;
}

static void put_more(struct buf *b, const struct access_set *set)
{
	uint32_t lists = 1;

	for (uint32_t i = 1; i < set->http.n; i++) {
		if (!leads_set(set, i))
			continue;
		if (lists++ >= SHOWN_LISTS) {
			buf_adds(b, "; and more");
			return;
		}
		buf_adds(b, "; ");
		put_methods(b, &set->http.v[i]);
		buf_addc(b, ' ');
		put_paths(b, set, i);
	}
}

/* Whom a URL names: no network of more than one address. Empty: nobody. */
static struct str url_host(struct arena *a, const struct ir_dest *d)
{
	const struct cidr *net = &d->u.cidr.net;

	if (d->kind != IR_DEST_CIDR || ir_dest_machine(d))
		return host_text(a, d);
	if (net->bits < addr_bits(net->addr.family))
		return STR("");
	return bracketed(a, &net->addr);
}

/* "https://a.test:8443", where one port has one scheme. */
static bool put_url(struct buf *b, const struct access_set *set,
		    struct str host)
{
	bool one = host.n && set->ports.n == 1 &&
		   set->ports.v[0].lo == set->ports.v[0].hi;
	const char *scheme = "https";
	uint16_t usual = 443, port;

	if (!one)
		return false;
	port = set->ports.v[0].lo;
	if (!(port == 443 && set->tls) && set->clear) {
		if (!(port == 80 && set->clear) && set->tls)
			return false;
		scheme = "http";
		usual = 80;
	}
	buf_addf(b, "%s://%.*s", scheme, STR_ARG(host));
	if (port != usual)
		buf_addf(b, ":%u", port);
	return true;
}

/* As a URL where it can be; else as grants are written. */
static void put_http(struct arena *a, struct buf *b, struct access_set *set)
{
	struct str host = host_text(a, &set->dest);

	tidy_http(set);
	put_methods(b, &set->http.v[0]);
	buf_addc(b, ' ');
	if (put_url(b, set, url_host(a, &set->dest))) {
		put_paths(b, set, 0);
		put_more(b, set);
		return;
	}
	buf_addf(b, "%.*s %.*s ", STR_ARG(host),
		 STR_ARG(ir_ports_text(a, &set->ports)));
	put_paths(b, set, 0);
	put_more(b, set);
	if (!set->clear || !set->tls)
		buf_adds(b, set->tls ? " over TLS" : " in the clear");
}

/* Kept by a rule about a name and one about an address, one of them new. */
static bool crosses(const struct access_change *c)
{
	return c->has_before && !ir_dest_net(&c->was.grant->dest) !=
					!ir_dest_net(&c->is.grant->dest);
}

/* A name and an address: the one that the rule is about, the other in words. */
static const char *both_text(const struct access_change *c)
{
	const struct ir_request *r = &c->witness;

	if (crosses(c))
		return ir_dest_net(&c->is.grant->dest)
			       ? " (addresses granted now, under names that were)"
			       : " (names granted now, at addresses that were)";
	if (ir_dest_net(&c->set.dest))
		return " under granted names";
	if (addr_scope(&r->addr) != ADDR_PUBLIC)
		return " at private addresses";
	return " at addresses that other rules are about";
}

struct str access_text(struct arena *a, struct access_change *c)
{
	struct access_set *set = &c->set;
	char room[256];
	struct buf b;

	ports_normalise(&set->ports);
	buf_init_in(&b, a, room, sizeof(room));
	if (c->kind == ACCESS_QUIC)
		buf_adds(&b, "QUIC ");
	if (c->kind == ACCESS_HTTP) {
		put_http(a, &b, set);
	} else {
		if (set->ports.n) {
			ir_ports_put(&b, &set->ports);
			buf_addc(&b, ' ');
		}
		buf_add(&b, host_text(a, &set->dest));
	}
	if (set->crooked)
		buf_adds(&b, " (paths that are not canonical)");
	if (set->tunnel) /* which is never kept */
		buf_adds(&b, c->way == ACCESS_GAINED
				     ? " (requests that are not read)"
				     : " (requests that are read now)");
	if (set->both)
		buf_adds(&b, both_text(c));
	return buf_keep(&b);
}
