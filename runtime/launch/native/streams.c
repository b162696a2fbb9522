/*
 * What the command reads and prints, between it and whoever called us; as the
 * docker command does it for a container.
 */
#include "runtime/launch/native/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define CHUNK 65536

/* From one descriptor to another: bytes that are read and not yet written. */
struct way {
	int from, to; /* -1: closed */
	size_t at, n;
	char data[CHUNK];
};

static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

int streams_open(struct streams *s, bool tty, struct err *err)
{
	*s = (struct streams){.tty = tty,
			      .inside = {-1, -1, -1},
			      .outside = {-1, -1, -1},
			      .terminal = -1};
	for (int i = 0; i < 3 && !tty; i++) {
		int p[2];

		if (is_pipe(i))
			continue;
		if (pipe2(p, O_CLOEXEC) < 0)
			return err_errno(err, "pipe");
		s->inside[i] = p[i == 0 ? 0 : 1];
		s->outside[i] = p[i == 0 ? 1 : 0];
	}
	return 0;
}

/* The other end of the terminal, by the descriptor: no name leads elsewhere. */
static int take_terminal(const struct streams *s, struct err *err)
{
	int fd = ioctl(s->terminal, TIOCGPTPEER, O_RDWR | O_NOCTTY);

	if (fd < 0)
		return err_errno(err, "the session's terminal");
	for (int i = 0; i < 3; i++)
		if (dup2(fd, i) < 0)
			return err_errno(err, "the session's terminal");
	if (fd > 2)
		close(fd);
	return 0;
}

int streams_take(struct streams *s, struct err *err)
{
	if (s->tty)
		return take_terminal(s, err);
	for (int i = 0; i < 3; i++)
		if (s->inside[i] >= 0 && dup2(s->inside[i], i) < 0)
			return err_errno(err, "streams");
	return 0;
}

void streams_leave(struct streams *s)
{
	for (int i = 0; i < 3; i++) {
		fd_close(&s->inside[i]);
		s->inside[i] = -1;
	}
}

/* --- passing on ----------------------------------------------------------- */

static void close_way(struct way *w, bool *keeps_target)
{
	w->from = -1;
	w->n = 0;
	if (w->to > STDERR_FILENO && !*keeps_target)
		close(w->to);
	w->to = -1;
}

/* A terminal's master says EIO once nobody has the other end. */
static bool read_way(struct way *w)
{
	ssize_t n = read(w->from, w->data, sizeof(w->data));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	w->at = 0;
	w->n = n > 0 ? (size_t)n : 0;
	return n > 0;
}

static bool write_way(struct way *w)
{
	ssize_t n = write(w->to, w->data + w->at, w->n);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n < 0)
		return false;
	w->at += (size_t)n;
	w->n -= (size_t)n;
	return true;
}

static struct pollfd poll_way(const struct way *w)
{
	return w->n ? (struct pollfd){w->to, POLLOUT, 0}
		    : (struct pollfd){w->from, POLLIN, 0};
}

static void turn_way(struct way *w, const struct pollfd *p, bool keeps_target)
{
	bool goes_on = true;

	if (!p->revents || w->to < 0)
		return;
	goes_on = w->n ? write_way(w) : read_way(w);
	if (goes_on && w->n)
		goes_on = write_way(w);
	if (!goes_on)
		close_way(w, &keeps_target);
}

/* --- the terminal --------------------------------------------------------- */

/* Our own, as long as the session's passes on each key as it is. */
static bool enter_raw(struct termios *before)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, before) < 0)
		return false;
	raw = *before;
	cfmakeraw(&raw);
	return tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

static void pass_size(const struct streams *s)
{
	struct winsize size;

	if (s->terminal >= 0 && (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ||
				 ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0))
		ioctl(s->terminal, TIOCSWINSZ, &size);
}

/* --- until the end -------------------------------------------------------- */

/* True once the process has ended: *out_status. */
static bool take_signals(const struct streams *s, int signals, pid_t process,
			 int *out_status)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info)) {
		int signo = (int)info.ssi_signo;

		if (signo == SIGCHLD &&
		    waitpid(process, out_status, WNOHANG) == process)
			return true;
		if (signo == SIGWINCH)
			pass_size(s);
		else if (signo != SIGCHLD)
			kill(process, signo);
	}
	return false;
}

/* A full pipe must not hold this process: who reads it may wait for us to take
 * what it printed. */
static void keep_from_blocking(int fd)
{
	int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);

	if (flags >= 0)
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

static void open_ways(const struct streams *s, struct way w[3])
{
	for (int i = 0; i < 3; i++) {
		w[i].from = i == 0 ? STDIN_FILENO : s->outside[i];
		w[i].to = i == 0 ? s->outside[0] : i;
		if (w[i].to < 0 || w[i].from < 0)
			w[i].from = w[i].to = -1;
	}
	if (!s->tty)
		return;
	w[0].from = STDIN_FILENO;
	w[0].to = w[1].from = s->terminal;
	w[1].to = STDOUT_FILENO;
}

/* What the command printed last, and what its children hold open no more. */
static bool has_more(const struct way *w, bool ended)
{
	struct pollfd p = {w->from, POLLIN, 0};

	if (w->to < 0)
		return false;
	return w->n || !ended || (poll(&p, 1, 0) > 0 && p.revents & POLLIN);
}

int streams_serve(struct streams *s, pid_t process, int signals)
{
	static struct way w[3]; /* too large for a stack */
	struct termios before;
	bool raw = s->tty && enter_raw(&before), ended = false;
	int status = 0;

	/* who ends without reading all of its input is no reason to end */
	signal(SIGPIPE, SIG_IGN);
	keep_from_blocking(s->outside[0]);
	keep_from_blocking(s->terminal);
	open_ways(s, w);
	pass_size(s);
	while (!ended || has_more(&w[1], true) || has_more(&w[2], true)) {
		struct pollfd p[4] = {poll_way(&w[0]),
				      poll_way(&w[1]),
				      poll_way(&w[2]),
				      {signals, POLLIN, 0}};

		if (ended)
			p[0].fd = p[3].fd = -1;
		if (poll(p, 4, -1) < 0 && errno != EINTR)
			break;
		for (int i = 0; i < 3; i++)
			turn_way(&w[i], &p[i], s->tty);
		if (!ended && p[3].revents)
			ended = take_signals(s, signals, process, &status);
	}
	if (raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	return status;
}
