/*
 * The command's streams.
 *
 * Without a terminal its output is the container's log, followed: all of it
 * comes, also what was printed before anybody could attach, as one stream. Its
 * stdin is a kubectl of its own. With a terminal it is attached to; of what was
 * printed before there is the log.
 */
#include "runtime/launch/pod/parts.h"

#include "compiler/base/sys/fileio.h"
#include "runtime/launch/loop/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define NULL_MAJOR 1u /* /dev/null */
#define NULL_MINOR 3u

/* A terminal whose output goes elsewhere is not read: who is there types to
 * whatever reads that. */
static bool has_input(void)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) < 0 || isatty(STDIN_FILENO))
		return false;
	return !S_ISCHR(st.st_mode) ||
	       st.st_rdev != makedev(NULL_MAJOR, NULL_MINOR);
}

void pod_streams_wish(struct pod_wish *wish)
{
	wish->tty = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	wish->input = wish->tty || has_input();
}

static void start_child(struct pod *p, const char *const *words,
			struct proc_opts *o, pid_t *out)
{
	struct err err;

	if (kubectl_start(p->a, &p->objects.at, words, o, out, &err) < 0)
		pod_fail(p, &err);
	else
		watchdog_tell(&p->watchdog, *out);
}

static void follow_output(struct pod *p, bool is_first)
{
	/* what was printed meanwhile is told of, and not told twice */
	const char *words[] = {"logs",
			       "--follow",
			       "--container=agent",
			       arena_cstr(p->a, p->objects.name),
			       is_first ? NULL : "--tail=0",
			       NULL};
	struct proc_opts o = {.group = PROC_GROUP,
			      .in = -1,
			      .out = -1,
			      .err = -1,
			      .keep = -1};

	start_child(p, words, &o, &p->output);
}

static void send_input(struct pod *p)
{
	const char *words[] = {"attach", "--stdin", "--container=agent",
			       arena_cstr(p->a, p->objects.name), NULL};
	auto_fd int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct proc_opts o = {.group = PROC_GROUP,
			      .in = -1,
			      .out = null,
			      .err = null,
			      .keep = -1};

	start_child(p, words, &o, &p->input);
}

/* The container's log, but for what of it was printed before. */
static void print_log(struct pod *p)
{
	const char *words[] = {"logs", "--container=agent",
			       arena_cstr(p->a, p->objects.name), NULL};
	struct kubectl_call c = {.words = words, .timeout_ms = OBJECTS_MS};
	struct err err;

	if (kubectl_do(p->a, &p->objects.at, &c, &err) < 0 ||
	    c.text.n <= p->printed)
		return;
	if (fileio_write_all(STDOUT_FILENO,
			     str_slice(c.text, p->printed, c.text.n),
			     &err) < 0)
		pod_fail(p, &err);
	p->printed = c.text.n;
}

/* In our own group: the terminal is for whoever is in front of it. What kubectl
 * itself has to say of it ("try pressing enter") is kept for a failure. */
static void attach_terminal(struct pod *p)
{
	const char *words[] = {"attach", "--stdin", "--tty",
			       "--container=agent",
			       arena_cstr(p->a, p->objects.name), NULL};
	struct proc_opts o = {.group = PROC_SAME,
			      .in = -1,
			      .out = -1,
			      .err = -1,
			      .keep = -1};

	fd_close(&p->complaint);
	o.err = p->complaint = memfd_create("complaint", MFD_CLOEXEC);

	print_log(p);
	start_child(p, words, &o, &p->output);
}

static void fail_output(struct pod *p)
{
	char room[KUBECTL_COMPLAINT_MAX];
	ssize_t n = p->complaint < 0
			    ? 0
			    : pread(p->complaint, room, sizeof(room), 0);
	struct str last =
		kubectl_last_line((struct str){room, n > 0 ? (size_t)n : 0});
	struct err err;

	if (last.n)
		err_set(&err, -EREMOTEIO,
			"the command's output cannot be followed: kubectl: %.*s",
			STR_ARG(last));
	else
		err_set(&err, -EREMOTEIO,
			"the command's output cannot be followed: kubectl ended with status %d",
			p->output_status);
	pod_fail(p, &err);
}

static void begin_output(struct pod *p, bool is_first)
{
	if (p->wish.tty && p->seen.of[SEEN_AGENT].state == SEEN_RUNS)
		attach_terminal(p);
	else if (p->wish.tty)
		print_log(p);
	else
		follow_output(p, is_first);
}

void pod_streams_begin(struct pod *p)
{
	progress_clear(&p->run);
	if (p->wish.input && !p->wish.tty &&
	    p->seen.of[SEEN_AGENT].state == SEEN_RUNS)
		send_input(p);
	p->output_again = (struct pod_again){.begun_ms = clock_ms()};
	begin_output(p, true);
}

bool pod_streams_ended(struct pod *p, pid_t pid, int status)
{
	if (pid == p->input) {
		p->input = 0;
		return true;
	}
	if (pid != p->output)
		return false;
	p->output = 0;
	p->output_status = proc_status(status);
	p->output_again.next_ms = clock_ms() + POD_AGAIN_MS;
	return true;
}

static void try_output(struct pod *p)
{
	bool is_first = p->output_again.vain_ms == 0;

	switch (pod_again(&p->output_again)) {
	case POD_NEXT_WAIT:
		return;
	case POD_NEXT_FAIL:
		fail_output(p);
		return;
	case POD_NEXT_TRY:
		break;
	}
	if (!p->wish.tty && is_first)
		fprintf(stderr,
			"membrane: the connection to the command was cut: what it printed meanwhile is in 'kubectl logs'\n");
	begin_output(p, false);
}

/* Its end comes with the container's, of which the watch tells later, unless a
 * connection was cut. */
void pod_streams_tend(struct pod *p)
{
	if (p->output_again.next_ms == 0)
		return;
	if (p->state != POD_RUNS) {
		p->output_again.next_ms = 0;
		/* it ended before it was attached to */
		if (p->state == POD_OUTPUT && p->wish.tty &&
		    p->output_status != 0)
			print_log(p);
		return;
	}
	if (clock_ms() >= p->output_again.next_ms)
		try_output(p);
}

bool pod_streams_are_over(const struct pod *p)
{
	return p->output == 0 && p->output_again.next_ms == 0;
}

static void end_child(pid_t *pid)
{
	if (*pid == 0)
		return;
	kill(*pid, SIGTERM);
	while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
		;
	*pid = 0;
}

void pod_streams_done(struct pod *p)
{
	end_child(&p->input);
	end_child(&p->output);
	fd_close(&p->complaint);
}
