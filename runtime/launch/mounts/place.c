#include "runtime/launch/mounts/place.h"

#include "compiler/base/sys/fileio.h"
#include "runtime/launch/mounts/mountinfo.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#define ABOVE_MAX 4096u /* folders in each other; a path has no more */

int place_open_below(int dirfd, struct str path, int flags, int *out_fd,
		     struct err *err)
{
	int fd = openat(dirfd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC), next;
	char name[NAME_MAX + 1];
	struct str whole = path, seg;
	struct stat st;

	while (fd >= 0 && str_field(&path, '/', &seg)) {
		bool last = path.n == 0;

		if (seg.n == 0)
			continue;
		if (seg.n > NAME_MAX) {
			fd_close(&fd);
			return err_set(err, -ENAMETOOLONG, "a name too long");
		}
		memcpy(name, seg.p, seg.n);
		name[seg.n] = '\0';
		next = openat(fd, name,
			      (last ? flags : O_PATH | O_DIRECTORY) |
				      O_NOFOLLOW | O_CLOEXEC);
		fd_close(&fd);
		fd = next;
	}
	/* with O_PATH a link opens as itself */
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISLNK(st.st_mode)) {
		fd_close(&fd);
		fd = -1;
		errno = ELOOP;
	}
	if (fd < 0)
		return err_set(err, -errno, "%.*s: %s", STR_ARG(whole),
			       strerror(errno));
	*out_fd = fd;
	return 0;
}

int place_open(const char *path, int flags, int *out_fd, struct err *err)
{
	auto_fd int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (top < 0)
		return err_errno(err, "/");
	return place_open_below(top, str_of(path), flags, out_fd, err);
}

int place_id(int fd, struct place_id *out, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(err, "looking at what is open");
	*out = (struct place_id){st.st_dev, st.st_ino};
	return 0;
}

bool place_same(const struct place_id *a, const struct place_id *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

static int climb_to_root(struct arena *a, int fd, struct place *p,
			 struct err *err)
{
	auto_fd int at = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct place_id last = p->self, id = {0, 0};

	while (at >= 0 && p->above.n < ABOVE_MAX) {
		int next, rc = place_id(at, &id, err);

		if (rc < 0)
			return rc;
		if (place_same(&id, &last)) /* "/.." is "/" */
			return 0;
		*vec_push(a, &p->above) = last = id;
		next = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		fd_close(&at);
		at = next;
	}
	return err_errno(err, "the folders above");
}

int place_find(struct arena *a, int fd, struct place *out, struct err *err)
{
	struct place p = {0};
	struct stat st;
	int rc = place_id(fd, &p.self, err);

	if (rc == 0 && fstat(fd, &st) < 0)
		rc = err_errno(err, "looking at what is open");
	if (rc == 0 && S_ISDIR(st.st_mode))
		rc = climb_to_root(a, fd, &p, err);
	if (rc == 0)
		*out = p;
	return rc;
}

/* "mnt_id:\t42" among the lines that the kernel has of a descriptor. */
static bool mount_of(struct arena *a, int fd, uint64_t *out)
{
	const char *path = arena_fmt(a, "/proc/self/fdinfo/%d", fd).p;
	struct str text, line, prefix = STR("mnt_id:");
	struct err ignored;

	if (fileio_read(a, AT_FDCWD, path, 4096, &text, &ignored) < 0)
		return false;
	while (str_line(&text, &line))
		if (str_starts(line, prefix))
			return str_u64(
				str_trim(str_slice(line, prefix.n, line.n)),
				UINT64_MAX, out);
	return false;
}

const struct mountinfo_mount *place_mount(struct arena *a,
					  const mountinfo_list *own, int fd)
{
	uint64_t id;

	return mount_of(a, fd, &id) ? mountinfo_by_id(own, id) : NULL;
}

bool place_locate(struct arena *a, const mountinfo_list *own, int fd,
		  struct place *p)
{
	const char *link = arena_fmt(a, "/proc/self/fd/%d", fd).p;
	const struct mountinfo_mount *m;
	char path[PATH_MAX];
	struct stat st;
	ssize_t n = readlink(link, path, sizeof(path));

	p->in_fs = NULL;
	/* what is gone has " (deleted)" behind its name */
	if (n <= 0 || (size_t)n == sizeof(path) || path[0] != '/' ||
	    fstat(fd, &st) < 0 || st.st_nlink == 0)
		return false;
	m = place_mount(a, own, fd);
	if (!m)
		return false;
	p->major = m->major;
	p->minor = m->minor;
	p->in_fs = mountinfo_inner(a, m, (struct str){path, (size_t)n});
	return p->in_fs != NULL;
}

int place_mounts(struct arena *a, const char *pid, mountinfo_list *out,
		 struct err *err)
{
	const char *path = arena_fmt(a, "/proc/%s/mountinfo", pid).p;
	struct str text;
	int rc = fileio_read(a, AT_FDCWD, path, MOUNTINFO_BYTES, &text, err);

	return rc < 0 ? rc : mountinfo_parse(a, text, out, err);
}

static bool holds_path(struct str x, struct str y)
{
	if (str_is(x, "/"))
		return y.n > 1;
	return y.n > x.n && y.p[x.n] == '/' && str_starts(y, x);
}

bool place_is_above(const struct place *x, const struct place *y)
{
	vec_each(id, &y->above)
		if (place_same(id, &x->self))
			return true;
	/* a part of it, bound elsewhere */
	return x->in_fs && y->in_fs && x->major == y->major &&
	       x->minor == y->minor &&
	       holds_path(str_of(x->in_fs), str_of(y->in_fs));
}
