/* `membrane trace`: which files and records are meant, and who shows them. */
#include "compiler/cli/export/export.h"
#include "compiler/cli/traces/trace_decided.h"
#include "compiler/cli/traces/trace_follow.h"
#include "compiler/cli/traces/trace_line.h"
#include "compiler/cli/traces/trace_losses.h"
#include "compiler/cli/traces/trace_replay.h"
#include "compiler/cli/traces/trace_since.h"
#include "compiler/cli/traces/trace_views.h"
#include "compiler/cli/traces/traces.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/workspace/inputs.h"
#include "compiler/ir/tracee.h"
#include "compiler/trace/filter.h"
#include "compiler/trace/filter_match.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum how {
	HOW_SHOW,
	HOW_GREP,
	HOW_STATS,
	HOW_TREE,
	HOW_FOLLOW,
	HOW_REPLAY,
	HOW_SUGGEST,
	HOW_EXPORT,
	HOWS,
};

static const char *const hows[] = {
	[HOW_SHOW] = "show",	   [HOW_GREP] = "grep",
	[HOW_STATS] = "stats",	   [HOW_TREE] = "tree",
	[HOW_FOLLOW] = "follow",   [HOW_REPLAY] = "replay",
	[HOW_SUGGEST] = "suggest", [HOW_EXPORT] = "export",
};

struct asked {
	struct arena *a;
	const struct options *o;
	enum how how;
	struct str what, expression;
	struct trace_look look;
	struct filter *filter;
	struct story *story;
	struct stats *stats;
	struct tree *tree;
	struct trace_losses losses;
	struct decided *decided; /* told of between the events; or NULL */
	uint64_t matched;
};

/* Those that look at all there is, without an expression. */
static bool is_whole(enum how how)
{
	return how == HOW_REPLAY || how == HOW_SUGGEST || how == HOW_EXPORT;
}

/* --- the command line ----------------------------------------------------- */

static bool find_how(struct asked *q)
{
	struct str word = q->o->words.n ? q->o->words.v[0] : STR("show");

	for (int i = 0; i < HOWS; i++)
		if (str_is(word, hows[i])) {
			q->how = (enum how)i;
			return true;
		}
	console_error(
		"trace knows show, grep, stats, tree, follow, replay, suggest and export, not '%s'",
		view_cleaned(q->a, word).p);
	return false;
}

/* Does what was given go with it? */
static bool fits_how(const struct asked *q)
{
	if (q->how != HOW_SUGGEST && options_get(q->o, OPTION_PROPOSE)) {
		console_error("--ask is for trace suggest");
		return false;
	}
	if (q->how != HOW_EXPORT && (options_get(q->o, OPTION_OTLP) ||
				     options_get(q->o, OPTION_OCSF))) {
		console_error("--otlp-json and --ocsf are for trace export");
		return false;
	}
	if (!is_whole(q->how)) {
		if (options_get(q->o, OPTION_POLICY))
			console_error("--policy is for trace replay");
		return !options_get(q->o, OPTION_POLICY);
	}
	if (q->expression.n)
		console_error(
			"trace %s takes a session or a file, and no expression",
			hows[q->how]);
	else if (options_get(q->o, OPTION_SINCE))
		console_error("trace %s looks at all of a session: no --since",
			      hows[q->how]);
	else if (q->how != HOW_REPLAY && options_get(q->o, OPTION_POLICY))
		console_error("--policy is for trace replay");
	else if (q->how == HOW_SUGGEST && options_get(q->o, OPTION_JSON))
		console_error("trace suggest writes YAML: no --json");
	else if (q->how == HOW_EXPORT && options_get(q->o, OPTION_JSON))
		console_error(
			"trace export writes JSON of another form: no --json");
	else
		return true;
	return false;
}

