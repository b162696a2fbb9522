/*
 * Grants and credentials that are odd by themselves: paths that never match,
 * parts of the floor, everything at once.
 */
#include "compiler/lint/parts.h"

#include "compiler/lint/lint.h"

/* Is the path under the URL's, at a boundary of segments? */
static bool is_under(struct str path, struct str base)
{
	if (str_ends(base, STR("/")))
		base.n--;
	return str_starts(path, base) &&
	       (path.n == base.n || path.p[base.n] == '/');
}

static void lint_paths(struct pass_ctx *c, const struct ir_grant *g)
{
	if (g->dest.kind != IR_DEST_URL)
		return;
	vec_each(h, &g->http)
		vec_each(p, &h->paths) {
			if (is_under(p->s, g->dest.u.url.path))
				continue;
			diag_warn(
				c->diags, DIAG_PATH_OUTSIDE, p->from.at,
				"'%s' is not under the URL's path and matches nothing",
				diag_quote(c->diags, p->s));
			lint_about(c, &g->dest);
			diag_help(
				c->diags,
				"a path without a leading '/' is relative to the URL's");
		}
}

static void lint_floor(struct pass_ctx *c, const struct ir_grant *g)
{
	const struct cidr *net = ir_dest_net(&g->dest);
	const struct addr_special *floor = net ? addr_never_around(net) : NULL;

	if (!floor || ir_dest_machine(&g->dest))
		return;
	if (ir_grant_reaches(g, &net->addr)) {
		diag_warn(c->diags, DIAG_OPENS_FLOOR, g->from.at,
			  "'%s' opens a part of the floor: %s",
			  lint_quoted(c, &g->dest), floor->about);
		lint_about(c, &g->dest);
		if (str_starts(str_of(floor->about), STR("loopback")))
			diag_help(
				c->diags,
				"inside that is the session itself; a port of the machine that runs membrane is 'host:PORT'");
		return;
	}
	diag_warn(c->diags, DIAG_FLOOR_GRANT, g->from.at,
		  "'%s' stays denied by the floor: %s",
		  lint_quoted(c, &g->dest), floor->about);
	lint_about(c, &g->dest);
	diag_help(
		c->diags,
		net->bits > floor->net.bits
			? "with 'http' nothing of the floor is opened; a grant of the address and its port is"
			: "a grant of a smaller network opens that part");
}

/* private: true is about what names lead to. */
static void lint_private(struct pass_ctx *c, const struct ir_grant *g)
{
	bool is_net = g->dest.kind == IR_DEST_CIDR ||
		      (g->dest.kind == IR_DEST_URL &&
		       g->dest.u.url.who == IR_DEST_CIDR);

	if (!is_net || !g->private.set || !g->private.v)
		return;
	diag_warn(c->diags, DIAG_PRIVATE_VOID, g->private.from.at,
		  "'private' changes nothing for an address");
	lint_about(c, &g->dest);
	diag_help(c->diags, "a grant by address opens private ones too");
}

static void lint_any(struct pass_ctx *c, const struct ir_grant *g)
{
	if (g->dest.kind != IR_DEST_ANY || g->has_http)
		return;
	diag_warn(c->diags, DIAG_ANY_GRANT, g->from.at,
		  "'*' lets the agent send to anybody what it can read");
	lint_about(c, &g->dest);
	diag_help(c->diags,
		  "name the destinations; 'deny' takes single ones back");
}

/* Could the destination's names have this one among them? */
static bool may_name(const struct ir_dest *d, struct str host)
{
	struct str name = ir_dest_name(d);
	size_t star = str_find(name, '*', 0);

	while (star < name.n && str_find(name, '*', star + 1) < name.n)
		star = str_find(name, '*', star + 1);
	if (star == name.n)
		return str_eq(name, host);
	return str_ends(host, str_slice(name, star + 1, name.n));
}

/* A credential that no granted request could carry. */
static void lint_credentials(struct pass_ctx *c, const struct ir_policy *p)
{
	vec_each(x, &p->credentials) {
		bool any = false;

		vec_each(g, &p->allow)
			any |= may_name(&g->dest, x->host.u.host.name);
		vec_each(g, &p->ask)
			any |= may_name(&g->dest, x->host.u.host.name);
		if (any)
			continue;
		diag_warn(c->diags, DIAG_CREDENTIAL_VOID, x->host.at,
			  "nothing grants '%s', so nothing gets this %s",
			  diag_quote(c->diags, x->host.u.host.name),
			  x->fields.n ? "secret" : "header");
		diag_about(c->diags, x->host.u.host.name);
		diag_help(c->diags, "allow it, as in 'https://%s/'",
			  diag_quote(c->diags, x->host.u.host.name));
	}
}

void grants_lint(struct pass_ctx *c, const struct ir_policy *p,
		 const bool *denied)
{
	vec_each(g, &p->allow) {
		lint_paths(c, g);
		if (!denied[g - p->allow.v])
			lint_floor(c, g);
		lint_private(c, g);
		lint_any(c, g);
	}
	vec_each(g, &p->ask) {
		lint_paths(c, g);
		lint_floor(c, g);
		lint_private(c, g);
	}
	lint_credentials(c, p);
}
