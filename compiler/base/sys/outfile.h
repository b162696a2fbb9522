/*
 * Files that are written by a name that was given on the command line, or that
 * stands in a workspace.
 *
 * An agent writes to its workspace too, and can put a link, a FIFO or another
 * file's hard link where one of ours is to be. In its folders no link is
 * followed, on the way or at the end, and nothing that is there is written to:
 * a new file takes the name. Everywhere else a path means what it means to any
 * program.
 */
#ifndef COMPILER_BASE_SYS_OUTFILE_H
#define COMPILER_BASE_SYS_OUTFILE_H

#include "compiler/base/sys/pathwalk.h"

struct outfile_rule {
	/* May an agent write to this folder? NULL: to all of them. */
	bool (*is_agents)(void *ctx, int dirfd);
	void *ctx;
};

/*
 * Where path leads, by the rule; folders that are missing are made with mode
 * make, unless that is 0. As pathwalk_find(), and
 *   -ELOOP  a link in a folder of an agent's
 */
must_check int outfile_find(struct arena *a, const struct outfile_rule *rule,
			    int dirfd, const char *path, unsigned make,
			    struct pathwalk_end *out, struct err *err);
/*
 * The file at path, empty and open for writing. What a path outside of an
 * agent's folders leads to may be a FIFO or a device.
 *   -ELOOP   a link in a folder of an agent's
 *   -EINVAL  something that is no file, in such a folder
 */
must_check int outfile_open(struct arena *a, const struct outfile_rule *rule,
			    int dirfd, const char *path, unsigned mode,
			    int *out_fd, struct err *err);
/* The same, with all that is to be in it. */
must_check int outfile_write(struct arena *a, const struct outfile_rule *rule,
			     int dirfd, const char *path, struct str data,
			     unsigned mode, struct err *err);

#endif
