#include "compiler/cli/traces/trace_replay.h"

#include "compiler/cli/account/replay.h"
#include "compiler/cli/account/suggest.h"
#include "compiler/cli/traces/past.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/workspace/inputs.h"

/* --- replay --------------------------------------------------------------- */

static int show_replay(struct arena *a, const struct options *o,
		       struct compilation *c, const struct past *p,
		       struct str name)
{
	struct replay r = {.a = a,
			   .c = c,
			   .policy = name,
			   .session = options_get(o, OPTION_JSON) && p->id.n
					      ? p->id
					      : p->label,
			   .deeds = &p->deeds};
	struct buf out;
	struct view v = {&out, console_width(STDOUT_FILENO),
			 console_colour(STDOUT_FILENO)};
	int status;

	buf_init(&out, a);
	replay_make(&r);
	if (options_get(o, OPTION_JSON)) {
		status = console_result(replay_json(&r));
	} else {
		replay_view(&v, &r);
		status = console_result(buf_str(&out));
	}
	return status == STATUS_OK && r.refused.n ? STATUS_REFUSED : status;
}

int trace_replay(struct arena *a, const struct options *o, const char *state,
		 struct str what)
{
	const struct option_given *given = options_get(o, OPTION_POLICY);
	struct compilation own = {0};
	struct operand side = {0};
	struct past p = {.a = a, .many = true};
	struct inputs in;
	int status;

	if (given)
		status = operand_load(a, o, given->value, &side);
	else
		status = inputs_compile(a, o, true, &in, &own);
	if (status == STATUS_OK)
		status = past_load(&p, o, state, what);
	if (status == STATUS_OK)
		status = show_replay(
			a, o, given ? &side.c : &own, &p,
			given ? side.label
			      : STR("the policy of this workspace"));
	past_done(&p);
	driver_done(&own);
	driver_done(&side.c);
	return status;
}

/* --- suggest -------------------------------------------------------------- */

int trace_suggest(struct arena *a, const struct options *o, const char *state,
		  struct str what)
{
	struct past p = {.a = a, .many = true};
	struct suggest_wish wish = {.ask = options_get(o, OPTION_PROPOSE)};
	struct suggestion made;
	int status = past_load(&p, o, state, what);
	const char *log;

	if (status == STATUS_OK) {
		log = p.id.n ? arena_fmt(a,
					 "~/.membrane/sessions/%.*s/decisions.jsonl",
					 STR_ARG(p.id))
				       .p
			     : view_cleaned(a, what).p;
		wish.under = p.has_policy ? &p.under.c.policy : NULL;
		suggest_make(a, &p.deeds, &wish, &made);
		status = console_result(
			suggest_yaml(a, &made, &p.deeds, p.label, log));
	}
	past_done(&p);
	return status;
}
