/* What a profile is matched by: ports, schemes, names, networks. */
#include "compiler/emit/comment.h"
#include "compiler/emit/gate/gate_marks.h"
#include "compiler/emit/gate/gate_match.cfg.inc"
#include "compiler/plan/files.h"
#include "compiler/plan/gate.h"

/* The texts of both scopes. */
struct texts {
	const char *of_name, *exact, *star, *of_address, *resolved, *pinned;
	const char *schemes, *networks;
	const char *answered; /* NULL: each is asked about by itself */
};

static const struct texts tls_texts = {
	tls_of_name, tls_exact,	  tls_star,	tls_of_address, tls_resolved,
	tls_pinned,  tls_schemes, tls_networks, tls_answered,
};
static const struct texts request_texts = {
	request_of_name,    request_exact,    request_star,
	request_of_address, request_resolved, request_pinned,
	request_schemes,    request_networks, NULL,
};

const struct gate_scope gate_scope_tls = {"tcp-request content", "sess",
					  MARKS_HELLO, &tls_texts};
const struct gate_scope gate_scope_request = {"http-request", "txn",
					      MARKS_REQUEST, &request_texts};

/* --- which profiles a name or an address has ----------------------------- */

static bool any_entry(struct gate *g, bool (*is)(struct str))
{
	vec_each(e, &g->p->entries)
		if (e->name.n && is(e->name))
			return true;
	return false;
}

static bool is_other(struct str name)
{
	return str_find(name, '*', 0) < name.n && !profiles_star(name) &&
	       !profiles_deep(name) && !str_is(name, "**");
}

static uint32_t label_count(struct str name)
{
	uint32_t n = 1;

	for (size_t i = 0; i < name.n; i++)
		n += name.p[i] == '.';
	return n;
}

#define LABELS_MAX 128u

/* Whether one of the "**." patterns has so many labels behind that. */
static void find_deep(struct gate *g, bool out[LABELS_MAX])
{
	vec_each(e, &g->p->entries)
		if (profiles_deep(e->name) &&
		    label_count(e->name) <= LABELS_MAX)
			out[label_count(e->name) - 1] = true;
}

static struct str any_tokens(struct gate *g)
{
	struct buf b;

	buf_init(&b, g->in->a);
	buf_addc(&b, '.');
	vec_each(e, &g->p->entries)
		if (str_is(e->name, "**"))
			buf_addf(&b, "%.*s.", STR_ARG(e->token));
	return buf_str(&b);
}

/* Patterns of more than one label. */
static void put_deep(struct gate *g, const struct gate_scope *at)
{
	const char *rule = at->rule, *s = at->scope;
	struct cfg *c = &g->c;
	bool deep[LABELS_MAX] = {false};

	find_deep(g, deep);
	for (uint32_t n = 1; n < LABELS_MAX; n++) {
		if (!deep[n])
			continue;
		/* The mark before the name keeps the apex from matching. */
		cfg_line(c, "%s set-var(%s.key) str(^.),concat(,%s.name)", rule,
			 s, s);
		cfg_line(
			c,
			"%s set-var(%s.key) var(%s.key),field(-1,.,%u),regsub('^[^.^]+','**')",
			rule, s, s, n + 1);
		cfg_line(c,
			 "%s set-var(%s.key) var(%s.key),map_str(" GATE_PLAN
			 "/" PLAN_HOSTS ",.)",
			 rule, s, s);
		cfg_line(
			c,
			"%s set-var(%s.of_name) var(%s.of_name),concat(,%s.key)",
			rule, s, s, s);
	}
}

/* Patterns that no key of a map stands for. */
static void put_odd(struct gate *g, const struct gate_scope *at)
{
	const char *s = at->scope;
	struct cfg *c = &g->c;
	uint32_t n = 0;

	vec_each(e, &g->p->entries) {
		if (!is_other(e->name))
			continue;
		buf_addf(c->out, "    acl pattern_%u var(%s.name) -m reg --",
			 ++n, s);
		cfg_name_regex(c, e->name, (struct span){0});
		buf_addc(c->out, '\n');
		cfg_line(
			c,
			"%s set-var(%s.of_name) var(%s.of_name),concat(.%.*s.) if pattern_%u",
			at->rule, s, s, STR_ARG(e->token), n);
	}
}

