#include "compiler/base/sys/fileio.h"

#include "compiler/base/ascii.h"
#include "compiler/base/sys/pathwalk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Twice the room, never more than for max bytes and the one that is too many;
 * always one byte more, which stays 0. */
static char *grown_buffer(struct arena *a, const char *p, size_t n, size_t max,
			  size_t *room)
{
	char *more;

	*room = *room > max / 2 ? max + 1 : *room * 2;
	more = arena_alloc(a, *room + 1);
	memcpy(more, p, n);
	return more;
}

static int read_open(struct arena *a, int fd, const char *path, size_t max,
		     struct str *out, struct err *err)
{
	size_t n = 0, room;
	struct stat st;
	char *p;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(err, path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s: not a regular file", path);
	if ((uint64_t)st.st_size > max)
		return err_set(err, -EFBIG, "%s: %llu bytes, at most %zu", path,
			       (unsigned long long)st.st_size, max);
	/* Not the size, which is 0 in /proc and /sys: the end says how much. */
	room = (size_t)st.st_size + 1;
	p = arena_alloc(a, room + 1);
	for (;;) {
		ssize_t got = read(fd, p + n, room - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, path);
		if (got == 0)
			break;
		n += (size_t)got;
		if (n > max)
			return err_set(err, -EFBIG, "%s: more than %zu bytes",
				       path, max);
		if (n == room)
			p = grown_buffer(a, p, n, max, &room);
	}
	*out = (struct str){p, n};
	return 0;
}

int fileio_read(struct arena *a, int dirfd, const char *path, size_t max,
		struct str *out, struct err *err)
{
	auto_fd int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return read_open(a, fd, path, max, out, err);
}

int fileio_read_inside(struct arena *a, int dirfd, struct str path, size_t max,
		       struct str *out, struct err *err)
{
	const char *whole = arena_cstr(a, path);
	auto_fd int in = pathwalk_enter(dirfd, "."), fd = -1;
	struct str seg = STR("");

	while (in >= 0 && str_field(&path, '/', &seg) && path.n) {
		int next = pathwalk_enter(in, arena_cstr(a, seg));

		fd_close(&in);
		in = next;
	}
	if (in >= 0)
		fd = openat(in, arena_cstr(a, seg),
			    O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	return read_open(a, fd, whole, max, out, err);
}

int fileio_write_all(int fd, struct str data, struct err *err)
{
	while (data.n) {
		ssize_t put = write(fd, data.p, data.n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return err_set(err, -errno, "write: %s",
				       strerror(errno));
		data = str_slice(data, (size_t)put, data.n);
	}
	return 0;
}

/* --- making --------------------------------------------------------------- */

/* What root makes for somebody else is theirs, as if they had made it. */
static void give_to_owner(int fd, int dirfd, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX] = ".";
	struct stat st;
	size_t n;

	if (geteuid() != 0)
		return;
	if (slash) {
		n = slash == path ? 1 : (size_t)(slash - path);
		if (n >= sizeof(dir))
			return;
		memcpy(dir, path, n);
		dir[n] = '\0';
	}
	/* Where it cannot be, as on a file system that squashes root, it is
	 * usable at least for who made it. */
	if (fstatat(dirfd, dir, &st, 0) == 0 && st.st_uid != 0 &&
	    fchown(fd, st.st_uid, st.st_gid) < 0)
		return;
}

int fileio_create(int dirfd, const char *path, int flags, unsigned mode)
{
	int how = flags | O_CLOEXEC | O_NOFOLLOW;
	int fd = openat(dirfd, path, how | O_CREAT | O_EXCL, mode);

	if (fd >= 0)
		give_to_owner(fd, dirfd, path);
	else if (errno == EEXIST && !(flags & O_EXCL))
		fd = openat(dirfd, path, how);
	return fd;
}

int fileio_mkdir(int dirfd, const char *path, unsigned mode, struct err *err)
{
	auto_fd int fd = -1;

	if (mkdirat(dirfd, path, mode) < 0)
		return errno == EEXIST ? 0 : err_errno(err, path);
	if (geteuid() != 0)
		return 1;
	fd = openat(dirfd, path,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, path);
	give_to_owner(fd, dirfd, path);
	return 1;
}

void fileio_give(int dirfd, const char *name)
{
	struct stat st;

	if (geteuid() == 0 && fstatat(dirfd, ".", &st, 0) == 0 &&
	    st.st_uid != 0 &&
	    fchownat(dirfd, name, st.st_uid, st.st_gid, AT_SYMLINK_NOFOLLOW) <
		    0)
		return; /* as in give_to_owner() */
}

int fileio_write(int dirfd, const char *path, struct str data, unsigned mode,
		 struct err *err)
{
	char tmp[PATH_MAX];
	auto_fd int fd = -1;
	int rc;

