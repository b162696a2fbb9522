#include "runtime/launch/attach/join.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/limits.h"
#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/proc.h"
#include "runtime/launch/attach/stage.h"
#include "runtime/launch/session/local.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>

#define HELLO_MS   10000 /* for a keeper to say hello; it may be at work */
#define COME_IN_MS 5000
#define REDRAW_MS  120 /* between two sizes, so that both are seen */
#define REPLY_MS   400 /* of a terminal, over a network */
#define REPLIES_MS 2000
#define FOLLOW_MS  100

struct join {
	const struct join_opts *o;
	struct detach keys;
	int fd;
	struct spool_reader reader;
	struct modes modes; /* of the session's terminal, as far as printed */
	bool raw;
	struct termios before, ours;
	bool listening; /* to our stdin */
	int64_t redraw_at;
	size_t unsent_at, unsent_n;
	unsigned char unsent[2 * (STAGE_HEAD + STAGE_DATA)];
	int signal;
};

/* --- what was printed ----------------------------------------------------- */

static int print_output(enum spool_stream stream, struct str s, struct err *err)
{
	return fileio_write_all(
		stream == SPOOL_ERR ? STDERR_FILENO : STDOUT_FILENO, s, err);
}

/* All that there is; m learns from it. */
static int print_new(struct spool_reader *r, size_t within, struct modes *m,
		     struct err *err)
{
	enum spool_stream stream;
	struct str s;
	int rc;

