#include "compiler/base/sys/moves.h"

#include <errno.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

int moves_open(int *out_fd, struct err *err)
{
	*out_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	return *out_fd < 0 ? err_errno(err, "inotify") : 0;
}

int moves_watch(int fd, int dir)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", dir);
	return inotify_add_watch(fd, path, IN_MOVED_TO | IN_ONLYDIR) < 0
		       ? -errno
		       : 0;
}

bool moves_any(int fd)
{
	char room[4096] __attribute__((aligned(8)));
	bool any = false;

	for (;;) {
		ssize_t n = read(fd, room, sizeof(room)), at = 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return any || n == 0 || errno != EAGAIN;
		while (at < n) {
			const struct inotify_event *e =
				(const void *)(room + at);

			/* a folder that is removed is told of, too */
			any |= (e->mask & (IN_MOVED_TO | IN_Q_OVERFLOW)) != 0;
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	}
}
