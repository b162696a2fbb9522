#include "compiler/algebra/decide/ask.h"

#include "compiler/algebra/decide/option.h"
#include "compiler/base/name_match.h"
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

/*
 * The entry of '*' without http that speaks of the port. Denied, HAProxy never
 * sees those packets. Allowed, those to a public address pass; by a name they
 * go to HAProxy where that is asked at all.
 */
static const struct ir_grant *any_without_http(const ir_grants *list,
					       uint16_t port)
{
	vec_each(g, list)
		if (g->dest.kind == IR_DEST_ANY && !g->has_http &&
		    ports_has(&g->ports, IR_PROTO_TCP, port))
			return g;
	return NULL;
}

static struct decision ask_by_name(struct arena *a, const struct ir_policy *p,
				   bool unseen, const struct ir_request *r)
{
	const struct ir_url *u = &r->url;
	const struct ir_grant *d = any_without_http(&p->deny, u->port);
	const struct ir_grant *direct =
		unseen ? any_without_http(&p->allow, u->port) : NULL;
	struct decide_request q = {.tls = u->scheme == IR_SCHEME_HTTPS,
				   .port = u->port,
				   .is_pinned = true,
				   .sni = u->name,
				   .host = u->name,
				   .method = r->method,
				   .path = u->path};

	if (d)
		return (struct decision){.reason = REASON_DENIED, .grant = d};
	if (direct)
		return (struct decision){.verdict = VERDICT_ALLOW,
					 .reason = REASON_GRANTED,
					 .grant = direct};
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
	if (d.verdict == VERDICT_ALLOW && unseen)
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
				   .sni = u->name,
				   .host = u->name,
				   .method = r->method,
				   .path = u->path};
	struct decision d;

	if (!r->unresolved)
		f.name = u->name;
	d = decide_connect(p, &f);
	if (d.verdict == VERDICT_DENY && d.reason != REASON_NOT_HTTP)
		return d;
	if (d.verdict == VERDICT_ALLOW && unseen &&
	    (!str_is(r->method, "CONNECT") ||
	     (any_without_http(&p->allow, f.port) &&
	      addr_scope(&f.addr) == ADDR_PUBLIC)))
		return d;
	return decide_request(a, p, &q);
}

static struct decision ask_url(struct arena *a, const struct ir_policy *p,
			       bool unseen, const struct ir_request *r)
{
	if (r->url.who == IR_DEST_CIDR)
		return ask_by_addr(a, p, unseen, r);
	return r->has_addr ? ask_at(a, p, unseen, r)
			   : ask_by_name(a, p, unseen, r);
}

/* --- everything ---------------------------------------------------------- */

static struct decision ask_arg(struct arena *a, const struct ir_policy *p,
			       const struct ir_request *r)
{
	bool has = option_among(a, &p->docker_args, r->arg);

	return (struct decision){.verdict = has ? VERDICT_ALLOW : VERDICT_DENY,
				 .reason = has ? REASON_GRANTED
					       : REASON_NO_GRANT};
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

/* What is permitted without a word of anybody. */
static struct decision decide_granted(struct arena *a,
				      const struct ir_policy *p, bool unseen,
				      const struct decide_files *files,
				      const struct ir_request *r)
{
	switch (r->kind) {
	case IR_REQ_CONNECT:
		return ask_connect(p, r);
	case IR_REQ_HTTP:
		return ask_url(a, p, unseen, r);
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

/* --- what a person may permit -------------------------------------------- */

/* Whom the request is to; a name, an address, or both: *out_name is left where
 * there is none. Nobody is asked about
 * the machine: its names resolve where a grant speaks of it, and lead nowhere
 * else. */
static bool has_destination(const struct ir_request *r, struct str *out_name,
			    const struct addr **out_addr)
{
	*out_addr = r->has_addr ? &r->addr : NULL;
	switch (r->kind) {
	case IR_REQ_CONNECT:
		*out_name = r->name;
		return r->proto == IR_PROTO_TCP &&
		       !addr_names_machine(*out_name);
	case IR_REQ_RESOLVE:
		*out_name = r->name;
		return !addr_names_machine(*out_name);
	case IR_REQ_HTTP:
		if (r->url.who == IR_DEST_CIDR)
			*out_addr = &r->url.net.addr;
		else
			*out_name = r->url.name;
		return !addr_names_machine(*out_name);
	case IR_REQ_READ:
	case IR_REQ_WRITE:
	case IR_REQ_ARG:
		return false;
	}
	abort();
}

/* Can the entry have a part in it at all? */
static bool speaks_of(const struct ir_grant *g, struct str name,
		      const struct addr *addr)
{
	const struct cidr *net = ir_dest_net(&g->dest);

	if (net)
		return addr && cidr_has(net, addr);
	return g->dest.kind == IR_DEST_ANY ||
	       name_matches(ir_dest_name(&g->dest), name);
}

/*
 * The policy with one entry of its `ask` among its grants: the last of them,
 * which is put there by with_entry().
 */
static struct ir_policy with_room(struct arena *a, const struct ir_policy *p,
				  const struct decide_files *files)
{
	struct ir_policy out = *p;

	out.allow.v = decide_files_room(files, p);
	if (!out.allow.v)
		out.allow.v = decide_room(a, p);
	out.allow.n = out.allow.cap = p->allow.n + 1;
	return out;
}

static void with_entry(struct ir_policy *with, const struct ir_grant *g)
{
	struct ir_grant *last = &with->allow.v[with->allow.n - 1];

	*last = *g;
	last->key = IR_KEY_ALLOW;
}

/* A wider answer, or more time for one as wide. */
static bool is_wider(const struct ir_grant *g, const struct ir_grant *than)
{
	if (g->lasts.v != than->lasts.v)
		return g->lasts.v > than->lasts.v;
	return g->wait_s.v > than->wait_s.v;
}

/*
 * By each entry alone, as one more grant: what one person's yes to it opens. Of
 * those that would, the widest answer counts, as grants add up.
 */
static struct decision decide_askable(struct arena *a,
				      const struct ir_policy *p, bool unseen,
				      const struct decide_files *files,
				      const struct ir_request *r,
				      struct decision denied)
{
	const struct ir_grant *best = NULL;
	struct ir_policy with;
	const struct addr *addr;
	struct str name = {0};
	bool room = false;

	if (!has_destination(r, &name, &addr))
		return denied;
	vec_each(g, &p->ask) {
		if (!speaks_of(g, name, addr) || (best && !is_wider(g, best)))
			continue;
		if (!room)
			with = with_room(a, p, files);
		room = true;
		with_entry(&with, g);
		if (decide_granted(a, &with, unseen && !inspection_looks(p, g),
				   NULL, r)
			    .verdict == VERDICT_ALLOW)
			best = g;
	}
	if (!best)
		return denied;
	return (struct decision){
		.verdict = VERDICT_ASK, .reason = REASON_ASK, .grant = best};
}

struct decision decide_part(struct arena *a, const struct ir_policy *p,
			    bool unseen, const struct decide_files *files,
			    const struct ir_request *r)
{
	struct decision d = decide_granted(a, p, unseen, files, r);

	if (d.verdict == VERDICT_ALLOW)
		return d;
	return decide_askable(a, p, unseen, files, r, d);
}

struct decision decide_asked(struct arena *a, const struct ir_policy *p,
			     const struct decide_files *files,
			     const struct ir_request *r)
{
	return decide_part(a, p, inspection_unseen(p), files, r);
}
