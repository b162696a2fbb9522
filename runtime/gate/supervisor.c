/*
 * membrane-gate: the gate's PID 1. Starts the worker in the network namespace
 * it was given, moves into a new one, which is the agent's, and from then on
 * only watches: when the launcher's end of stdin closes, the worker dies or a
 * signal comes, everything ends at once, and with it the agent's only link.
 *
 * In a Pod it is the other way about: the Pod's network is the agent's, so PID
 * 1 stays there, and the worker goes into a new one and takes the wire along
 * (podlink.h). There is no launcher, and stdin says nothing. PID 1 lifts the
 * fence last, and says to probes that it is ready (ready.h).
 *
 * Where the agent is in another Pod there is no link at all: the worker listens
 * at this Pod's address, and is reached there as far as the cluster says.
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
#include "runtime/gate/options.h"
#include "runtime/gate/parts.h"
#include "runtime/gate/packet/fence.h"
#include "runtime/gate/packet/link.h"
#include "runtime/gate/packet/podlink.h"
#include "runtime/gate/plan/planfile.h"
#include "runtime/gate/ready.h"
#include "runtime/gate/relay.h"
#include "runtime/gate/told.h"
#include "runtime/gate/worker.h"
#include "version.h"

#include <errno.h>
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

_Static_assert(LIMIT_MACHINE_PORTS <= LIMIT_PUBLISHED,
	       "a socket for each port that a plan has");

struct supervisor {
	pid_t worker;
	const struct planfile_ports *published;
	int sockets[LIMIT_PUBLISHED]; /* the machine's, one for each of them */
	int pair, signals;
	bool pod, apart, watch_stdin;
	int status; /* to exit with */
	char line[GATE_RENEWED_MAX];
	size_t n_line;
};

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

static int say_to_worker(const struct supervisor *s, enum worker_word word,
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

	if (s->published->n == 0 || s->pod)
		return 0;
	from = forward_connect(GATE_PUBLISHED, err);
	rc = from < 0 ? from
		      : forward_take(from, s->sockets, s->published->n, err);
	return rc < 0 ? err_while(err, "published ports") : 0;
}

/* In the agent's network, and without privileges by now: what it connects to
 * is the agent's loopback. */
static int start_forwarder(struct supervisor *s, struct err *err)
{
	pid_t self = getpid(), pid;

	if (s->published->n == 0)
		return 0;
	pid = fork();
	if (pid < 0)
		return err_set(err, -errno, "fork: %s", strerror(errno));
	if (pid == 0) {
		close(s->pair);
		close(s->signals);
		close(STDIN_FILENO);
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == self)
			forward_serve(s->sockets, s->published->v,
				      s->published->n);
		_exit(1);
	}
	for (uint32_t i = 0; i < s->published->n; i++)
		close(s->sockets[i]);
	return 0;
}

/* --- the worker ----------------------------------------------------------- */

static int on_link(struct supervisor *s, bool ipv6, struct err *err)
{
	int rc = link_agent_up(ipv6, err);

	/* The fence of a Pod is lifted later, and takes a right. */
	if (rc == 0 && !s->pod && (rc = caps_drop(CAPS_NONE, err)) == 0)
		rc = start_forwarder(s, err);
	return rc < 0 ? rc : say_to_worker(s, WORKER_UP, err);
}

/* All that enforces is there: now the agent may have its link. */
static int open_pod(struct supervisor *s, struct err *err)
{
	int rc = 0;

	if (s->published->n)
		rc = forward_take(s->pair, s->sockets, s->published->n, err);
	if (rc < 0 || (rc = podlink_alone(err)) < 0 ||
	    (rc = fence_lift(err)) < 0 ||
	    (rc = caps_drop(CAPS_NONE, err)) < 0 ||
	    (rc = start_forwarder(s, err)) < 0 || (rc = ready_hold(err)) < 0)
		return rc;
	return say_to_worker(s, WORKER_OPEN, err);
}

static int open_apart(struct supervisor *s, struct err *err)
{
	int rc = caps_drop(CAPS_NONE, err);

	if (rc == 0)
		rc = ready_hold(err);
	return rc < 0 ? rc : say_to_worker(s, WORKER_OPEN, err);
}

static int on_ready(struct supervisor *s, struct err *err)
{
	if (s->apart)
		return open_apart(s, err);
	if (s->pod)
		return open_pod(s, err);
	s->watch_stdin = true;
	return caps_drop(CAPS_NONE, err);
}

/*
 * One message of the worker. -EPIPE when it is gone: it has said why, or
 * supervise_worker() will.
 */
