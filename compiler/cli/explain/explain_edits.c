#include "compiler/cli/explain/explain_edits.h"

#include "compiler/algebra/decide/ask.h"
#include "compiler/cli/explain/parts.h"
#include "compiler/front/yaml/edit.h"

#include <stdlib.h>

#define STEPS_MAX 12u /* of one edit: files deep in hidden folders */
#define EDITS_MAX 3u

/* How an attempt goes about it. */
enum way {
	WAY_ADD,    /* a rule for the request alone */
	WAY_WIDER,  /* the same for all requests to the destination */
	WAY_EXTEND, /* an item within the rule that came nearest */
	WAY_REMOVE, /* the rules that decide */
	WAY_CARVE,  /* the request's port out of the denials that decide */
	WAY_LEAVE,  /* a preset no longer extended */
};

struct attempt {
	struct arena *a;
	struct draft draft;
	const struct ir_request *r;
	enum verdict want;
	enum way way;
	struct str target; /* where a rule is added */
	uint32_t item;	   /* WAY_LEAVE: of extends in target */
	bool added;
	struct decision d; /* of the draft as it is */
};

/* --- a rule less --------------------------------------------------------- */

static bool remove_rule(struct attempt *t)
{
	struct explain_rule rule;

	if (!explain_model_rule(t->a, &t->draft.c->policy, t->r, &t->d, &rule))
		return false;
	return rule.kind == EXPLAIN_ARG
		       ? draft_remove_arg(&t->draft, rule.from)
		       : draft_remove(&t->draft, rule.from->at,
				      explain_kind_name(rule.kind));
}

static bool leave_preset(struct attempt *t)
{
	if (t->added)
		return false;
	t->added = true;
	return draft_remove_nth(&t->draft, t->target, "extends", t->item);
}

static bool carve_denial(struct attempt *t)
{
	const struct ir_grant *d = t->d.grant;
	struct str item = explain_items_carved(t->a, t->r, d);

	return item.n && draft_replace(&t->draft, d->from.at, "deny", item);
}

/* --- a rule more --------------------------------------------------------- */

/* Later lines win: an ignore file comes behind what is in .membrane.yaml. */
static bool pattern_target(const struct attempt *t, struct str *out)
{
	const struct source *s =
		sources_of(&t->draft.c->sources, t->d.pattern->from.at);

	*out = t->target;
	if (s && s->layer == LAYER_FLAGS)
		return false;
	if (s && draft_is_ignore_file(s->name))
		*out = s->name;
	return true;
}

/*
 * Take back the first folder on the way that is hidden or read-only, but for
 * what else is in it; or the path itself.
 */
static bool take_back(struct attempt *t)
{
	const struct decide_files *files =
		decide_files_new(t->a, &t->draft.c->policy);
	bool hidden = t->d.reason == REASON_IGNORED;
	const char *key = hidden ? "ignore" : "readonly";
	struct str path = t->r->path, file;

	if (!pattern_target(t, &file))
		return false;
	for (size_t at = str_find(path, '/', 0); at + 1 < path.n;
	     at = str_find(path, '/', at + 1)) {
		struct str dir = str_slice(path, 0, at + 1);
		struct decision d = hidden ? decide_read(files, dir)
					   : decide_write(files, dir);

		if (d.verdict == VERDICT_DENY)
			return draft_add_pattern(
				       &t->draft, file, key,
				       explain_items_pattern(t->a, "!/", dir,
							     "")) &&
			       draft_add_pattern(&t->draft, file, key,
						 explain_items_pattern(
							 t->a, "/", dir, "*"));
	}
	return draft_add_pattern(&t->draft, file, key,
				 explain_items_pattern(t->a, "!/", path, ""));
}

static bool add_args(struct attempt *t)
{
	struct str rest = t->r->arg, word;
	size_t blank = str_find(rest, ' ', 0);

	/* An option and its value: what else is in the value stays in it. */
	for (int i = 0; i < 2 && rest.n; i++) {
		word = str_slice(rest, 0, i ? rest.n : blank);
		rest = str_slice(rest, blank + 1, rest.n);
		if (!draft_add(&t->draft, t->target, "args",
			       edit_scalar(t->a, word)))
			return false;
		if (i)
			break;
	}
	return true;
}

static bool add_grant(struct attempt *t, const char *key)
{
	struct str item =
		explain_items_grant(t->a, t->r, t->way == WAY_WIDER,
				    t->want == VERDICT_DENY);

	return item.n && draft_add(&t->draft, t->target, key, item);
}

/* A port or a rule of http in the grant that came nearest. */
static bool extend_grant(struct attempt *t)
{
	const struct ir_grant *g = t->d.grant;
	bool port = t->d.reason == REASON_PORT || t->d.reason == REASON_UDP;
	struct str item = port ? explain_items_port(t->a, t->r)
			       : explain_items_rule(t->a, t->r);

	return g && item.n && explain_items_exact(g) &&
	       draft_extend(&t->draft, g->from.at, port ? "ports" : "http",
			    item);
}

