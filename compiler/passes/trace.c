#include "compiler/passes/trace.h"

#include "compiler/base/limits.h"
#include "compiler/ir/tracee.h"

#include <stdlib.h>
#include <string.h>

/* What is traced when a policy names no events. */
static const char *const default_events[] = {
	"net_packet_dns",	 "sched_process_exec",
	"sched_process_exit",	 "security_file_open",
	"security_inode_rename", "security_inode_unlink",
	"security_socket_bind",	 "security_socket_connect",
	"security_socket_listen",
};

struct expander {
	struct pass_ctx *c;
	struct ir_trace *t;
	unsigned release;
	VEC(struct ir_trace_event) out;
};

/* --- fields -------------------------------------------------------------- */

enum field_kind {
	FIELD_INT,      /* metadata: a number, every operator */
	FIELD_TEXT,     /* metadata: text, = and != */
	FIELD_RETVAL,   /* one number, no < and > in files */
	FIELD_DEAD,     /* parsed by Tracee, and then not or wrongly applied */
};

static const struct field {
	const char *name;
	enum field_kind kind;
	const char *instead; /* for FIELD_DEAD */
} fields[] = {
	{"timestamp", FIELD_INT, NULL},
	{"processorId", FIELD_INT, NULL},
	{"p", FIELD_INT, NULL},
	{"pid", FIELD_INT, NULL},
	{"processId", FIELD_INT, NULL},
	{"tid", FIELD_INT, NULL},
	{"threadId", FIELD_INT, NULL},
	{"ppid", FIELD_INT, NULL},
	{"parentProcessId", FIELD_INT, NULL},
	{"hostTid", FIELD_INT, NULL},
	{"hostThreadId", FIELD_INT, NULL},
	{"hostPid", FIELD_INT, NULL},
	{"uid", FIELD_INT, NULL},
	{"userId", FIELD_INT, NULL},
	{"mntns", FIELD_INT, NULL},
	{"mountNamespace", FIELD_INT, NULL},
	{"pidns", FIELD_INT, NULL},
	{"pidNamespace", FIELD_INT, NULL},
	{"cgroupId", FIELD_INT, NULL},
	{"processName", FIELD_TEXT, NULL},
	{"comm", FIELD_TEXT, NULL},
	{"hostName", FIELD_TEXT, NULL},
	{"containerId", FIELD_TEXT, NULL},
	{"containerImage", FIELD_TEXT, NULL},
	{"containerName", FIELD_TEXT, NULL},
	{"podName", FIELD_TEXT, NULL},
	{"podNamespace", FIELD_TEXT, NULL},
	{"podUid", FIELD_TEXT, NULL},
	{"syscall", FIELD_TEXT, NULL},
	{"retval", FIELD_RETVAL, NULL},
	{"container", FIELD_DEAD,
	 "its value is ignored by Tracee; write containerId="},
	{"hostParentProcessId", FIELD_DEAD,
	 "Tracee compares another number with it; write parentProcessId="},
	{"containerImageDigest", FIELD_DEAD,
	 "Tracee never evaluates it; write containerImage="},
	{"podSandbox", FIELD_DEAD,
	 "Tracee never evaluates it; write podName="},
};

static const struct field *field_named(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (str_is(name, fields[i].name))
			return &fields[i];
	return NULL;
}

/* --- filters ------------------------------------------------------------- */

enum op { OP_EQ, OP_NE, OP_LT, OP_GT, OP_LE, OP_GE };

struct filter {
	struct span at;
	struct str text, name, value;
	enum op op;
	const struct tracee_event *event;
};

static void help(struct expander *x, const char *text)
{
	if (text)
		diag_help(x->c->diags, "%s", text);
}

static bool malformed(struct expander *x, const struct filter *f,
		      const char *what, const char *right)
{
	diag_error(x->c->diags, DIAG_TRACE_FILTER, f->at, "'%s': %s",
		   diag_quote(x->c->diags, f->text), what);
	help(x, right);
	return false;
}

/* Tracee would take it, and then not do it. */
static bool trap(struct expander *x, const struct filter *f, const char *what,
		 const char *right)
{
	diag_error(x->c->diags, DIAG_TRACE_TRAP, f->at, "'%s': %s",
		   diag_quote(x->c->diags, f->text), what);
	help(x, right);
	return false;
}

