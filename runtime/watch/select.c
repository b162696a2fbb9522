#include "runtime/watch/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_tree.h>

#define RING_DEFAULT (32u << 20)
#define RING_MAX     (1u << 28)

enum field {
	FIELD_DATA, /* an argument, by name */
	FIELD_COMM,
	FIELD_UID,
	FIELD_PID,
	FIELD_TID,
	FIELD_PPID,
	FIELD_HOST_PID,
	FIELD_HOST_TID,
	FIELD_MNTNS,
	FIELD_PIDNS,
	FIELD_CGROUP,
	FIELD_SYSCALL,
	FIELD_RETVAL,
};

enum op { OP_EQ, OP_NE, OP_LT, OP_GT, OP_LE, OP_GE };

struct condition {
	enum field field;
	enum op op;
	struct str arg;	   /* DATA */
	struct str values; /* separated by commas */
};

struct wanted {
	bool is, optional;
	struct condition *conditions;
	size_t n;
};

struct select {
	yajl_val tree; /* everything else points into it */
	struct wanted events[WATCH_EVENTS];
	const char **exclude, **leaves;
	size_t n_exclude, n_leaves;
	bool reads;
	uint32_t ring;
};

/* --- conditions ----------------------------------------------------------- */

static const struct {
	const char *name;
	enum field field;
} fields[] = {
#define EVENT(...)
#define CALL(...)
#define ARG(...)
#define FIELD(name, id) {#name, FIELD_##id},
#include "grammar/native-events.def"
#undef EVENT
#undef CALL
#undef FIELD
#undef ARG
};

static bool parse_field(struct str name, struct condition *out)
{
	static const struct str prefixes[] = {STR("data."), STR("args.")};

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (str_starts(name, prefixes[i])) {
			out->field = FIELD_DATA;
			out->arg = str_slice(name, prefixes[i].n, name.n);
			return out->arg.n > 0;
		}
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (str_is(name, fields[i].name)) {
			out->field = fields[i].field;
			return true;
		}
	return false;
}

static bool parse_op(struct str *rest, enum op *out)
{
	static const struct {
		struct str text;
		enum op op;
	} ops[] = {
		{STR("!="), OP_NE}, {STR("<="), OP_LE}, {STR(">="), OP_GE},
		{STR("="), OP_EQ},  {STR("<"), OP_LT},	{STR(">"), OP_GT},
	};

	for (size_t i = 0; i < ARRAY_LEN(ops); i++)
		if (str_starts(*rest, ops[i].text)) {
			*out = ops[i].op;
			*rest = str_slice(*rest, ops[i].text.n, rest->n);
			return true;
		}
	return false;
}

static bool parse_condition(struct str s, struct condition *out)
{
	size_t at = 0;

	while (at < s.n && !strchr("=!<>", s.p[at]))
		at++;
	out->values = str_slice(s, at, s.n);
	return parse_field(str_slice(s, 0, at), out) &&
	       parse_op(&out->values, &out->op);
}

/* prefix*, *suffix, *contains*, or the text itself. */
static bool text_matches(struct str pattern, struct str s)
{
	bool open_beg = str_starts(pattern, STR("*"));
	bool open_end = pattern.n > open_beg && str_ends(pattern, STR("*"));
	struct str core = str_slice(pattern, open_beg, pattern.n - open_end);

	if (!open_beg && !open_end)
		return str_eq(core, s);
	if (!open_beg)
		return str_starts(s, core);
	if (!open_end)
		return str_ends(s, core);
	for (size_t i = 0; i + core.n <= s.n; i++)
		if (memcmp(s.p + i, core.p, core.n) == 0)
			return true;
	return false;
}

