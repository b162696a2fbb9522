#include "runtime/gate/l7/haproxy.h"

#include "compiler/base/sys/clock.h"
#include "compiler/plan/gate.h"
#include "runtime/broker/broker.h"
#include "runtime/gate/l7/admin.h"
#include "runtime/gate/l7/user.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define FIRST_FD    10 /* what it inherits, in a row */
#define BROKER_FD   (FIRST_FD + LISTENERS)
#define DOOR_FD	    (BROKER_FD + 1)
#define ABOVE_FD    40 /* where that does not collide */
#define BACKLOG	    1024
#define IPV6_TRANSP 75 /* IPV6_TRANSPARENT, linux/in6.h */

enum listener {
	LISTENER_RAW4,
	LISTENER_RAW6,
	LISTENER_HTTP4,
	LISTENER_HTTP6,
	LISTENER_NETS4,
	LISTENER_NETS6,
	LISTENER_ASK4,
	LISTENER_ASK6,
	LISTENERS
};

_Static_assert(LISTENERS == HAPROXY_PORTS, "one descriptor for each");

static const struct {
	const char *variable;
	bool v6;
	uint16_t port;
} listeners[LISTENERS] = {
	{GATE_ENV_RAW4, false, GATE_PORT_RAW},
	{GATE_ENV_RAW6, true, GATE_PORT_RAW},
	{GATE_ENV_HTTP4, false, GATE_PORT_HTTP},
	{GATE_ENV_HTTP6, true, GATE_PORT_HTTP},
	{GATE_ENV_NETS4, false, GATE_PORT_NETS},
	{GATE_ENV_NETS6, true, GATE_PORT_NETS},
	{GATE_ENV_ASK4, false, GATE_PORT_ASK},
	{GATE_ENV_ASK6, true, GATE_PORT_ASK},
};

struct start {
	const char *config;
	const struct haproxy_ports *ports;
	int broker; /* its channel; -1 */
	int door;   /* -1 */
	int words;
	pid_t parent;
	char env_fds[LISTENERS][32];
	char env_broker[32], env_door[32], env_family[32];
	const char *env[5 + LISTENERS + HELLO_CREDENTIALS_MAX + 1];
};

/* --- the sockets --------------------------------------------------------- */

static int bind_v4(int fd, uint32_t addr, uint16_t port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(addr)};

	return bind(fd, (struct sockaddr *)&sa, sizeof(sa));
}

static int bind_v6(int fd, uint16_t port)
{
	struct sockaddr_in6 sa = {.sin6_family = AF_INET6,
				  .sin6_port = htons(port),
				  .sin6_addr = in6addr_any};
	int on = 1;

	if (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0 ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_TRANSP, &on, sizeof(on)) < 0)
		return -1;
	return bind(fd, (struct sockaddr *)&sa, sizeof(sa));
}

/*
 * What HAProxy sends to the agent crosses no network: it is never lost, and
 * what a machine chose for its own (bbr paces by a timer) makes it half as
 * quick. Reno is in every kernel and anybody's, and may be refused all the
 * same: then it is slower. Those that are accepted have it of their listener.
 */
static void unpaced(int fd)
{
	static const char reno[] = "reno";

	(void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, reno, sizeof(reno));
}

/*
 * Where there is no IPv6 the configuration still names its sockets: one that
 * nothing can reach, on loopback, takes the place.
 */
static int listen_on(bool v6, uint16_t port, int *out, struct err *err)
{
	int on = 1;
	auto_fd int fd = socket(v6 ? AF_INET6 : AF_INET,
				SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc;

	if (fd < 0 && v6 && errno == EAFNOSUPPORT) {
		v6 = false;
		port = 0;
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			    0);
	}
	if (fd < 0)
		return err_set(err, -errno, "a socket for HAProxy: %s",
			       strerror(errno));
	unpaced(fd);
	rc = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (rc == 0)
		rc = v6 ? bind_v6(fd, port)
			: bind_v4(fd, port ? INADDR_ANY : INADDR_LOOPBACK,
				  port);
	if (rc < 0 || listen(fd, BACKLOG) < 0 ||
	    (*out = fcntl(fd, F_DUPFD_CLOEXEC, ABOVE_FD)) < 0)
		return err_set(err, -errno, "port %u for HAProxy: %s", port,
			       strerror(errno));
	return 0;
}

int haproxy_listen(struct haproxy_ports *ports, struct err *err)
{
	int rc = 0;
	size_t n;

	if (ports->open || ports->own)
		return 0;
	for (n = 0; rc == 0 && n < LISTENERS; n++)
		rc = listen_on(listeners[n].v6, listeners[n].port,
			       &ports->fds[n], err);
	ports->open = rc == 0;
	while (rc < 0 && n-- > 1)
		close(ports->fds[n - 1]);
	return rc;
}

/* --- the child ----------------------------------------------------------- */

static void raise_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
}

