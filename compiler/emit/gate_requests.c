#include "compiler/emit/gate_marks.h"
#include "compiler/emit/gate_requests.cfg.inc"

#include "compiler/ir/http.h"

#define H "http-request"

/* Set a variable where a rule that could decide minds something. */
static void put_minds(struct gate *g, const char *name,
		      bool (*minds)(struct arena *a, const struct ir_grant *g))
{
	const profile_list *lists[] = {&g->p->allow, &g->p->deny};

	for (int i = 0; i < 2; i++)
		vec_each(x, lists[i]) {
			if (!x->http || !minds(g->in->a, x->like))
				continue;
			buf_addf(g->c.out,
				 "    " H " set-var(txn.%s) str(1) if", name);
			gate_match_aimed(g, x);
			buf_addf(g->c.out, "%s\n",
				 i == 0 ? gate_match_unless_net(g) : "");
		}
	cfg_line(&g->c, "acl %s var(txn.%s) -m found", name, name);
}

/* The ACLs of one rule; which of the two there are. */
static void put_rule_acls(struct gate *g, const struct profile *x, uint32_t i,
			  const struct ir_http *h, bool deny)
{
	struct cfg *c = &g->c;
	const struct ir_dest *d = &x->like->dest;

	if (!h->any_method) {
		buf_addf(c->out, "    acl m%.*s_%u var(txn.method) -m str --",
			 STR_ARG(x->token), i);
		vec_each(m, &h->methods)
			cfg_word(c, m->s, m->from.at);
		buf_addc(c->out, '\n');
	}
	if (http_any_path(d, h))
		return;
	ir_texts paths = http_paths(g->in->a, d, h);

	if (paths.n == 0)
		cfg_line(c, "acl q%.*s_%u always_false", STR_ARG(x->token), i);
	vec_each(p, &paths) {
		buf_addf(c->out, "    acl q%.*s_%u %s --", STR_ARG(x->token), i,
			 deny ? "var(txn.path) -m reg"
			      : "var(txn.slashed) -m beg");
		if (deny)
			cfg_path_regex(c, p->s, p->from.at);
		else
			cfg_word(c, arena_fmt(c->a, "%.*s/", STR_ARG(p->s)),
				 p->from.at);
		buf_addc(c->out, '\n');
	}
}

struct rule_at {
	const struct profile *x;
	const struct ir_http *h;
	uint32_t i;
};

static void put_rule(struct gate *g, const struct rule_at *r)
{
	if (!r->h->any_method)
		buf_addf(g->c.out, " m%.*s_%u", STR_ARG(r->x->token), r->i);
	if (!http_any_path(&r->x->like->dest, r->h))
		buf_addf(g->c.out, " q%.*s_%u", STR_ARG(r->x->token), r->i);
}

static void put_allowed(struct gate *g)
{
	struct cfg *c = &g->c;
	VEC(struct rule_at) rules = {0};

	vec_each(x, &g->p->allow) {
		struct http_rules r = http_rules(g->in->a, x->like);

		for (uint32_t i = 0; i < r.n; i++) {
			*vec_push(g->in->a, &rules) =
				(struct rule_at){x, &r.v[i], i + 1};
			put_rule_acls(g, x, i + 1, &r.v[i], false);
		}
	}
	vec_each(x, &g->p->allow) {
		if (!x->http)
			continue;
		gate_marks_profile(g, x, MARKS_REQUEST, MARKS_FOR(METHOD), 0);
		gate_match_reason(g, H, "txn", "method");
		gate_match_reached(g, x);
		buf_addc(c->out, '\n');
	}
	vec_each(r, &rules) {
		if (http_any_path(&r->x->like->dest, r->h))
			continue;
		gate_marks_profile(g, r->x, MARKS_REQUEST, MARKS_FOR(PATH),
				   r->i);
		gate_match_reason(g, H, "txn", "path");
		gate_match_reached(g, r->x);
		if (!r->h->any_method)
			buf_addf(c->out, " m%.*s_%u", STR_ARG(r->x->token),
				 r->i);
		buf_addc(c->out, '\n');
	}
	vec_each(r, &rules) {
		gate_marks_profile(g, r->x, MARKS_REQUEST, MARKS_FOR(GRANTED),
				   r->i);
		buf_addf(c->out, "    " H " set-var(txn.rule) str(%.*s) if",
			 STR_ARG(r->x->token));
		gate_match_reached(g, r->x);
		put_rule(g, r);
		buf_addc(c->out, '\n');
	}
	cfg_text(c, granted);
}

