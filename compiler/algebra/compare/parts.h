/*
 * What the files of this room ask of each other; compare.h is for all
 * others.
 */
#ifndef COMPILER_ALGEBRA_COMPARE_PARTS_H
#define COMPILER_ALGEBRA_COMPARE_PARTS_H

#include "compiler/algebra/compare/access.h"
#include "compiler/algebra/compare/compare.h"
#include "compiler/algebra/decide/decide.h"
#include "compiler/algebra/space/endpoints.h"
#include "compiler/base/arena.h"

/* --- access_text.c ------------------------------------------------------- */

/* The set is brought into order on the way: ports merged, paths sorted, those
 * below others left out. */
struct str access_text(struct arena *a, struct access_change *c);

/* --- example_path.c ------------------------------------------------------ */

/*
 * Wildcards filled in, a file where the line means directories; below: a file
 * in what it names. It may be none that the pattern matches; empty: it is no
 * path.
 */
struct str example_path(struct arena *a, struct str line, bool below);

/* --- files.c ------------------------------------------------------------- */

void files_compare(struct arena *a, const struct ir_policy *old,
		   const struct ir_policy *now, struct comparison *out);

/* The same lines in the same order. */
bool files_same_patterns(const ir_patterns *x, const ir_patterns *y);

/* As never_find(), for sets of files; false also with *out_unknown set. */
bool files_never(struct arena *a, const struct ir_policy *p,
		 const struct ir_never *set, struct ir_request *out,
		 bool *out_unknown);

/* --- fronting.c ---------------------------------------------------------- */

/* False: there were too many, and not all were looked at. */
must_check bool fronting_compare(struct sides *s, struct access *x,
				 const struct endpoints *all);

/* --- inspect.c ----------------------------------------------------------- */

void inspect_compare(struct arena *a, const struct ir_policy *old,
		     const struct ir_policy *now, struct comparison *out);

/* --- raw_args.c ---------------------------------------------------------- */

void raw_args_compare(struct arena *a, const struct ir_policy *old,
		      const struct ir_policy *now, struct comparison *out);

/* --- reach.c ------------------------------------------------------------- */

/* A cell that may be mentioned once it is known what goes without saying, and
 * the rules that may decide it. */
struct changed {
	struct access_cell cell;
	uint32_t *ids, n;
};
/* With a copy of h's rules, which are gone after the visit. */
struct changed changed_of(struct arena *a, const struct access_cell *c,
			  const struct cells_http *h);

/* False: there were too many combinations, and not all were looked at. */
must_check bool reach_compare(struct arena *a, const struct ir_policy *old,
			      const struct ir_policy *now,
			      struct comparison *out);

/* --- rules.c ------------------------------------------------------------- */

enum rule_use {
	RULE_USED,
	/* Other rules permit, or deny, all of it. Of rules that say the same,
	 * all but one: all that are told so can go together. */
	RULE_SHADOWED,
	/* A grant: all of it is denied; or there is nothing. An entry of ask:
	 * all of it is permitted or denied, so that nobody is ever asked. */
	RULE_DEAD,
	/* Used, and others that are not shadowed permit, or deny, a part. */
	RULE_OVERLAPS,
};

/* Which list of a policy. */
enum rule_list { RULES_GRANTS, RULES_ASKED, RULES_DENIALS, RULE_LISTS };

struct rule_finding {
	enum rule_use use;
	/* The rule that has most of it in common, or, of what is dead, one that
	 * decides it; NULL with RULE_USED, and where nothing has a part of
	 * it. */
	const struct ir_grant *by;
};

/*
 * One finding per grant, entry of ask and denial of p, which is IR_NORMALISED,
 * at its index; those of the floor are RULE_USED. False: too many combinations
 * (limits.h), and every finding is RULE_USED.
 */
must_check bool rules_find(struct arena *a, const struct ir_policy *p,
			   struct rule_finding *out[RULE_LISTS]);

/* --- settings.c ---------------------------------------------------------- */

void settings_compare(struct arena *a, const struct ir_policy *old,
		      const struct ir_policy *now, struct comparison *out);

#endif
