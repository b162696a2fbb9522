/*
 * The part of gate.cfg that decides requests, and what goes on from there.
 */
#include "compiler/emit/gate/gate_requests.cfg.inc"
#include "compiler/emit/gate/gate_marks.h"
#include "compiler/ir/http.h"
#include "compiler/plan/gate.h"

#define RULE "http-request"

/* --- one rule of http ---------------------------------------------------- */

void gate_requests_method_acl(struct gate *g, const struct profile *x,
			      const struct ir_http *h, uint32_t i)
{
	struct cfg *c = &g->c;
	struct cfg_list l;

	if (h->any_method)
		return;
	l = cfg_list_begin(
		c,
		arena_fmt(c->a, "acl method_%.*s_%u var(txn.method) -m str --",
			  STR_ARG(x->token), i));
	vec_each(m, &h->methods) {
		cfg_word(c, m->s, m->from.at);
		cfg_list_word(&l);
	}
	cfg_list_end(&l);
}

void gate_requests_method(struct gate *g, const struct profile *x,
			  const struct ir_http *h, uint32_t i)
{
	if (!h->any_method)
		buf_addf(g->c.out, " method_%.*s_%u", STR_ARG(x->token), i);
}

static void put_paths(struct gate *g, const struct profile *x,
		      const ir_texts *paths, uint32_t i, bool deny)
{
	struct cfg *c = &g->c;
	struct cfg_list l =
		cfg_list_begin(c, arena_fmt(c->a, "acl path_%.*s_%u %s --",
					    STR_ARG(x->token), i,
					    deny ? "var(txn.path) -m reg"
						 : "var(txn.slashed) -m beg"));

	vec_each(p, paths) {
		if (deny)
			cfg_path_regex(c, p->s, p->from.at);
		else
			cfg_word(c, arena_fmt(c->a, "%.*s/", STR_ARG(p->s)),
				 p->from.at);
		cfg_list_word(&l);
	}
	cfg_list_end(&l);
}

static void put_path_acl(struct gate *g, const struct profile *x,
			 const struct ir_http *h, uint32_t i, bool deny)
{
	const struct ir_dest *d = &x->like->dest;
	ir_texts paths;

	if (http_any_path(d, h))
		return;
	paths = http_paths(g->in->a, d, h);
	if (paths.n)
		put_paths(g, x, &paths, i, deny);
	else
		cfg_line(&g->c, "acl path_%.*s_%u always_false",
			 STR_ARG(x->token), i);
}

static void put_rule_acls(struct gate *g, const struct profile *x, bool deny)
{
	struct http_rules rules = http_rules(g->in->a, x->like);

	for (uint32_t i = 0; i < rules.n; i++) {
		gate_requests_method_acl(g, x, &rules.v[i], i + 1);
		put_path_acl(g, x, &rules.v[i], i + 1, deny);
	}
}

/* " method_3_1 path_3_1" */
static void put_asked(struct gate *g, const struct profile *x,
		      const struct ir_http *h, uint32_t i)
{
	gate_requests_method(g, x, h, i);
	if (!http_any_path(&x->like->dest, h))
		buf_addf(g->c.out, " path_%.*s_%u", STR_ARG(x->token), i);
}

/* Set a variable where a rule that could decide minds something. */
static void put_minds(struct gate *g, const struct profile *x, const char *name,
		      bool minds, const char *unless)
{
	if (!minds)
		return;
	buf_addf(g->c.out, "    " RULE " set-var(txn.%s) str(1) if", name);
	gate_match_aimed(g, x);
	buf_addf(g->c.out, "%s\n", unless);
}

static void put_all_minds(struct gate *g, const struct profile *x,
			  const char *unless)
{
	put_minds(g, x, "by_method", http_has_methods(g->in->a, x->like),
		  unless);
	put_minds(g, x, "by_path", http_has_paths(g->in->a, x->like), unless);
}

/* --- all of a profile ---------------------------------------------------- */