static void put_denied(struct gate *g)
{
	struct cfg *c = &g->c;

	vec_each(x, &g->p->deny) {
		struct http_rules rules = http_rules(g->in->a, x->like);

		for (uint32_t i = 0; i < rules.n; i++) {
			struct rule_at r = {x, &rules.v[i], i + 1};

			put_rule_acls(g, x, i + 1, &rules.v[i], true);
			gate_marks_profile(g, x, MARKS_REQUEST,
					   MARKS_FOR(DENIED), r.i);
			gate_match_reason(g, H, "txn", "denied");
			gate_match_aimed(g, x);
			put_rule(g, &r);
			buf_addf(c->out,
				 "\n    " H " set-var(txn.rule) str(%.*s) if",
				 STR_ARG(x->token));
			gate_match_aimed(g, x);
			put_rule(g, &r);
			buf_addc(c->out, '\n');
		}
	}
}

static void put_credentials(struct gate *g)
{
	uint32_t n = 0;

	vec_each(x, &g->in->policy->credentials) {
		struct cfg *c = &g->c;
		size_t at = 0;

		n++;
		while (at + 1 < x->format.n &&
		       !(x->format.p[at] == '{' && x->format.p[at + 1] == '}'))
			at++;
		/* Never in the clear, and never the agent's own. */
		buf_adds(c->out, "    " H " set-header");
		cfg_word(c, x->header, x->from.at);
		buf_adds(c->out, " '");
		cfg_format(c, str_slice(x->format, 0, at), x->from.at);
		buf_addf(c->out, "%%[env(MEMBRANE_CREDENTIAL_%u)]", n);
		if (at + 2 < x->format.n)
			cfg_format(c, str_slice(x->format, at + 2, x->format.n),
				   x->from.at);
		buf_addf(c->out, "' if granted { ssl_fc } nc%u pc%u\n", n, n);
	}
}

static void put_origins(struct gate *g)
{
	struct cfg *c = &g->c;

	cfg_text(c, origins);
	if (!g->p->any_bump)
		return;
	cfg_text(c, g->insecure ? origin_tls_insecure : origin_tls);
}

static void put_shape(struct gate *g)
{
	struct cfg *c = &g->c;

	cfg_text(c, shape);
	gate_marks_default(g, MARKS_REQUEST, MARKS_FOR(METHOD));
	cfg_text(c, connect);
	cfg_text(c, same_name);
	put_minds(g, "paths", http_has_paths);
	put_minds(g, "verbs", http_has_methods);
	cfg_text(c, canonical);
	gate_marks_default(g, MARKS_REQUEST, MARKS_FOR(PATH_NOT_CANONICAL));
	cfg_text(c, not_canonical);
}

void gate_requests_put(struct gate *g)
{
	struct cfg *c = &g->c;

	cfg_text(c, requests_head);
	if (g->p->any_bump)
		cfg_text(c, bind_tls);
	cfg_text(c, bind_clear);
	gate_answers_failures(c);
	gate_match_acls(g, "txn");
	gate_match_credential_acls(g, "txn");
	cfg_text(c, variables);
	gate_match_lookup(g, H, "txn");
	put_shape(g);
	gate_match_misses(g, H, "txn");
	put_allowed(g);
	put_denied(g);
	gate_answers_verdict(c);
	cfg_text(c, absolute);
	put_credentials(g);
	cfg_text(c, upgrades);
	if (g->p->any_bump)
		cfg_text(c, to_origin_tls);
	cfg_text(c, to_origin);
	gate_answers_refusals(c);
	put_origins(g);
}
