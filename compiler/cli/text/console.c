#include "compiler/cli/text/console.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/cli/text/status.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void console_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("membrane: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

int console_result(struct str text)
{
	struct err err;

	if (fileio_write_all(STDOUT_FILENO, text, &err) == 0)
		return STATUS_OK;
	console_error("stdout: %s", err.text);
	return STATUS_IO;
}

void console_diags(struct arena *a, const struct diags *d)
{
	struct buf b;

	buf_init(&b, a);
	diags_print(d, &b, console_colour(STDERR_FILENO));
	if (b.n)
		fwrite(b.p, 1, b.n, stderr);
}

bool console_colour(int fd)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(none && *none) &&
	       !(term && strcmp(term, "dumb") == 0);
}

unsigned console_width(int fd)
{
	struct winsize w;

	if (ioctl(fd, TIOCGWINSZ, &w) < 0 || w.ws_col == 0)
		return 80;
	return w.ws_col < 40 ? 40 : w.ws_col > 120 ? 120 : w.ws_col;
}

bool console_is_behind(int fd)
{
	pid_t front = tcgetpgrp(fd);

	return front >= 0 && front != getpgrp(); /* -1: none, or hung up */
}
