#include "compiler/cli/explain/explain_view.h"

#include "compiler/cli/review/changes.h"

#include "compiler/ir/text.h"

#include <stdlib.h>

#define LINE_COLUMNS 18 /* "gate.cfg:160" */

struct page {
	const struct view *v;
	struct arena *a;
	const struct compilation *c;
	const struct explanation *e;
};

static void end_line(const struct page *p)
{
	buf_addc(p->v->out, '\n');
}

/* The widest of the answers that there are. */
static const char *answer_text(enum ir_lasts l)
{
	switch (l) {
	case IR_LASTS_ONCE:
		return "a person may permit it once";
	case IR_LASTS_SESSION:
		return "a person may permit it once or for the session";
	case IR_LASTS_ALWAYS:
		return "a person may permit it once, for the session or always";
	}
	abort();
}

static void put_verdict(const struct page *p)
{
	static const struct {
		enum view_paint paint;
		const char *s, *blanks;
	} words[] = {[VERDICT_DENY] = {VIEW_BAD, "denied", "   "},
		     [VERDICT_ASK] = {VIEW_WARN, "asked", "    "},
		     [VERDICT_ALLOW] = {VIEW_GOOD, "allowed", "  "}};
	const struct decision *d = &p->e->decision;
	struct str text = ir_request_text(p->a, p->e->request);

	view_paint(p->v, words[d->verdict].paint, str_of(words[d->verdict].s));
	buf_adds(p->v->out, words[d->verdict].blanks);
	view_clean(p->v->out, text);
	buf_addf(p->v->out, "\n         %s: %s\n", reason_name(d->reason),
		 explain_model_about(p->e));
	if (d->verdict == VERDICT_ASK)
		buf_addf(p->v->out, "         %s, within %s\n",
			 answer_text(d->grant->lasts.v),
			 ir_wait_text(p->a, d->grant).p);
}

/* --- the rule ------------------------------------------------------------ */

static const char *role_text(const struct explanation *e)
{
	bool allow = e->decision.verdict == VERDICT_ALLOW;

	switch (e->rule.kind) {
	case EXPLAIN_ALLOW:
		return allow ? "permitted here"
			     : "this grant comes nearest, and is not enough";
	case EXPLAIN_ASK:
		return "asked about here";
	case EXPLAIN_DENY:
		return "denied here";
	case EXPLAIN_IGNORE:
		return allow ? "taken back here" : "hidden here";
	case EXPLAIN_READONLY:
		return allow ? "taken back here" : "made read-only here";
	case EXPLAIN_PROTECT:
		return "for one program alone here";
	case EXPLAIN_ARG:
		return "given here";
	}
	abort();
}

static uint32_t line_of(const struct page *p, struct span at)
{
	return sources_place(&p->c->sources, at).line;
}

static void put_rule(const struct page *p)
{
	const struct explanation *e = p->e;
	struct span at;

	if (!e->has_rule)
		return;
	end_line(p);
	at = e->rule.from->at;
	diags_show(&p->c->diags, p->v->out, at, str_of(role_text(e)),
		   p->v->colour);
	vec_each(h, &e->http)
		if (line_of(p, *h) != line_of(p, at))
			diags_show(&p->c->diags, p->v->out, *h,
				   e->decision.verdict != VERDICT_DENY ||
						   e->rule.kind == EXPLAIN_DENY
					   ? STR("by this rule")
					   : STR("this is the rule of it"),
				   p->v->colour);
}

static void put_held(const struct page *p)
{
	const struct explain_held *h = &p->e->held;

	if (h->text.n == 0)
		return;
	end_line(p);
	if (h->source.n)
		buf_addf(p->v->out, "%.*s:%u: ", STR_ARG(h->source), h->line);
	buf_addf(p->v->out, "%.*s\n", STR_ARG(h->text));
}

/* --- others -------------------------------------------------------------- */

static struct str place_text(const struct page *p, struct span at)
{
	struct place place = sources_place(&p->c->sources, at);

	if (!place.source)
		return (struct str){0};
	return arena_fmt(p->a, "%.*s:%u",
			 STR_ARG(view_cleaned(p->a, place.source->name)),
			 place.line);
}

/* Whether an earlier rule of the list would say the same. */
static bool said_before(const explain_rules *list, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (list->v[k].reason == list->v[i].reason &&
		    list->v[k].verdict == list->v[i].verdict)
			return true;
	return false;
}

/* Those that would say the same as number i, alone. */
static void others_like(const struct page *p, uint32_t i)
{
	const explain_rules *list = &p->e->others;
	const struct explain_rule *like = &list->v[i];
	uint32_t n = 0, all = 0;

	buf_addf(p->v->out, "  would %s%s it", verdict_name(like->verdict),
		 like->verdict == VERDICT_ASK ? " about" : "");
	if (like->verdict == VERDICT_DENY)
		buf_addf(p->v->out, ": %s", reason_name(like->reason));
	end_line(p);
	vec_each(r, list)
		all += r->reason == like->reason && r->verdict == like->verdict;
	vec_each(r, list) {
		if (r->reason != like->reason || r->verdict != like->verdict)
			continue;
		if (view_more(p->v, 4, n++, all))
			return;
		view_row(p->v, 4, VIEW_PLAIN,
			 arena_fmt(p->a, "%s %.*s", explain_kind_name(r->kind),
				   STR_ARG(view_cleaned(p->a, r->text))),
			 place_text(p, r->from->at));
	}
}

