#include "compiler/cli/text/bottom.h"

#include "compiler/base/arena.h"
#include "compiler/base/buf.h"
#include "compiler/base/sys/proc.h"
#include "compiler/cli/text/note.h"
#include "tests/check.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define COLUMNS 40
#define WAIT_MS 10000

/* --- notes ---------------------------------------------------------------- */

static const char *set[][2] = {{NULL, NULL}, {NULL, NULL}};

static char *lookup(const char *name)
{
	static char value[32];

	for (size_t i = 0; i < ARRAY_LEN(set); i++)
		if (set[i][0] && strcmp(set[i][0], name) == 0) {
			snprintf(value, sizeof(value), "%s", set[i][1]);
			return value;
		}
	return NULL;
}

static void check_ways(void)
{
	static const struct {
		const char *set[2][2];
		enum note_way way;
	} cases[] = {
		{{{NULL, NULL}, {NULL, NULL}}, NOTE_NONE},
		{{{"TERM", "dumb"}, {NULL, NULL}}, NOTE_NONE},
		{{{"TERM", "xterm-256color"}, {NULL, NULL}}, NOTE_BELL},
		{{{"TERM", "xterm-kitty"}, {NULL, NULL}}, NOTE_OSC_9},
		{{{"TERM", "xterm-kitty"}, {"TMUX", "/tmp/x"}}, NOTE_BELL},
		{{{"TERM", "tmux-256color"}, {"TERM_PROGRAM", "iTerm.app"}},
		 NOTE_BELL},
		{{{"TERM", "xterm"}, {"TERM_PROGRAM", "iTerm.app"}},
		 NOTE_OSC_9},
		{{{"TERM", "xterm"}, {"VTE_VERSION", "7000"}}, NOTE_OSC_777},
		{{{"TERM", "foot-extra"}, {NULL, NULL}}, NOTE_OSC_777},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		memcpy(set, cases[i].set, sizeof(set));
		CHECK_MSG(note_way_of(lookup) == cases[i].way, "case %zu", i);
	}
}

static void check_bytes(struct arena *a)
{
	struct str evil = STR("a;b\033]0;x\a\n\xc2\x9b\xff.test");
	struct buf large;

	CHECK(note_bytes(a, NOTE_NONE, evil).n == 0);
	CHECK(str_is(note_bytes(a, NOTE_BELL, evil), "\a"));
	CHECK(str_is(note_bytes(a, NOTE_OSC_9, evil),
		     "\033]9;membrane: a,b?]0,x?\?\?\?\?.test\033\\"));
	CHECK(str_is(note_bytes(a, NOTE_OSC_777, evil),
		     "\033]777;notify;membrane;a,b?]0,x?\?\?\?\?.test\033\\"));
	buf_init(&large, a);
	for (unsigned i = 0; i < 10 * NOTE_MAX; i++)
		buf_addc(&large, 'x');
	CHECK(note_bytes(a, NOTE_OSC_9, buf_str(&large)).n ==
	      NOTE_MAX + strlen("\033]9;membrane: \033\\"));
}

/* --- the last rows -------------------------------------------------------- */

static int person; /* the terminal's other end: who sees and types */

/* The whole of what has come, which is that. */
static void sees(int line, const char *wanted)
{
	struct pollfd p = {person, POLLIN, 0};
	char got[512];
	size_t n = 0;

	while (n < strlen(wanted) && poll(&p, 1, WAIT_MS) > 0) {
		ssize_t more = read(person, got + n, sizeof(got) - 1 - n);

		if (more <= 0)
			break;
		n += (size_t)more;
	}
	got[n] = '\0';
	CHECK_MSG(strcmp(got, wanted) == 0, "line %d: '%s' for '%s'", line, got,
		  wanted);
}
#define SEES(wanted) sees(__LINE__, (wanted))

static enum bottom_key types(struct bottom *b, const char *keys)
{
	struct pollfd p = {b->tty, POLLIN, 0};

	CHECK(write(person, keys, strlen(keys)) == (ssize_t)strlen(keys));
	CHECK(poll(&p, 1, WAIT_MS) == 1);
	return bottom_read(b);
}

