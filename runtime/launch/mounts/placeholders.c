#include "runtime/launch/mounts/placeholders.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "runtime/launch/mounts/journal.h"
#include "runtime/launch/mounts/place.h"
#include "runtime/launch/workspace/wspath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int placeholders_lock(const char *state, int *out_fd, struct err *err)
{
	return placeholders_lock_file(state, "holds.lock", out_fd, err);
}

int placeholders_lock_file(const char *state, const char *name, int *out_fd,
			   struct err *err)
{
	char path[PATH_MAX];
	int64_t until_ms = clock_ms() + PLACEHOLDERS_WAIT_S * 1000;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", state, name) >=
	    (int)sizeof(path))
		return err_set(err, -ENAMETOOLONG, "%s: name too long", state);
	fd = fileio_create(AT_FDCWD, path, O_RDWR, 0600);
	if (fd < 0)
		return err_errno(err, path);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK && clock_ms() < until_ms) {
			poll(NULL, 0, 10);
			continue;
		}
		fd_close(&fd);
		if (errno != EWOULDBLOCK)
			return err_errno(err, path);
		return err_set(err, -ETIMEDOUT,
			       "%s: held by another session for %d s", path,
			       PLACEHOLDERS_WAIT_S);
	}
	*out_fd = fd;
	return 0;
}

/* --- making ----------------------------------------------------------------
 */

static void note_path(struct placeholders *h, struct scan *found,
		      enum scan_note_kind kind, struct str path, int error)
{
	*vec_push(h->a, &found->notes) = (struct scan_note){kind, path, error};
}

static void mask_path(struct placeholders *h, struct scan *found,
		      struct str path, bool is_dir)
{
	*vec_push(h->a, &found->masks) = (struct mask){
		.path = path,
		.kind = is_dir ? MASK_READONLY_DIR : MASK_READONLY_FILE,
		.hold = true,
	};
}

static bool is_covered(const struct scan *found, struct str path)
{
	vec_each(m, &found->masks)
		if ((m->kind == MASK_IGNORE_DIR ||
		     m->kind == MASK_READONLY_DIR) &&
		    (str_eq(path, m->path) || wspath_below(path, m->path)))
			return true;
	return false;
}

static int open_parent(struct arena *a, int root, struct str path,
		       const char **out_name)
{
	int fd = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), next;
	struct str seg = STR("");

	while (fd >= 0 && str_field(&path, '/', &seg) && path.n) {
		next = openat(fd, arena_cstr(a, seg),
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		fd_close(&fd);
		fd = next;
	}
	*out_name = arena_cstr(a, seg);
	return fd;
}

/* By root for somebody else: theirs, as if they had made it. */
static int give_to_owner(int fd, int dirfd)
{
	struct stat dir;

	if (geteuid() != 0)
		return 0;
	return fstat(dirfd, &dir) < 0 || fchown(fd, dir.st_uid, dir.st_gid) < 0
		       ? -errno
		       : 0;
}

/*
 * What a placeholder holds. git refuses a repository whose commondir is empty,
 * and takes configuration and hooks from wherever that file points; "." is
 * what its absence means.
 */
static struct str content_of(struct str path)
{
	if (str_is(path, "commondir") || str_ends(path, STR("/commondir")))
		return STR(".\n");
	return STR("");
}

static int make_entry(int dirfd, const char *name, bool is_dir,
		      struct str content, struct stat *out_st)
{
	struct err unused;
	auto_fd int fd = -1;
	int rc;