/* The name ends at the first operator; no blank stands around the value. */
static bool parse_filter(struct expander *x, const struct ir_text *t,
			 struct filter *f)
{
	size_t i = 0, n = 1;
	struct str s = t->s;

	f->at = t->from.at;
	f->text = s;
	while (i < s.n && !strchr("=!<>", s.p[i]))
		i++;
	f->name = str_slice(s, 0, i);
	if (i == s.n)
		return malformed(x, f, "a filter without an operator",
				 "write NAME=VALUE or NAME!=VALUE");
	if (i + 1 < s.n && s.p[i + 1] == '=' && s.p[i] != '=')
		n = 2;
	switch (s.p[i]) {
	case '=':
		f->op = OP_EQ;
		break;
	case '<':
		f->op = n == 2 ? OP_LE : OP_LT;
		break;
	case '>':
		f->op = n == 2 ? OP_GE : OP_GT;
		break;
	case '!':
		if (n == 1)
			return malformed(x, f, "a '!' without its '='",
					 "write NAME!=VALUE");
		f->op = OP_NE;
		break;
	}
	f->value = str_slice(s, i + n, s.n);
	if (f->value.n == 0)
		return malformed(x, f, "no value", "write NAME=VALUE");
	if (f->value.p[f->value.n - 1] == ',')
		return malformed(x, f, "an empty value behind the last comma",
				 "values are divided at commas; one with a "
				 "comma cannot be written");
	if (!str_eq(str_trim(f->name), f->name) || f->name.n == 0 ||
	    !str_eq(str_trim(f->value), f->value))
		return malformed(x, f, "blanks around name or value",
				 "write NAME=VALUE without blanks");
	return true;
}

static bool integer(struct str s)
{
	uint64_t v;

	if (s.n && s.p[0] == '-')
		s = str_slice(s, 1, s.n);
	return str_u64(s, UINT64_MAX, &v);
}

static bool check_integers(struct expander *x, const struct filter *f)
{
	struct str rest = f->value, one;

	while (str_field(&rest, ',', &one))
		if (!integer(one))
			return malformed(
				x, f, "not a number",
				"filters compare the raw value: write the "
				"number, as 32768 for O_LARGEFILE");
	return true;
}

/* Exact, prefix*, *suffix or *contains*. */
static bool check_pattern(struct expander *x, const struct filter *f,
			  struct str v, bool kernel_side)
{
	struct str inner = v;
	bool front, back;

	if (v.n == 0)
		return malformed(x, f, "an empty value between commas",
				 "values are divided at commas; one with a "
				 "comma cannot be written");
	if (str_is(v, "*") || str_is(v, "**"))
		return malformed(x, f, "a pattern that matches everything",
				 "leave the filter out");
	front = v.p[0] == '*';
	back = v.p[v.n - 1] == '*';
	inner = str_slice(v, front, v.n - back);
	if (str_find(inner, '*', 0) < inner.n)
		return malformed(x, f, "a '*' inside a value",
				 "write an exact value, prefix*, *suffix or "
				 "*contains*");
	if (kernel_side && front && back)
		return malformed(x, f, "this path is compared in the kernel, "
				       "which does not look inside",
				 "write an exact path, prefix* or *suffix");
	if (kernel_side && v.n > 255)
		return malformed(x, f, "this path is compared in the kernel, "
				       "255 bytes at most", NULL);
	return true;
}

static bool check_patterns(struct expander *x, const struct filter *f,
			   bool kernel_side)
{
	struct str rest = f->value, one;
	bool ok = true;

	while (ok && str_field(&rest, ',', &one))
		ok = check_pattern(x, f, one, kernel_side);
	return ok;
}

/* Objects are compared as the text that Go prints for them. */
static bool check_object(struct expander *x, const struct filter *f)
{
	struct str rest = f->value, one;

	while (str_field(&rest, ',', &one))
		if (one.n < 3 || one.p[0] != '*' || one.p[one.n - 1] != '*')
			return trap(x, f, "the value is a record, and is "
					  "compared as its whole text",
				    "write what it contains, as in "
				    "*sin_addr:10.0.0.5 *");
	return check_patterns(x, f, false);
}

static bool below_a_mount(struct str value)
{
	struct str one;

	while (str_field(&value, ',', &one))
		if (str_starts(one, STR("/workspace")) ||
		    str_starts(one, STR("/home/agent")))
			return true;
	return false;
}