static void check_status_row(struct bottom *b)
{
	bottom_show(b);
	SEES("");
	b->status = STR("1 refused");
	bottom_show(b);
	bottom_show(b);
	SEES("1 refused");
	bottom_hide(b);
	bottom_hide(b);
	SEES("\r\033[J");
	b->status = STR("0123456789012345678901234567890123456789 more");
	bottom_show(b);
	SEES("012345678901234567890123456789012345678");
	bottom_hide(b);
	SEES("\r\033[J");
	b->status = STR("1 refused");
	bottom_show(b);
	SEES("1 refused");
}

/* What was typed stands there again after what was printed meanwhile. */
static void check_question(struct bottom *b)
{
	struct termios t, asked;

	CHECK(tcgetattr(b->tty, &t) == 0);
	CHECK(write(person, "a", 1) == 1); /* ahead */
	SEES("a");
	CHECK(bottom_ask(b, STR("yes? ")));
	SEES("\r\033[J1 refused\r\nyes? ");
	CHECK(tcgetattr(b->tty, &asked) == 0 &&
	      !(asked.c_lflag & (ICANON | ECHO)) && asked.c_lflag & ISIG);
	CHECK(types(b, "s") == BOTTOM_MORE);
	SEES("s");
	bottom_hide(b);
	SEES("\r\033[1A\033[J");
	bottom_show(b);
	SEES("1 refused\r\nyes? s");
	CHECK(types(b, "\x7fnever") == BOTTOM_MORE);
	SEES("\b \bnever");
	CHECK(types(b, "\033[A") == BOTTOM_MORE);
	CHECK(types(b, "\r") == BOTTOM_LINE);
	CHECK(strcmp(b->typed, "never") == 0);
	bottom_answered(b);
	SEES("\r\n");
	CHECK(tcgetattr(b->tty, &asked) == 0 &&
	      asked.c_lflag == t.c_lflag);
	CHECK(!b->asks && !b->is_shown);
}

/* Who typed at one that went away has not answered the next. */
static void check_withdrawn(struct bottom *b)
{
	CHECK(bottom_ask(b, STR("one? ")));
	SEES("1 refused\r\none? ");
	bottom_withdraw(b);
	SEES("\r\033[1A\033[J");
	CHECK(bottom_ask(b, STR("two? ")));
	SEES("1 refused\r\ntwo? ");
	CHECK(types(b, "y\n") == BOTTOM_MORE);
	b->deaf_until_ms = 0;
	CHECK(types(b, "0123456789012345678901234\n") == BOTTOM_LINE);
	CHECK(strcmp(b->typed, "012345678901234") == 0);
	bottom_answered(b);
	SEES("012345678901234\r\n");
}

/* A question of several rows is gone with all of them. */
static void check_rows(struct bottom *b)
{
	b->status = (struct str){0};
	CHECK(bottom_ask(b, STR("0123456789012345678901234567890123456789"
			  "0123456789012345678901234567890123456789? ")));
	SEES("0123456789012345678901234567890123456789"
	     "0123456789012345678901234567890123456789? ");
	bottom_hide(b);
	SEES("\r\033[2A\033[J");
	CHECK(types(b, "\x04") == BOTTOM_LINE && b->typed[0] == '\0');
	bottom_withdraw(b);
}

/* At the edge the cursor is in its row until one more is typed. */
static void check_edge(struct bottom *b)
{
	CHECK(bottom_ask(b, STR("01234567890123456789012345678901234567? ")));
	SEES("01234567890123456789012345678901234567? ");
	bottom_hide(b);
	SEES("\r\033[J");
	bottom_show(b);
	SEES("01234567890123456789012345678901234567? ");
	b->deaf_until_ms = 0;
	CHECK(types(b, "ab") == BOTTOM_MORE);
	SEES("ab");
	CHECK(types(b, "\x7f") == BOTTOM_MORE);
	SEES("\b \b");
	CHECK(types(b, "\x7f") == BOTTOM_MORE);
	SEES("\r\033[1A\033[J01234567890123456789012345678901234567? ");
	CHECK(types(b, "c") == BOTTOM_MORE);
	SEES("c");
	bottom_withdraw(b);
	SEES("\r\033[1A\033[J");
}

/* --- a job of a shell ----------------------------------------------------- */

static void (*handler_of(int signo))(int)
{
	struct sigaction is;

	CHECK(sigaction(signo, NULL, &is) == 0);
	return is.sa_handler;
}

