/*
 * What happens to a policy between the front and the emitters.
 *
 * Each pass says what it requires and what it ensures; ir_verify() runs after
 * each in every build. A pass reports through diags and returns false when the
 * policy must be refused.
 */
#ifndef COMPILER_PASSES_PASSES_H
#define COMPILER_PASSES_PASSES_H

#include "compiler/ir/doc.h"

/*
 * layers: the documents, in order, into one policy. Lists append, scalars
 * replace; the built-in floor comes first. Requires IR_BOUND, ensures
 * IR_MERGED. Refuses what only the global file may say (workspace_trust,
 * on_refusal).
 */
must_check bool passes_layers(struct pass_ctx *c, const docs *docs,
			      struct ir_policy *out);

/*
 * normalise: IR_MERGED to IR_NORMALISED. Also fills defaults, parses and
 * judges the raw docker arguments (passes/args.h) and expands trace events
 * (passes/trace.h).
 */
must_check bool passes_normalise(struct pass_ctx *c, struct ir_policy *p);

/*
 * conflicts: errors that need the whole policy: http on UDP ports. What is
 * merely odd is for lint. Requires IR_NORMALISED.
 */
must_check bool passes_conflicts(struct pass_ctx *c, const struct ir_policy *p);

/*
 * What the workspace layer (the file, what it extends, and the ignore file)
 * adds to the policy: grants, raw arguments, an image, a weaker setting.
 * Appends one text with its origin per addition; empty when it only narrows.
 * doc/semantics.md, sections 1 and 7.
 *
 * The texts are what is approved, so they are exact and canonical: they hold
 * every value whole, in one spelling, unescaped; they come by part, then by
 * text where order has no meaning, each once. Two contributions with the same
 * texts add the same. Variables of raw arguments stand there by name.
 * view_clean() them before they are shown.
 */
enum addition_part {
	ADDITION_GRANT,
	ADDITION_PATTERN, /* as written: their order has meaning */
	ADDITION_SETTING,
	ADDITION_CREDENTIAL,
	ADDITION_ARG, /* as written */
};
struct addition {
	enum addition_part part;
	struct ir_origin from;
	struct str text;
	/* Connections by name and files are all that it is about: no rules on
	 * requests, no decryption, no private addresses, no setting. */
	bool is_plain;
	const struct ir_grant *grant; /* of ADDITION_GRANT, normalised */
};
typedef VEC(struct addition) addition_list;
void passes_additions(struct pass_ctx *c, const docs *docs, addition_list *out);
/*
 * What the same layer holds back, in the same form: its denials, what may never
 * be, tighter settings, and, where it takes back patterns of others, those that
 * it hides or keeps behind them. With one of these less, what it adds may be
 * more; one more adds nothing.
 */
void passes_cuts(struct pass_ctx *c, const docs *docs, addition_list *out);

/*
 * enforceable: errors for what can be written, compared and compiled, and what
 * the runtime of this version does not do: one for each place. Requires
 * IR_NORMALISED. For `run`, and for `plan` as a remark: a policy may be made
 * for another version.
 */
must_check bool passes_enforceable(struct pass_ctx *c,
				   const struct ir_policy *p);

#endif
