#include "runtime/launch/session/session.h"

#include "compiler/base/ascii.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/plan/docker_json.h"
#include "runtime/launch/session/foreign.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

bool session_is_id(struct str name)
{
	if (name.n != SESSION_ID_LEN)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (!strchr("0123456789abcdef", name.p[i]))
			return false;
	return true;
}

static int make_folder(struct arena *a, const char *state, struct session *s,
		       struct err *err)
{
	unsigned char random[SESSION_ID_LEN / 2];
	int rc;

	for (int attempt = 0; attempt < 16; attempt++) {
		if (getentropy(random, sizeof(random)) < 0)
			return err_errno(err, "getentropy");
		ascii_put_hex(random, sizeof(random), s->id);
		s->dir = arena_fmt(a, "%s/sessions/%s", state, s->id).p;
		rc = fileio_mkdir(AT_FDCWD, s->dir, 0700, err);
		if (rc != 0)
			return rc < 0 ? rc : 0;
	}
	return err_set(err, -EEXIST, "%s: no free session ID", s->dir);
}

/* Locked under another name first: nobody may take it for a dead one's. */
static int make_lock(struct arena *a, struct session *s, struct err *err)
{
	const char *new = arena_fmt(a, "%s/lock.new", s->dir).p;
	const char *path = arena_fmt(a, "%s/lock", s->dir).p;
	struct str pid = arena_fmt(a, "%ld\n", (long)getpid());

	s->lock_fd = fileio_create(AT_FDCWD, new, O_RDWR | O_EXCL, 0600);
	if (s->lock_fd < 0 || flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return err_errno(err, new);
	if (fileio_write_all(s->lock_fd, pid, err) < 0)
		return err_while(err, "%s", new);
	return rename(new, path) < 0 ? err_errno(err, path) : 0;
}

int session_new(struct arena *a, const char *state, struct session *out,
		struct err *err)
{
	struct session s = {.lock_fd = -1};
	struct err ignored;
	int rc = fileio_mkdirs(arena_fmt(a, "%s/sessions", state).p, 0700, err);

	if (rc == 0)
		rc = make_folder(a, state, &s, err);
	if (rc < 0)
		return rc;
	rc = make_lock(a, &s, err);
	if (rc < 0) {
		fd_close(&s.lock_fd);
		/* or it would be listed as one that was lost */
		if (fileio_remove_tree(AT_FDCWD, s.dir, &ignored) < 0)
			err_while(err, "%s stays", s.dir);
		return rc;
	}
	*out = s;
	return 0;
}

int session_list(struct arena *a, const char *state, sessions *out,
		 struct err *err)
{
	const char *path = arena_fmt(a, "%s/sessions", state).p;
	DIR *dir = opendir(path);
	const struct dirent *e;
	struct stat st;

	if (!dir)
		return errno == ENOENT ? 0 : err_errno(err, path);
	while (out->n < SESSION_MAX && (e = readdir(dir))) {
		struct session *s;

		if (!session_is_id(str_of(e->d_name)) ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) <
			    0 ||
		    foreign_is(&st))
			continue;
		s = vec_push(a, out);
		memcpy(s->id, e->d_name, SESSION_ID_LEN);
		s->dir = arena_fmt(a, "%s/%s", path, e->d_name).p;
		s->lock_fd = -1;
	}
	closedir(dir);
	return 0;
}

static int open_lock(const struct session *s)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/lock", s->dir) >=
	    (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
}

int session_take(struct session *s, struct err *err)
{
	auto_fd int again = -1;
	struct stat ours, theirs;
	int fd = open_lock(s);

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR
			       ? SESSION_FINISHED
			       : err_errno(err, s->dir);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		int rc = errno == EWOULDBLOCK ? SESSION_ALIVE
					      : err_errno(err, s->dir);

		close(fd);
		return rc;
	}
	/* whoever had it may have removed it before letting go */
	again = open_lock(s);
	if (again < 0 || fstat(fd, &ours) < 0 || fstat(again, &theirs) < 0 ||
	    ours.st_ino != theirs.st_ino || ours.st_dev != theirs.st_dev) {
		close(fd);
		return SESSION_FINISHED;
	}
	s->lock_fd = fd;
	return SESSION_DEAD;
}

pid_t session_pid(const struct session *s)
{
	auto_fd int fd = open_lock(s);
	char text[16];
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	struct str line = {text, n > 0 ? (size_t)n : 0};
	uint64_t pid;

	if (!str_u64(str_trim(str_slice(line, 0, str_find(line, '\n', 0))),
		     INT32_MAX, &pid))
		return 0;
	return (pid_t)pid;
}