	if (is_dir) {
		if (mkdirat(dirfd, name, 0755) < 0)
			return -errno;
		fd = openat(dirfd, name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	} else {
		fd = openat(dirfd, name,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
				    O_CLOEXEC,
			    0644);
	}
	if (fd < 0)
		return -errno;
	rc = give_to_owner(fd, dirfd);
	if (rc == 0 && !is_dir)
		rc = fileio_write_all(fd, content, &unused);
	if (rc == 0 && fstat(fd, out_st) < 0)
		rc = -errno;
	return rc;
}

static int make_placeholder(struct placeholders *h, struct str path,
			    bool is_dir, struct err *err)
{
	struct stat st;
	const char *name;
	auto_fd int dirfd = open_parent(h->a, h->root, path, &name);
	int rc;

	if (dirfd < 0)
		return err_errno(err, wspath_show(h->a, path));
	if (faccessat(dirfd, ".", W_OK | X_OK, AT_EACCESS) < 0)
		return err_errno(err, wspath_show(h->a, path));
	rc = journal_intent(h, path, is_dir, err);
	if (rc < 0)
		return rc;
	rc = make_entry(dirfd, name, is_dir, content_of(path), &st);
	if (rc < 0)
		return err_set(err, rc, "%s: %s", wspath_show(h->a, path),
			       strerror(-rc));
	return journal_made(h, path, &st, err);
}

/*
 * The placeholder may not be made in dir. The agent could as the owner of dir
 * give itself the right; so dir, which is not to be written to as it is, is
 * kept that way. On a readonly file system that needs no mount.
 */
static int keep_dir(struct placeholders *h, struct str dir, struct str path,
		    int code, struct scan *found, struct err *err)
{
	if (code == -EROFS)
		return 0;
	if ((code != -EACCES && code != -EPERM) || dir.n == 0)
		return err_while(err, "placeholder");
	mask_path(h, found, dir, true);
	note_path(h, found, SCAN_NOTE_HOLD_DENIED, path, -code);
	return 0;
}

/* dir exists; rest is missing below it. */
static int make_missing(struct placeholders *h, struct str dir, struct str rest,
			bool is_dir, struct scan *found, struct err *err)
{
	struct str seg, path = dir;
	int rc;

	while (str_field(&rest, '/', &seg)) {
		dir = path;
		path = wspath_join(h->a, dir, seg);
		rc = make_placeholder(h, path, rest.n || is_dir, err);
		if (rc < 0)
			return keep_dir(h, dir, path, rc, found, err);
	}
	mask_path(h, found, path, is_dir);
	return 0;
}

static int hold_path(struct placeholders *h, const struct mountsplan_hold *want,
		     struct scan *found, struct err *err)
{
	struct wspath_place at = wspath_resolve(h->a, h->root, h->root_path,
						STR(""), want->path);

	if (is_covered(found, want->path))
		return 0;
	if (at.end == WSPATH_ROOT || at.end == WSPATH_OUT) {
		if (!at.by_link)
			return err_set(
				err, -EACCES,
				"%s: cannot be looked at, and so not be held",
				wspath_show(h->a, want->path));
		note_path(h, found, SCAN_NOTE_HOLD_OUT, want->path, 0);
		return 0;
	}
	if (at.by_link)
		note_path(h, found, SCAN_NOTE_LINK_FREE, want->path, 0);
	if (at.end == WSPATH_FOUND || at.end == WSPATH_FILE) {
		mask_path(h, found, at.path, S_ISDIR(at.st.st_mode));
		return 0;
	}
	if (is_covered(found, at.path))
		return 0;
	return make_missing(h, at.path, at.rest, want->is_dir, found, err);
}

int placeholders_make(struct placeholders *h, const struct mountsplan *plan,
		      struct scan *found, struct err *err)
{
	int rc = 0;

