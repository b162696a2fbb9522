/* A difference of two policies, for a terminal. */
#include "compiler/cli/review/diff.h"

/* "main .. HEAD", and what came out. */
static void put_head(const struct view *v, const struct diff *d)
{
	static const enum view_paint paints[] = {
		[CHANGES_SAME] = VIEW_GOOD,
		[CHANGES_COSMETIC] = VIEW_GOOD,
		[CHANGES_NARROWED] = VIEW_GOOD,
		[CHANGES_WIDENED] = VIEW_BAD,
	};
	enum changes_verdict verdict = diff_verdict(d);
	struct str summary = changes_summary(&d->access);

	view_row(v, 0, VIEW_TITLE,
		 arena_fmt(d->a, "%s → %s", d->old->label.p, d->now->label.p),
		 (struct str){0});
	view_paint(v, paints[verdict], str_of(changes_verdict_about(verdict)));
	if (summary.n)
		buf_addf(v->out, ": %s", summary.p);
	buf_addc(v->out, '\n');
}

static void put_remark(const struct view *v, const struct diff *d,
		       const struct operand *s)
{
	struct str text = diff_remark(d->a, s);

	if (text.n == 0)
		return;
	view_paint(v, s->forged ? VIEW_BAD : VIEW_WARN,
		   str_of(s->forged ? "✗ " : "! "));
	view_wrap(v, 2, 2, text);
}

/* What of the Pods changes besides: a line for each field. */
static void put_pods(const struct view *v, const struct diff *d)
{
	static const enum view_paint paints[] = {
		[ACCESS_GAINED] = VIEW_BAD,
		[ACCESS_LOST] = VIEW_GOOD,
		[ACCESS_OTHER] = VIEW_WARN,
	};

	if (d->pods.n)
		view_title(v, "Pods", d->pods.n, NULL);
	vec_each(p, &d->pods) {
		buf_addc(v->out, ' ');
		view_paint(v, paints[p->way],
			   str_of(changes_way_name(p->way)));
		buf_addc(v->out, ' ');
		view_wrap(v, 2, 4, diff_pods_text(d->a, p));
	}
}

void diff_view(const struct view *v, const struct diff *d)
{
	put_head(v, d);
	put_remark(v, d, d->old);
	put_remark(v, d, d->now);
	changes_view(v, &d->access, VIEW_ALL_JSON);
	put_pods(v, d);
	/* Of equal policies nobody asks what they have in common. */
	if (d->unchanged || !compare_equal(&d->access.found))
		changes_view_kept(v, &d->access, d->unchanged);
}
