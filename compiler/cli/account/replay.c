#include "compiler/cli/account/replay.h"

#include "compiler/algebra/decide/ask.h"
#include "compiler/base/json.h"
#include "compiler/ir/text.h"

#include <stdlib.h>
#include <string.h>

#define JSON_VERSION 1

/* --- alike ---------------------------------------------------------------- */

/* Is the reason about the request, and not about whom it goes to? */
static bool is_inside(enum reason r)
{
	return r == REASON_METHOD || r == REASON_PATH ||
	       r == REASON_PATH_NOT_CANONICAL || r == REASON_SCHEME;
}

/* "api.x.test:443" for all that goes there; what is about a request, a name
 * alone or a file is itself. */
static struct str act_text(struct arena *a, const struct act *d,
			   enum reason reason)
{
	struct ir_request r = {.kind = IR_REQ_CONNECT};

	if (d->r.kind == IR_REQ_HTTP && !is_inside(reason)) {
		r.port = d->r.url.port;
		r.name = d->r.url.name;
		r.has_addr = d->r.url.who == IR_DEST_CIDR;
		r.addr = d->r.url.net.addr;
	} else if (d->r.kind == IR_REQ_CONNECT && d->r.name.n) {
		r.proto = d->r.proto;
		r.port = d->r.port;
		r.name = d->r.name;
		if (reason == REASON_PRIVATE_ADDRESS) {
			r.has_addr = true;
			r.addr = d->r.addr;
		}
	} else {
		return d->text;
	}
	return ir_request_text(a, &r);
}

static bool has_flow(const struct replay *r, const struct act *name)
{
	bool done = name->then != ACT_REFUSED;

	vec_each(d, &r->deeds->v)
		if (done == (d->then != ACT_REFUSED) &&
		    ((d->r.kind == IR_REQ_CONNECT &&
		      str_eq(d->r.name, name->r.name)) ||
		     (d->r.kind == IR_REQ_HTTP &&
		      str_eq(d->r.url.name, name->r.name))))
			return true;
	return false;
}

static void push_item(struct replay *r, replay_items *list, const struct act *d,
		      enum reason reason, const struct decision *now)
{
	struct replay_item *x = vec_push(r->a, list);

	*x = (struct replay_item){.text = act_text(r->a, d, reason),
				  .reason = reason,
				  .deed = d,
				  .n = d->n};
	x->has_rule = explain_model_rule(r->c->a, &r->c->policy, &d->r, now,
					 &x->rule);
}

static int by_item(const void *va, const void *vb)
{
	const struct replay_item *a = va, *b = vb;
	bool fa = a->deed->r.kind == IR_REQ_READ ||
		  a->deed->r.kind == IR_REQ_WRITE;
	bool fb = b->deed->r.kind == IR_REQ_READ ||
		  b->deed->r.kind == IR_REQ_WRITE;
	int c = fa - fb;

	c = c ? c : str_cmp(a->text, b->text);
	c = c ? c : (int)a->reason - (int)b->reason;
	return c ? c : (a->deed > b->deed) - (a->deed < b->deed);
}

/* A connection and the requests in it are told of twice: once is enough. */
static void fold_items(replay_items *list)
{
	uint32_t n = 0;
	uint64_t by_kind[IR_REQ_ARG + 1];

	vec_sort(list, by_item);
	vec_each(x, list) {
		struct replay_item *last = n ? &list->v[n - 1] : NULL;

		if (!last || !str_eq(last->text, x->text) ||
		    last->reason != x->reason) {
			memset(by_kind, 0, sizeof(by_kind));
			by_kind[x->deed->r.kind] = x->n;
			list->v[n++] = *x;
			continue;
		}
		by_kind[x->deed->r.kind] += x->n;
		if (by_kind[x->deed->r.kind] > last->n)
			last->n = by_kind[x->deed->r.kind];
	}
	list->n = n;
}

