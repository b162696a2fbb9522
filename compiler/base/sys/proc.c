#include "compiler/base/sys/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int caught[] = {SIGINT,  SIGTERM, SIGHUP,
			     SIGQUIT, SIGCHLD, SIGPIPE};

/* Handlers take no argument: their state is the module's. */
static struct sigaction before[ARRAY_LEN(caught)];
static int signal_pipe[2] = {-1, -1};
static bool catching;

/* Of a terminal that may be another one afterwards. */
static const int terminal[] = {SIGWINCH, SIGCONT};
static struct sigaction before_terminal[ARRAY_LEN(terminal)];
static bool catching_terminal;

static int set_cloexec(int fd)
{
	int flags = fcntl(fd, F_GETFD);

	return flags < 0 ? -1 : fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

int proc_pipe(int *out_read, int *out_write, struct err *err)
{
	int p[2];

	if (pipe(p) < 0)
		return err_set(err, -errno, "pipe: %s", strerror(errno));
	if (set_cloexec(p[0]) < 0 || set_cloexec(p[1]) < 0) {
		int code = -errno;

		close(p[0]);
		close(p[1]);
		return err_set(err, code, "pipe: %s", strerror(-code));
	}
	*out_read = p[0];
	*out_write = p[1];
	return 0;
}

int proc_nonblock(int fd, struct err *err)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return err_set(err, -errno, "fcntl: %s", strerror(errno));
	return 0;
}

/* Put fd where the program expects it; from is not close-on-exec there. */
static int place_fd(int from, int to)
{
	int flags;

	if (from < 0)
		return 0;
	if (from != to)
		return dup2(from, to);
	flags = fcntl(from, F_GETFD);
	return fcntl(from, F_SETFD, flags & ~FD_CLOEXEC);
}

/*
 * In the child: everything here is async-signal-safe, and with a program to
 * become it shares the memory of its parent, who waits.
 */
