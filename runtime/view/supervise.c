/*
 * The process that mounted, while there are servers: passes on what those say,
 * says who asks of a home, takes the mounts away when it is told to, and when a
 * server is gone.
 */
#include "runtime/view/parts.h"

#include "compiler/base/sys/clock.h"
#include "compiler/plan/view_hello.h"
#include "runtime/view/mount.h"
#include "runtime/view/rights.h"
#include "runtime/view/say.h"
#include "runtime/view/who/who.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the order in which it goes. */
enum phase {
	SERVING,
	ENDING, /* the servers were told to */
	GONE,	/* they have ended */
};

struct watch {
	struct supervise *s;
	enum phase phase;
	bool mounted, failed;
	bool said_open;	  /* VIEW_SAYS_UNSEALED */
	int64_t until_ms; /* of what is left to do at the end */
	struct who who;
	char line[64]; /* of the launcher's, so far */
	size_t line_n;
	char in[VIEW_SAYS_LINE_MAX], out[VIEW_SAYS_LINE_MAX + 2 * SAY_LINE_MAX];
	size_t in_n, out_n;
};

/* --- what is said --------------------------------------------------------- */

static void put_out(struct watch *w, const char *event, const char *message)
{
	/* There is always room for one: out is longer than in. */
	if (w->out_n + SAY_LINE_MAX <= sizeof(w->out))
		w->out_n += say_line(event, message, w->out + w->out_n);
}

/* Whole lines of the server's, as many as there is room for. */
static void pass_lines(struct watch *w)
{
	size_t n = w->in_n, room = sizeof(w->out) - 2 * SAY_LINE_MAX;

	room = w->out_n < room ? room - w->out_n : 0;
	if (n > room)
		n = room;
	while (n > 0 && w->in[n - 1] != '\n')
		n--;
	memcpy(w->out + w->out_n, w->in, n);
	w->out_n += n;
	w->in_n -= n;
	memmove(w->in, w->in + n, w->in_n);
}

/* False: the server says nothing any more. */
static bool read_lines(struct watch *w)
{
	size_t room = w->in_n < sizeof(w->in) ? sizeof(w->in) - w->in_n : 0;
	ssize_t n = read(w->s->lines, w->in + w->in_n, room);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	w->in_n += (size_t)n;
	pass_lines(w);
	return n > 0;
}

/* False: nobody reads. */
static bool write_out(struct watch *w)
{
	size_t n = w->out_n < PIPE_BUF ? w->out_n : PIPE_BUF;
	ssize_t done = write(STDOUT_FILENO, w->out, n);

	if (done < 0)
		return errno == EINTR || errno == EAGAIN;
	w->out_n -= (size_t)done;
	memmove(w->out, w->out + done, w->out_n);
	pass_lines(w);
	return true;
}

/* --- what is to be done --------------------------------------------------- */

static bool remove_mounts(const struct watch *w)
{
	bool ok = true;

	for (unsigned i = 0; i < w->s->n; i++)
		ok &= mount_remove(w->s->at[i]);
	return ok;
}

static void begin_ending(struct watch *w)
{
	if (w->mounted)
		remove_mounts(w);
	w->mounted = false;
	if (w->phase != SERVING)
		return;
	w->phase = ENDING;
	w->until_ms = clock_ms() + SUPERVISE_END_MS;
	close(w->s->control);
}

/* Whoever is in it keeps it; from then on nothing here needs a right. */
static void detach_mount(struct watch *w)
{
	struct err err = {0};

	if (!w->mounted)
		return;
	if (!remove_mounts(w) || rights_to_look_on(w->s->who >= 0, &err) < 0) {
		put_out(w, VIEW_SAYS_ERROR, "the mount cannot be taken away");
		w->failed = true;
		begin_ending(w);
		return;
	}
	w->mounted = false;
	put_out(w, VIEW_SAYS_DETACHED, NULL);
}

static void take_line(struct watch *w)
{
	struct str line = {w->line, w->line_n};

	w->line_n = 0;
	if (str_is(line, VIEW_HELLO_DETACH)) {
		detach_mount(w);
		return;
	}
	put_out(w, VIEW_SAYS_ERROR, "the launcher says an unknown word");
	w->failed = true;
	begin_ending(w);
}

static void take_said(struct watch *w, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\n')
			take_line(w);
		else if (w->line_n < sizeof(w->line))
			w->line[w->line_n++] = text.p[i];
	}
}

