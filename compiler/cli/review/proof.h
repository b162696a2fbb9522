/*
 * A plan's bytes against the policy, for people and for programs: what
 * compiler/prove finds, of `check --prove` and `compile --prove`.
 */
#ifndef COMPILER_CLI_REVIEW_PROOF_H
#define COMPILER_CLI_REVIEW_PROOF_H

#include "compiler/base/json.h"
#include "compiler/cli/text/view.h"
#include "compiler/driver.h"
#include "compiler/prove/prove.h"

/* The plan is c's own, or one that was written: c is ok either way. A plan
 * without the artefacts has an unreadable one. */
void proof_make(const struct compilation *c, const struct plan *plan,
		struct prove_out *out);

/* What agrees, and what was not compared. */
void proof_view(const struct view *v, const struct prove_out *out);
/* The first cell on which they differ, or why nothing was proved: lines after
 * "membrane: ". dir: what the plan is called. */
void proof_complain(const struct view *v, const struct compilation *c,
		    struct str dir, const struct prove_out *out);
cJSON *proof_json(const struct compilation *c, const struct prove_out *out);

#endif
