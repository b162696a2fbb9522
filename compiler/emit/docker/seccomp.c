#include "compiler/emit/docker/seccomp.h"

#include "compiler/base/json.h"

#include <stdlib.h>
#include <string.h>

/* Error numbers of Linux, on whatever system this compiles. */
enum {
	ERROR_EPERM = 1,
	ERROR_ENOSYS = 38,
	ERROR_EPROTONOSUPPORT = 93,
};

enum when_kind {
	WHEN_ALWAYS,
	/* On a kernel that filters a traced call again, and without `protect`.
	 */
	WHEN_TRACING,
	WHEN_PROTECTS, /* with it: in the place of other rows of the name */
	WHEN_USERNS,   /* hardening.user_namespaces */
	WHEN_SHARED,   /* not so */
	WHEN_CAP,      /* the policy gives this capability */
};

struct when {
	enum when_kind kind;
	const char *cap;
};

struct condition {
	const char *op; /* NULL: no more of them */
	unsigned index;
	uint64_t value, value_two; /* masked: the mask, what is left */
};

#define CONDITIONS_MAX 3

struct row {
	struct when when;
	const char *names; /* a blank between two */
	unsigned error;	   /* 0: open */
	const char *why;
	struct condition args[CONDITIONS_MAX];
};

#define ALWAYS                                                                 \
	{                                                                      \
		.kind = WHEN_ALWAYS                                            \
	}
#define TRACING                                                                \
	{                                                                      \
		.kind = WHEN_TRACING                                           \
	}
#define PROTECTS                                                               \
	{                                                                      \
		.kind = WHEN_PROTECTS                                          \
	}
#define USERNS                                                                 \
	{                                                                      \
		.kind = WHEN_USERNS                                            \
	}
#define SHARED                                                                 \
	{                                                                      \
		.kind = WHEN_SHARED                                            \
	}
#define CAP(name)                                                              \
	{                                                                      \
		.kind = WHEN_CAP, .cap = name                                  \
	}
#define OPEN	    0
#define NO_PROTOCOL ERROR_EPROTONOSUPPORT
#define ARG(index, op, value)                                                  \
	{                                                                      \
		"SCMP_CMP_" #op, index, value, 0                               \
	}
#define MASKED(index, mask, value)                                             \
	{                                                                      \
		"SCMP_CMP_MASKED_EQ", index, mask, value                       \
	}
#define CALLS(when, why, names) {when, names, OPEN, why, {{0}}},
#define RULE(when, name, error, why, ...)                                      \
	{when, name, error, why, {__VA_ARGS__}},
#define NOSYS(why, names) {ALWAYS, names, ERROR_ENOSYS, why, {{0}}},
#define TAKEN(why, names) /* what no row opens is refused */

static const struct row rows[] = {
#include "compiler/emit/docker/seccomp.def"
};

/* --- what holds for a policy --------------------------------------------- */

static bool is_capability(struct str word, const char *cap)
{
	if (str_starts(word, STR("CAP_")))
		word = str_slice(word, 4, word.n);
	return str_is(word, "ALL") || str_is(word, cap);
}

/* Also by a raw argument; what a variable there holds is not known. */
static bool has_capability(const struct ir_policy *p, const char *cap)
{
	vec_each(c, &p->hardening.capabilities)
		if (is_capability(c->s, cap))
			return true;
	vec_each(arg, &p->docker_args)
		if (str_is(arg->option, "cap-add") &&
		    is_capability(arg->value, cap))
			return true;
	return false;
}

static bool row_holds(const struct ir_policy *p, const struct row *r)
{
	bool own = p->hardening.user_namespaces.v;

	switch (r->when.kind) {
	case WHEN_ALWAYS:
		return true;
	case WHEN_TRACING:
		return p->protect.n == 0;
	case WHEN_PROTECTS:
		return p->protect.n > 0;
	case WHEN_USERNS:
		return own;
	case WHEN_SHARED:
		return !own;
	case WHEN_CAP:
		return has_capability(p, r->when.cap);
	}
	abort();
}

