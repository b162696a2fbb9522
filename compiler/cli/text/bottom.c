#include "compiler/cli/text/bottom.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define END_OF_INPUT 0x04 /* Ctrl-D */
#define ERASE_LINE   0x15 /* Ctrl-U */
#define DELETE	     0x7f
#define ESCAPE	     0x1b
#define COLUMNS	     80u

/* Handlers take no argument: what is to be undone is the module's. */
static struct termios before, during;
static volatile sig_atomic_t is_taken;	  /* the terminal has our mode */
static volatile sig_atomic_t was_stopped; /* the screen was another's */
static int terminal = -1;

static const int ending[] = {SIGINT,  SIGTERM, SIGHUP,
			     SIGQUIT, SIGTSTP, SIGPIPE};
static struct sigaction was[ARRAY_LEN(ending)];

static void write_text(int tty, struct str text)
{
	struct err ignored;

	ignore(fileio_write_all(tty, text, &ignored));
}

/* --- the terminal's mode -------------------------------------------------- */

static bool is_front(int tty)
{
	return tty >= 0 && tcgetpgrp(tty) == getpgrp();
}

static void leave_mode(void)
{
	if (is_front(terminal)) /* else it is the shell's, and would stop us */
		tcsetattr(terminal, TCSANOW, &before);
}

static void enter_mode(void)
{
	tcsetattr(terminal, TCSANOW, &during);
	/* What was typed before the question is not an answer to it. */
	tcflush(terminal, TCIFLUSH);
}

static void on_ending(int signo)
{
	int saved = errno;
	struct sigaction ours = {.sa_handler = SIG_DFL};
	sigset_t it;

	leave_mode();
	for (size_t i = 0; i < ARRAY_LEN(ending); i++)
		if (ending[i] == signo)
			sigaction(signo, &was[i], &ours);
	sigemptyset(&it);
	sigaddset(&it, signo);
	raise(signo);
	sigprocmask(SIG_UNBLOCK, &it, NULL); /* here it ends, or stops */
	sigaction(signo, &ours, NULL);
	errno = saved;
}

static void on_going_on(int signo)
{
	int saved = errno;

	(void)signo;
	was_stopped = true;
	if (is_taken && is_front(terminal))
		enter_mode();
	errno = saved;
}

/* What was ignored stays so: of `nohup`, say. */
static void catch_endings(void)
{
	struct sigaction ours = {.sa_handler = on_ending,
				 .sa_flags = SA_RESTART};

	for (size_t i = 0; i < ARRAY_LEN(ending); i++) {
		sigaction(ending[i], NULL, &was[i]);
		if (was[i].sa_handler != SIG_IGN)
			sigaction(ending[i], &ours, NULL);
	}
}

static bool take_keys(const struct bottom *b)
{
	if (tcgetattr(b->tty, &before) < 0)
		return false;
	during = before;
	during.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	during.c_iflag |= ICRNL;
	during.c_cc[VMIN] = 1;
	during.c_cc[VTIME] = 0;
	terminal = b->tty;
	catch_endings();
	is_taken = true;
	enter_mode();
	return true;
}

/* A shell may put us in front again without SIGCONT. */
static void keep_keys(void)
{
	struct termios now;

	if (is_taken && tcgetattr(terminal, &now) == 0 &&
	    (now.c_lflag & (ICANON | ECHO)))
		enter_mode();
}

static void leave_keys(void)
{
	if (!is_taken)
		return;
	is_taken = false; /* first: who stops us now finds nothing to resume */
	leave_mode();
	for (size_t i = 0; i < ARRAY_LEN(ending); i++)
		sigaction(ending[i], &was[i], NULL);
}

/* --- what is shown -------------------------------------------------------- */

