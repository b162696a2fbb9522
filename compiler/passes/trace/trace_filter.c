/*
 * The filters of one trace event, against what Tracee refuses, and against
 * what it takes and then does not do.
 */
#include "compiler/passes/trace/parts.h"

#include "compiler/base/near.h"
#include "compiler/ir/native.h"

#include <stdlib.h>
#include <string.h>

/* --- fields -------------------------------------------------------------- */

enum field_kind {
	FIELD_INT,    /* metadata: a number, every operator */
	FIELD_TEXT,   /* metadata: text, = and != */
	FIELD_RETVAL, /* one number, no < and > in files */
	FIELD_DEAD,   /* parsed by Tracee, and then not or wrongly applied */
	FIELD_NAMES,  /* known from Docker's socket, which it does not get */
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
	{"containerImage", FIELD_NAMES, NULL},
	{"containerName", FIELD_NAMES, NULL},
	{"podName", FIELD_NAMES, NULL},
	{"podNamespace", FIELD_NAMES, NULL},
	{"podUid", FIELD_NAMES, NULL},
	{"syscall", FIELD_TEXT, NULL},
	{"retval", FIELD_RETVAL, NULL},
	{"container", FIELD_DEAD,
	 "its value is ignored by Tracee, and only the agent's containers are recorded in any case"},
	{"hostParentProcessId", FIELD_DEAD,
	 "Tracee compares another number with it; write parentProcessId="},
	{"containerImageDigest", FIELD_DEAD, "Tracee never evaluates it"},
	{"podSandbox", FIELD_DEAD, "Tracee never evaluates it"},
};

static const struct field *field_named(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (str_is(name, fields[i].name))
			return &fields[i];
	return NULL;
}

static void say_help(const struct trace_filter_ctx *x, const char *help)
{
	if (help)
		diag_help(x->c->diags, "%s", help);
}

/* --- filters ------------------------------------------------------------- */

enum op { OP_EQ, OP_NE, OP_LT, OP_GT, OP_LE, OP_GE };

struct filter {
	struct span at;
	struct str text, name, value;
	enum op op;
	const struct tracee_event *event;
};

static bool report_malformed(const struct trace_filter_ctx *x,
			     const struct filter *f, const char *what,
			     const char *right)
{
	diag_error(x->c->diags, DIAG_TRACE_FILTER, f->at, "'%s': %s",
		   diag_quote(x->c->diags, f->text), what);
	say_help(x, right);
	return false;
}

/* Tracee would take it, and then not do it. */
static bool report_trap(const struct trace_filter_ctx *x,
			const struct filter *f, const char *what,
			const char *right)
{
	diag_error(x->c->diags, DIAG_TRACE_TRAP, f->at, "'%s': %s",
		   diag_quote(x->c->diags, f->text), what);
	say_help(x, right);
	return false;
}

/* The name ends at the first operator; no blank stands around the value. */
static bool parse_filter(const struct trace_filter_ctx *x,
			 const struct ir_text *t, struct filter *f)
{
	size_t i = 0, n = 1;
	struct str s = t->s;

	f->at = t->from.at;
	f->text = s;
	while (i < s.n && !strchr("=!<>", s.p[i]))
		i++;
	f->name = str_slice(s, 0, i);
	if (i == s.n)
		return report_malformed(x, f, "a filter without an operator",
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
			return report_malformed(x, f, "a '!' without its '='",
						"write NAME!=VALUE");
		f->op = OP_NE;
		break;
	}
	f->value = str_slice(s, i + n, s.n);
	if (f->value.n == 0)
		return report_malformed(x, f, "no value", "write NAME=VALUE");
	if (f->value.p[f->value.n - 1] == ',')
		return report_malformed(
			x, f, "an empty value behind the last comma",
			"values are divided at commas; one with a comma cannot be written");
	if (!str_eq(str_trim(f->name), f->name) || f->name.n == 0 ||
	    !str_eq(str_trim(f->value), f->value))
		return report_malformed(x, f, "blanks around name or value",
					"write NAME=VALUE without blanks");
	return true;
}

