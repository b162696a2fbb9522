#include "compiler/cli/traces/past.h"

#include "compiler/cli/account/fleet.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"

#include <errno.h>
#include <search.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail_past(struct arena *a, const struct err *err)
{
	console_error("%s", view_cleaned(a, str_of(err->text)).p);
	return STATUS_IO;
}

const char *past_file(const struct past *p, const char *state, const char *name)
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
	return path_exists(past_file(p, state, "decisions.jsonl")) ? p->id
								   : STR("");
}

/* Traced or not. */
static int find_session(struct past *p, const char *state, struct str what,
			trace_paths *paths, struct err *err)
{
	struct err ignored;
	int rc = metadata_find(p->a, state, what, &p->about, err);

	if (rc < 0)
		return rc;
	p->id = arena_str(p->a, str_of(p->about.session.id));
	p->label = arena_fmt(p->a, "session %.*s", STR_ARG(p->id));
	if (traces_find(p->a, state, p->id, paths, &ignored) < 0)
		paths->n = 0;
	return 0;
}

/* A session may be without a trace; its decisions are always there. */
static int find_past(struct past *p, const char *state, struct str what,
		     trace_paths *paths, struct err *err)
{
	int rc;

	if (p->is_session)
		return find_session(p, state, what, paths, err);
	if (what.n == 0)
		what = newest_session(p, state);
	p->id = STR("");
	rc = traces_find(p->a, state, what, paths, err);

	p->label = view_cleaned(p->a, what);
	if (rc == -ENOENT && traces_is_id(what)) {
		p->id = what;
		if (path_exists(past_file(p, state, "decisions.jsonl")))
			rc = 0;
	}
	if (rc == 0 && paths->n)
		p->id = traces_session(paths);
	if (rc == 0 && p->id.n && path_exists(past_file(p, state, ".")))
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
	const char *plan = past_file(p, state, "plan");

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
	struct session s = {.dir = past_file(p, state, ".")};

	if (!p->is_session)
		metadata_read(p->a, &s, &p->about);
	if (!p->about.known && path_exists(past_file(p, state, "session.json")))
		console_error(
			"the record of the session cannot be read: its files are taken to be those of /workspace");
	vec_each(at, &p->about.mounted)
		activity_mounted(&p->deeds, *at);
}

static int visit_event(void *ctx, const struct trace_event *e)
{
	struct past *p = ctx;

	if (trace_is_own(e))
		trace_losses_add(&p->losses, e);
	activity_event(&p->deeds, e, p->has_policy ? &p->under.c.policy : NULL,
		       p->files);
	return p->on_event ? p->on_event(p->ctx, e) : 0;
}

/* Whether what could not be read ends it. */
static int weigh_damage(struct past *p, int rc, const struct err *err)
{
	if (rc == 0 || !p->is_session)
		return rc;
	if (p->damage.code == 0)
		p->damage = *err;
	return 0;
}

static int read_past(struct past *p, const char *state, struct err *err)
{
	int rc = 0;

	p->deeds.observe = p->on_decision;
	p->deeds.observe_ctx = p->ctx;
	if (p->id.n && p->abouts)
		abouts_read(p->abouts, past_file(p, state, "."));
	if (p->id.n && path_exists(past_file(p, state, "decisions.jsonl")))
		rc = activity_decisions(&p->deeds, past_file(p, state, "."),
					err);
	rc = weigh_damage(p, rc, err);
	if (rc == 0)
		rc = weigh_damage(
			p, traces_read(&p->paths, visit_event, p, err), err);
	return rc;
}

struct many {
	struct past *p;
	struct str last; /* whose the line before was */
	void *names;	 /* tsearch(3)'s, of all */
	uint64_t sessions;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void free_nothing(void *name)
{
	(void)name; /* the arena's */
}

static void take_line(void *ctx, struct str source, struct str line)
{
	struct many *m = ctx;

	if (!m->names || !str_eq(source, m->last)) {
		m->last = arena_str(m->p->a, source);
		m->sessions += *(char **)tsearch(m->last.p, &m->names,
						 by_name) == m->last.p;
	}
	activity_record(&m->p->deeds, line);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Under which policies they ran is not known, and of files nothing is. */
static int load_many(struct past *p, const char *path)
{
	struct many m = {.p = p};
	struct err err;
	int rc;

	activity_init(&p->deeds, p->a);
	rc = fleet_read(p->a, path, take_line, &m, &err);
	tdestroy(m.names, free_nothing);
	if (rc < 0)
		return fail_past(p->a, &err);
	activity_sort(&p->deeds);
	p->label = arena_fmt(p->a, "%llu session%s in %s",
			     (unsigned long long)m.sessions,
			     m.sessions == 1 ? "" : "s",
			     view_cleaned(p->a, str_of(path)).p);
	return STATUS_OK;
}

int past_load(struct past *p, const struct options *o, const char *state,
	      struct str what)
{
	struct err err;
	int rc;

	if (p->many && what.n && !traces_is_id(what) &&
	    is_folder(arena_cstr(p->a, what)))
		return load_many(p, arena_cstr(p->a, what));
	rc = find_past(p, state, what, &p->paths, &err);
	if (rc < 0)
		return fail_past(p->a, &err);
	traces_tell_missing(&p->paths);
	activity_init(&p->deeds, p->a);
	p->deeds.is_unlisted = p->is_unlisted;
	load_policy(p, o, state);
	load_places(p, state);
	rc = read_past(p, state, &err);
	if (rc < 0)
		return fail_past(p->a, &err);
	if (p->losses.all)
		console_error("%s", trace_losses_text(p->a, &p->losses).p);
	activity_sort(&p->deeds);
	return STATUS_OK;
}

void past_done(struct past *p)
{
	driver_done(&p->under.c);
}