/* Nothing here may allocate or return: exec, or status 127. */
static void become_haproxy(const struct start *s)
{
	char *argv[] = {(char *)(uintptr_t) "haproxy",
			(char *)(uintptr_t) "-db", (char *)(uintptr_t) "-f",
			(char *)(uintptr_t)s->config, NULL};
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL);
	raise_files();
	if (dup2(null, STDIN_FILENO) < 0 || dup2(s->words, STDOUT_FILENO) < 0 ||
	    dup2(s->words, STDERR_FILENO) < 0)
		_exit(127);
	for (int i = 0; s->ports->open && i < LISTENERS; i++)
		if (dup2(s->ports->fds[i], FIRST_FD + i) < 0)
			_exit(127);
	if ((s->broker >= 0 && dup2(s->broker, BROKER_FD) < 0) ||
	    (s->door >= 0 && dup2(s->door, DOOR_FD) < 0))
		_exit(127);
	/* from root to another user: every capability goes with it */
	if ((!s->ports->own && user_become(GATE_UID, GATE_UID) < 0) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != s->parent ||
	    sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		_exit(127);
	execve(HAPROXY_PROGRAM, argv, (char **)(uintptr_t)s->env);
	dprintf(STDERR_FILENO, "[ALERT] " HAPROXY_PROGRAM ": %s\n",
		strerror(errno));
	_exit(127);
}

static int prepare_start(struct start *s, int *out_words,
			 const struct hello_credentials *secrets,
			 struct err *err)
{
	size_t n = 0;
	int pair[2];

	if (pipe2(pair, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_set(err, -errno, "pipe: %s", strerror(errno));
	*out_words = pair[0];
	s->words = fcntl(pair[1], F_DUPFD_CLOEXEC, ABOVE_FD);
	close(pair[1]);
	if (s->words < 0)
		return err_set(err, -errno, "pipe: %s", strerror(errno));
	if (s->ports->own) {
		snprintf(s->env_family, sizeof(s->env_family),
			 GATE_ENV_FAMILY "=%s", s->ports->family);
		s->env[n++] = s->env_family;
	}
	if (s->ports->ipv6)
		s->env[n++] = GATE_ENV_IPV6 "=1";
	for (size_t i = 0; s->ports->open && i < LISTENERS; i++) {
		snprintf(s->env_fds[i], sizeof(s->env_fds[i]), "%s=fd@%d",
			 listeners[i].variable, FIRST_FD + (int)i);
		s->env[n++] = s->env_fds[i];
	}
	if (s->broker >= 0) {
		snprintf(s->env_broker, sizeof(s->env_broker),
			 GATE_ENV_BROKER "=%d", BROKER_FD);
		s->env[n++] = s->env_broker;
	}
	if (s->door >= 0) {
		snprintf(s->env_door, sizeof(s->env_door), GATE_ENV_DOOR "=%d",
			 DOOR_FD);
		s->env[n++] = s->env_door;
	}
	/* gate.cfg is refused where this could not be loaded. */
	s->env[n++] = "LD_PRELOAD=" HAPROXY_READER;
	for (uint32_t i = 0; i < secrets->n; i++)
		s->env[n++] = secrets->v[i];
	s->env[n] = NULL;
	return 0;
}

/* One of its own: nobody else reads what it asked for. */
static int take_channel(struct start *s, struct err *err)
{
	int fd, rc = 0;

	if (!s->ports->broker)
		return 0;
	fd = broker_channel(s->ports->broker);
	if (fd >= 0)
		s->broker = fcntl(fd, F_DUPFD_CLOEXEC, ABOVE_FD);
	if (s->broker < 0)
		rc = err_set(err, -errno, "the broker of sockets: %s",
			     strerror(errno));
	fd_close(&fd);
	return rc;
}

static int make_door(struct start *s, struct err *err)
{
	auto_fd int fd = -1;

	if (!s->ports->open)
		return 0;
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0 || (s->door = fcntl(fd, F_DUPFD_CLOEXEC, ABOVE_FD)) < 0)
		return err_errno(err, "eventfd");
	return 0;
}

struct haproxy haproxy_none(void)
{
	return (struct haproxy){.pidfd = -1, .words = -1, .door = -1};
}

int haproxy_start(struct haproxy *h, const struct haproxy_ports *ports,
		  const char *config, const struct hello_credentials *secrets,
		  struct err *err)
{
	struct start s = {.config = config,
			  .ports = ports,
			  .broker = -1,
			  .door = -1,
			  .words = -1,
			  .parent = getpid()};
	int rc;

