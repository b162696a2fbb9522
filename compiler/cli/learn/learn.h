/*
 * `membrane learn`: a session within a stated bound, and what of that bound its
 * command needed, as an amendment of the workspace's policy.
 *
 * The bound is of the layer of the flags (front/within.h), so whatever binds
 * flags binds it. What is learned is what the session did and the policy of
 * the workspace without any flag does not permit: suggest.h makes the entries,
 * and nothing that was refused becomes one.
 */
#ifndef COMPILER_CLI_LEARN_LEARN_H
#define COMPILER_CLI_LEARN_LEARN_H

#include "compiler/cli/account/suggest.h"
#include "compiler/cli/review/changes.h"
#include "compiler/cli/traces/past.h"
#include "compiler/cli/workspace/inputs.h"

#define LEARN_ENTRIES_MAX 500u /* of a policy; an agent can do much */
#define LEARN_TESTS_MAX	  200u /* of each kind: nobody reads more */

/* --- learn_target.c ------------------------------------------------------- */

/* Where it goes: -o. */
struct learn_target {
	const char *path;  /* NULL: stdout */
	const char *tests; /* the file of tests beside it */
	bool own;	   /* it is the policy of the workspace itself */
};

/* Whether what is to be written may be; false after saying why not. file: the
 * workspace's policy, with its text as it is. */
must_check bool learn_target_find(struct arena *a, const struct options *o,
				  const struct inputs *in,
				  const struct sources *sources,
				  struct learn_target *out);

/* --- learn_bound.c -------------------------------------------------------- */

/* Show the bound of a session that is to begin; false after saying that there
 * is none. */
must_check bool learn_bound_show(const struct options *o,
				 const struct inputs *in,
				 struct compilation *c);

/* --- learn_lesson.c ------------------------------------------------------- */

/* Whom connections and requests went to: with the port of requests, and with 0
 * for all. */
struct lesson_flow {
	struct str name;
	uint16_t port;
};

struct lesson {
	struct arena *a;
	const struct options *o;
	struct inputs in;
	struct str id; /* of the session */
	struct learn_target to;
	/* Found: */
	struct past p;
	struct compilation old, now; /* without flags; with what was learned */
	VEC(struct lesson_flow) flows; /* sorted: an agent can do much */
	struct suggestion made;
	bool is_partial; /* records are missing */
	struct str file; /* the workspace's policy: its name, and its text */
	bool is_new;
	struct str before, after;
	struct changes diff;
	/* Requests, as policies have them: */
	suggest_texts allowed, asked, denied;
	uint64_t more; /* of which there was no room for so many */
};

/* Everything up to the texts. STATUS_OK, or the status after saying why. */
must_check int lesson_make(struct lesson *x);
void lesson_done(struct lesson *x);

/* --- learn_text.c --------------------------------------------------------- */

/* A policy of what was learned alone, with its tests and comments. */
struct str lesson_yaml(const struct lesson *x);
/* The file of tests. */
struct str lesson_tests_yaml(const struct lesson *x);

/* --- learn_give.c --------------------------------------------------------- */

/* Show it, and write it to where it goes. The status. */
must_check int lesson_give(struct lesson *x);

#endif