static void put_others(const struct page *p)
{
	const explain_rules *list = &p->e->others;

	if (list->n == 0)
		return;
	view_title(p->v, "also speak of it, and if alone", list->n, "rule");
	for (uint32_t i = 0; i < list->n; i++)
		if (!said_before(list, i))
			others_like(p, i);
}

/* --- artefacts ----------------------------------------------------------- */

static void put_line(const struct page *p, const struct explain_line *l)
{
	struct str at = arena_fmt(p->a, "%s:%u", l->file, l->line);
	struct str text = view_cleaned(p->a, str_trim(l->text));
	unsigned used = (unsigned)at.n + 2, room;

	buf_addf(p->v->out, "  %.*s", STR_ARG(at));
	while (used++ < LINE_COLUMNS + 2)
		buf_addc(p->v->out, ' ');
	room = p->v->width > used ? p->v->width - used : 20;
	if (view_columns(text) > room)
		text = arena_fmt(p->a, "%.*s…",
				 STR_ARG(view_cut(text, room - 1)));
	buf_addf(p->v->out, " ");
	view_paint(p->v, VIEW_DIM, text);
	end_line(p);
}

/* What there is to say where no line carries it. */
static const char *no_line(const struct explanation *e)
{
	switch (e->request->kind) {
	case IR_REQ_CONNECT:
	case IR_REQ_HTTP:
		return "no line of the plan speaks of it";
	case IR_REQ_RESOLVE:
		if (e->decision.reason == REASON_ASK)
			return "no line of the plan speaks of it";
		return e->decision.reason == REASON_NO_GRANT
			       ? "names.map has no line for the name, so it does not resolve"
			       : "the resolver itself: no line of names.map";
	case IR_REQ_READ:
	case IR_REQ_WRITE:
		return e->held.text.n && !e->has_rule
			       ? "no line: it follows from the workspace as it is now"
			       : "no line of mounts.plan matches it";
	case IR_REQ_ARG:
		return "no word of docker.json";
	}
	abort();
}

static void put_lines(const struct page *p)
{
	const struct explanation *e = p->e;

	view_title(p->v, "carried by", e->lines.n, e->lines.n ? "line" : NULL);
	if (e->lines.n == 0)
		buf_addf(p->v->out, "  %s\n", no_line(e));
	for (uint32_t i = 0; i < e->lines.n; i++) {
		if (view_more(p->v, 2, i, e->lines.n))
			break;
		put_line(p, &e->lines.v[i]);
	}
}

/* --- edits --------------------------------------------------------------- */

static void put_changed(const struct page *p, char sign, const struct str *text)
{
	view_paint(p->v, sign == '+' ? VIEW_GOOD : VIEW_BAD,
		   arena_fmt(p->a, "    %c %.*s", sign,
			     STR_ARG(view_cleaned(p->a, *text))));
	end_line(p);
}

#define EFFECTS_SHOWN 4u

static void put_effects(const struct page *p, const struct explain_edit *x)
{
	for (uint32_t i = 0; i < x->effects.n; i++) {
		const struct explain_effect *e = &x->effects.v[i];
		struct str text = view_cleaned(p->a, e->text);

		if (i == EFFECTS_SHOWN) {
			buf_addf(p->v->out, "      and %u more\n",
				 x->effects.n - i);
			return;
		}
		view_row(p->v, 6, VIEW_DIM,
			 arena_fmt(p->a, "%s %.*s", changes_way_name(e->way),
				   STR_ARG(text)),
			 (struct str){0});
	}
}

static void put_edit(const struct page *p, const struct explain_edit *x)
{
	vec_each(f, &x->left_out)
		buf_addf(p->v->out, "  leave out '%.*s' on the command line\n",
			 STR_ARG(view_cleaned(p->a, *f)));
	vec_each(h, &x->hunks) {
		if (h->is_new)
			buf_addf(p->v->out, "  %.*s, a new file\n",
				 STR_ARG(h->file));
		else
			buf_addf(p->v->out, "  %.*s:%u\n", STR_ARG(h->file),
				 h->line);
		vec_each(gone, &h->gone)
			put_changed(p, '-', gone);
		vec_each(come, &h->come)
			put_changed(p, '+', come);
	}
	put_effects(p, x);
}

static void put_edits(const struct page *p, const struct explain_flip *flip)
{
	view_title(p->v,
		   explain_edits_turned(&p->e->decision) == VERDICT_DENY
			   ? "what would deny it"
			   : "what would allow it",
		   0, NULL);
	vec_each(x, &flip->edits) {
		if (x != flip->edits.v)
			buf_adds(p->v->out, "  or\n");
		put_edit(p, x);
	}
	vec_each(n, &flip->notes) {
		view_paragraph(p->v, str_of(*n));
	}
}

static void put_assumed(const struct page *p)
{
	struct buf b;

	if (p->e->assumed.n == 0)
		return;
	buf_init(&b, p->a);
	buf_adds(&b, "as if ");
	vec_each(s, &p->e->assumed)
		buf_addf(&b, "%s%s", s == p->e->assumed.v ? "" : "; and ", *s);
	end_line(p);
	view_wrap(p->v, 0, 0, buf_str(&b));
}

void explain_view(const struct view *v, const struct compilation *c,
		  const struct explanation *e, const struct explain_flip *flip)
{
	struct page p = {v, c->a, c, e};

	put_verdict(&p);
	put_rule(&p);
	put_held(&p);
	put_others(&p);
	put_lines(&p);
	put_edits(&p, flip);
	put_assumed(&p);
}