	if (snprintf(tmp, sizeof(tmp), "%s.%ld.tmp", path, (long)getpid()) >=
	    (int)sizeof(tmp))
		return err_set(err, -ENAMETOOLONG, "%s: name too long", path);
	fd = fileio_create(dirfd, tmp, O_WRONLY | O_EXCL, mode);
	if (fd < 0 && errno == EEXIST && unlinkat(dirfd, tmp, 0) == 0)
		fd = fileio_create(dirfd, tmp, O_WRONLY | O_EXCL, mode);
	if (fd < 0)
		return err_errno(err, tmp);
	rc = fileio_write_all(fd, data, err);
	if (rc == 0 && renameat(dirfd, tmp, dirfd, path) < 0)
		rc = err_errno(err, path);
	else if (rc < 0)
		rc = err_while(err, "%s", path);
	if (rc < 0)
		unlinkat(dirfd, tmp, 0);
	return rc;
}

int fileio_mkdirs(const char *path, unsigned mode, struct err *err)
{
	char p[PATH_MAX];
	size_t n = strlen(path);
	struct stat st;

	if (n == 0 || n >= sizeof(p))
		return err_set(err, -ENAMETOOLONG, "%s: name too long", path);
	memcpy(p, path, n + 1);
	for (size_t i = 1; i <= n; i++) {
		if (p[i] != '/' && p[i] != '\0')
			continue;
		p[i] = '\0';
		if (fileio_mkdir(AT_FDCWD, p, mode, err) < 0)
			return err->code;
		if (i < n)
			p[i] = '/';
	}
	/* What was there already may be something else. */
	if (stat(path, &st) < 0)
		return err_errno(err, path);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, -ENOTDIR, "%s: not a directory", path);
	return 0;
}

bool fileio_is_mount(int dirfd, int fd)
{
	struct stat up, st;
#ifdef STATX_ATTR_MOUNT_ROOT
	struct statx sx;

	if (statx(fd, "", AT_EMPTY_PATH, 0, &sx) == 0 &&
	    sx.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)
		return sx.stx_attributes & STATX_ATTR_MOUNT_ROOT;
#endif
	return fstat(dirfd, &up) == 0 && fstat(fd, &st) == 0 &&
	       up.st_dev != st.st_dev;
}

static int remove_at(int dirfd, const char *path, bool below, struct err *err);

static int remove_children(int fd, struct err *err)
{
	DIR *dir = fdopendir(fd);
	const struct dirent *e;
	int rc = 0;

	if (!dir) {
		rc = err_errno(err, "fdopendir");
		fd_close(&fd);
		return rc;
	}
	while (rc == 0 && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			rc = remove_at(dirfd(dir), e->d_name, true, err);
	closedir(dir);
	return rc;
}

/* One that its owner has closed to itself, as package managers do, is opened
 * to it again. */
static int open_folder(int dirfd, const char *path)
{
	int at = openat(dirfd, path,
			O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char self[64];
	struct stat st;
	int fd;

	if (at < 0)
		return -1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
	if (fstat(at, &st) == 0 && (st.st_mode & S_IRWXU) != S_IRWXU &&
	    st.st_uid == geteuid())
		ignore(chmod(self, st.st_mode | S_IRWXU));
	fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd_close(&at);
	return fd;
}

/* below: path is a name in dirfd, and what is mounted on it is another's. */
static int remove_at(int dirfd, const char *path, bool below, struct err *err)
{
	int fd, rc;

	if (unlinkat(dirfd, path, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return err_errno(err, path);
	fd = open_folder(dirfd, path);
	if (fd < 0)
		return err_errno(err, path);
	if (below && fileio_is_mount(dirfd, fd)) {
		fd_close(&fd);
		return err_set(err, -EXDEV, "%s: something is mounted there",
			       path);
	}
	rc = remove_children(fd, err); /* closes fd */
	if (rc == 0 && unlinkat(dirfd, path, AT_REMOVEDIR) < 0)
		rc = err_errno(err, path);
	return rc;
}

int fileio_remove_tree(int dirfd, const char *path, struct err *err)
{
	return remove_at(dirfd, path, false, err);
}

/* NAME.PID.tmp, and what a plan's folder that is replaced is moved to. */
static bool is_unfinished(struct str entry, const char *name)
{
	static const struct str tmp = STR_INIT(".tmp"), old = STR_INIT(".old");
	size_t n;

	if (str_ends(entry, old))
		entry.n -= old.n;
	if (!str_ends(entry, tmp))
		return false;
	entry.n -= tmp.n;
	for (n = entry.n; n > 0 && ascii_is_digit(entry.p[n - 1]);)
		n--;
	if (n < 2 || n == entry.n || entry.p[n - 1] != '.')
		return false;
	return !name || str_is(str_slice(entry, 0, n - 1), name);
}

void fileio_remove_unfinished(int dirfd, const char *name)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	struct err ignored;

	if (!dir) {
		fd_close(&fd);
		return;
	}
	while ((e = readdir(dir)))
		if (is_unfinished(str_of(e->d_name), name))
			/* One that stays costs room and nothing else. */
			ignore(fileio_remove_tree(fd, e->d_name, &ignored));
	closedir(dir);
}

bool fileio_may_obey(uid_t file, uid_t folder)
{
	return file == 0 || file == geteuid() ||
	       (geteuid() == 0 && file == folder);
}

bool fileio_wait(int fd, int ms)
{
	/* Only these are asked for: a file that can be written is no news. */
	struct pollfd p = {.fd = fd, .events = 0};

	return poll(&p, 1, ms) <= 0 || !(p.revents & (POLLERR | POLLHUP));
}
