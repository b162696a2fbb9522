#include "compiler/algebra/decide/ask.h"

#include "compiler/algebra/decide/option.h"
#include "compiler/ir/inspection.h"
#include "compiler/ir/ports.h"

#include <stdlib.h>

/* --- connections --------------------------------------------------------- */

static struct decision ask_connect(const struct ir_policy *p,
				   const struct ir_request *r)
{
	struct decide_flow f = {.proto = r->proto,
				.port = r->port,
				.has_addr = r->has_addr,
				.addr = r->addr,
				.is_quic = r->quic,
				.name = r->name};

	return decide_connect(p, &f);
}

/* --- http ---------------------------------------------------------------- */

/* '*' without http, denied: HAProxy never sees those packets. */
static const struct ir_grant *denied_by_port(const struct ir_policy *p,
					     uint16_t port)
{
	vec_each(d, &p->deny)
		if (d->dest.kind == IR_DEST_ANY && !d->has_http &&
		    ports_has(&d->ports, IR_PROTO_TCP, port))
			return d;
	return NULL;
}

static struct decision ask_by_name(struct arena *a, const struct ir_policy *p,
				   const struct ir_request *r)
{
	const struct ir_url *u = &r->url;
	const struct ir_grant *d = denied_by_port(p, u->port);
	struct decide_request q = {.tls = u->scheme == IR_SCHEME_HTTPS,
				   .port = u->port,
				   .is_pinned = true,
				   .host = u->name,
				   .method = r->method,
				   .path = u->path};

	if (d)
		return (struct decision){.reason = REASON_DENIED, .grant = d};
	if (q.tls)
		q.sni = u->name;
	return decide_request(a, p, &q);
}

static struct decision ask_by_addr(struct arena *a, const struct ir_policy *p,
				   bool unseen, const struct ir_request *r)
{
	const struct ir_url *u = &r->url;
	struct decide_flow f = {
		.port = u->port, .has_addr = true, .addr = u->net.addr};
	struct decision d = decide_connect(p, &f);
	char text[ADDR_TEXT_MAX];
	/* TLS to an address names nobody: RFC 6066, section 3. */
	struct decide_request q = {.tls = u->scheme == IR_SCHEME_HTTPS,
				   .port = u->port,
				   .has_addr = true,
				   .addr = u->net.addr,
				   .method = r->method,
				   .path = u->path};

	if (d.reason == REASON_FLOOR || d.reason == REASON_DENIED)
		return d;
	if (d.allow && unseen)
		return d;
	q.host = str_of(addr_text(&u->net.addr, text));
	return decide_request(a, p, &q);
}

/* Does the session tie them? Nothing that a network alone opens is a name's. */
static bool is_tied(const struct ir_policy *p, const struct ir_request *r)
{
	return !r->unresolved &&
	       decide_answer(p, r->url.name, &r->addr) == DECIDE_KEEP_OPEN;
}

/* Does '*' let the packets pass? By a name they go to HAProxy. */
static bool is_direct(const struct ir_policy *p, const struct decide_flow *f)
{
	vec_each(g, &p->allow)
		if (g->dest.kind == IR_DEST_ANY && !g->has_http &&
		    ports_has(&g->ports, f->proto, f->port) &&
		    addr_scope(&f->addr) == ADDR_PUBLIC)
			return true;
	return false;
}

/* Under a name: packets first, which know the address alone. */
static struct decision ask_at(struct arena *a, const struct ir_policy *p,
			      bool unseen, const struct ir_request *r)
{
	const struct ir_url *u = &r->url;
	struct decide_flow f = {
		.port = u->port, .has_addr = true, .addr = r->addr};
	struct decide_request q = {.tls = u->scheme == IR_SCHEME_HTTPS,
				   .port = u->port,
				   .has_addr = true,
				   .addr = r->addr,
				   .is_pinned = is_tied(p, r),
				   .host = u->name,
				   .method = r->method,
				   .path = u->path};
	struct decision d;

	if (!r->unresolved)
		f.name = u->name;
	d = decide_connect(p, &f);
	if (!d.allow && d.reason != REASON_NOT_HTTP)
		return d;
	if (d.allow && unseen &&
	    (!str_is(r->method, "CONNECT") || is_direct(p, &f)))
		return d;
	if (q.tls)
		q.sni = u->name;
	return decide_request(a, p, &q);
}

struct decision decide_url(struct arena *a, const struct ir_policy *p,
			   bool unseen, const struct ir_request *r)
{
	if (r->url.who == IR_DEST_CIDR)
		return ask_by_addr(a, p, unseen, r);
	return r->has_addr ? ask_at(a, p, unseen, r) : ask_by_name(a, p, r);
}

/* --- everything ---------------------------------------------------------- */

static struct decision ask_arg(struct arena *a, const struct ir_policy *p,
			       const struct ir_request *r)
{
	bool has = option_among(a, &p->docker_args, r->arg);

	return (struct decision){
		.allow = has, .reason = has ? REASON_GRANTED : REASON_NO_GRANT};
}

/* "~/" is the agent's home. */
static struct decision ask_file(const struct decide_files *files,
				const struct ir_request *r)
{
	if (str_starts(r->path, STR("~/")))
		return decide_home(files, str_slice(r->path, 2, r->path.n));
	return r->kind == IR_REQ_READ ? decide_read(files, r->path)
				      : decide_write(files, r->path);
}

struct decision decide_asked(struct arena *a, const struct ir_policy *p,
			     const struct decide_files *files,
			     const struct ir_request *r)
{
	switch (r->kind) {
	case IR_REQ_CONNECT:
		return ask_connect(p, r);
	case IR_REQ_HTTP:
		return decide_url(a, p, inspection_unseen(p), r);
	case IR_REQ_RESOLVE:
		return decide_resolve(p, r->name, r->type);
	case IR_REQ_READ:
	case IR_REQ_WRITE:
		return ask_file(files, r);
	case IR_REQ_ARG:
		return ask_arg(a, p, r);
	}
	abort();
}
