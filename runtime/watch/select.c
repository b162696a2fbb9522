#include "runtime/watch/select.h"

#include "compiler/plan/trace_json.h"
#include "runtime/watch/ownpath.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_tree.h>

#define RING_DEFAULT (32u << 20)
#define RING_MAX     (1u << 28)

struct wanted {
	bool is, optional;
	struct conditions conditions;
};

struct select {
	yajl_val tree; /* everything else points into it */
	struct wanted events[WATCH_EVENTS];
	const char **exclude, **leaves;
	char own[PATH_MAX]; /* empty: not said */
	size_t n_exclude, n_leaves;
	bool reads, required;
	uint32_t ring;
};

/* Under one of the paths that are left out? */
static bool is_in_excluded(const struct select *s, struct str path)
{
	for (size_t i = 0; i < s->n_exclude; i++) {
		struct str dir = str_of(s->exclude[i]);

		if (str_starts(path, dir) &&
		    (path.n == dir.n || path.p[dir.n] == '/'))
			return true;
	}
	return false;
}

static bool is_excluded(const struct select *s, const struct record *r)
{
	const struct value *v = record_value(r, STR("pathname"));
	char buf[OWNPATH_MAX];
	struct str other;

	/* Leaving out /usr must not hide what is run from there. */
	if (!v || v->kind != VALUE_TEXT ||
	    r->event == WATCH_EVENT_sched_process_exec)
		return false;
	return is_in_excluded(s, v->s) ||
	       (ownpath_other(str_of(s->own), v->s, buf, &other) &&
		is_in_excluded(s, other));
}

void select_own(struct select *s, const char *path)
{
	snprintf(s->own, sizeof(s->own), "%s", path);
}

bool select_takes(const struct select *s, const struct record *r)
{
	return s->events[r->event].is && !is_excluded(s, r) &&
	       condition_all_hold(&s->events[r->event].conditions, r,
				  str_of(s->own));
}

/* --- trace.json ----------------------------------------------------------- */

static yajl_val member_of(yajl_val o, const char *name, yajl_type type)
{
	const char *path[] = {name, NULL};

	return yajl_tree_get(o, path, type);
}

static int fail_plan(struct err *err, const char *what)
{
	return err_set(err, -EPROTO, "trace.json: %s", what);
}

static int take_filters(struct wanted *w, yajl_val list, struct err *err)
{
	struct conditions *all = &w->conditions;

	all->each = calloc(list->u.array.len + 1, sizeof(*all->each));
	if (!all->each)
		return err_set(err, -ENOMEM, "no memory");
	for (size_t i = 0; i < list->u.array.len; i++) {
		const char *text = YAJL_GET_STRING(list->u.array.values[i]);

		if (!text ||
		    !condition_parse(str_of(text), &all->each[all->n++]))
			return fail_plan(err, "a filter that is none");
	}
	return 0;
}

static int take_events(struct select *s, yajl_val list, struct err *err)
{
	for (size_t i = 0; i < list->u.array.len; i++) {
		yajl_val o = list->u.array.values[i];
		yajl_val name =
			YAJL_IS_OBJECT(o)
				? member_of(o, TRACE_JSON_NAME, yajl_t_string)
				: NULL;
		yajl_val filters =
			name ? member_of(o, TRACE_JSON_FILTERS, yajl_t_array)
			     : NULL;
		enum watch_event e;
		int rc;

		if (!name || !filters ||
		    !events_find(str_of(YAJL_GET_STRING(name)), &e) ||
		    s->events[e].is)
			return fail_plan(
				err,
				"an event that this tracer does not know: the image membrane-watch and the program are of two versions");
		s->events[e].is = true;
		s->events[e].optional = YAJL_IS_TRUE(
			member_of(o, TRACE_JSON_OPTIONAL, yajl_t_any));
		rc = take_filters(&s->events[e], filters, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int take_texts(yajl_val list, const char ***out, size_t *out_n,
		      struct err *err)
{
	*out = calloc(list->u.array.len + 1, sizeof(**out));
	if (!*out)
		return err_set(err, -ENOMEM, "no memory");
	for (size_t i = 0; i < list->u.array.len; i++) {
		const char *text = YAJL_GET_STRING(list->u.array.values[i]);

		if (!text)
			return fail_plan(err, "a text that is none");
		(*out)[(*out_n)++] = text;
	}
	return 0;
}

static int take_plan(struct select *s, struct err *err)
{
	yajl_val version =
		member_of(s->tree, TRACE_JSON_VERSION_KEY, yajl_t_number);
	yajl_val events = member_of(s->tree, TRACE_JSON_EVENTS, yajl_t_array);
	yajl_val exclude = member_of(s->tree, TRACE_JSON_EXCLUDE, yajl_t_array);
	yajl_val leaves =
		member_of(s->tree, TRACE_JSON_SENSITIVE, yajl_t_array);
	yajl_val reads = member_of(s->tree, TRACE_JSON_READS, yajl_t_any);
	yajl_val ring = member_of(s->tree, "ring", yajl_t_number);
	int rc;

	if (!version || YAJL_GET_INTEGER(version) != TRACE_JSON_VERSION)
		return fail_plan(err, "not of version 1");
	if (!events || !exclude || !leaves || !reads)
		return fail_plan(err, "a member is missing");
	s->reads = YAJL_IS_TRUE(reads);
	s->required = YAJL_IS_TRUE(
		member_of(s->tree, TRACE_JSON_REQUIRED, yajl_t_any));
	s->ring = RING_DEFAULT;
	if (ring) {
		long long n = YAJL_GET_INTEGER(ring);

		if (n < 4096 || n > RING_MAX || (n & (n - 1)))
			return fail_plan(err, "a ring of no power of two");
		s->ring = (uint32_t)n;
	}
	rc = take_events(s, events, err);
	if (rc == 0)
		rc = take_texts(exclude, &s->exclude, &s->n_exclude, err);
	if (rc == 0)
		rc = take_texts(leaves, &s->leaves, &s->n_leaves, err);
	if (rc == 0 && s->n_leaves > SELECT_LEAVES_MAX)
		return fail_plan(err, "too many names");
	return rc;
}

int select_parse(struct str text, struct select **out, struct err *err)
{
	struct select *s = calloc(1, sizeof(*s));
	char why[128] = "";
	int rc;

	if (!s)
		return err_set(err, -ENOMEM, "no memory");
	/* With a NUL behind it: fileio and tests see to that. */
	s->tree = yajl_tree_parse(text.p, why, sizeof(why));
	rc = YAJL_IS_OBJECT(s->tree) ? take_plan(s, err)
				     : fail_plan(err, "not a JSON object");
	if (rc < 0) {
		select_free(s);
		return rc;
	}
	*out = s;
	return 0;
}

void select_free(struct select *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < WATCH_EVENTS; i++)
		free(s->events[i].conditions.each);
	free(s->exclude);
	free(s->leaves);
	yajl_tree_free(s->tree);
	free(s);
}

bool select_wants(const struct select *s, enum watch_event e)
{
	return s->events[e].is;
}

bool select_optional(const struct select *s, enum watch_event e)
{
	return s->events[e].optional;
}

bool select_required(const struct select *s)
{
	return s->required;
}

const struct conditions *select_conditions(const struct select *s,
					   enum watch_event e)
{
	return &s->events[e].conditions;
}

bool select_reads(const struct select *s)
{
	return s->reads;
}

size_t select_leaves(const struct select *s, const char *const **out)
{
	*out = s->leaves;
	return s->n_leaves;
}

uint32_t select_ring(const struct select *s)
{
	return s->ring;
}
