/*
 * Rules that do nothing, or stand in each other's way: algebra/rules.h, told
 * as warnings.
 *
 * A rule is held against those of its own author alone: the user's files and
 * what they extend, the workspace's, the command line. That a workspace asks
 * for what its user's file grants anyway is no fault of either, and for two
 * presets that have a line in common their reader can do nothing. A denial
 * makes a grant void wherever it stands; that nothing grants what it denies is
 * no fault of it: others may yet.
 */
#include "compiler/lint/parts.h"

#include "compiler/algebra/compare/parts.h"
#include "compiler/lint/lint.h"

#include <stdlib.h>

/* Whose rules are held against each other. */
enum author { AUTHOR_USER, AUTHOR_WORKSPACE, AUTHOR_FLAGS, AUTHORS };

struct uses {
	struct pass_ctx *c;
	const struct ir_policy *p;
	bool *denied;  /* per grant of p */
	bool *unasked; /* per entry of its ask */
};

/* A rule that an author wrote: which of p's list, and where first. */
struct own_rule {
	uint32_t index;
	struct ir_origin from;
};
typedef VEC(struct own_rule) own_rules;

/* The rules of one author, and what there is to say of each. */
struct rules {
	const ir_grants *list;
	const struct rule_finding *found;
	const own_rules *own; /* in p's list; NULL: the same */
};

static const char *verdict_word(const struct ir_grant *g)
{
	switch (g->key) {
	case IR_KEY_ALLOW:
	case IR_KEY_HOSTNAMES:
	case IR_KEY_CIDRS:
		return "allowed";
	case IR_KEY_ASK:
		return "asked about";
	case IR_KEY_DENY:
		return "denied";
	}
	abort();
}

/* --- whose rule it is ------------------------------------------------------
 */

static bool is_by(enum author author, enum layer layer)
{
	switch (layer) {
	case LAYER_FLOOR:
		return false;
	case LAYER_PRESET:
	case LAYER_GLOBAL:
		return author == AUTHOR_USER;
	case LAYER_WORKSPACE:
		return author == AUTHOR_WORKSPACE;
	case LAYER_FLAGS:
	case LAYER_SESSION:
		return author == AUTHOR_FLAGS;
	}
	return false;
}

/* Can whoever wrote the rule at that place do something about another? */
static bool is_at_hand(struct uses *u, struct ir_origin from,
		       struct ir_origin other)
{
	const struct source *s = sources_of(u->c->sources, from.at);

	return s == sources_of(u->c->sources, other.at) || !source_is_preset(s);
}

/* --- what there is to say --------------------------------------------------
 */

static void warn_denied(struct uses *u, const struct ir_grant *g,
			const struct ir_grant *by)
{
	diag_warn(u->c->diags, DIAG_DENIED_GRANT, g->from.at,
		  "'%s' is allowed and denied, and stays denied",
		  lint_quoted(u->c, &g->dest));
	lint_about(u->c, &g->dest);
	diag_note(u->c->diags, by->from.at, "denied here");
}

/* All of it is decided otherwise, by that rule or with it. */
static void warn_unasked(struct uses *u, const struct ir_grant *g,
			 const struct ir_grant *by)
{
	diag_warn(
		u->c->diags, DIAG_NEVER_ASKED, g->from.at,
		by->key == IR_KEY_ASK
			? "nobody is asked by this entry about '%s': another takes a wider answer"
			: "nobody is asked about '%s': all of it is %s",
		lint_quoted(u->c, &g->dest), verdict_word(by));
	lint_about(u->c, &g->dest);
	if (by->from.layer != LAYER_FLOOR)
		diag_note(u->c->diags, by->from.at, "%s here",
			  verdict_word(by));
	diag_help(u->c->diags, "remove one of them");
}

static void warn_shadowed(struct uses *u, const struct ir_grant *g,
			  const struct ir_grant *by)
{
	diag_warn(u->c->diags, DIAG_SHADOWED_RULE, g->from.at,
		  "'%s' changes nothing: all of it is %s without it",
		  lint_quoted(u->c, &g->dest), verdict_word(g));
	lint_about(u->c, &g->dest);
	diag_note(u->c->diags, by->from.at, "here");
	diag_help(u->c->diags, "remove one of them");
}

static void warn_twice(struct uses *u, const struct ir_grant *g,
		       struct ir_origin first, struct ir_origin again)
{
	diag_warn(u->c->diags, DIAG_SHADOWED_RULE, again.at, "'%s' is %s twice",
		  lint_quoted(u->c, &g->dest), verdict_word(g));
	lint_about(u->c, &g->dest);
	diag_note(u->c->diags, first.at, "the first is here");
	diag_help(u->c->diags, "remove one of them");
}

static void warn_overlap(struct uses *u, const struct ir_grant *g,
			 const struct ir_grant *by)
{
	diag_warn(u->c->diags, DIAG_OVERLAPPING_RULES, g->from.at,
		  "a part of '%s' is allowed elsewhere, too",
		  lint_quoted(u->c, &g->dest));
	lint_about(u->c, &g->dest);
	diag_note(u->c->diags, by->from.at, "here");
	diag_help(
		u->c->diags,
		"what either permits is permitted: what both do needs one of them");
}

/*
 * Of two grants that overlap one is told so: the later, where it can help it.
 * Denials may: they do not add up to anything else.
 */
static bool is_told(struct uses *u, const struct rules *r, uint32_t i)
{
	const struct ir_grant *g = &r->list->v[i], *by = r->found[i].by;
	const struct rule_finding *its;

	if (g->key != IR_KEY_ALLOW)
		return false;
	its = &r->found[by - r->list->v];
	if (its->use != RULE_OVERLAPS)
		return false; /* that one is told something else */
	return its->by != g || g->from.at.beg > by->from.at.beg ||
	       !is_at_hand(u, by->from, g->from);
}