/* [SESSION|FILE] and then words of an expression. */
static bool find_words(struct asked *q)
{
	struct buf b;
	uint32_t i = 1;

	if (q->o->words.n > 1 &&
	    (is_whole(q->how) || traces_is_name(q->a, q->o->words.v[1])))
		q->what = q->o->words.v[i++];
	buf_init(&b, q->a);
	for (uint32_t k = i; k < q->o->words.n; k++)
		buf_addf(&b, "%s%.*s", b.n ? " " : "",
			 STR_ARG(q->o->words.v[k]));
	q->expression = str_trim(buf_str(&b));
	if (q->what.n && i < q->o->words.n &&
	    traces_is_name(q->a, q->o->words.v[i])) {
		console_error(
			"trace %s reads one session or file; several files: cat FILE... | membrane trace %s -",
			hows[q->how], hows[q->how]);
		return false;
	}
	if (q->how != HOW_GREP || q->expression.n)
		return true;
	console_error(
		"trace grep needs an expression, as in: membrane trace grep 'event == exec and comm != \"git\"'");
	return false;
}

static bool find_since(struct asked *q)
{
	const struct option_given *given = options_get(q->o, OPTION_SINCE);
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (!given || trace_since(given->value, now.tv_sec, &q->look.since_ns))
		return true;
	console_error(
		"--since takes a time before now, as in 90s, 10m or 1h30m; one of today,\n  as in 12:00; or a date, as in 2026-01-31 or 2026-01-31T12:00:00Z. It is UTC\n  unless an offset is written");
	return false;
}

static struct str event_at(size_t i)
{
	const struct tracee_event *e = tracee_event_at(i);

	return e ? str_of(e->name) : STR("");
}

/* One word is no comparison, and was likely meant as something to read. */
static bool is_one_word(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || strchr("=!<>~()[]\"',", s.p[i]))
			return false;
	return true;
}

static bool find_filter(struct asked *q)
{
	struct sources sources;
	struct diags diags;

	if (q->expression.n == 0)
		return true;
	sources_init(&sources, q->a);
	diags_init(&diags, q->a, &sources);
	q->filter = filter_parse(&diags, &sources, q->expression, event_at);
	console_diags(q->a, &diags);
	if (!q->filter && is_one_word(q->o->words.v[1]) && !q->what.n)
		console_error(
			"nor is there a file or session '%s'; 'membrane ps --all' lists sessions",
			view_cleaned(q->a, q->o->words.v[1]).p);
	return q->filter != NULL;
}

/* --- reading -------------------------------------------------------------- */

static bool is_wanted(struct asked *q, const struct trace_event *e)
{
	bool is_new = e->at_ns >= q->look.since_ns;

	q->matched += is_new;
	return is_new;
}

/* What the trace lacks, it lacks whatever is looked for. */
static void note_losses(struct asked *q, const struct trace_event *e)
{
	trace_losses_add(&q->losses, e);
	if (q->stats)
		stats_add(q->stats, e);
}

static void tell_decided(struct asked *q, uint64_t before_ns)
{
	const cJSON *d;
	uint64_t at_ns;

	while (q->decided && (d = decided_next(q->decided, before_ns, &at_ns)))
		story_decision(q->story, d, at_ns);
}

static int visit_event(void *ctx, const struct trace_event *e)
{
	struct asked *q = ctx;
	bool wanted, own = trace_is_own(e);

	if (own)
		note_losses(q, e);
	if (q->filter && !filter_matches(q->filter, e))
		return 0;
	wanted = is_wanted(q, e);

	switch (q->how) {
	case HOW_SHOW:
		tell_decided(q, e->at_ns);
		story_add(q->story, e);
		break;
	case HOW_FOLLOW: /* what is older tells how processes are related */
		story_add(q->story, e);
		break;
	case HOW_GREP:
		if (!wanted)
			break;
		fwrite(e->line.p, 1, e->line.n, stdout);
		putchar('\n');
		break;
	case HOW_STATS:
		if (!own)
			stats_add(q->stats, e);
		break;
	case HOW_TREE:
		tree_add(q->tree, e);
		break;
	case HOW_REPLAY:
	case HOW_SUGGEST:
	case HOW_EXPORT:
	case HOWS:
		break;
	}
	return ferror(stdout);
}

static void visit_following(void *ctx, const struct trace_event *e)
{
	struct asked *q = ctx;

	if (e)
		visit_event(q, e);
	else
		story_flush(q->story);
}

static void begin_views(struct asked *q)
{
	if (q->how == HOW_SHOW || q->how == HOW_FOLLOW)
		q->story = story_new(&q->look);
	else if (q->how == HOW_STATS)
		q->stats = stats_new(&q->look);
	else if (q->how == HOW_TREE)
		q->tree = tree_new(&q->look);
}