static bool number_matches(enum op op, struct str text, int64_t have)
{
	bool negative = str_starts(text, STR("-"));
	uint64_t magnitude;
	int64_t want;

	if (!str_u64(str_slice(text, negative, text.n), INT64_MAX, &magnitude))
		return false;
	want = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	switch (op) {
	case OP_EQ:
	case OP_NE:
		return have == want;
	case OP_LT:
		return have < want;
	case OP_GT:
		return have > want;
	case OP_LE:
		return have <= want;
	case OP_GE:
		return have >= want;
	}
	return false;
}

static bool value_matches(enum op op, struct str want, const struct value *v)
{
	switch (v->kind) {
	case VALUE_INT:
		return number_matches(op, want, v->i);
	case VALUE_UINT:
		return v->u <= INT64_MAX &&
		       number_matches(op, want, (int64_t)v->u);
	case VALUE_BOOL:
		return str_is(want, v->b ? "true" : "false");
	case VALUE_TEXT:
		return text_matches(want, v->s);
	case VALUE_LIST:
	case VALUE_ADDR:
	case VALUE_PACKET:
	case VALUE_QUESTIONS:
	case VALUE_ANSWERS:
	case VALUE_NONE:
		return false; /* the compiler refuses a condition on them */
	}
	return false;
}

static struct value of_number(uint64_t u)
{
	return (struct value){VALUE_UINT, {.u = u}};
}

static struct value of_text(const char *text, size_t n)
{
	return (struct value){VALUE_TEXT, {.s = {text, n}}};
}

static struct value field_value(const struct condition *c,
				const struct record *r)
{
	const struct watch_head *h = r->head;
	const struct value *arg;

	switch (c->field) {
	case FIELD_DATA:
		arg = record_value(r, c->arg);
		return arg ? *arg : (struct value){.kind = VALUE_NONE};
	case FIELD_COMM:
		return of_text(h->comm, strnlen(h->comm, WATCH_COMM));
	case FIELD_UID:
		return of_number(h->uid);
	case FIELD_PID:
		return of_number(h->pid);
	case FIELD_TID:
		return of_number(h->tid);
	case FIELD_PPID:
		return of_number(h->ppid);
	case FIELD_HOST_PID:
		return of_number(h->host_pid);
	case FIELD_HOST_TID:
		return of_number(h->host_tid);
	case FIELD_MNTNS:
		return of_number(h->mntns);
	case FIELD_PIDNS:
		return of_number(h->pidns);
	case FIELD_CGROUP:
		return of_number(h->cgroup);
	case FIELD_SYSCALL:
		return of_text(r->syscall, strlen(r->syscall));
	case FIELD_RETVAL:
		return (struct value){VALUE_INT, {.i = r->ret}};
	}
	return (struct value){.kind = VALUE_NONE};
}

/* Any of the values; for OP_NE, too, which is turned round by the caller. */
static bool any_matches(const struct condition *c, const struct record *r)
{
	struct value v = field_value(c, r);
	struct str rest = c->values, one;

	while (str_field(&rest, ',', &one))
		if (value_matches(c->op, one, &v))
			return true;
	return false;
}

static bool same_field(const struct condition *a, const struct condition *b)
{
	return a->field == b->field && str_eq(a->arg, b->arg);
}

/* A match of '=' on the same field makes '!=' on it void. */
static bool is_beaten(const struct wanted *w, const struct condition *c,
		      const struct record *r)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->conditions[i].op == OP_EQ &&
		    same_field(&w->conditions[i], c) &&
		    any_matches(&w->conditions[i], r))
			return true;
	return false;
}

static bool conditions_hold(const struct wanted *w, const struct record *r)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct condition *c = &w->conditions[i];
		bool match = any_matches(c, r);

		if (c->op == OP_NE ? match && !is_beaten(w, c, r) : !match)
			return false;
	}
	return true;
}

/* Under one of the paths that are left out? */
static bool is_excluded(const struct select *s, const struct record *r)
{
	const struct value *v = record_value(r, STR("pathname"));

	/* Leaving out /usr must not hide what is run from there. */
	if (!v || v->kind != VALUE_TEXT ||
	    r->event == WATCH_EVENT_sched_process_exec)
		return false;
	for (size_t i = 0; i < s->n_exclude; i++) {
		struct str dir = str_of(s->exclude[i]);

		if (str_starts(v->s, dir) &&
		    (v->s.n == dir.n || v->s.p[dir.n] == '/'))
			return true;
	}
	return false;
}

