#include "compiler/cli/review/changes.h"

#include "compiler/algebra/compare/promises.h"

static const char *const ways[] = {
	[ACCESS_GAINED] = "gained",
	[ACCESS_LOST] = "lost",
	[ACCESS_OTHER] = "changed",
	[ACCESS_KEPT] = "unchanged",
};
static const char *const kinds[] = {
	[ACCESS_CONNECT] = "connect",  [ACCESS_QUIC] = "quic",
	[ACCESS_HTTP] = "http",	       [ACCESS_RESOLVE] = "resolve",
	[ACCESS_READ] = "read",	       [ACCESS_WRITE] = "write",
	[ACCESS_ARG] = "docker-arg",   [ACCESS_SETTING] = "setting",
	[ACCESS_CALL] = "system-call",
};
static const struct {
	const char *name, *about;
} verdicts[] = {
	[CHANGES_SAME] = {"same", "the same"},
	[CHANGES_COSMETIC] = {"same-access", "same access, other text"},
	[CHANGES_NARROWED] = {"narrowed", "narrowed"},
	[CHANGES_WIDENED] = {"widened", "widened"},
};

const char *changes_verdict_name(enum changes_verdict v)
{
	return verdicts[v].name;
}

const char *changes_verdict_about(enum changes_verdict v)
{
	return verdicts[v].about;
}

const char *changes_way_name(enum access_way w)
{
	return ways[w];
}

const char *changes_kind_name(enum access_kind k)
{
	return kinds[k];
}

static bool reaches_place(const third_party_hits *list,
			  const struct third_party *place)
{
	vec_each(h, list)
		if (h->place == place)
			return true;
	return false;
}

static void find_places(struct changes *x)
{
	third_party_hits was = {0}, is = {0};

	third_party_reach(x->a, &x->old->policy, &was);
	third_party_reach(x->a, &x->now->policy, &is);
	vec_each(h, &is)
		if (!reaches_place(&was, h->place) &&
		    !reaches_place(&x->places, h->place))
			*vec_push(x->a, &x->places) = *h;
}

void changes_make(struct arena *a, const struct compilation *old,
		  const struct compilation *now, bool with_kept,
		  struct changes *out)
{
	*out = (struct changes){.a = a, .old = old, .now = now};
	if (with_kept)
		compare_whole(a, &old->policy, &now->policy, &out->found);
	else
		compare_policies(a, &old->policy, &now->policy, &out->found);
	vec_each(c, &out->found.changes)
		out->n[c->way]++;
	find_places(out);
}

/* Those that were found behind the first n. */
static void count_more(struct changes *x, uint32_t n)
{
	for (; n < x->found.changes.n; n++)
		x->n[x->found.changes.v[n].way]++;
}

void changes_make_promises(struct changes *x)
{
	uint32_t n = x->found.changes.n;

	promises_compare(x->a, &x->old->policy, &x->now->policy, &x->found);
	count_more(x, n);
}

int changes_make_calls(struct changes *x, const struct calls *old,
		       const struct calls *now, struct err *err)
{
	uint32_t n = x->found.changes.n;
	int rc = 0;

	if (old && now)
		rc = calls_compare(x->a, old, now, &x->found, err);
	else
		*vec_push(x->a, &x->found.changes) = (struct access_change){
			.way = ACCESS_OTHER,
			.kind = ACCESS_CALL,
			.text = old ? STR("calls: seccomp.json -> none")
				    : STR("calls: none -> seccomp.json")};
	count_more(x, n);
	return rc;
}

enum changes_verdict changes_verdict(const struct changes *x)
{
	if (compare_widens(&x->found))
		return CHANGES_WIDENED;
	if (!compare_equal(&x->found))
		return CHANGES_NARROWED;
	return x->found.same_text ? CHANGES_SAME : CHANGES_COSMETIC;
}

struct str changes_summary(const struct changes *x)
{
	struct buf b;

	buf_init(&b, x->a);
	for (int w = 0; w <= ACCESS_OTHER; w++)
		if (x->n[w])
			buf_addf(&b, "%s%s %s", b.n ? ", " : "",
				 view_number(x->a, x->n[w]).p, ways[w]);
	if (x->found.kept.n)
		buf_addf(&b, "%s%s unchanged", b.n ? ", " : "",
			 view_number(x->a, x->found.kept.n).p);
	else if (x->found.unchanged)
		buf_addf(&b, "%s%s grant%s as before", b.n ? ", " : "",
			 view_number(x->a, x->found.unchanged).p,
			 x->found.unchanged == 1 ? "" : "s");
	return buf_str(&b);
}

