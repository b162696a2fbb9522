/*
 * The part of gate.cfg that reads a ClientHello: whom the client calls, and
 * whether what it says to them is decrypted.
 */
#include "compiler/emit/gate_marks.h"
#include "compiler/emit/gate_tls.cfg.inc"

static void put_splice(struct gate *g)
{
	struct cfg *c = &g->c;
	const char *t = "tcp-request content";

	vec_each(x, &g->p->allow) {
		gate_marks_profile(g, x, MARKS_HELLO, MARKS_FOR(GRANTED), 0);
		buf_addf(c->out, "    %s set-var(sess.rule) str(%.*s) if", t,
			 STR_ARG(x->token));
		gate_match_reached(g, x);
		buf_addc(c->out, '\n');
	}
	cfg_text(c, granted);
	vec_each(x, &g->p->deny) {
		if (x->http)
			continue;
		gate_marks_profile(g, x, MARKS_HELLO, MARKS_FOR(DENIED), 0);
		gate_match_reason(g, t, "sess", "denied");
		gate_match_aimed(g, x);
		buf_addf(c->out, "\n    %s set-var(sess.rule) str(%.*s) if", t,
			 STR_ARG(x->token));
		gate_match_aimed(g, x);
		buf_addc(c->out, '\n');
	}
	cfg_text(c, else_refused);
}

/* Which of them are decrypted. */
static void put_bumps(struct gate *g)
{
	struct cfg *c = &g->c;
	const char *t = "tcp-request content";
	uint32_t n = 0;

	vec_each(x, &g->p->allow) {
		if (!x->bump)
			continue;
		buf_addf(c->out, "    %s set-var(sess.bump) str(1) if", t);
		gate_match_reached(g, x);
		buf_addf(c->out, "%s\n", gate_match_unless_net(g));
	}
	vec_each(x, &g->p->deny) {
		if (!x->http || !x->tls)
			continue;
		buf_addf(c->out, "    %s set-var(sess.bump) str(1) if", t);
		gate_match_aimed(g, x);
		buf_addc(c->out, '\n');
	}
	vec_each(x, &g->in->policy->credentials) {
		(void)x;
		n++;
		cfg_line(c, "%s set-var(sess.bump) str(1) if nc%u pc%u%s", t, n,
			 n, gate_match_unless_net(g));
	}
}

/*
 * A hello without a name: only to an address that is granted as such, and not
 * by the way of addresses where a denied name leads.
 */
static void put_nameless(struct gate *g)
{
	struct cfg *c = &g->c;
	const char *t = "tcp-request content";

	if (!g->p->any_net) {
		gate_marks_default(g, MARKS_HELLO, MARKS_FOR(NO_SNI));
		cfg_text(c, named);
		gate_match_lookup(g, t, "sess");
		return;
	}
	cfg_text(c, nameless);
	gate_match_lookup(g, t, "sess");
	gate_marks_default(g, MARKS_HELLO, MARKS_FOR(NO_SNI));
	cfg_text(c, nameless_net);
}

/* No request behind it is seen, and one that is denied might be. */
static void put_nameless_denied(struct gate *g)
{
	const char *t = "tcp-request content";

	if (!g->p->any_net)
		return;
	vec_each(x, &g->p->deny) {
		if (!x->http || !x->tls || x->who == PROFILE_NAME)
			continue;
		gate_marks_profile(g, x, MARKS_HELLO, MARKS_FOR(NO_SNI), 0);
		gate_match_reason(g, t, "sess", "no-sni");
		buf_adds(g->c.out, " nameless");
		gate_match_aimed(g, x);
		buf_addc(g->c.out, '\n');
	}
	cfg_text(&g->c, nameless_denied);
}

void gate_tls_put(struct gate *g)
{
	struct cfg *c = &g->c;

	cfg_text(c, tls_head);
	gate_match_acls(g, "sess");
	gate_match_credential_acls(g, "sess");
	cfg_text(c, hello);
	put_nameless(g);
	gate_match_misses(g, "tcp-request content", "sess");
	put_splice(g);
	put_bumps(g);
	put_nameless_denied(g);
	cfg_text(c, passed);
	cfg_text(c, g->p->any_bump ? decrypted : passed_on);
}
