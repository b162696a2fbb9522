#include "runtime/launch/tell/carrier.h"

#include "compiler/base/sys/clock.h"
#include "runtime/launch/tell/margin.h"
#include "runtime/launch/tell/voice.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK	65536
#define IN_LINE 1 /* its status */

/* In that process. */
struct carrying {
	int from;  /* what the command prints; -1: nothing more */
	int heard; /* what is told; -1: nothing more */
	struct margin margin;
	int line_ms;
	int64_t since_ms; /* when the first of what is told came */
	size_t n;
	char told[VOICE_BYTES];
	char data[CHUNK];
};

void carrier_init(struct carrier *c)
{
	*c = (struct carrier){.told = -1, .line_ms = CARRIER_LINE_MS};
}

/* --- what is carried ------------------------------------------------------ */

bool carrier_fits(bool hands_on)
{
	struct stat st;

	return fstat(STDERR_FILENO, &st) == 0 &&
	       !(hands_on && S_ISFIFO(st.st_mode));
}

static bool is_one_place(void)
{
	struct stat out, err;
	unsigned a, b;

	/* /dev/tty is another inode of the same */
	if (ioctl(STDOUT_FILENO, TIOCGDEV, &a) == 0 &&
	    ioctl(STDERR_FILENO, TIOCGDEV, &b) == 0)
		return a == b;
	return fstat(STDOUT_FILENO, &out) == 0 &&
	       fstat(STDERR_FILENO, &err) == 0 && out.st_dev == err.st_dev &&
	       out.st_ino == err.st_ino;
}

/* --- the process ---------------------------------------------------------- */

static void end_stream(struct carrying *c)
{
	fd_close(&c->from); /* the command's next word ends it, as ever */
	c->from = -1;
}

static void print_text(struct carrying *c, struct str text)
{
	while (text.n) {
		ssize_t n = write(STDERR_FILENO, text.p, text.n);
		struct pollfd room = {STDERR_FILENO, POLLOUT, 0};

		if (n < 0 && errno == EAGAIN)
			poll(&room, 1, -1);
		else if (n < 0 && errno != EINTR)
			break;
		if (n > 0)
			text = str_slice(text, (size_t)n, text.n);
	}
	if (text.n)
		end_stream(c);
}

static void say_told(struct carrying *c)
{
	if (!margin_is_free(&c->margin))
		print_text(c, STR("\n"));
	print_text(c, (struct str){c->told, c->n});
	c->n = 0;
	margin_set_free(&c->margin);
}

static void pass_on(struct carrying *c, struct str text)
{
	while (text.n && c->from >= 0) {
		size_t n = margin_take(&c->margin, text, c->n > 0);

		print_text(c, str_slice(text, 0, n));
		text = str_slice(text, n, text.n);
		if (c->n && margin_is_free(&c->margin))
			say_told(c);
	}
}

static void read_stream(struct carrying *c)
{
	ssize_t n = read(c->from, c->data, sizeof(c->data));

	if (n > 0)
		pass_on(c, (struct str){c->data, (size_t)n});
	else if (n == 0 || errno != EINTR)
		end_stream(c);
}

static bool has_room(const struct carrying *c)
{
	return sizeof(c->told) - c->n >= PIPE_BUF;
}

static void hear_told(struct carrying *c)
{
	ssize_t n = recv(c->heard, c->told + c->n, sizeof(c->told) - c->n, 0);

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		c->heard = -1; /* closed with the process, which is its end */
		return;
	}
	if (!c->n)
		c->since_ms = clock_ms();
	c->n += (size_t)n;
}

/* Until when what is told waits for the end of the command's line. */
static int64_t wait_ms(const struct carrying *c)
{
	int64_t left;

	if (!c->n)
		return -1;
	if (c->from < 0 || margin_is_free(&c->margin))
		return 0;
	left = c->since_ms + c->line_ms - clock_ms();
	return left > 0 ? left : 0;
}

static void serve_stream(struct carrying *c)
{
	while (c->from >= 0 || c->heard >= 0) {
		struct pollfd p[] = {
			{c->from, POLLIN, 0},
			{has_room(c) ? c->heard : -1, POLLIN, 0}};

		if (poll(p, ARRAY_LEN(p), (int)wait_ms(c)) < 0 &&
		    errno != EINTR)
			return;
		if (p[1].revents)
			hear_told(c);
		if (p[0].revents)
			read_stream(c);
		if (wait_ms(c) == 0)
			say_told(c);
	}
}

static int run_carrier(void *ctx, char *const *argv)
{
	/* it ends when all that it is for has: by the ends of its pipes */
	static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,
				      SIGQUIT, SIGPIPE, SIGTTOU};
	struct carrying *c = ctx;

	(void)argv;
	for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
		signal(ignored[i], SIG_IGN);
	proc_close_others(c->from, c->heard);
	serve_stream(c);
	return margin_is_free(&c->margin) ? 0 : IN_LINE;
}

/* --- the launcher's ------------------------------------------------------- */

static int open_ends(struct carrying *c, int *out_told, int *out_print,
		     struct err *err)
{
	int pair[2];
	int rc = proc_pipe(&c->from, out_print, err);

	if (rc < 0)
		return rc;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(err, "socketpair");
	c->heard = pair[0];
	*out_told = pair[1];
	return 0;
}

int carrier_start(struct carrier *c, struct proc_opts *o, struct err *err)
{
	static struct carrying carrying; /* too large for a stack */
	char name[] = "carrier";
	char *argv[] = {name, NULL};
	struct proc_opts own = {.argv = argv,
				.group = PROC_SAME,
				.in = -1,
				.out = -1,
				.err = -1,
				.keep = -1,
				.run = run_carrier,
				.ctx = &carrying};
	auto_fd int print = -1, told = -1, out = -1;
	int rc;

	carrying = (struct carrying){
		.from = -1, .heard = -1, .line_ms = c->line_ms};
	rc = open_ends(&carrying, &told, &print, err);
	if (rc == 0 && is_one_place() &&
	    (out = fcntl(print, F_DUPFD_CLOEXEC, 3)) < 0)
		rc = err_errno(err, "stdout");
	if (rc == 0)
		rc = proc_spawn(&own, &c->pid, err);
	fd_close(&carrying.from);
	fd_close(&carrying.heard);
	if (rc < 0)
		return rc;
	if (out >= 0)
		o->out = out;
	o->err = print;
	c->told = told;
	print = told = out = -1;
	return 0;
}

/* Nothing of ours is waited for: what is printed has whoever reads it. */
static void await_end(const struct carrier *c)
{
	int64_t until_ms = 0;

	for (;;) {
		struct pollfd p[] = {{c->told, POLLIN, 0},
				     {proc_signals_fd(), POLLIN, 0}};
		int64_t left = until_ms ? until_ms - clock_ms() : -1;
		struct proc_signal s;

		if (until_ms && left <= 0)
			kill(c->pid, SIGKILL);
		if (poll(p, ARRAY_LEN(p), left > 0 ? (int)left : -1) < 0 &&
		    errno != EINTR)
			return;
		if (p[0].revents)
			return;
		while (proc_signals_next(&s))
			if (s.signo != SIGCHLD && !until_ms)
				until_ms = clock_ms() + CARRIER_STOP_MS;
	}
}

bool carrier_end(struct carrier *c)
{
	int status = 0;

	if (!c->pid)
		return false;
	shutdown(c->told, SHUT_WR);
	await_end(c);
	fd_close(&c->told);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	carrier_init(c);
	return proc_status(status) == IN_LINE;
}
