#include "compiler/cli/traces/trace_replay.h"

#include "compiler/cli/account/replay.h"
#include "compiler/cli/account/suggest.h"
#include "compiler/cli/traces/trace_losses.h"
#include "compiler/cli/traces/traces.h"
#include "compiler/cli/review/operand.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/workspace/inputs.h"
#include "runtime/launch/session/metadata.h"

#include <errno.h>
#include <unistd.h>

/* A session that is over, or a file of one. */
struct past {
	struct arena *a;
	struct str id;	      /* empty: a file of somewhere else */
	struct str label;     /* cleaned */
	struct operand under; /* what it ran under, when has_policy */
	bool has_policy;
	struct decide_files *files;
	struct activity deeds;
	struct trace_losses losses;
};

static int fail_replay(struct arena *a, const struct err *err)
{
	console_error("%s", view_cleaned(a, str_of(err->text)).p);
	return STATUS_IO;
}

static const char *in_session(const struct past *p, const char *state,
			      const char *name)
{
	return arena_fmt(p->a, "%s/sessions/%.*s/%s", state, STR_ARG(p->id),
			 name)
		.p;
}

static bool path_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/* The newest one, whether it was traced or not. */
static struct str newest_session(struct past *p, const char *state)
{
	struct metadata x;
	struct err ignored;

	if (metadata_find(p->a, state, STR(""), &x, &ignored) < 0)
		return STR("");
	p->id = arena_str(p->a, str_of(x.session.id));
	return path_exists(in_session(p, state, "decisions.jsonl")) ? p->id
								    : STR("");
}

/* A session may be without a trace; its decisions are always there. */
static int find_past(struct past *p, const char *state, struct str what,
		     trace_paths *paths, struct err *err)
{
	int rc;

	if (what.n == 0)
		what = newest_session(p, state);
	p->id = STR("");
	rc = traces_find(p->a, state, what, paths, err);

	p->label = view_cleaned(p->a, what);
	if (rc == -ENOENT && traces_is_id(what)) {
		p->id = what;
		if (path_exists(in_session(p, state, "decisions.jsonl")))
			rc = 0;
	}
	if (rc == 0 && paths->n)
		p->id = traces_session(paths);
	if (rc == 0 && p->id.n && path_exists(in_session(p, state, ".")))
		p->label = arena_fmt(p->a, "session %.*s", STR_ARG(p->id));
	return rc;
}

/*
 * The policy that it ran under, for what no record says. Another version of
 * membrane may have written it: then that is not known.
 */
static void load_policy(struct past *p, const struct options *o,
			const char *state)
{
	const char *plan = in_session(p, state, "plan");

	if (p->id.n == 0 || !path_exists(plan))
		return;
	p->has_policy =
		operand_load(p->a, o, str_of(plan), &p->under) == STATUS_OK;
	if (p->has_policy) {
		p->files = decide_files_new(p->under.c.a, &p->under.c.policy);
		summary_purposes(p->deeds.refused, decide_purpose,
				 &p->under.c.policy);
	} else {
		console_error(
			"what the session ran under cannot be read: what became of files is not known");
	}
}

/* A file of somewhere else is of a session that has it at the usual place. */
static void load_places(struct past *p, const char *state)
{
	struct session s = {.dir = in_session(p, state, ".")};
	struct metadata about;

	metadata_read(p->a, &s, &about);
	if (!about.known && path_exists(in_session(p, state, "session.json")))
		console_error(
			"the record of the session cannot be read: its files are taken to be those of /workspace");
	vec_each(at, &about.mounted)
		activity_mounted(&p->deeds, *at);
}

static int visit_event(void *ctx, const struct trace_event *e)
{
	struct past *p = ctx;

	if (trace_is_own(e))
		trace_losses_add(&p->losses, e);
	activity_event(&p->deeds, e, p->has_policy ? &p->under.c.policy : NULL,
		       p->files);
	return 0;
}

static int past_load(struct past *p, const struct options *o, const char *state,
		     struct str what)
{
	trace_paths paths = {0};
	struct err err;
	int rc = find_past(p, state, what, &paths, &err);

	if (rc < 0)
		return fail_replay(p->a, &err);
	traces_tell_missing(&paths);
	activity_init(&p->deeds, p->a);
	load_policy(p, o, state);
	load_places(p, state);
	if (p->id.n && path_exists(in_session(p, state, "decisions.jsonl")))
		rc = activity_decisions(&p->deeds, in_session(p, state, "."),
					&err);
	if (rc == 0)
		rc = traces_read(&paths, visit_event, p, &err);
	if (rc < 0)
		return fail_replay(p->a, &err);
	if (p->losses.all)
		console_error("%s", trace_losses_text(p->a, &p->losses).p);
	activity_sort(&p->deeds);
	return STATUS_OK;
}

static void past_done(struct past *p)
{
	driver_done(&p->under.c);
}

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
	struct past p = {.a = a};
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
	struct past p = {.a = a};
	struct suggestion made;
	int status = past_load(&p, o, state, what);
	const char *log;

	if (status == STATUS_OK) {
		log = arena_fmt(a, "~/.membrane/sessions/%.*s/decisions.jsonl",
				STR_ARG(p.id))
			      .p;
		suggest_make(a, &p.deeds,
			     p.has_policy ? &p.under.c.policy : NULL, &made);
		status = console_result(
			suggest_yaml(a, &made, &p.deeds, p.label, log));
	}
	past_done(&p);
	return status;
}