void session_inherit(const struct session *s)
{
	char pid[16];
	int n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());

	/* the rest of a longer one stands behind the LF, where nobody reads */
	if (pwrite(s->lock_fd, pid, (size_t)n, 0) != n)
		return;
}

static void grace_path(const struct session *s, char *out, size_t size)
{
	/* cut off, it names a file that is not there */
	if (snprintf(out, size, "%s/grace", s->dir) >= (int)size)
		out[0] = '\0';
}

int session_set_grace(const struct session *s, uint32_t seconds,
		      struct err *err)
{
	char path[4096], text[16];

	grace_path(s, path, sizeof(path));
	snprintf(text, sizeof(text), "%u\n", seconds);
	return fileio_write(AT_FDCWD, path, str_of(text), 0600, err);
}

uint32_t session_grace(const struct session *s, uint32_t otherwise)
{
	char path[4096], text[16];
	auto_fd int fd = -1;
	struct str line;
	uint64_t seconds;
	ssize_t n;

	grace_path(s, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text));
	line = (struct str){text, n > 0 ? (size_t)n : 0};
	line = str_slice(line, 0, str_find(line, '\n', 0));
	if (!str_u64(line, SESSION_GRACE_MAX, &seconds))
		return otherwise;
	return (uint32_t)seconds;
}

static void remove_in(const struct session *s, const char *name)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", s->dir, name) <
	    (int)sizeof(path))
		unlink(path);
}

void session_shut(const struct session *s)
{
	remove_in(s, SESSION_SOCKET);
	remove_in(s, SESSION_CONTROL);
	remove_in(s, DOCKER_JSON_SSH_SOCKET);
	remove_in(s, DOCKER_JSON_BEGUN);
}

void session_release(struct session *s, bool finished)
{
	if (s->lock_fd < 0)
		return;
	if (finished) {
		session_shut(s);
		remove_in(s, "lock");
	}
	fd_close(&s->lock_fd);
	s->lock_fd = -1;
}

struct aged {
	const struct session *session;
	struct timespec changed;
};

static int by_age(const void *a, const void *b)
{
	const struct aged *x = a, *y = b;

	if (x->changed.tv_sec != y->changed.tv_sec)
		return x->changed.tv_sec < y->changed.tv_sec ? 1 : -1;
	if (x->changed.tv_nsec != y->changed.tv_nsec)
		return x->changed.tv_nsec < y->changed.tv_nsec ? 1 : -1;
	return strcmp(x->session->id, y->session->id);
}

static bool is_old(const struct aged *x, time_t now)
{
	return now - x->changed.tv_sec > SESSION_KEEP_S;
}

void session_prune(struct arena *a, const char *state)
{
	const char *path = arena_fmt(a, "%s/sessions", state).p;
	auto_fd int lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	VEC(struct aged) done = {0};
	time_t now = time(NULL);
	sessions all = {0};
	struct err ignored;
	struct stat st;

	/* somebody else is at it */
	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0 ||
	    session_list(a, state, &all, &ignored) < 0)
		return;
	vec_each(s, &all) {
		int fd = open_lock(s);

		if (fd < 0 && errno == ENOENT && stat(s->dir, &st) == 0)
			*vec_push(a, &done) = (struct aged){
				.session = s,
				.changed = st.st_mtim,
			};
		fd_close(&fd);
	}
	if (done.n)
		qsort(done.v, done.n, sizeof(*done.v), by_age);
	for (uint32_t i = 0; i < done.n; i++)
		if ((i >= SESSION_KEEP || is_old(&done.v[i], now)) &&
		    fileio_remove_tree(AT_FDCWD, done.v[i].session->dir,
				       &ignored) < 0)
			continue; /* it costs room and nothing else */
}

#define NATIVE "native" /* in its folder */

int session_set_native(const struct session *s, struct err *err)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/" NATIVE, s->dir);
	return fileio_write(AT_FDCWD, path, STR(""), 0600, err);
}

static bool has_file(const struct session *s, const char *name)
{
	char path[4096];

	return snprintf(path, sizeof(path), "%s/%s", s->dir, name) <
		       (int)sizeof(path) &&
	       access(path, F_OK) == 0;
}

bool session_is_native(const struct session *s)
{
	return has_file(s, NATIVE);
}

bool session_is_pod(const struct session *s)
{
	return has_file(s, SESSION_POD);
}