static bool is_raw(int tty)
{
	struct termios t;

	CHECK(tcgetattr(tty, &t) == 0);
	return !(t.c_lflag & (ICANON | ECHO));
}

static void stop_job(int signo)
{
	CHECK(raise(signo) == 0); /* until the shell has it go on */
}

/* Each stop is one that the shell below expects, or the job has failed. */
static int be_job(int tty)
{
	struct bottom b;

	signal(SIGHUP, SIG_IGN); /* nohup(1) */
	stop_job(SIGSTOP);	 /* and is put in front */
	bottom_init(&b, tty);
	b.status = STR("1 refused");
	CHECK(bottom_ask(&b, STR("one? ")));
	SEES("1 refused\r\none? ");
	CHECK(handler_of(SIGHUP) == SIG_IGN);
	CHECK(handler_of(SIGPIPE) != SIG_DFL);
	stop_job(SIGTSTP); /* and goes on in the background */
	bottom_hide(&b);
	bottom_show(&b);
	bottom_withdraw(&b);
	CHECK(!bottom_ask(&b, STR("two? ")));
	bottom_show(&b);
	SEES("");
	stop_job(SIGSTOP); /* and is put in front */
	CHECK(bottom_ask(&b, STR("two? ")));
	SEES("1 refused\r\ntwo? ");
	stop_job(SIGTSTP); /* and is put in front at once */
	CHECK(is_raw(tty));
	bottom_show(&b);
	SEES("1 refused\r\ntwo? ");
	b.deaf_until_ms = 0;
	CHECK(types(&b, "y\n") == BOTTOM_LINE);
	bottom_answered(&b);
	SEES("y\r\n");
	CHECK(!is_raw(tty));
	CHECK(handler_of(SIGHUP) == SIG_IGN && handler_of(SIGINT) == SIG_DFL &&
	      handler_of(SIGPIPE) == SIG_DFL);
	return check_status();
}

static void goes_on(int line, pid_t job, int tty, int signo, pid_t front)
{
	int status = 0;

	CHECK(waitpid(job, &status, WUNTRACED) == job);
	CHECK_MSG(WIFSTOPPED(status) && WSTOPSIG(status) == signo,
		  "line %d: status %x", line, (unsigned)status);
	CHECK(!is_raw(tty));
	CHECK(tcsetpgrp(tty, front) == 0);
	kill(job, SIGCONT);
}

static void check_job(int tty)
{
	int status = -1;
	pid_t job = fork();

	if (job == 0) {
		setpgid(0, 0);
		_exit(be_job(tty));
	}
	signal(SIGTTOU, SIG_IGN);
	goes_on(__LINE__, job, tty, SIGSTOP, job);
	goes_on(__LINE__, job, tty, SIGTSTP, getpgrp());
	goes_on(__LINE__, job, tty, SIGSTOP, job);
	goes_on(__LINE__, job, tty, SIGTSTP, job);
	CHECK(waitpid(job, &status, WUNTRACED) == job);
	CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x",
		  (unsigned)status);
	if (!WIFEXITED(status))
		kill(job, SIGKILL);
	tcsetpgrp(tty, getpgrp());
}

/* In a session of its own: the terminal is its, and it is in front. */
static int sit_at(const char *terminal)
{
	struct bottom b;
	int tty;

	setsid();
	tty = open(terminal, O_RDWR); /* with that it is this session's */
	check_job(tty);
	bottom_init(&b, tty);
	check_status_row(&b);
	check_question(&b);
	check_withdrawn(&b);
	check_rows(&b);
	check_edge(&b);
	return check_status();
}

int main(void)
{
	struct winsize size = {.ws_row = 10, .ws_col = COLUMNS};
	struct arena *a = arena_new();
	int status = -1;
	pid_t pid;

	check_ways();
	check_bytes(a);
	arena_free(a);
	person = posix_openpt(O_RDWR | O_NOCTTY);
	CHECK(person >= 0 && grantpt(person) == 0 && unlockpt(person) == 0);
	ioctl(person, TIOCSWINSZ, &size);
	pid = fork();
	if (pid == 0)
		_exit(sit_at(ptsname(person)));
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(proc_status(status) == 0);
	return check_status();
}
