/*
 * One look at a workspace, as `run` begins with it: what the patterns match and
 * where links lead, what git runs. Reads only. The mounts of a session are made
 * from it (masks.h), `plan` lists it, and `explain` answers from it: a policy
 * alone does not know all that is read-only, or hidden.
 */
#ifndef RUNTIME_LAUNCH_MOUNTS_LOOKED_H
#define RUNTIME_LAUNCH_MOUNTS_LOOKED_H

#include "runtime/launch/workspace/committed.h"
#include "runtime/launch/workspace/gitfound.h"
#include "runtime/launch/workspace/gitlinked.h"
#include "runtime/launch/workspace/gitoutside.h"

#include <limits.h>

struct looked_at {
	struct str state; /* membrane's folder, absolute and real: hidden if it
			     is inside; empty: there is none */
	struct str root_path; /* the workspace, absolute and real */
	int root;	      /* the same folder, open for reading; borrowed */
	struct str mounts;    /* the text of mounts.plan */
	bool readonly;	      /* scan_is_readonly() */
	const int *moves;     /* as scan.h has it; or NULL */
	const char *own;      /* its own path, where it is that inside, too */
	/* The repository that the session is shown; NULL: none. */
	const struct gitlinked *linked;
	const struct gitoutside *outside; /* with a part of one, or NULL */
};

/* Sentences for people. */
typedef VEC(struct str) looked_notes;

struct looked {
	struct looked_at at;
	struct mountsplan plan; /* its holds: the policy's, then git's */
	/* Of each hold: where links lead; empty where that is not inside. */
	scan_paths places;
	struct scan found;
	struct gitfound git;
};

/* In the arena; borrows from *at. Errors are those of mountsplan_read() and
 * scan_workspace(). */
must_check int looked_make(struct arena *a, const struct looked_at *at,
			   struct looked *out, struct err *err);

/*
 * The state folder as the kernel knows it.
 *   -EINVAL  the workspace is the root directory, or inside the state folder
 */
must_check int looked_state(const char *state, const char *workspace,
			    char out[PATH_MAX], struct err *err);
/* What git runs and cannot be held; what is hidden and yet to be had from it.
 * view: masks are held by one. Appends. */
void looked_git_notes(struct arena *a, const struct looked *l,
		      const struct committed *c, bool view, looked_notes *out);
/* Where the session has the workspace, and the command begins: at its own path,
 * or where the plan says. */
struct str looked_inside(const struct looked *l);
/* Membrane's own folder, relative to the workspace; empty: it is elsewhere. */
struct str looked_state_inside(const struct looked_at *at);

enum looked_kind {
	LOOKED_MASK,  /* mask: of the scan */
	LOOKED_HOLD,  /* a hold of the policy's */
	LOOKED_GIT,   /* git: what it runs or reads */
	LOOKED_WHOLE, /* the user may not write to the workspace either */
};

struct looked_word {
	enum looked_kind kind;
	struct str path; /* it, or a folder above it; of a hold as that has it:
			    links may lead from there */
	const struct mask *mask;
	const struct gitfound_path *git;
};

/*
 * Is this path of the workspace hidden; read-only, whatever the policy says;
 * read-only for the policy's sake? path may end in a slash, pass links and not
 * exist. False for what leads out of the workspace.
 */
must_check bool looked_hides(struct arena *a, const struct looked *l,
			     struct str path, struct looked_word *out);
must_check bool looked_holds(struct arena *a, const struct looked *l,
			     struct str path, struct looked_word *out);
must_check bool looked_keeps(struct arena *a, const struct looked *l,
			     struct str path, struct looked_word *out);

#endif
