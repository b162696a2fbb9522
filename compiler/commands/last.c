#include "compiler/commands/last.h"

#include "compiler/base/fileio.h"
#include "compiler/base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

/* Enough that two workspaces of one person do not meet. */
#define HASH_DIGITS 16

static const char *place(struct arena *a, const char *state,
			 const char *workspace)
{
	char hex[SHA256_HEX_MAX];

	return arena_fmt(a, "%s/last/%.*s", state, HASH_DIGITS,
			 sha256_hex(str_of(workspace), hex))
		.p;
}

/* Sessions in one workspace may start together; the lock goes with the fd. */
static int lock(struct arena *a, const char *state, int how)
{
	int fd = open(arena_fmt(a, "%s/last", state).p,
		      O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	while (fd >= 0 && flock(fd, how) < 0 && errno == EINTR)
		;
	return fd;
}

const struct plan *last_read(struct arena *a, const char *state,
			     const char *workspace)
{
	auto_fd int fd = lock(a, state, LOCK_SH);
	struct plan *p = arena_new_of(a, struct plan);
	struct err err;

	if (fd < 0 || plan_read(a, place(a, state, workspace), p, &err) < 0)
		return NULL;
	return p;
}

int last_write(struct arena *a, const char *state, const char *workspace,
	       const struct plan *p, struct err *err)
{
	auto_fd int fd = -1;

	if (fileio_mkdirs(arena_fmt(a, "%s/last", state).p, 0700, err) < 0)
		return err->code;
	fd = lock(a, state, LOCK_EX);
	if (fd < 0)
		return err_set(err, -errno, "%s/last: %s", state,
			       strerror(errno));
	return plan_write(place(a, state, workspace), p, err);
}
