#include "runtime/launch/tracer/tracefile.h"

#include "compiler/base/arena.h"
#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "runtime/launch/session/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".jsonl.gz"

void tracefile_init(struct tracefile *f, const char *dir, const char *session,
		    const struct tracefile_limits *limits)
{
	*f = (struct tracefile){.dir = dir,
				.session = session,
				.limits = *limits,
				.fd = -1,
				.copy = -1};
}

/* --- what is there -------------------------------------------------------- */

struct kept {
	struct str name;
	struct timespec at;
	uint64_t bytes;
};
typedef VEC(struct kept) kept_list;

/* ID.jsonl.gz or ID.N.jsonl.gz: whatever else lies there is not ours. */
static bool is_trace(struct str name)
{
	struct str rest = name, id;
	uint64_t part;

	if (!str_ends(name, STR(SUFFIX)))
		return false;
	rest.n -= sizeof(SUFFIX) - 1;
	if (!str_field(&rest, '.', &id) || !session_is_id(id))
		return false;
	return rest.n == 0 || str_u64(rest, UINT_MAX, &part);
}

static int newest_first(const void *va, const void *vb)
{
	const struct kept *a = va, *b = vb;

	if (a->at.tv_sec != b->at.tv_sec)
		return a->at.tv_sec < b->at.tv_sec ? 1 : -1;
	if (a->at.tv_nsec != b->at.tv_nsec)
		return a->at.tv_nsec < b->at.tv_nsec ? 1 : -1;
	return str_cmp(a->name, b->name);
}

static void list(struct arena *a, DIR *dir, kept_list *out)
{
	struct dirent *e;
	struct stat st;

	while ((e = readdir(dir))) {
		if (!is_trace(str_of(e->d_name)) ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) <
			    0 ||
		    !S_ISREG(st.st_mode))
			continue;
		*vec_push(a, out) =
			(struct kept){arena_str(a, str_of(e->d_name)),
				      st.st_mtim, (uint64_t)st.st_size};
	}
}

/* Not under one who writes it: a session that has been silent is old, too. */
static void remove_unused(int dir, const char *name)
{
	auto_fd int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(dir, name, 0);
}

/* Best effort: a file that stays costs room and nothing else. */
static void prune(const struct tracefile *f)
{
	struct arena *a = arena_new();
	DIR *dir = opendir(f->dir);
	kept_list all = {0};
	uint64_t bytes = 0;

	if (dir)
		list(a, dir, &all);
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), newest_first);
	for (uint32_t i = 0; i < all.n; i++) {
		bytes += all.v[i].bytes;
		/* The newest may be one that nobody has locked yet. */
		if (i > 0 && (i >= f->limits.files || bytes > f->limits.total))
			remove_unused(dirfd(dir), arena_cstr(a, all.v[i].name));
	}
	if (dir)
		closedir(dir);
	arena_free(a);
}

/* --- the one that grows --------------------------------------------------- */

static int name_file(const struct tracefile *f, char path[PATH_MAX],
		     struct err *err)
{
	int n = f->part ? snprintf(path, PATH_MAX, "%s/%s.%u" SUFFIX, f->dir,
				   f->session, f->part)
			: snprintf(path, PATH_MAX, "%s/%s" SUFFIX, f->dir,
				   f->session);

	return n < PATH_MAX ? 0
			    : err_set(err, -ENAMETOOLONG, "%s: name too long",
				      f->dir);
}

static int begin_file(struct tracefile *f, struct err *err)
{
	char path[PATH_MAX];
	int rc = fileio_mkdirs(f->dir, 0700, err);

	if (rc < 0 || (rc = name_file(f, path, err)) < 0)
		return rc;
	f->fd = fileio_create(AT_FDCWD, path, O_WRONLY | O_EXCL, 0600);
	if (f->fd < 0 || flock(f->fd, LOCK_SH) < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	f->bytes = 0;
	f->begun_ms = clock_ms();
	prune(f);
	return 0;
}

static bool is_full(const struct tracefile *f, size_t more)
{
	uint64_t age_s = (uint64_t)(clock_ms() - f->begun_ms) / 1000;

	return f->bytes > 0 &&
	       (f->bytes + more > f->limits.bytes || age_s >= f->limits.age_s);
}

/* What goes into a file without a name is read by nobody. */
static int check_name(const struct tracefile *f, struct err *err)
{
	struct stat st;

	if (fstat(f->fd, &st) == 0 && st.st_nlink == 0)
		return err_set(err, -ENOENT,
			       "%s/%s" SUFFIX " was removed while it grew",
			       f->dir, f->session);
	return 0;
}

/* What was written of a member, for which there is no room. */
static int take_back(struct tracefile *f, int rc, struct err *err)
{
	char path[PATH_MAX];
	struct err ignored;

	if (f->fd < 0)
		return rc;
	if (ftruncate(f->fd, (off_t)f->bytes) < 0)
		return err_set(err, rc, "%s, and half a member stays",
			       err->text);
	/* a file of none is not one of gzip's */
	if (f->bytes == 0 && name_file(f, path, &ignored) == 0) {
		unlink(path);
		tracefile_done(f);
	}
	return rc;
}

int tracefile_add(struct tracefile *f, struct str member, struct err *err)
{
	int rc;

	if (f->fd >= 0 && is_full(f, member.n)) {
		tracefile_done(f);
		f->part++;
	}
	rc = f->fd < 0 ? begin_file(f, err) : check_name(f, err);
	if (rc == 0)
		rc = fileio_write_all(f->fd, member, err);
	if (rc < 0)
		return take_back(f, rc, err);
	f->bytes += member.n;
	return f->copy < 0 ? 0 : fileio_write_all(f->copy, member, err);
}

void tracefile_done(struct tracefile *f)
{
	fd_close(&f->fd);
	f->fd = -1;
}
