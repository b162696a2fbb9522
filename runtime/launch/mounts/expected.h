/*
 * Is what was mounted what was meant?
 *
 * What was meant is held open since it was looked at. When the container has
 * started, the kernel's list of its mounts must have, at each target, the same
 * folder or file of the same file system: by what is held, not by its name.
 */
#ifndef RUNTIME_LAUNCH_MOUNTS_EXPECTED_H
#define RUNTIME_LAUNCH_MOUNTS_EXPECTED_H

#include "runtime/launch/mounts/mountinfo.h"

struct expected_mount {
	struct str target; /* absolute, in the container */
	int fd;		   /* O_PATH; borrowed, and open until the end */
	bool below;	   /* in the mount before it that is not: a mask */
	/* As expected_locate() found it. */
	uint32_t major, minor;
	const char *in_fs; /* NULL: gone */
};
typedef VEC(struct expected_mount) expected_list;

/*
 * Compare. Pure.
 *
 * A target that leads through a link of the image is mounted elsewhere: then it
 * is known by what it is, and what is below it is looked for there.
 *   -EXDEV  something else is at a target, or nothing; *err says where
 */
must_check int expected_compare(struct arena *a, const expected_list *meant,
				const mountinfo_list *have, struct err *err);
/* Is one of them the mount of m, wherever? Pure. */
bool expected_is_in(const struct expected_mount *m, const mountinfo_list *have);
/* Where all of it is now, by the mounts of this process. */
must_check int expected_locate(struct arena *a, expected_list *meant,
			       struct err *err);

#endif
