/* Comparing two seccomp profiles: calls.h. */
#include "compiler/algebra/compare/calls.h"
#include "compiler/base/buf.h"
#include "compiler/base/limits.h"

#include <errno.h>
#include <string.h>

struct comparer {
	struct arena *a;
	const struct calls *side[2];
	struct calls_budget budget;
	VEC(struct access_change) found;
	uint32_t first; /* of those about the call that is compared */
};

/* The rules of both sides about one call. */
struct call {
	struct str name; /* empty: those that neither names */
	const struct calls_rule *rules[2];
	uint32_t n[2];
};

/* A rule of each side, or what is left there where none holds. */
struct pair {
	const struct calls_rule *rule[2];
	struct calls_answer answer[2];
};

/* --- in words ------------------------------------------------------------- */

/* As the manual page of each call has them. */
static const char *argument_name(struct str call, uint32_t index)
{
	static const struct {
		const char *call, *names[3];
	} known[] = {
		{"clone", {"flags"}},
		{"personality", {"persona"}},
		{"setns", {"fd", "nstype"}},
		{"socket", {"domain", "type", "protocol"}},
		{"socketpair", {"domain", "type", "protocol"}},
		{"unshare", {"flags"}},
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_is(call, known[i].call) && index < 3)
			return known[i].names[index];
	return NULL;
}

/* " (AF_VSOCK)" */
static const char *value_name(struct str call, uint32_t index, uint64_t value)
{
	static const char *const families[] = {
		[1] = " (AF_UNIX)",	  [2] = " (AF_INET)",
		[10] = " (AF_INET6)",	  [16] = " (AF_NETLINK)",
		[17] = " (AF_PACKET)",	  [30] = " (AF_TIPC)",
		[31] = " (AF_BLUETOOTH)", [38] = " (AF_ALG)",
		[40] = " (AF_VSOCK)",	  [44] = " (AF_XDP)",
	};

	if (!str_is(call, "socket") && !str_is(call, "socketpair"))
		return "";
	return index == 0 && value < ARRAY_LEN(families) && families[value]
		       ? families[value]
		       : "";
}

static void add_number(struct buf *b, uint64_t v)
{
	buf_addf(b, v < 4096 ? "%llu" : "0x%llx", (unsigned long long)v);
}

/* "domain = 40 (AF_VSOCK)" */
static void add_condition(struct buf *b, struct str call,
			  const struct calls_condition *c)
{
	static const char *const signs[] = {
		[CALLS_EQ] = "=",     [CALLS_NE] = "!=", [CALLS_LT] = "<",
		[CALLS_LE] = "<=",    [CALLS_GE] = ">=", [CALLS_GT] = ">",
		[CALLS_MASKED] = "=",
	};
	const char *name = argument_name(call, c->index);

	if (c->index == CALLS_KERNEL) {
		buf_addf(b, "Linux %s %u.%u", signs[c->op],
			 (unsigned)(c->value >> 16),
			 (unsigned)(c->value & UINT16_MAX));
		return;
	}
	if (name)
		buf_adds(b, name);
	else
		buf_addf(b, "argument %u", c->index);
	if (c->op == CALLS_MASKED) {
		buf_adds(b, " & ");
		add_number(b, c->mask);
	}
	buf_addf(b, " %s ", signs[c->op]);
	add_number(b, c->value);
	if (c->op == CALLS_EQ)
		buf_adds(b, value_name(call, c->index, c->value));
}

static void add_answer(struct buf *b, struct calls_answer x)
{
	static const char *const names[] = {
		[CALLS_ALLOW] = "open",
		[CALLS_LOG] = "open and logged",
		[CALLS_TRAP] = "SIGSYS",
		[CALLS_KILL_THREAD] = "the thread's end",
		[CALLS_KILL_PROCESS] = "the process's end",
	};
	const char *error;

	if (x.action != CALLS_ERRNO) {
		buf_adds(b, names[x.action]);
		return;
	}
	error = strerrorname_np((int)x.error);
	if (error)
		buf_adds(b, error);
	else
		buf_addf(b, "error %u", x.error);
}

static bool tells_kernels(const struct call *call)
{
	for (int side = 0; side < 2; side++)
		for (uint32_t i = 0; i < call->n[side]; i++)
			for (uint32_t k = 0; k < call->rules[side][i].n; k++)
				if (call->rules[side][i].conditions[k].index ==
				    CALLS_KERNEL)
					return true;
	return false;
}

/* ", as in clone(0x20000)" */
static void add_example(struct buf *b, const struct call *call,
			const struct calls_point *p)
{
	uint64_t kernel = p->args[CALLS_KERNEL];
	uint32_t n = CALLS_ARGS;

	while (n && p->args[n - 1] == 0)
		n--;
	buf_addf(b, ", as in %.*s(", STR_ARG(call->name));
	for (uint32_t i = 0; i < n; i++) {
		buf_adds(b, i ? ", " : "");
		add_number(b, p->args[i]);
	}
	buf_adds(b, n ? ")" : "0)");
	if (tells_kernels(call))
		buf_addf(b, " on Linux %u.%u", (unsigned)(kernel >> 16),
			 (unsigned)(kernel & UINT16_MAX));
}

/* --- pairs of rules ------------------------------------------------------- */

/* i: a rule of that side, or the number of them: the rest. */
static void take_rule(const struct comparer *c, const struct call *call,
		      int side, uint32_t i, struct pair *p)
{
	p->rule[side] = i < call->n[side] ? &call->rules[side][i] : NULL;
	p->answer[side] =
		p->rule[side] ? p->rule[side]->answer : c->side[side]->rest;
}

