/*
 * Files that were changed, with what differs from the commit; files that likely
 * hold secrets; how the policy was changed; and what this page leaves out.
 */
#include "compiler/cli/report/parts.h"

#include "compiler/cli/text/view.h"

#define CONTEXT		3u   /* lines around a change */
#define LINES_MAX	160u /* of one diff */
#define LINE_BYTES	300u
#define PATH_BYTES	300u
#define OTHERS_MAX	40u /* files outside of the workspace */
#define FILES_MAX	400u
#define ROWS_MAX	100u
#define DIFFS_OPEN	6u /* more are folded */
#define IGNORED_FOLDERS 40u

/* --- one diff ------------------------------------------------------------- */

static bool is_near_change(const struct linediff *d, uint32_t i)
{
	uint32_t from = i > CONTEXT ? i - CONTEXT : 0;

	for (uint32_t k = from; k < d->v.n && k <= i + CONTEXT; k++)
		if (d->v.v[k].kind != LINEDIFF_SAME)
			return true;
	return false;
}

static void put_line(struct html *h, struct arena *a,
		     const struct linediff_line *l)
{
	static const char *const as[] = {"line", "line add", "line del"};
	static const char mark[] = " +-";

	html_open(h, HTML_SPAN, as[l->kind]);
	html_textf(h, "%c", mark[l->kind]);
	html_text(h, texts_cut(a, l->text, LINE_BYTES));
	html_close(h);
}

static void put_diff(struct html *h, struct arena *a, const struct linediff *d)
{
	uint32_t shown = 0, i = 0;
	bool was_near = false;

	html_open(h, HTML_PRE, NULL);
	for (; i < d->v.n && shown < LINES_MAX && SHOWN_ROOM(h, SHOWN_FILES);
	     i++) {
		const struct linediff_line *l = &d->v.v[i];
		bool near = is_near_change(d, i);

		if (near && !was_near)
			html_leaff(h, HTML_SPAN, "line hunk", "line %u",
				   l->new_line ? l->new_line : l->old_line);
		was_near = near;
		if (!near)
			continue;
		put_line(h, a, l);
		shown++;
	}
	html_close(h);
	for (; i < d->v.n && !is_near_change(d, i); i++)
		;
	if (i < d->v.n)
		page_note(h, "The rest: git diff HEAD");
}

/* --- files ---------------------------------------------------------------- */

static void put_stat(struct html *h, const struct compared *c)
{
	html_open(h, HTML_SPAN, "stat");
	if (c->is_new)
		html_leaf(h, HTML_SPAN, "good", STR("new"));
	if (c->is_gone)
		html_leaf(h, HTML_SPAN, "bad", STR("gone"));
	if (c->how == COMPARED_DIFF) {
		html_leaff(h, HTML_SPAN, "good", "+%u", c->diff.added);
		html_leaff(h, HTML_SPAN, "bad", "−%u", c->diff.removed);
	}
	html_close(h);
}

static void put_name(struct html *h, struct arena *a, const struct file *f)
{
	html_leaf(h, HTML_CODE, NULL, texts_tail(a, f->path, PATH_BYTES));
	html_leaff(h, HTML_SPAN, "times", "  %s by %.*s",
		   page_count(a, f->writes, "change", "changes").p,
		   STR_ARG(f->program));
}

/* c: NULL where nothing was compared. */
static void put_file(struct html *h, struct arena *a, const struct file *f,
		     const struct compared *c, bool is_open)
{
	bool has_diff = c && c->how == COMPARED_DIFF;

	html_open(h, has_diff ? HTML_DETAILS : HTML_DIV,
		  has_diff ? NULL : "file");
	if (has_diff && is_open)
		html_attr(h, HTML_ATTR_OPEN, STR("open"));
	if (has_diff)
		html_open(h, HTML_SUMMARY, NULL);
	if (c)
		put_stat(h, c);
	put_name(h, a, f);
	if (c && c->how == COMPARED_SAME)
		html_leaf(h, HTML_SPAN, "times", STR(" – as committed"));
	if (c && c->how == COMPARED_HIDDEN)
		html_leaff(h, HTML_SPAN, "times", " – not shown: %s", c->why);
	if (!c && f->removed)
		html_leaf(h, HTML_SPAN, "times", STR(" – removed"));
	if (has_diff) {
		html_close(h);
		put_diff(h, a, &c->diff);
	}
	html_close(h);
}

/* Folders with files that git ignores: as many as there are, a line each. */
struct ignored {
	struct texts *folders;
	uint64_t files[IGNORED_FOLDERS];
	uint64_t more;
};

static void note_ignored(struct ignored *g, struct str path)
{
	struct str folder = str_slice(path, 0, str_find(path, '/', 0));
	uint32_t i = texts_index(g->folders, folder,
				 g->folders->v.n < IGNORED_FOLDERS);

	if (i)
		g->files[i - 1]++;
	else
		g->more++;
}