static bool is_integer(struct str s)
{
	uint64_t v;

	if (s.n && s.p[0] == '-')
		s = str_slice(s, 1, s.n);
	return str_u64(s, UINT64_MAX, &v);
}

static bool check_integers(const struct trace_filter_ctx *x,
			   const struct filter *f)
{
	struct str rest = f->value, one;

	while (str_field(&rest, ',', &one))
		if (!is_integer(one))
			return report_malformed(
				x, f, "not a number",
				"filters compare the raw value: write the number, as 32768 for O_LARGEFILE");
	return true;
}

/* Exact, prefix*, *suffix or *contains*. */
static bool check_pattern(const struct trace_filter_ctx *x,
			  const struct filter *f, struct str v,
			  bool kernel_side)
{
	struct str inner = v;
	bool front, back;

	if (v.n == 0)
		return report_malformed(
			x, f, "an empty value between commas",
			"values are divided at commas; one with a comma cannot be written");
	if (str_is(v, "*") || str_is(v, "**"))
		return report_malformed(x, f,
					"a pattern that matches everything",
					"leave the filter out");
	front = v.p[0] == '*';
	back = v.p[v.n - 1] == '*';
	inner = str_slice(v, front, v.n - back);
	if (str_find(inner, '*', 0) < inner.n)
		return report_malformed(
			x, f, "a '*' inside a value",
			"write an exact value, prefix*, *suffix or *contains*");
	if (kernel_side && front && back)
		return report_malformed(
			x, f,
			"this path is compared in the kernel, which does not look inside",
			"write an exact path, prefix* or *suffix");
	if (kernel_side && v.n > 255)
		return report_malformed(
			x, f,
			"this path is compared in the kernel, 255 bytes at most",
			NULL);
	return true;
}

static bool check_patterns(const struct trace_filter_ctx *x,
			   const struct filter *f, bool kernel_side)
{
	struct str rest = f->value, one;
	bool ok = true;

	while (ok && str_field(&rest, ',', &one))
		ok = check_pattern(x, f, one, kernel_side);
	return ok;
}