/* --- one step ------------------------------------------------------------ */

static bool step_grant(struct attempt *t)
{
	if (t->added)
		return false;
	t->added = true;
	if (t->way == WAY_EXTEND)
		return extend_grant(t);
	if (t->r->kind == IR_REQ_ARG)
		return add_args(t);
	return add_grant(t, "allow");
}

/* Towards a verdict that permits. */
static bool step_allow(struct attempt *t)
{
	switch (t->d.reason) {
	case REASON_DENIED:
	case REASON_QUIC:
		if (t->way == WAY_LEAVE)
			return leave_preset(t);
		return (t->way == WAY_CARVE && carve_denial(t)) ||
		       remove_rule(t);
	case REASON_IGNORED:
	case REASON_READONLY:
		return t->way == WAY_REMOVE ? remove_rule(t) : take_back(t);
	case REASON_PROTECTED:
		return t->way == WAY_REMOVE && remove_rule(t);
	case REASON_NO_GRANT:
	case REASON_ASK:
	case REASON_PORT:
	case REASON_UDP:
	case REASON_SCHEME:
	case REASON_METHOD:
	case REASON_PATH:
	case REASON_NOT_HTTP:
	case REASON_NO_SNI:
	case REASON_PRIVATE_ADDRESS:
	case REASON_NOT_RESOLVED:
	case REASON_FLOOR:
		return step_grant(t);
	case REASON_GRANTED:
	case REASON_PATH_NOT_CANONICAL:
	case REASON_ECH:
	case REASON_NAME_MISMATCH:
	case REASON_HOST_ADDRESS:
	case REASON_PROTOCOL:
	case REASON_FORGED_SOURCE:
	case REASON_QUERY_TYPE:
	case REASON_BAD_QUERY:
	case REASON_BAD_HELLO:
	case REASON_SECOND_HELLO:
	case REASON_BAD_REQUEST:
	case REASON_OVERRIDE:
	case REASON_UPGRADE:
	case REASON_ANSWERED:
	case REASON_NOT_ANSWERED:
	case REASON_ANSWERED_NO:
	case REASON_NOT_ASKED:
	case REASON_TOO_MANY:
	case REASON_NO_STAND_IN:
	case REASON_HANDSHAKE:
	case REASON_UPSTREAM:
	case REASON_UNTRUSTED_WORKSPACE:
		return false;
	}
	abort();
}

/* Towards one that refuses. */
static bool step_deny(struct attempt *t)
{
	if (t->way == WAY_REMOVE)
		return remove_rule(t);
	if (t->added)
		return false;
	t->added = true;
	switch (t->r->kind) {
	case IR_REQ_CONNECT:
	case IR_REQ_HTTP:
	case IR_REQ_RESOLVE:
		return add_grant(t, "deny");
	case IR_REQ_READ:
		return draft_add_pattern(
			&t->draft, t->target, "ignore",
			explain_items_pattern(t->a, "/", t->r->path, ""));
	case IR_REQ_WRITE:
		return draft_add_pattern(
			&t->draft, t->target, "readonly",
			explain_items_pattern(t->a, "/", t->r->path, ""));
	case IR_REQ_ARG:
		return false;
	}
	abort();
}

/* --- an attempt ---------------------------------------------------------- */

static void decide_draft(struct attempt *t)
{
	const struct compilation *c = t->draft.c;

	t->d = decide_asked(c->a, &c->policy,
			    decide_files_new(c->a, &c->policy), t->r);
}

/* Step by step until the verdict is the wanted one. */
static bool flips_verdict(struct attempt *t)
{
	for (unsigned i = 0; i < STEPS_MAX; i++) {
		decide_draft(t);
		if (t->d.verdict == t->want)
			return i > 0;
		if (!(t->want == VERDICT_ALLOW ? step_allow(t)
					       : step_deny(t)) ||
		    !draft_compile(&t->draft))
			return false;
	}
	return false;
}

/* --- all of them --------------------------------------------------------- */

static void find_hunks(struct attempt *t, struct explain_edit *out)
{
	vec_each(x, &t->draft.texts) {
		const struct source *s =
			sources_named(&t->draft.base->sources, x->name);

		explain_hunks_find(t->a, x->name, s ? &s->text : NULL, x->text,
				   &out->hunks);
	}
}

static bool same_edit(const struct explain_edit *a,
		      const struct explain_edit *b)
{
	return explain_hunks_same(&a->hunks, &b->hunks) &&
	       explain_hunks_same_texts(&a->left_out, &b->left_out);
}

/*
 * Of files, what a pattern is about says too much where others take it back;
 * what a mount lies on is about that alone, and has no witness.
 */
