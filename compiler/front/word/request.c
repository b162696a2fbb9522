#include "compiler/front/word/request.h"

#include "compiler/base/agent_link.h"
#include "compiler/base/ascii.h"
#include "compiler/base/near.h"
#include "compiler/front/word/dest.h"
#include "compiler/front/word/request_parser.h"
#include "compiler/ir/http.h"
#include "grammar/request.tab.h"

#define YYSTYPE REQUESTS_STYPE
#define YYLTYPE REQUESTS_LTYPE
#include "grammar/request.lex.h"

#include <stdlib.h>

static struct text sub_text(const struct request_parser *p, struct span part)
{
	const struct text *t = &p->text;

	return (struct text){
		str_slice(t->s, part.beg, part.end),
		text_at(t, part),
		t->verbatim ? t->verbatim + part.beg : 0,
	};
}

static const char *example_of(enum ir_request_kind kind)
{
	switch (kind) {
	case IR_REQ_CONNECT:
		return "as in 'example.com:443' or 'udp 192.0.2.1:53'";
	case IR_REQ_HTTP:
		return "as in 'GET https://example.com/'";
	case IR_REQ_RESOLVE:
		return "as in 'resolve example.com' or 'resolve example.com TXT'";
	case IR_REQ_READ:
		return "as in 'read .env'";
	case IR_REQ_WRITE:
		return "as in 'write .git/hooks/pre-commit'";
	case IR_REQ_ARG:
		return "as in 'docker-arg --privileged'";
	}
	abort();
}

static bool fail_request(struct request_parser *p, struct span part,
			 const char *what, const char *help)
{
	struct diags *d = p->c->diags;

	diag_error(d, DIAG_REQUEST, text_at(&p->text, part), "%s", what);
	diag_help(d, "%s", help ? help : example_of(p->out.kind));
	return false;
}

void request_unexpected(struct request_parser *p, struct span part)
{
	struct diags *d = p->c->diags;
	struct str s = str_slice(p->text.s, part.beg, part.end);

	if (s.n == 0)
		diag_error(d, DIAG_REQUEST, text_at(&p->text, part),
			   "a request that ends too early");
	else
		diag_error(d, DIAG_REQUEST, text_at(&p->text, part),
			   "unexpected '%s' in a request", diag_quote(d, s));
	diag_help(d, "%s", example_of(p->out.kind));
}

/* --- connections --------------------------------------------------------- */

void request_proto(struct request_parser *p, struct str name)
{
	p->has_proto = true;
	p->out.proto = name.p[0] == 't' ? IR_PROTO_TCP : IR_PROTO_UDP;
	p->out.quic = name.p[0] == 'q';
}

static bool host_name(struct request_parser *p, struct span part,
		      struct str *out)
{
	struct text t = sub_text(p, part);
	struct ir_dest d;

	if (!dest_parse(p->c, &t, &d))
		return false;
	if ((d.kind != IR_DEST_HOST && !d.by_name) || d.has_port)
		return fail_request(p, part, "not the name of one host",
				    "as in 'example.com'");
	*out = d.by_name ? STR(LINK_MACHINE_NAME) : d.u.host.name;
	return true;
}

static bool one_host(struct request_parser *p, struct span part,
		     const struct ir_dest *d)
{
	switch (d->kind) {
	case IR_DEST_HOST:
		p->out.name = d->u.host.name;
		return true;
	case IR_DEST_CIDR:
		if (d->u.cidr.net.bits != addr_bits(d->u.cidr.net.addr.family))
			return fail_request(
				p, part, "a request goes to one address", NULL);
		p->out.has_addr = true;
		p->out.addr = d->u.cidr.net.addr;
		return true;
	case IR_DEST_ANY:
	case IR_DEST_PATTERN:
		return fail_request(
			p, part, "a wildcard in a request",
			"name one host: what the policy says of it is the answer");
	case IR_DEST_URL:
		return fail_request(p, part, "a URL without a method",
				    "as in 'GET https://example.com/'");
	case IR_DEST_POISON:
		break;
	}
	/* dest_parse() made none of it. */
	abort();
}

