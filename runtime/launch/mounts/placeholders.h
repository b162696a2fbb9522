/*
 * Paths that must stay readonly although they do not exist yet.
 *
 * A mount needs something to be mounted on, so what is missing is made in the
 * workspace as a placeholder (an empty file or directory; .git/commondir holds
 * the "." that its absence means to git) and is gone when the session ends.
 * Each is written into the session's journal before it is made: whoever comes
 * after a kill -9 undoes it from there.
 *
 *	membrane-journal 1
 *	workspace PATH
 *	intent file|dir SECONDS PATH      about to be made, at that time
 *	made file|dir DEV INO PATH        is there, and this session needs it
 *
 * Bytes up to 0x20, '%' and 0x7f are written %XX in paths.
 *
 * Sessions in one workspace share placeholders: one that finds another's
 * writes `made` into its own journal too, and the last that goes removes it.
 * Removing it earlier would detach the other's mount. Therefore no journal is
 * ever dropped but by placeholders_undo(), and all of this happens under
 *placeholders_lock().
 */
#ifndef RUNTIME_LAUNCH_MOUNTS_PLACEHOLDERS_H
#define RUNTIME_LAUNCH_MOUNTS_PLACEHOLDERS_H

#include "compiler/base/err.h"
#include "runtime/launch/workspace/scan.h"

/* Longest wait for another session that is starting or ending. */
#define PLACEHOLDERS_WAIT_S 60

struct placeholders {
	struct arena *a;
	const char *state, *session; /* {state}/sessions/{session}/journal */
	int root;		     /* the workspace, open */
	struct str root_path;
	int fd; /* the journal, -1 until there is something to write */
	VEC(struct str) claimed; /* of others; they are in it */
};

/*
 * Wait until no other session of this state folder is between looking at its
 * workspace and having claimed what it needs there.
 *
 * out_fd  to be closed when done
 *   -ETIMEDOUT  after PLACEHOLDERS_WAIT_S
 */
must_check int placeholders_lock(const char *state, int *out_fd,
				 struct err *err);

/* The same with another lock, {state}/NAME. */
must_check int placeholders_lock_file(const char *state, const char *name,
				      int *out_fd, struct err *err);

/*
 * See that each hold is in found: as a readonly mask where the path exists,
 * as a placeholder and its mask where it does not. One below a masked or
 * readonly directory of found needs neither. What cannot be held is noted.
 *
 * An error leaves what was made so far in the journal: placeholders_undo().
 */
must_check int placeholders_make(struct placeholders *h,
				 const struct mountsplan *plan,
				 struct scan *found, struct err *err);

/*
 * Claim the folders that other sessions made here: what placeholders_make()
 * makes may lie in one of them, and would keep it from going with the session
 * that made it. Before that, so that a kill in between leaves a folder to
 * somebody.
 */
must_check int placeholders_claim_folders(struct placeholders *h,
					  struct err *err);

/* Claim the placeholders of other sessions that masks (sorted as by
 * wspath_cmp) stand on. */
must_check int placeholders_claim(struct placeholders *h,
				  const struct mask *masks, uint32_t n,
				  struct err *err);

/*
 * Undo a session's journal and remove it; to be called when nothing of the
 * session runs any more. A placeholder stays if it was replaced, is no longer
 * empty, or is another session's too. No journal is no error.
 *   -EPROTO  not a journal; nothing was touched
 */
must_check int placeholders_undo(const char *state, const char *session,
				 struct err *err);

#endif
