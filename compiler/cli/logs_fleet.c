/*
 * `membrane logs` of many sessions: what the gates of Pods printed, or a folder
 * of records, merged by time.
 */
#include "compiler/base/json.h"
#include "compiler/cli/account/fleet.h"
#include "compiler/cli/account/logs_line.h"
#include "compiler/cli/parts.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/traces/traces.h"
#include "runtime/launch/kubernetes/kubectl.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define GATE		"gate" /* the container of each Pod */
#define COLUMNS_MAX	40u    /* of whose line it is */
#define FOLLOWED	"1000" /* Pods at once, with -f */
#define SCRATCH_LINES	256u

struct shown {
	const char *member; /* whose it is, in JSON */
	bool json;
	struct view view; /* of the terminal; out is made for each line */
	unsigned columns;
	uint64_t bad, told;
	struct fleet *fleet; /* NULL: as it comes */
	struct arena *scratch; /* of some lines, let go of together */
	unsigned lines;
};

/* What a gate says besides decisions: of its own course. */
static bool is_course(struct str event)
{
	static const char *const words[] = {"ready",	  "roots",  "renewal",
					    "generation", "answer", "done"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_is(event, words[i]))
			return true;
	return false;
}

/* Said wherever decisions go: what ended a gate, and what is on no record. */
static bool tell_trouble(struct arena *a, struct str source, const cJSON *o)
{
	struct str event = json_find_str(o, "event");
	const char *who = view_cleaned(a, source).p;

	if (str_is(event, "error")) {
		console_error("%s: its gate ended: %s", who,
			      view_cleaned(a, json_find_str(o, "message")).p);
		return true;
	}
	if (str_is(event, "lost") && !json_find_str(o, "time").n) {
		console_error(
			"%s: its gate lost %llu records", who,
			(unsigned long long)json_find_u64(o, "count",
							  JSON_WHOLE_MAX));
		return true;
	}
	return is_course(event);
}

/* Its first row behind whose it is, the others below. */
static void print_rows(const struct shown *s, struct arena *a,
		       struct str source, struct str rows)
{
	struct str who = view_cut(view_cleaned(a, source), s->columns), row;
	bool first = true;

	while (str_line(&rows, &row)) {
		printf("%.*s%*s %.*s\n", first ? (int)who.n : 0, who.p,
		       (int)(s->columns - (first ? view_columns(who) : 0)), "",
		       STR_ARG(row));
		first = false;
	}
}

static void print_record(struct shown *s, struct arena *a, struct str source,
			 struct str line, cJSON *take)
{
	struct view v = s->view;
	struct str text;
	struct buf out;

	if (s->json) {
		cJSON *root = json_object();

		json_put_str(root, s->member, arena_str(a, source));
		json_put(root, "record", take);
		text = json_compact(a, root);
		printf("%.*s\n", STR_ARG(text));
		s->told++;
		return;
	}
	cJSON_Delete(take);
	buf_init(&out, a);
	v.out = &out;
	v.width = v.width > s->columns + 41 ? v.width - s->columns - 1 : 40;
	if (logs_line(&v, line)) {
		print_rows(s, a, source, buf_str(&out));
		s->told++;
	} else {
		s->bad++;
	}
}

/* For the line at hand; what lies there is gone some lines later. */
static struct arena *scratch_of(struct shown *s)
{
	if (s->lines++ % SCRATCH_LINES == 0) {
		if (s->scratch)
			arena_free(s->scratch);
		s->scratch = arena_new();
	}
	return s->scratch;
}

static void show_line(void *ctx, struct str source, struct str line)
{
	struct shown *s = ctx;
	cJSON *o = cJSON_ParseWithLength(line.p, line.n);
	struct arena *a;

	if (!cJSON_IsObject(o)) {
		s->bad += line.n > 0;
		cJSON_Delete(o);
		return;
	}
	a = scratch_of(s);
	if (tell_trouble(a, source, o))
		cJSON_Delete(o);
	else
		print_record(s, a, source, line, o);
}

/* A line of `kubectl logs --prefix`. */
static int take_line(void *ctx, struct str line, struct err *err)
{
	struct shown *s = ctx;
	struct str source = fleet_source(&line, STR(""));

	ignore(err);
	if (s->fleet) {
		fleet_put(s->fleet, source, line);
		return 0;
	}
	if (source.n > s->columns && s->columns < COLUMNS_MAX)
		s->columns = source.n < COLUMNS_MAX ? (unsigned)source.n
						    : COLUMNS_MAX;
	show_line(s, source, line);
	fflush(stdout);
	return 0;
}