/* --- deciding ------------------------------------------------------------- */

static void mark_used(const struct replay *r, bool *used,
		      const struct decision *now)
{
	const struct ir_policy *p = &r->c->policy;

	if (now->verdict == VERDICT_ALLOW && now->grant && p->allow.n &&
	    now->grant >= p->allow.v && now->grant < p->allow.v + p->allow.n)
		used[now->grant - p->allow.v] = true;
}

/* A question that a connection follows is about the latter's grant. */
static bool is_beside(const struct replay *r, const struct act *d)
{
	return d->r.kind == IR_REQ_RESOLVE && has_flow(r, d);
}

static void decide_act(struct replay *r, const struct decide_files *files,
		       bool *used, const struct act *d)
{
	struct decision now =
		decide_asked(r->c->a, &r->c->policy, files, &d->r);
	bool done = d->then != ACT_REFUSED;

	/* It was HTTP, all of it: the requests are decided by themselves. */
	if (d->r.kind == IR_REQ_CONNECT && d->unseen == 0 &&
	    now.reason == REASON_NOT_HTTP)
		now = (struct decision){.verdict = VERDICT_ALLOW,
					.reason = REASON_GRANTED};
	if (!is_beside(r, d))
		mark_used(r, used, &now);
	switch (now.verdict) {
	case VERDICT_ALLOW:
		r->permitted += done;
		if (!done)
			push_item(r, &r->lifted, d, d->reason, &now);
		return;
	case VERDICT_ASK:
		if (!is_beside(r, d))
			push_item(r, &r->asked, d, now.reason, &now);
		return;
	case VERDICT_DENY:
		r->still_refused += !done;
		if (done && !is_beside(r, d))
			push_item(r, &r->refused, d, now.reason, &now);
		return;
	}
	abort();
}

void replay_make(struct replay *r)
{
	const struct ir_policy *p = &r->c->policy;
	struct decide_files *files = decide_files_new(r->c->a, p);
	bool *used = arena_alloc(r->a, p->allow.n + 1);

	vec_each(d, &r->deeds->v)
		decide_act(r, files, used, d);
	fold_items(&r->refused);
	fold_items(&r->lifted);
	fold_items(&r->asked);
	for (uint32_t i = 0; i < p->allow.n; i++)
		if (!used[i])
			*vec_push(r->a, &r->unused) = &p->allow.v[i];
}

/* --- printing ------------------------------------------------------------- */

static void put_items(const struct view *v, const struct replay *r,
		      const char *title, const replay_items *list,
		      bool with_reason)
{
	uint64_t i = 0;

	if (list->n == 0)
		return;
	view_title(v, title, list->n, NULL);
	vec_each(x, list) {
		struct str text = view_cleaned(r->a, x->text);

		if (view_more(v, 2, i++, list->n))
			break;
		view_row(v, 2, with_reason ? VIEW_BAD : VIEW_WARN, text,
			 arena_fmt(r->a, "%.*s×",
				   STR_ARG(view_number(r->a, x->n))));
		view_row(v, 6, VIEW_PLAIN,
			 arena_fmt(r->a, "%s%s: %s", with_reason ? "" : "then ",
				   reason_name(x->reason),
				   reason_about(x->reason)),
			 STR(""));
		if (x->has_rule)
			view_row(v, 6, VIEW_DIM,
				 arena_fmt(r->a, "%s %s",
					   explain_kind_name(x->rule.kind),
					   view_cleaned(r->a, x->rule.text).p),
				 view_source(r->a, &r->c->sources,
					     x->rule.from->at));
	}
}

static void put_unused(const struct view *v, const struct replay *r)
{
	uint64_t i = 0;

	if (r->unused.n == 0)
		return;
	view_title(v, "grants that nothing used", r->unused.n, NULL);
	vec_each(g, &r->unused) {
		if (view_more(v, 2, i++, r->unused.n))
			break;
		view_row(v, 2, VIEW_PLAIN, view_cleaned(r->a, (*g)->canon),
			 view_source(r->a, &r->c->sources, (*g)->from.at));
	}
}

