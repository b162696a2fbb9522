#include "compiler/front/request.h"

#include "compiler/base/limits.h"
#include "compiler/front/dest.h"

#include <string.h>

/* A request taken apart at its blanks; the last word may hold more. */
struct words {
	struct text v[5];
	unsigned n;
};

static struct text sub(const struct text *t, size_t beg, size_t end)
{
	struct span part = {(uint32_t)beg, (uint32_t)end};

	return (struct text){
		str_slice(t->s, beg, end),
		text_at(t, part),
		t->verbatim ? t->verbatim + (uint32_t)beg : 0,
	};
}

static void split(const struct text *t, struct words *out)
{
	size_t i = 0, n = t->s.n;

	out->n = 0;
	while (out->n < ARRAY_LEN(out->v)) {
		size_t beg;

		while (i < n && t->s.p[i] == ' ')
			i++;
		if (i == n)
			return;
		beg = i;
		while (i < n && t->s.p[i] != ' ')
			i++;
		out->v[out->n++] = sub(t, beg, i);
	}
}

/* All behind the first word. */
static struct text rest_of(const struct text *t, const struct words *w)
{
	size_t beg = (size_t)(w->v[0].s.p - t->s.p) + w->v[0].s.n;

	while (beg < t->s.n && t->s.p[beg] == ' ')
		beg++;
	return sub(t, beg, t->s.n);
}

static bool fail(struct pass_ctx *c, const struct text *t, const char *what,
		 const char *help)
{
	diag_error(c->diags, DIAG_REQUEST, t->at, "%s", what);
	diag_help(c->diags, "%s", help);
	return false;
}

/* --- connect ------------------------------------------------------------- */

static bool host_name(struct pass_ctx *c, const struct text *t,
		      struct str *out)
{
	struct ir_dest d;

	if (!dest_parse(c, t, &d))
		return false;
	if (d.kind != IR_DEST_HOST || d.has_port)
		return fail(c, t, "not the name of one host",
			    "as in 'example.com'");
	*out = d.u.host.name;
	return true;
}

/* "addr port" in two words, as the decision function is written. */
static bool apart(struct pass_ctx *c, struct words *w, unsigned at,
		  struct ir_request *out)
{
	struct ir_port port;

	if (!dest_parse_port(c, &w->v[at + 1], &port))
		return false;
	if (port.lo != port.hi)
		return fail(c, &w->v[at + 1], "a request has one port",
			    "as in 'tcp 192.0.2.1 443'");
	out->port = port.lo;
	return true;
}

static bool target(struct pass_ctx *c, const struct text *t, bool need_port,
		   struct ir_request *out)
{
	struct ir_dest d;

	if (!dest_parse(c, t, &d))
		return false;
	switch (d.kind) {
	case IR_DEST_HOST:
		out->name = d.u.host.name;
		break;
	case IR_DEST_CIDR:
		if (d.u.cidr.net.bits != addr_bits(d.u.cidr.net.addr.family))
			return fail(c, t, "a request goes to one address",
				    "as in '192.0.2.1:443'");
		out->has_addr = true;
		out->addr = d.u.cidr.net.addr;
		break;
	case IR_DEST_ANY:
	case IR_DEST_PATTERN:
		return fail(c, t, "a wildcard in a request",
			    "name one host: what the policy says of it is "
			    "the answer");
	case IR_DEST_URL:
		return fail(c, t, "a URL without a method",
			    "as in 'GET https://example.com/'");
	case IR_DEST_POISON:
		return false;
	}
	if (d.has_port && d.port.lo != d.port.hi)
		return fail(c, t, "a request has one port",
			    "as in 'example.com:443'");
	if (d.has_port) {
		out->port = d.port.lo;
		if (d.port.proto == IR_PROTO_UDP)
			out->proto = IR_PROTO_UDP;
	}
	if (need_port && !d.has_port)
		return fail(c, t, "a connection without a port",
			    "as in 'example.com:443'");
	return true;
}

static bool connect_request(struct pass_ctx *c, const struct text *t,
			    struct words *w, struct ir_request *out)
{
	unsigned at = 0;
	bool two;

