#include "compiler/cli/workspace/saving.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/json.h"
#include "compiler/base/limits.h"
#include "compiler/base/sys/outfile.h"
#include "compiler/base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION	    1
#define NAME_HEX    16u
#define WAIT_MS	    5000 /* for somebody else, whose work is a few ms */
#define STEP_MS	    20
#define JOURNAL_MAX (12u * LIMIT_SOURCE_BYTES) /* two texts, escaped */

/* What is on the disk while the file is written. */
struct journal {
	const char *dir, *path;
	int fd; /* locked */
};

static void find_journal(struct arena *a, const char *state,
			 const char *workspace, struct journal *out)
{
	char hex[SHA256_HEX_MAX];

	sha256_hex(str_of(workspace), hex);
	out->dir = arena_fmt(a, "%s/saving", state).p;
	out->path =
		arena_fmt(a, "%s/%.*s.json", out->dir, (int)NAME_HEX, hex).p;
	out->fd = -1;
}

/* --- the file ------------------------------------------------------------- */

static int put_text(int fd, struct str text, size_t from, size_t to,
		    struct err *err)
{
	while (from < to) {
		ssize_t n = pwrite(fd, text.p + from, to - from, (off_t)from);

		if (n < 0 && errno != EINTR)
			return err_errno(err, "write");
		from += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/*
 * What is new in length first: that alone may find no room, and is taken back
 * with the file as it was.
 */
static int write_over(int fd, struct str have, struct str text, struct err *err)
{
	size_t both = have.n < text.n ? have.n : text.n;
	int rc = put_text(fd, text, both, text.n, err);

	if (rc == 0 && text.n > both && fsync(fd) < 0)
		rc = err_errno(err, "fsync");
	if (rc < 0) {
		if (ftruncate(fd, (off_t)have.n) < 0)
			return err_while(err, "taking back what was written");
		return rc;
	}
	rc = put_text(fd, text, 0, both, err);
	if (rc == 0 && (ftruncate(fd, (off_t)text.n) < 0 || fsync(fd) < 0))
		rc = err_errno(err, "write");
	return rc;
}

/* In a workspace no link is followed, above the file neither. */
static int find_policy(struct arena *a, const char *workspace, struct str file,
		       struct pathwalk_end *out, struct err *err)
{
	static const struct outfile_rule rule = {NULL, NULL};
	auto_fd int dir = open(workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return err_errno(err, workspace);
	return outfile_find(a, &rule, dir, arena_cstr(a, file), 0, out, err);
}

static int open_policy(const struct pathwalk_end *at, const char *path,
		       struct err *err)
{
	int fd = openat(at->dir_fd, at->name,
			O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return err_errno(err, path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	fd_close(&fd);
	return err_set(err, -EINVAL, "%s: not a file", path);
}

int saving_new(struct arena *a, const char *workspace, struct str file,
	       struct str text, struct err *err)
{
	struct pathwalk_end at;
	int rc = find_policy(a, workspace, file, &at, err);

	if (rc < 0)
		return rc;
	if (at.exists)
		rc = err_set(err, -EEXIST, "%.*s was made meanwhile",
			     STR_ARG(file));
	else
		rc = fileio_write(at.dir_fd, at.name, text, 0644, err);
	fd_close(&at.dir_fd);
	return rc;
}

/* --- the journal ---------------------------------------------------------- */

static bool is_same(int fd, const char *path)
{
	struct stat ours, theirs;

	return fstat(fd, &ours) == 0 && stat(path, &theirs) == 0 &&
	       ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

/* -ENOENT: there is none, and it is not to be made. */
static int lock_journal(struct journal *j, bool make, struct err *err)
{
	for (int waited = 0; waited < WAIT_MS; waited += STEP_MS) {
		j->fd = make ? fileio_create(AT_FDCWD, j->path, O_RDWR, 0600)
			     : open(j->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		if (j->fd < 0)
			return err_errno(err, j->path);
		if (flock(j->fd, LOCK_EX | LOCK_NB) == 0 &&
		    is_same(j->fd, j->path))
			return 0;
		fd_close(&j->fd);
		poll(NULL, 0, STEP_MS);
	}
	return err_set(err, -EBUSY, "%s: somebody is saving there", j->path);
}

static void sync_folder(const char *path)
{
	auto_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		fsync(fd);
}

static void finish_journal(struct journal *j)
{
	unlink(j->path);
	sync_folder(j->dir);
	fd_close(&j->fd);
}

static int begin_journal(struct arena *a, struct journal *j, struct str file,
			 struct str before, struct str after, struct err *err)
{
	cJSON *o = json_object();
	struct str text;
	int rc;

	json_put_u64(o, "version", VERSION);
	json_put_str(o, "file", file);
	json_put_str(o, "before", before);
	json_put_str(o, "after", after);
	text = json_text(a, o);
	if (ftruncate(j->fd, 0) < 0)
		return err_errno(err, j->path);
	rc = put_text(j->fd, text, 0, text.n, err);
	if (rc == 0 && fsync(j->fd) < 0)
		rc = err_errno(err, j->path);
	sync_folder(j->dir);
	return rc;
}

/* --- after a crash -------------------------------------------------------- */

struct found {
	struct str file, before, after;
};

/* False: it was not whole yet, and then the file is. */
static bool read_journal(struct arena *a, const struct journal *j,
			 struct found *out)
{
	struct str text;
	struct err ignored;
	cJSON *o;
	bool ok;

	if (fileio_read(a, AT_FDCWD, j->path, JOURNAL_MAX, &text, &ignored) < 0)
		return false;
	o = cJSON_ParseWithLength(text.p, text.n);
	ok = o && json_get_str(o, "file", &out->file) &&
	     json_get_str(o, "before", &out->before) &&
	     json_get_str(o, "after", &out->after);
	if (ok) {
		out->file = arena_str(a, out->file);
		out->before = arena_str(a, out->before);
		out->after = arena_str(a, out->after);
	}
	cJSON_Delete(o);
	return ok;
}

/* Each byte of one or the other; a block that was never written is zero. */
static bool is_mixture(const struct found *f, struct str have)
{
	size_t least = f->before.n < f->after.n ? f->before.n : f->after.n;

	if (have.n < least || (have.n > f->before.n && have.n > f->after.n))
		return false;
	for (size_t i = 0; i < have.n; i++)
		if (have.p[i] != '\0' &&
		    !(i < f->before.n && have.p[i] == f->before.p[i]) &&
		    !(i < f->after.n && have.p[i] == f->after.p[i]))
			return false;
	return true;
}

/* A text that nobody of ours wrote; or there is none. */
static int keep_aside(struct arena *a, const struct journal *j,
		      const struct found *f, const char **out_what,
		      struct err *err)
{
	const char *kept = arena_fmt(a, "%s.before", j->path).p;

	*out_what =
		arena_fmt(
			a,
			"'membrane allow' or 'deny --save' was interrupted while it wrote %.*s, which somebody changed since: what it was before is in %s",
			STR_ARG(f->file), kept)
			.p;
	return fileio_write(AT_FDCWD, kept, f->before, 0600, err);
}

static int put_back(struct arena *a, const char *workspace,
		    const struct journal *j, const struct found *f,
		    const char **out_what, struct err *err)
{
	const char *path =
		arena_fmt(a, "%s/%.*s", workspace, STR_ARG(f->file)).p;
	struct pathwalk_end at = {.dir_fd = -1};
	struct err ignored;
	struct str have;
	auto_fd int fd = -1, dir = -1;

	if (find_policy(a, workspace, f->file, &at, &ignored) == 0) {
		dir = at.dir_fd;
		fd = open_policy(&at, path, &ignored);
	}
	if (fd < 0 || fileio_read(a, dir, at.name, LIMIT_SOURCE_BYTES, &have,
				  &ignored) < 0)
		return keep_aside(a, j, f, out_what, err);
	if (str_eq(have, f->before) || str_eq(have, f->after))
		return 0;
	if (!is_mixture(f, have))
		return keep_aside(a, j, f, out_what, err);
	*out_what =
		arena_fmt(
			a,
			"%.*s was half written when 'membrane allow' or 'deny --save' was interrupted: it is again as it was before",
			STR_ARG(f->file))
			.p;
	return write_over(fd, have, f->before, err);
}

int saving_recover(struct arena *a, const char *state, const char *workspace,
		   const char **out_what, struct err *err)
{
	const char *what = NULL;
	struct found f;
	struct journal j;
	int rc;

	find_journal(a, state, workspace, &j);
	rc = access(j.path, F_OK) < 0 ? -ENOENT : lock_journal(&j, false, err);
	if (rc == 0 && read_journal(a, &j, &f))
		rc = put_back(a, workspace, &j, &f, &what, err);
	if (rc == 0)
		finish_journal(&j);
	fd_close(&j.fd);
	if (rc < 0 && rc != -ENOENT)
		return err_while(err, "after a save that was interrupted");
	*out_what = what;
	return 0;
}

/* --- before one ----------------------------------------------------------- */

static int check_unedited(struct arena *a, const struct pathwalk_end *at,
			  const char *path, struct str before, struct err *err)
{
	struct str have;
	int rc = fileio_read(a, at->dir_fd, at->name, LIMIT_SOURCE_BYTES, &have,
			     err);

	if (rc == 0 && !str_eq(have, before))
		rc = err_set(err, -ESTALE,
			     "%s was edited meanwhile: it is left as it is",
			     path);
	return rc;
}

int saving_write(struct arena *a, const char *state, const char *workspace,
		 struct str file, struct str before, struct str after,
		 struct err *err)
{
	const char *path = arena_fmt(a, "%s/%.*s", workspace, STR_ARG(file)).p;
	struct pathwalk_end at = {.dir_fd = -1};
	int rc = find_policy(a, workspace, file, &at, err);
	auto_fd int dir = rc < 0 ? -1 : at.dir_fd;
	auto_fd int fd = rc < 0 ? -1 : open_policy(&at, path, err);
	bool is_touched;
	struct journal j;

	if (fd < 0)
		return err->code;

	find_journal(a, state, workspace, &j);
	rc = fileio_mkdirs(j.dir, 0700, err);
	if (rc == 0)
		rc = lock_journal(&j, true, err);
	if (rc < 0)
		return rc;
	rc = check_unedited(a, &at, path, before, err);
	if (rc == 0)
		rc = begin_journal(a, &j, file, before, after, err);
	is_touched = rc == 0;
	if (rc == 0)
		rc = write_over(fd, before, after, err);
	if (rc < 0 && is_touched)
		err_while(err, "%s", path);
	/* In the middle of it: the next one who reads puts it back. */
	if (rc == 0 || !is_touched ||
	    check_unedited(a, &at, path, before, &(struct err){0}) == 0)
		finish_journal(&j);
	fd_close(&j.fd);
	return rc;
}
