#include "runtime/launch/tell/voice.h"

#include "compiler/base/sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECES 8u /* of the 16 places that a pipe has */

void voice_init(struct voice *v)
{
	v->fd = v->into = v->from = -1;
	v->is_socket = false;
	v->n = v->piped = v->pieces = 0;
}

int voice_open(struct voice *v, int fd, struct err *err)
{
	char path[32];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(err, "stderr");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	v->is_socket = S_ISSOCK(st.st_mode);
	/* a file is written to where others are, and does not block */
	if (S_ISREG(st.st_mode) || v->is_socket)
		v->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	else
		v->fd = open(path,
			     O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (v->fd < 0 && errno == EACCES && S_ISFIFO(st.st_mode)) {
		if (proc_pipe(&v->from, &v->into, err) < 0)
			return err->code;
		v->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	}
	return v->fd < 0 ? err_errno(err, "stderr") : 0;
}

bool voice_add(struct voice *v, struct str line)
{
	if (v->fd < 0 || line.n > sizeof(v->text) - v->n)
		return false;
	memcpy(v->text + v->n, line.p, line.n);
	v->n += line.n;
	return true;
}

/* Whole lines, which a pipe takes whole or not at all; else what there is. */
static size_t next_piece(const struct voice *v)
{
	size_t n = v->n < PIPE_BUF ? v->n : PIPE_BUF;
	const char *end = memrchr(v->text, '\n', n);

	return end ? (size_t)(end - v->text) + 1 : n;
}

static void forget_piece(struct voice *v, size_t n)
{
	v->n -= n;
	memmove(v->text, v->text + n, v->n);
}

/* Has somebody read it? What is spliced takes whole places of a pipe, of which
 * there are few, and what is said at the end is to find some. */
static bool is_read(struct voice *v)
{
	int unread = 0;

	if (ioctl(v->fd, FIONREAD, &unread) == 0 && unread == 0)
		v->pieces = 0;
	return v->pieces < PIECES;
}

/* Out of the pipe in front of it, which is empty by then. */
static ssize_t splice_piece(struct voice *v)
{
	ssize_t n;

	if (!is_read(v)) {
		errno = EAGAIN;
		return -1;
	}
	if (!v->piped) {
		n = write(v->into, v->text, next_piece(v));
		if (n < 0)
			return n;
		v->piped = (size_t)n;
		forget_piece(v, v->piped);
	}
	n = splice(v->from, NULL, v->fd, NULL, v->piped, SPLICE_F_NONBLOCK);
	if (n > 0)
		v->piped -= (size_t)n;
	v->pieces += n > 0;
	return n;
}

/* In the background a terminal may stop whoever writes; not us. */
static ssize_t write_piece(struct voice *v)
{
	sigset_t ttou, before;
	ssize_t n;

	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU);
	sigprocmask(SIG_BLOCK, &ttou, &before);
	n = write(v->fd, v->text, next_piece(v));
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (n > 0)
		forget_piece(v, (size_t)n);
	return n;
}

static ssize_t send_piece(struct voice *v)
{
	ssize_t n = send(v->fd, v->text, next_piece(v),
			 MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n > 0)
		forget_piece(v, (size_t)n);
	return n;
}

static bool has_more(const struct voice *v)
{
	return v->fd >= 0 && v->n + v->piped > 0;
}

bool voice_waits(const struct voice *v)
{
	return has_more(v) && v->pieces < PIECES;
}

void voice_pump(struct voice *v)
{
	while (has_more(v)) {
		ssize_t n = v->into >= 0   ? splice_piece(v)
			    : v->is_socket ? send_piece(v)
					   : write_piece(v);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			voice_done(v);
			return;
		}
	}
}

void voice_done(struct voice *v)
{
	fd_close(&v->fd);
	fd_close(&v->into);
	fd_close(&v->from);
	voice_init(v);
}