/* Objects are compared as the text that Go prints for them. */
static bool check_object(const struct trace_filter_ctx *x,
			 const struct filter *f)
{
	struct str rest = f->value, one;

	while (str_field(&rest, ',', &one))
		if (one.n < 3 || one.p[0] != '*' || one.p[one.n - 1] != '*')
			return report_trap(
				x, f,
				"the value is a record, and is compared as its whole text",
				"write what it contains, as in *sin_addr:10.0.0.5 *");
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

static bool unknown_field(const struct trace_filter_ctx *x,
			  const struct filter *f, struct str name)
{
	struct diags *d = x->c->diags;
	const struct tracee_arg *arg;
	struct near near = {.word = name, .below = 3};
	struct buf all;

	buf_init(&all, x->c->a);
	for (size_t i = 0; (arg = tracee_arg_at(f->event, i)); i++) {
		if (arg->since > x->release || arg->last < x->release ||
		    (arg->flags & TRACEE_UNDECLARED))
			continue;
		buf_addf(&all, "%s%s", all.n ? ", " : "", arg->name);
		(void)near_offer(&near, arg->name);
	}
	diag_error(d, DIAG_TRACE_FIELD, f->at, "'%s' has no field '%s'",
		   f->event->name, diag_quote(d, name));
	if (near.name)
		diag_help(d, "did you mean 'data.%s'?", near.name);
	else if (all.n)
		diag_help(d, "its fields are %s", all.p);
	else
		diag_help(d, "it has no fields");
	return false;
}

/* data.FIELD: = and != only, and the field must be declared for the event. */
static bool check_data(const struct trace_filter_ctx *x, const struct filter *f)
{
	struct str name = str_slice(f->name, 5, f->name.n);
	const struct tracee_arg *arg;

	if (f->op != OP_EQ && f->op != OP_NE)
		return report_malformed(
			x, f, "fields are compared with = and != alone", NULL);
	if (f->event->kind == TRACEE_SIGNATURE)
		return check_patterns(x, f, false);
	arg = tracee_arg_named(f->event, name, x->release);
	if (!arg)
		return unknown_field(x, f, name);
	if (str_find(name, '.', 0) < name.n)
		return report_trap(
			x, f,
			"Tracee cannot filter a field with a dot in its name",
			NULL);
	if (arg->flags & TRACEE_UNDECLARED)
		return report_trap(
			x, f,
			"this field is there only with an option, and no policy can filter it",
			NULL);
	if (!x->native && (arg->flags & TRACEE_NO_MOUNT) &&
	    below_a_mount(f->value))
		return report_trap(
			x, f,
			"this path is the one in its file system, without where that is mounted",
			"write the end of the path, as in */src/main.c");
	switch (arg->shape) {
	case TRACEE_NUMBER:
		return check_integers(x, f);
	case TRACEE_STRING:
		return check_patterns(
			x, f, !x->native && (arg->flags & TRACEE_KERNEL_SIDE));
	case TRACEE_STRINGS:
	case TRACEE_OBJECT:
		if (x->native)
			return report_trap(
				x, f,
				"the built-in tracer compares texts and numbers, and this is a record",
				"leave this filter out");
		return check_object(x, f);
	case TRACEE_BOOL:
		return str_is(f->value, "true") || str_is(f->value, "false") ||
		       report_malformed(x, f, "neither true nor false", NULL);
	}
	abort();
}

/* A value without the '*' at its ends. */
static struct str bare_text(struct str s)
{
	if (str_starts(s, STR("*")))
		s = str_slice(s, 1, s.n);
	return str_ends(s, STR("*")) ? str_slice(s, 0, s.n - 1) : s;
}

static bool check_text_field(const struct trace_filter_ctx *x,
			     const struct filter *f)
{
	struct str rest = f->value, one;

	if (f->op != OP_EQ && f->op != OP_NE)
		return report_malformed(
			x, f, "text is compared with = and != alone", NULL);
	if (str_is(f->name, "comm") || str_is(f->name, "processName"))
		while (str_field(&rest, ',', &one))
			if (bare_text(one).n > 15)
				return report_trap(
					x, f,
					"the kernel keeps 15 bytes of a command's name",
					"write the first 15 bytes of it");
	return check_patterns(x, f, false);
}

static bool check_retval(const struct trace_filter_ctx *x,
			 const struct filter *f)
{
	if (f->op == OP_LT || f->op == OP_GT)
		return report_malformed(
			x, f, "in a policy, retval knows =, !=, <= and >=",
			f->op == OP_LT ? "write retval<=N with one less"
				       : "write retval>=N with one more");
	if (!is_integer(f->value))
		return report_malformed(
			x, f, "retval takes one whole number",
			"an error is a negative one, as -2 for ENOENT");
	return true;
}

static bool unknown_name(const struct trace_filter_ctx *x,
			 const struct filter *f)
{
	struct diags *d = x->c->diags;
	struct near near = {.word = f->name, .below = 3};

	diag_error(d, DIAG_TRACE_FIELD, f->at, "filters have no '%s'",
		   diag_quote(d, f->name));
	if (str_starts(f->name, STR("scope.")) ||
	    str_starts(f->name, STR(".")) ||
	    str_starts(f->name, STR("context."))) {
		say_help(
			x,
			"that is for Tracee's command line; in a policy the name stands alone, as in 'comm=git'");
		return false;
	}
	if (tracee_arg_named(f->event, f->name, x->release)) {
		diag_help(d, "a field of the event is 'data.%s'",
			  diag_quote(d, f->name));
		return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (fields[i].kind != FIELD_DEAD &&
		    fields[i].kind != FIELD_NAMES)
			(void)near_offer(&near, fields[i].name);
	if (near.name)
		diag_help(d, "did you mean '%s'?", near.name);
	else
		say_help(x, "a field of the event is 'data.FIELD'");
	return false;
}

/* args.x is the older spelling of data.x. */
static bool is_data(struct str name)
{
	return str_starts(name, STR("args.")) || str_starts(name, STR("data."));
}

static bool check_filter(const struct trace_filter_ctx *x,
			 const struct filter *f)
{
	const struct field *field = field_named(f->name);

	if (is_data(f->name))
		return check_data(x, f);
	if (!field)
		return unknown_name(x, f);
	if (x->native && !native_field(f->name))
		return report_trap(
			x, f, "only Tracee compares this",
			"the built-in tracer has comm, uid, pid, tid, ppid, mntns, pidns, syscall and retval");
	switch (field->kind) {
	case FIELD_INT:
		return check_integers(x, f);
	case FIELD_TEXT:
		return check_text_field(x, f);
	case FIELD_RETVAL:
		return check_retval(x, f);
	case FIELD_DEAD:
		return report_trap(x, f, "a filter that filters nothing",
				   field->instead);
	case FIELD_NAMES:
		return report_trap(
			x, f,
			"Tracee asks Docker for this, and gets no socket of it",
			"leave it out: only the agent's containers are recorded");
	}
	abort();
}

static struct str data_name(struct str name)
{
	return is_data(name) ? str_slice(name, 5, name.n) : name;
}

/* Two spellings of what is one filter to Tracee. */
static bool one_field(struct str a, struct str b)
{
	static const char *const same[][3] = {
		{"p", "pid", "processId"},
		{"tid", "threadId", "tid"},
		{"ppid", "parentProcessId", "ppid"},
		{"hostTid", "hostThreadId", "hostTid"},
		{"uid", "userId", "uid"},
		{"mntns", "mountNamespace", "mntns"},
		{"pidns", "pidNamespace", "pidns"},
		{"comm", "processName", "comm"},
	};

	if (is_data(a) && is_data(b))
		return str_eq(data_name(a), data_name(b));
	for (size_t i = 0; i < ARRAY_LEN(same); i++) {
		bool in_a = false, in_b = false;

		for (size_t k = 0; k < ARRAY_LEN(same[i]); k++) {
			in_a |= str_is(a, same[i][k]);
			in_b |= str_is(b, same[i][k]);
		}
		if (in_a && in_b)
			return true;
	}
	return str_eq(a, b);
}

/* With = and != on one field, Tracee ignores the !=. */
static bool no_contradiction(const struct trace_filter_ctx *x,
			     const struct filter *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i + 1; k < n; k++) {
			const struct filter *a = &list[i], *b = &list[k];

			if (!one_field(a->name, b->name) || a->op == b->op ||
			    (a->op != OP_EQ && b->op != OP_EQ))
				continue;
			report_trap(
				x, b,
				"with = and another operator on one field, Tracee looks at = alone",
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
static bool no_exclude_conflict(const struct trace_filter_ctx *x,
				const struct filter *f)
{
	if (x->native || !x->t->exclude.n || f->op != OP_EQ ||
	    !tracee_has_path(f->event) ||
	    !str_is(data_name(f->name), "pathname"))
		return true;
	report_trap(
		x, f,
		"with 'exclude' there are = and != on one field, and Tracee looks at = alone",
		"what is not under the path is left out already: drop 'exclude', or filter by another field");
	diag_note(x->c->diags, x->t->exclude.v[0].from.at, "'exclude' is here");
	return false;
}

bool trace_filter_check(const struct trace_filter_ctx *x,
			const struct tracee_event *e,
			const struct ir_trace_event *entry)
{
	struct filter *list =
		arena_array(x->c->a, entry->filters.n + 1, sizeof(*list));
	bool ok = true;

	for (uint32_t i = 0; i < entry->filters.n; i++) {
		list[i].event = e;
		ok &= parse_filter(x, &entry->filters.v[i], &list[i]) &&
		      check_filter(x, &list[i]) &&
		      no_exclude_conflict(x, &list[i]);
	}
	/* The built-in tracer holds records to both. */
	return ok && (x->native || no_contradiction(x, list, entry->filters.n));
}