/* --- the rule responsible ------------------------------------------------ */

static bool is_at(struct ir_origin from, struct span at)
{
	return from.at.beg == at.beg && from.at.end == at.end;
}

static const struct ir_grant *grant_at(const ir_grants *list, struct span at)
{
	vec_each(g, list)
		if (is_at(g->from, at))
			return g;
	return NULL;
}

static const struct ir_pattern *pattern_at(const ir_patterns *list,
					   struct span at)
{
	vec_each(p, list)
		if (is_at(p->from, at))
			return p;
	return NULL;
}

/* Of the rule at a place; g: one that it may be, or NULL. */
static struct str name_rule(const struct changes *x,
			    const struct compilation *side, struct place at,
			    struct span span, const struct ir_grant *g,
			    struct str *out_id)
{
	const struct ir_policy *p = &side->policy;
	const struct ir_pattern *hidden = pattern_at(&p->ignore, span);
	const struct ir_pattern *kept = pattern_at(&p->readonly, span);
	struct str text = str_trim(at.text);

	if (!g || !is_at(g->from, span))
		g = grant_at(&p->allow, span);
	if (!g)
		g = grant_at(&p->ask, span);
	if (!g)
		g = grant_at(&p->deny, span);
	if (g) {
		*out_id = g->id;
		text = arena_fmt(x->a, "%s %.*s",
				 ir_grant_key_name(g->key),
				 STR_ARG(g->canon));
	} else if (hidden) {
		text = arena_fmt(x->a, "ignore %.*s", STR_ARG(hidden->line));
	} else if (kept) {
		text = arena_fmt(x->a, "readonly %.*s", STR_ARG(kept->line));
	}
	return view_cleaned(x->a, text);
}

static void name_before(const struct changes *x, const struct access_change *c,
			struct changes_words *w)
{
	w->before_at = sources_place(&x->old->sources, c->before.at);
	w->before_source = view_source(x->a, &x->old->sources, c->before.at);
	w->before = name_rule(x, x->old, w->before_at, c->before.at,
			      c->was.grant, &w->before_id);
}

const char *changes_decision_name(struct arena *a, const struct decision *d)
{
	if (d->verdict != VERDICT_ASK)
		return reason_name(d->reason);
	return arena_fmt(a, "%s for %s", reason_name(d->reason),
			 ir_lasts_name(d->grant->lasts.v))
		.p;
}

/* From which of the three verdicts to which. */
static const char *label_of(const struct access_change *c)
{
	static const char *const labels[3][3] = {
		[VERDICT_DENY] = {"", "  (to be asked about)", ""},
		[VERDICT_ASK] = {"  (no longer asked about)",
				 "  (with a wider answer)",
				 "  (without asking)"},
		[VERDICT_ALLOW] = {"", "  (asked about first)", ""},
	};

	if (c->was.verdict == VERDICT_ASK && c->is.verdict == VERDICT_ASK &&
	    c->way != ACCESS_GAINED)
		return c->way == ACCESS_KEPT ? "  (asked about)"
					     : "  (with a narrower answer)";
	return labels[c->was.verdict][c->is.verdict];
}

struct changes_words changes_words(const struct changes *x,
				   const struct access_change *c)
{
	const struct compilation *side = c->why_old ? x->old : x->now;
	struct changes_words w = {
		.text = view_cleaned(x->a, c->text),
		.at = sources_place(&side->sources, c->why.at),
		.source = view_source(x->a, &side->sources, c->why.at),
		.label = "",
	};

	if (c->has_witness) {
		w.request = view_cleaned(x->a, c->witness.text);
		w.was = changes_decision_name(x->a, &c->was);
		w.is = changes_decision_name(x->a, &c->is);
		w.label = label_of(c);
	}
	w.rule = name_rule(x, side, w.at, c->why.at,
			   c->why_old ? c->was.grant : c->is.grant, &w.rule_id);
	if (c->has_before)
		name_before(x, c, &w);
	return w;
}

struct str changes_place(const struct changes *x,
			 const struct third_party_hit *h)
{
	if (h->grant->dest.kind == IR_DEST_ANY)
		return STR("*: every place that is known");
	return arena_fmt(x->a, "%s%s  (%s)", view_cleaned(x->a, h->name).p,
			 h->place->path.n > 1 ? h->place->path.p : "",
			 third_party_kind_name(h->place->kind));
}

