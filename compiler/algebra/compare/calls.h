/*
 * The system calls that a seccomp profile opens, as sets that can be compared:
 * conditions on six arguments of 64 bits, and on the kernel's release, which is
 * treated as one more of them.
 *
 * An entry answers where all its conditions hold; what no entry is about has
 * the profile's own answer. The order of entries is without meaning, since
 * calls_read() takes no profile in which two of them disagree.
 *
 * Not compared: that runc answers ENOSYS in the place of the profile's own
 * answer to calls that are newer than all it names. Both refuse.
 */
#ifndef COMPILER_ALGEBRA_COMPARE_CALLS_H
#define COMPILER_ALGEBRA_COMPARE_CALLS_H

#include "compiler/algebra/compare/compare.h"
#include "compiler/base/err.h"

#define CALLS_ARGS 6u
/* In the place of an argument: major << 16 | minor. */
#define CALLS_KERNEL	 CALLS_ARGS
#define CALLS_CONDITIONS (CALLS_ARGS + 1)

enum calls_op {
	CALLS_EQ,
	CALLS_NE,
	CALLS_LT,
	CALLS_LE,
	CALLS_GE,
	CALLS_GT,
	CALLS_MASKED, /* under the mask it is value, which has no other bit */
};

struct calls_condition {
	uint8_t index; /* of the argument; one condition for each */
	enum calls_op op;
	uint64_t value, mask;
};

enum calls_action {
	CALLS_ALLOW,
	CALLS_LOG, /* open, and the kernel's log has it */
	CALLS_ERRNO,
	CALLS_TRAP,
	CALLS_KILL_THREAD,
	CALLS_KILL_PROCESS,
};

struct calls_answer {
	enum calls_action action;
	uint32_t error; /* of CALLS_ERRNO; else 0 */
};

/* One name of one entry. */
struct calls_rule {
	struct str name;
	struct calls_answer answer;
	uint8_t n; /* conditions */
	struct calls_condition conditions[CALLS_CONDITIONS];
};

struct calls {
	VEC(struct calls_rule) rules; /* by name */
	struct calls_answer rest;     /* of what no rule is about */
	/* Other calling conventions of a machine, that are served as well:
	 * "SCMP_ARCH_X86 on SCMP_ARCH_X86_64"; sorted. */
	VEC(struct str) conventions;
};

/*
 * A profile in the format of Docker's --security-opt=seccomp=FILE, as far as
 * seccomp.json has ever made use of it. What is not known here, or what
 * runtimes read in different ways, refuses the whole profile with -EPROTO: a
 * key twice, two conditions of one argument, entries that contradict each
 * other. -E2BIG: beyond LIMIT_CALLS_RULES or LIMIT_CALLS_STEPS.
 */
must_check int calls_read(struct arena *a, struct str json, struct calls *out,
			  struct err *err);

/*
 * What is open in one and refused in the other is ACCESS_GAINED or ACCESS_LOST;
 * what both refuse or both open, with another answer, is ACCESS_OTHER. Adds to
 * *out, by way and name. -E2BIG: beyond LIMIT_CALLS_STEPS; nothing is added.
 */
must_check int calls_compare(struct arena *a, const struct calls *old,
			     const struct calls *now, struct comparison *out,
			     struct err *err);

/* --- for those two, and tests ------------------------------------------- */

bool calls_opens(struct calls_answer answer);
bool calls_same_answer(struct calls_answer x, struct calls_answer y);
/* The rules about a call: the first, and how many. */
const struct calls_rule *calls_find(const struct calls *c, struct str name,
				    uint32_t *out_n);

/* A call with its arguments. */
struct calls_point {
	uint64_t args[CALLS_CONDITIONS];
};

/* What is left of LIMIT_CALLS_STEPS; 0: no answer may be relied on. */
struct calls_budget {
	uint32_t steps;
};

/*
 * Is there a point within all of in and outside each of out? One of them is in
 * *out_point then. Exact while there is a budget.
 */
bool calls_solve(struct calls_budget *b, const struct calls_rule *const in[],
		 uint32_t n_in, const struct calls_rule *const out[],
		 uint32_t n_out, struct calls_point *out_point);

#endif