	vec_each(want, &plan->holds)
		if (rc == 0)
			rc = hold_path(h, want, found, err);
	return rc;
}

/* --- claiming --------------------------------------------------------------
 */

struct claim {
	struct placeholders *h;
	const struct mask *masks; /* NULL: every folder */
	uint32_t n;
};

static bool is_wanted(const struct claim *c, struct str path, bool is_dir)
{
	uint32_t lo = 0, hi = c->n;

	if (!c->masks)
		return is_dir;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		int d = wspath_cmp(c->masks[mid].path, path);

		if (d == 0)
			return true;
		if (d < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

static bool same_inode(const struct journal_record *r, const struct stat *st)
{
	return r->dev == st->st_dev && r->ino == st->st_ino &&
	       (r->is_dir ? S_ISDIR(st->st_mode) : S_ISREG(st->st_mode));
}

/* path of one workspace as seen from another; false when it is not below. */
static bool rebase_path(struct arena *a, struct str path, struct str from,
			struct str to, struct str *out)
{
	struct str whole = wspath_join(a, from, path);

	if (!wspath_below(whole, to))
		return false;
	*out = str_slice(whole, to.n + 1, whole.n);
	return true;
}

static int claim_from(void *ctx, const struct journal *j, struct err *err)
{
	struct claim *c = ctx;
	struct arena *a = c->h->a;
	int rc = 0;

	vec_each(r, &j->records) {
		struct str path;
		struct stat st;
		bool have = false;

		if (!rebase_path(a, r->path, j->workspace, c->h->root_path,
				 &path) ||
		    !is_wanted(c, path, r->is_dir) ||
		    fstatat(c->h->root, arena_cstr(a, path), &st,
			    AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		/* An intent alone is from a session that was killed right
		 * then; the inode was not written down. */
		if (r->made ? !same_inode(r, &st)
			    : st.st_ctime < (time_t)r->at - 1)
			continue;
		vec_each(mine, &c->h->claimed)
			have |= str_eq(*mine, path);
		if (have)
			continue;
		*vec_push(a, &c->h->claimed) = path;
		rc = journal_made(c->h, path, &st, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

int placeholders_claim_folders(struct placeholders *h, struct err *err)
{
	struct claim c = {.h = h};

	return journal_each_other(h->a, h->state, h->session, claim_from, &c,
				  err);
}

int placeholders_claim(struct placeholders *h, const struct mask *masks,
		       uint32_t n, struct err *err)
{
	struct claim c = {.h = h, .masks = masks, .n = n};

	return journal_each_other(h->a, h->state, h->session, claim_from, &c,
				  err);
}

/* --- undoing ---------------------------------------------------------------
 */

struct undo {
	struct arena *a;
	const struct journal *mine;
	bool *keep; /* per record: another session's as well */
};

static int keep_from(void *ctx, const struct journal *j, struct err *err)
{
	struct undo *u = ctx;

	(void)err;
	vec_each(r, &j->records) {
		struct str path;

		if (!rebase_path(u->a, r->path, j->workspace,
				 u->mine->workspace, &path))
			continue;
		for (uint32_t i = 0; r->made && i < u->mine->records.n; i++) {
			const struct journal_record *m = &u->mine->records.v[i];

			if (str_eq(path, m->path) &&
			    (!m->made ||
			     (m->dev == r->dev && m->ino == r->ino)))
				u->keep[i] = true;
		}
	}
	return 0;
}

/* Was this intent carried out, as far as the journal knows? */
static bool is_followed(const struct journal *j, uint32_t at)
{
	for (uint32_t i = at + 1; i < j->records.n; i++)
		if (j->records.v[i].made &&
		    str_eq(j->records.v[i].path, j->records.v[at].path))
			return true;
	return false;
}

/* Does the file still hold what it was made with (or less: killed)? */
static bool is_untouched(int dirfd, const char *name, struct str path)
{
	struct str want = content_of(path);
	auto_fd int fd = openat(dirfd, name,
				O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	char have[8];
	ssize_t n = fd < 0 ? -1 : read(fd, have, sizeof(have));

	return n >= 0 && str_starts(want, (struct str){have, (size_t)n});
}

static void remove_one(struct arena *a, int root,
		       const struct journal_record *r)
{
	const char *name;
	auto_fd int dirfd = open_parent(a, root, r->path, &name);
	struct stat st;

	if (dirfd < 0 || fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (r->made ? !same_inode(r, &st)
		    : (geteuid() && st.st_uid != geteuid()) ||
			      st.st_ctime < (time_t)r->at - 1)
		return;
	/* rmdir itself sees to it that a directory is empty. */
	if (S_ISDIR(st.st_mode))
		unlinkat(dirfd, name, AT_REMOVEDIR);
	else if (S_ISREG(st.st_mode) && st.st_nlink == 1 &&
		 is_untouched(dirfd, name, r->path))
		unlinkat(dirfd, name, 0);
}

static void remove_all(struct arena *a, const struct journal *j,
		       const bool *keep)
{
	auto_fd int root = -1;
	struct err ignored;

	/* an agent may have put a link there: not out of the workspace */
	if (place_open(arena_cstr(a, j->workspace), O_RDONLY | O_DIRECTORY,
		       &root, &ignored) < 0)
		return; /* the workspace is gone, and they with it */
	for (uint32_t i = j->records.n; i-- > 0;) {
		const struct journal_record *r = &j->records.v[i];

		if (!keep[i] && (r->made || !is_followed(j, i)))
			remove_one(a, root, r);
	}
}

static int undo_holds(struct arena *a, const char *state, const char *session,
		      struct err *err)
{
	const char *path = journal_path(a, state, session);
	struct journal j = {0};
	struct undo u = {.a = a, .mine = &j};
	auto_fd int lock = -1;
	int rc;

	if (access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	rc = placeholders_lock(state, &lock, err);
	if (rc == 0)
		rc = journal_load(a, path, &j, err);
	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	u.keep = arena_array(a, j.records.n + 1, sizeof(bool));
	rc = journal_each_other(a, state, session, keep_from, &u, err);
	if (rc < 0)
		return rc;
	if (j.records.n)
		remove_all(a, &j, u.keep);
	return unlink(path) < 0 && errno != ENOENT ? err_errno(err, path) : 0;
}

int placeholders_undo(const char *state, const char *session, struct err *err)
{
	struct arena *a = arena_new();
	int rc = undo_holds(a, state, session, err);

	arena_free(a);
	return rc;
}
