/*
 * How the gate gets out: pasta, a program that has a tap device in the gate's
 * network and makes its connections here, as the user. It has none of the
 * host's ports, no way to the host's loopback, and dies with the launcher.
 * https://passt.top/passt/about/#pasta-pack-a-subtle-tap-abstraction
 */
#include "runtime/launch/native/native.h"
#include "runtime/launch/native/parts.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "pasta"
#define WORDS	"uplink.log"

/* Beside PATH: a user's often has none of the system's folders. */
static const char *const folders[] = {"/usr/bin", "/usr/sbin", "/bin",
				      "/usr/local/bin"};

const char *native_uplink_program(struct arena *a)
{
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		const char *path = arena_fmt(a, "%s/" PROGRAM, folders[i]).p;

		if (access(path, X_OK) == 0)
			return path;
	}
	return NULL;
}

int uplink_find(struct arena *a, const char *dir, struct uplink *out,
		struct err *err)
{
	*out = (struct uplink){.program = native_uplink_program(a),
			       .log = arena_fmt(a, "%s/" WORDS, dir).p};
	if (!out->program)
		return err_set(
			err, -ENOENT,
			"the native engine needs 'pasta', and it is not here (Debian and Ubuntu: apt-get install passt; Fedora: dnf install passt); or 'engine: docker'");
	if (access("/dev/net/tun", R_OK | W_OK) < 0)
		return err_set(
			err, -errno,
			"the native engine's uplink needs /dev/net/tun: %s (%s); or 'engine: docker'",
			strerror(errno),
			errno == ENOENT ? "modprobe tun"
					: "chmod 666 /dev/net/tun");
	return 0;
}

static int become_uplink(void *ctx, char *const *argv)
{
	const struct uplink *u = ctx;

	/* one that was ignored it takes for an error */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 &&
	    signal(SIGPIPE, SIG_DFL) != SIG_ERR)
		execv(u->program, argv);
	fprintf(stderr, "%s: %s\n", u->program, strerror(errno));
	return 127;
}

int uplink_start(struct uplink *u, pid_t holder, struct err *err)
{
	char users[64], net[64];
	const char *words[] = {
		PROGRAM, "--foreground", "--quiet", "--config-net",
		"--tcp-ports=none", "--udp-ports=none", "--tcp-ns=none",
		"--udp-ns=none", "--no-map-gw", "--no-dhcp", "--no-dhcpv6",
		"--no-ra", "--userns", users, "--netns", net,
		/* root would be nobody, who may not look at the
		 * session; anybody else is who they are */
		geteuid() == 0 ? "--runas" : NULL, "0", NULL};
	struct proc_opts o = {.argv = (char *const *)(uintptr_t)words,
			      .group = PROC_SESSION,
			      .in = -1,
			      .out = -1,
			      .err = -1,
			      .keep = -1,
			      .run = become_uplink,
			      .ctx = u};
	auto_fd int log =
		fileio_create(AT_FDCWD, u->log, O_WRONLY | O_APPEND, 0600);

	if (log < 0)
		return err_errno(err, u->log);
	snprintf(users, sizeof(users), "/proc/%ld/ns/user", (long)holder);
	snprintf(net, sizeof(net), "/proc/%ld/ns/net", (long)holder);
	o.out = o.err = log;
	return proc_spawn(&o, &u->pid, err);
}

/* What it said last; but not that it has no syslog to say it to. */
static int say_ended(const struct uplink *u, int status, struct err *err)
{
	static const struct str noise = STR_INIT("Failed to send ");
	char text[4096], how[PROC_STATUS_TEXT_MAX];
	auto_fd int fd = open(u->log, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));
	struct str rest = {text, n > 0 ? (size_t)n : 0}, line,
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
	return say_ended(u, status, err);
}

void uplink_end(struct uplink *u)
{
	if (u->pid <= 0)
		return;
	kill(u->pid, SIGKILL);
	while (waitpid(u->pid, NULL, 0) < 0 && errno == EINTR)
		;
	u->pid = 0;
}
