/*
 * Where the rules of a written plan came from, put back into its policy.
 *
 * policy.json says what a plan permits, and provenance.json of the same plan
 * where people wrote that. After this, the rules of a policy that was compiled
 * from policy.json are at the places of the latter: `.membrane.yaml:3`, so that
 * diagnostics, comparisons and the next provenance.json name them as before.
 */
#ifndef COMPILER_ORIGINS_H
#define COMPILER_ORIGINS_H

#include "compiler/ir/doc.h"

/*
 * text: a provenance.json. Sources are added in which nothing stands but the
 * rules, each at its line and column. A rule that it does not know stays where
 * it is; false: it is no provenance.json, and nothing has changed.
 */
must_check bool origins_adopt(struct pass_ctx *c, struct str text,
			      struct ir_policy *p);

#endif