static void put_ignored(struct html *h, struct arena *a,
			const struct ignored *g)
{
	for (uint32_t i = 0; i < g->folders->v.n; i++) {
		html_open(h, HTML_DIV, "file");
		html_leaf(h, HTML_CODE, NULL,
			  texts_cut(a, g->folders->v.v[i], PATH_BYTES));
		html_leaff(h, HTML_SPAN, "times",
			   "  %s – not shown: ignored by git",
			   page_count(a, g->files[i], "file", "files").p);
		html_close(h);
	}
	if (g->more)
		page_note(h, "%s more that git ignores",
			  page_count(a, g->more, "file", "files").p);
}

/* What differs first, then what is not shown. */
static uint64_t put_own(struct html *h, struct report *r,
			const struct comparing *cmp)
{
	struct ignored g = {arena_new_of(r->a, struct texts), {0}, 0};
	uint64_t left_out = 0;

	g.folders->a = r->a;
	html_open(h, HTML_DIV, "files");
	for (int pass = 0; pass < 2; pass++) {
		uint32_t i = 0, shown = 0;

		vec_each(f, &r->files.v) {
			const struct compared *c = NULL;
			bool has_diff;

			if (!f->in_workspace || !f->writes)
				continue;
			if (i < cmp->v.n)
				c = &cmp->v.v[i++];
			has_diff = c && c->how == COMPARED_DIFF;
			if (has_diff != (pass == 0))
				continue;
			if (c && c->is_ignored)
				note_ignored(&g, f->path);
			else if (shown++ < FILES_MAX &&
				 SHOWN_ROOM(h, SHOWN_FILES))
				put_file(h, r->a, f, c,
					 cmp->diffs <= DIFFS_OPEN);
			else
				left_out++;
		}
	}
	put_ignored(h, r->a, &g);
	html_close(h);
	return left_out;
}

static void put_others(struct html *h, struct report *r)
{
	uint64_t n = 0;

	vec_each(f, &r->files.v)
		n += !f->in_workspace && f->writes;
	if (n == 0)
		return;
	html_open(h, HTML_DETAILS, NULL);
	html_leaff(h, HTML_SUMMARY, "dim", "%s elsewhere",
		   page_count(r->a, n, "file", "files").p);
	html_open(h, HTML_UL, NULL);
	n = 0;
	vec_each(f, &r->files.v) {
		if (f->in_workspace || !f->writes)
			continue;
		if (n++ == OTHERS_MAX || !SHOWN_ROOM(h, SHOWN_FILES)) {
			html_leaf(h, HTML_LI, "dim", STR("and more"));
			break;
		}
		html_open(h, HTML_LI, NULL);
		put_name(h, r->a, f);
		html_close(h);
	}
	html_close(h);
	html_close(h);
}

void shown_files(struct html *h, struct report *r)
{
	struct comparing cmp;
	uint64_t own = 0, left_out;

	vec_each(f, &r->files.v)
		own += f->in_workspace && f->writes;
	page_section(h, "changed", "Files it changed",
		     r->past.paths.n ? page_count(r->a, own, "file", "files")
				     : STR(""));
	if (r->past.paths.n == 0) {
		page_note(h, "Nothing was traced.");
		page_section_end(h);
		return;
	}
	comparing_make(r, &cmp);
	if (cmp.is_repository)
		page_note(
			h,
			"In the workspace, as the trace saw them; against the commit %.*s, which is HEAD now. Contents that the policy hides, that git ignores or that likely are secrets are not shown.",
			STR_ARG(cmp.commit));
	else
		page_note(
			h,
			"In the workspace, as the trace saw them. They are not compared: %.*s.",
			STR_ARG(texts_cut(r->a, cmp.why, 300)));
	left_out = put_own(h, r, &cmp);
	put_others(h, r);
	if (left_out || cmp.left_out || r->files.paths.beyond)
		page_note(
			h,
			"Not all are listed, or compared. All of them: membrane trace show %s 'event == file'; git diff HEAD",
			r->past.about.session.id);
	page_section_end(h);
}

/* --- secrets -------------------------------------------------------------- */

