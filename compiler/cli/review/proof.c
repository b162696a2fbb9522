#include "compiler/cli/review/proof.h"

#include "compiler/cli/text/place_json.h"
#include "compiler/emit/kubernetes/kube.h"
#include "compiler/plan/files.h"

#include <stdlib.h>

static struct str bytes_of(const struct plan *plan, const char *name)
{
	const struct plan_file *f = plan_file(plan, name);

	return f ? f->data : (struct str){0};
}

static bool is_apart(const struct compilation *c)
{
	return c->kubernetes->topology == KUBE_APART;
}

void proof_make(const struct compilation *c, const struct plan *plan,
		struct prove_out *out)
{
	struct prove_pods pods = {.network = bytes_of(plan, PLAN_NETWORKPOLICY),
				  .pod = bytes_of(plan, PLAN_POD),
				  .gate = bytes_of(plan, PLAN_GATE_POD)};
	struct prove_in in = {&c->policy, bytes_of(plan, PLAN_RULESET),
			      bytes_of(plan, PLAN_NAMES), NULL};

	if (c->kubernetes) {
		pods.apart = is_apart(c);
		pods.cilium = c->kubernetes->cilium;
		in.pods = &pods;
	}
	prove_plan(c->a, &in, out);
}

/* --- for people ---------------------------------------------------------- */

static void put_gaps(const struct view *v, enum prove_scope scope)
{
	for (size_t i = 0; prove_gap(scope, i); i++) {
		buf_adds(v->out, i ? "                " : "  not compared: ");
		view_wrap(v, 16, 18, str_of(prove_gap(scope, i)));
	}
}

static const char *subject_of(enum prove_scope scope)
{
	switch (scope) {
	case PROVE_SESSION:
		return "filter and resolver do";
	case PROVE_WIRE:
	case PROVE_CILIUM:
		return "filter, resolver and NetworkPolicy do";
	case PROVE_APART:
		return "resolver and NetworkPolicies do";
	}
	abort();
}

/* How close the NetworkPolicy is. */
static void put_backstop(const struct view *v, const struct prove_out *out)
{
	if (out->scope == PROVE_SESSION)
		return;
	buf_adds(v->out, "  ");
	view_wrap(
		v, 2, 4,
		arena_fmt(
			v->out->a,
			PLAN_NETWORKPOLICY
			": %s of these cells; it lets out all that may leave, and else only what a denial of names or of requests keeps back",
			view_number(v->out->a, out->backstop_cells).p));
}

void proof_view(const struct view *v, const struct prove_out *out)
{
	struct arena *a = v->out->a;

	view_wrap(
		v, 0, 2,
		arena_fmt(
			a,
			"proved: %s what the policy says in all %s cells that there are, by %s addresses, %s ports and %s names",
			subject_of(out->scope), view_number(a, out->cells).p,
			view_number(a, out->addresses).p,
			view_number(a, out->ports).p,
			view_number(a, out->names).p));
	put_backstop(v, out);
	put_gaps(v, out->scope);
}

static void put_artefact(struct buf *out, const struct prove_line *by)
{
	if (!by->file)
		return;
	if (by->line)
		buf_addf(out, "  %s:%u\n", by->file, by->line);
	else
		buf_addf(out, "  %s: no line says it\n", by->file);
	if (by->text.n)
		buf_addf(
			out, "    %s\n",
			view_fit(out->a, view_cleaned(out->a, by->text), 74).p);
}

/* Which rule decided, or came nearest. */
static const char *role_of(const struct decision *d)
{
	if (d->verdict == VERDICT_ASK)
		return "asked about here";
	if (d->grant->key == IR_KEY_DENY)
		return "denied here";
	return d->verdict == VERDICT_ALLOW ? "permitted here"
					   : "the grant that comes nearest";
}

