/* A difference of two policies, for a pull request's comment. */
#include "compiler/cli/review/diff.h"
#include "compiler/cli/text/markdown.h"

/* Bytes of one line of ours: a pattern may be longer than is read. */
#define LINE_MAX_BYTES 400u
/* Room that the last lines need, whatever is cut before them. */
#define TAIL 512u

struct writer {
	const struct diff *d;
	struct buf *out;
	uint32_t cut; /* differences that there was no room for */
};

/* A line of a block, cut between characters. */
static void put_line(struct buf *b, const char *mark, struct str text)
{
	size_t n = text.n;

	if (n > LINE_MAX_BYTES) {
		n = LINE_MAX_BYTES;
		while (n && ((unsigned char)text.p[n] & 0xc0) == 0x80)
			n--;
	}
	buf_addf(b, "%s%.*s%s\n", mark, (int)n, text.p, n < text.n ? "…" : "");
}

static struct str change_text(const struct diff *d,
			      const struct access_change *c)
{
	static const char *const marks[] = {[ACCESS_GAINED] = "+ ",
					    [ACCESS_LOST] = "- ",
					    [ACCESS_OTHER] = "! ",
					    [ACCESS_KEPT] = "  "};
	struct changes_words w = changes_words(&d->access, c);
	struct buf b;

	buf_init(&b, d->a);
	put_line(&b, marks[c->way],
		 arena_fmt(d->a, "%s%s", w.text.p, w.label));
	if (w.request.n && c->way == ACCESS_KEPT)
		put_line(&b, "      ", w.request);
	else if (w.request.n)
		put_line(&b, "      ",
			 arena_fmt(d->a, "%s: %s → %s", w.request.p, w.was,
				   w.is));
	if (w.rule.n)
		put_line(&b, c->why_old ? "      no longer: " : "      by ",
			 w.rule);
	if (w.source.n)
		put_line(&b, "      at ", w.source);
	if (w.before.n)
		put_line(&b, "      before by ",
			 arena_fmt(d->a, "%s%s%s", w.before.p,
				   w.before_source.n ? " at " : "",
				   w.before_source.n ? w.before_source.p : ""));
	return buf_str(&b);
}

/* The block of one way, as far as there is room in the comment. */
static void put_section(struct writer *w, enum access_way way, bool open)
{
	const struct diff *d = w->d;
	uint32_t n = d->access.n[way], shown = 0;
	struct buf text;

	if (n == 0)
		return;
	buf_init(&text, d->a);
	vec_each(c, &d->access.found.changes) {
		struct str one;

		if (c->way != way)
			continue;
		one = change_text(d, c);
		if (w->out->n + text.n + one.n + TAIL > MARKDOWN_MAX)
			break;
		buf_add(&text, one);
		shown++;
	}
	w->cut += n - shown;
	if (shown == 0)
		return;
	buf_addf(w->out, "\n<details%s><summary>%s %s</summary>\n\n",
		 open ? " open" : "", view_number(d->a, n).p,
		 changes_way_name(way));
	markdown_block(w->out, "diff", buf_str(&text));
	buf_adds(w->out, "\n</details>\n");
}

/* Folded, and the first to be cut: reviewers look at what changed. */
static void put_kept(struct writer *w)
{
	const struct diff *d = w->d;
	uint32_t n = d->access.found.kept.n, shown = 0;
	struct buf text;

	buf_init(&text, d->a);
	vec_each(c, &d->access.found.kept) {
		struct str one = change_text(d, c);

		if (w->out->n + text.n + one.n + TAIL > MARKDOWN_MAX)
			break;
		buf_add(&text, one);
		shown++;
	}
	if (shown == 0)
		return;
	buf_addf(
		w->out,
		"\n<details><summary>%s unchanged: a request that both permit, and the rule%s</summary>\n\n",
		view_number(d->a, n).p, n == 1 ? "" : "s");
	markdown_block(w->out, "diff", buf_str(&text));
	buf_adds(w->out, "\n</details>\n");
	if (shown < n)
		buf_addf(
			w->out,
			"\n%s of what is unchanged %s not shown: `membrane diff --unchanged` lists all.\n",
			view_number(d->a, n - shown).p,
			n - shown == 1 ? "is" : "are");
}

