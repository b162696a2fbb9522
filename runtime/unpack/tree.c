/*
 * Files below one folder, by names that others wrote. A folder on the way is
 * opened by openat2(2) with RESOLVE_IN_ROOT, so that a link of the image's own
 * leads where it would lead inside, and no further; the last part of a name is
 * never followed.
 */
#include "runtime/unpack/parts.h"

#include "compiler/base/sys/fileio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RENAMES_MAX 8 /* how often somebody may rename on the way */

const char *tree_path(struct arena *a, const char *name)
{
	struct str rest = str_of(name), part;
	char *out = arena_alloc(a, rest.n + 1);
	size_t n = 0;

	while (str_field(&rest, '/', &part)) {
		if (part.n == 0 || str_is(part, "."))
			continue;
		if (str_is(part, ".."))
			return NULL;
		if (n)
			out[n++] = '/';
		memcpy(out + n, part.p, part.n);
		n += part.n;
	}
	out[n] = '\0';
	return out;
}

static int open_at(int root, const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd = -1;

	for (int i = 0; i < RENAMES_MAX; i++) {
		fd = (int)syscall(SYS_openat2, root, *path ? path : ".", &how,
				  sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd < 0 ? -errno : fd;
}

/* The folder that a path is in, and its name there. */
static int split(const char *path, char folder[PATH_MAX], const char **name)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 0;

	if (n >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(folder, path, n);
	folder[n] = '\0';
	*name = slash ? slash + 1 : path;
	return 0;
}

/* make: what is missing of it, as a layer may leave out what is above. */
static int open_folder(const struct tree *t, char path[PATH_MAX], bool make)
{
	int fd = open_at(t->root, path);

	for (char *end = path; make && fd == -ENOENT && end; ) {
		char parent[PATH_MAX];
		const char *name;

		end = strchr(*end == '/' ? end + 1 : end, '/');
		if (end)
			*end = '\0';
		if (split(path, parent, &name) == 0) {
			auto_fd int above = open_at(t->root, parent);

			if (above >= 0)
				(void)mkdirat(above, name, 0755);
		}
		if (end)
			*end = '/';
		else
			fd = open_at(t->root, path);
	}
	return fd;
}

static int open_parent(const struct tree *t, const char *path, bool make,
		       const char **name)
{
	char folder[PATH_MAX];
	int rc = split(path, folder, name);

	if (rc == 0 && !**name)
		rc = -EINVAL; /* the root itself */
	return rc < 0 ? rc : open_folder(t, folder, make);
}

static int remove_at(int dir, const char *name)
{
	struct err err;

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	return errno == EISDIR || errno == EPERM
		       ? fileio_remove_tree(dir, name, &err)
		       : -errno;
}

/* A place for something: what was there of that name is gone. */
static int make_place(const struct tree *t, const struct tree_file *f,
		      const char **name)
{
	int dir = open_parent(t, f->path, true, name),
	    rc = dir < 0 ? dir : remove_at(dir, *name);

	if (rc == 0)
		return dir;
	fd_close(&dir);
	return rc;
}

static int own(const struct tree *t, const struct tree_file *f, int dir,
	       const char *name)
{
	return t->owners && fchownat(dir, name, f->uid, f->gid,
				     AT_SYMLINK_NOFOLLOW) < 0
		       ? -errno
		       : 0;
}

int tree_folder(const struct tree *t, const struct tree_file *f)
{
	const char *name;
	struct stat st;
	auto_fd int dir = *f->path ? open_parent(t, f->path, true, &name) : -1;
	int rc = 0;

	if (!*f->path) /* it has the rights that it needs */
		return 0;
	if (dir < 0)
		return dir;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISDIR(st.st_mode)) {
		rc = remove_at(dir, name);
		if (rc == 0 && mkdirat(dir, name, 0700) < 0)
			rc = -errno;
	}
	if (rc == 0)
		rc = own(t, f, dir, name);
	if (rc == 0 && fchmodat(dir, name, f->mode | S_IRWXU, 0) < 0)
		rc = -errno;
	return rc;
}

int tree_begin(const struct tree *t, const struct tree_file *f, int *out_fd)
{
	const char *name;
	auto_fd int dir = make_place(t, f, &name);

	if (dir < 0)
		return dir;
	*out_fd = openat(dir, name,
			 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			 0600);
	return *out_fd < 0 ? -errno : 0;
}

int tree_done(const struct tree *t, const struct tree_file *f, int fd)
{
	const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, f->changed};

	if ((t->owners && fchown(fd, f->uid, f->gid) < 0) ||
	    fchmod(fd, f->mode) < 0 || futimens(fd, times) < 0)
		return -errno;
	return 0;
}

int tree_symlink(const struct tree *t, const struct tree_file *f,
		 const char *target)
{
	const char *name;
	auto_fd int dir = make_place(t, f, &name);

	if (dir < 0)
		return dir;
	return symlinkat(target, dir, name) < 0 ? -errno
						: own(t, f, dir, name);
}

int tree_hardlink(const struct tree *t, const struct tree_file *f,
		  const char *to)
{
	const char *name, *there;
	auto_fd int from = open_parent(t, to, false, &there);
	auto_fd int dir = -1;

	if (from < 0)
		return from;
	if (strcmp(to, f->path) == 0)
		return -ELOOP;
	dir = make_place(t, f, &name);
	if (dir < 0)
		return dir;
	return linkat(from, there, dir, name, 0) < 0 ? -errno : 0;
}

int tree_fifo(const struct tree *t, const struct tree_file *f)
{
	const char *name;
	auto_fd int dir = make_place(t, f, &name);

	if (dir < 0)
		return dir;
	return mkfifoat(dir, name, f->mode) < 0 ? -errno
						: own(t, f, dir, name);
}

int tree_remove(const struct tree *t, const char *path)
{
	const char *name;
	auto_fd int dir = open_parent(t, path, false, &name);

	if (dir == -ENOENT || dir == -ENOTDIR)
		return 0;
	return dir < 0 ? dir : remove_at(dir, name);
}

int tree_empty(const struct tree *t, const char *path)
{
	auto_fd int folder = open_at(t->root, path);
	int fd = folder < 0 ? -1 : openat(folder, ".", O_RDONLY | O_DIRECTORY |
							       O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int rc = 0;

	if (folder == -ENOENT || folder == -ENOTDIR)
		return 0;
	if (!dir) {
		rc = folder < 0 ? folder : -errno;
		fd_close(&fd);
		return rc;
	}
	while (rc == 0 && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = remove_at(folder, e->d_name);
	closedir(dir);
	return rc;
}