static void judge_rules(struct uses *u, const struct rules *r)
{
	for (uint32_t i = 0; i < r->list->n; i++) {
		const struct ir_grant *g = &r->list->v[i];
		const struct ir_grant *by = r->found[i].by;

		/* Nobody could remove it alone. */
		if (!by || g->implied ||
		    (g->key == IR_KEY_ALLOW &&
		     u->denied[r->own ? r->own->v[i].index : i]) ||
		    (g->key == IR_KEY_ASK &&
		     u->unasked[r->own ? r->own->v[i].index : i]))
			continue;
		switch (r->found[i].use) {
		case RULE_USED:
			break;
		case RULE_DEAD:
			if (g->key == IR_KEY_ASK &&
			    is_at_hand(u, g->from, by->from))
				warn_unasked(u, g, by);
			break;
		case RULE_SHADOWED:
			if (is_at_hand(u, g->from, by->from))
				warn_shadowed(u, g, by);
			break;
		case RULE_OVERLAPS:
			if (is_at_hand(u, g->from, by->from) &&
			    is_told(u, r, i))
				warn_overlap(u, g, by);
			break;
		}
	}
}

/* --- one author's rules ----------------------------------------------------
 */

/*
 * Those of a list that the author wrote, and the floor's. The same rule may
 * have several authors, and one may have written it several times.
 */
static own_rules rules_of(struct uses *u, enum author author,
			  const ir_grants *list)
{
	own_rules out = {0};

	vec_each(g, list) {
		bool mine = g->from.layer == LAYER_FLOOR ||
			    is_by(author, g->from.layer);
		struct ir_origin first = g->from;

		vec_each(again, &g->again) {
			if (!is_by(author, again->layer))
				continue;
			if (!mine)
				first = *again;
			else if (is_at_hand(u, *again, first))
				warn_twice(u, g, first, *again);
			mine = true;
		}
		if (mine)
			*vec_push(u->c->a, &out) = (struct own_rule){
				(uint32_t)(g - list->v), first};
	}
	return out;
}

static ir_grants grants_of(struct uses *u, const own_rules *own,
			   const ir_grants *list)
{
	ir_grants out = {0};

	vec_reserve(u->c->a, &out, own->n);
	vec_each(r, own) {
		struct ir_grant *g = vec_push(u->c->a, &out);

		*g = list->v[r->index];
		g->from = r->from;
	}
	return out;
}

static uint32_t written(const own_rules *list)
{
	uint32_t n = 0;

	vec_each(r, list)
		n += r->from.layer != LAYER_FLOOR;
	return n;
}

static const ir_grants *list_in(const struct ir_policy *p, int list)
{
	switch ((enum rule_list)list) {
	case RULES_GRANTS:
		return &p->allow;
	case RULES_ASKED:
		return &p->ask;
	case RULES_DENIALS:
		return &p->deny;
	case RULE_LISTS:
		break;
	}
	abort();
}

static void lint_author(struct uses *u, enum author author,
			struct rule_finding *all[RULE_LISTS])
{
	struct rule_finding *found[RULE_LISTS];
	own_rules own[RULE_LISTS];
	struct ir_policy part = *u->p;
	uint32_t n = 0;
	bool whole = true;

	for (int i = 0; i < RULE_LISTS; i++) {
		own[i] = rules_of(u, author, list_in(u->p, i));
		n += written(&own[i]);
		whole &= own[i].n == list_in(u->p, i)->n;
	}
	if (n == 0 || !all)
		return;
	/* With one author what is known of the whole is known of these. */
	if (!whole) {
		part.allow = grants_of(u, &own[RULES_GRANTS], &u->p->allow);
		part.ask = grants_of(u, &own[RULES_ASKED], &u->p->ask);
		part.deny = grants_of(u, &own[RULES_DENIALS], &u->p->deny);
		if (!rules_find(u->c->a, &part, found))
			return;
	}
	for (int i = 0; i < RULE_LISTS; i++)
		judge_rules(u, &(struct rules){
				       list_in(whole ? u->p : &part, i),
				       whole ? all[i] : found[i],
				       whole ? NULL : &own[i]});
}

/* What a rule of any author makes void, wherever that stands. */
static void lint_void(struct uses *u, struct rule_finding *found[RULE_LISTS])
{
	const struct ir_policy *p = u->p;

	for (uint32_t i = 0; i < p->allow.n; i++) {
		const struct rule_finding *f = &found[RULES_GRANTS][i];

		if (f->use != RULE_DEAD || !f->by ||
		    f->by->from.layer == LAYER_FLOOR)
			continue;
		u->denied[i] = true;
		warn_denied(u, &p->allow.v[i], f->by);
	}
	for (uint32_t i = 0; i < p->ask.n; i++) {
		const struct rule_finding *f = &found[RULES_ASKED][i];

		if (f->use != RULE_DEAD || !f->by ||
		    f->by->key != IR_KEY_DENY)
			continue;
		u->unasked[i] = true;
		warn_unasked(u, &p->ask.v[i], f->by);
	}
}

const bool *uses_lint(struct pass_ctx *c, const struct ir_policy *p)
{
	struct rule_finding *found[RULE_LISTS];
	struct uses u = {c, p, NULL, NULL};
	bool known = rules_find(c->a, p, found);

	u.denied = arena_array(c->a, p->allow.n + 1, sizeof(*u.denied));
	u.unasked = arena_array(c->a, p->ask.n + 1, sizeof(*u.unasked));
	if (known)
		lint_void(&u, found);
	for (int author = 0; author < AUTHORS; author++)
		lint_author(&u, (enum author)author, known ? found : NULL);
	return u.denied;
}