static bool one_port(struct request_parser *p, struct span part,
		     const struct ir_port *port)
{
	struct str s = str_slice(p->text.s, part.beg, part.end);

	if (port->lo != port->hi)
		return fail_request(p, part, "a request has one port", NULL);
	if (p->has_proto && port->proto != p->out.proto &&
	    (port->proto == IR_PROTO_UDP || str_ends(s, STR("/tcp"))))
		return fail_request(
			p, part, "two protocols in one request",
			"as in 'udp 192.0.2.1:53' or '192.0.2.1:53/udp'");
	p->out.port = port->lo;
	if (port->proto == IR_PROTO_UDP)
		p->out.proto = IR_PROTO_UDP;
	return true;
}

static const char *const kinds[] = {"connect", "tcp",  "udp",	"quic",
				    "resolve", "read", "write", "docker-arg"};

/* "reed .env": what was meant for a kind. */
static bool unknown_kind(struct request_parser *p, struct span word)
{
	struct str s = str_slice(p->text.s, word.beg, word.end);
	struct diags *d = p->c->diags;
	struct near near = {.word = s, .below = 3};

	diag_error(d, DIAG_REQUEST, text_at(&p->text, word),
		   "'%s' is neither a kind of request nor a host with a port",
		   diag_quote(d, s));
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		(void)near_offer(&near, kinds[i]);
	if (near.name)
		diag_help(d, "did you mean '%s'?", near.name);
	else
		diag_help(
			d,
			"'host:port', 'METHOD url', 'resolve name', 'read path', 'write path' or 'docker-arg word'");
	return false;
}

bool request_to(struct request_parser *p, struct span to,
		const struct span *port, const struct span *name)
{
	struct text t = sub_text(p, to);
	struct ir_dest d;

	p->out.kind = IR_REQ_CONNECT;
	if (name && !port && !p->has_proto && str_find(t.s, ':', 0) == t.s.n)
		return unknown_kind(p, to);
	if (!dest_parse(p->c, &t, &d) || !one_host(p, to, &d))
		return false;
	if (port && d.has_port)
		return fail_request(p, *port, "a second port", NULL);
	if (port) {
		t = sub_text(p, *port);
		if (!dest_parse_port(p->c, &t, &d.port))
			return false;
	} else if (!d.has_port) {
		return fail_request(p, to, "a connection without a port", NULL);
	}
	if (!one_port(p, to, &d.port))
		return false;
	if (!name)
		return true;
	if (!p->out.has_addr)
		return fail_request(
			p, *name, "a second name",
			"only an address is followed by the name that it was resolved from");
	return host_name(p, *name, &p->out.name);
}

/* --- the others ---------------------------------------------------------- */

/* Scheme and authority of a URL: up to the path, the query or the end. */
static uint32_t authority_end(struct str s)
{
	size_t at = str_find(s, ':', 0);

	if (!str_starts(str_slice(s, at, s.n), STR("://")))
		return (uint32_t)s.n;
	for (at += 3; at < s.n; at++)
		if (s.p[at] == '/' || s.p[at] == '?' || s.p[at] == '#')
			break;
	return (uint32_t)at;
}

/*
 * Methods are told apart by case (RFC 9110, section 9.1), and "get" is one. It
 * is not what anybody means.
 */
static bool is_method(struct request_parser *p, struct str s, struct span url)
{
	struct span at = {url.beg, url.beg};
	struct str up = ascii_upper(p->c->a, s);

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (str_is(s, kinds[i]))
			return fail_request(p, url, "a URL without a method",
					    NULL);
	for (size_t i = 0; http_known_method(i) && !str_eq(s, up); i++) {
		if (!str_is(up, http_known_method(i)))
			continue;
		at.beg = (uint32_t)(s.p - p->text.s.p);
		at.end = at.beg + (uint32_t)s.n;
		diag_error(p->c->diags, DIAG_REQUEST, text_at(&p->text, at),
			   "unknown method '%s'", diag_quote(p->c->diags, s));
		diag_help(p->c->diags, "methods are upper case: '%s'", up.p);
		return false;
	}
	return true;
}

/*
 * The path is whatever a client might send, spelled as it likes: that a rule
 * takes only one spelling is the policy's to say. Rules look at the path alone,
 * so the query goes: doc/semantics.md, section 3.
 */
