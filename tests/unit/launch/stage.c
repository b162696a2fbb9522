#include "runtime/launch/attach/stage.h"

#include "compiler/base/sys/fileio.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>

static struct err err;
static struct stage s;
static char dir[32];

static void begin(bool tty, bool input)
{
	struct stage_opts o = {.tty = tty, .input = input};

	snprintf(dir, sizeof(dir), "/tmp/stage-XXXXXX");
	CHECK(mkdtemp(dir) != NULL);
	CHECK(stage_open(&s, dir, &o, &err) == 0);
}

static void end(void)
{
	stage_done(&s);
	for (unsigned i = 0; i < STAGE_GUESTS; i++)
		fd_close(&s.guests[i].fd);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
}

static int join(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/" SESSION_SOCKET, dir);
	CHECK(connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	return fd;
}

/* How many bytes there are to read; 0 at the end, -1 when there is nothing. */
static ssize_t take(int fd)
{
	char some[4096];

	return recv(fd, some, sizeof(some), 0);
}

static int guest(void)
{
	unsigned char hello[STAGE_HELLO + 1];
	int fd = join();

	stage_pump(&s, 0);
	CHECK(recv(fd, hello, sizeof(hello), 0) == STAGE_HELLO);
	CHECK(memcmp(hello, STAGE_MAGIC "\0\0\0\1", 8) == 0);
	return fd;
}

static void say(int fd, const char *bytes, size_t n)
{
	CHECK(send(fd, bytes, n, 0) == (ssize_t)n);
	stage_pump(&s, 0);
}

/* What the command reads, in pieces as they come. */
static void check_input(void)
{
	char got[64];
	int fd, other;

	begin(false, true);
	fd = guest();
	other = guest();
	say(fd, "i\0\5hel", 6);
	CHECK(fcntl(s.child[0], F_SETFL, O_NONBLOCK) == 0);
	CHECK(read(s.child[0], got, sizeof(got)) < 0);
	say(other, "i\0\1-", 4);
	say(fd, "loi\0\1!", 6);
	CHECK(read(s.child[0], got, sizeof(got)) == 7);
	CHECK(memcmp(got, "-hello!", 7) == 0);
	say(fd, "s\0\4\0\1\0\1", 7); /* no terminal: it has no size */
	say(fd, "e\0\0", 3);
	CHECK(read(s.child[0], got, sizeof(got)) == 0);
	say(other, "i\0\1x", 4); /* to nobody, as into a closed pipe */
	CHECK(take(other) == -1 && errno == EAGAIN);
	fd_close(&fd);
	fd_close(&other);
	end();
}

/* Who does not speak this is shown the door, and nobody else. */
static void check_nonsense(void)
{
	static const struct {
		const char *bytes;
		size_t n;
	} bad[] = {
		{"GET / HTTP/1.1\r\n", 16},
		{"x\0\0", 3},
		{"i\377\377", 3},
		{"i\20\1", 3},
		{"s\0\3abc", 6},
		{"s\0\5abcde", 8},
		{"e\0\1x", 4},
		{"\0\0\0", 3},
	};
	int good;

	begin(false, true);
	good = guest();
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		int fd = guest();

		say(fd, bad[i].bytes, bad[i].n);
		CHECK(take(fd) == 0 || errno == ECONNRESET);
		fd_close(&fd);
	}
	CHECK(take(good) == -1 && errno == EAGAIN);
	say(good, "i\0\1y", 4);
	CHECK(s.guests[0].fd >= 0);
	fd_close(&good);
	end();
}

static void check_room(void)
{
	int fds[STAGE_GUESTS], late;

	begin(false, false);
	for (unsigned i = 0; i < STAGE_GUESTS; i++)
		fds[i] = guest();
	late = join();
	stage_pump(&s, 0);
	CHECK(take(late) == 0);
	fd_close(&late);
	fd_close(&fds[3]);
	stage_pump(&s, 0);
	fds[3] = guest();
	for (unsigned i = 0; i < STAGE_GUESTS; i++)
		fd_close(&fds[i]);
	end();
}