/* Where a person permitted the connection, it is that; a request is asked about
 * by itself. */
static void put_asked_network(struct gate *g, const struct profile *x,
			      const struct gate_scope *at)
{
	if (!profiles_net(x))
		return;
	comment_grants(g->in, g->c.out, "    ", gate_marks_members(g, x));
	gate_match_acls(g, x, at);
	if (at != &gate_scope_tls)
		return;
	buf_addf(g->c.out, "    %s set-var(%s.net) str(1) if", at->rule,
		 at->scope);
	gate_match_aimed(g, x);
	buf_addf(g->c.out, " { var(sess.asked) -m str %.*s }\n",
		 STR_ARG(x->token));
}

/* Networks without http, whose addresses are granted as such. */
static void put_networks(struct gate *g, const struct gate_scope *at)
{
	if (!g->p->any_net)
		return;
	cfg_text(&g->c, at->texts->networks);
	vec_each(x, &g->p->allow) {
		if (!profiles_net(x))
			continue;
		comment_grants(g->in, g->c.out, "    ",
			       gate_marks_members(g, x));
		gate_match_acls(g, x, at);
		buf_addf(g->c.out, "    %s set-var(%s.net) str(1) if", at->rule,
			 at->scope);
		gate_match_aimed(g, x);
		buf_addc(g->c.out, '\n');
	}
	vec_each(x, &g->p->ask)
		put_asked_network(g, x, at);
}

static bool any_scheme(const profile_list *l)
{
	vec_each(x, l)
		if (!x->tls || !x->clear)
			return true;
	return false;
}

void gate_match_schemes(struct gate *g, const struct gate_scope *at)
{
	if (any_scheme(&g->p->allow) || any_scheme(&g->p->ask) ||
	    any_scheme(&g->p->deny))
		cfg_text(&g->c, at->texts->schemes);
}

void gate_match_lookup(struct gate *g, const struct gate_scope *at)
{
	struct cfg *c = &g->c;

	cfg_text(c, at->texts->of_name);
	cfg_line(c, "%s set-var(%s.of_name) str(%s)", at->rule, at->scope,
		 any_tokens(g).p);
	cfg_text(c, at->texts->exact);
	if (any_entry(g, profiles_star))
		cfg_text(c, at->texts->star);
	put_deep(g, at);
	put_odd(g, at);
	cfg_text(c, g->in->apart ? at->texts->resolved
				 : at->texts->of_address);
	cfg_text(c, at->texts->pinned);
	if (g->asks && at->texts->answered)
		cfg_text(c, at->texts->answered);
	gate_match_schemes(g, at);
	put_networks(g, at);
}

/* --- conditions ---------------------------------------------------------- */

static bool all_ports(const struct profile *x)
{
	return x->ports.v[0].lo == 1 && x->ports.v[0].hi == 65535;
}

static const char *who_text(const struct profile *x)
{
	return x->who == PROFILE_ADDR ? "network" : "name";
}

void gate_match_block(struct gate *g, const struct profile *x)
{
	buf_addc(g->c.out, '\n');
	comment_grants(g->in, g->c.out, "    ", gate_marks_members(g, x));
}

void gate_match_acls(struct gate *g, const struct profile *x,
		     const struct gate_scope *at)
{
	struct cfg *c = &g->c;

	cfg_line(c, "acl %s_%.*s var(%s.%s) -m sub .%.*s.", who_text(x),
		 STR_ARG(x->token), at->scope,
		 x->who == PROFILE_ADDR ? "of_addr" : "of_name",
		 STR_ARG(x->token));
	if (!all_ports(x))
		cfg_ports(c,
			  arena_fmt(c->a, "acl port_%.*s dst_port",
				    STR_ARG(x->token)),
			  &x->ports);
}

/* " name_3" and " port_3" */
static void put_on_port(struct gate *g, const struct profile *x)
{
	buf_addf(g->c.out, " %s_%.*s", who_text(x), STR_ARG(x->token));
	if (!all_ports(x))
		buf_addf(g->c.out, " port_%.*s", STR_ARG(x->token));
}

/* The same, and the scheme. */
void gate_match_aimed(struct gate *g, const struct profile *x)
{
	put_on_port(g, x);
	if (!x->tls || !x->clear)
		buf_adds(g->c.out, x->tls ? " over_tls" : " in_clear");
}

