/*
 * The plan as Markdown, for a comment under a pull request: the text of `plan`
 * with what changed on top. Pure.
 */
#include "compiler/cli/plan/views.h"

#include "compiler/cli/text/markdown.h"

static void put_additions(struct buf *out, const struct plan_model *m)
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
	markdown_block(out, "diff", buf_str(&text));
}

void plan_markdown(struct buf *out, const struct plan_model *m)
{
	struct buf text;
	struct view v = {&text, MARKDOWN_WIDTH, false};
	unsigned denials = 0;

	vec_each(g, &m->policy->deny)
		denials += g->from.layer != LAYER_FLOOR;

	buf_init(&text, m->a);
	plan_view(&v, m);
	buf_addf(out, "### membrane plan `%.12s`\n\n", m->digest);
	buf_addf(
		out,
		"%u grants, %u denials, %u hidden and %u read-only patterns, %u residual risks, %u warnings%s\n",
		m->policy->allow.n, denials, m->policy->ignore.n,
		m->policy->readonly.n, m->risks.n, m->diags->warnings,
		m->refused.errors ? "; **this version refuses to run it**"
				  : "");
	put_additions(out, m);
	buf_adds(out, "\n<details><summary>The whole plan</summary>\n\n");
	markdown_block(out, "text", buf_str(&text));
	buf_adds(out, "\n</details>\n");
}