static bool unknown_field(struct expander *x, const struct filter *f,
			  struct str name)
{
	struct diags *d = x->c->diags;
	const struct tracee_arg *arg;
	const char *best = NULL;
	unsigned least = 3;
	struct buf all;

	buf_init(&all, x->c->a);
	for (size_t i = 0; (arg = tracee_arg_at(f->event, i)); i++) {
		unsigned dist = str_distance(name, str_of(arg->name), 2);

		if (arg->since > x->release || arg->last < x->release ||
		    (arg->flags & TRACEE_UNDECLARED))
			continue;
		buf_addf(&all, "%s%s", all.n ? ", " : "", arg->name);
		if (dist < least) {
			least = dist;
			best = arg->name;
		}
	}
	diag_error(d, DIAG_TRACE_FIELD, f->at, "'%s' has no field '%s'",
		   f->event->name, diag_quote(d, name));
	if (best)
		diag_help(d, "did you mean 'data.%s'?", best);
	else if (all.n)
		diag_help(d, "its fields are %s", all.p);
	else
		diag_help(d, "it has no fields");
	return false;
}

/* data.FIELD: = and != only, and the field must be declared for the event. */
static bool check_data(struct expander *x, const struct filter *f)
{
	struct str name = str_slice(f->name, 5, f->name.n);
	const struct tracee_arg *arg;

	if (f->op != OP_EQ && f->op != OP_NE)
		return malformed(x, f, "fields are compared with = and != "
				       "alone", NULL);
	if (f->event->kind == TRACEE_SIGNATURE)
		return check_patterns(x, f, false);
	arg = tracee_arg_named(f->event, name, x->release);
	if (!arg)
		return unknown_field(x, f, name);
	if (str_find(name, '.', 0) < name.n)
		return trap(x, f, "Tracee cannot filter a field with a dot in "
				  "its name", NULL);
	if (arg->flags & TRACEE_UNDECLARED)
		return trap(x, f, "this field is there only with an option, "
				  "and no policy can filter it", NULL);
	if ((arg->flags & TRACEE_NO_MOUNT) && below_a_mount(f->value))
		return trap(x, f, "this path is the one in its file system, "
				  "without where that is mounted",
			    "write the end of the path, as in */src/main.c");
	switch (arg->shape) {
	case TRACEE_NUMBER:
		return check_integers(x, f);
	case TRACEE_STRING:
		return check_patterns(x, f, arg->flags & TRACEE_KERNEL_SIDE);
	case TRACEE_STRINGS:
	case TRACEE_OBJECT:
		return check_object(x, f);
	case TRACEE_BOOL:
		return str_is(f->value, "true") || str_is(f->value, "false") ||
		       malformed(x, f, "neither true nor false", NULL);
	}
	abort();
}

static bool check_text_field(struct expander *x, const struct filter *f)
{
	struct str rest = f->value, one;

	if (f->op != OP_EQ && f->op != OP_NE)
		return malformed(x, f, "text is compared with = and != alone",
				 NULL);
	if (str_is(f->name, "comm") || str_is(f->name, "processName"))
		while (str_field(&rest, ',', &one))
			if (one.n - (str_find(one, '*', 0) < one.n) > 15)
				return trap(x, f, "the kernel keeps 15 bytes "
						  "of a command's name",
					    "write the first 15 bytes of it");
	return check_patterns(x, f, false);
}

static bool check_retval(struct expander *x, const struct filter *f)
{
	if (f->op == OP_LT || f->op == OP_GT)
		return malformed(x, f, "in a policy, retval knows =, !=, <= "
				       "and >=",
				 f->op == OP_LT
					 ? "write retval<=N with one less"
					 : "write retval>=N with one more");
	if (!integer(f->value))
		return malformed(x, f, "retval takes one whole number", NULL);
	return true;
}

static bool unknown_name(struct expander *x, const struct filter *f)
{
	struct diags *d = x->c->diags;
	const char *best = NULL;
	unsigned least = 3;

	diag_error(d, DIAG_TRACE_FIELD, f->at, "filters have no '%s'",
		   diag_quote(d, f->name));
	if (str_starts(f->name, STR("scope.")) ||
	    str_starts(f->name, STR(".")) ||
	    str_starts(f->name, STR("context."))) {
		help(x, "that is for Tracee's command line; in a policy the "
			"name stands alone, as in 'comm=git'");
		return false;
	}
	if (tracee_arg_named(f->event, f->name, x->release)) {
		diag_help(d, "a field of the event is 'data.%s'",
			  diag_quote(d, f->name));
		return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		unsigned dist = str_distance(f->name, str_of(fields[i].name), 2);

		if (dist < least && fields[i].kind != FIELD_DEAD) {
			least = dist;
			best = fields[i].name;
		}
	}
	if (best)
		diag_help(d, "did you mean '%s'?", best);
	else
		help(x, "a field of the event is 'data.FIELD'");
	return false;
}

