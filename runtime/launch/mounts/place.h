/*
 * A folder or file of the host, by identity and not by name.
 *
 * Names below a folder that some agent can write are the agent's to change at
 * any moment. What is opened here stays what it is.
 */
#ifndef RUNTIME_LAUNCH_MOUNTS_PLACE_H
#define RUNTIME_LAUNCH_MOUNTS_PLACE_H

#include "runtime/launch/mounts/mountinfo.h"

#include <fcntl.h>

#ifndef O_PATH
#define O_PATH O_RDONLY
#endif

struct place_id {
	uint64_t dev, ino;
};

struct place {
	struct place_id self;
	VEC(struct place_id) above; /* the folders it is in, nearest first */
	/* Where it is in its file system, whatever is bound where; in_fs is
	 * NULL where the kernel does not say. */
	uint32_t major, minor;
	const char *in_fs;
};

/*
 * Open an absolute path without following a link anywhere on it, for its
 * identity alone (O_PATH), or with more flags for openat(2).
 *   -ELOOP, -ENOTDIR  there is a link
 */
must_check int place_open(const char *path, int flags, int *out_fd,
			  struct err *err);
/* The same for a path relative to a folder. */
must_check int place_open_below(int dirfd, struct str path, int flags,
				int *out_fd, struct err *err);
must_check int place_id(int fd, struct place_id *out, struct err *err);
bool place_same(const struct place_id *a, const struct place_id *b);
/*
 * All that is known of an open file or folder; for a file, whose folders
 * cannot be asked for, above is empty.
 */
must_check int place_find(struct arena *a, int fd, struct place *out,
			  struct err *err);

/* The mounts of a process ("self", "4711"), where the host has it. */
must_check int place_mounts(struct arena *a, const char *pid,
			    mountinfo_list *out, struct err *err);
/* The one of them that an open file or folder lies in; NULL: not known. */
const struct mountinfo_mount *place_mount(struct arena *a,
					  const mountinfo_list *own, int fd);
/*
 * Fill in where an open file or folder is now, by the mounts of this process.
 * False, and in_fs NULL, when that cannot be told: it is gone, or there is no
 * such /proc.
 */
bool place_locate(struct arena *a, const mountinfo_list *own, int fd,
		  struct place *p);

/* Is x the folder that y is in, directly or not? Pure. */
bool place_is_above(const struct place *x, const struct place *y);

#endif
