#include "compiler/cli/review/diff.h"

#include "compiler/cli/plan/plan_json.h"
#include "compiler/cli/review/diff_calls.h"
#include "compiler/cli/text/say.h"
#include "compiler/emit/docker/seccomp.h"
#include "compiler/ir/text.h"

static bool same_requests(struct arena *a, const ir_requests *x,
			  const ir_requests *y)
{
	if (x->n != y->n)
		return false;
	for (uint32_t i = 0; i < x->n; i++)
		if (!str_eq(ir_request_text(a, &x->v[i]),
			    ir_request_text(a, &y->v[i])))
			return false;
	return true;
}

/* What must hold beside what is permitted. One less of it is a change. */
static bool same_words(struct arena *a, const struct ir_policy *x,
		       const struct ir_policy *y)
{
	if (!same_requests(a, &x->tests.allow, &y->tests.allow) ||
	    !same_requests(a, &x->tests.deny, &y->tests.deny) ||
	    x->tests.never.n != y->tests.never.n)
		return false;
	for (uint32_t i = 0; i < x->tests.never.n; i++)
		if (!str_eq(ir_never_text(a, &x->tests.never.v[i]),
			    ir_never_text(a, &y->tests.never.v[i])))
			return false;
	return true;
}

enum changes_verdict diff_verdict(const struct diff *d)
{
	enum changes_verdict v =
		d->is_forged ? CHANGES_WIDENED : changes_verdict(&d->access);

	/* A plan has neither. */
	if (v == CHANGES_SAME && d->old->kind != SIDE_PLAN &&
	    d->now->kind != SIDE_PLAN &&
	    !same_words(d->a, &d->old->c.policy, &d->now->c.policy))
		return CHANGES_COSMETIC;
	return v;
}

struct str diff_remark(struct arena *a, const struct side *s)
{
	const char *name = s->label.p;

	if (s->is_empty)
		return arena_fmt(
			a, "%s has no policy: nothing is granted there", name);
	if (s->forged)
		return arena_fmt(
			a,
			"%s is not what its own policy.json compiles to "
			"(%s%s): "
			"edited by hand, or written by another version of "
			"membrane. What is compared here is policy.json%s, and "
			"not what would run",
			name, view_cleaned(a, s->forged_first).p,
			s->forged > 1 ? ", …" : "",
			s->calls_forged ? " and " SECCOMP_FILE : "");
	if (s->is_personal)
		return arena_fmt(a,
				 "%s was compiled with somebody's own "
				 "~/.membrane/config.yaml",
				 name);
	return (struct str){0};
}

/* --fail-on: doc/semantics.md, section 8. */
static int status_of(const struct options *o, const struct diff *d)
{
	const struct option_given *when = options_get(o, OPTION_FAIL_ON);
	enum changes_verdict v = diff_verdict(d);

	if (when && str_is(when->value, "none"))
		return STATUS_OK;
	if (when && str_is(when->value, "any"))
		return v > CHANGES_COSMETIC || d->old->forged ? STATUS_REFUSED
							      : STATUS_OK;
	return v == CHANGES_WIDENED ? STATUS_REFUSED : STATUS_OK;
}

static struct str as_text(const struct diff *d)
{
	struct buf out;
	struct view v = {&out, say_width(STDOUT_FILENO),
			 say_colour(STDOUT_FILENO)};

	buf_init(&out, d->a);
	diff_view(&v, d);
	return buf_str(&out);
}

static int show(const struct options *o, const struct diff *d)
{
	struct str text;
	int status;

	if (options_get(o, OPTION_JSON))
		text = diff_json(d);
	else if (options_get(o, OPTION_MARKDOWN))
		text = diff_markdown(d);
	else if (options_get(o, OPTION_SARIF))
		text = diff_sarif(d);
	else
		text = as_text(d);
	status = say_result(text);
	return status == STATUS_OK ? status_of(o, d) : status;
}

static bool one_format(const struct options *o)
{
	static const enum option_id formats[] = {OPTION_JSON, OPTION_MARKDOWN,
						 OPTION_SARIF};
	const struct option_given *first = NULL;

	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		const struct option_given *g = options_get(o, formats[i]);

		if (g && first) {
			say("'%.*s' and '%.*s': one of them",
			    STR_ARG(first->spelling), STR_ARG(g->spelling));
			return false;
		}
		first = g ? g : first;
	}
	return true;
}

/* A side that is no policy, for who does not read stderr; status stays. */
static int show_refused(const struct options *o, const struct side *s)
{
	struct str text = {0};

	if (options_get(o, OPTION_JSON))
		text = plan_json_refused(s->c.a, DIFF_JSON_VERSION,
					 &s->c.diags);
	else if (options_get(o, OPTION_MARKDOWN))
		text = diff_markdown_refused(s);
	if (text.n && say_result(text) != STATUS_OK)
		return STATUS_IO;
	return STATUS_REFUSED;
}

int command_diff(struct arena *a, const struct options *o)
{
	struct side sides[2];
	struct diff d = {.a = a, .old = &sides[0], .now = &sides[1]};
	int status;

	if (!one_format(o))
		return STATUS_USAGE;
	status = side_load_both(a, o, sides);
	if (status == STATUS_OK) {
		for (int i = 0; i < 2; i++)
			if (sides[i].kind == SIDE_PLAN)
				derived_adopt(&sides[i].c, &sides[1 - i].c);
		changes_make(a, &sides[0].c, &sides[1].c, true, &d.access);
		if (sides[0].kind != SIDE_PLAN && sides[1].kind != SIDE_PLAN)
			changes_make_promises(&d.access);
		status = diff_calls(&d);
	}
	if (status == STATUS_OK) {
		d.unchanged = options_get(o, OPTION_UNCHANGED) != NULL;
		d.is_forged = sides[1].forged > 0;
		status = show(o, &d);
	}
	for (int i = 0; i < 2 && status == STATUS_REFUSED; i++)
		if (sides[i].c.diags.errors)
			status = show_refused(o, &sides[i]);
	side_done_both(sides);
	return status;
}
