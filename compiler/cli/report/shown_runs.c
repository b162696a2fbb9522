/*
 * What ran: the processes below each other. Of many that one process began and
 * that are the same program, a few stand for all.
 */
#include "compiler/cli/report/parts.h"

#include "compiler/cli/text/view.h"

#include <string.h>

#define LEVELS_MAX    24u
#define ALIKE_SHOWN   3u  /* of one program, below one process */
#define PROGRAMS_MAX  40u /* different ones below one process */
#define COMMAND_BYTES 240u
#define MEMBERS_MAX   4096u /* children that are looked at for their likes */

struct runs {
	struct html *h;
	struct report *r;
	struct arena *a; /* of a level */
	uint64_t shown, left_out;
};

/* Children of one process that are one program. */
struct alike {
	struct str program;
	VEC(uint32_t) of; /* nodes, in their order */
	uint64_t failed, ns;
};
typedef VEC(struct alike) alike_list;

static const struct process_node *node_of(const struct runs *x, uint32_t i)
{
	return &x->r->processes.nodes.v[i];
}

/* "/usr/bin/cc" of "/usr/bin/cc -c x.c"; empty: it runs what made it. */
static struct str program_of(const struct process_node *n)
{
	return str_slice(n->command, 0, str_find(n->command, ' ', 0));
}

static bool has_failed(const struct process_node *n)
{
	return n->has_ended && (n->end.signal || n->end.code);
}

static void group_children(struct runs *x, struct arena *a, uint32_t first,
			   alike_list *out)
{
	uint32_t seen = 0;

	for (uint32_t i = first; i; i = node_of(x, i)->next) {
		const struct process_node *n = node_of(x, i);
		struct alike *g = NULL;

		if (seen++ == MEMBERS_MAX) {
			x->left_out++;
			seen--;
			continue;
		}
		vec_each(k, out)
			if (str_eq(k->program, program_of(n)))
				g = k;
		if (!g) {
			if (out->n == PROGRAMS_MAX) {
				x->left_out++;
				continue;
			}
			g = vec_push(a, out);
			g->program = program_of(n);
		}
		*vec_push(a, &g->of) = i;
		g->failed += has_failed(n);
		if (n->has_ended)
			g->ns += n->ended_ns - n->begun_ns;
	}
}

static struct str time_text(struct arena *a, uint64_t ns)
{
	double ms = (double)ns / 1e6;

	if (ms < 1000)
		return arena_fmt(a, "%.0f ms", ms);
	return ms < 60000 ? arena_fmt(a, "%.1f s", ms / 1000)
			  : arena_fmt(a, "%.1f min", ms / 60000);
}

static void put_end(struct runs *x, struct arena *a,
		    const struct process_node *n)
{
	if (!n->has_ended)
		html_leaf(x->h, HTML_SPAN, "end warn", STR("no end"));
	else if (n->end.signal)
		html_leaff(x->h, HTML_SPAN, "end bad", "signal %lld, %s",
			   (long long)n->end.signal,
			   time_text(a, n->ended_ns - n->begun_ns).p);
	else
		html_leaff(x->h, HTML_SPAN, n->end.code ? "end bad" : "end",
			   "status %lld, %s", (long long)n->end.code,
			   time_text(a, n->ended_ns - n->begun_ns).p);
}

/* Where it went, how much it wrote. */
static void put_deeds(struct runs *x, struct arena *a, uint32_t i)
{
	const struct report_deeds *d =
		i < x->r->deeds.n ? &x->r->deeds.v[i] : NULL;
	const struct goal *p;

	if (!d)
		return;
	for (uint32_t k = 0; k < d->places && k < REPORT_PLACES; k++) {
		p = &x->r->places.v.v[d->place[k] - 1];
		html_leaff(x->h, HTML_SPAN,
			   p->refused && !p->allowed ? "end bad" : "end",
			   "%s %.*s", p->refused && !p->allowed ? "✕" : "→",
			   STR_ARG(texts_cut(a, place_text(a, p), 80)));
	}
	if (d->places > REPORT_PLACES)
		html_leaff(x->h, HTML_SPAN, "end", "→ %u more",
			   d->places - REPORT_PLACES);
	if (d->attempts)
		html_leaf(x->h, HTML_SPAN, "end warn",
			  page_count(a, d->attempts, "attempt", "attempts"));
}

static void put_children(struct runs *x, uint32_t first, unsigned depth);

static void put_process(struct runs *x, struct arena *a, uint32_t i,
			unsigned depth)
{
	const struct process_node *n = node_of(x, i);

	x->shown++;
	html_open(x->h, HTML_LI, NULL);
	if (n->command.n)
		html_leaf(x->h, HTML_CODE, NULL,
			  texts_cut(a, n->command, COMMAND_BYTES));
	else
		html_leaf(x->h, HTML_SPAN, "dim", STR("(forked)"));
	put_end(x, a, n);
	put_deeds(x, a, i);
	if (n->first)
		put_children(x, n->first, depth + 1);
	html_close(x->h);
}

static void put_rest(struct runs *x, struct arena *a, const struct alike *g)
{
	uint32_t rest = g->of.n - ALIKE_SHOWN;

	x->left_out += rest;
	html_open(x->h, HTML_LI, "dim");
	html_textf(x->h, "%s more of ", view_number(a, rest).p);
	html_leaf(x->h, HTML_CODE, NULL,
		  g->program.n ? texts_cut(a, g->program, COMMAND_BYTES)
			       : STR("(forked)"));
	html_leaff(x->h, HTML_SPAN, g->failed ? "end bad" : "end",
		   "all %s: %s, %s failed", view_number(a, g->of.n).p,
		   time_text(a, g->ns).p, view_number(a, g->failed).p);
	html_close(x->h);
}

static void put_children(struct runs *x, uint32_t first, unsigned depth)
{
	struct arena *a;
	alike_list groups = {0};

	if (depth > LEVELS_MAX || !SHOWN_ROOM(x->h, SHOWN_RUNS)) {
		for (uint32_t i = first; i; i = node_of(x, i)->next)
			x->left_out++;
		return;
	}
	a = arena_new();
	group_children(x, a, first, &groups);
	html_open(x->h, HTML_UL, NULL);
	vec_each(g, &groups) {
		for (uint32_t k = 0; k < g->of.n && (k < ALIKE_SHOWN); k++)
			put_process(x, a, g->of.v[k], depth);
		if (g->of.n > ALIKE_SHOWN)
			put_rest(x, a, g);
	}
	html_close(x->h);
	arena_free(a);
}

void shown_runs(struct html *h, struct report *r)
{
	uint64_t all = r->processes.nodes.n - 1 + r->processes.left_out;
	struct runs x = {.h = h, .r = r};

	page_section(h, "ran", "What ran",
		     r->past.paths.n
			     ? page_count(r->a, all, "process", "processes")
			     : STR(""));
	if (r->past.paths.n == 0) {
		page_note(h, "Nothing was traced.");
	} else {
		html_open(h, HTML_DIV, "tree");
		if (r->processes.nodes.v[0].first)
			put_children(&x, r->processes.nodes.v[0].first, 0);
		html_close(h);
	}
	if (x.shown < all)
		page_note(
			h,
			"%s of %s processes are shown; of many that are alike, the first. All of them: membrane trace tree %s",
			view_number(r->a, x.shown).p, view_number(r->a, all).p,
			r->past.about.session.id);
	page_section_end(h);
}
