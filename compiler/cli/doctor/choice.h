/*
 * Which engine runs a plan that both may run: the native one where it works on
 * this machine, else Docker.
 */
#ifndef COMPILER_CLI_DOCTOR_CHOICE_H
#define COMPILER_CLI_DOCTOR_CHOICE_H

#include "compiler/base/diag.h"
#include "compiler/ir/ir.h"
#include "compiler/plan/plan.h"

/* "docker" or "native": what is taken where the policy leaves it open. */
#define CHOICE_ENV "MEMBRANE_ENGINE"

/* What that says; IR_ENGINE_AUTO: neither of the two. */
enum ir_engine choice_named(void);

/* What choice_make() would choose natively, as far as that tells; nothing is
 * said. */
bool choice_expects_native(struct arena *a, const struct plan *plan);

/* What the variable asks for and the policy, which left it open, cannot have: an
 * error at its line. p is IR_NORMALISED. */
must_check bool choice_check(struct arena *a, const struct ir_policy *p,
			     const struct plan *plan, struct diags *diags);

/*
 * A plan with one artefact leaves no choice. Of two the native engine is tried,
 * for some milliseconds and as far as that tells; what it then fails at while
 * the session starts is an error, and no reason for the other one. That Docker
 * takes its place is said.
 *
 * False, and said why: neither works here.
 */
must_check bool choice_make(struct arena *a, const struct plan *plan,
			    bool *out_native);

#endif