static bool check_filter(struct expander *x, const struct filter *f)
{
	const struct field *field = field_named(f->name);

	if (str_starts(f->name, STR("data.")) ||
	    str_starts(f->name, STR("args.")))
		return check_data(x, f);
	if (!field)
		return unknown_name(x, f);
	switch (field->kind) {
	case FIELD_INT:
		return check_integers(x, f);
	case FIELD_TEXT:
		return check_text_field(x, f);
	case FIELD_RETVAL:
		return check_retval(x, f);
	case FIELD_DEAD:
		return trap(x, f, "a filter that filters nothing",
			    field->instead);
	}
	abort();
}

/* args.x is the older spelling of data.x. */
static struct str data_name(struct str name)
{
	if (str_starts(name, STR("args.")) || str_starts(name, STR("data.")))
		return str_slice(name, 5, name.n);
	return name;
}

/* With = and != on one field, Tracee ignores the !=. */
static bool no_contradiction(struct expander *x, const struct filter *list,
			     uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i + 1; k < n; k++) {
			const struct filter *a = &list[i], *b = &list[k];

			if (!str_eq(data_name(a->name), data_name(b->name)) ||
			    a->op == b->op ||
			    (a->op != OP_EQ && b->op != OP_EQ))
				continue;
			trap(x, b, "with = and another operator on one field, "
				   "Tracee looks at = alone",
			     "keep one of the two");
			diag_note(x->c->diags, a->at, "the other is here");
			return false;
		}
	return true;
}

/*
 * What trace.exclude leaves out of an event is a != on its path: an = there
 * would void it.
 */
static bool no_exclude_conflict(struct expander *x, const struct filter *f)
{
	if (!x->t->exclude.n || f->op != OP_EQ || !tracee_has_path(f->event) ||
	    !str_is(data_name(f->name), "pathname"))
		return true;
	trap(x, f, "with 'exclude' there are = and != on one field, and "
		   "Tracee looks at = alone",
	     "what is not under the path is left out already: drop "
	     "'exclude', or filter by another field");
	diag_note(x->c->diags, x->t->exclude.v[0].from.at, "'exclude' is here");
	return false;
}

static bool check_filters(struct expander *x, const struct tracee_event *e,
			  const struct ir_trace_event *entry)
{
	struct filter *list = arena_array(x->c->a, entry->filters.n + 1,
					  sizeof(*list));
	bool ok = true;

	for (uint32_t i = 0; i < entry->filters.n; i++) {
		list[i].event = e;
		ok &= parse_filter(x, &entry->filters.v[i], &list[i]) &&
		      check_filter(x, &list[i]) &&
		      no_exclude_conflict(x, &list[i]);
	}
	return ok && no_contradiction(x, list, entry->filters.n);
}

/* --- events -------------------------------------------------------------- */

/* '*' stands for any run of bytes. */
static bool glob(struct str pattern, struct str s)
{
	size_t p = 0, i = 0, star = SIZE_MAX, mark = 0;

	while (i < s.n) {
		if (p < pattern.n && pattern.p[p] == '*') {
			star = p++;
			mark = i;
		} else if (p < pattern.n && pattern.p[p] == s.p[i]) {
			p++;
			i++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			i = ++mark;
		} else {
			return false;
		}
	}
	while (p < pattern.n && pattern.p[p] == '*')
		p++;
	return p == pattern.n;
}

static bool in_release(const struct expander *x, const struct tracee_event *e)
{
	return e->since <= x->release && x->release <= e->last;
}

static const char *nearest_event(struct str name)
{
	const struct tracee_event *e;
	const char *best = NULL;
	unsigned least = 4;

	for (size_t i = 0; (e = tracee_event_at(i)); i++) {
		unsigned d = str_distance(name, str_of(e->name), 3);

		if (d < least) {
			least = d;
			best = e->name;
		}
	}
	return best;
}

