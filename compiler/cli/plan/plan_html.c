/*
 * The plan as a page: what may be reached, seen and changed, each with the line
 * that says so, what that leaves open, and below it all of the plan as text.
 */
#include "compiler/cli/plan/views.h"

#include "compiler/cli/page/page.h"
#include "compiler/ir/inspection.h"

#define ROWS_MAX   400u	 /* of one table */
#define TEXT_WIDTH 110u	 /* columns of the text below */
#define LINES_MAX  4000u /* of that */
#define DIGEST_HEX 12u

static void put_source(struct html *h, const struct plan_model *m,
		       struct ir_origin from)
{
	html_leaf(h, HTML_TD, "at", model_source(m, from));
}

static void put_left_out(struct html *h, uint32_t n)
{
	if (n > ROWS_MAX)
		page_note(h, "%u more: membrane plan --all", n - ROWS_MAX);
}

static void begin_table(struct html *h, const char *columns)
{
	html_open(h, HTML_TABLE, NULL);
	page_columns(h, columns);
	html_open(h, HTML_TBODY, NULL);
}

static void end_table(struct html *h)
{
	html_close(h);
	html_close(h);
}

/* --- the head ------------------------------------------------------------- */

static void put_fact(struct html *h, const char *name, struct str value,
		     const char *as)
{
	html_open(h, HTML_DIV, NULL);
	html_leaf(h, HTML_DT, NULL, str_of(name));
	html_leaf(h, HTML_DD, as, value);
	html_close(h);
}

static const char *trust_text(const struct plan_model *m)
{
	switch (m->trust) {
	case TRUST_NOTHING:
		return "it adds nothing";
	case TRUST_ALWAYS:
		return "the settings trust it";
	case TRUST_NEVER:
		return "the settings refuse it";
	case TRUST_APPROVED:
		return "approved";
	case TRUST_OPEN:
		return "nobody approved it";
	case TRUST_UNKNOWN:
		return "not known";
	}
	return "";
}

static const char *engine_text(const struct plan_model *m)
{
	return m->by_docker && m->by_native ? "native or Docker"
	       : m->by_native		    ? "native"
					    : "Docker";
}

static void put_head(struct html *h, const struct plan_model *m)
{
	struct buf sources;

	buf_init(&sources, m->a);
	vec_each(s, &m->plan->sources)
		buf_addf(&sources, "%s%.*s", sources.n ? ", " : "",
			 STR_ARG(s->name));
	html_open(h, HTML_HEADER, NULL);
	html_leaff(h, HTML_P, "kind", "membrane plan %.*s", (int)DIGEST_HEX,
		   m->digest);
	html_leaf(h, HTML_H1, NULL, STR("What the agent may do"));
	html_open(h, HTML_DL, "about");
	put_fact(h, "Sources", buf_str(&sources), "mono");
	put_fact(h, "Engine", str_of(engine_text(m)), NULL);
	put_fact(h, "What the workspace's file adds", str_of(trust_text(m)),
		 m->trust == TRUST_OPEN || m->trust == TRUST_NEVER ||
				 m->trust == TRUST_UNKNOWN
			 ? "warn"
			 : NULL);
	html_close(h);
	html_close(h);
}

static void put_figures(struct html *h, const struct plan_model *m)
{
	const struct ir_policy *p = m->policy;
	struct arena *a = m->a;
	uint64_t opened = plan_decrypted(p);

	html_open(h, HTML_DIV, "figures");
	page_figure(h, view_number(a, p->allow.n), "grants", NULL);
	page_figure(h, view_number(a, p->deny.n), "denials", NULL);
	page_figure(h, view_number(a, opened), "decrypted", NULL);
	page_figure(h, view_number(a, p->ignore.n), "patterns hidden", NULL);
	page_figure(h, view_number(a, p->readonly.n), "patterns read-only",
		    NULL);
	page_figure(h, view_number(a, m->reached.n),
		    "places that others can read",
		    m->reached.n ? "warn" : NULL);
	page_figure(h, view_number(a, m->risks.n), "residual risks", NULL);
	html_close(h);
}

/* --- what is refused before anything runs --------------------------------- */

static void put_refused(struct html *h, const struct plan_model *m)
{
	struct diags refused = m->refused; /* which that puts in order */
	struct diag_view one;

	for (unsigned i = 0; diags_get(&refused, i, &one); i++)
		if (one.error)
			html_leaff(
				h, HTML_P, "alert grave",
				"'run' refuses this: %.*s (%.*s)",
				STR_ARG(one.text),
				STR_ARG(view_source(m->a, m->sources, one.at)));
}

