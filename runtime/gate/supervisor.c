/*
 * membrane-gate: the gate's PID 1. Starts the worker in the network namespace
 * it was given, moves into a new one, which is the agent's, and from then on
 * only watches: when the launcher's end of stdin closes, the worker dies or a
 * signal comes, everything ends at once, and with it the agent's only link.
 *
 * On stdin the launcher may say that the plan is another one now, in a line
 * "change N keep" or "change N cut" with the number that it is to have; and
 * what became of a renewal of tokens, "renewed ID JSON"; whether anybody may be
 * asked about what a policy leaves to that, "asking on" or "asking off", which
 * it is at first; and what was answered, "answer ID once", "yes", "no" or
 * "none". All are for the worker to do. Any other line ends the session.
 */
#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/signals.h"
#include "compiler/plan/gate.h"
#include "runtime/forward/forward.h"
#include "runtime/gate/parts.h"
#include "runtime/gate/packet/link.h"
#include "runtime/gate/plan/planfile.h"
#include "runtime/gate/relay.h"
#include "runtime/gate/told.h"
#include "runtime/gate/worker.h"
#include "version.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* For the worker: the link goes first, then it tells what is left. */
#define END_WAIT_MS 3000

struct supervisor {
	pid_t worker;
	const struct planfile_ports *published;
	int sockets[LIMIT_PUBLISHED]; /* the machine's, one for each of them */
	int pair, signals;
	bool watch_stdin;
	int status; /* to exit with */
	char line[GATE_RENEWED_MAX];
	size_t n_line;
};

static void print_usage(FILE *to)
{
	fputs("usage: membrane-gate [--check] [--plan DIR] [--resolver ADDR]\n"
	      "                     [--await-uplink | --sockets]\n"
	      "       membrane-gate --relay ADDR PORT\n",
	      to);
}

static int start_worker(struct supervisor *s, struct worker_args *args,
			struct err *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set(err, -errno, "socketpair: %s", strerror(errno));
	s->worker = fork();
	if (s->worker < 0)
		return err_set(err, -errno, "fork: %s", strerror(errno));
	if (s->worker == 0) {
		close(pair[0]);
		close(s->signals);
		args->supervisor = pair[1];
		exit(worker_run(args));
	}
	close(pair[1]);
	/* the worker's alone */
	if (args->broker)
		close(args->broker);
	s->pair = pair[0];
	return 0;
}

/* 0 when /proc does not say: then no tracer can be told. */
static uint32_t namespace_inode(const char *name)
{
	struct stat st;

	return stat(name, &st) < 0 ? 0 : (uint32_t)st.st_ino;
}

static int say_to_worker(struct supervisor *s, enum worker_word word,
			 struct err *err)
{
	struct worker_msg m = {.word = (uint8_t)word,
			       .netns = namespace_inode("/proc/self/ns/net"),
			       .pidns = namespace_inode("/proc/self/ns/pid")};

	if (send(s->pair, &m, sizeof(m), MSG_NOSIGNAL) != sizeof(m))
		return err_set(err, -EPIPE, "the worker is gone");
	return 0;
}

/* --- ports inside that the machine publishes ------------------------------ */

static int take_published(struct supervisor *s, struct err *err)
{
	auto_fd int from = -1;
	int rc;

	if (s->published->n == 0)
		return 0;
	if (LIMIT_PUBLISHED < s->published->n)
		return err_set(err, -EPROTO, "too many published ports");
	from = forward_connect(GATE_PUBLISHED, err);
	rc = from < 0 ? from
		      : forward_take(from, s->sockets, s->published->n, err);
	return rc < 0 ? err_while(err, "published ports") : 0;
}

/* In the agent's network, and without privileges by now: what it connects to
 * is the agent's loopback. */
