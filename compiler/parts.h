/*
 * What the driver has beside it.
 */
#ifndef COMPILER_PARTS_H
#define COMPILER_PARTS_H

#include "compiler/ir/doc.h"

/*
 * text: a provenance.json. Sources are added in which nothing stands but the
 * rules, each at its line and column. A rule that it does not know stays where
 * it is; false: it is no provenance.json, and nothing has changed.
 */
must_check bool origins_adopt(struct pass_ctx *c, struct str text,
			      struct ir_policy *p);

#endif
