/*
 * The YAML of rules that speak of one request alone.
 */
#include "compiler/cli/explain/parts.h"

#include "compiler/base/agent_link.h"
#include "compiler/base/buf.h"
#include "compiler/front/yaml/edit.h"

#include <stdlib.h>
#include <string.h>

static struct str host_of(struct arena *a, struct str name,
			  const struct addr *addr)
{
	char text[ADDR_TEXT_MAX];

	if (addr_is_machine(addr))
		return STR(LINK_MACHINE_NAME);
	if (name.n)
		return name;
	return arena_str(a, str_of(addr_text(addr, text)));
}

/* "a.test:443", "[2001:db8::1]:443" */
static struct str with_port(struct arena *a, struct str host, uint16_t port)
{
	bool v6 = str_find(host, ':', 0) < host.n;

	return arena_fmt(a, v6 ? "[%.*s]:%u" : "%.*s:%u", STR_ARG(host), port);
}

/* A name that is to lead to an address which is not public. */
static bool is_private(const struct ir_request *r)
{
	return r->has_addr && r->name.n && !addr_is_machine(&r->addr) &&
	       addr_scope(&r->addr) != ADDR_PUBLIC;
}

static struct str connect_item(struct arena *a, const struct ir_request *r,
			       bool wider, bool deny)
{
	struct str name = wider && r->has_addr ? (struct str){0} : r->name;
	struct str host = host_of(a, name, &r->addr), dest;
	bool private = !deny && name.n && is_private(r);

	if (wider && !(r->has_addr && r->name.n))
		return (struct str){0};
	if (r->proto == IR_PROTO_UDP)
		return arena_fmt(a, "{dest: %.*s, ports: [%u/udp]%s}",
				 STR_ARG(edit_scalar(a, host)), r->port,
				 private ? ", private: true" : "");
	dest = edit_scalar(a, with_port(a, host, r->port));
	if (!private)
		return dest;
	return arena_fmt(a, "{dest: %.*s, private: true}", STR_ARG(dest));
}

static struct str http_item(struct arena *a, const struct ir_request *r,
			    bool wider, bool deny)
{
	const struct ir_url *u = &r->url;
	/* Where the name does not lead, only a grant of the address does. */
	struct str host = r->unresolved ? host_of(a, (struct str){0}, &r->addr)
					: host_of(a, u->name, &u->net.addr);
	bool usual = u->port == (u->scheme == IR_SCHEME_HTTPS ? 443 : 80);
	bool private =
		!deny && r->has_addr && addr_scope(&r->addr) != ADDR_PUBLIC;
	bool v6 = str_find(host, ':', 0) < host.n;
	struct buf b;

	if (wider && private)
		return arena_fmt(
			a, "{dest: %.*s, private: true}",
			STR_ARG(edit_scalar(a, with_port(a, host, u->port))));
	if (wider)
		return edit_scalar(a, with_port(a, host, u->port));
	buf_init(&b, a);
	buf_addf(&b, v6 ? "%s://[%.*s]" : "%s://%.*s",
		 ir_scheme_name(u->scheme), STR_ARG(host));
	if (!usual)
		buf_addf(&b, ":%u", u->port);
	buf_add(&b, u->path);
	return arena_fmt(a, "{dest: %.*s, http: [{methods: [%.*s]}]%s}",
			 STR_ARG(edit_scalar(a, buf_str(&b))),
			 STR_ARG(edit_scalar(a, r->method)),
			 private ? ", private: true" : "");
}

struct str explain_items_grant(struct arena *a, const struct ir_request *r,
			       bool wider, bool deny)
{
	switch (r->kind) {
	case IR_REQ_CONNECT:
		return connect_item(a, r, wider, deny);
	case IR_REQ_HTTP:
		return http_item(a, r, wider, deny);
	case IR_REQ_RESOLVE:
		/* No grant is of a name without a port: HTTPS, as the least. */
		return edit_scalar(a,
				   deny ? r->name : with_port(a, r->name, 443));
	case IR_REQ_READ:
	case IR_REQ_WRITE:
	case IR_REQ_ARG:
		return (struct str){0};
	}
	abort();
}

static void put_range(struct buf *b, enum ir_proto proto, uint32_t lo,
		      uint32_t hi)
{
	if (lo > hi)
		return;
	buf_adds(b, b->n ? ", " : "");
	buf_addf(b, lo == hi ? "%u" : "%u-%u", lo, hi);
	buf_adds(b, proto == IR_PROTO_UDP ? "/udp" : "");
}

struct str explain_items_carved(struct arena *a, const struct ir_request *r,
				const struct ir_grant *denial)
{
	bool http = r->kind == IR_REQ_HTTP;
	enum ir_proto proto = http ? IR_PROTO_TCP : r->proto;
	uint16_t port = http ? r->url.port : r->port;
	struct buf b;

	buf_init(&b, a);
	if (ir_grant_http(denial) || (!http && r->kind != IR_REQ_CONNECT))
		return (struct str){0};
	vec_each(p, &denial->ports) {
		bool in = p->proto == proto && p->lo <= port && port <= p->hi;

		put_range(&b, p->proto, p->lo, in ? port - 1u : p->hi);
		if (in)
			put_range(&b, p->proto, port + 1u, p->hi);
	}
	if (b.n == 0)
		return (struct str){0};
	return arena_fmt(
		a, "{dest: %.*s, ports: [%s]}",
		STR_ARG(edit_scalar(a, ir_dest_text(a, &denial->dest))), b.p);
}

struct str explain_items_port(struct arena *a, const struct ir_request *r)
{
	if (r->kind == IR_REQ_HTTP)
		return arena_fmt(a, "%u", r->url.port);
	return arena_fmt(a, r->proto == IR_PROTO_UDP ? "%u/udp" : "%u",
			 r->port);
}

struct str explain_items_rule(struct arena *a, const struct ir_request *r)
{
	if (r->kind != IR_REQ_HTTP)
		return (struct str){0};
	return arena_fmt(a, "{methods: [%.*s], paths: [%.*s]}",
			 STR_ARG(edit_scalar(a, r->method)),
			 STR_ARG(edit_scalar(a, r->url.path)));
}

bool explain_items_exact(const struct ir_grant *g)
{
	const struct cidr *net = ir_dest_net(&g->dest);
	struct str name = ir_dest_name(&g->dest);

	if (net)
		return net->bits == addr_bits(net->addr.family);
	return str_find(name, '*', 0) == name.n;
}

struct str explain_items_pattern(struct arena *a, const char *before,
				 struct str path, const char *after)
{
	struct buf b;

	buf_init(&b, a);
	buf_adds(&b, before);
	for (size_t i = 0; i < path.n; i++) {
		unsigned char c = (unsigned char)path.p[i];

		if (c < 0x20 || c == 0x7f)
			return (struct str){0};
		if (strchr("\\*?[ ", c))
			buf_addc(&b, '\\');
		buf_addc(&b, path.p[i]);
	}
	buf_adds(&b, after);
	return buf_str(&b);
}
