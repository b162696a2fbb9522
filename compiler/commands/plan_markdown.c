#include "compiler/commands/plan_markdown.h"

#include "compiler/commands/plan_view.h"

/* Wider than a terminal: GitHub scrolls a block sideways. */
#define WIDTH 100

/*
 * A fence longer than any run of backticks inside: nothing that a policy says
 * gets out of the block.
 */
static unsigned fence_for(struct str text)
{
	unsigned longest = 0, run = 0;

	for (size_t i = 0; i < text.n; i++) {
		run = text.p[i] == '`' ? run + 1 : 0;
		if (run > longest)
			longest = run;
	}
	return longest < 3 ? 3 : longest + 1;
}

static void block(struct buf *out, const char *language, struct str text)
{
	unsigned fence = fence_for(text);

	for (unsigned i = 0; i < fence; i++)
		buf_addc(out, '`');
	buf_addf(out, "%s\n", language);
	buf_add(out, text);
	for (unsigned i = 0; i < fence; i++)
		buf_addc(out, '`');
	buf_addc(out, '\n');
}

static void additions(struct buf *out, const struct plan_model *m)
{
	struct buf text;

	if (m->adds.adds.n == 0)
		return;
	buf_init(&text, m->a);
	vec_each(t, &m->adds.adds) {
		struct str at = model_source(m, t->from);

		buf_addf(&text, "+ %s%s%s\n", view_cleaned(m->a, t->s).p,
			 at.n ? "   # " : "", at.n ? at.p : "");
	}
	buf_addf(out, "\n**The workspace adds %s to the policy:**\n\n",
		 m->adds.adds.n == 1
			 ? "one thing"
			 : arena_fmt(m->a, "%u things", m->adds.adds.n).p);
	block(out, "diff", buf_str(&text));
}

void plan_markdown(struct buf *out, const struct plan_model *m)
{
	struct buf text;
	struct view v = {&text, WIDTH, false};
	unsigned denials = 0;

	vec_each(g, &m->policy->deny)
		denials += g->from.layer != LAYER_FLOOR;

	buf_init(&text, m->a);
	plan_view(&v, m);
	buf_addf(out, "### membrane plan `%.12s`\n\n", m->digest);
	buf_addf(out,
		 "%u grants, %u denials, %u hidden and %u read-only "
		 "patterns, %u residual risks, %u warnings%s\n",
		 m->policy->allow.n, denials, m->policy->ignore.n,
		 m->policy->readonly.n, m->risks.n, m->diags->warnings,
		 m->refused.errors ? "; **this version refuses to run it**"
				   : "");
	additions(out, m);
	buf_adds(out, "\n<details><summary>The whole plan</summary>\n\n");
	block(out, "text", buf_str(&text));
	buf_adds(out, "\n</details>\n");
}
