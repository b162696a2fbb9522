/*
 * /proc/PID/mountinfo, read: what is mounted where, and of which folder.
 *
 * Pure. A mount is known by its file system (major:minor) and by the path
 * within that of what was bound: both are the kernel's own word at the moment
 * of reading, whatever names led there once. See proc(5).
 */
#ifndef RUNTIME_LAUNCH_MOUNTS_MOUNTINFO_H
#define RUNTIME_LAUNCH_MOUNTS_MOUNTINFO_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

/* A large workspace has as many mounts as LIMIT_MASKS allows. */
#define MOUNTINFO_BYTES (256u << 20)

struct mountinfo_mount {
	uint64_t id, parent;
	uint32_t major, minor;
	struct str root; /* in its file system; "/" for all of it */
	struct str at;	 /* where it is; any byte but NUL */
	bool heard;	 /* it gets what is mounted in its place elsewhere */
};

/* Sorted by where, for mountinfo_at(). */
typedef VEC(struct mountinfo_mount) mountinfo_list;

/* -EPROTO: a line that is none. Behind the fifth field 'shared:' and 'master:'
 * are read: of its peers' mounts and of its master's. */
must_check int mountinfo_parse(struct arena *a, struct str text,
			       mountinfo_list *out, struct err *err);
/*
 * The mount that is seen at path: the topmost of those that are right there,
 * and not one that another mount above it hides. NULL when there is none.
 */
const struct mountinfo_mount *mountinfo_at(const mountinfo_list *list,
					   struct str path);
/* NULL when there is none. */
const struct mountinfo_mount *mountinfo_by_id(const mountinfo_list *list,
					      uint64_t id);
/*
 * Where a path lies in the file system of the mount that it is below: NULL
 * when it is not below. "/a" mounted on "/mnt": "/mnt/b" is "/a/b".
 */
const char *mountinfo_inner(struct arena *a, const struct mountinfo_mount *m,
			    struct str path);

#endif
