#include "compiler/commands/inputs.h"
#include "compiler/commands/say.h"
#include "compiler/commands/trace_replay.h"
#include "compiler/commands/trace_views.h"
#include "compiler/commands/traces.h"
#include "compiler/commands/view.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#define FOLLOW_MS 100 /* a file that grows tells nobody, portably */

enum how {
	HOW_SHOW,
	HOW_GREP,
	HOW_STATS,
	HOW_TREE,
	HOW_FOLLOW,
	HOW_REPLAY,
	HOW_SUGGEST,
	HOWS,
};

static const char *const hows[] = {
	[HOW_SHOW] = "show",	   [HOW_GREP] = "grep",
	[HOW_STATS] = "stats",	   [HOW_TREE] = "tree",
	[HOW_FOLLOW] = "follow",   [HOW_REPLAY] = "replay",
	[HOW_SUGGEST] = "suggest",
};

struct asked {
	struct arena *a;
	const struct options *o;
	enum how how;
	struct str what, expression;
	struct trace_look look;
	struct filter *filter;
	trace_paths paths;
	struct story *story;
	struct stats *stats;
	struct tree *tree;
};

/* Those that look at all there is, without an expression. */
static bool is_whole(enum how how)
{
	return how == HOW_REPLAY || how == HOW_SUGGEST;
}

/* --- the command line ----------------------------------------------------- */

static bool find_how(struct asked *q)
{
	struct str word = q->o->words.n ? q->o->words.v[0] : STR("");

	for (int i = 0; i < HOWS; i++)
		if (str_is(word, hows[i])) {
			q->how = (enum how)i;
			return true;
		}
	if (word.n == 0)
		say("trace needs one of show, grep, stats, tree, follow, "
		    "replay, suggest\n"
		    "  'membrane help trace' explains them");
	else
		say("trace knows show, grep, stats, tree, follow, replay and "
		    "suggest, not '%s'",
		    view_cleaned(q->a, word).p);
	return false;
}

/* Does what was given go with it? */
static bool fits(const struct asked *q)
{
	if (!is_whole(q->how)) {
		if (options_get(q->o, OPTION_POLICY))
			say("--policy is for trace replay");
		return !options_get(q->o, OPTION_POLICY);
	}
	if (q->expression.n)
		say("trace %s takes a session or a file, and no expression",
		    hows[q->how]);
	else if (options_get(q->o, OPTION_SINCE))
		say("trace %s looks at all of a session: no --since",
		    hows[q->how]);
	else if (q->how == HOW_SUGGEST && options_get(q->o, OPTION_POLICY))
		say("--policy is for trace replay");
	else if (q->how == HOW_SUGGEST && options_get(q->o, OPTION_JSON))
		say("trace suggest writes YAML: no --json");
	else
		return true;
	return false;
}

/* [SESSION|FILE] and then words of an expression. */
static bool find_words(struct asked *q, const char *state)
{
	struct buf b;
	uint32_t i = 1;

	if (q->o->words.n > 1 &&
	    (is_whole(q->how) || traces_is_name(q->a, state, q->o->words.v[1])))
		q->what = q->o->words.v[i++];
	buf_init(&b, q->a);
	for (; i < q->o->words.n; i++)
		buf_addf(&b, "%s%.*s", b.n ? " " : "",
			 STR_ARG(q->o->words.v[i]));
	q->expression = buf_str(&b);
	if (q->how != HOW_GREP || q->expression.n)
		return true;
	say("trace grep needs an expression, as in: membrane trace grep "
	    "'event == exec and comm != \"git\"'");
	return false;
}

/* "90s", "10m", "2h", "1d" before now. */
static bool parse_ago(struct str s, uint64_t *out_ns)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	struct timespec now;
	uint64_t n;

	if (s.n < 2 || !str_u64(str_slice(s, 0, s.n - 1), 100000, &n))
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (s.p[s.n - 1] == units[i].unit) {
			*out_ns =
				((uint64_t)now.tv_sec - n * units[i].seconds) *
				1000000000u;
			return true;
		}
	return false;
}

