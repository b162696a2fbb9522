#include "runtime/launch/attach/stage.h"

#include "compiler/base/sys/proc.h"
#include "runtime/launch/session/local.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>

#define CHUNK	       32768u
#define CHUNKS_AT_ONCE 64u /* so that a chatty command starves nobody */
#define ROWS	       24u
#define COLUMNS	       80u

/* --- its beginning -------------------------------------------------------- */

static void set_size(int fd, uint16_t rows, uint16_t columns)
{
	struct winsize size = {.ws_row = rows, .ws_col = columns};

	/* a terminal of another size is still one */
	if (ioctl(fd, TIOCSWINSZ, &size) < 0)
		return;
}

/* Raw from the start: what is typed early must not be echoed here. */
static int open_terminal(struct stage *s, const struct stage_opts *o,
			 struct err *err)
{
	struct termios t;
	const char *name;

	s->in = s->out = posix_openpt(O_RDWR | O_NOCTTY);
	if (s->out < 0 || fcntl(s->out, F_SETFD, FD_CLOEXEC) < 0 ||
	    grantpt(s->out) < 0 || unlockpt(s->out) < 0)
		return err_errno(err, "a pseudo-terminal");
	name = ptsname(s->out);
	s->child[0] = name ? open(name, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
	if (s->child[0] < 0 || tcgetattr(s->child[0], &t) < 0)
		return err_errno(err, "a pseudo-terminal");
	cfmakeraw(&t);
	if (tcsetattr(s->child[0], TCSANOW, &t) < 0)
		return err_errno(err, "a pseudo-terminal");
	s->child[1] = s->child[0];
	set_size(s->out, o->rows ? o->rows : ROWS,
		 o->columns ? o->columns : COLUMNS);
	return proc_nonblock(s->out, err);
}

static int open_pipes(struct stage *s, struct err *err)
{
	int rc = 0;

	if (s->input) {
		rc = proc_pipe(&s->child[0], &s->in, err);
		if (rc == 0)
			rc = proc_nonblock(s->in, err);
	} else {
		s->child[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (s->child[0] < 0)
			rc = err_errno(err, "/dev/null");
	}
	if (rc == 0)
		rc = proc_pipe(&s->out, &s->child[1], err);
	return rc == 0 ? proc_nonblock(s->out, err) : rc;
}

int stage_open(struct stage *s, const char *dir, const struct stage_opts *o,
	       struct err *err)
{
	int rc;

	memset(s, 0, sizeof(*s));
	s->tty = o->tty;
	s->input = o->input || o->tty;
	s->listen = s->in = s->out = s->err = -1;
	s->spool.fd = s->spool.dir_fd = -1;
	for (unsigned i = 0; i < 3; i++)
		s->child[i] = -1;
	for (unsigned i = 0; i < STAGE_GUESTS; i++)
		s->guests[i].fd = -1;
	rc = s->tty ? open_terminal(s, o, err) : open_pipes(s, err);
	if (rc == 0)
		rc = proc_pipe(&s->err, &s->child[2], err);
	if (rc == 0)
		rc = proc_nonblock(s->err, err);
	if (rc == 0)
		rc = spool_open(&s->spool, dir, err);
	return rc == 0 ? local_listen(dir, SESSION_SOCKET, STAGE_GUESTS,
				      &s->listen, err)
		       : rc;
}

void stage_close_child(struct stage *s)
{
	if (s->child[1] == s->child[0])
		s->child[1] = -1;
	for (unsigned i = 0; i < 3; i++) {
		fd_close(&s->child[i]);
		s->child[i] = -1;
	}
}

/* --- what comes out ------------------------------------------------------- */

static void close_in(struct stage *s)
{
	if (!s->tty)
		fd_close(&s->in);
	s->in = -1;
	s->pending_n = 0;
}

static void keep_words(struct stage *s, struct str got)
{
	size_t room = sizeof(s->words) - s->words_n;

	got = str_slice(got, 0, room);
	memcpy(s->words + s->words_n, got.p, got.n);
	s->words_n += got.n;
}

/* A terminal whose other end is closed fails to be read. */
static bool drain_output(struct stage *s, int *fd, enum spool_stream stream)
{
	char bytes[CHUNK];
	bool any = false;

	for (unsigned i = 0; i < CHUNKS_AT_ONCE && *fd >= 0; i++) {
		struct str text = {bytes, proc_read(fd, bytes, sizeof(bytes))};

		if (*fd < 0 && fd == &s->out && s->tty)
			close_in(s);
		if (text.n == 0)
			break;
		if (s->tty && stream == SPOOL_OUT)
			modes_take(&s->modes, text);
		if (stream == SPOOL_ERR)
			keep_words(s, text);
		spool_add(&s->spool, stream, text);
		any = true;
	}
	return any;
}

/* --- what goes in --------------------------------------------------------- */

static void write_pending(struct stage *s)
{
	while (s->in >= 0 && s->pending_n) {
		ssize_t n =
			write(s->in, s->pending + s->pending_at, s->pending_n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) { /* nobody reads it any more */
			close_in(s);
			return;
		}
		s->pending_at += (size_t)n;
		s->pending_n -= (size_t)n;
	}
	if (s->in_ended && s->in >= 0)
		close_in(s);
}

static bool has_room(const struct stage *s)
{
	return s->pending_n + STAGE_DATA <= sizeof(s->pending);
}

static void take_input(struct stage *s, const unsigned char *p, size_t n)
{
	if (s->in < 0 || s->in_ended)
		return; /* as a pipe into a program that reads nothing */
	memmove(s->pending, s->pending + s->pending_at, s->pending_n);
	s->pending_at = 0;
	memcpy(s->pending + s->pending_n, p, n);
	s->pending_n += n;
	write_pending(s);
}

/* The docker command passes a new size on when it is told to look. */
static void take_size(struct stage *s, const unsigned char *p, pid_t agent)
{
	if (!s->tty || s->out < 0)
		return;
	set_size(s->out, (uint16_t)(p[0] << 8 | p[1]),
		 (uint16_t)(p[2] << 8 | p[3]));
	if (agent > 0)
		kill(agent, SIGWINCH);
}

/* --- guests --------------------------------------------------------------- */

static void drop_guest(struct stage_guest *g)
{
	fd_close(&g->fd);
	g->fd = -1;
}

static void put_be(unsigned char *to, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (unsigned char)(v >> (8 * (bytes - 1 - i)));
}

static void greet_guest(struct stage *s, struct stage_guest *g)
{
	unsigned char hello[STAGE_HELLO];

	memcpy(hello, STAGE_MAGIC, 4);
	put_be(hello + 4, s->spool.end.segment, 4);
	put_be(hello + 8, s->spool.end.at, 8);
	put_be(hello + 16, s->modes.on, 4);
	g->n = 0;
	/* the socket is empty: there is room */
	if (send(g->fd, hello, sizeof(hello), 0) != sizeof(hello))
		drop_guest(g);
}

static void accept_guests(struct stage *s)
{
	struct err ignored;
	int fd;

	while ((fd = accept(s->listen, NULL, NULL)) >= 0) {
		struct stage_guest *free_one = NULL;

		for (unsigned i = 0; i < STAGE_GUESTS && !free_one; i++)
			if (s->guests[i].fd < 0)
				free_one = &s->guests[i];
		if (!free_one || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ||
		    proc_nonblock(fd, &ignored) < 0) {
			fd_close(&fd);
			continue;
		}
		free_one->fd = fd;
		greet_guest(s, free_one);
	}
}

/* False: it does not speak this. */
static bool take_message(struct stage *s, const struct stage_guest *g, size_t n,
			 pid_t agent)
{
	const unsigned char *data = g->message + STAGE_HEAD;

	switch (g->message[0]) {
	case STAGE_INPUT:
		take_input(s, data, n);
		return true;
	case STAGE_SIZE:
		if (n == 4)
			take_size(s, data, agent);
		return n == 4;
	case STAGE_EOF:
		if (n == 0 && !s->tty) {
			s->in_ended = true;
			write_pending(s);
		}
		return n == 0;
	}
	return false;
}

/* Whole messages, as long as there is room for what they bring. */
static void take_messages(struct stage *s, struct stage_guest *g, pid_t agent)
{
	while (g->n >= STAGE_HEAD && has_room(s)) {
		size_t n = (size_t)g->message[1] << 8 | g->message[2];

		if (n > STAGE_DATA) {
			drop_guest(g);
			return;
		}
		if (g->n < STAGE_HEAD + n)
			return;
		if (!take_message(s, g, n, agent)) {
			drop_guest(g);
			return;
		}
		g->n -= STAGE_HEAD + n;
		memmove(g->message, g->message + STAGE_HEAD + n, g->n);
	}
}

static void listen_to(struct stage *s, struct stage_guest *g, pid_t agent)
{
	take_messages(s, g, agent);
	while (g->fd >= 0 && g->n < sizeof(g->message)) {
		ssize_t got = read(g->fd, g->message + g->n,
				   sizeof(g->message) - g->n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return;
		if (got <= 0) {
			drop_guest(g);
			return;
		}
		g->n += (size_t)got;
		take_messages(s, g, agent);
	}
}

/* A guest whose socket is full has not read of what it knows there is. */
static void tell_more(struct stage_guest *g)
{
	static const char more = STAGE_MORE;

	if (send(g->fd, &more, 1, 0) < 0 && errno != EAGAIN && errno != EINTR)
		drop_guest(g);
}

/* --- */

size_t stage_fds(const struct stage *s, struct pollfd *out)
{
	bool room = has_room(s);
	size_t n = 0;

	if (s->in >= 0 && s->pending_n)
		out[n++] = (struct pollfd){.fd = s->in, .events = POLLOUT};
	if (s->out >= 0)
		out[n++] = (struct pollfd){.fd = s->out, .events = POLLIN};
	if (s->err >= 0)
		out[n++] = (struct pollfd){.fd = s->err, .events = POLLIN};
	if (s->listen >= 0)
		out[n++] = (struct pollfd){.fd = s->listen, .events = POLLIN};
	for (unsigned i = 0; i < STAGE_GUESTS && room; i++)
		if (s->guests[i].fd >= 0)
			out[n++] = (struct pollfd){.fd = s->guests[i].fd,
						   .events = POLLIN};
	return n;
}

void stage_pump(struct stage *s, pid_t agent)
{
	bool any = drain_output(s, &s->out, SPOOL_OUT);

	any = drain_output(s, &s->err, SPOOL_ERR) || any;
	write_pending(s);
	for (unsigned i = 0; i < STAGE_GUESTS; i++)
		if (s->guests[i].fd >= 0)
			listen_to(s, &s->guests[i], agent);
	if (s->listen >= 0)
		accept_guests(s);
	for (unsigned i = 0; i < STAGE_GUESTS && any; i++)
		if (s->guests[i].fd >= 0)
			tell_more(&s->guests[i]);
}

bool stage_is_over(const struct stage *s)
{
	return s->out < 0 && s->err < 0;
}

void stage_done(struct stage *s)
{
	stage_close_child(s);
	close_in(s);
	fd_close(&s->out);
	fd_close(&s->err);
	spool_done(&s->spool);
	fd_close(&s->listen);
	s->out = s->err = s->listen = -1;
}