static struct str head_text(const struct replay *r)
{
	return arena_fmt(r->a, "%.*s: %.*s %s under %.*s", STR_ARG(r->session),
			 STR_ARG(view_number(r->a, r->deeds->v.n)),
			 r->deeds->v.n == 1 ? "request or file"
					    : "different requests and files",
			 STR_ARG(r->policy));
}

static struct str counts_text(const struct replay *r)
{
	return arena_fmt(
		r->a, "Permitted now as then: %.*s; refused now as then: %.*s",
		STR_ARG(view_number(r->a, r->permitted)),
		STR_ARG(view_number(r->a, r->still_refused)));
}

void replay_view(const struct view *v, const struct replay *r)
{
	view_wrap(v, 0, 0, head_text(r));
	put_items(v, r, "done then, refused now", &r->refused, true);
	put_items(v, r, "asked about now, neither permitted nor refused",
		  &r->asked, true);
	put_items(v, r, "refused then, permitted now", &r->lifted, false);
	put_unused(v, r);
	buf_addc(v->out, '\n');
	if (r->refused.n == 0)
		view_wrap(v, 0, 0, STR("Nothing that was done is refused."));
	view_wrap(v, 0, 0, counts_text(r));
	if (!r->deeds->has_decisions)
		view_wrap(
			v, 0, 0,
			STR("The gate's decisions are not here: names are those of answers in the trace, and which connections were refused is not known."));
	if (r->deeds->beyond)
		view_wrap(
			v, 0, 0,
			arena_fmt(
				r->a,
				"%.*s records are left out, there was no room",
				STR_ARG(view_number(r->a, r->deeds->beyond))));
}

static cJSON *items_json(const struct replay *r, const replay_items *list)
{
	cJSON *out = json_array();

	vec_each(x, list) {
		cJSON *o = json_object();

		json_put_str(o, "text", view_cleaned(r->a, x->text));
		json_put_str(o, "request", view_cleaned(r->a, x->deed->text));
		json_put_cstr(o, "reason", reason_name(x->reason));
		json_put_u64(o, "count", x->n);
		if (x->has_rule) {
			cJSON *rule = json_object();

			json_put_cstr(rule, "kind",
				      explain_kind_name(x->rule.kind));
			json_put_str(rule, "text",
				     view_cleaned(r->a, x->rule.text));
			if (x->rule.id.n)
				json_put_str(rule, "id", x->rule.id);
			json_put_str(rule, "source",
				     view_source(r->a, &r->c->sources,
						 x->rule.from->at));
			json_put(o, "rule", rule);
		}
		json_push(out, o);
	}
	return out;
}

struct str replay_json(const struct replay *r)
{
	cJSON *root = json_object(), *unused = json_array();

	json_put_u64(root, "version", JSON_VERSION);
	json_put_str(root, "session", r->session);
	json_put_str(root, "policy", r->policy);
	json_put_bool(root, "has_decisions", r->deeds->has_decisions);
	json_put_u64(root, "permitted", r->permitted);
	json_put_u64(root, "still_refused", r->still_refused);
	json_put_u64(root, "left_out", r->deeds->beyond);
	json_put(root, "refused", items_json(r, &r->refused));
	json_put(root, "lifted", items_json(r, &r->lifted));
	json_put(root, "asked", items_json(r, &r->asked));
	vec_each(g, &r->unused) {
		cJSON *o = json_object();

		json_put_str(o, "text", view_cleaned(r->a, (*g)->canon));
		json_put_str(o, "id", (*g)->id);
		json_put_str(o, "source",
			     view_source(r->a, &r->c->sources, (*g)->from.at));
		json_push(unused, o);
	}
	json_put(root, "unused", unused);
	return json_shown(r->a, root);
}
