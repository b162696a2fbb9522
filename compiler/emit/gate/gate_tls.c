/*
 * The part of gate.cfg that reads a ClientHello: whom the client calls, and
 * whether what it says to them is decrypted.
 */
#include "compiler/emit/gate/gate_marks.h"
#include "compiler/emit/gate/gate_tls.cfg.inc"

#define RULE "tcp-request content"

/*
 * A hello without a name: only to an address that is granted as such, and not
 * by the way of addresses where a denied name leads.
 */
static void put_lookup(struct gate *g)
{
	struct cfg *c = &g->c;

	if (g->p->any_net) {
		cfg_text(c, nameless);
	} else {
		gate_marks_default(g, MARKS_HELLO, MARKS_FOR(NO_SNI));
		cfg_text(c, named);
	}
	gate_match_lookup(g, &gate_scope_tls);
	if (g->p->any_net) {
		gate_marks_default(g, MARKS_HELLO, MARKS_FOR(NO_SNI));
		cfg_text(c, nameless_net);
	}
}

static void put_rule(struct gate *g, const struct profile *x)
{
	buf_addf(g->c.out, "    " RULE " set-var(sess.rule) str(%.*s) if",
		 STR_ARG(x->token));
}

/* What a person is asked about: permitted where that was the answer, or, where
 * requests wait, as far as they are seen. */
static void put_ask(struct gate *g, const struct profile *x)
{
	struct buf *out = g->c.out;

	gate_match_block(g, x);
	if (!profiles_net(x))
		gate_match_acls(g, x, &gate_scope_tls);
	if (!x->http)
		cfg_line(&g->c, "acl answered_%.*s var(sess.asked) -m str %.*s",
			 STR_ARG(x->token), STR_ARG(x->token));
	gate_marks_profile(g, x, MARKS_HELLO, MARKS_FOR(ASK), 0);
	put_rule(g, x);
	gate_match_reached(g, x);
	if (!x->http)
		buf_addf(out, " answered_%.*s", STR_ARG(x->token));
	buf_addc(out, '\n');
	if (!x->bump)
		return;
	buf_adds(out, "    " RULE " set-var(sess.bump) str(ask) if");
	gate_match_reached(g, x);
	if (!x->http)
		buf_addf(out, " answered_%.*s", STR_ARG(x->token));
	buf_addf(out, "%s\n", gate_match_unless_net(g));
}

static void put_grant(struct gate *g, const struct profile *x)
{
	struct buf *out = g->c.out;

	gate_match_block(g, x);
	if (!profiles_net(x))
		gate_match_acls(g, x, &gate_scope_tls);
	gate_marks_profile(g, x, MARKS_HELLO, MARKS_FOR(GRANTED), 0);
	put_rule(g, x);
	gate_match_reached(g, x);
	buf_addc(out, '\n');
	if (!x->bump)
		return;
	buf_adds(out, "    " RULE " set-var(sess.bump) str(1) if");
	gate_match_reached(g, x);
	buf_addf(out, "%s\n", gate_match_unless_net(g));
}

/* Requests are denied once they are seen; no hello without a name shows one. */
static void put_denied_requests(struct gate *g, const struct profile *x)
{
	struct buf *out = g->c.out;

	buf_adds(out, "    " RULE " set-var(sess.bump) str(1) if");
	gate_match_aimed(g, x);
	buf_addc(out, '\n');
	if (!g->p->any_net || x->who == PROFILE_NAME)
		return;
	gate_marks_profile(g, x, MARKS_HELLO, MARKS_FOR(NO_SNI), 0);
	buf_adds(out, "    " RULE " set-var(sess.unseen) str(1) if nameless");
	gate_match_aimed(g, x);
	buf_addc(out, '\n');
}

static void put_denial(struct gate *g, const struct profile *x)
{
	if (x->http && !x->tls)
		return;
	gate_match_block(g, x);
	gate_match_acls(g, x, &gate_scope_tls);
	if (x->http) {
		put_denied_requests(g, x);
		return;
	}
	gate_marks_profile(g, x, MARKS_HELLO, MARKS_FOR(DENIED), 0);
	put_rule(g, x);
	gate_match_aimed(g, x);
	buf_addc(g->c.out, '\n');
}

/* Where a credential goes is decrypted. */
static void put_credentials(struct gate *g)
{
	uint32_t n = 0;

	if (g->in->policy->credentials.n)
		buf_addc(g->c.out, '\n');
	gate_match_credential_acls(g, &gate_scope_tls);
	vec_each(x, &g->in->policy->credentials) {
		(void)x;
		n++;
		cfg_line(&g->c,
			 RULE
			 " set-var(sess.bump) str(1) if name_c%u port_c%u%s",
			 n, n, gate_match_unless_net(g));
	}
}

static bool any_unseen(const struct gate *g)
{
	vec_each(x, &g->p->deny)
		if (x->http && x->tls && x->who != PROFILE_NAME)
			return g->p->any_net;
	return false;
}

void gate_tls_put(struct gate *g)
{
	struct cfg *c = &g->c;

	cfg_text(c, tls_head);
	cfg_text(c, hello);
	put_lookup(g);
	cfg_text(c, blocks);
	vec_each(x, &g->p->ask)
		put_ask(g, x);
	vec_each(x, &g->p->allow)
		put_grant(g, x);
	vec_each(x, &g->p->deny)
		put_denial(g, x);
	put_credentials(g);
	cfg_text(c, g->asks ? verdict_answered : verdict);
	if (any_unseen(g))
		cfg_text(c, unseen);
	cfg_text(c, passed);
	cfg_text(c, g->asks ? granted_answered : granted);
	cfg_text(c, allowed);
	if (g->p->any_bump)
		cfg_text(c, decrypts);
	cfg_text(c, refused_from_here);
	gate_match_misses(g, &gate_scope_tls);
	cfg_text(c, denied);
	cfg_text(c, g->p->any_bump ? decrypted_or_passed_on : passed_on);
}
