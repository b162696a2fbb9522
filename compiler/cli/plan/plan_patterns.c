/*
 * The part of the plan's text about files: which patterns hide them or keep
 * them as they are, and what of this workspace each one holds.
 */
#include "compiler/cli/plan/parts.h"

/* Of one text, so many that a list of them says less than what they hold. */
#define FOLDED_FROM 6u
#define NAMED	    3u

struct list {
	const struct view *v;
	const struct plan_model *m;
	const ir_patterns *patterns;
	const struct workspace_held *held; /* NULL: not counted */
	const char *more;		   /* where those built in are told */
};

static const struct source *source_of(const struct list *l, uint32_t i)
{
	return sources_of(l->m->sources, l->patterns->v[i].from.at);
}

/* Others come with a file, or with membrane; its owner wrote these here. */
static bool is_own(const struct ir_pattern *p)
{
	return p->from.layer != LAYER_FLOOR && p->from.layer != LAYER_PRESET &&
	       p->from.layer != LAYER_GLOBAL;
}

/* Where those end that stand in one text; the built in ones are in none. */
static uint32_t group_end(const struct list *l, uint32_t beg)
{
	enum layer layer = l->patterns->v[beg].from.layer;
	uint32_t end = beg;

	while (end < l->patterns->n &&
	       l->patterns->v[end].from.layer == layer &&
	       (layer == LAYER_FLOOR || source_of(l, end) == source_of(l, beg)))
		end++;
	return end;
}

/* "3 here", "at least 3 here", "none here", or nothing. */
static struct str count_text(const struct list *l, uint64_t n)
{
	struct arena *a = l->m->a;

	if (!l->held || (n == 0 && !l->m->counted_all))
		return STR("");
	if (n == 0)
		return STR("none here");
	return arena_fmt(a, "%s%s here", l->m->counted_all ? "" : "at least ",
			 view_number(a, n).p);
}

static void put_one(const struct list *l, uint32_t i)
{
	const struct ir_pattern *p = &l->patterns->v[i];
	struct str count = p->back || !is_own(p)
				   ? STR("")
				   : count_text(l, l->held ? l->held[i].n : 0);
	struct str line = view_cleaned(l->m->a, p->line);

	if (count.n)
		line = arena_fmt(l->m->a, "%.*s  (%.*s)", STR_ARG(line),
				 STR_ARG(count));
	view_row(l->v, 2, p->back ? VIEW_WARN : VIEW_PLAIN, line,
		 model_source(l->m, p->from));
}

/* Those nearest to the root, of whichever pattern: ": .env, certs/x.pem, …" */
static void add_named(const struct list *l, uint32_t beg, uint32_t end,
		      uint64_t n, struct buf *out)
{
	uint32_t named = 0;

	for (uint32_t i = beg; i < end; i++)
		for (uint32_t k = 0;
		     k < l->held[i].n && k < WORKSPACE_NAMED && named < NAMED;
		     k++)
			buf_addf(out, "%s%s", named++ ? ", " : ": ",
				 view_cleaned(l->m->a, l->held[i].named[k]).p);
	if (n > named)
		buf_adds(out, ", …");
}

/* "26 patterns of ~/.membrane/config.yaml, 3 here: .env, certs/x.pem, k.p12" */
static void put_folded(const struct list *l, uint32_t beg, uint32_t end)
{
	const struct source *s = source_of(l, beg);
	struct str count;
	struct buf text;
	uint64_t n = 0;

	buf_init(&text, l->m->a);
	if (l->patterns->v[beg].from.layer == LAYER_FLOOR)
		buf_addf(&text, "%u built in%s", end - beg, l->more);
	else
		buf_addf(&text, "%u of %s", end - beg,
			 s ? view_cleaned(l->m->a, s->name).p : "");
	for (uint32_t i = beg; l->held && i < end; i++)
		n += l->held[i].n;
	count = count_text(l, n);
	if (count.n)
		buf_addf(&text, ", %.*s", STR_ARG(count));
	if (n)
		add_named(l, beg, end, n, &text);
	view_paragraph(l->v, buf_str(&text));
}

/* Those that are built in, whole: they are many, and on no line. */
static void put_built_in(const struct list *l, uint32_t beg, uint32_t end)
{
	struct buf text;

	buf_init(&text, l->m->a);
	for (uint32_t i = beg; i < end; i++)
		buf_addf(&text, "%s%.*s", i > beg ? ", " : "built in: ",
			 STR_ARG(l->patterns->v[i].line));
	view_paragraph(l->v, buf_str(&text));
}

/* Later ones win, so the order stays. */
static void put_group(const struct list *l, uint32_t beg, uint32_t end)
{
	const struct ir_pattern *p = &l->patterns->v[beg];

	if (!l->m->all && !is_own(p) && end - beg >= FOLDED_FROM) {
		put_folded(l, beg, end);
		return;
	}
	if (p->from.layer == LAYER_FLOOR) {
		put_built_in(l, beg, end);
		return;
	}
	for (uint32_t i = beg; i < end; i++) {
		if (!l->m->all && view_more(l->v, 2, i - beg, end - beg))
			break;
		put_one(l, i);
	}
}

static void put_patterns(const struct list *l, const char *title)
{
	uint32_t end;

	view_title(l->v, title, l->patterns->n,
		   l->patterns->n ? "pattern" : NULL);
	if (l->patterns->n == 0)
		view_paragraph(l->v, STR("nothing"));
	for (uint32_t i = 0; i < l->patterns->n; i = end) {
		end = group_end(l, i);
		put_group(l, i, end);
	}
}

/* In a Pod what is built in does not hold, and what is here is not there. */
static void put_of_pod(const struct view *v, const struct plan_model *m)
{
	ir_patterns kept = {0};

	vec_each(p, &m->policy->readonly)
		if (p->from.layer != LAYER_FLOOR)
			*vec_push(m->a, &kept) = *p;
	put_patterns(&(struct list){v, m, &m->policy->ignore, NULL, ""},
		     "cannot see");
	put_patterns(&(struct list){v, m, &kept, NULL, ""}, "cannot change");
}

void plan_patterns(const struct view *v, const struct plan_model *m)
{
	struct list hidden = {v, m, &m->policy->ignore, m->counts.ignore, ""};
	struct list kept = {v, m, &m->policy->readonly, m->counts.readonly,
			    " ('membrane help readonly')"};

	if (m->kubernetes) {
		put_of_pod(v, m);
		return;
	}
	put_patterns(&hidden, "cannot see");
	put_patterns(&kept, "cannot change");
}