static _Noreturn void become_program(const struct proc_opts *o, int report,
				     const sigset_t *mask)
{
	int code;

	if (o->group == PROC_SESSION)
		setsid();
	else if (o->group == PROC_GROUP)
		setpgid(0, 0);
	if (catching)
		for (size_t i = 0; i < ARRAY_LEN(caught); i++)
			sigaction(caught[i], &before[i], NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (place_fd(o->in, 0) >= 0 && place_fd(o->out, 1) >= 0 &&
	    place_fd(o->err, 2) >= 0 &&
	    (o->keep < 0 || place_fd(o->keep, o->keep) >= 0)) {
		if (o->run) {
			close(report);
			_exit(o->run(o->ctx, o->argv));
		}
		execvpe(o->argv[0], o->argv, o->env ? o->env : environ);
	}
	code = errno;
	if (write(report, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

/*
 * Copying what this process has takes longer than to begin most programs. No
 * handler of a signal runs in the child, whose memory is ours.
 */
static pid_t make_child(const struct proc_opts *o, int report)
{
	sigset_t all, mask;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	pid = o->run ? fork() : vfork();
	if (pid == 0)
		become_program(o, report, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return pid;
}

int proc_spawn(const struct proc_opts *o, pid_t *out_pid, struct err *err)
{
	auto_fd int report = -1;
	int child_end, code = 0;
	ssize_t got;
	pid_t pid;
	int rc = proc_pipe(&report, &child_end, err);

	if (rc < 0)
		return rc;
	pid = make_child(o, child_end);
	fd_close(&child_end);
	if (pid < 0)
		return err_set(err, -errno, "fork: %s", strerror(errno));
	if (o->group == PROC_GROUP)
		setpgid(pid, pid); /* whoever comes first */
	do
		got = read(report, &code, sizeof(code));
	while (got < 0 && errno == EINTR);
	if (got == 0) {
		*out_pid = pid;
		return 0;
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return err_set(err, -code, "cannot start '%s': %s", o->argv[0],
		       strerror(code));
}

size_t proc_read(int *fd, char *buf, size_t size)
{
	ssize_t got = *fd < 0 ? 0 : -1;

	while (got < 0) {
		got = read(*fd, buf, size);
		if (got > 0)
			return (size_t)got;
		if (got < 0 && errno == EAGAIN)
			return 0;
		if (got == 0 || errno != EINTR)
			break;
	}
	fd_close(fd);
	*fd = -1;
	return 0;
}

int proc_pipes(struct proc_opts *o, int *out_in, int *out_out, int *out_err,
	       struct err *err)
{
	int rc = proc_pipe(&o->in, out_in, err);

	if (rc == 0)
		rc = proc_pipe(out_out, &o->out, err);
	if (rc == 0)
		rc = proc_pipe(out_err, &o->err, err);
	if (rc == 0)
		rc = proc_nonblock(*out_out, err);
	if (rc == 0)
		rc = proc_nonblock(*out_err, err);
	return rc < 0 ? rc : proc_nonblock(*out_in, err);
}

void proc_pipes_done(struct proc_opts *o)
{
	fd_close(&o->in);
	fd_close(&o->out);
	fd_close(&o->err);
}

void proc_leave_terminal(void)
{
	/* who ends all of membrane politely means its launcher */
	static const int ignored[] = {SIGINT, SIGHUP, SIGQUIT, SIGTERM};
	static const int reset[] = {SIGCHLD, SIGPIPE};
	int null = open("/dev/null", O_RDWR);

	setsid();
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	for (size_t i = 0; i < ARRAY_LEN(reset); i++)
		signal(reset[i], SIG_DFL);
	for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
		signal(ignored[i], SIG_IGN);
	if (chdir("/") < 0)
		return; /* then it pins a directory, no more */
}

void proc_close_others(int keep1, int keep2)
{
	DIR *dir = opendir("/dev/fd");
	const struct dirent *e;
	int fds[256];
	size_t n = 0;

	/* reading and closing do not mix: collect, close, look again */
	do {
		n = 0;
		if (!dir)
			return;
		rewinddir(dir);
		while (n < ARRAY_LEN(fds) && (e = readdir(dir))) {
			char *end;
			long fd = strtol(e->d_name, &end, 10);

			if (*end == '\0' && end != e->d_name && fd > 2 &&
			    fd != keep1 && fd != keep2 && fd != dirfd(dir))
				fds[n++] = (int)fd;
		}
		for (size_t i = 0; i < n; i++)
			close(fds[i]);
	} while (n == ARRAY_LEN(fds));
	closedir(dir);
}

int proc_status(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return 128 + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

const char *proc_status_text(int status, char buf[PROC_STATUS_TEXT_MAX])
{
	if (status > 128)
		snprintf(buf, PROC_STATUS_TEXT_MAX, "killed by signal %d",
			 status - 128);
	else
		snprintf(buf, PROC_STATUS_TEXT_MAX, "status %d", status);
	return buf;
}

static void on_signal(int signo, siginfo_t *info, void *context)
{
	int saved = errno;
	struct proc_signal s = {signo, info && info->si_pid == 0};

	(void)context;
	/* a full pipe holds enough of them */
	if (write(signal_pipe[1], &s, sizeof(s)) < 0)
		errno = saved;
	errno = saved;
}

int proc_signals_catch(struct err *err)
{
	struct sigaction action = {0};
	int rc = proc_pipe(&signal_pipe[0], &signal_pipe[1], err);

	if (rc == 0)
		rc = proc_nonblock(signal_pipe[0], err);
	if (rc == 0)
		rc = proc_nonblock(signal_pipe[1], err);
	if (rc < 0)
		return rc;
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_LEN(caught); i++) {
		sigaction(caught[i], NULL, &before[i]);
		if (caught[i] == SIGPIPE) {
			action.sa_handler = SIG_IGN;
			action.sa_flags = 0;
		} else {
			action.sa_sigaction = on_signal;
			action.sa_flags = SA_SIGINFO | SA_RESTART;
		}
		/* nohup(1) and a shell's background jobs mean it */
		if (caught[i] != SIGCHLD && caught[i] != SIGPIPE &&
		    before[i].sa_handler == SIG_IGN)
			continue;
		sigaction(caught[i], &action, NULL);
	}
	catching = true;
	return 0;
}

void proc_signals_catch_terminal(void)
{
	struct sigaction action = {.sa_sigaction = on_signal,
				   .sa_flags = SA_SIGINFO | SA_RESTART};

	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_LEN(terminal); i++)
		sigaction(terminal[i], &action, &before_terminal[i]);
	catching_terminal = true;
}

void proc_signals_restore(void)
{
	if (!catching)
		return;
	for (size_t i = 0; i < ARRAY_LEN(terminal) && catching_terminal; i++)
		sigaction(terminal[i], &before_terminal[i], NULL);
	catching_terminal = false;
	for (size_t i = 0; i < ARRAY_LEN(caught); i++)
		sigaction(caught[i], &before[i], NULL);
	catching = false;
	fd_close(&signal_pipe[0]);
	fd_close(&signal_pipe[1]);
	signal_pipe[0] = signal_pipe[1] = -1;
}

int proc_signals_fd(void)
{
	return signal_pipe[0];
}

bool proc_signals_next(struct proc_signal *out)
{
	return read(signal_pipe[0], out, sizeof(*out)) == sizeof(*out);
}
