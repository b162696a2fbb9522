/*
 * One of the two policies that `diff` compares, and where it is found:
 *
 *	FILE         a YAML file, or a policy.json: a policy by itself
 *	-            the same on stdin
 *	FOLDER       the policy of that workspace: .membrane.yaml, the ignore
 *	             file, what they extend
 *	PLAN         a folder that 'compile' wrote: its policy.json
 *	REV          the policy of this workspace at a revision
 *	REV:PATH     a file, a workspace or a plan in it; as in git, from the
 *	             root, REV:./PATH from here
 *	A..B, A...B  both sides in one word; the latter from where B left A
 *
 * Without a word they are the plan that the newest session here ran with, and
 * what would run now, both with their owner's settings.
 *
 * Else each stands on the built-in floor, and nobody's own settings go in: the
 * global file only where that is asked for, under workspaces, never under what
 * is a policy by itself. A word that is both a path and a revision is refused,
 * or whoever may add a file to a repository chooses what it is compared with.
 */
#ifndef COMPILER_CLI_REVIEW_OPERAND_H
#define COMPILER_CLI_REVIEW_OPERAND_H

#include "compiler/cli/frame/options.h"
#include "compiler/cli/review/derived.h"

enum operand_kind { OPERAND_FILE, OPERAND_WORKSPACE, OPERAND_PLAN };

struct operand {
	struct str label; /* as people call it; cleaned */
	enum operand_kind kind;
	bool is_empty; /* a workspace without a policy */
	/* of a plan: how many artefacts its policy.json does not compile to,
	 * and the first of them */
	uint32_t forged;
	struct str forged_first;
	bool calls_forged;		 /* seccomp.json is among them */
	const struct plan_file *seccomp; /* of the plan as it stands, or NULL */
	const struct plan *pods;	 /* a plan for Kubernetes, or NULL */
	bool is_revision;		 /* REV, without a path */
	/* "HEAD:", what the names of its sources begin with; or empty. */
	struct str revision;
	bool is_personal; /* a plan that was compiled with a global file */
	/* The file that it is mainly written in, for a tool that wants one;
	 * relative to the root of its repository or to here. */
	struct str file;
	struct compilation c; /* c.ok */
};

/*
 * Both sides, as the words of the command line name them. STATUS_OK, or the
 * exit status after everything has been said. operand_done_both() in any case.
 */
must_check int operand_load_both(struct arena *a, const struct options *o,
				 struct operand out[2]);
void operand_done_both(struct operand sides[2]);
/* One alone; driver_done(&out->c) in any case. */
must_check int operand_load(struct arena *a, const struct options *o,
			    struct str word, struct operand *out);

#endif