static bool find_since(struct asked *q)
{
	const struct option_given *given = options_get(q->o, OPTION_SINCE);
	struct tm tm = {0};
	const char *text, *end;

	if (!given || parse_ago(given->value, &q->look.since_ns))
		return true;
	text = arena_cstr(q->a, given->value);
	end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm); /* RFC 3339, UTC */
	if (end && *end == '\0') {
		q->look.since_ns = (uint64_t)timegm(&tm) * 1000000000u;
		return true;
	}
	say("--since takes a time before now, as in 10m, or one in UTC, as in "
	    "2026-01-31T12:00:00Z");
	return false;
}

static bool find_filter(struct asked *q)
{
	struct sources sources;
	struct diags diags;

	if (q->expression.n == 0)
		return true;
	sources_init(&sources, q->a);
	diags_init(&diags, q->a, &sources);
	q->filter = filter_parse(&diags, &sources, q->expression);
	say_diags(q->a, &diags);
	return q->filter != NULL;
}

/* --- reading -------------------------------------------------------------- */

static int visit(void *ctx, const struct trace_event *e)
{
	struct asked *q = ctx;

	switch (q->how) {
	case HOW_SHOW:
	case HOW_FOLLOW:
		story_add(q->story, e);
		return 0;
	case HOW_GREP:
		if (e->at_ns < q->look.since_ns)
			return 0;
		fwrite(e->line.p, 1, e->line.n, stdout);
		return putchar('\n') == EOF;
	case HOW_STATS:
		stats_add(q->stats, e);
		return 0;
	case HOW_TREE:
		tree_add(q->tree, e);
		return 0;
	case HOW_REPLAY:
	case HOW_SUGGEST:
	case HOWS:
		break;
	}
	return 0;
}

static void begin(struct asked *q)
{
	if (q->how == HOW_SHOW || q->how == HOW_FOLLOW)
		q->story = story_new(&q->look);
	else if (q->how == HOW_STATS)
		q->stats = stats_new(&q->look);
	else if (q->how == HOW_TREE)
		q->tree = tree_new(&q->look);
}

static void end(struct asked *q)
{
	if (q->story)
		story_end(q->story);
	if (q->stats)
		stats_end(q->stats);
	if (q->tree)
		tree_end(q->tree);
	if (q->filter)
		filter_done(q->filter);
}

/* Until the trace's last record is there, or nobody reads what is printed. */
static int follow(struct asked *q, struct err *err)
{
	const struct trace_event *e;
	const char *path = q->paths.v[q->paths.n - 1];
	struct reader *r;
	int rc = reader_open(path, &r, err);
	bool ended = false;

	if (rc < 0)
		return rc;
	while (!ended && !ferror(stdout)) {
		rc = reader_next(r, &e, err);
		if (rc < 0)
			break;
		if (rc == 0) {
			story_flush(q->story);
			poll(NULL, 0, FOLLOW_MS);
			continue;
		}
		ended = str_is(e->name, "membrane_end");
		if (!q->filter || filter_matches(q->filter, e))
			story_add(q->story, e);
	}
	reader_close(r);
	return rc < 0 ? err_while(err, "reading %s", path) : 0;
}

static int read_all(struct asked *q, const char *state)
{
	struct err err;
	int rc = traces_find(q->a, state, q->what, &q->paths, &err);

	if (rc == 0) {
		begin(q);
		rc = q->how == HOW_FOLLOW ? follow(q, &err)
					  : traces_read(&q->paths, q->filter,
							visit, q, &err);
		end(q);
	}
	if (rc < 0) {
		say("%s", view_cleaned(q->a, str_of(err.text)).p);
		return STATUS_IO;
	}
	return STATUS_OK;
}

int command_trace(struct arena *a, const struct options *o)
{
	struct asked q = {.a = a, .o = o};
	const char *state;
	struct err err;

	q.look = (struct trace_look){
		.out = stdout,
		.colour = say_colour(STDOUT_FILENO),
		.json = options_get(o, OPTION_JSON) != NULL,
		.width = say_width(STDOUT_FILENO),
	};
	if (inputs_state(a, &state, &err) < 0) {
		say("%s", view_cleaned(a, str_of(err.text)).p);
		return STATUS_IO;
	}
	if (!find_how(&q) || !find_words(&q, state) || !fits(&q))
		return STATUS_USAGE;
	if (q.how == HOW_REPLAY)
		return trace_replay(a, o, state, q.what);
	if (q.how == HOW_SUGGEST)
		return trace_suggest(a, o, state, q.what);
	if (!find_since(&q) || !find_filter(&q))
		return STATUS_USAGE;
	return read_all(&q, state);
}
