/*
 * The backend of gate.cfg to which what is refused goes: why that is, and what
 * the client is told.
 */
#include "compiler/emit/gate/gate_answers.cfg.inc"
#include "compiler/emit/gate/gate_marks.h"
#include "compiler/ir/http.h"

/* What the reasons below ask for. */
static void put_acls(struct gate *g)
{
	gate_match_schemes(g, &gate_scope_request);
	vec_each(x, &g->p->allow) {
		struct http_rules rules = http_rules(g->in->a, x->like);

		gate_match_acls(g, x, &gate_scope_request);
		for (uint32_t i = 0; i < rules.n; i++)
			if (!http_any_path(&x->like->dest, &rules.v[i]))
				gate_requests_method_acl(g, x, &rules.v[i],
							 i + 1);
	}
}

static void put_wrong_method(struct gate *g)
{
	vec_each(x, &g->p->allow) {
		if (!x->http)
			continue;
		gate_marks_profile(g, x, MARKS_REQUEST, MARKS_FOR(METHOD), 0);
		gate_match_reason(g, &gate_scope_request, "method");
		gate_match_reached(g, x);
		buf_addc(g->c.out, '\n');
	}
}

static void put_wrong_path(struct gate *g)
{
	vec_each(x, &g->p->allow) {
		struct http_rules rules = http_rules(g->in->a, x->like);

		for (uint32_t i = 0; i < rules.n; i++) {
			const struct ir_http *h = &rules.v[i];

			if (http_any_path(&x->like->dest, h))
				continue;
			gate_marks_profile(g, x, MARKS_REQUEST, MARKS_FOR(PATH),
					   i + 1);
			gate_match_reason(g, &gate_scope_request, "path");
			gate_match_reached(g, x);
			gate_requests_method(g, x, h, i + 1);
			buf_addc(g->c.out, '\n');
		}
	}
}

void gate_answers_put(struct gate *g)
{
	cfg_text(&g->c, refused_head);
	put_acls(g);
	cfg_text(&g->c, refused_why);
	gate_match_misses(g, &gate_scope_request);
	put_wrong_method(g);
	put_wrong_path(g);
	if (g->asks)
		cfg_text(&g->c, refused_asked);
	cfg_text(&g->c, refused_denied);
	cfg_text(&g->c, told);
	cfg_text(&g->c, g->asks ? grantable_asked : grantable);
	cfg_text(&g->c, advice);
	if (g->asks)
		cfg_text(&g->c, pages_asked);
	cfg_text(&g->c, pages);
}
