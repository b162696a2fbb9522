/* `membrane diff`: two policies, and what one permits that the other does not.
 */
#include "compiler/cli/plan/views.h"
#include "compiler/cli/review/diff.h"
#include "compiler/cli/review/diff_calls.h"
#include "compiler/cli/text/console.h"

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

static struct str diff_text(const struct diff *d)
{
	struct buf out;
	struct view v = {&out, console_width(STDOUT_FILENO),
			 console_colour(STDOUT_FILENO)};

	buf_init(&out, d->a);
	diff_view(&v, d);
	return buf_str(&out);
}

static int show_diff(const struct options *o, const struct diff *d)
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
		text = diff_text(d);
	status = console_result(text);
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
			console_error("'%.*s' and '%.*s': one of them",
				      STR_ARG(first->spelling),
				      STR_ARG(g->spelling));
			return false;
		}
		first = g ? g : first;
	}
	return true;
}

/* A side that is no policy, for who does not read stderr; status stays. */
static int show_refused(const struct options *o, const struct operand *s)
{
	struct str text = {0};

	if (options_get(o, OPTION_JSON))
		text = plan_json_refused(s->c.a, DIFF_JSON_VERSION,
					 &s->c.diags);
	else if (options_get(o, OPTION_MARKDOWN))
		text = diff_markdown_refused(s);
	if (text.n && console_result(text) != STATUS_OK)
		return STATUS_IO;
	return STATUS_REFUSED;
}

static int compare_pods(struct diff *d)
{
	struct err err;

	if (!d->old->pods || !d->now->pods ||
	    pods_compare(d->a, d->old->pods, d->now->pods, &d->pods, &err) == 0)
		return STATUS_OK;
	console_error("%s", view_cleaned(d->a, str_of(err.text)).p);
	return STATUS_REFUSED;
}

int command_diff(struct arena *a, const struct options *o)
{
	struct operand sides[2];
	struct diff d = {.a = a, .old = &sides[0], .now = &sides[1]};
	int status;

	if (!one_format(o))
		return STATUS_USAGE;
	status = operand_load_both(a, o, sides);
	if (status == STATUS_OK) {
		for (int i = 0; i < 2; i++)
			if (sides[i].kind == OPERAND_PLAN)
				derived_adopt(&sides[i].c, &sides[1 - i].c);
		changes_make(a, &sides[0].c, &sides[1].c, true, &d.access);
		if (sides[0].kind != OPERAND_PLAN &&
		    sides[1].kind != OPERAND_PLAN)
			changes_make_promises(&d.access);
		status = diff_calls(&d);
		if (status == STATUS_OK)
			status = compare_pods(&d);
	}
	if (status == STATUS_OK) {
		d.unchanged = options_get(o, OPTION_UNCHANGED) != NULL;
		d.is_forged = sides[1].forged > 0;
		status = show_diff(o, &d);
	}
	for (int i = 0; i < 2 && status == STATUS_REFUSED; i++)
		if (sides[i].c.diags.errors)
			status = show_refused(o, &sides[i]);
	operand_done_both(sides);
	return status;
}
