/*
 * Whose numbers a session's user namespace has.
 *
 * One user alone can be mapped without any privilege: oneself. Root maps each
 * number to itself, so that gate, HAProxy and the command are three users, and
 * has its privileges in the namespace alone.
 */
#include "runtime/launch/native/parts.h"

#include "compiler/base/sys/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct ids ids_own(void)
{
	return (struct ids){geteuid(), getegid(), geteuid() == 0};
}

/* A map is taken whole, in one write. */
static int write_map(int dir, const char *name, struct str text,
		     struct err *err)
{
	auto_fd int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n)
		return err_set(err, -errno,
			       "the session's user namespace (%s): %s", name,
			       strerror(errno));
	return 0;
}

int ids_map(const struct ids *ids, pid_t process, struct err *err)
{
	char path[32], text[64];
	auto_fd int dir = -1;
	int rc;

	snprintf(path, sizeof(path), "/proc/%ld", (long)process);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_errno(err, path);
	if (ids->all) {
		rc = write_map(dir, "uid_map", STR("0 0 4294967295\n"), err);
		return rc < 0 ? rc
			      : write_map(dir, "gid_map",
					  STR("0 0 4294967295\n"), err);
	}
	/* the kernel wants to know that no group is ever left */
	rc = write_map(dir, "setgroups", STR("deny"), err);
	snprintf(text, sizeof(text), "%lu %lu 1\n", (unsigned long)ids->uid,
		 (unsigned long)ids->uid);
	if (rc == 0)
		rc = write_map(dir, "uid_map", str_of(text), err);
	snprintf(text, sizeof(text), "%lu %lu 1\n", (unsigned long)ids->gid,
		 (unsigned long)ids->gid);
	return rc < 0 ? rc : write_map(dir, "gid_map", str_of(text), err);
}

uid_t ids_user(const struct ids *ids, uid_t uid)
{
	return ids->all ? uid : ids->uid;
}

gid_t ids_group(const struct ids *ids, gid_t gid)
{
	return ids->all ? gid : ids->gid;
}
