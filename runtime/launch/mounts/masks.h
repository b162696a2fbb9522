/*
 * From mounts.plan and a workspace to the mounts of a session.
 *
 * What is ignored is covered by something empty of its type, what is readonly
 * is bound onto itself read-only, and the directories above both are bound
 * onto themselves, so that they cannot be renamed away. Only the words are made
 * here, parents first: for `docker run`, or those of native_json.h, which say
 * what was seen at each place.
 *
 * In what masks_prepare() fills, everything lives in the arena it was given.
 */
#ifndef RUNTIME_LAUNCH_MOUNTS_MASKS_H
#define RUNTIME_LAUNCH_MOUNTS_MASKS_H

#include "compiler/base/err.h"
#include "runtime/launch/mounts/looked.h"

struct masks_opts {
	const char *state;     /* absolute; sessions/{session} is there */
	const char *session;   /* its ID */
	const char *workspace; /* absolute, without a link on it */
	int root;	       /* the same folder, open for reading; borrowed */
	struct str plan;       /* the text of mounts.plan */
	bool readonly; /* the workspace is mounted so: scan_is_readonly() */
	/* For membrane's own engine: of moves.h, and hears from here on what is
	 * moved. NULL: for Docker's. */
	const int *moves;
};

struct masks {
	VEC(const char *) words; /* "--mount", "type=bind,…", … */
	looked_notes notes;	 /* for stderr: a sentence each */
	VEC(struct mask)
	list;			   /* sorted as by wspath_cmp, without repeats;
				      Docker's: what each is made of is open */
	struct str target;	   /* where the workspace is, inside */
	int empty_dir, empty_file; /* fd of those that are ignored; -1 */
	uint64_t entries;	   /* of the workspace, looked at */
};

/*
 * Scan, make placeholders for what must be held, and write the mount words.
 *
 * Makes {state}/empty too. When it fails nothing is left in the workspace.
 *   -EPROTO  mounts.plan is not one
 *   -E2BIG   more than LIMIT_MASKS mounts; says where most of them are
 *   -EILSEQ  a path that docker's command line cannot carry
 *   -ENOSPC  no more folders may be watched
 *   -EINVAL  the workspace is the root directory, or inside the state folder
 *   others   the workspace or the state folder cannot be used
 */
must_check int masks_prepare(struct arena *a, const struct masks_opts *o,
			     struct masks *out, struct err *err);
/* Let go of what they are made of. Of a zeroed one: nothing. */
void masks_close(struct masks *m);

/*
 * Take away what masks_prepare() left in the workspace. After the session's
 * containers are gone, or by the reaper for a dead session; twice is no error.
 */
must_check int masks_release(const char *state, const char *session,
			     struct err *err);

/*
 * Make room for a long argument vector, in the process that is about to exec
 * it: the kernel takes a quarter of the stack's limit. Only the soft limit of
 * this process is raised.
 *   -E2BIG  it will not fit; says by how much
 */
must_check int masks_fit(char *const *argv, char *const *envp, struct err *err);

#endif