	out->kind = IR_REQ_CONNECT;
	if (str_is(w->v[at].s, "connect"))
		at++;
	if (at < w->n &&
	    (str_is(w->v[at].s, "tcp") || str_is(w->v[at].s, "udp")))
		out->proto = w->v[at++].s.p[0] == 'u' ? IR_PROTO_UDP
						      : IR_PROTO_TCP;
	if (at == w->n)
		return fail(c, t, "a connection to nowhere",
			    "as in 'tcp example.com:443'");
	two = at + 1 < w->n && w->v[at + 1].s.p[0] >= '0' &&
	      w->v[at + 1].s.p[0] <= '9' &&
	      str_find(w->v[at + 1].s, '.', 0) == w->v[at + 1].s.n;
	if (!target(c, &w->v[at], !two, out) ||
	    (two && !apart(c, w, at, out)))
		return false;
	at += two ? 2 : 1;
	if (at < w->n && out->has_addr) {
		if (!host_name(c, &w->v[at], &out->name))
			return false;
		at++;
	}
	if (at < w->n)
		return fail(c, &w->v[at], "more than a connection needs",
			    "protocol, address or name with port, and for an "
			    "address the name that it was resolved from");
	return true;
}

/* --- the others ---------------------------------------------------------- */

static bool http_request(struct pass_ctx *c, const struct text *t,
			 struct words *w, struct ir_request *out)
{
	struct ir_dest d;

	out->kind = IR_REQ_HTTP;
	out->method = w->v[0].s;
	if (w->n != 2)
		return fail(c, t, "a method and a URL, nothing else",
			    "as in 'GET https://example.com/'");
	if (!dest_parse(c, &w->v[1], &d))
		return false;
	if (d.kind != IR_DEST_URL || d.u.url.who == IR_DEST_PATTERN)
		return fail(c, &w->v[1], "not the URL of a request",
			    "as in 'GET https://example.com/'");
	out->url = d.u.url;
	return true;
}

static bool resolve_request(struct pass_ctx *c, const struct text *t,
			    struct words *w, struct ir_request *out)
{
	static const char *const known[] = {
		"A", "AAAA", "CNAME", "SRV", "MX", "TXT", "PTR", "HTTPS",
		"SVCB", "NS", "SOA", "ANY", "NULL", "CAA", "DS", "DNSKEY",
	};

	out->kind = IR_REQ_RESOLVE;
	out->type = STR("A");
	if (w->n < 2 || w->n > 3)
		return fail(c, t, "a name and perhaps a type",
			    "as in 'resolve example.com AAAA'");
	if (!host_name(c, &w->v[1], &out->name))
		return false;
	if (w->n == 2)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_is(w->v[2].s, known[i])) {
			out->type = w->v[2].s;
			return true;
		}
	return fail(c, &w->v[2], "an unknown type of record",
		    "upper case, as in 'AAAA' or 'TXT'");
}

static bool file_request(struct pass_ctx *c, const struct text *t,
			 struct words *w, struct ir_request *out)
{
	struct text path = rest_of(t, w);
	struct str rest = path.s, seg;

	out->kind = w->v[0].s.p[0] == 'r' ? IR_REQ_READ : IR_REQ_WRITE;
	out->path = path.s;
	if (path.s.n == 0)
		return fail(c, t, "a request without a path",
			    "as in 'read .env'");
	if (path.s.p[0] == '/')
		return fail(c, &path, "an absolute path",
			    "paths are relative to the workspace");
	while (str_field(&rest, '/', &seg))
		if (seg.n == 0 || str_is(seg, ".") || str_is(seg, ".."))
			return fail(c, &path, "not a path in the workspace",
				    "no '.', '..' or empty segment");
	return true;
}

static bool is_method(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((s.p[i] < 'A' || s.p[i] > 'Z') && s.p[i] != '-')
			return false;
	return s.n > 0;
}

bool request_parse(struct pass_ctx *c, const struct text *text,
		   struct ir_request *out)
{
	struct ir_request req = {.from.at = text->at, .text = text->s};
	struct words w;
	struct str first;
	bool ok;

	split(text, &w);
	if (w.n == 0)
		return fail(c, text, "an empty request",
			    "as in 'example.com:443', 'GET https://"
			    "example.com/', 'resolve example.com', 'read "
			    ".env' or 'docker-arg --privileged'");
	first = w.v[0].s;
	if (is_method(first)) {
		ok = http_request(c, text, &w, &req);
	} else if (str_is(first, "resolve")) {
		ok = resolve_request(c, text, &w, &req);
	} else if (str_is(first, "read") || str_is(first, "write")) {
		ok = file_request(c, text, &w, &req);
	} else if (str_is(first, "docker-arg")) {
		req.kind = IR_REQ_ARG;
		req.arg = rest_of(text, &w).s;
		ok = req.arg.n || fail(c, text, "a request without an argument",
				       "as in 'docker-arg --privileged'");
	} else {
		ok = connect_request(c, text, &w, &req);
	}
	if (ok)
		*out = req;
	return ok;
}
