/*
 * Folders that are seen past the view: `fast` of mounts.plan.
 *
 * Each is the host's own folder, mounted over its name in the view. When the
 * host puts another one there, the kernel forgets the name, and with it the
 * mount: the view serves what is there then.
 */
#include "runtime/view/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_folder(int dir, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
			       .resolve = RESOLVE_BENEATH |
					  RESOLVE_NO_SYMLINKS |
					  RESOLVE_NO_MAGICLINKS};

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

static bool is_missing(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP ||
	       error == EACCES;
}

static int mount_over(int from, int to)
{
	/* As the view's own: nobody inside gains anything by a file of it. */
	struct mount_attr attr = {.attr_set =
					  MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
	auto_fd int tree =
		open_tree(from, "",
			  AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE |
				  OPEN_TREE_CLOEXEC);

	if (tree < 0 || mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE,
				      &attr, sizeof(attr)) < 0)
		return -errno;
	return move_mount(tree, "", to, "",
			  MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0
		       ? -errno
		       : 0;
}

static int bind_one(int source, int view, const char *path, struct err *err)
{
	auto_fd int from = open_folder(source, path);
	auto_fd int to = from < 0 ? -1 : open_folder(view, path);
	int rc;

	if (from < 0 || to < 0)
		return is_missing(errno) ? 0 : err_errno(err, path);
	rc = mount_over(from, to);
	if (rc == 0)
		return 0;
	return err_set(
		err, rc,
		"%s cannot be mounted past the view: %s (leave it out of 'fast')",
		path, strerror(-rc));
}

int fast_bind(int source, const char *at, const struct mountsplan *plan,
	      struct err *err)
{
	auto_fd int view = -1;
	struct arena *a;
	int rc = 0;

	if (plan->fast.n == 0)
		return 0;
	view = open(at, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (view < 0)
		return err_errno(err, at);
	a = arena_new();
	vec_each(f, &plan->fast) {
		rc = bind_one(source, view, arena_cstr(a, *f), err);
		if (rc < 0)
			break;
	}
	arena_free(a);
	return rc;
}
