/*
 * What the files of this room ask of each other.
 */
#ifndef COMPILER_PASSES_PARTS_H
#define COMPILER_PASSES_PARTS_H

#include "compiler/ir/ir.h"
#include "compiler/passes/passes.h"

/* --- floor.c ------------------------------------------------------------- */

/*
 * The floor as LAYER_FLOOR: denials of the addresses that nothing has any
 * business with, read-only patterns, and a value for each scalar that has a
 * default. Its text becomes the source "builtin", so that its spans show.
 */
void floor_doc(struct pass_ctx *c, struct doc *out);

/* --- pattern_intersect.c ------------------------------------------------- */

bool pattern_intersect(const struct ir_pattern *a, const struct ir_pattern *b);

/* --- normalise.c --------------------------------------------------------- */

/*
 * Ports, http rules and canonical text of one bound grant, not poison; no id.
 * In place, but what it shares with the bound document stays as it is.
 */
void normalise_grant(struct arena *a, struct ir_grant *g);
/*
 * The path that a pattern names, or nothing: anchored, without a wildcard and
 * without an escape (what is escaped looks like a wildcard elsewhere).
 */
struct str normalise_literal(const struct ir_pattern *p);

/* --- publish.c ----------------------------------------------------------- */

/* p->ports in order, without repeats; false after reporting two places that
 * are one. */
must_check bool publish_settle(struct pass_ctx *c, struct ir_policy *p);

/* --- image.c ------------------------------------------------------------- */

/* Without the image of a preset of ours, where the engine has no use for it. */
void image_settle(struct pass_ctx *c, struct ir_policy *p);

/* --- visible.c ----------------------------------------------------------- */

/* One word for each path; an error where two say otherwise. */
must_check bool visible_settle(struct pass_ctx *c, struct ir_policy *p);

/* --- fast.c -------------------------------------------------------------- */

/*
 * p->fast without repeats, empty where no view holds, and what it takes back
 * behind the patterns of p. False: a folder that something else decides; said.
 */
must_check bool fast_settle(struct pass_ctx *c, struct ir_policy *p);

#endif
