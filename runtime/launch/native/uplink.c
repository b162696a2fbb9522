/*
 * How the gate gets out, by a process beside it that dies with the launcher. A
 * broker makes, here and as the user, the sockets that HAProxy and the resolver
 * ask for (runtime/broker). Or a program has a tap device in the gate's network
 * (tap.c).
 */
#include "runtime/launch/native/native.h"
#include "runtime/launch/native/parts.h"

#include "compiler/base/sys/proc.h"
#include "runtime/broker/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BROKER	  "the broker of sockets"
#define LOG_BYTES 16384

int uplink_find(struct arena *a, const struct native_place *place,
		struct uplink *out, struct err *err)
{
	*out = UPLINK_NONE;
	out->sockets = place->sockets;
	out->proxy = place->proxy;
	out->program = place->sockets ? BROKER : native_uplink_program(a);
	if (out->sockets)
		return 0;
	if (!out->program)
		return err_set(
			err, -ENOENT,
			"networks and UDP need 'pasta' or 'slirp4netns', and neither is here (Debian and Ubuntu: apt-get install passt; Fedora: dnf install passt); or 'engine: docker'");
	if (access("/dev/net/tun", R_OK | W_OK) < 0)
		return err_set(
			err, -errno,
			"networks and UDP need a device of /dev/net/tun: %s (%s); or 'engine: docker'",
			strerror(errno),
			errno == ENOENT ? "modprobe tun"
					: "chmod 666 /dev/net/tun");
	return 0;
}

/* A SIGPIPE that is ignored pasta takes for an error. */
static _Noreturn void execute(const char *program, char *const *argv,
			      pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 &&
	    getppid() == parent && signal(SIGPIPE, SIG_DFL) != SIG_ERR)
		execv(program, argv);
	fprintf(stderr, "%s: %s\n", program, strerror(errno));
	_exit(127);
}

/* True once the program has ended; false: the launcher has, before. */
static bool outlives(pid_t program, int launcher)
{
	auto_fd int it = (int)syscall(SYS_pidfd_open, program, 0);
	struct pollfd p[] = {{it, POLLIN, 0}, {launcher, POLLIN, 0}};

	while (it >= 0 && poll(p, ARRAY_LEN(p), -1) < 0 && errno == EINTR)
		;
	return p[0].revents != 0;
}

/*
 * Between us and the program, which is to end with it. AppArmor's profile for
 * pasta (Debian 13) takes signals from who has no profile alone, and we have one
 * where the package is installed (debian/apparmor): so what is waited for is
 * this, and without a launcher it takes the program's device away, too.
 */
static int become_program(void *ctx, char *const *argv)
{
	const struct uplink *u = ctx;
	pid_t self = getpid(), pid = -1;
	int launcher, status;

	proc_close_others(-1, -1); /* nothing executed closes them here */
	prctl(PR_SET_NAME, "membrane-uplink");
	launcher = (int)syscall(SYS_pidfd_open, u->launcher, 0);
	if (launcher >= 0 && getppid() == u->launcher)
		pid = fork();
	if (pid == 0)
		execute(u->program, argv, self);
	if (pid < 0) {
		fprintf(stderr, "%s: %s\n", u->program, strerror(errno));
		return 127;
	}
	if (!outlives(pid, launcher)) {
		kill(pid, SIGKILL);
		return -tap_remove(STDIN_FILENO, STDOUT_FILENO);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 127;
	return proc_status(status);
}

struct broker_start {
	int channel;
	const struct broker_proxy *proxy;
};

static int become_broker(void *ctx, char *const *ignored)
{
	const struct broker_start *s = ctx;

	(void)ignored;
	proc_close_others(s->channel, -1);
	prctl(PR_SET_NAME, "membrane-broker");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0)
		broker_serve(s->channel, s->proxy);
	if (!errno)
		return 0;
	fprintf(stderr, BROKER ": %s\n", strerror(errno));
	return 127;
}

/* In a session of its own, with what goes wrong in the log: that is no file of
 * a folder's, which a profile of AppArmor's for the program would have to know.
 * in, out: -1: ours, and the log. */