	*h = haproxy_none();
	h->secrets = secrets;
	rc = take_channel(&s, err);
	if (rc == 0)
		rc = make_door(&s, err);
	h->door = s.door;
	if (rc == 0)
		rc = prepare_start(&s, &h->words, secrets, err);
	if (rc == 0) {
		pid_t pid = fork();

		if (pid == 0)
			become_haproxy(&s);
		if (pid > 0)
			h->pid = pid;
		else
			rc = err_set(err, -errno, "fork: %s", strerror(errno));
	}
	fd_close(&s.words);
	fd_close(&s.broker);
	if (rc < 0)
		return rc;
	h->pidfd = (int)syscall(SYS_pidfd_open, h->pid, 0);
	if (h->pidfd < 0)
		return err_set(err, -errno, "watching HAProxy: %s",
			       strerror(errno));
	return 0;
}

/* --- what it says -------------------------------------------------------- */

/* A credential must not leave with an error that quotes it. */
static void strike_out(const struct haproxy *h, char *text)
{
	for (uint32_t i = 0; h->secrets && i < h->secrets->n; i++) {
		const char *value = strchr(h->secrets->v[i], '=') + 1;
		size_t n = strlen(value);
		char *at;

		while ((at = strstr(text, value)))
			memset(at, '*', n);
	}
}

static void take_line(struct haproxy *h)
{
	h->line[h->n_line] = '\0';
	h->n_line = 0;
	strike_out(h, h->line);
	/* The first says what is wrong, the last that something is; that an
	 * action ended with its client is nothing. */
	if (strstr(h->line, "[ALERT]") && !strstr(h->line, "Lua function") &&
	    !h->alert[0])
		snprintf(h->alert, sizeof(h->alert), "%.*s",
			 (int)sizeof(h->alert) - 1, h->line);
}

void haproxy_read(struct haproxy *h)
{
	char c;

	while (h->words >= 0) {
		ssize_t n = read(h->words, &c, 1);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			fd_close(&h->words);
			h->words = -1;
		}
		if (n <= 0 || c == '\n' || h->n_line == sizeof(h->line) - 1)
			take_line(h);
		if (n > 0 && c != '\n')
			h->line[h->n_line++] = c;
	}
}

const char *haproxy_words(const struct haproxy *h)
{
	return h->alert[0] ? h->alert : "it said nothing";
}

/* --- its life ------------------------------------------------------------ */

static bool has_ended(const struct haproxy *h, int timeout_ms)
{
	struct pollfd p = {h->pidfd, POLLIN, 0};

	return poll(&p, 1, timeout_ms) > 0;
}

static int say_ended(struct haproxy *h, struct err *err)
{
	haproxy_read(h);
	return err_set(err, -EPIPE, "HAProxy ended: %s", haproxy_words(h));
}

/* Does the answer to "show info" come from this process? */
static bool is_from(const struct haproxy *h, const char *answer)
{
	char line[32];

	snprintf(line, sizeof(line), "\nPid: %d\n", (int)h->pid);
	return strstr(answer, line) != NULL;
}

/* Nobody is there yet, or who was hung up: whether it has ended, its own
 * descriptor says a moment later. */
static bool is_unanswered(int rc, size_t n)
{
	return rc == -ENOENT || rc == -ECONNREFUSED || rc == -ETIMEDOUT ||
	       rc == -ECONNRESET || rc == -EPIPE || (rc == 0 && n == 0);
}

/* It listens before it answers, and another may do both before it. */
static int look_for_map(const struct haproxy *h, const char *admin,
			const char *map, struct err *err)
{
	char ask[160], answer[ADMIN_ANSWER_MAX + 1];
	size_t n = 0;
	int rc = admin_ask(admin, STR("show info\n"), answer, &n, err);

	answer[n] = '\0';
	if (is_unanswered(rc, n) || (rc == 0 && !is_from(h, answer)))
		return 0;
	if (rc < 0)
		return rc;
	snprintf(ask, sizeof(ask), "get map %.120s -\n", map);
	rc = admin_ask(admin, str_of(ask), answer, &n, err);
	answer[n] = '\0';
	if (is_unanswered(rc, n))
		return 0;
	if (rc == 0 && !strstr(answer, "found="))
		rc = err_set(err, -EPROTO, "HAProxy has no map %s", map);
	return rc < 0 ? rc : 1;
}

int haproxy_ready(struct haproxy *h, const char *admin, const char *map,
		  struct err *err)
{
	int rc = look_for_map(h, admin, map, err);

	haproxy_read(h);
	return rc <= 0 && has_ended(h, 0) ? say_ended(h, err) : rc;
}

void haproxy_pause(const struct haproxy *h)
{
	(void)has_ended(h, HAPROXY_RETRY_MS);
}

int haproxy_open(struct haproxy *h, struct err *err)
{
	if (h->door < 0)
		return 0;
	if (eventfd_write(h->door, 1) < 0)
		return err_errno(err, "opening HAProxy's ports");
	close(h->door);
	h->door = -1;
	return 0;
}

bool haproxy_ended(const struct haproxy *h)
{
	return has_ended(h, 0);
}

void haproxy_finish(const struct haproxy *h)
{
	if (h->pid)
		kill(h->pid, SIGUSR1);
}

void haproxy_end(struct haproxy *h)
{
	if (h->pid) {
		kill(h->pid, SIGKILL);
		waitpid(h->pid, NULL, 0);
		h->pid = 0;
	}
	fd_close(&h->pidfd);
	fd_close(&h->words);
	fd_close(&h->door);
	h->pidfd = h->words = h->door = -1;
}
