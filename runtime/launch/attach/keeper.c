#include "runtime/launch/attach/keeper.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Of whichever of the three is a terminal. */
static void find_size(struct stage_opts *o)
{
	struct winsize size;

	for (int fd = 0; fd < 3; fd++)
		if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row &&
		    size.ws_col) {
			o->rows = size.ws_row;
			o->columns = size.ws_col;
			return;
		}
}

/* --- the child ------------------------------------------------------------ */

static void leave_caller(const struct keeper *k)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	proc_close_others(k->caller, -1);
}

static int take_stderr(const struct session *s, struct err *err)
{
	auto_fd int dir = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd int log = -1;

	if (dir >= 0)
		log = fileio_create(dir, KEEPER_LOG, O_WRONLY | O_APPEND, 0600);
	if (log < 0 || dup2(log, STDERR_FILENO) < 0)
		return err_errno(err, "the keeper's log");
	return 0;
}

int keeper_tell(struct keeper *k, const struct session *s, struct err *err)
{
	int rc;

	if (k->told)
		return 0;
	rc = take_stderr(s, err);
	if (rc < 0)
		return rc;
	k->told = true;
	rc = send(k->caller, s->id, SESSION_ID_LEN, 0) == SESSION_ID_LEN
		     ? 0
		     : err_set(err, -EPIPE, "who started this session is gone");
	fd_close(&k->caller);
	k->caller = -1;
	/* relative names were docker's to read, and it has */
	if (chdir("/") < 0)
		return rc; /* then it pins a directory, no more */
	return rc;
}

/* --- the parent ----------------------------------------------------------- */

static void pass_signals(pid_t child)
{
	struct proc_signal s;

	while (proc_signals_next(&s))
		if (s.signo != SIGCHLD)
			kill(child, s.signo);
}

/* Until the child says so, or ends. */
static int wait_for_word(int fd, pid_t child, char *out_id, struct err *err)
{
	size_t n = 0;

	while (n < SESSION_ID_LEN) {
		struct pollfd p[] = {
			{.fd = fd, .events = POLLIN},
			{.fd = proc_signals_fd(), .events = POLLIN}};
		ssize_t got;

		if (poll(p, ARRAY_LEN(p), -1) < 0 && errno != EINTR)
			return err_errno(err, "poll");
		pass_signals(child);
		got = recv(fd, out_id + n, SESSION_ID_LEN - n, MSG_DONTWAIT);
		if (got == 0)
			break;
		if (got > 0)
			n += (size_t)got;
		else if (errno != EAGAIN && errno != EINTR)
			break;
	}
	out_id[n == SESSION_ID_LEN ? n : 0] = '\0';
	return 0;
}

/* Of those that are passed on. The keeper catches them before it begins with
 * anything: who dies of one has left nothing. */
static bool is_asked_for(int signo)
{
	return signo == SIGINT || signo == SIGTERM || signo == SIGHUP ||
	       signo == SIGQUIT;
}

static int wait_for_end(pid_t child, int *out_rc, struct err *err)
{
	int status;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return err_errno(err, "waiting for the keeper");
		pass_signals(child);
	}
	if (WIFSIGNALED(status) && !is_asked_for(WTERMSIG(status)))
		return err_set(err, -EIO,
			       "the session's keeper was killed by signal %d",
			       WTERMSIG(status));
	*out_rc = proc_status(status);
	return 0;
}

static int wait_for(int fd, pid_t child, char *out_id, int *out_rc,
		    struct err *err)
{
	int rc = proc_signals_catch(err);

	if (rc < 0)
		return rc;
	rc = wait_for_word(fd, child, out_id, err);
	if (rc == 0 && out_id[0] == '\0')
		rc = wait_for_end(child, out_rc, err);
	proc_signals_restore();
	return rc;
}

int keeper_start(struct keeper *k, int (*run)(void *ctx, struct keeper *k),
		 void *ctx, char *out_id, int *out_rc, struct err *err)
{
	int ends[2], rc;
	pid_t child;

	find_size(&k->stage);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		return err_errno(err, "socketpair");
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	fflush(NULL); /* or both would print it */
	child = fork();
	if (child == 0) {
		k->caller = ends[1];
		k->told = false;
		leave_caller(k);
		rc = run(ctx, k);
		fflush(NULL);
		_exit(rc);
	}
	fd_close(&ends[1]);
	rc = child < 0 ? err_errno(err, "fork")
		       : wait_for(ends[0], child, out_id, out_rc, err);
	fd_close(&ends[0]);
	return rc;
}
