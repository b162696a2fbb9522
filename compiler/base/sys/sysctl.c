#include "compiler/base/sys/sysctl.h"

#include "compiler/base/err.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

/* What is asked of a switch here is a few digits, and the kernel ends what it
 * says with a line feed. */
static bool has_value(int proc, const char *path, const char *value)
{
	auto_fd int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	size_t n = strlen(value);
	char got[32];

	return fd >= 0 && n < sizeof(got) &&
	       read(fd, got, sizeof(got)) == (ssize_t)n + 1 &&
	       memcmp(got, value, n) == 0;
}

static bool write_value(int proc, const char *path, const char *value)
{
	auto_fd int fd = openat(proc, path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 &&
	       write(fd, value, strlen(value)) == (ssize_t)strlen(value);
}

/* The folder "sys" of a procfs that is attached nowhere; negative: none. */
static int open_own(void)
{
	auto_fd int fs = fsopen("proc", FSOPEN_CLOEXEC);
	auto_fd int at = -1;

	if (fs < 0 || fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	at = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	return at < 0 ? -1
		      : openat(at, "sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

bool sysctl_put(const char *path, const char *value)
{
	auto_fd int proc = open("/proc/sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_fd int own = -1;

	if (has_value(proc, path, value) || write_value(proc, path, value))
		return true;
	own = open_own();
	return own >= 0 && write_value(own, path, value);
}
