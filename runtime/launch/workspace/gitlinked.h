/*
 * The repository that a workspace is a worktree, a submodule or a folder of,
 * where git's own files lie elsewhere. Of the first two, `.git` is a file and
 * says in which folder; of the last, git looks in the folders above. Without
 * them git says that there is no repository.
 *
 * All of it is text that anybody may have written who could write to the
 * workspace: an agent, in an earlier session. So it is read within bounds,
 * followed through no link, and believed only where what it leads to looks
 * like git's, belongs to the same user, and points back to this very workspace
 * from a place that the agent could not write. Whether a session gets it is
 * for somebody to approve. Nothing is executed and nothing written.
 */
#ifndef RUNTIME_LAUNCH_WORKSPACE_GITLINKED_H
#define RUNTIME_LAUNCH_WORKSPACE_GITLINKED_H

#include "compiler/base/arena.h"
#include "compiler/base/str.h"

#include <stdint.h>

enum gitlinked_kind {
	GITLINKED_NONE,	    /* nothing of git's is elsewhere */
	GITLINKED_WORKTREE, /* `git worktree add`; of a bare one, too */
	GITLINKED_MODULE,   /* a submodule, in the folder of its repository */
	GITLINKED_PART,	    /* a folder of a repository: common is its .git */
	GITLINKED_FOLDER,  /* one of the worktree or submodule common: not shown
			    */
	GITLINKED_REFUSED, /* why says what is not as git makes it */
};

struct gitlinked_places {
	struct str root_path; /* the workspace, absolute and real */
	struct str state;     /* membrane's folder, the same; empty: none */
	struct str home;      /* the user's, the same; empty: not known */
};

struct gitlinked {
	enum gitlinked_kind kind;
	/* What all worktrees share, or the submodule's own: absolute, without a
	 * link on it. */
	struct str common;
	/* The worktree's own: "NAME" of common/worktrees/NAME; of a part, the
	 * workspace from the repository's folder; of a submodule, empty. */
	struct str name;
	uint64_t dev, ino; /* of common */
	bool relative;	   /* .git says where by a path from the workspace */
	struct str why;	   /* a clause; what stands in it may be anything */
};

/* In the arena. What cannot be read is refused, and no error. */
void gitlinked_find(struct arena *a, const struct gitlinked_places *at,
		    struct gitlinked *out);

/* Is a path one where a container has files of its own? */
bool gitlinked_is_systems(struct str path);

/* The folder of the host that a session has at its own path: common, or of a
 * part what that lies in. */
struct str gitlinked_shown(const struct gitlinked *g);

/* What is put behind a submodule's configuration: its files are there. A path
 * without a control byte. */
struct str gitlinked_files(struct arena *a, struct str inside);

/* The text that approvals are kept under: "git /home/me/x/.git, worktree y". */
struct str gitlinked_text(struct arena *a, const struct gitlinked *g);

/*
 * The lines, in their order, by which everything of common is read-only but
 * what git of the worktree, or of the submodule, writes: patterns of
 * gitignore's, anchored at a folder in which common is called ".git". A
 * worktree's own lines come last.
 */
typedef VEC(struct str) gitlinked_lines;
void gitlinked_patterns(struct arena *a, const struct gitlinked *g,
			gitlinked_lines *out);

#endif
