#include "runtime/launch/workspace/gitcmd.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMPLAINT_MAX 4096u /* of what git says when it fails */

struct run {
	pid_t pid;
	int out, err; /* our ends of its pipes, -1 at their end */
	struct buf text, complaint;
	size_t max;
};

/* Before the subcommand. */
static const char *const first[] = {
	"git",
	"--no-pager",
	"--no-replace-objects",
	"--literal-pathspecs",
	"-c",
	"core.fsmonitor=false",
	"-c",
	"core.hooksPath=/dev/null",
	"-c",
	"safe.bareRepository=explicit",
	"-C",
};

/* A clone without all objects would fetch them: from wherever its remotes
 * lead, by whatever command they name. */
static const char *const settings[] = {
	"LC_ALL=C",
	"GIT_ALLOW_PROTOCOL=none",
	"GIT_NO_LAZY_FETCH=1",
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_TERMINAL_PROMPT=0",
};

/* For nobody: no user's and no system's configuration either. */
static const char *const nobodys[] = {
	"HOME=/dev/null",
	"XDG_CONFIG_HOME=/dev/null",
	"GIT_CONFIG_NOSYSTEM=1",
	"GIT_CONFIG_GLOBAL=/dev/null",
};

static bool names_one_of(const char *variable, const char *const *list,
			 size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(variable, list[i], strcspn(list[i], "=") + 1))
			return true;
	return false;
}

static bool is_set_here(const char *variable, enum gitcmd_of of)
{
	if (names_one_of(variable, settings, ARRAY_LEN(settings)))
		return true;
	return of == GITCMD_NOBODY &&
	       (!strncmp(variable, "GIT_", 4) ||
		names_one_of(variable, nobodys, ARRAY_LEN(nobodys)));
}

static char **git_environment(struct arena *a, enum gitcmd_of of)
{
	size_t n = 0, k = 0;
	char **env;

	while (environ[n])
		n++;
	env = arena_array(a, n + ARRAY_LEN(settings) + ARRAY_LEN(nobodys) + 1,
			  sizeof(*env));
	for (size_t i = 0; i < n; i++)
		if (!is_set_here(environ[i], of))
			env[k++] = environ[i];
	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		env[k++] = arena_cstr(a, str_of(settings[i]));
	for (size_t i = 0; of == GITCMD_NOBODY && i < ARRAY_LEN(nobodys); i++)
		env[k++] = arena_cstr(a, str_of(nobodys[i]));
	return env;
}

/* What git reads: from a file without a name, so that no pipe fills up. */
static int open_input(struct str input, struct err *err)
{
	FILE *f;
	int fd;

	if (input.n == 0) {
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		return fd < 0 ? err_errno(err, "/dev/null") : fd;
	}
	f = tmpfile();
	if (!f)
		return err_errno(err, "a temporary file");
	if (fwrite(input.p, 1, input.n, f) != input.n || fflush(f) != 0 ||
	    fseek(f, 0, SEEK_SET) != 0)
		fd = err_errno(err, "a temporary file");
	else
		fd = fcntl(fileno(f), F_DUPFD_CLOEXEC, 3);
	if (fd < 0 && err->code == 0)
		err_errno(err, "a temporary file");
	fclose(f);
	return fd;
}

static int spawn_git(struct arena *a, const struct gitcmd *g, struct run *r,
		     struct err *err)
{
	char *argv[ARRAY_LEN(first) + 1 + GITCMD_WORDS_MAX + 1] = {0};
	auto_fd int in = open_input(g->input, err);
	auto_fd int out = -1, complaint = -1;
	struct proc_opts o = {.argv = argv, .group = PROC_SAME, .keep = -1};
	size_t n = 0;

	if (in < 0)
		return err->code;
	for (size_t i = 0; i < ARRAY_LEN(first); i++)
		argv[n++] = arena_cstr(a, str_of(first[i]));
	argv[n++] = arena_cstr(a, str_of(g->dir));
	for (size_t i = 0; g->words[i] && i < GITCMD_WORDS_MAX; i++)
		argv[n++] = arena_cstr(a, str_of(g->words[i]));
	if (proc_pipe(&r->out, &out, err) < 0 ||
	    proc_pipe(&r->err, &complaint, err) < 0)
		return err->code;
	o.in = in;
	o.out = out;
	o.err = complaint;
	o.env = git_environment(a, g->of);
	return proc_spawn(&o, &r->pid, err);
}

/* What is there to read, once; the end closes. More than max is an error. */
static int drain_pipe(int *fd, struct buf *into, size_t max)
{
	char room[16384];
	ssize_t n = read(*fd, room, sizeof(room));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	if (n == 0) {
		fd_close(fd);
		*fd = -1;
		return 0;
	}
	if (into->n + (size_t)n > max)
		return -EFBIG;
	buf_add(into, (struct str){room, (size_t)n});
	return 0;
}

/* Until both pipes end. */
static int collect_output(struct run *r, unsigned timeout_ms)
{
	int64_t deadline = clock_ms() + timeout_ms;

	while (r->out >= 0 || r->err >= 0) {
		struct pollfd p[2] = {{.fd = r->out, .events = POLLIN},
				      {.fd = r->err, .events = POLLIN}};
		int64_t left = deadline - clock_ms();
		int rc = left > 0 ? poll(p, 2, (int)left) : 0;

		if (rc < 0 && errno != EINTR)
			return -errno;
		if (rc == 0)
			return -ETIMEDOUT;
		rc = p[0].revents ? drain_pipe(&r->out, &r->text, r->max) : 0;
		if (rc < 0)
			return rc;
		/* Beyond its bound a complaint is cut, and git is let talk. */
		if (p[1].revents &&
		    drain_pipe(&r->err, &r->complaint, COMPLAINT_MAX) == -EFBIG)
			continue;
	}
	return 0;
}

static int reap_git(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 128;
	return proc_status(status);
}

int gitcmd_run(struct arena *a, struct gitcmd *g, struct err *err)
{
	struct run r = {.out = -1, .err = -1, .max = g->max};
	int rc;

	*err = (struct err){0};
	buf_init(&r.text, a);
	buf_init(&r.complaint, a);
	rc = spawn_git(a, g, &r, err);
	if (rc == 0) {
		rc = collect_output(&r, g->timeout_ms);
		if (rc < 0) {
			kill(r.pid, SIGKILL);
			err_set(err, rc, "git %s: %s", g->words[0],
				rc == -EFBIG ? "more than was asked for"
					     : strerror(-rc));
		}
		g->status = reap_git(r.pid);
	}
	fd_close(&r.out);
	fd_close(&r.err);
	g->text = buf_str(&r.text);
	g->complaint = buf_str(&r.complaint);
	return rc;
}