static uint64_t reasons_of(const struct profile *x)
{
	switch (x->like->key) {
	case IR_KEY_DENY:
		return MARKS_FOR(DENIED);
	case IR_KEY_ASK:
		return MARKS_FOR(ASK);
	case IR_KEY_ALLOW:
	case IR_KEY_HOSTNAMES:
	case IR_KEY_CIDRS:
		break;
	}
	return MARKS_FOR(GRANTED);
}

static void put_profile(struct gate *g, const struct profile *x, bool deny)
{
	struct http_rules rules = http_rules(g->in->a, x->like);
	const char *unless = deny ? "" : gate_match_unless_net(g);
	struct buf *out = g->c.out;

	gate_match_block(g, x);
	if (deny || !profiles_net(x))
		gate_match_acls(g, x, &gate_scope_request);
	put_rule_acls(g, x, deny);
	for (uint32_t i = 0; i < rules.n; i++) {
		gate_marks_profile(g, x, MARKS_REQUEST, reasons_of(x), i + 1);
		buf_addf(out, "    " RULE " set-var(txn.rule) str(%.*s) if",
			 STR_ARG(x->token));
		if (deny)
			gate_match_aimed(g, x);
		else
			gate_match_reached(g, x);
		put_asked(g, x, &rules.v[i], i + 1);
		buf_addc(out, '\n');
	}
	if (x->like->key != IR_KEY_ASK)
		put_all_minds(g, x, unless);
}

static bool asks_by_path(struct gate *g, const struct profile *x)
{
	return x->tls && http_has_paths(g->in->a, x->like);
}

/* Is there a denied request whose path an entry could mind first? */
static bool any_denied_by_path(struct gate *g)
{
	bool paths = false, denied = false;

	vec_each(x, &g->p->ask)
		paths |= asks_by_path(g, x);
	vec_each(x, &g->p->deny)
		denied |= x->http && x->tls;
	return paths && denied;
}

/*
 * What is denied where an answer alone lets the connection in is refused for
 * its path first, as if the entry were a grant (J-7). Where a grant lets it in,
 * entries have no say.
 */
static void put_let_in(struct gate *g)
{
	struct buf *out = g->c.out;

	if (!any_denied_by_path(g))
		return;
	cfg_text(&g->c, let_in);
	vec_each(x, &g->p->allow) {
		if (profiles_net(x) || !x->tls)
			continue;
		buf_adds(out, "    " RULE " unset-var(txn.let_in) if");
		gate_match_reached(g, x);
		buf_addc(out, '\n');
	}
	vec_each(x, &g->p->ask) {
		if (!asks_by_path(g, x))
			continue;
		buf_adds(out, "    " RULE " set-var(txn.by_path) str(1) if");
		gate_match_reached(g, x);
		buf_addf(out, " { var(txn.let_in) -m found }%s\n",
			 gate_match_unless_net(g));
	}
}

/* What only `ask` minds has no say in what is granted. */
static void put_asks(struct gate *g)
{
	const char *unless = gate_match_unless_net(g);

	if (!g->asks)
		return;
	cfg_text(&g->c, asks);
	vec_each(x, &g->p->ask)
		put_all_minds(g, x, arena_fmt(g->in->a, " asks%s", unless).p);
	put_let_in(g);
}

/* " set-header NAME 'FORMAT'", with credential n in the format's place. */
static void put_header(struct gate *g, const struct ir_credential *x,
		       uint32_t n)
{
	struct cfg *c = &g->c;
	const char *place = memmem(x->format.p, x->format.n, "{}", 2);
	size_t at = (size_t)(place - x->format.p);

	buf_adds(c->out, " set-header");
	cfg_word(c, x->header, x->from.at);
	buf_adds(c->out, " '");
	cfg_format(c, str_slice(x->format, 0, at), x->from.at);
	buf_addf(c->out, "%%[env(" GATE_ENV_SECRET "%u)]", n);
	cfg_format(c, str_slice(x->format, at + 2, x->format.n), x->from.at);
	buf_addc(c->out, '\'');
}