bool seccomp_wanted(const struct ir_policy *p)
{
	return str_is(p->hardening.seccomp.v, "default") &&
	       p->runtime.v != IR_RUNTIME_SYSBOX;
}

/* --- writing ------------------------------------------------------------- */

static cJSON *arguments_json(const struct row *r)
{
	cJSON *list = json_array();

	for (size_t i = 0; i < CONDITIONS_MAX && r->args[i].op; i++) {
		const struct condition *c = &r->args[i];
		cJSON *o = json_object();

		json_put_u64(o, "index", c->index);
		json_put_u64(o, "value", c->value);
		if (strcmp(c->op, "SCMP_CMP_MASKED_EQ") == 0)
			json_put_u64(o, "valueTwo", c->value_two);
		json_put_cstr(o, "op", c->op);
		json_push(list, o);
	}
	return list;
}

/* Rules of its own hold in the place of a row that opens it. */
static bool is_replaced(const struct ir_policy *p, struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(rows) && p->protect.n; i++)
		if (rows[i].when.kind == WHEN_PROTECTS &&
		    str_is(name, rows[i].names))
			return true;
	return false;
}

static cJSON *entry_json(const struct ir_policy *p, const struct row *r)
{
	struct str names = str_of(r->names), name;
	cJSON *o = json_object(), *list = json_array();

	while (str_field(&names, ' ', &name))
		if (r->when.kind == WHEN_PROTECTS || !is_replaced(p, name))
			json_push_str(list, name);
	json_put_cstr(o, "comment", r->why);
	json_put(o, "names", list);
	json_put_cstr(o, "action",
		      r->error == OPEN ? "SCMP_ACT_ALLOW" : "SCMP_ACT_ERRNO");
	if (r->error != OPEN)
		json_put_u64(o, "errnoRet", r->error);
	if (r->args[0].op)
		json_put(o, "args", arguments_json(r));
	if (r->when.kind == WHEN_TRACING) {
		cJSON *includes = json_object();

		json_put_cstr(includes, "minKernel", "4.8");
		json_put(o, "includes", includes);
	}
	return o;
}

/* One calling convention for each machine. On one that is not named here the
 * filter is of its own, alone, too. */
static cJSON *machines_json(void)
{
	static const char *const names[] = {"SCMP_ARCH_X86_64",
					    "SCMP_ARCH_AARCH64"};
	cJSON *list = json_array();

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		cJSON *o = json_object();

		json_put_cstr(o, "architecture", names[i]);
		json_put(o, "subArchitectures", json_array());
		json_push(list, o);
	}
	return list;
}

/*
 * EPERM is what programs take for "not to you". For calls that are newer than
 * all that are named here runc answers ENOSYS by itself, so that libraries go
 * back to what they did before there were those.
 */
bool seccomp_emit(const struct emit_in *in, struct buf *out)
{
	cJSON *root = json_object(), *calls = json_array();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (row_holds(in->policy, &rows[i]))
			json_push(calls, entry_json(in->policy, &rows[i]));
	json_put_cstr(root, "defaultAction", "SCMP_ACT_ERRNO");
	json_put_u64(root, "defaultErrnoRet", ERROR_EPERM);
	json_put(root, "archMap", machines_json());
	json_put(root, "syscalls", calls);
	json_add(out, root);
	return true;
}

/* Whether an earlier row of the policy's opens it. */
static bool is_counted(const struct ir_policy *p, size_t rows_before,
		       struct str name)
{
	for (size_t i = 0; i < rows_before; i++) {
		struct str names = str_of(rows[i].names), other;

		if (rows[i].error != OPEN || !row_holds(p, &rows[i]))
			continue;
		while (str_field(&names, ' ', &other))
			if (str_eq(other, name))
				return true;
	}
	return false;
}

unsigned seccomp_calls(const struct ir_policy *p)
{
	unsigned n = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct str names = str_of(rows[i].names), name;

		if (rows[i].error != OPEN || !row_holds(p, &rows[i]))
			continue;
		while (str_field(&names, ' ', &name))
			n += !is_counted(p, i, name);
	}
	return n;
}