static bool unknown_event(struct expander *x,
			  const struct ir_trace_event *entry)
{
	struct diags *d = x->c->diags;
	const char *near = nearest_event(entry->name);

	if (str_find(entry->name, '*', 0) < entry->name.n) {
		diag_error(d, DIAG_TRACE_EVENT, entry->from.at,
			   "no event matches '%s'", diag_quote(d, entry->name));
		return false;
	}
	diag_error(d, DIAG_TRACE_EVENT, entry->from.at,
		   "unknown event '%s'", diag_quote(d, entry->name));
	if (str_starts(entry->name, STR("-")))
		help(x, "leaving events out of a set is for Tracee's command "
			"line; name those that are wanted");
	else if (near)
		diag_help(d, "did you mean '%s'?", near);
	return false;
}

static bool add_event(struct expander *x, const struct ir_trace_event *entry,
		      const struct tracee_event *e)
{
	struct ir_trace_event *out;

	if (!check_filters(x, e, entry))
		return false;
	if (x->out.n >= 4 * LIMIT_TRACE_EVENTS) {
		diag_error(x->c->diags, DIAG_TRACE_LIMIT, entry->from.at,
			   "more than %u events", LIMIT_TRACE_EVENTS);
		return false;
	}
	out = vec_push(x->c->a, &x->out);
	*out = *entry;
	out->name = str_of(e->name);
	return true;
}

static bool add_named(struct expander *x, const struct ir_trace_event *entry,
		      const struct tracee_event *e)
{
	struct diags *d = x->c->diags;

	if (in_release(x, e))
		return add_event(x, entry, e);
	diag_error(d, DIAG_TRACE_VERSION, entry->from.at,
		   "Tracee %u.%u.%u has no event '%s'", x->release / 10000,
		   x->release / 100 % 100, x->release % 100, e->name);
	diag_note(d, x->t->version.set ? x->t->version.from.at : entry->from.at,
		  e->since > x->release ? "it came later"
					: "it was there before");
	return false;
}

/* A wildcard or the name of a set. */
static bool add_many(struct expander *x, const struct ir_trace_event *entry)
{
	bool wild = str_find(entry->name, '*', 0) < entry->name.n, any = false;
	const struct tracee_event *e;

	for (size_t i = 0; (e = tracee_event_at(i)); i++) {
		if (!in_release(x, e) ||
		    !(wild ? glob(entry->name, str_of(e->name))
			   : tracee_event_in_set(e, entry->name)))
			continue;
		any = true;
		/* One complaint about a filter is enough. */
		if (!add_event(x, entry, e))
			return false;
	}
	return any || unknown_event(x, entry);
}

static bool expand_one(struct expander *x, const struct ir_trace_event *entry)
{
	const struct tracee_event *e = tracee_event_named(entry->name);

	return e ? add_named(x, entry, e) : add_many(x, entry);
}

/* --- one entry per event ------------------------------------------------- */

static int by_name(const void *va, const void *vb)
{
	const struct ir_trace_event *a = va, *b = vb;
	int c = str_cmp(a->name, b->name);

	if (c)
		return c;
	return a->from.at.beg < b->from.at.beg ? -1
					       : a->from.at.beg > b->from.at.beg;
}

static int by_text(const void *va, const void *vb)
{
	const struct ir_text *a = va, *b = vb;

	return str_cmp(a->s, b->s);
}

static void sort_filters(struct arena *a, struct ir_trace_event *e)
{
	ir_texts own = {0};
	uint32_t n = 0;

	vec_each(f, &e->filters)
		*vec_push(a, &own) = *f;
	if (own.n) {
		qsort(own.v, own.n, sizeof(*own.v), by_text);
		for (uint32_t i = 1; i < own.n; i++)
			if (!str_eq(own.v[n].s, own.v[i].s))
				own.v[++n] = own.v[i];
		own.n = n + 1;
	}
	e->filters = own;
}

static bool same_filters(const struct ir_trace_event *a,
			 const struct ir_trace_event *b)
{
	if (a->filters.n != b->filters.n)
		return false;
	for (uint32_t i = 0; i < a->filters.n; i++)
		if (!str_eq(a->filters.v[i].s, b->filters.v[i].s))
			return false;
	return true;
}

/*
 * Two entries for one event want what either wants, and a rule can only hold
 * what all its filters permit. So one without filters decides; two with
 * different filters cannot be said in one rule.
 */
