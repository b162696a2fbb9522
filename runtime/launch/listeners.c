#include "runtime/launch/listeners.h"

#include "compiler/base/str.h"
#include "compiler/base/sys/fileio.h"
#include "runtime/launch/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

static int open_lock(const char *dir, int *out, struct err *err)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/" SESSION_ASKING, dir) >=
	    (int)sizeof(path))
		return err_set(err, -ENAMETOOLONG, "%s: name too long", dir);
	*out = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return *out < 0 ? err_errno(err, path) : 0;
}

int listeners_join(const char *dir, int *out_fd, struct err *err)
{
	int rc = open_lock(dir, out_fd, err);

	/* The launcher has it for a moment only, when it looks. */
	while (rc == 0 && flock(*out_fd, LOCK_SH) < 0)
		if (errno != EINTR)
			rc = err_errno(err, SESSION_ASKING);
	return rc;
}

/* proc_pid_stat(5): "10 (a) b) T …", where the name may hold anything. */
static bool is_stopped(int pid)
{
	char path[64], line[512];
	const char *end;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	end = strrchr(line, ')');
	return end && str_starts(str_of(end), STR(") T"));
}

/*
 * proc_locks(5): "3: FLOCK  ADVISORY  READ 1234 fd:01:5678 0 EOF". By the inode
 * alone: of some file systems stat(2) has another device. One of another file,
 * or that is not shown to us, is taken for somebody who listens.
 */
static bool all_stopped(uint64_t inode)
{
	FILE *f = fopen("/proc/locks", "re");
	unsigned stopped = 0, others = 0;
	char line[256];
	uint64_t its;
	int pid;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*u: FLOCK %*s READ %d %*x:%*x:%" SCNu64,
			   &pid, &its) != 2 ||
		    its != inode)
			continue;
		if (is_stopped(pid))
			stopped++;
		else
			others++;
	}
	if (f)
		fclose(f);
	return stopped && !others;
}

bool listeners_any(const char *dir)
{
	auto_fd int fd = -1;
	struct err ignored;
	struct stat st;

	if (open_lock(dir, &fd, &ignored) < 0 ||
	    flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return false;
	return fstat(fd, &st) < 0 || !all_stopped(st.st_ino);
}