static int show_merged(struct shown *s, struct err *err)
{
	unsigned columns = fleet_columns(s->fleet);

	s->columns = columns < COLUMNS_MAX ? columns : COLUMNS_MAX;
	return fleet_each(s->fleet, show_line, s, err);
}

/* Pods that have no such container, or none yet. */
static void tell_complaint(struct arena *a, struct str complaint)
{
	struct str line;

	while (str_line(&complaint, &line))
		console_error("kubectl: %s", view_cleaned(a, line).p);
}

static int read_pods(struct arena *a, const struct options *o, struct shown *s,
		     struct err *err)
{
	const struct option_given *sel = options_get(o, OPTION_SELECTOR);
	const char *words[] = {"logs",
			       "--selector",
			       arena_cstr(a, sel->value),
			       "--container",
			       GATE,
			       "--prefix",
			       "--ignore-errors",
			       "--tail=-1",
			       NULL,
			       NULL,
			       NULL};
	struct kubectl_call c = {.words = words,
				 .timeout_ms = -1,
				 .on_line = take_line,
				 .ctx = s};
	struct kubectl k = kubectl_of(a, o);
	int rc;

	if (options_get(o, OPTION_FOLLOW)) {
		words[8] = "--follow";
		words[9] = "--max-log-requests=" FOLLOWED;
	}
	rc = kubectl_run(a, &k, &c, err);
	if (rc == 0 && c.status != 0)
		rc = kubectl_fault(&c, err);
	else if (rc == 0)
		tell_complaint(a, c.complaint);
	return rc;
}

static int read_records(struct arena *a, const struct options *o,
			struct shown *s, struct err *err)
{
	bool follow = options_get(o, OPTION_FOLLOW) != NULL;
	int rc = follow ? 0 : fleet_open(a, &s->fleet, err);

	if (rc < 0)
		return rc;
	if (options_get(o, OPTION_SELECTOR))
		rc = read_pods(a, o, s, err);
	else
		rc = fleet_read(a, arena_cstr(a, o->words.v[0]), fleet_put,
				s->fleet, err);
	if (s->fleet) {
		struct err other;

		/* What was read before it failed is shown. */
		if (show_merged(s, rc < 0 ? &other : err) < 0 && rc == 0)
			rc = err->code;
	}
	return rc;
}

/* A word that is no session's: a folder of records, or a file. */
bool logs_is_fleet(struct arena *a, const struct options *o)
{
	if (options_get(o, OPTION_SELECTOR))
		return true;
	return o->words.n && !traces_is_id(o->words.v[0]) &&
	       fleet_is_there(arena_cstr(a, o->words.v[0]));
}

static bool fits_fleet(const struct options *o)
{
	bool pods = options_get(o, OPTION_SELECTOR) != NULL;

	if (options_get(o, OPTION_AGENT))
		console_error(
			"--agent is of one session of this machine; of a Pod: kubectl logs POD -c agent");
	else if (pods && o->words.n)
		console_error(
			"either Pods by --selector, or a session, folder or file");
	else if (!pods && (options_get(o, OPTION_CONTEXT) ||
			   options_get(o, OPTION_NAMESPACE)))
		console_error(
			"--context and --namespace say where Pods are: they need --selector");
	else if (!pods && options_get(o, OPTION_FOLLOW))
		console_error(
			"a folder or file is read as it is: -f goes with a session or --selector");
	else
		return true;
	return false;
}

int logs_fleet(struct arena *a, const struct options *o)
{
	struct shown s = {
		.member = options_get(o, OPTION_SELECTOR) ? "pod" : "session",
		.json = options_get(o, OPTION_JSON) != NULL,
		.view = {.width = console_width(STDOUT_FILENO),
			 .colour = console_colour(STDOUT_FILENO)},
	};
	struct err err;
	int rc;

	if (!fits_fleet(o))
		return STATUS_USAGE;
	rc = read_records(a, o, &s, &err);
	fleet_close(s.fleet);
	if (s.scratch)
		arena_free(s.scratch);
	if (s.bad)
		console_error("%llu line%s no decision",
			      (unsigned long long)s.bad,
			      s.bad == 1 ? " is" : "s are");
	if (rc < 0) {
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
		return STATUS_IO;
	}
	if (!s.told && !s.bad)
		console_error("nothing was decided");
	if (fflush(stdout) == EOF || ferror(stdout)) {
		console_error("stdout: not written");
		return STATUS_IO;
	}
	return STATUS_OK;
}