/* Is there a call that these two answer? */
static bool meet_calls(struct comparer *c, const struct call *call,
		       const struct pair *p, struct calls_point *out)
{
	const struct calls_rule *in[2], *outside[2 * LIMIT_CALLS_RULES];
	uint32_t n_in = 0, n_out = 0;

	for (int side = 0; side < 2; side++) {
		if (p->rule[side])
			in[n_in++] = p->rule[side];
		else
			for (uint32_t i = 0; i < call->n[side]; i++)
				outside[n_out++] = &call->rules[side][i];
	}
	return calls_solve(&c->budget, in, n_in, outside, n_out, out);
}

static enum access_way way_of(const struct pair *p)
{
	bool was = calls_opens(p->answer[0]), is = calls_opens(p->answer[1]);

	if (calls_same_answer(p->answer[0], p->answer[1]))
		return ACCESS_KEPT;
	return was == is ? ACCESS_OTHER : is ? ACCESS_GAINED : ACCESS_LOST;
}

/* Does all that the rule of one side answers change the same way? */
static bool changes_whole(struct comparer *c, const struct call *call,
			  const struct pair *p, int side, enum access_way way)
{
	struct calls_point ignored;
	struct pair with = *p;

	for (uint32_t i = 0; i <= call->n[!side]; i++) {
		take_rule(c, call, !side, i, &with);
		if (way_of(&with) != way &&
		    meet_calls(c, call, &with, &ignored))
			return false;
	}
	return true;
}

static void add_change(struct comparer *c, enum access_way way, struct str text)
{
	for (uint32_t i = c->first; i < c->found.n; i++)
		if (c->found.v[i].way == way &&
		    str_eq(c->found.v[i].text, text))
			return;
	*vec_push(c->a, &c->found) = (struct access_change){
		.way = way, .kind = ACCESS_CALL, .text = text};
}

/*
 * A change is named after the rule that opens, else after the one that did;
 * where only a part of what that is about changed, with an example.
 */
static void tell_pair(struct comparer *c, const struct call *call,
		      const struct pair *p, const struct calls_point *point)
{
	enum access_way way = way_of(p);
	int side = way == ACCESS_LOST ? 0 : 1;
	struct buf b;

	if (!p->rule[side])
		side = !side;
	buf_init(&b, c->a);
	if (call->name.n)
		buf_addf(&b, "call %.*s", STR_ARG(call->name));
	else
		buf_adds(&b, "calls that neither profile names");
	for (uint32_t i = 0; p->rule[side] && i < p->rule[side]->n; i++) {
		buf_adds(&b, i ? ", " : " with ");
		add_condition(&b, call->name, &p->rule[side]->conditions[i]);
	}
	if (call->name.n &&
	    (!p->rule[side] || !changes_whole(c, call, p, side, way)))
		add_example(&b, call, point);
	if (way == ACCESS_OTHER) {
		buf_adds(&b, ": ");
		add_answer(&b, p->answer[0]);
		buf_adds(&b, " -> ");
		add_answer(&b, p->answer[1]);
	}
	add_change(c, way, buf_str(&b));
}

static void compare_call(struct comparer *c, const struct call *call)
{
	struct calls_point point;
	struct pair p;

	c->first = c->found.n;
	for (uint32_t i = 0; i <= call->n[0]; i++) {
		take_rule(c, call, 0, i, &p);
		for (uint32_t k = 0; k <= call->n[1]; k++) {
			take_rule(c, call, 1, k, &p);
			if (way_of(&p) != ACCESS_KEPT &&
			    meet_calls(c, call, &p, &point))
				tell_pair(c, call, &p, &point);
		}
	}
}

/* --- the whole ------------------------------------------------------------ */

/* Each name of either side once, in order. */
static void compare_names(struct comparer *c)
{
	uint32_t at[2] = {0, 0};

	for (;;) {
		struct call call = {0};

		for (int i = 0; i < 2; i++) {
			const struct calls *side = c->side[i];

			if (at[i] < side->rules.n &&
			    (!call.name.p ||
			     str_cmp(side->rules.v[at[i]].name, call.name) < 0))
				call.name = side->rules.v[at[i]].name;
		}
		if (!call.name.p || c->budget.steps == 0)
			return;
		for (int i = 0; i < 2; i++) {
			call.rules[i] =
				calls_find(c->side[i], call.name, &call.n[i]);
			at[i] += call.n[i];
		}
		compare_call(c, &call);
	}
}

static bool has_text(const struct calls *c, struct str text)
{
	vec_each(t, &c->conventions)
		if (str_eq(*t, text))
			return true;
	return false;
}

static void compare_conventions(struct comparer *c)
{
	for (int i = 0; i < 2; i++)
		vec_each(t, &c->side[i]->conventions)
			if (!has_text(c->side[!i], *t))
				add_change(c, i ? ACCESS_GAINED : ACCESS_LOST,
					   arena_fmt(c->a, "calls of %.*s",
						     STR_ARG(*t)));
}

int calls_compare(struct arena *a, const struct calls *old,
		  const struct calls *now, struct comparison *out,
		  struct err *err)
{
	static const enum access_way ways[] = {ACCESS_GAINED, ACCESS_LOST,
					       ACCESS_OTHER};
	struct comparer c = {
		.a = a, .side = {old, now}, .budget = {LIMIT_CALLS_STEPS}};
	const struct call unnamed = {0};

	compare_conventions(&c);
	compare_call(&c, &unnamed);
	compare_names(&c);
	if (c.budget.steps == 0)
		return err_set(
			err, -E2BIG,
			"too many entries and conditions to be compared");
	for (size_t i = 0; i < ARRAY_LEN(ways); i++)
		vec_each(x, &c.found)
			if (x->way == ways[i])
				*vec_push(a, &out->changes) = *x;
	return 0;
}