static int start_forwarder(struct supervisor *s, struct err *err)
{
	pid_t pid;

	if (s->published->n == 0)
		return 0;
	pid = fork();
	if (pid < 0)
		return err_set(err, -errno, "fork: %s", strerror(errno));
	if (pid == 0) {
		close(s->pair);
		close(s->signals);
		close(STDIN_FILENO);
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0)
			forward_serve(s->sockets, s->published->v,
				      s->published->n);
		_exit(1);
	}
	for (uint32_t i = 0; i < s->published->n; i++)
		close(s->sockets[i]);
	return 0;
}

/* --- the worker ----------------------------------------------------------- */

/*
 * One message of the worker. -EPIPE when it is gone: it has said why, or
 * supervise_worker() will.
 */
static int on_message(struct supervisor *s, struct err *err)
{
	struct worker_msg m;
	int rc;

	if (recv(s->pair, &m, sizeof(m), 0) != sizeof(m))
		return err_set(err, -EPIPE, "the worker is gone");
	switch ((enum worker_word)m.word) {
	case WORKER_LINK:
		rc = link_agent_up(m.ipv6, err);
		if (rc < 0 || (rc = caps_drop(CAPS_NONE, err)) < 0 ||
		    (rc = start_forwarder(s, err)) < 0) {
			worker_complain(err->text);
			return rc;
		}
		return say_to_worker(s, WORKER_UP, err);
	case WORKER_READY:
		s->watch_stdin = true;
		return caps_drop(CAPS_NONE, err);
	case WORKER_AGENT:
	case WORKER_UP:
	case WORKER_CHANGE:
	case WORKER_RENEWED:
	case WORKER_LISTENS:
	case WORKER_ANSWER:
		break;
	}
	return err_set(err, -EPROTO, "the worker said %u", m.word);
}

/* True when the worker is no more. */
static bool reap_children(struct supervisor *s)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		if (pid == s->worker)
			s->worker = 0;
	return s->worker == 0;
}

/* True when the session is to end. */
static bool on_signal(struct supervisor *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			return true;
		if (reap_children(s)) {
			s->status = 1;
			return true;
		}
	}
	return false;
}

/* What is behind "renewed ", as it is. */
static bool pass_renewed(const struct supervisor *s, struct str rest)
{
	struct worker_msg m = {.word = WORKER_RENEWED};
	struct iovec parts[] = {{&m, sizeof(m)},
				{(void *)(uintptr_t)rest.p, rest.n}};
	struct msghdr h = {.msg_iov = parts, .msg_iovlen = ARRAY_LEN(parts)};

	return sendmsg(s->pair, &h, MSG_NOSIGNAL) ==
	       (ssize_t)(sizeof(m) + rest.n);
}

/* "change N keep", or "renewed …"; false for anything else. */
static bool pass_on(const struct supervisor *s, struct str line)
{
	struct worker_msg m;
	struct str word, rest = line;

	if (!str_field(&rest, ' ', &word))
		return false;
	if (str_is(word, "renewed"))
		return pass_renewed(s, rest);
	return told_parse(line, &m) &&
	       send(s->pair, &m, sizeof(m), MSG_NOSIGNAL) == sizeof(m);
}

/* False when the session is to end: nobody is there, or it makes no sense. */
static bool read_stdin(struct supervisor *s)
{
	char got[4096];
	ssize_t n = read(STDIN_FILENO, got, sizeof(got));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	for (ssize_t i = 0; i < n; i++) {
		if (got[i] != '\n') {
			if (s->n_line == sizeof(s->line))
				return false;
			s->line[s->n_line++] = got[i];
			continue;
		}
		if (!pass_on(s, (struct str){s->line, s->n_line}))
			return false;
		explicit_bzero(s->line, s->n_line);
		s->n_line = 0;
	}
	explicit_bzero(got, sizeof(got));
	return n > 0;
}

