/*
 * Masks that are mounts: each is attached to what was seen at its place, which
 * is found by the descriptor of the new root and through no link. So whoever
 * exchanges names meanwhile has the start fail, and nothing land elsewhere.
 */
#include "runtime/launch/native/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct masking {
	const struct words *words;
	int root, empty_file, empty_dir;
	struct err *err;
};

/* Names are the workspace's: somebody's who may mean a terminal. */
static int fail_mask(const struct masking *x, const struct words_mask *m,
		     int code, const char *why)
{
	return err_set(x->err, code, "%.150s: %s, while its mask was made: start again",
		       str_printable(str_of(m->target))
			       ? m->target
			       : "something in the workspace",
		       why);
}

static int open_seen(const struct masking *x, const struct words_mask *m,
		     int *out, mode_t *out_mode)
{
	struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
			       .resolve = RESOLVE_BENEATH |
					  RESOLVE_NO_SYMLINKS |
					  RESOLVE_NO_MAGICLINKS};
	struct stat st;

	*out = (int)syscall(SYS_openat2, x->root, m->target + 1, &how,
			    sizeof(how));
	if (*out < 0 || fstat(*out, &st) < 0)
		return fail_mask(x, m, -errno, strerror(errno));
	if (st.st_dev != m->dev || st.st_ino != m->ino)
		return fail_mask(x, m, -ESTALE, "another one is there");
	*out_mode = st.st_mode;
	return 0;
}

static int attach_tree(const struct masking *x, const struct words_mask *m,
		       int from, int point, uint64_t attributes)
{
	struct mount_attr attr = {.attr_set = attributes};
	auto_fd int tree = root_clone(from);

	if (tree < 0 ||
	    (attributes && mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE,
					 &attr, sizeof(attr)) < 0) ||
	    move_mount(tree, "", point, "",
		       MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return fail_mask(x, m, -errno, strerror(errno));
	return 0;
}

static int attach_mask(const struct masking *x, const struct words_mask *m)
{
	auto_fd int point = -1;
	mode_t mode = 0;
	int rc = open_seen(x, m, &point, &mode);

	if (rc < 0)
		return rc;
	switch (m->kind) {
	case WORDS_HIDE:
		return attach_tree(x, m,
				   S_ISDIR(mode) ? x->empty_dir : x->empty_file,
				   point,
				   MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
					   MOUNT_ATTR_NODEV);
	case WORDS_KEEP:
		return attach_tree(x, m, point, point, MOUNT_ATTR_RDONLY);
	case WORDS_PIN:
		return attach_tree(x, m, point, point, 0);
	case WORDS_IS:
		return 0;
	}
	abort();
}

static int open_empty(const struct masking *x, const char *name, int *out)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", x->words->empty, name);
	*out = root_open(path);
	return *out < 0 ? err_errno(x->err, path) : 0;
}

int masks_attach(const struct words *w, int root, struct err *err)
{
	struct masking x = {w, root, -1, -1, err};
	int rc = 0;

	if (w->masks.n && w->empty) {
		rc = open_empty(&x, "file", &x.empty_file);
		if (rc == 0)
			rc = open_empty(&x, "dir", &x.empty_dir);
	}
	for (uint32_t i = 0; rc == 0 && i < w->masks.n; i++)
		rc = attach_mask(&x, &w->masks.v[i]);
	fd_close(&x.empty_file);
	fd_close(&x.empty_dir);
	return rc;
}