static bool unite(struct expander *x, struct ir_trace_event *to,
		  const struct ir_trace_event *more)
{
	struct diags *d = x->c->diags;

	if (same_filters(to, more))
		return true;
	if (to->filters.n && more->filters.n) {
		diag_error(d, DIAG_TRACE_TWICE, more->from.at,
			   "'%s' has other filters elsewhere", to->name.p);
		diag_note(d, to->from.at, "here; Tracee has one rule per event");
		help(x, "write one entry with the filters of both, or without");
		return false;
	}
	diag_warn(d, DIAG_TRACE_VOID,
		  (to->filters.n ? to : more)->from.at,
		  "the filters of '%s' change nothing: it is traced whole",
		  to->name.p);
	diag_note(d, (to->filters.n ? more : to)->from.at, "because of this");
	to->filters = (ir_texts){0};
	return true;
}

static bool settle(struct expander *x)
{
	struct ir_trace_event *v = x->out.v;
	uint32_t n = 0;
	bool ok = true;

	vec_each(e, &x->out)
		sort_filters(x->c->a, e);
	if (x->out.n)
		qsort(v, x->out.n, sizeof(*v), by_name);
	for (uint32_t i = 0; i < x->out.n; i++) {
		if (n && str_eq(v[n - 1].name, v[i].name))
			ok &= unite(x, &v[n - 1], &v[i]);
		else
			v[n++] = v[i];
	}
	x->out.n = n;
	if (n <= LIMIT_TRACE_EVENTS)
		return ok;
	diag_error(x->c->diags, DIAG_TRACE_LIMIT,
		   v[LIMIT_TRACE_EVENTS].from.at, "%u events, at most %u", n,
		   LIMIT_TRACE_EVENTS);
	return false;
}

/* --- paths to leave out -------------------------------------------------- */

static bool check_exclude(struct pass_ctx *c, const struct ir_text *t)
{
	const char *what = NULL;

	if (t->s.n < 2 || t->s.p[0] != '/')
		what = "not a path below the root";
	else if (str_find(t->s, ',', 0) < t->s.n)
		what = "Tracee divides values at commas, and cannot say it";
	else if (str_find(t->s, '*', 0) < t->s.n)
		what = "a path stands for all below it, and has no '*'";
	else if (t->s.n > 253)
		what = "the kernel compares 255 bytes at most";
	if (!what)
		return true;
	diag_error(c->diags, DIAG_TRACE_EXCLUDE, t->from.at, "'%s': %s",
		   diag_quote(c->diags, t->s), what);
	help(&(struct expander){.c = c}, "as in '/usr'");
	return false;
}

static bool settle_release(struct pass_ctx *c, const struct ir_trace *t,
			   unsigned *out)
{
	*out = TRACEE_RELEASE_DEFAULT;
	if (!t->version.set)
		return true;
	if (tracee_release(t->version.v, out) && *out >= TRACEE_RELEASE_MIN &&
	    *out <= TRACEE_RELEASE_MAX)
		return true;
	diag_error(c->diags, DIAG_TRACE_VERSION, t->version.from.at,
		   "Tracee '%s' is not known here",
		   diag_quote(c->diags, t->version.v));
	diag_help(c->diags, "releases from 0.20.0 to 0.24 are; without "
			    "'version' it is " TRACEE_DEFAULT_VERSION);
	return false;
}

static void take_defaults(struct expander *x)
{
	for (size_t i = 0; i < ARRAY_LEN(default_events); i++)
		*vec_push(x->c->a, &x->out) = (struct ir_trace_event){
			.from = {.layer = LAYER_FLOOR},
			.name = str_of(default_events[i])};
}

bool trace_expand(struct pass_ctx *c, struct ir_policy *p)
{
	struct expander x = {.c = c, .t = &p->trace};
	bool ok = settle_release(c, &p->trace, &x.release);

	if (!ok)
		return false; /* which events there are is not known */
	vec_each(t, &p->trace.exclude)
		ok &= check_exclude(c, t);
	if (!p->trace.has_events)
		take_defaults(&x);
	vec_each(entry, &p->trace.events)
		ok &= expand_one(&x, entry);
	ok = ok && settle(&x);
	p->trace.events.v = x.out.v;
	p->trace.events.n = x.out.n;
	p->trace.events.cap = x.out.cap;
	return ok;
}
