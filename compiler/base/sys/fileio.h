/*
 * Whole files in and out.
 *
 * Reading is bounded and refuses anything but a regular file (a FIFO in a
 * cloned repository must not hang the compiler). Writing is through a
 * temporary name in the same directory and a rename, so that a reader sees the
 * old text or the new one.
 */
#ifndef COMPILER_BASE_SYS_FILEIO_H
#define COMPILER_BASE_SYS_FILEIO_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

#include <sys/types.h>

/*
 * Read the file at path, at most max bytes, into the arena; those of /proc,
 * whose size is said to be 0, too.
 *   -ENOENT  there is none (no other error has this code)
 *   -EFBIG   more than max bytes
 *   -EINVAL  not a regular file
 */
must_check int fileio_read(struct arena *a, int dirfd, const char *path,
			   size_t max, struct str *out, struct err *err);
/*
 * The same, and no part of path may be a link: it is opened folder by folder,
 * so that none can be put there on the way.
 *   -ELOOP, -ENOTDIR  one is
 */
must_check int fileio_read_inside(struct arena *a, int dirfd, struct str path,
				  size_t max, struct str *out, struct err *err);
/*
 * open(2) with O_CREAT, and never through a link at the end. What root makes
 * belongs to who the folder belongs to. O_EXCL: it must be new.
 */
must_check int fileio_create(int dirfd, const char *path, int flags,
			     unsigned mode);
/* mkdir(2), likewise: 1 when it was made, 0 where the name was taken. */
must_check int fileio_mkdir(int dirfd, const char *path, unsigned mode,
			    struct err *err);
/* The same for what bind(2) has made: name, in an open folder. */
void fileio_give(int dirfd, const char *name);
/* Replace the file at path; mode as for open(2). */
must_check int fileio_write(int dirfd, const char *path, struct str data,
			    unsigned mode, struct err *err);
/*
 * Remove what processes that were killed left beside name (NULL: beside any
 * name) in an open folder while they wrote it. Nobody may be writing it: the
 * caller has the lock of all who do. Best effort.
 */
void fileio_remove_unfinished(int dirfd, const char *name);
/* mkdir -p; mode for the directories that it makes. */
must_check int fileio_mkdirs(const char *path, unsigned mode, struct err *err);
/*
 * Remove a directory and all below it, never following a link. A path that
 * does not exist is no error.
 *   -EXDEV  a file system is mounted below: what is in that is another's
 */
must_check int fileio_remove_tree(int dirfd, const char *path, struct err *err);
/* Is the open folder fd, which is in dirfd, the root of a mount? */
bool fileio_is_mount(int dirfd, int fd);
/* Write all of data to a descriptor, through short writes and EINTR. */
must_check int fileio_write_all(int fd, struct str data, struct err *err);

/*
 * Does a file of the state folder say what holds for who runs this, by whose it
 * is? It may be one's own, or root's; for root also whose the folder is.
 */
must_check bool fileio_may_obey(uid_t file, uid_t folder);

/*
 * Wait so long; false at once when what is written to fd has no reader any
 * more: a pipe that was closed, a terminal that is gone.
 */
bool fileio_wait(int fd, int ms);

#endif
