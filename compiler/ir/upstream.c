#include "compiler/ir/upstream.h"

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

/* Label by label, from the front; "**" stands alone in front. */
static bool has_name(struct str pattern, struct str name)
{
	struct str mine, theirs;

	if (str_starts(pattern, STR("**.")))
		return name.n > pattern.n - 2 &&
		       str_ends(name, str_slice(pattern, 2, pattern.n));
	while (str_field(&pattern, '.', &mine)) {
		if (!str_field(&name, '.', &theirs) || str_is(theirs, "**"))
			return false;
		if (!str_is(mine, "*") && !str_eq(mine, theirs))
			return false;
	}
	return name.n == 0;
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
					 has_name(ir_dest_name(&x->dest), name))
			return true;
	}
	return false;
}