static int on_message(struct supervisor *s, struct err *err)
{
	struct worker_msg m;
	int rc = 0;

	if (recv(s->pair, &m, sizeof(m), 0) != sizeof(m))
		return err_set(err, -EPIPE, "the worker is gone");
	switch ((enum worker_word)m.word) {
	case WORKER_LINK:
		rc = on_link(s, m.ipv6, err);
		break;
	case WORKER_READY:
		rc = on_ready(s, err);
		break;
	case WORKER_AGENT:
	case WORKER_UP:
	case WORKER_CHANGE:
	case WORKER_RENEWED:
	case WORKER_LISTENS:
	case WORKER_ANSWER:
	case WORKER_OPEN:
		return err_set(err, -EPROTO, "the worker said %u", m.word);
	}
	if (rc < 0 && rc != -EPIPE)
		worker_complain(err->text);
	return rc;
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
	while (!reap_children(s)) {
		struct pollfd p = {s->signals, POLLIN, 0};
		struct signalfd_siginfo info;
		int64_t left_ms = deadline_ms - clock_ms();

		if (left_ms <= 0)
			break;
		ignore(poll(&p, 1, (int)left_ms));
		ignore(read(s->signals, &info, sizeof(info)));
	}
	if (s->worker) {
		kill(s->worker, SIGKILL);
		waitpid(s->worker, NULL, 0);
	}
}

/* What a plan's vectors want, and what this gate was started as. */
static int check_link(struct worker_args *args, struct err *err)
{
	bool pod = args->uplink == UPLINK_POD;
	bool apart = args->uplink == UPLINK_APART;
	enum planfile_link link = args->vectors.link;

	if (apart != (link == PLANFILE_APART))
		return err_set(
			err, -EPROTO,
			"--link apart, and a plan of a gate in a Pod of its own: there is one without the other");
	if (!pod && link == PLANFILE_WIRE)
		return err_set(err, -EPROTO,
			       "this plan is a Pod's: --link wire");
	if (pod && link == PLANFILE_BRIDGE)
		return err_set(
			err, -EPROTO,
			"this plan's link is a Docker network, and a Pod has none");
	if (pod && args->vectors.host.n)
		return err_set(
			err, -EPROTO,
			"this plan has ports of the host, which a launcher opens, and a Pod has none");
	return 0;
}

static int read_vectors(struct worker_args *args, struct err *err)
{
	int rc = 0;

	if (args->sha256)
		rc = planfile_sealed(args->plan, str_of(args->sha256), err);
	if (rc == 0)
		rc = planfile_vectors(args->plan, &args->vectors, err);
	if (rc == 0)
		rc = check_link(args, err);
	if (args->uplink == UPLINK_POD)
		planfile_ports_sort(&args->vectors.published);
	return rc;
}

/* The agent's network; in a Pod it is the one that PID 1 is in. */
static int make_network(const struct supervisor *s, struct err *err)
{
	if (!s->pod && unshare(CLONE_NEWNET) < 0)
		return err_errno(err, "a network for the agent");
	/* The worker says why, if it is gone. */
	(void)say_to_worker(s, WORKER_AGENT, err);
	return 0;
}

/* The agent's, which is not there yet. */
static bool has_own_network(enum planfile_link link)
{
	switch (link) {
	case PLANFILE_VETH:
	case PLANFILE_WIRE:
		return true;
	case PLANFILE_BRIDGE:
	case PLANFILE_APART:
		break;
	}
	return false;
}

static int run_supervisor(struct worker_args *args, struct err *err)
{
	static struct supervisor s; /* too large for a stack */
	int rc = read_vectors(args, err);

	if (rc < 0)
		return rc;
	s.pod = args->uplink == UPLINK_POD;
	s.apart = args->uplink == UPLINK_APART;
	s.published = &args->vectors.published;
	s.signals = signals_open(true, err);
	if (s.signals < 0)
		return s.signals;
	if ((rc = start_worker(&s, args, err)) < 0)
		return rc;
	/* Behind the fork: the worker has none of them. */
	rc = take_published(&s, err);
	if (rc == 0 && has_own_network(args->vectors.link))
		rc = make_network(&s, err);
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

static int run_fence(void)
{
	struct err err;

	if (fence_raise(&err) == 0)
		return 0;
	worker_complain(err.text);
	return 1;
}

static int run_gate(struct options *o)
{
	static char folder[PLANFILE_PATH_MAX];
	struct err err;
	int rc = 0;

	/* Whoever has raised it before: from here on, all that goes wrong
	 * leaves the Pod shut. */
	if (o->args.uplink == UPLINK_POD)
		rc = fence_raise(&err);
	if (rc == 0 && uplink_of_pod(o->args.uplink)) {
		rc = planfile_folder(o->args.plan, folder, &err);
		o->args.plan = folder;
	}
	if (rc == 0)
		rc = run_supervisor(&o->args, &err);
	if (rc < 0)
		worker_complain(err.text);
	return rc ? 1 : 0;
}

int main(int argc, char **argv)
{
	static struct options o = {.args = {.plan = GATE_PLAN}};

	o.args.start_ms = clock_ms();
	if (!options_parse(argc, argv, &o)) {
		options_usage(stderr);
		return 2;
	}
	switch (o.act) {
	case OPTIONS_GATE:
		return run_gate(&o);
	case OPTIONS_CHECK:
		return worker_check(o.args.plan);
	case OPTIONS_RELAY:
		return run_relay(o.words);
	case OPTIONS_FENCE:
		return run_fence();
	case OPTIONS_READY:
		return ready_held() ? 0 : 1;
	case OPTIONS_HELP:
		options_usage(stdout);
		return 0;
	case OPTIONS_VERSION:
		puts("membrane-gate " MEMBRANE_VERSION);
		return 0;
	}
	return 2;
}
