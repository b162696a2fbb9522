/*
 * No agent of another session runs while this one's mounts are made.
 *
 * Docker resolves the sources of mounts by name, as root, and through links.
 * Whoever can write a folder above such a source can put a link in its place
 * between our look and Docker's. So from before the scan until the container
 * has started, each agent that could is stopped (freeze.h), and sessions that
 * could do that to each other start one after the other.
 *
 * What a session's agent can write, and what is mounted for it, stands in
 * {state}/sessions/ID/reach, locked (flock) while that session starts:
 *
 *	membrane-reach 1
 *	rw|ro folder|tree|name DEV INO PATH     see enum overlap_kind
 *
 * Bytes up to 0x20, '%' and 0x7f are written %XX in paths. Sessions of other
 * state folders are found by their containers' labels and mounts.
 */
#ifndef RUNTIME_LAUNCH_MOUNTS_OVERLAP_H
#define RUNTIME_LAUNCH_MOUNTS_OVERLAP_H

#include "runtime/launch/docker/binds.h"
#include "runtime/launch/docker/docker_session.h"
#include "runtime/launch/mounts/place.h"
#include "runtime/launch/session/session.h"

enum overlap_kind {
	OVERLAP_FOLDER, /* mounted as it is */
	OVERLAP_TREE,	/* a workspace: what is below it was looked at, too */
	OVERLAP_NAME,	/* what stands in it under a name counts: a file that
			   is mounted, a link on the way to a source */
};

struct overlap_root {
	const char *path;
	struct place at;
	enum overlap_kind kind;
	bool writable; /* the agent's to change */
	bool moved;    /* no longer at its path: it may be anywhere */
};
typedef VEC(struct overlap_root) overlap_roots;

struct overlap {
	struct arena *a;
	const char *state;
	const struct session *session;
	int reach; /* the record, locked: between overlap_begin() and _end(); -1
		    */
	bool views; /* the workspace is a view: no name in it is mounted on */
	overlap_roots roots;
};

/* Could who writes w change what the mount s is of? Pure. */
bool overlap_harms(const struct overlap_root *w, const struct overlap_root *s);

/*
 * Stop those agents, and hold off the start of such sessions; all in *o but the
 * roots and reach is filled in, reach is -1.
 *
 * binds      what will be mounted
 * may_stop   false: only where nobody has to be stopped
 *
 * 0, or 1: not now. Another session is starting (or, without may_stop, runs)
 * there: to be called again. Negative: an agent cannot be stopped, as none of
 * the native engine's can; *err says whose and what to do.
 */
must_check int overlap_begin(struct overlap *o, struct docker *d,
			     const bind_list *binds, bool may_stop,
			     struct err *err);
/*
 * Of a session of the native engine, whose mounts are made by descriptor: what
 * its agent can write is on record, for those of Docker's that start meanwhile.
 * As above, but that nobody is stopped.
 */
must_check int overlap_note(struct overlap *o, const bind_list *binds,
			    struct err *err);
/* Let all of it go. Twice is no error. */
must_check int overlap_end(struct overlap *o, struct docker *d,
			   struct err *err);

#endif
