#include "runtime/watch/condition.h"

#include "runtime/watch/ownpath.h"

#include <string.h>

static const struct {
	const char *name;
	enum condition_field field;
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

static bool parse_op(struct str *rest, enum condition_op *out)
{
	static const struct {
		struct str text;
		enum condition_op op;
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

bool condition_parse(struct str s, struct condition *out)
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

static bool number_matches(enum condition_op op, struct str text, int64_t have)
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

/* Or, of a path of the workspace, what that is called besides. */
static bool path_matches(struct str pattern, struct str s, struct str own)
{
	char buf[OWNPATH_MAX];
	struct str other;

	return text_matches(pattern, s) ||
	       (ownpath_other(own, s, buf, &other) &&
		text_matches(pattern, other));
}

static bool value_matches(enum condition_op op, struct str want,
			  const struct value *v, struct str own)
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
		return path_matches(want, v->s, own);
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
static bool any_matches(const struct condition *c, const struct record *r,
			struct str own)
{
	struct value v = field_value(c, r);
	struct str rest = c->values, one;

	while (str_field(&rest, ',', &one))
		if (value_matches(c->op, one, &v, own))
			return true;
	return false;
}

static bool same_field(const struct condition *a, const struct condition *b)
{
	return a->field == b->field && str_eq(a->arg, b->arg);
}

/* Several '=' on one field are alternatives, as the values of one are. */
static bool any_equals(const struct conditions *all, const struct condition *c,
		       const struct record *r, struct str own)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->each[i].op == OP_EQ && same_field(&all->each[i], c) &&
		    any_matches(&all->each[i], r, own))
			return true;
	return false;
}

static bool condition_holds(const struct conditions *all,
			    const struct condition *c, const struct record *r,
			    struct str own)
{
	switch (c->op) {
	case OP_EQ:
		return any_equals(all, c, r, own);
	case OP_NE:
		return !any_matches(c, r, own);
	case OP_LT:
	case OP_GT:
	case OP_LE:
	case OP_GE:
		return any_matches(c, r, own);
	}
	return false;
}

bool condition_is_later(const struct condition *c)
{
	switch (c->field) {
	case FIELD_DATA:
		return record_is_later(c->arg);
	case FIELD_COMM:
	case FIELD_UID:
	case FIELD_PID:
	case FIELD_TID:
	case FIELD_PPID:
	case FIELD_SYSCALL:
		return false;
	case FIELD_HOST_PID:
	case FIELD_HOST_TID:
	case FIELD_MNTNS:
	case FIELD_PIDNS:
	case FIELD_CGROUP:
	case FIELD_RETVAL:
		return true;
	}
	return true;
}

bool condition_all_hold(const struct conditions *all, const struct record *r,
			struct str own)
{
	for (size_t i = 0; i < all->n; i++)
		if (!condition_holds(all, &all->each[i], r, own))
			return false;
	return true;
}