static void end_views(struct asked *q, bool any)
{
	if (q->story) {
		tell_decided(q, any ? UINT64_MAX : 0);
		story_end(q->story);
	}
	if (q->decided)
		decided_done(q->decided);
	if (q->stats)
		stats_end(q->stats, any);
	if (q->tree)
		tree_end(q->tree);
	if (q->filter)
		filter_done(q->filter);
}

/*
 * Of a session, and all of it: an expression is about records of the trace, and
 * for programs a line is one of these.
 */
static void find_decided(struct asked *q, const char *state,
			 const trace_paths *paths)
{
	struct str id = traces_session(paths);

	if (q->how == HOW_SHOW && paths->found && id.n && !q->filter &&
	    !q->look.json)
		q->decided =
			decided_new(q->a, arena_fmt(q->a, "%s/sessions/%.*s",
						    state, STR_ARG(id))
						  .p);
}

static int read_paths(struct asked *q, const char *state, struct err *err)
{
	trace_paths paths = {0};
	int rc;

	if (q->how == HOW_FOLLOW)
		return trace_follow(q->a, state, q->what, visit_following, q,
				    err);
	rc = traces_find(q->a, state, q->what, &paths, err);
	if (rc < 0)
		return rc;
	traces_tell_missing(&paths);
	find_decided(q, state, &paths);
	return traces_read(&paths, visit_event, q, err);
}

/* Somebody's clock on the wall is hours away from UTC. */
static void tell_if_to_come(uint64_t since_ns)
{
	struct timespec now;
	char clock[TRACE_CLOCK_MAX];
	uint64_t now_ns;

	clock_gettime(CLOCK_REALTIME, &now);
	now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	if (since_ns > now_ns)
		console_error("that time is yet to come: it is %s UTC",
			      trace_clock(now_ns, clock));
}

/* Nothing fitted: that is said, and grep has its status for it. */
static int tell_nothing(const struct asked *q)
{
	bool asked = q->filter || q->look.since_ns;

	if (q->how == HOW_STATS || q->how == HOW_FOLLOW)
		return STATUS_OK;
	console_error(asked ? "no record of it fits"
			    : "there is no record in it");
	tell_if_to_come(q->look.since_ns);
	return q->how == HOW_GREP ? STATUS_REFUSED : STATUS_OK;
}

static int read_traces(struct asked *q, const char *state)
{
	struct err err;
	int rc;

	begin_views(q);
	rc = read_paths(q, state, &err);
	/* Of what cannot be read at all there is nothing to say. */
	end_views(q, rc == 0 || q->matched);
	if (fflush(stdout) == EOF || ferror(stdout)) {
		console_error("stdout: %s",
			      errno ? strerror(errno) : "not written");
		return STATUS_IO;
	}
	if (rc < 0) {
		console_error("%s", view_cleaned(q->a, str_of(err.text)).p);
		return STATUS_IO;
	}
	if (q->losses.all && q->how != HOW_STATS)
		console_error("%s", trace_losses_text(q->a, &q->losses).p);
	return q->matched ? STATUS_OK : tell_nothing(q);
}

int command_trace(struct arena *a, const struct options *o)
{
	struct asked q = {.a = a, .o = o};
	const char *state;
	struct err err;

	q.look = (struct trace_look){
		.out = stdout,
		.colour = console_colour(STDOUT_FILENO),
		.cut = isatty(STDOUT_FILENO),
		.json = options_get(o, OPTION_JSON) != NULL,
		.width = console_width(STDOUT_FILENO),
	};
	if (inputs_state(a, &state, &err) < 0) {
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
		return STATUS_IO;
	}
	if (!find_how(&q) || !find_words(&q) || !fits_how(&q))
		return STATUS_USAGE;
	if (q.how == HOW_REPLAY)
		return trace_replay(a, o, state, q.what);
	if (q.how == HOW_SUGGEST)
		return trace_suggest(a, o, state, q.what);
	if (q.how == HOW_EXPORT)
		return export_trace(a, o, state, q.what);
	if (!find_since(&q) || !find_filter(&q))
		return STATUS_USAGE;
	return read_traces(&q, state);
}
