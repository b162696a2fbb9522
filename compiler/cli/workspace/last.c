#include "compiler/cli/workspace/last.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sha256.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

/* Enough that two workspaces of one person do not meet. */
#define HASH_DIGITS 16

static const char *place_path(struct arena *a, const char *state,
			      const char *workspace)
{
	char hex[SHA256_HEX_MAX];

	return arena_fmt(a, "%s/last/%.*s", state, HASH_DIGITS,
			 sha256_hex(str_of(workspace), hex))
		.p;
}

/* Sessions in one workspace may start together; the lock goes with the fd. */
static int lock_plans(struct arena *a, const char *state, int how)
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
	auto_fd int fd = lock_plans(a, state, LOCK_SH);
	struct plan *p = arena_new_of(a, struct plan);
	struct err err;

	if (fd < 0 ||
	    plan_read(a, place_path(a, state, workspace), p, &err) < 0)
		return NULL;
	return p;
}

struct kept {
	const char *name;
	struct timespec at;
};

static int newest_first(const void *va, const void *vb)
{
	const struct kept *a = va, *b = vb;

	if (a->at.tv_sec != b->at.tv_sec)
		return a->at.tv_sec < b->at.tv_sec ? 1 : -1;
	if (a->at.tv_nsec != b->at.tv_nsec)
		return a->at.tv_nsec < b->at.tv_nsec ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* Under the lock. Of workspaces that nobody comes back to nothing stays. */
static void prune_plans(struct arena *a, int dir)
{
	int copy = dup(dir);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	VEC(struct kept) all = {0};
	const struct dirent *e;
	struct err ignored;
	struct stat st;

	if (!d) {
		fd_close(&copy);
		return;
	}
	rewinddir(d);
	while ((e = readdir(d)))
		if (e->d_name[0] != '.' &&
		    fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			*vec_push(a, &all) = (struct kept){
				arena_cstr(a, str_of(e->d_name)), st.st_mtim};
	closedir(d);
	if (all.n > LAST_KEEP)
		qsort(all.v, all.n, sizeof(*all.v), newest_first);
	for (uint32_t i = LAST_KEEP; i < all.n; i++)
		/* One that stays costs room and nothing else. */
		ignore(fileio_remove_tree(dir, all.v[i].name, &ignored));
}

/* Whole and the same: that it was used last is all that is new then. */
static bool is_kept(struct arena *a, const char *place, const struct plan *p)
{
	struct plan kept = {0};
	struct err ignored;

	return plan_read(a, place, &kept, &ignored) == 0 &&
	       str_eq(plan_manifest(a, &kept), plan_manifest(a, p)) &&
	       utimensat(AT_FDCWD, place, NULL, 0) == 0;
}

int last_write(struct arena *a, const char *state, const char *workspace,
	       const struct plan *p, struct err *err)
{
	const char *place = place_path(a, state, workspace);
	auto_fd int fd = -1;

	if (fileio_mkdirs(arena_fmt(a, "%s/last", state).p, 0700, err) < 0)
		return err->code;
	fd = lock_plans(a, state, LOCK_EX);
	if (fd < 0)
		return err_set(err, -errno, "%s/last: %s", state,
			       strerror(errno));
	fileio_remove_unfinished(fd, NULL);
	if (!is_kept(a, place, p) && plan_write(place, p, err) < 0)
		return err->code;
	prune_plans(a, fd);
	return 0;
}