static void put_credentials(struct gate *g)
{
	struct buf *out = g->c.out;
	uint32_t n = 0;

	if (g->in->policy->credentials.n)
		cfg_text(&g->c, credentials);
	gate_match_credential_acls(g, &gate_scope_request);
	vec_each(x, &g->in->policy->credentials) {
		n++;
		buf_adds(out, "    " RULE);
		if (x->fields.n)
			buf_addf(out, " lua.tokens %u", n);
		else
			put_header(g, x, n);
		buf_addf(out, " if granted { ssl_fc } name_c%u port_c%u\n", n,
			 n);
	}
}

/*
 * Requests by which the agent would renew tokens: what is below the URL is
 * answered here, and reaches nobody.
 */
static void put_renewals(struct gate *g)
{
	struct cfg *c = &g->c;
	uint32_t n = 0, any = 0;

	vec_each(x, &g->in->policy->credentials) {
		const struct ir_url *url = &x->refresh.u.url;

		n++;
		if (!x->has_refresh)
			continue;
		if (any++ == 0)
			cfg_text(c, renewals);
		buf_addf(c->out, "    acl renews_c%u var(txn.name) -m str --",
			 n);
		cfg_word(c, url->name, x->refresh.at);
		buf_addf(c->out,
			 "\n    acl renewed_c%u var(txn.slashed) -m beg --", n);
		cfg_word(c,
			 arena_fmt(c->a, "%.*s/",
				   STR_ARG(str_ends(url->path, STR("/"))
						   ? str_slice(url->path, 0,
							       url->path.n - 1)
						   : url->path)),
			 x->refresh.at);
		buf_addf(
			c->out,
			"\n    " RULE
			" set-var(txn.renewal) int(%u) if granted { ssl_fc } METH_POST renews_c%u renewed_c%u { dst_port %u }\n",
			n, n, n, url->port);
	}
	if (any)
		cfg_text(c, renewed);
}

/* --- the frontend -------------------------------------------------------- */

static void put_head(struct gate *g)
{
	struct cfg *c = &g->c;

	cfg_text(c, g->asks ? requests_head_asking : requests_head);
	if (g->p->any_bump)
		cfg_text(c, bind_tls);
	cfg_text(c, bind_clear);
	cfg_text(c, c->origin ? request_log_by_proxy : request_log);
	cfg_text(c, request_errors);
	cfg_text(c, failures);
	cfg_text(c, failures_in_json);
	cfg_text(c, variables);
	gate_match_lookup(g, &gate_scope_request);
	cfg_text(c, shape);
	gate_marks_default(g, MARKS_REQUEST, MARKS_FOR(METHOD));
	cfg_text(c, connect);
	cfg_text(c, same_name);
}

void gate_requests_put(struct gate *g)
{
	struct cfg *c = &g->c;

	put_head(g);
	cfg_text(c, blocks);
	vec_each(x, &g->p->ask)
		put_profile(g, x, false);
	vec_each(x, &g->p->allow)
		put_profile(g, x, false);
	vec_each(x, &g->p->deny)
		put_profile(g, x, true);
	put_asks(g);
	cfg_text(c, canonical);
	gate_marks_default(g, MARKS_REQUEST, MARKS_FOR(PATH_NOT_CANONICAL));
	cfg_text(c, not_canonical);
	cfg_text(c, verdict);
	cfg_text(c, g->asks ? waits : granted);
	cfg_text(c, pages);
	cfg_text(c, absolute);
	put_credentials(g);
	put_renewals(g);
	cfg_text(c, upgrades);
	if (g->p->any_bump)
		cfg_text(c, to_origin_tls);
	cfg_text(c, to_origin);
	gate_answers_put(g);
	cfg_text(c, origins);
	if (!g->p->any_bump)
		return;
	cfg_text(c, to_tls);
	cfg_text(c, g->insecure			     ? to_tls_insecure
		    : g->in->policy->upstream_ca.set ? to_tls_rooted
						     : to_tls_verified);
	cfg_text(c, origin_tls);
}
