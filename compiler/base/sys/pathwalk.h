/*
 * Where a path leads, opened part by part.
 *
 * open(2) follows every link on a path, whoever put it there. This asks before
 * it follows one, and goes on from the folder that it has open: what is found
 * is what was asked about, whatever is renamed meanwhile.
 */
#ifndef COMPILER_BASE_SYS_PATHWALK_H
#define COMPILER_BASE_SYS_PATHWALK_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

#include <sys/stat.h>

/* As the kernel's MAXSYMLINKS. */
#define PATHWALK_LINKS_MAX 40

struct pathwalk {
	/*
	 * A link stands in the folder dirfd; path says where that is. 0 follows
	 * it; a negative errno, with *err, ends the walk with that.
	 */
	int (*on_link)(void *ctx, int dirfd, struct str path, struct err *err);
	void *ctx;
	unsigned make; /* mode of folders that are missing; 0: an error */
};

struct pathwalk_end {
	int dir_fd;	  /* the last part's folder; for the caller to close */
	const char *name; /* the last part; "." for the root folder */
	struct str path;  /* both as text, without a link */
	bool exists;
	struct stat st; /* where it exists */
	/* The last part is a link to neither a file nor a folder, such as
	 * /dev/stdout: to be opened as it is, its text leads nowhere. */
	bool special;
};

/*
 * path is relative to dirfd, or to the current folder (AT_FDCWD). A last part
 * that is a link is followed like the others: what is returned is none, but
 * for special. That it is missing is no error.
 *   -ELOOP  too many links
 */
must_check int pathwalk_find(struct arena *a, const struct pathwalk *w,
			     int dirfd, const char *path,
			     struct pathwalk_end *out, struct err *err);
/*
 * A folder as something to go on from: it needs no right to list it. *name may
 * be "..", and is no link.
 */
must_check int pathwalk_enter(int dirfd, const char *name);

#endif