bool request_http(struct request_parser *p, struct str method, struct span url)
{
	struct str s = str_slice(p->text.s, url.beg, url.end), path;
	uint32_t end = authority_end(s);
	struct text t = sub_text(p, (struct span){url.beg, url.beg + end});
	uint32_t hash = (uint32_t)str_find(s, '#', end);
	struct ir_dest d;

	p->out.method = method;
	if (!is_method(p, method, url))
		return false;
	if (hash < s.n)
		return fail_request(p, (struct span){url.beg + hash, url.end},
				    "a fragment in a request",
				    "leave it out: it never leaves the client");
	if (!dest_parse(p->c, &t, &d))
		return false;
	if (d.kind != IR_DEST_URL)
		return fail_request(p, url, "not the URL of a request", NULL);
	if (d.u.url.who == IR_DEST_PATTERN)
		return fail_request(
			p, url, "a wildcard in a request",
			"name one host: what the policy says of it is the answer");
	path = str_slice(s, end, str_find(s, '?', end));
	p->out.url = d.u.url;
	if (path.n)
		p->out.url.path = path;
	return true;
}

bool request_at(struct request_parser *p, struct span addr, bool unresolved)
{
	struct text t = sub_text(p, addr);
	struct ir_dest d;

	if (p->out.url.who == IR_DEST_CIDR)
		return fail_request(p, addr, "a second address",
				    "the URL has one: 'at' is for names");
	if (!dest_parse(p->c, &t, &d))
		return false;
	if (d.kind != IR_DEST_CIDR ||
	    d.u.cidr.net.bits != addr_bits(d.u.cidr.net.addr.family))
		return fail_request(
			p, addr, "not one address",
			"as in 'GET http://example.com/ at 192.0.2.1'");
	if (d.has_port &&
	    (d.port.lo != d.port.hi || d.port.proto != IR_PROTO_TCP ||
	     d.port.lo != p->out.url.port))
		return fail_request(
			p, addr, "another port than the URL's",
			"as in 'GET http://example.com:8080/ at 192.0.2.1'");
	p->out.has_addr = true;
	p->out.addr = d.u.cidr.net.addr;
	p->out.unresolved = unresolved;
	return true;
}

bool request_resolve(struct request_parser *p, struct span name,
		     const struct span *type)
{
	static const char *const known[] = {
		"A",	"AAAA", "CNAME", "SRV", "MX",	"TXT", "PTR", "HTTPS",
		"SVCB", "NS",	"SOA",	 "ANY", "NULL", "CAA", "DS",  "DNSKEY",
	};

	p->out.type = STR("A");
	if (!host_name(p, name, &p->out.name))
		return false;
	if (!type)
		return true;
	p->out.type = str_slice(p->text.s, type->beg, type->end);
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_is(p->out.type, known[i]))
			return true;
	return fail_request(p, *type, "an unknown type of record",
			    "upper case, as in 'AAAA' or 'TXT'");
}

bool request_path(struct request_parser *p, struct span path)
{
	struct str rest = str_slice(p->text.s, path.beg, path.end), seg;

	p->out.path = rest;
	if (rest.p[0] == '/')
		return fail_request(p, path, "an absolute path",
				    "paths are relative to the workspace");
	while (str_field(&rest, '/', &seg))
		if (seg.n == 0 || str_is(seg, ".") || str_is(seg, ".."))
			return fail_request(p, path,
					    "not a path in the workspace",
					    "no '.', '..' or empty segment");
	return true;
}

void request_arg(struct request_parser *p, struct str arg)
{
	p->out.arg = arg;
}

bool request_parse(struct pass_ctx *c, const struct text *text,
		   struct ir_request *out)
{
	struct request_parser p = {.c = c, .text = *text};
	yyscan_t scanner = NULL;
	uint32_t nul;
	int rc;

	p.out.from.at = text->at;
	p.out.text = text->s;
	if (text->s.n == 0) {
		diag_error(c->diags, DIAG_REQUEST, text->at,
			   "an empty request");
		diag_help(c->diags, "%s", example_of(IR_REQ_CONNECT));
		return false;
	}
	nul = (uint32_t)str_find(text->s, '\0', 0);
	if (nul < text->s.n)
		return fail_request(&p, (struct span){nul, nul + 1},
				    "a NUL byte in a request",
				    "neither names nor paths have one");
	requests_lex_init_extra(&p, &scanner);
	requests__scan_bytes(text->s.p, (int)text->s.n, scanner);
	rc = requests_parse(&p, scanner);
	requests_lex_destroy(scanner);
	if (rc)
		return false;
	*out = p.out;
	return true;
}