void shown_secrets(struct html *h, struct report *r)
{
	uint32_t n = 0, i = 0;

	vec_each(f, &r->files.v)
		n += f->secret && (f->touches || f->refused);
	page_section(h, "secrets", "Files that look like secrets",
		     n ? page_count(r->a, n, "file", "files") : STR(""));
	if (n == 0)
		page_note(
			h,
			r->past.paths.n
				? "None was opened, by name."
				: "Nothing was traced: which files were opened is not known.");
	if (n) {
		html_open(h, HTML_TABLE, NULL);
		page_columns(h,
			     "|File|>Opened|>Refused|What it likely holds|By");
		html_open(h, HTML_TBODY, NULL);
	}
	vec_each(f, &r->files.v) {
		if (!f->secret || (!f->touches && !f->refused))
			continue;
		if (i == ROWS_MAX || !SHOWN_ROOM(h, SHOWN_SECRETS))
			break;
		i++;
		html_open(h, HTML_TR, NULL);
		html_leaf(h, HTML_TD, f->touches ? "mark warn" : "mark good",
			  f->touches ? STR("opened") : STR("refused"));
		html_open(h, HTML_TD, "name");
		html_leaf(h, HTML_CODE, NULL,
			  texts_tail(r->a, f->path, PATH_BYTES));
		html_close(h);
		html_leaf(h, HTML_TD, "num", view_number(r->a, f->touches));
		html_leaf(h, HTML_TD, "num", view_number(r->a, f->refused));
		html_leaf(h, HTML_TD, NULL, str_of(f->secret));
		html_leaf(h, HTML_TD, NULL, f->program);
		html_close(h);
	}
	if (n) {
		html_close(h);
		html_close(h);
	}
	if (i < n)
		page_note(h, "%u more: membrane trace show %s 'event == file'",
			  n - i, r->past.about.session.id);
	page_section_end(h);
}

/* --- changes -------------------------------------------------------------- */

static void put_texts(struct html *h, const change_log_texts *list,
		      const char *as, const char *mark)
{
	vec_each(t, list) {
		html_leaff(h, HTML_DIV, as, "%s %s", mark, *t);
		if (!SHOWN_ROOM(h, SHOWN_CHANGES))
			break;
	}
}

void shown_changes(struct html *h, struct report *r)
{
	uint32_t i = 0;

	if (r->changes.n == 0)
		return;
	page_section(h, "changes", "Changes of its policy",
		     page_count(r->a, r->changes.n, "change", "changes"));
	html_open(h, HTML_TABLE, NULL);
	page_columns(h, "When|By|What|>Generation|What that changed");
	html_open(h, HTML_TBODY, NULL);
	for (; i < r->changes.n && i < ROWS_MAX && SHOWN_ROOM(h, SHOWN_CHANGES);
	     i++) {
		const struct change_log *c = &r->changes.v[i];

		html_open(h, HTML_TR, NULL);
		html_leaf(h, HTML_TD, NULL, str_of(c->time));
		html_leaf(h, HTML_TD, NULL, str_of(c->name));
		html_open(h, HTML_TD, "name");
		html_leaff(h, HTML_CODE, NULL, "%s %s",
			   c->allow ? "allow" : "deny", c->dest);
		html_close(h);
		html_leaff(h, HTML_TD, "num", "%u", c->generation);
		html_open(h, HTML_TD, NULL);
		put_texts(h, &c->gained, "warn", "+");
		put_texts(h, &c->lost, "good", "−");
		html_close(h);
		html_close(h);
	}
	html_close(h);
	html_close(h);
	if (i < r->changes.n)
		page_note(h, "%u more: changes.jsonl in the session's folder",
			  r->changes.n - i);
	page_section_end(h);
}

/* --- what is not here ----------------------------------------------------- */

void shown_limits(struct html *h, struct report *r)
{
	const char *id = r->past.about.session.id;

	html_open(h, HTML_FOOTER, NULL);
	page_note(
		h,
		"All of what this was made of: membrane logs %s (decisions), membrane trace show %s (events), membrane trace tree %s (processes), membrane trace replay %s (held against a policy).",
		id, id, id, id);
	if (r->places.keys.beyond || r->places.ends.beyond ||
	    r->files.paths.beyond || r->processes.left_out)
		page_note(
			h,
			"There was more than is kept apart here: %llu records of destinations, %llu of files, %llu processes are in no list above.",
			(unsigned long long)(r->places.keys.beyond +
					     r->places.ends.beyond),
			(unsigned long long)r->files.paths.beyond,
			(unsigned long long)r->processes.left_out);
	if (r->places.words.beyond || r->files.programs.beyond)
		page_note(
			h,
			"There were more names than are kept: %s a program, a reason or a file of the policy is left out above, or written as \"…\".",
			page_count(r->a,
				   r->places.words.beyond +
					   r->files.programs.beyond,
				   "time", "times")
				.p);
	if (r->unnamed)
		page_note(h, "Of decisions.jsonl %s.",
			  page_count(r->a, r->unnamed, "line is no decision",
				     "lines are no decisions")
				  .p);
	page_note(
		h,
		"What is invisible or reorders a line is written as \\xNN, secrets that are known by their form as ***. The page loads nothing and runs nothing.");
	html_close(h);
}
