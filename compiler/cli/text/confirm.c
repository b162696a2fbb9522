#include "compiler/cli/text/confirm.h"

#include "compiler/base/err.h"
#include "compiler/base/sys/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <termios.h>
#include <unistd.h>

int confirm_terminal(void)
{
	auto_fd int fd = -1;
	int tty;

	if (!isatty(STDIN_FILENO) && !isatty(STDERR_FILENO))
		return -1;
	fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || tcgetpgrp(fd) != getpgrp())
		return -1;
	tty = fd;
	fd = -1;
	return tty;
}

/* One line; false at the end of input, or when it is longer. */
static bool read_answer(int tty, char *line, size_t size)
{
	size_t n = 0;
	char c;

	for (;;) {
		ssize_t got = read(tty, &c, 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		if (c == '\n')
			break;
		if (n + 1 >= size)
			return false;
		line[n++] = c;
	}
	line[n] = '\0';
	return true;
}

static bool is_yes(struct str answer)
{
	return (answer.n == 1 && strncasecmp(answer.p, "y", 1) == 0) ||
	       (answer.n == 3 && strncasecmp(answer.p, "yes", 3) == 0);
}

bool confirm_line(int tty, struct str text, struct str question, char *line,
		  size_t size)
{
	struct str typed;
	struct err err;

	if (fileio_write_all(tty, text, &err) < 0)
		return false;
	/* What was typed before the question is not an answer to it. */
	tcflush(tty, TCIFLUSH);
	if (fileio_write_all(tty, question, &err) < 0)
		return false;
	if (!read_answer(tty, line, size)) {
		tcflush(tty, TCIFLUSH); /* the rest of a long line */
		return false;
	}
	typed = str_trim(str_of(line));
	memmove(line, typed.p, typed.n);
	line[typed.n] = '\0';
	return true;
}

bool confirm_ask(int tty, struct str text, struct str question)
{
	char line[CONFIRM_TYPED];

	return confirm_line(tty, text, question, line, sizeof(line)) &&
	       is_yes(str_of(line));
}