static void put_places(struct writer *w)
{
	const struct changes *x = &w->d->access;
	const struct third_party_hit *any = NULL;
	struct buf text;

	if (x->places.n == 0)
		return;
	buf_init(&text, x->a);
	vec_each(h, &x->places) {
		if (h->grant->dest.kind == IR_DEST_ANY)
			any = h;
		else if (w->out->n + text.n + 2 * LINE_MAX_BYTES + TAIL <
			 MARKDOWN_MAX)
			put_line(&text, "",
				 arena_fmt(x->a, "%s  %s",
					   changes_place(x, h).p,
					   h->place->what));
	}
	if (any)
		put_line(&text, "", changes_place(x, any));
	buf_addf(
		w->out,
		"\n<details open><summary>others can now read what is sent to %s place%s</summary>\n\n",
		view_number(x->a, x->places.n).p, x->places.n == 1 ? "" : "s");
	markdown_block(w->out, "text", buf_str(&text));
	buf_adds(w->out, "\n</details>\n");
}

static void put_pods(struct writer *w)
{
	static const char *const marks[] = {[ACCESS_GAINED] = "+ ",
					    [ACCESS_LOST] = "- ",
					    [ACCESS_OTHER] = "! "};
	uint32_t shown = 0;
	struct buf text;

	if (w->d->pods.n == 0)
		return;
	buf_init(&text, w->d->a);
	vec_each(p, &w->d->pods) {
		if (w->out->n + text.n + LINE_MAX_BYTES + TAIL > MARKDOWN_MAX)
			break;
		put_line(&text, marks[p->way], diff_pods_text(w->d->a, p));
		shown++;
	}
	w->cut += w->d->pods.n - shown;
	buf_addf(
		w->out,
		"\n<details open><summary>%s of the Pods</summary>\n\n",
		view_number(w->d->a, w->d->pods.n).p);
	markdown_block(w->out, "diff", buf_str(&text));
	buf_adds(w->out, "\n</details>\n");
}

static void put_remark(struct writer *w, const struct operand *s)
{
	struct str text = diff_remark(w->d->a, s);

	if (text.n == 0)
		return;
	buf_addc(w->out, '\n');
	markdown_block(w->out, "text", arena_fmt(w->d->a, "%s\n", text.p));
}

struct str diff_markdown(const struct diff *d)
{
	enum changes_verdict verdict = diff_verdict(d);
	struct str summary = changes_summary(&d->access);
	struct buf out;
	struct writer w = {.d = d, .out = &out};

	buf_init(&out, d->a);
	buf_addf(&out, "### membrane: %s\n\n", changes_verdict_about(verdict));
	markdown_code(&out, str_slice(d->old->label, 0, LINE_MAX_BYTES));
	buf_adds(&out, " → ");
	markdown_code(&out, str_slice(d->now->label, 0, LINE_MAX_BYTES));
	buf_addf(&out, "%s%s\n", summary.n ? ": " : "", summary.p);
	put_remark(&w, d->old);
	put_remark(&w, d->now);
	put_places(&w);
	put_section(&w, ACCESS_GAINED, true);
	put_pods(&w);
	put_section(&w, ACCESS_OTHER, true);
	put_section(&w, ACCESS_LOST, false);
	if (!w.cut)
		put_kept(&w);
	else
		buf_addf(
			&out,
			"\n**%s differences are not shown**: a comment has no room for them. `membrane diff` lists all.\n",
			view_number(d->a, w.cut).p);
	return buf_str(&out);
}

struct str diff_markdown_refused(const struct operand *s)
{
	struct arena *a = s->c.a;
	struct buf out, text;

	buf_init(&text, a);
	diags_print(&s->c.diags, &text, false);
	buf_init(&out, a);
	buf_adds(&out, "### membrane: refused\n\n");
	markdown_code(&out, str_slice(s->label, 0, LINE_MAX_BYTES));
	buf_adds(&out, " is no policy, so there is nothing to compare\n\n");
	if (text.n < MARKDOWN_MAX - TAIL)
		markdown_block(&out, "text", buf_str(&text));
	return buf_str(&out);
}