/* --- the network ---------------------------------------------------------- */

/* i: of the grants; a denial makes nothing void. */
static void put_grant(struct html *h, const struct plan_model *m,
		      const struct ir_grant *g, bool is_void)
{
	bool allow = g->key != IR_KEY_DENY;

	html_open(h, HTML_TR, NULL);
	html_leaf(h, HTML_TD, allow && !is_void ? "mark good" : "mark bad",
		  is_void ? STR("void")
		  : allow ? STR("allow")
			  : STR("deny"));
	html_open(h, HTML_TD, "name");
	html_leaf(h, HTML_CODE, NULL, g->canon);
	html_close(h);
	html_open(h, HTML_TD, NULL);
	if (is_void)
		html_leaf(h, HTML_SPAN, "bad", STR("denied elsewhere"));
	else if (inspection_opens(m->policy, g))
		html_leaf(h, HTML_SPAN, "warn", STR("decrypted"));
	html_close(h);
	put_source(h, m, g->from);
	html_close(h);
}

static void put_grants(struct html *h, const struct plan_model *m,
		       const char *id, const char *title, const ir_grants *list,
		       const bool *is_void)
{
	uint32_t n = 0, floor = 0;

	vec_each(g, list)
		floor += g->from.layer == LAYER_FLOOR;
	page_section(h, id, title,
		     page_count(m->a, list->n - floor, "line", "lines"));
	if (list->n == floor)
		page_note(h, "Nothing.");
	else
		begin_table(h, "|Destination||Line of the policy");
	for (uint32_t i = 0; i < list->n && n < ROWS_MAX; i++) {
		if (list->v[i].from.layer == LAYER_FLOOR)
			continue;
		put_grant(h, m, &list->v[i], is_void && is_void[i]);
		n++;
	}
	if (list->n > floor)
		end_table(h);
	put_left_out(h, list->n - floor);
	if (floor)
		page_note(h, "%u more are built in: membrane plan --all",
			  floor);
	page_section_end(h);
}

static void put_third_parties(struct html *h, const struct plan_model *m)
{
	uint32_t n = 0;

	if (m->reached.n == 0)
		return;
	page_section(h, "others", "Others can read what is sent to",
		     page_count(m->a, m->reached.n, "place", "places"));
	begin_table(
		h,
		"Place|What goes there|Requests|By the grant|Line of the policy");
	vec_each(x, &m->reached) {
		if (n++ == ROWS_MAX)
			break;
		html_open(h, HTML_TR, NULL);
		html_open(h, HTML_TD, "name");
		html_leaf(h, HTML_CODE, NULL, x->name);
		html_leaff(h, HTML_SPAN, "dim", " %s",
			   third_party_kind_name(x->place->kind));
		html_close(h);
		html_leaf(h, HTML_TD, NULL, str_of(x->place->what));
		html_leaff(h, HTML_TD, NULL, "%s %.*s", x->place->methods,
			   STR_ARG(x->place->path));
		html_leaf(h, HTML_TD, NULL, x->grant->canon);
		put_source(h, m, x->grant->from);
		html_close(h);
	}
	end_table(h);
	put_left_out(h, m->reached.n);
	page_section_end(h);
}

/* --- files ---------------------------------------------------------------- */

static void put_patterns(struct html *h, const struct plan_model *m,
			 const char *id, const char *title,
			 const ir_patterns *list)
{
	uint32_t n = 0, floor = 0;

	vec_each(p, list)
		floor += p->from.layer == LAYER_FLOOR;
	page_section(h, id, title,
		     page_count(m->a, list->n, "pattern", "patterns"));
	if (list->n > floor)
		begin_table(h, "Pattern||Line of the policy");
	vec_each(p, list) {
		if (p->from.layer == LAYER_FLOOR || n++ >= ROWS_MAX)
			continue;
		html_open(h, HTML_TR, NULL);
		html_open(h, HTML_TD, "name");
		html_leaf(h, HTML_CODE, NULL, p->line);
		html_close(h);
		html_leaf(h, HTML_TD, "warn",
			  p->back ? STR("taken back") : STR(""));
		put_source(h, m, p->from);
		html_close(h);
	}
	if (list->n > floor)
		end_table(h);
	put_left_out(h, list->n - floor);
	if (floor)
		page_note(h, "%u are built in: membrane plan --all", floor);
	if (list->n == 0)
		page_note(h, "None.");
	page_section_end(h);
}