static void supervise_worker(struct supervisor *s)
{
	struct err err;

	for (;;) {
		struct pollfd p[] = {
			{s->signals, POLLIN, 0},
			{s->pair, POLLIN, 0},
			{s->watch_stdin ? STDIN_FILENO : -1, POLLIN, 0},
		};

		if (poll(p, ARRAY_LEN(p), -1) < 0 && errno != EINTR) {
			s->status = 1;
			return;
		}
		if (p[0].revents && on_signal(s))
			return;
		if (p[1].revents && on_message(s, &err) < 0) {
			s->status = 1;
			return;
		}
		if (p[2].revents && !read_stdin(s))
			return;
	}
}

/* Let the worker tell what is left, then make sure that it is gone. */
static void end_worker(struct supervisor *s)
{
	int64_t deadline_ms = clock_ms() + END_WAIT_MS;

	close(s->pair);
	while (s->worker && !reap_children(s)) {
		struct pollfd p = {s->signals, POLLIN, 0};
		struct signalfd_siginfo info;
		int64_t left_ms = deadline_ms - clock_ms();

		if (left_ms <= 0)
			break;
		if (poll(&p, 1, (int)left_ms) > 0)
			ignore(read(s->signals, &info, sizeof(info)));
	}
	if (s->worker) {
		kill(s->worker, SIGKILL);
		waitpid(s->worker, NULL, 0);
	}
}

static int run_supervisor(struct worker_args *args, struct err *err)
{
	static struct supervisor s; /* too large for a stack */
	int rc = planfile_vectors(args->plan, &args->vectors, err);

	if (rc < 0)
		return rc;
	s.published = &args->vectors.published;
	s.signals = signals_open(true, err);
	if (s.signals < 0)
		return s.signals;
	if ((rc = start_worker(&s, args, err)) < 0)
		return rc;
	/* Behind the fork: the worker has none of them. */
	rc = take_published(&s, err);
	if (rc == 0 && args->vectors.link == PLANFILE_VETH) {
		if (unshare(CLONE_NEWNET) < 0)
			rc = err_set(err, -errno, "a network for the agent: %s",
				     strerror(errno));
		else
			(void)say_to_worker(&s, WORKER_AGENT, err);
	}
	if (rc == 0)
		supervise_worker(&s);
	end_worker(&s);
	return rc < 0 ? rc : s.status;
}

/* Its stdout is what it relays. */
static int run_relay(char **words)
{
	struct err err;

	if (relay_stdio(words[0], words[1], &err) == 0)
		return 0;
	fprintf(stderr, "membrane-gate: %s\n", err.text);
	return 1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"await-uplink", no_argument, NULL, 'a'},
		{"sockets", no_argument, NULL, 's'},
		{"check", no_argument, NULL, 'c'},
		{"plan", required_argument, NULL, 'p'},
		{"relay", no_argument, NULL, 'r'},
		{"resolver", required_argument, NULL, 'n'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'v'},
		{0},
	};
	struct worker_args args = {.plan = GATE_PLAN, .start_ms = clock_ms()};
	bool check = false, relay = false;
	struct addr resolver;
	struct err err;
	int c, rc;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (c == 'a') {
			args.awaits_uplink = true;
		} else if (c == 's') {
			args.broker = GATE_BROKER_FD;
		} else if (c == 'c') {
			check = true;
		} else if (c == 'r') {
			relay = true;
		} else if (c == 'p') {
			args.plan = optarg;
		} else if (c == 'n' && addr_parse(str_of(optarg), &resolver)) {
			args.resolver = &resolver;
		} else if (c == 'v') {
			puts("membrane-gate " MEMBRANE_VERSION);
			return 0;
		} else {
			print_usage(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	if (argc - optind != (relay ? 2 : 0)) {
		print_usage(stderr);
		return 2;
	}
	if (relay)
		return run_relay(argv + optind);
	if (check)
		return worker_check(args.plan);
	rc = run_supervisor(&args, &err);
	if (rc < 0)
		worker_complain(err.text);
	return rc ? 1 : 0;
}