static int start_beside(struct uplink *u, const struct proc_opts *given,
			const char *const *words, struct err *err)
{
	struct proc_opts o = *given;

	u->log = memfd_create("uplink", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	/* What the agent sends can make it say something without end. */
	if (u->log < 0 || ftruncate(u->log, LOG_BYTES) < 0 ||
	    fcntl(u->log, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) < 0)
		return err_errno(err, "what the gate's uplink says");
	o.argv = (char *const *)(uintptr_t)words;
	o.group = PROC_SESSION;
	o.out = given->out < 0 ? u->log : given->out;
	o.err = u->log;
	o.keep = -1;
	return proc_spawn(&o, &u->pid, err);
}

int uplink_broker(struct uplink *u, int *out_channel, struct err *err)
{
	static const char *const words[] = {BROKER, NULL};
	struct broker_start start = {.proxy = &u->proxy};
	struct proc_opts o = {
		.in = -1, .out = -1, .run = become_broker, .ctx = &start};
	int pair[2], rc;

	*out_channel = -1;
	if (!u->sockets)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(err, "socketpair");
	start.channel = pair[0];
	rc = start_beside(u, &o, words, err);
	close(pair[0]);
	if (rc < 0)
		close(pair[1]);
	else
		*out_channel = pair[1];
	return rc;
}

int uplink_start(struct uplink *u, int users, int network, struct err *err)
{
	struct proc_opts o = {
		.in = users, .out = network, .run = become_program, .ctx = u};
	const char *words[TAP_WORDS];

	if (u->sockets)
		return 0;
	u->launcher = getpid();
	u->users = fcntl(users, F_DUPFD_CLOEXEC, 0);
	u->network = fcntl(network, F_DUPFD_CLOEXEC, 0);
	if (u->users < 0 || u->network < 0)
		return err_errno(err, "the gate's namespaces");
	tap_words(u->program, geteuid() == 0, words);
	return start_beside(u, &o, words, err);
}

/* What it said last, if there was room; not that it has no syslog to say it to. */
static int say_ended(const struct uplink *u, int status, struct err *err)
{
	static const struct str noise = STR_INIT("Failed to send ");
	char text[LOG_BYTES], how[PROC_STATUS_TEXT_MAX];
	ssize_t n = pread(u->log, text, sizeof(text), 0);
	struct str rest = {text, n > 0 ? strnlen(text, (size_t)n) : 0}, line,
		   last = STR("it said nothing");

	while (str_line(&rest, &line))
		if (line.n && !str_starts(line, noise))
			last = line;
	return err_set(err, -ENETDOWN, "the gate's uplink ended (%s): %.*s",
		       proc_status_text(proc_status(status), how),
		       STR_ARG(last));
}

int uplink_check(struct uplink *u, struct err *err)
{
	int status;

	if (u->pid <= 0 || waitpid(u->pid, &status, WNOHANG) != u->pid)
		return 0;
	u->pid = 0;
	/* a gate that is gone asks nobody, and says so itself */
	return u->sockets && status == 0 ? 0 : say_ended(u, status, err);
}

/* Who goes into those namespaces cannot come back. */
static int become_remover(void *ctx, char *const *ignored)
{
	const struct uplink *u = ctx;

	(void)ignored;
	return -tap_remove(u->users, u->network);
}

/* Whatever became of the process between: killed by itself it leaves a program
 * that no signal reaches. */
static void remove_tap(struct uplink *u)
{
	static const char *const words[] = {"the end of a tap device", NULL};
	struct proc_opts o = {.argv = (char *const *)(uintptr_t)words,
			      .in = -1,
			      .out = -1,
			      .err = u->log,
			      .keep = -1,
			      .run = become_remover,
			      .ctx = u};
	struct err ignored;
	pid_t pid;

	if (proc_spawn(&o, &pid, &ignored) == 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
}

void uplink_end(struct uplink *u)
{
	if (u->network >= 0)
		remove_tap(u);
	if (u->pid > 0) {
		kill(u->pid, SIGKILL);
		while (waitpid(u->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	u->pid = 0;
	fd_close(&u->log);
	fd_close(&u->users);
	fd_close(&u->network);
	u->log = u->users = u->network = -1;
}
