#include "compiler/commands/contribution.h"

#include "compiler/algebra/compare.h"
#include "compiler/ir/text.h"

/* Another way of writing the texts down needs another number. */
#define HEAD "membrane contribution 1"

void contribution_digest(struct arena *a, const ir_texts *adds,
			 char out[SHA256_HEX_MAX])
{
	struct buf b;

	buf_init(&b, a);
	buf_adds(&b, HEAD);
	buf_addc(&b, '\0');
	/* No text of a policy holds a NUL. */
	vec_each(t, adds) {
		buf_add(&b, t->s);
		buf_addc(&b, '\0');
	}
	sha256_hex(buf_str(&b), out);
}

/* --- access -------------------------------------------------------------- */

struct work {
	struct compilation *c;
	struct contribution *out;
	addition_list found;
	bool compared; /* diff says what the workspace changes */
	struct comparison diff;
	bool unknown[2]; /* but not of requests [0], of files [1] */
};

static bool is_file(enum access_kind kind)
{
	return kind == ACCESS_READ || kind == ACCESS_WRITE;
}

/* The user's own policy, and the workspace's part or not; no flags. */
static void own_docs(struct work *w, bool with_workspace, docs *out)
{
	vec_each(d, &w->c->docs)
		if (d->layer != LAYER_FLAGS &&
		    (with_workspace || d->layer != LAYER_WORKSPACE))
			*vec_push(w->c->a, out) = *d;
}

/* False when the part is no whole policy, as one that flags complete. */
static bool compile(struct work *w, const docs *list, struct ir_policy *out)
{
	struct pass_ctx ctx = driver_ctx(w->c);
	struct diags quiet;

	diags_init(&quiet, w->c->a, &w->c->sources);
	ctx.diags = &quiet;
	return passes_layers(&ctx, list, out) && passes_normalise(&ctx, out);
}

static void compare(struct work *w, const docs *with)
{
	struct ir_policy *old = arena_new_of(w->c->a, struct ir_policy);
	struct ir_policy *now = arena_new_of(w->c->a, struct ir_policy);
	docs without = {0};

	own_docs(w, false, &without);
	if (without.n == with->n)
		return; /* the workspace says nothing */
	if (!compile(w, &without, old) || !compile(w, with, now))
		return;
	compare_policies(w->c->a, old, now, &w->diff);
	w->compared = true;
	/* What could not be compared names no rule. */
	vec_each(x, &w->diff.changes)
		if (x->way != ACCESS_LOST && x->why.at.beg == 0)
			w->unknown[is_file(x->kind)] = true;
}

static bool same_place(struct ir_origin a, struct ir_origin b)
{
	return a.at.beg == b.at.beg && a.at.end == b.at.end;
}

/* The first thing gained that this text is responsible for. */
static const struct access_change *gain_of(const struct work *w,
					   const struct addition *x)
{
	vec_each(g, &w->diff.changes)
		if (g->way != ACCESS_LOST && !g->why_old &&
		    same_place(g->why, x->from))
			return g;
	return NULL;
}

/* Several options may stand in one word: any of them. */
static bool is_widening(const struct work *w, struct ir_origin from)
{
	vec_each(arg, &w->c->policy.docker_args)
		if (same_place(arg->from, from) && arg->class >= ARG_WIDENING)
			return true;
	return false;
}

static void put(struct work *w, struct ir_origin from, struct str text,
		const struct access_change *g)
{
	struct arena *a = w->c->a;
	struct contribution_note *note;

	*vec_push(a, &w->out->adds) = (struct ir_text){from, text};
	note = vec_push(a, &w->out->notes);
	*note = (struct contribution_note){.widens = is_widening(w, from)};
	if (!g || !g->has_witness || g->kind == ACCESS_ARG)
		return;
	note->witness = ir_request_text(a, &g->witness);
	note->was = g->was.reason;
	note->is = g->is.reason;
}

/* Whether diff knows all that it does. */
static bool is_decided(const struct work *w, const struct addition *x)
{
	return x->is_plain && w->compared &&
	       !w->unknown[x->part == ADDITION_PATTERN];
}

/* Access that the texts do not explain: there should be none. */
static void put_rest(struct work *w)
{
	vec_each(g, &w->diff.changes) {
		bool told = g->way == ACCESS_LOST || g->why.at.beg == 0;

		vec_each(x, &w->found)
			told |= !g->why_old && same_place(g->why, x->from);
		if (!told)
			put(w, g->why,
			    arena_fmt(w->c->a, "access %.*s", STR_ARG(g->text)),
			    g);
	}
}

void contribution_make(struct compilation *c, struct contribution *out)
{
	struct pass_ctx ctx = driver_ctx(c);
	struct work w = {.c = c, .out = out};
	docs with = {0};

	*out = (struct contribution){0};
	own_docs(&w, true, &with);
	passes_additions(&ctx, &with, &w.found);
	compare(&w, &with);
	vec_each(x, &w.found) {
		const struct access_change *g = gain_of(&w, x);

		if (g || !is_decided(&w, x))
			put(&w, x->from, x->text, g);
	}
	put_rest(&w);
	contribution_digest(c->a, &out->adds, out->digest);
}
