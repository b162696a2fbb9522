#include "compiler/ir/upstream.h"

#include "compiler/base/name_match.h"
#include "compiler/ir/inspection.h"

struct str upstream_at(struct arena *a, const struct ir_upstream *u)
{
	const struct ir_url *url = &u->proxy.u.url;
	char text[ADDR_TEXT_MAX];

	if (url->who == IR_DEST_HOST)
		return arena_fmt(a, "%.*s:%u", STR_ARG(url->name), url->port);
	return arena_fmt(a,
			 url->net.addr.family == ADDR_V6 ? "[%s]:%u" : "%s:%u",
			 addr_text(&url->net.addr, text), url->port);
}

bool upstream_on_loopback(const struct ir_upstream *u)
{
	const struct ir_url *url = &u->proxy.u.url;

	return u->set && url->who == IR_DEST_CIDR &&
	       addr_is_loopback(&url->net.addr);
}

struct str upstream_text(struct arena *a, const struct ir_upstream *u)
{
	struct str at = upstream_at(a, u);

	if (!u->has_login)
		return arena_fmt(a, "http://%.*s", STR_ARG(at));
	return arena_fmt(a, "http://%.*s as %s%.*s", STR_ARG(at),
			 u->from_env ? "$" : "in the file ",
			 STR_ARG(u->source));
}

ir_texts upstream_directs(struct arena *a, const struct ir_upstream *u)
{
	ir_texts out = {0};

	vec_each(d, &u->direct)
		*vec_push(a, &out) =
			(struct ir_text){d->from, ir_dest_text(a, &d->dest)};
	return out;
}

bool upstream_passes(const struct ir_policy *p, const struct ir_dest *d)
{
	struct str name = ir_dest_name(d);
	const struct cidr *net = ir_dest_net(d);

	if (!p->upstream.set || ir_dest_machine(d))
		return true;
	vec_each(x, &p->upstream.direct) {
		const struct cidr *own = ir_dest_net(&x->dest);

		if (own && net ? cidr_covers(own, net)
			       : !own && name.n &&
					 name_matches(ir_dest_name(&x->dest),
						      name))
			return true;
	}
	return false;
}

bool upstream_asks(const struct ir_policy *p)
{
	vec_each(x, &p->upstream.direct)
		if (!ir_dest_net(&x->dest))
			return true;
	return false;
}

bool upstream_takes(const struct ir_policy *p, const struct ir_grant *g)
{
	return p->upstream.set && inspection_has_tcp(g) &&
	       !ir_dest_machine(&g->dest) &&
	       (g->dest.kind == IR_DEST_ANY || ir_dest_net(&g->dest));
}