static void read_stdin(struct watch *w)
{
	char text[256];
	ssize_t n = read(STDIN_FILENO, text, sizeof(text));

	if (n > 0)
		take_said(w, (struct str){text, (size_t)n});
	else if (n == 0 || (errno != EINTR && errno != EAGAIN))
		begin_ending(w);
}

static void reap_server(struct watch *w, pid_t *server)
{
	char text[96];
	int status = 0;

	if (*server == 0 || waitpid(*server, &status, WNOHANG) <= 0)
		return;
	*server = 0;
	begin_ending(w);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return;
	w->failed = true;
	if (WIFSIGNALED(status)) {
		snprintf(text, sizeof(text),
			 "the view's server was killed by signal %d",
			 WTERMSIG(status));
		while (read_lines(w) && w->in_n < sizeof(w->in))
			;
		put_out(w, VIEW_SAYS_ERROR, text);
	}
}

static void reap_servers(struct watch *w)
{
	bool gone = true;

	for (unsigned i = 0; i < w->s->n; i++) {
		reap_server(w, &w->s->server[i]);
		gone &= w->s->server[i] == 0;
	}
	if (gone)
		w->phase = GONE;
}

/* What cannot be closed does not begin. */
static void check_seal(struct watch *w)
{
	char text[SAY_LINE_MAX / 2];

	if (!w->who.failed || w->failed)
		return;
	snprintf(
		text, sizeof(text),
		"files are protected for the command, and its memory cannot be closed to others: %s",
		w->who.err.text);
	put_out(w, VIEW_SAYS_ERROR, text);
	w->failed = true;
	begin_ending(w);
}

static void read_signals(struct watch *w)
{
	struct signalfd_siginfo got;

	while (read(w->s->signals, &got, sizeof(got)) == sizeof(got))
		if (got.ssi_signo != SIGCHLD)
			begin_ending(w);
	reap_servers(w);
	who_step(&w->who);
	check_seal(w);
}

static void answer_server(struct watch *w)
{
	if (!who_answer(&w->who, w->s->who)) {
		close(w->s->who);
		w->s->who = -1;
	}
	check_seal(w);
	if (!w->who.is_open || w->said_open)
		return;
	w->said_open = true;
	put_out(w, VIEW_SAYS_UNSEALED, NULL);
}

/* --- the loop ------------------------------------------------------------- */

static int wait_ms(const struct watch *w)
{
	int64_t left_ms = w->until_ms - clock_ms();

	if (w->phase == SERVING)
		return -1;
	return left_ms > 0 ? (int)left_ms : 0;
}

/* One turn; false: all is said, or nobody listens. */
static bool turn_loop(struct watch *w)
{
	bool in = w->phase == SERVING;
	struct pollfd p[] = {
		{in ? STDIN_FILENO : -1, POLLIN, 0},
		{w->s->signals, POLLIN, 0},
		{w->s->lines >= 0 && w->in_n < sizeof(w->in) ? w->s->lines : -1,
		 POLLIN, 0},
		{w->out_n ? STDOUT_FILENO : -1, POLLOUT, 0},
		{w->s->who, POLLIN, 0},
	};
	int n = poll(p, sizeof(p) / sizeof(p[0]), wait_ms(w));

	if (n == 0 || (n < 0 && errno != EINTR))
		return false;
	if (n < 0)
		return true;
	if (p[2].revents && !read_lines(w)) {
		close(w->s->lines);
		w->s->lines = -1;
	}
	if (p[3].revents && !write_out(w)) {
		begin_ending(w);
		return false;
	}
	if (p[4].revents)
		answer_server(w);
	if (p[0].revents)
		read_stdin(w);
	if (p[1].revents)
		read_signals(w);
	return w->phase != GONE || w->s->lines >= 0 || w->out_n;
}

/* What does not end by itself is ended. */
static void end_servers(struct watch *w)
{
	begin_ending(w);
	for (unsigned i = 0; i < w->s->n; i++) {
		if (w->s->server[i] == 0)
			continue;
		kill(w->s->server[i], SIGKILL);
		waitpid(w->s->server[i], NULL, 0);
		w->failed = true;
	}
}

int supervise(struct supervise *s, struct str said)
{
	static struct watch w;

	w.s = s;
	w.mounted = true;
	w.who.program = s->program;
	take_said(&w, said);
	while (turn_loop(&w))
		;
	end_servers(&w);
	if (w.failed)
		return 1;
	say_event(STDOUT_FILENO, VIEW_SAYS_DONE);
	return 0;
}