static void put_differs(const struct view *v, const struct compilation *c,
			struct str dir, const struct prove_out *out)
{
	buf_addf(v->out, "%s does not do what the policy says\n", dir.p);
	buf_addf(v->out, "  %s\n", view_cleaned(c->a, out->subject).p);
	buf_addf(v->out, "    policy  %s\n    plan    %s\n",
		 view_cleaned(c->a, out->wanted).p,
		 view_cleaned(c->a, out->got).p);
	put_artefact(v->out, &out->by);
	if (out->want.grant && out->want.grant->from.at.end)
		diags_show(&c->diags, v->out, out->want.grant->from.at,
			   str_of(role_of(&out->want)), v->colour);
}

void proof_complain(const struct view *v, const struct compilation *c,
		    struct str dir, const struct prove_out *out)
{
	switch (out->end) {
	case PROVE_AGREES:
		return;
	case PROVE_DIFFERS:
		put_differs(v, c, dir, out);
		return;
	case PROVE_UNREADABLE:
		buf_addf(
			v->out,
			"%s cannot be proved: %s is not in the language of plans\n",
			dir.p, out->by.file);
		buf_addf(v->out, "  %s\n", view_cleaned(c->a, out->got).p);
		if (out->by.line)
			put_artefact(v->out, &out->by);
		return;
	case PROVE_TOO_LARGE:
		buf_addf(v->out,
			 "%s is too large to be proved: %s %s, %s at most\n",
			 dir.p, view_number(c->a, out->n).p, out->what,
			 view_number(c->a, out->max).p);
		return;
	}
	abort();
}

/* --- for programs -------------------------------------------------------- */

static cJSON *artefact_json(struct arena *a, const struct prove_line *by)
{
	cJSON *o = json_object();

	json_put_cstr(o, "file", by->file);
	if (by->line)
		json_put_u64(o, "line", by->line);
	if (by->text.n)
		json_put_str(o, "text", view_cleaned(a, by->text));
	return o;
}

static cJSON *rule_json(const struct compilation *c, const struct ir_grant *g)
{
	cJSON *o = json_object();

	json_put_str(o, "id", g->id);
	place_json_span(o, &c->sources, g->from.at);
	return o;
}

static void put_counts(cJSON *root, const struct prove_out *out)
{
	json_put_u64(root, "cells", out->cells);
	json_put_u64(root, "addresses", out->addresses);
	json_put_u64(root, "ports", out->ports);
	json_put_u64(root, "names", out->names);
	if (out->scope != PROVE_SESSION)
		json_put_u64(root, "networkpolicy", out->backstop_cells);
}

cJSON *proof_json(const struct compilation *c, const struct prove_out *out)
{
	static const char *const ends[] = {
		[PROVE_AGREES] = "agrees",
		[PROVE_DIFFERS] = "differs",
		[PROVE_UNREADABLE] = "unreadable",
		[PROVE_TOO_LARGE] = "too-large",
	};
	cJSON *root = json_object(), *gaps = json_array();

	json_put_cstr(root, "end", ends[out->end]);
	put_counts(root, out);
	switch (out->end) {
	case PROVE_AGREES:
		break;
	case PROVE_DIFFERS:
		json_put_str(root, "subject", view_cleaned(c->a, out->subject));
		json_put_str(root, "policy", view_cleaned(c->a, out->wanted));
		json_put_str(root, "plan", view_cleaned(c->a, out->got));
		json_put(root, "artefact", artefact_json(c->a, &out->by));
		if (out->want.grant)
			json_put(root, "rule", rule_json(c, out->want.grant));
		break;
	case PROVE_UNREADABLE:
		json_put_str(root, "what", view_cleaned(c->a, out->got));
		json_put(root, "artefact", artefact_json(c->a, &out->by));
		break;
	case PROVE_TOO_LARGE:
		json_put_cstr(root, "what", out->what);
		json_put_u64(root, "n", out->n);
		json_put_u64(root, "max", out->max);
		break;
	}
	for (size_t i = 0; prove_gap(out->scope, i); i++)
		json_push_str(gaps, str_of(prove_gap(out->scope, i)));
	json_put(root, "not_compared", gaps);
	return root;
}