bool select_takes(const struct select *s, const struct record *r)
{
	return s->events[r->event].is && !is_excluded(s, r) &&
	       conditions_hold(&s->events[r->event], r);
}

/* --- trace.json ----------------------------------------------------------- */

static yajl_val member(yajl_val o, const char *name, yajl_type type)
{
	const char *path[] = {name, NULL};

	return yajl_tree_get(o, path, type);
}

static int bad(struct err *err, const char *what)
{
	return err_set(err, -EPROTO, "trace.json: %s", what);
}

static int take_filters(struct wanted *w, yajl_val list, struct err *err)
{
	w->conditions = calloc(list->u.array.len + 1, sizeof(*w->conditions));
	if (!w->conditions)
		return err_set(err, -ENOMEM, "no memory");
	for (size_t i = 0; i < list->u.array.len; i++) {
		const char *text = YAJL_GET_STRING(list->u.array.values[i]);

		if (!text ||
		    !parse_condition(str_of(text), &w->conditions[w->n++]))
			return bad(err, "a filter that is none");
	}
	return 0;
}

static int take_events(struct select *s, yajl_val list, struct err *err)
{
	for (size_t i = 0; i < list->u.array.len; i++) {
		yajl_val o = list->u.array.values[i];
		yajl_val name = YAJL_IS_OBJECT(o)
					? member(o, "name", yajl_t_string)
					: NULL;
		yajl_val filters =
			name ? member(o, "filters", yajl_t_array) : NULL;
		enum watch_event e;
		int rc;

		if (!name || !filters ||
		    !events_find(str_of(YAJL_GET_STRING(name)), &e) ||
		    s->events[e].is)
			return bad(err, "an event that this tracer does not "
					"know: the image membrane-watch and the "
					"program are of two versions");
		s->events[e].is = true;
		s->events[e].optional =
			YAJL_IS_TRUE(member(o, "optional", yajl_t_any));
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
			return bad(err, "a text that is none");
		(*out)[(*out_n)++] = text;
	}
	return 0;
}

static int take(struct select *s, struct err *err)
{
	yajl_val version = member(s->tree, "version", yajl_t_number);
	yajl_val events = member(s->tree, "events", yajl_t_array);
	yajl_val exclude = member(s->tree, "exclude", yajl_t_array);
	yajl_val leaves = member(s->tree, "sensitive", yajl_t_array);
	yajl_val reads = member(s->tree, "reads", yajl_t_any);
	yajl_val ring = member(s->tree, "ring", yajl_t_number);
	int rc;

	if (!version || YAJL_GET_INTEGER(version) != 1)
		return bad(err, "not of version 1");
	if (!events || !exclude || !leaves || !reads)
		return bad(err, "a member is missing");
	s->reads = YAJL_IS_TRUE(reads);
	s->ring = RING_DEFAULT;
	if (ring) {
		long long n = YAJL_GET_INTEGER(ring);

		if (n < 4096 || n > RING_MAX || (n & (n - 1)))
			return bad(err, "a ring of no power of two");
		s->ring = (uint32_t)n;
	}
	rc = take_events(s, events, err);
	if (rc == 0)
		rc = take_texts(exclude, &s->exclude, &s->n_exclude, err);
	if (rc == 0)
		rc = take_texts(leaves, &s->leaves, &s->n_leaves, err);
	if (rc == 0 && s->n_leaves > SELECT_LEAVES_MAX)
		return bad(err, "too many names");
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
	rc = YAJL_IS_OBJECT(s->tree) ? take(s, err)
				     : bad(err, "not a JSON object");
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
		free(s->events[i].conditions);
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
