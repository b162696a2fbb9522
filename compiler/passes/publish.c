/* `ports`: each place of the machine leads to one port inside. */
#include "compiler/ir/published.h"
#include "compiler/ir/text.h"
#include "compiler/passes/parts.h"

static bool is_same_place(const struct ir_text *x, const struct ir_text *y)
{
	struct ir_published p, q;

	return !published_parse(x->s, &p) && !published_parse(y->s, &q) &&
	       p.port == q.port && addr_eq(&p.addr, &q.addr);
}

bool publish_settle(struct pass_ctx *c, struct ir_policy *p)
{
	bool ok = true;

	p->ports = ir_texts_sorted(c->a, &p->ports);
	vec_each(x, &p->ports)
		for (const struct ir_text *y = p->ports.v; y < x; y++) {
			if (!is_same_place(x, y))
				continue;
			diag_error(c->diags, DIAG_PUBLISHED, x->from.at,
				   "'%s' and '%s' publish one port twice",
				   diag_quote(c->diags, y->s),
				   diag_quote(c->diags, x->s));
			diag_note(c->diags, y->from.at, "here");
			diag_help(c->diags,
				  "give one of them another port in front");
			ok = false;
		}
	return ok;
}
