#include "runtime/launch/image.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_BYTES_MAX (4u << 20)

/* What it says is one line, and as long as it runs nothing. */
static int run_unpack(char **argv, char *said, size_t size, struct err *err)
{
	struct proc_opts o = {.argv = argv, .in = -1, .out = -1, .keep = -1};
	int from = -1, status = -1, rc = proc_pipe(&from, &o.err, err);
	ssize_t got = 1;
	size_t n = 0;
	pid_t pid;

	if (rc == 0)
		rc = proc_spawn(&o, &pid, err);
	fd_close(&o.err);
	while (rc == 0 && n < size - 1 && got != 0) {
		got = read(from, said + n, size - 1 - n);
		if (got > 0)
			n += (size_t)got;
		else if (got < 0 && errno != EINTR)
			break;
	}
	fd_close(&from);
	said[n] = '\0';
	said[strcspn(said, "\n")] = '\0';
	if (rc < 0)
		return rc;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return proc_status(status);
}

static int unpack(struct arena *a, const char *programs, const char *file,
		  const char *sha256, const char *dir, struct err *err)
{
	const char *new = arena_fmt(a, "%s.new", dir).p,
		   *program = arena_fmt(a, "%s/" IMAGE_UNPACK, programs).p;
	char *argv[] = {arena_cstr(a, str_of(program)),
			arena_cstr(a, str_of(file)),
			arena_cstr(a, str_of(sha256)),
			arena_cstr(a, str_of(new)), NULL};
	char said[sizeof(err->text)];
	struct err ignored;
	int rc = fileio_remove_tree(AT_FDCWD, new, err);

	if (rc == 0)
		rc = run_unpack(argv, said, sizeof(said), err);
	if (rc > 0)
		rc = err_set(err, -EPROTO, "%s",
			     *said ? said : IMAGE_UNPACK " ended at once");
	if (rc == 0 && rename(new, dir) < 0)
		rc = err_errno(err, dir);
	if (rc < 0)
		ignore(fileio_remove_tree(AT_FDCWD, new, &ignored));
	return rc;
}

/* Who holds the lock is alone. */
static int unpack_once(struct arena *a, const char *all, const char *programs,
		       const char *file, const char *sha256, const char *dir,
		       struct err *err)
{
	auto_fd int lock = open(all, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (lock < 0 || flock(lock, LOCK_EX) < 0)
		return err_errno(err, all);
	/* another one had it, and it is there by now */
	return access(dir, F_OK) == 0 ? 0
				      : unpack(a, programs, file, sha256, dir,
					      err);
}

/* A word may be empty, and has a NUL behind it in any case. */
static int read_words(struct arena *a, const char *dir, const char *name,
		      docker_words *out, struct err *err)
{
	struct str text, one;
	int rc = fileio_read(a, AT_FDCWD, arena_fmt(a, "%s/%s", dir, name).p,
			     WORDS_BYTES_MAX, &text, err);

	while (rc == 0 && str_field(&text, '\0', &one))
		*vec_push(a, out) = arena_cstr(a, one);
	return rc;
}

static int read_config(struct arena *a, const char *dir,
		       struct image_config *out, struct err *err)
{
	struct image_config c = {0};
	int rc = read_words(a, dir, "env", &c.env, err);

	if (rc == 0)
		rc = read_words(a, dir, "entrypoint", &c.runs.entrypoint, err);
	if (rc == 0)
		rc = read_words(a, dir, "command", &c.runs.command, err);
	if (rc == 0)
		*out = c;
	return rc;
}

int image_open(struct arena *a, const char *state, const char *programs,
	       const char *file, const char *sha256, bool quiet,
	       struct image_config *out, struct err *err)
{
	const char *all = arena_fmt(a, "%s/images", state).p,
		   *dir = arena_fmt(a, "%s/%s", all, sha256).p;
	int rc = fileio_mkdirs(all, 0700, err);

	if (rc == 0 && access(dir, F_OK) < 0) {
		if (!quiet)
			fprintf(stderr, "membrane: unpacking %s, once\n",
				file);
		rc = unpack_once(a, all, programs, file, sha256, dir, err);
	}
	return rc < 0 ? rc : read_config(a, dir, out, err);
}