static void find_effects(struct attempt *t, struct explain_edit *out)
{
	struct comparison cmp;

	compare_policies(t->a, &t->draft.base->policy, &t->draft.c->policy,
			 &cmp);
	vec_each(x, &cmp.changes)
		if ((x->kind != ACCESS_READ && x->kind != ACCESS_WRITE) ||
		    !x->has_witness)
			*vec_push(t->a, &out->effects) =
				(struct explain_effect){
					x->way, arena_str(t->a, x->text)};
}

static bool try_way(struct attempt *t, enum way way, struct str target,
		    struct explain_flip *out)
{
	struct explain_edit edit = {0};
	bool ok;

	t->way = way;
	t->target = target;
	t->added = false;
	draft_begin(&t->draft);
	ok = out->edits.n < EDITS_MAX && flips_verdict(t);
	if (ok) {
		find_hunks(t, &edit);
		vec_each(x, &t->draft.left_out)
			*vec_push(t->a, &edit.left_out) = *x;
		vec_each(x, &out->edits)
			ok &= !same_edit(x, &edit);
	}
	if (ok) {
		find_effects(t, &edit);
		*vec_push(t->a, &out->edits) = edit;
	}
	draft_end(&t->draft);
	return ok;
}

static bool same_effects(const struct explain_edit *a,
			 const struct explain_edit *b)
{
	if (a->effects.n != b->effects.n)
		return false;
	for (uint32_t i = 0; i < a->effects.n; i++)
		if (a->effects.v[i].way != b->effects.v[i].way ||
		    !str_eq(a->effects.v[i].text, b->effects.v[i].text))
			return false;
	return true;
}

/*
 * A denial without the request's port opens less than none at all, where more
 * than that port is granted; it goes first then.
 */
static void try_carving(struct attempt *t, struct str file,
			struct explain_flip *out)
{
	struct explain_edit *e;

	if (!try_way(t, WAY_CARVE, file, out) || out->edits.n < 2)
		return;
	e = out->edits.v;
	if (same_effects(&e[0], &e[1])) {
		out->edits.n--;
	} else {
		struct explain_edit first = e[1];

		e[1] = e[0];
		e[0] = first;
	}
}

static void try_ways(struct attempt *t, enum reason reason,
		     struct explain_flip *out)
{
	struct str here = front_policy_name(&t->draft.base->sources);
	bool files = t->r->kind == IR_REQ_READ || t->r->kind == IR_REQ_WRITE;
	bool allow = t->want == VERDICT_ALLOW;
	bool added = try_way(t, WAY_ADD, here, out);

	if (!added && !files && t->r->kind != IR_REQ_ARG)
		(void)try_way(t, WAY_WIDER, here, out);
	if (added && allow && reason == REASON_DENIED)
		try_carving(t, here, out);
	if (!added && allow && t->r->kind == IR_REQ_ARG &&
	    !t->draft.in->front.no_global)
		(void)try_way(t, WAY_ADD, EXPLAIN_GLOBAL, out);
	if (allow && (reason == REASON_PORT || reason == REASON_UDP ||
			reason == REASON_METHOD || reason == REASON_PATH))
		(void)try_way(t, WAY_EXTEND, here, out);
	if (!allow || files)
		(void)try_way(t, WAY_REMOVE, here, out);
}

/* A text of YAML that somebody here may change. */
static bool is_own(const struct source *s)
{
	return draft_may_edit(s) && !draft_is_ignore_file(s->name);
}

/*
 * Nothing but the preset's own text says what denies: it can be left out,
 * whichever of those that are extended it comes by.
 */
static void try_leaving(struct attempt *t, struct explain_flip *out)
{
	struct str text;

	vec_each(s, &t->draft.base->sources.list) {
		if (!is_own(s))
			continue;
		for (t->item = 0;
		     out->edits.n < EDITS_MAX &&
		     edit_remove_nth(t->a, s->text, "extends", t->item, &text);
		     t->item++)
			(void)try_way(t, WAY_LEAVE, s->name, out);
	}
}

/* What is asked about is permitted without, rather than not at all. */
enum verdict explain_edits_turned(const struct decision *d)
{
	return d->verdict == VERDICT_ALLOW ? VERDICT_DENY : VERDICT_ALLOW;
}

void explain_edits_find(struct arena *a, const struct inputs *in,
			const struct compilation *c,
			const struct explanation *e, struct explain_flip *out)
{
	struct attempt t = {.a = a,
			    .draft = {.a = a, .in = in, .base = c},
			    .r = e->request,
			    .want = explain_edits_turned(&e->decision)};

	*out = (struct explain_flip){0};
	/* No policy lifts what the workspace itself does. */
	if (e->held.text.n) {
		explain_notes_find(a, c, e, out);
		return;
	}
	try_ways(&t, e->decision.reason, out);
	if (out->edits.n == 0 && e->decision.reason == REASON_DENIED)
		try_leaving(&t, out);
	explain_notes_find(a, c, e, out);
}