/* Everything about a connection that a grant asks for. */
void gate_match_reached(struct gate *g, const struct profile *x)
{
	gate_match_aimed(g, x);
	if (x->who == PROFILE_ADDR)
		return;
	if (!x->private)
		buf_adds(g->c.out, " !private_address");
	if (x->who == PROFILE_NAME)
		buf_adds(g->c.out, " resolved");
	else if (x->private)
		buf_adds(g->c.out, " resolved_or_public");
}

const char *gate_match_unless_net(const struct gate *g)
{
	return g->p->any_net ? " !network_granted" : "";
}

/* --- why a name is not reached ------------------------------------------- */

void gate_match_reason(struct gate *g, const struct gate_scope *at,
		       const char *reason)
{
	buf_addf(g->c.out, "    %s set-var(%s.reason) str(%s) if", at->rule,
		 at->scope, reason);
}

static void put_wrong_port(struct gate *g, const struct gate_scope *at)
{
	vec_each(x, &g->p->allow) {
		if (profiles_net(x))
			continue; /* the packet filter has its other ports */
		gate_marks_profile(g, x, at->use, MARKS_FOR(PORT), 0);
		gate_match_reason(g, at, "port");
		buf_addf(g->c.out, " %s_%.*s\n", who_text(x),
			 STR_ARG(x->token));
	}
}

static void put_wrong_scheme(struct gate *g, const struct gate_scope *at)
{
	vec_each(x, &g->p->allow) {
		if (x->tls && x->clear)
			continue;
		gate_marks_profile(g, x, at->use, MARKS_FOR(SCHEME), 0);
		gate_match_reason(g, at, "scheme");
		put_on_port(g, x);
		buf_addc(g->c.out, '\n');
	}
}

static void put_private(struct gate *g, const struct gate_scope *at)
{
	vec_each(x, &g->p->allow) {
		if (x->who == PROFILE_ADDR || x->private)
			continue;
		gate_marks_profile(g, x, at->use, MARKS_FOR(PRIVATE_ADDRESS),
				   0);
		gate_match_reason(g, at, "private-address");
		gate_match_aimed(g, x);
		buf_adds(g->c.out, " private_address\n");
	}
}

static void put_unresolved(struct gate *g, const struct gate_scope *at)
{
	struct buf *out = g->c.out;

	vec_each(x, &g->p->allow) {
		if (x->who == PROFILE_ADDR ||
		    (x->who == PROFILE_ANY && !x->private))
			continue;
		gate_marks_profile(g, x, at->use, MARKS_FOR(NOT_RESOLVED), 0);
		gate_match_reason(g, at, "not-resolved");
		gate_match_aimed(g, x);
		buf_adds(out, x->private ? "" : " !private_address");
		buf_adds(out, x->who == PROFILE_NAME
				      ? " !resolved\n"
				      : " !resolved_or_public\n");
	}
}

void gate_match_misses(struct gate *g, const struct gate_scope *at)
{
	gate_marks_default(g, at->use, MARKS_FOR(NO_GRANT));
	cfg_line(&g->c, "%s set-var(%s.reason) str(no-grant)", at->rule,
		 at->scope);
	put_wrong_port(g, at);
	put_wrong_scheme(g, at);
	put_private(g, at);
	put_unresolved(g, at);
}

/* --- credentials --------------------------------------------------------- */

void gate_match_credential_acls(struct gate *g, const struct gate_scope *at)
{
	uint32_t n = 0;

	vec_each(x, &g->in->policy->credentials) {
		n++;
		comment_text(g->c.out, "    ",
			     arena_fmt(g->in->a,
				       "credential %u, for %.*s: %s%.*s", n,
				       STR_ARG(ir_dest_name(&x->host)),
				       x->fields.n ? "what stands in " : "",
				       STR_ARG(x->fields.n ? x->source
							   : x->header)));
		cfg_line(&g->c, "acl name_c%u var(%s.of_name) -m sub .c%u.", n,
			 at->scope, n);
		if (x->host.has_port)
			cfg_line(&g->c, "acl port_c%u dst_port %u", n,
				 x->host.port.lo);
		else
			cfg_line(&g->c, "acl port_c%u always_true", n);
	}
}
