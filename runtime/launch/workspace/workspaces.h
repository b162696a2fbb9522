/*
 * Folders that an agent could write to: {state}/workspaces.
 *
 * A link in such a folder is nobody's word. So each workspace is noted before
 * anything runs in it, by its path and by what the path stood for, and stays
 * noted when its sessions are forgotten: a folder that was renamed since is
 * known by the one, one on a file system that was mounted anew by the other.
 *
 *	DEVICE SP INODE SP PATH NUL
 *
 * The newest last, WORKSPACES_MAX of them.
 */
#ifndef RUNTIME_LAUNCH_WORKSPACE_WORKSPACES_H
#define RUNTIME_LAUNCH_WORKSPACE_WORKSPACES_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

#define WORKSPACES_MAX 2000u

/* workspace is absolute, every link followed. */
must_check int workspaces_note(struct arena *a, const char *state,
			       const char *workspace, struct err *err);

/* For outfile.h, and others who ask before they follow a link. */
struct workspaces_ask {
	struct arena *a;
	const char *state;
	const char *workspace; /* one that counts in any case; or NULL */
};
/*
 * Is this folder, or one above it, a workspace, or {state} itself, where the
 * agents' home is? True also when the note of them cannot be read.
 */
must_check bool workspaces_hold(void *ask, int dirfd);

/* The same of several folders: as the note, and what is noted, are now. */
struct workspaces;
const struct workspaces *workspaces_read(const struct workspaces_ask *ask);
must_check bool workspaces_have(const struct workspaces *w, int dirfd);

#endif