	while ((rc = spool_next(r, &stream, &s, err)) > 0) {
		s = str_slice(s, within, s.n);
		within = 0;
		if (stream == SPOOL_OUT)
			modes_take(m, s);
		rc = print_output(stream, s, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

static void write_modes(uint32_t on, void words(uint32_t on, struct buf *out))
{
	struct arena *a = arena_new();
	struct err ignored;
	struct buf b;

	buf_init(&b, a);
	words(on, &b);
	/* at worst it looks odd */
	if (b.n && isatty(STDOUT_FILENO) &&
	    fileio_write_all(STDOUT_FILENO, buf_str(&b), &ignored) < 0)
		b.n = 0;
	arena_free(a);
}

static bool is_alive(const struct metadata *x)
{
	enum session_found found;
	struct err ignored;

	return metadata_state(x, &found, &ignored) == 0 &&
	       found == SESSION_ALIVE;
}

int join_print(const struct metadata *about, bool past, uint64_t lines,
	       bool follow, bool *out_skipped, struct err *err)
{
	struct spool_reader r;
	struct modes modes = {0};
	size_t within = 0;
	bool last;
	int rc = spool_reader_open(&r, about->session.dir, err);

	if (rc == 0 && past)
		rc = spool_tail(&r, lines, &within, err);
	while (rc == 0) {
		/* asked first: what it printed until then is read after that */
		last = !follow || !is_alive(about);
		rc = print_new(&r, within, &modes, err);
		within = 0;
		if (rc < 0 || last || !fileio_wait(STDOUT_FILENO, FOLLOW_MS))
			break;
	}
	/* a program that was killed left them on */
	write_modes(modes.on, modes_leave);
	*out_skipped = r.skipped;
	spool_reader_done(&r);
	return rc;
}

/* --- our terminal --------------------------------------------------------- */

static void enter_raw(struct join *j)
{
	if (!j->o->about->streams.tty || !j->listening ||
	    tcgetattr(STDIN_FILENO, &j->before) < 0)
		return;
	j->ours = j->before;
	cfmakeraw(&j->ours);
	j->raw = tcsetattr(STDIN_FILENO, TCSANOW, &j->ours) == 0;
}

static void leave_raw(struct join *j)
{
	write_modes(j->modes.on, modes_leave);
	if (j->raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &j->before);
	j->raw = false;
}

/* --- to the keeper -------------------------------------------------------- */

static void send_unsent(struct join *j)
{
	while (j->unsent_n) {
		ssize_t n = send(j->fd, j->unsent + j->unsent_at, j->unsent_n,
				 MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) /* EAGAIN; or its end, which reading finds */
			return;
		j->unsent_at += (size_t)n;
		j->unsent_n -= (size_t)n;
	}
}

static void say_to_stage(struct join *j, char what, const void *data, size_t n)
{
	unsigned char *p;

	memmove(j->unsent, j->unsent + j->unsent_at, j->unsent_n);
	j->unsent_at = 0;
	/* a keeper that takes nothing: what is typed waits, a size does not */
	if (j->unsent_n + STAGE_HEAD + n > sizeof(j->unsent))
		return;
	p = j->unsent + j->unsent_n;
	p[0] = (unsigned char)what;
	p[1] = (unsigned char)(n >> 8);
	p[2] = (unsigned char)n;
	if (n)
		memcpy(p + STAGE_HEAD, data, n);
	j->unsent_n += STAGE_HEAD + n;
	send_unsent(j);
}

/* Ours; another by one than it is, when more is set. */
static void say_size(struct join *j, unsigned more)
{
	struct winsize size;
	unsigned char four[4];

	if (!j->o->about->streams.tty ||
	    (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 &&
	     ioctl(STDIN_FILENO, TIOCGWINSZ, &size) < 0) ||
	    size.ws_row == 0 || size.ws_col == 0)
		return;
	size.ws_row = (unsigned short)(size.ws_row + more);
	size.ws_col = (unsigned short)(size.ws_col + more);
	four[0] = (unsigned char)(size.ws_row >> 8);
	four[1] = (unsigned char)size.ws_row;
	four[2] = (unsigned char)(size.ws_col >> 8);
	four[3] = (unsigned char)size.ws_col;
	say_to_stage(j, STAGE_SIZE, four, sizeof(four));
}

/* True when the keys were typed. */
static bool take_typed(struct join *j)
{
	char typed[STAGE_DATA - DETACH_MAX], on[STAGE_DATA];
	ssize_t got = read(STDIN_FILENO, typed, sizeof(typed));
	bool detach = false;
	size_t n;

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return false;
	if (got <= 0) {
		j->listening = false;
		if (!j->o->about->streams.tty)
			say_to_stage(j, STAGE_EOF, NULL, 0);
		return false;
	}
	if (!j->raw) { /* no keys, then: it may be anything */
		say_to_stage(j, STAGE_INPUT, typed, (size_t)got);
		return false;
	}
	detach =
		detach_take(&j->keys, (struct str){typed, (size_t)got}, on, &n);
	if (n)
		say_to_stage(j, STAGE_INPUT, on, n);
	return detach;
}

/* --- joining -------------------------------------------------------------- */

static uint64_t get_be(const unsigned char *p, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

/* -ENOENT: it hung up: it ends, or has no room. */
static int hear_hello(struct join *j, struct spool_place *out, struct err *err)
{
	int64_t until = clock_ms() + HELLO_MS;
	unsigned char hello[STAGE_HELLO];
	size_t n = 0;

	while (n < sizeof(hello)) {
		struct pollfd p = {.fd = j->fd, .events = POLLIN};
		int64_t left = until - clock_ms();
		ssize_t got;

		if (left <= 0 || poll(&p, 1, (int)left) == 0)
			return err_set(err, -ETIMEDOUT,
				       "the session's keeper does not answer");
		got = recv(j->fd, hello + n, sizeof(hello) - n, MSG_DONTWAIT);
		if (got == 0 || (got < 0 && errno == ECONNRESET))
			return err_set(err, -ENOENT, "nobody was let in");
		if (got > 0)
			n += (size_t)got;
	}
	if (memcmp(hello, STAGE_MAGIC, 4) != 0)
		return err_set(
			err, -EPROTO,
			"the session's keeper is of another version of membrane");
	out->segment = (uint32_t)get_be(hello + 4, 4);
	out->at = get_be(hello + 8, 8);
	j->modes.on = (uint32_t)get_be(hello + 16, 4);
	return 0;
}

/*
 * What a program once asked its terminal, ours is asked again when that is
 * shown. Its answers were nobody's keys.
 */
static void drop_replies(const struct join *j)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	int64_t until = clock_ms() + REPLIES_MS;
	char some[256];

	while (j->raw && clock_ms() < until && poll(&p, 1, REPLY_MS) > 0)
		if (read(STDIN_FILENO, some, sizeof(some)) <= 0)
			return;
}

/* Where to begin: now, or earlier. */
static int begin_at(struct join *j, struct spool_place now, struct err *err)
{
	size_t within = 0;
	int rc;

	if (!j->o->past) {
		spool_seek(&j->reader, now);
		j->reader.skipped = false;
		write_modes(j->modes.on, modes_enter);
		return 0;
	}
	/* what is printed switches the modes on by itself */
	j->modes.on = 0;
	rc = spool_tail(&j->reader, j->o->lines, &within, err);
	if (rc == 0)
		rc = print_new(&j->reader, within, &j->modes, err);
	drop_replies(j);
	return rc;
}

/*
 * A session that just begins has no socket yet, one that just ends none any
 * more: until one of the two is so.
 */
static int come_in(struct join *j, struct spool_place *out, struct err *err)
{
	int64_t until = clock_ms() + COME_IN_MS;
	int rc;

	while (true) {
		rc = local_connect(j->o->about->session.dir, SESSION_SOCKET,
				   &j->fd, err);
		if (rc == 0)
			rc = hear_hello(j, out, err);
		if (rc != -ENOENT || !is_alive(j->o->about))
			return rc;
		fd_close(&j->fd);
		j->fd = -1;
		if (clock_ms() > until)
			return err_set(
				err, -EBUSY,
				"nobody can join this session now: %u have, or it is at its end",
				STAGE_GUESTS);
		poll(NULL, 0, FOLLOW_MS);
	}
}

/* Twice, or a program of the same size would not draw anew. */
static void draw_anew(struct join *j)
{
	if (j->raw && tcsetattr(STDIN_FILENO, TCSANOW, &j->ours) < 0)
		j->listening = false; /* another's terminal now */
	say_size(j, 1);
	j->redraw_at = clock_ms() + REDRAW_MS;
}

static void take_signals(struct join *j)
{
	struct proc_signal s;

	while (proc_signals_next(&s)) {
		if (s.signo == SIGCONT)
			draw_anew(j);
		else if (s.signo == SIGWINCH)
			say_size(j, 0);
		else if (s.signo != SIGCHLD)
			j->signal = s.signo;
	}
}

/* False at the keeper's end. */
static bool take_more(struct join *j)
{
	char some[256];
	ssize_t got;

	do
		got = recv(j->fd, some, sizeof(some), MSG_DONTWAIT);
	while (got > 0 || (got < 0 && errno == EINTR));
	return got < 0 && errno == EAGAIN;
}

static int wait_ms(const struct join *j)
{
	int64_t left = j->redraw_at - clock_ms();

	return !j->redraw_at ? -1 : left < 0 ? 0 : (int)left;
}

/* Until the end, the keys or a signal. */
static int go_on(struct join *j, enum join_how *out, struct err *err)
{
	while (true) {
		struct pollfd p[] = {
			{.fd = proc_signals_fd(), .events = POLLIN},
			{.fd = j->fd,
			 .events = j->unsent_n ? POLLIN | POLLOUT : POLLIN},
			{.fd = j->listening && !j->unsent_n ? STDIN_FILENO : -1,
			 .events = POLLIN},
		};
		bool alive;
		int rc;

		if (poll(p, ARRAY_LEN(p), wait_ms(j)) < 0 && errno != EINTR)
			return err_errno(err, "poll");
		take_signals(j);
		if (j->redraw_at && clock_ms() >= j->redraw_at) {
			j->redraw_at = 0;
			say_size(j, 0);
		}
		send_unsent(j);
		/* asked first: what came until its end is read after that */
		alive = take_more(j);
		rc = print_new(&j->reader, 0, &j->modes, err);
		*out = rc == -EPIPE ? JOIN_SIGNAL
		       : !alive	    ? JOIN_ENDED
				    : JOIN_SIGNAL;
		if (rc == -EPIPE)
			j->signal = SIGPIPE;
		if (rc < 0 && rc != -EPIPE)
			return rc;
		if (!alive || j->signal)
			return 0;
		if (p[2].revents && take_typed(j)) {
			*out = JOIN_DETACHED;
			return 0;
		}
	}
}

static int follow_session(struct join *j, struct spool_place now,
			  enum join_how *out, struct err *err)
{
	int rc;

	enter_raw(j);
	rc = begin_at(j, now, err);
	if (rc == 0) {
		draw_anew(j);
		rc = go_on(j, out, err);
	}
	leave_raw(j);
	return rc;
}

/* Its keeper has let go: of the socket, and of the lock before that. */
static enum join_how how_it_ended(struct arena *a, const struct metadata *x)
{
	struct metadata_end end;

	metadata_end_read(a, &x->session, &end);
	return end.known ? JOIN_ENDED : JOIN_LOST;
}

int join_run(struct arena *a, const struct join_opts *o, enum join_how *out,
	     int *out_signal, struct err *err)
{
	struct join *j = arena_new_of(a, struct join);
	struct spool_place now = {0};
	int rc;

	j->o = o;
	j->keys = o->keys;
	j->fd = j->reader.fd = j->reader.dir_fd = -1;
	j->listening = !o->no_input && o->about->streams.input;
	rc = proc_signals_catch(err);
	if (rc < 0)
		return rc;
	proc_signals_catch_terminal();
	rc = come_in(j, &now, err);
	if (rc == 0)
		rc = spool_reader_open(&j->reader, o->about->session.dir, err);
	if (rc == 0)
		rc = follow_session(j, now, out, err);
	else if (rc == -ENOENT)
		*out = JOIN_ENDED;
	if (rc == 0 && j->reader.skipped)
		fprintf(stderr,
			"membrane: some of the output was gone before it could be shown\n");
	if ((rc == 0 && *out == JOIN_ENDED) || rc == -ENOENT) {
		*out = how_it_ended(a, o->about);
		rc = 0;
	}
	*out_signal = j->signal;
	fd_close(&j->fd);
	spool_reader_done(&j->reader);
	proc_signals_restore();
	return rc;
}
