/*
 * What `plan` has to say, gathered once and then written as text, JSON or
 * Markdown: a compiled policy, what it adds, what it leaves open, what of it
 * cannot be enforced, and how it differs from the plan that last ran here.
 */
#ifndef COMPILER_CLI_PLAN_MODEL_H
#define COMPILER_CLI_PLAN_MODEL_H

#include "compiler/base/sha256.h"
#include "compiler/cli/plan/plan_git.h"
#include "compiler/cli/plan/risks.h"
#include "compiler/cli/review/changes.h"
#include "compiler/cli/review/derived.h"
#include "compiler/cli/trust/trust_ask.h"
#include "compiler/driver.h"

struct plan_model {
	struct arena *a;
	const struct sources *sources;
	const struct ir_policy *policy; /* IR_NORMALISED */
	const struct plan *plan;
	const struct diags *diags;   /* of the compile: warnings */
	const bool *denied;	     /* per grant: void by denials; or NULL */
	third_party_hits reached;    /* where others can read */
	waived_list waived;	     /* warnings with an exception */
	char digest[SHA256_HEX_MAX]; /* of the manifest */
	struct contribution adds;    /* of the workspace */
	enum trust_state trust;
	struct err trust_err; /* TRUST_UNKNOWN: why */
	struct diags refused; /* what cannot be enforced: errors */
	plan_git git;	      /* as the workspace is now */
	risk_list risks;
	const struct plan *last; /* that ran here before, or NULL */
	/* What it says, and how access changed since, when this version can
	 * read it: own.c.ok. */
	struct derived own;
	struct changes changes;
	struct plan_delta *files; /* that differ */
	uint32_t n_files;
	bool first_use; /* there is no global file yet */
};

/* last: the plan that ran here last, or NULL. c is ok. */
void model_make(struct plan_model *m, struct compilation *c,
		const struct inputs *in, const struct plan *last);
void model_done(struct plan_model *m);
/* Whether m->changes is there. */
bool model_has_changes(const struct plan_model *m);

/* "file:line", "<command line>", "builtin"; empty for nowhere. Cleaned. */
struct str model_source(const struct plan_model *m, struct ir_origin from);

#endif
