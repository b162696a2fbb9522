/*
 * What the program of a part may: its user, its capabilities, its limits.
 */
#include "runtime/launch/native/parts.h"

#include "compiler/base/sys/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What is above the user's own limit only root could give. */
static int set_limit(int what, rlim_t n, struct err *err)
{
	struct rlimit now;

	if (getrlimit((__rlimit_resource_t)what, &now) < 0)
		return err_errno(err, "getrlimit");
	if (now.rlim_max != RLIM_INFINITY && now.rlim_max < n)
		n = now.rlim_max;
	now = (struct rlimit){n, n};
	if (setrlimit((__rlimit_resource_t)what, &now) < 0)
		return err_errno(err, "setrlimit");
	return 0;
}

static int set_limits(const struct words *w, struct err *err)
{
	int rc = w->files ? set_limit(RLIMIT_NOFILE, w->files, err) : 0;

	if (rc == 0 && w->processes)
		rc = set_limit(RLIMIT_NPROC, w->processes, err);
	/* of each process, what it has written to and shares with nobody: room
	 * that is reserved alone, as node and Go do it, does not count */
	if (rc == 0 && w->memory && !w->grouped)
		rc = set_limit(RLIMIT_DATA, w->memory, err);
	return rc < 0 ? rc : set_limit(RLIMIT_CORE, 0, err);
}

static int become_user(const struct words *w, const struct ids *ids,
		       struct err *err)
{
	uid_t uid = w->has_user ? ids_user(ids, w->uid) : ids_user(ids, 0);
	gid_t gid = w->has_user ? ids_group(ids, w->gid) : ids_group(ids, 0);

	/* nobody leaves a group where one user alone is mapped: it would be a
	 * way around a file that a group may not read */
	if (ids->kind != IDS_ONE && setgroups(0, NULL) < 0)
		return err_errno(err, "setgroups");
	if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return err_set(err, -errno, "becoming user %lu:%lu: %s",
			       (unsigned long)uid, (unsigned long)gid,
			       strerror(errno));
	return 0;
}

static int set_caps(uint64_t caps, bool inheritable, struct err *err)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2];

	for (int i = 0; i < 2; i++) {
		uint32_t part = (uint32_t)(caps >> (32 * i));

		data[i] = (struct __user_cap_data_struct){
			part, part, inheritable ? part : 0};
	}
	if (syscall(SYS_capset, &head, data) < 0)
		return err_errno(err, "capset");
	return 0;
}

/* Through execve(2) they come by the ambient set, whoever the user is. */
static int keep_caps(uint64_t caps, struct err *err)
{
	int rc;

	for (int c = 0; c < 64; c++)
		if (!(caps & UINT64_C(1) << c) &&
		    prctl(PR_CAPBSET_READ, c, 0, 0, 0) > 0 &&
		    prctl(PR_CAPBSET_DROP, c, 0, 0, 0) < 0)
			return err_errno(err, "bounding set");
	rc = set_caps(caps, true, err);
	for (int c = 0; rc == 0 && c < 64; c++)
		if (caps & UINT64_C(1) << c &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, c, 0, 0) < 0)
			rc = err_errno(err, "ambient set");
	return rc;
}

int rights_sysctls(const struct words *w, int root, struct err *err)
{
	vec_each(s, &w->sysctls) {
		char path[160];
		auto_fd int fd = -1;

		snprintf(path, sizeof(path), "proc/sys/%s", s->path);
		fd = openat(root, path, O_WRONLY | O_CLOEXEC);
		/* a kernel without IPv6 */
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0 || write(fd, s->value, strlen(s->value)) < 0)
			return err_errno(err, path);
	}
	return 0;
}

int rights_take(const struct words *w, const struct ids *ids, struct err *err)
{
	int rc = set_limits(w, err);

	/* a new user would lose what is kept below */
	if (rc == 0 && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0)
		rc = err_errno(err, "prctl");
	if (rc == 0)
		rc = become_user(w, ids, err);
	/* the right to empty the bounding set is effective no more */
	if (rc == 0)
		rc = set_caps(w->caps | UINT64_C(1) << CAP_SETPCAP, true, err);
	if (rc == 0)
		rc = keep_caps(w->caps, err);
	if (rc == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		rc = err_errno(err, "no_new_privs");
	return rc;
}
