/*
 * A control group of the agent's own, of version 2: memory and processors of
 * all its processes together.
 *
 * It lies below the nearest group that this process is in and may write.
 * systemd hands one to a user's manager, and so to what runs below that; root
 * may write all of them. https://docs.kernel.org/admin-guide/cgroup-v2.html,
 * "Delegation"
 */
#ifndef RUNTIME_LAUNCH_NATIVE_CGROUP_H
#define RUNTIME_LAUNCH_NATIVE_CGROUP_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

struct cgroup_limits {
	uint64_t memory;     /* bytes; 0: no limit */
	unsigned cpus_milli; /* thousandths of one; 0: likewise */
	unsigned processes;  /* likewise; only where the others need a group */
};

/*
 * Make it, for a session whose record is dir.
 *
 * out_procs  a descriptor: who writes "0" there is in the group from then on
 *   -ENOTSUP  no group of version 2, or none with these limits
 *   others    what forbids it in the nearest one
 */
must_check int cgroup_make(struct arena *a, const char *dir,
			   const struct cgroup_limits *l, int *out_procs,
			   struct err *err);
/* Whether one with both limits can be made: it is, and goes. Errors as above.
 */
must_check int cgroup_try(struct arena *a, struct err *err);
/* How many of its processes the kernel has ended for want of memory; 0 where no
 * group was made. */
uint64_t cgroup_killed(struct arena *a, const char *dir);
/* It goes, once nobody is in it; nothing to do where none was made. */
void cgroup_end(const char *dir);

/* --- pure ---------------------------------------------------------------- */

/* Where all of version 2 is mounted, of /proc/self/mountinfo; "": nowhere. */
struct str cgroup_mount(struct str mounts);
/* Which one a process is in, of /proc/self/cgroup: "/user.slice"; "": none. */
struct str cgroup_own(struct str groups);
/* Is it among words with blanks between them, as cgroup.controllers has? */
bool cgroup_has(struct str words, const char *controller);
/* The number behind a name, as memory.events has them; 0: it is not there. */
uint64_t cgroup_count(struct str events, const char *name);

#endif