/* --- for a terminal ------------------------------------------------------ */

void changes_view_one(const struct view *v, const struct changes *x,
		      const struct access_change *c)
{
	static const char *const marks[] = {[ACCESS_GAINED] = "+",
					    [ACCESS_LOST] = "-",
					    [ACCESS_OTHER] = "~",
					    [ACCESS_KEPT] = "="};
	static const enum view_paint paints[] = {
		[ACCESS_GAINED] = VIEW_BAD,
		[ACCESS_LOST] = VIEW_GOOD,
		[ACCESS_OTHER] = VIEW_WARN,
		[ACCESS_KEPT] = VIEW_PLAIN,
	};
	struct changes_words w = changes_words(x, c);

	view_row(v, 2, paints[c->way],
		 arena_fmt(x->a, "%s %s%s", marks[c->way], w.text.p, w.label),
		 w.source);
	if (w.request.n)
		view_row(v, 6, VIEW_PLAIN, w.request,
			 c->way == ACCESS_KEPT
				 ? str_of(c->is.verdict == VERDICT_ASK
						  ? "asked about by both"
						  : "permitted by both")
				 : arena_fmt(x->a, "%s → %s", w.was, w.is));
	if (w.rule.n)
		view_row(v, 6, VIEW_DIM,
			 arena_fmt(x->a, "%s %s",
				   c->why_old ? "no longer:" : "by", w.rule.p),
			 (struct str){0});
	if (w.before.n)
		view_row(v, 6, VIEW_DIM,
			 arena_fmt(x->a, "before by %s", w.before.p),
			 w.before_source);
}

static void put_places(const struct view *v, const struct changes *x,
		       const char *all)
{
	const struct third_party_hit *any = NULL;
	uint32_t i = 0, n = x->places.n;

	if (n == 0)
		return;
	view_title(v, "others can now read what is sent to", n, "place");
	vec_each(h, &x->places) {
		struct str at =
			view_source(x->a, &x->now->sources, h->grant->from.at);

		if (h->grant->dest.kind == IR_DEST_ANY) {
			any = h;
			continue;
		}
		if (view_more_by(v, 2, i++, n, all))
			break;
		view_row(v, 2, VIEW_WARN, changes_place(x, h), at);
		view_row(v, 4, VIEW_DIM, str_of(h->place->what),
			 (struct str){0});
	}
	if (any)
		view_row(v, 2, VIEW_WARN, changes_place(x, any),
			 view_source(x->a, &x->now->sources,
				     any->grant->from.at));
}

/* Texts of what is unchanged that are shown where it is folded. */
#define KEPT_SHOWN 4u

static void view_folded(const struct view *v, const struct changes *x)
{
	uint32_t n = x->found.kept.n;
	uint32_t shown = n > KEPT_SHOWN + 1 ? KEPT_SHOWN : n;

	for (uint32_t i = 0; i < shown; i++)
		view_row(v, 2, VIEW_DIM,
			 view_cleaned(x->a, x->found.kept.v[i].text),
			 (struct str){0});
	view_row(
		v, 2, VIEW_DIM,
		shown < n
			? arena_fmt(
				  x->a,
				  "… and %s more; --unchanged has a request and a rule for each",
				  view_number(x->a, n - shown).p)
			: STR("--unchanged has a request and a rule for each"),
		(struct str){0});
}

void changes_view_kept(const struct view *v, const struct changes *x,
		       bool whole)
{
	if (x->found.kept.n == 0)
		return;
	view_title(v, ways[ACCESS_KEPT], x->found.kept.n, "set");
	if (!whole) {
		view_folded(v, x);
		return;
	}
	vec_each(c, &x->found.kept)
		changes_view_one(v, x, c);
}

void changes_view(const struct view *v, const struct changes *x,
		  const char *all)
{
	static const enum access_way order[] = {ACCESS_GAINED, ACCESS_OTHER,
						ACCESS_LOST};

	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		uint32_t k = 0, n = x->n[order[i]];

		if (n == 0)
			continue;
		view_title(v, ways[order[i]], n, "difference");
		vec_each(c, &x->found.changes) {
			if (c->way != order[i])
				continue;
			if (view_more_by(v, 2, k++, n, all))
				break;
			changes_view_one(v, x, c);
		}
	}
	put_places(v, x, all);
}