/* A command that reads nothing: who types waits, and loses nothing. */
static void check_backpressure(void)
{
	static char message[STAGE_HEAD + STAGE_DATA] = "i\20\0";
	struct pollfd fds[STAGE_FDS];
	size_t sent = 0, got = 0, n;
	char bytes[65536];
	int fd;

	begin(false, true);
	fd = guest();
	while (true) {
		ssize_t wrote = send(fd, message, sizeof(message), 0);

		if (wrote < 0)
			break;
		/* what is cut off goes on with the rest */
		if (wrote < (ssize_t)sizeof(message)) {
			sent += (size_t)wrote;
			break;
		}
		sent += (size_t)wrote;
		stage_pump(&s, 0);
		CHECK(sent < (8u << 20));
	}
	n = stage_fds(&s, fds);
	for (size_t i = 0; i < n; i++)
		CHECK(fds[i].fd != s.guests[0].fd); /* or it would spin */
	CHECK(fcntl(s.child[0], F_SETFL, O_NONBLOCK) == 0);
	for (unsigned i = 0; i < 4096; i++) {
		ssize_t have = read(s.child[0], bytes, sizeof(bytes));

		got += have > 0 ? (size_t)have : 0;
		stage_pump(&s, 0);
	}
	/* all but the heads, and the message that is not whole */
	n = sent / sizeof(message);
	CHECK(got == n * STAGE_DATA);
	fd_close(&fd);
	end();
}

static void check_output(void)
{
	static struct spool_reader r;
	enum spool_stream stream;
	struct str got;
	int fd;

	begin(false, false);
	fd = guest();
	CHECK(write(s.child[1], "out", 3) == 3);
	CHECK(write(s.child[2], "err", 3) == 3);
	stage_pump(&s, 0);
	CHECK(take(fd) == 1);
	stage_pump(&s, 0);
	CHECK(take(fd) == -1);
	CHECK(spool_reader_open(&r, dir, &err) == 0);
	CHECK(spool_next(&r, &stream, &got, &err) == 1 && stream == SPOOL_OUT &&
	      str_is(got, "out"));
	CHECK(spool_next(&r, &stream, &got, &err) == 1 && stream == SPOOL_ERR &&
	      str_is(got, "err"));
	spool_reader_done(&r);
	CHECK(s.words_n == 3 && !stage_is_over(&s));
	stage_close_child(&s);
	stage_pump(&s, 0);
	CHECK(stage_is_over(&s));
	fd_close(&fd);
	end();
}

static void check_terminal(void)
{
	struct winsize size;
	char got[8];
	int fd;

	begin(true, false);
	CHECK(isatty(s.child[0]) && s.child[0] == s.child[1]);
	CHECK(ioctl(s.child[0], TIOCGWINSZ, &size) == 0 && size.ws_row == 24 &&
	      size.ws_col == 80);
	fd = guest();
	say(fd, "s\0\4\0\62\1\1", 7);
	CHECK(ioctl(s.child[0], TIOCGWINSZ, &size) == 0 && size.ws_row == 50 &&
	      size.ws_col == 257);
	/* raw: nothing is echoed, nothing waits for a line */
	say(fd, "i\0\2\3x", 5);
	CHECK(read(s.child[0], got, sizeof(got)) == 2);
	CHECK(memcmp(got, "\3x", 2) == 0);
	say(fd, "e\0\0", 3); /* a terminal goes on */
	CHECK(s.in >= 0);
	CHECK(write(s.child[0], "\033[?1049h", 8) == 8);
	stage_pump(&s, 0);
	CHECK(s.modes.on != 0);
	stage_close_child(&s);
	for (unsigned i = 0; i < 20 && s.out >= 0; i++)
		stage_pump(&s, 0);
	CHECK(stage_is_over(&s) && s.in < 0);
	fd_close(&fd);
	end();
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	check_input();
	check_nonsense();
	check_room();
	check_backpressure();
	check_output();
	check_terminal();
	return check_status();
}