/* --- what stays open ------------------------------------------------------ */

static void put_risks(struct html *h, const struct plan_model *m)
{
	page_section(h, "risks", "What it leaves open",
		     page_count(m->a, m->risks.n, "risk", "risks"));
	begin_table(h, "Risk|What it is|First line that it comes from");
	vec_each(r, &m->risks) {
		html_open(h, HTML_TR, NULL);
		html_leaf(h, HTML_TD, "at", str_of(r->id));
		html_leaf(h, HTML_TD, NULL, r->text);
		put_source(h, m, r->from);
		html_close(h);
	}
	end_table(h);
	page_section_end(h);
}

static void put_warnings(struct html *h, const struct plan_model *m)
{
	struct diags all = *m->diags; /* likewise */
	struct diag_view one;
	unsigned n = 0;

	for (unsigned i = 0; diags_get(&all, i, &one); i++)
		n += !one.error;
	if (n == 0)
		return;
	page_section(h, "warnings", "Warnings",
		     page_count(m->a, n, "warning", "warnings"));
	begin_table(h, "Allowed, and hardly meant|Line of the policy");
	for (unsigned i = 0; diags_get(&all, i, &one); i++) {
		if (one.error)
			continue;
		html_open(h, HTML_TR, NULL);
		html_open(h, HTML_TD, NULL);
		html_text(h, one.text);
		if (one.help.n)
			html_leaf(h, HTML_DIV, "dim", one.help);
		html_close(h);
		html_leaf(h, HTML_TD, "at",
			  view_source(m->a, m->sources, one.at));
		html_close(h);
	}
	end_table(h);
	page_section_end(h);
}

static void put_additions(struct html *h, const struct plan_model *m)
{
	uint32_t n = 0;

	if (m->adds.adds.n == 0)
		return;
	page_section(h, "added", "What the workspace's file adds",
		     page_count(m->a, m->adds.adds.n, "addition", "additions"));
	page_note(h, "To the policy of whoever runs it; %s.", trust_text(m));
	begin_table(h, "Addition|Line of the policy");
	vec_each(t, &m->adds.adds) {
		if (n++ == ROWS_MAX)
			break;
		html_open(h, HTML_TR, NULL);
		html_open(h, HTML_TD, "name");
		html_leaf(h, HTML_CODE, NULL, t->s);
		html_close(h);
		put_source(h, m, t->from);
		html_close(h);
	}
	end_table(h);
	put_left_out(h, m->adds.adds.n);
	page_section_end(h);
}

/* --- all of it ------------------------------------------------------------ */

static void put_text(struct html *h, const struct plan_model *m)
{
	struct str rest, line;
	uint32_t n = 0;
	struct buf text;
	struct view v = {&text, TEXT_WIDTH, false};

	buf_init(&text, m->a);
	plan_view(&v, m);
	page_section(h, "text", "All of it, as text", STR(""));
	html_open(h, HTML_DETAILS, NULL);
	html_leaf(
		h, HTML_SUMMARY, NULL,
		STR("How it is run, traced and changed, too: as 'membrane plan' prints it"));
	html_open(h, HTML_PRE, NULL);
	rest = buf_str(&text);
	while (n++ < LINES_MAX && str_line(&rest, &line))
		html_leaf(h, HTML_SPAN, "line", line);
	html_close(h);
	html_close(h);
	if (rest.n)
		page_note(h, "The rest: membrane plan");
	page_section_end(h);
}

void plan_html(struct buf *out, const struct plan_model *m)
{
	const struct ir_policy *p = m->policy;
	struct html h;

	html_init(&h, out);
	page_begin(&h, STR("membrane: what the agent may do"));
	put_head(&h, m);
	put_figures(&h, m);
	put_refused(&h, m);
	put_grants(&h, m, "reached", "May be reached", &p->allow, m->denied);
	put_grants(&h, m, "denied", "Denied, whatever allows it", &p->deny,
		   NULL);
	put_third_parties(&h, m);
	put_patterns(&h, m, "hidden", "Hidden files", &p->ignore);
	put_patterns(&h, m, "readonly", "Files that cannot be changed",
		     &p->readonly);
	put_additions(&h, m);
	put_risks(&h, m);
	put_warnings(&h, m);
	put_text(&h, m);
	html_open(&h, HTML_FOOTER, NULL);
	page_note(
		&h,
		"What decides one request, and what would turn it over: membrane explain REQUEST. The page loads nothing and runs nothing.");
	html_close(&h);
	page_end(&h);
}