static unsigned columns_of(int tty)
{
	struct winsize w;

	return ioctl(tty, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : COLUMNS;
}

/* Of what is shown, above the cursor's; at the end of a row it is still there,
 * until one more is typed. */
static unsigned rows_of(const struct bottom *b)
{
	size_t n = b->question.n + b->n;

	if (!b->asks)
		return 0;
	return (unsigned)(n ? (n - 1) / b->columns : 0) + (b->status.n > 0);
}

/* What stood there when we were stopped is above what the shell wrote. */
static void look_again(struct bottom *b)
{
	if (!was_stopped)
		return;
	was_stopped = false;
	b->is_shown = false;
}

void bottom_init(struct bottom *b, int tty)
{
	struct sigaction on = {.sa_handler = on_going_on,
			       .sa_flags = SA_RESTART};

	*b = (struct bottom){.tty = tty, .columns = COLUMNS};
	if (tty >= 0)
		sigaction(SIGCONT, &on, NULL);
}

void bottom_hide(struct bottom *b)
{
	unsigned rows = 0;
	char up[16] = "";

	look_again(b);
	if (!b->is_shown)
		return;
	b->is_shown = false;
	rows = rows_of(b);
	if (rows)
		snprintf(up, sizeof(up), "\033[%uA", rows);
	write_text(b->tty, STR("\r"));
	write_text(b->tty, str_of(up));
	write_text(b->tty, STR("\033[J"));
}

void bottom_show(struct bottom *b)
{
	struct str status;

	look_again(b);
	if (b->is_shown || !is_front(b->tty) || (!b->asks && !b->status.n))
		return;
	b->columns = columns_of(b->tty);
	/* one row, and the cursor still in it */
	status = str_slice(b->status, 0, b->columns - 1);
	write_text(b->tty, status);
	if (b->asks) {
		keep_keys();
		write_text(b->tty, status.n ? STR("\n") : STR(""));
		write_text(b->tty, b->question);
		write_text(b->tty, (struct str){b->typed, b->n});
	}
	b->is_shown = true;
}

/* --- a question ----------------------------------------------------------- */

bool bottom_ask(struct bottom *b, struct str question)
{
	bottom_hide(b);
	b->n = 0;
	b->question = question;
	b->asks = is_front(b->tty) && take_keys(b);
	bottom_show(b);
	return b->asks;
}

static void end_question(struct bottom *b)
{
	leave_keys();
	b->asks = false;
	b->n = 0;
}

void bottom_answered(struct bottom *b)
{
	write_text(b->tty, STR("\n"));
	b->is_shown = false;
	end_question(b);
}

void bottom_withdraw(struct bottom *b)
{
	bottom_hide(b);
	end_question(b);
	b->deaf_until_ms = clock_ms() + BOTTOM_DEAF_MS;
}

/* The last one; over the edge of a row the cursor does not go back. */
static void take_back(struct bottom *b)
{
	bool in_row = (b->question.n + b->n) % b->columns > 1;

	if (!in_row)
		bottom_hide(b);
	b->n--;
	if (in_row)
		write_text(b->tty, STR("\b \b"));
	else
		bottom_show(b);
}

/* One key; false: the line is at its end. */
static bool take_key(struct bottom *b, char key)
{
	if (key == '\n' || key == END_OF_INPUT)
		return false;
	if ((key == DELETE || key == '\b') && b->n) {
		take_back(b);
	} else if (key == ERASE_LINE) {
		bottom_hide(b);
		b->n = 0;
		bottom_show(b);
	} else if (key > ' ' && key < DELETE && b->n + 1 < sizeof(b->typed)) {
		b->typed[b->n++] = key;
		write_text(b->tty, (struct str){&key, 1});
	}
	return true;
}

/* What a key ends while nobody asks comes to nothing, once. */
static bool is_hung_up(const struct bottom *b)
{
	struct pollfd p = {b->tty, POLLIN, 0};

	return poll(&p, 1, 0) < 0 || (p.revents & (POLLHUP | POLLERR));
}

enum bottom_key bottom_read(struct bottom *b)
{
	char keys[64];
	ssize_t n = read(b->tty, keys, sizeof(keys));

	if (n < 0 && errno == EINTR)
		return BOTTOM_MORE;
	if (n < 0 || (n == 0 && is_hung_up(b)))
		return BOTTOM_GONE;
	if (!b->asks || clock_ms() < b->deaf_until_ms)
		return BOTTOM_MORE;
	for (ssize_t i = 0; i < n; i++) {
		if (keys[i] == ESCAPE) /* an arrow, say: the rest is its */
			return BOTTOM_MORE;
		if (!take_key(b, keys[i])) {
			b->typed[b->n] = '\0';
			return BOTTOM_LINE;
		}
	}
	return BOTTOM_MORE;
}
