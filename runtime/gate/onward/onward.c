#include "runtime/gate/onward/onward.h"

#include "compiler/base/standin_nets.h"
#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/sockaddr.h"
#include "compiler/plan/gate.h"
#include "runtime/broker/broker.h"
#include "runtime/forward/pair.h"
#include "runtime/gate/l7/admin.h"
#include "runtime/gate/l7/user.h"
#include "runtime/gate/onward/head.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define BACKLOG	    1024
#define HEAD_WAIT_S 5
#define LISTEN_FD   3
#define BROKER_FD   4
#define FREE_FD	    5 /* from here on */
#define REASON_MAX  120u
#define COMMAND_MAX (80u + 2 * REASON_MAX)

#define REDIRECTED   300
#define UNAUTHORISED 407

struct server {
	const struct onward_proxy *proxy;
	struct standins *names;
	pid_t parent;
};

/* --- one connection ------------------------------------------------------- */

static bool read_bytes(int fd, uint8_t *to, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = recv(fd, to + done, n - done, 0);

		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static bool read_head(int fd, struct head *out)
{
	struct timeval wait = {.tv_sec = HEAD_WAIT_S};
	uint8_t bytes[HEAD_MAX];
	size_t n;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0 ||
	    !read_bytes(fd, bytes, HEAD_FIRST))
		return false;
	n = head_size(bytes);
	return n && read_bytes(fd, bytes + HEAD_FIRST, n - HEAD_FIRST) &&
	       head_parse(bytes, n, out);
}

/* HAProxy's commands divide words by blanks, and end at ';'. The last word: the
 * line's end comes behind. */
static void add_word(char *to, const char *text)
{
	for (to += strlen(to); *text; text++) {
		if (strchr(" ;<\\", *text))
			*to++ = '\\';
		*to++ = *text;
	}
	strcpy(to, "\n");
}

static void tell_reason(const struct server *s, uint16_t port, const char *why)
{
	char text[COMMAND_MAX];
	struct err err;

	s->names->failed[port] = 1;
	snprintf(text, sizeof(text), "add map " GATE_FAILURES " %u ", port);
	add_word(text, why);
	if (admin_do(GATE_ADMIN, str_of(text), 1, NULL, &err) < 0)
		dprintf(STDERR_FILENO, "why the proxy failed: %s\n", err.text);
}

/* That port is another connection's now. */
static void forget_reason(const struct server *s, uint16_t port)
{
	char text[COMMAND_MAX];
	struct err err;

	if (!s->names->failed[port])
		return;
	s->names->failed[port] = 0;
	snprintf(text, sizeof(text), "del map " GATE_FAILURES " %u\n", port);
	if (admin_do(GATE_ADMIN, str_of(text), 1, "Key not found.", &err) < 0)
		dprintf(STDERR_FILENO, "why the proxy failed: %s\n", err.text);
}

static void set_login(CURL *c, const struct onward_proxy *p)
{
	char user[ONWARD_LOGIN_MAX + 1];
	char *colon;

	if (!p->login[0])
		return;
	snprintf(user, sizeof(user), "%s", p->login);
	colon = strchr(user, ':');
	*colon = '\0';
	curl_easy_setopt(c, CURLOPT_PROXYAUTH, (long)CURLAUTH_BASIC);
	curl_easy_setopt(c, CURLOPT_PROXYUSERNAME, user);
	curl_easy_setopt(c, CURLOPT_PROXYPASSWORD, colon + 1);
	explicit_bzero(user, sizeof(user));
}

static void set_way(CURL *c, const struct onward_proxy *p, const char *name,
		    uint16_t port)
{
	char url[LIMIT_NAME_BYTES + 32], proxy[ADDR_TEXT_MAX + 32];
	char addr[ADDR_TEXT_MAX];
	bool six = p->addr.family == ADDR_V6;

	snprintf(url, sizeof(url), "http://%s:%u", name, port);
	snprintf(proxy, sizeof(proxy), "http://%s%s%s:%u", six ? "[" : "",
		 addr_text(&p->addr, addr), six ? "]" : "", p->port);
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_PROXY, proxy);
	curl_easy_setopt(c, CURLOPT_NOPROXY, "");
	curl_easy_setopt(c, CURLOPT_HTTPPROXYTUNNEL, 1L);
	curl_easy_setopt(c, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)ONWARD_CONNECT_MS);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)ONWARD_CONNECT_MS);
	set_login(c, p);
}

static void put_reason(CURL *c, CURLcode code, char why[REASON_MAX])
{
	long status = 0;

	curl_easy_getinfo(c, CURLINFO_HTTP_CONNECTCODE, &status);
	if (status == UNAUTHORISED)
		snprintf(why, REASON_MAX,
			 "the proxy wants another login (407)");
	else if (status >= REDIRECTED) /* where to is nobody's business */
		snprintf(why, REASON_MAX, "the proxy refuses it (%ld)", status);
	else if (code == CURLE_OPERATION_TIMEDOUT)
		snprintf(why, REASON_MAX, "the proxy does not answer in time");
	else
		snprintf(why, REASON_MAX,
			 "the proxy breaks off or answers nonsense: %s",
			 curl_easy_strerror(code));
}

/* --- sockets -------------------------------------------------------------- */

/* On its way; or -1, and errno. */
static int dial(const struct addr *to, uint16_t port)
{
	struct sockaddr_storage at;
	socklen_t size = sockaddr_put(to, port, &at);
	int fd = socket(at.ss_family,
			SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&at, size) < 0 &&
	    errno != EINPROGRESS)
		return -1; /* nobody needs it any more */
	return fd;
}

/* The same, of the broker's. */
static int dial_by(int channel, const struct addr *to, uint16_t port)
{
	struct sockaddr_storage at;
	socklen_t size = sockaddr_put(to, port, &at);

	return broker_connect(channel, SOCK_STREAM, (struct sockaddr *)&at,
			      size);
}

/* What is on its way; or -1, and why it does not get there. */
static int await_arrival(int fd, const char *where, char why[REASON_MAX])
{
	struct pollfd p = {fd, POLLOUT, 0};
	int error = fd < 0 ? errno : ETIMEDOUT;
	socklen_t n = sizeof(error);

	if (fd >= 0 && poll(&p, 1, ONWARD_CONNECT_MS) > 0)
		(void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n);
	snprintf(why, REASON_MAX, "%s: %s", where, strerror(error));
	return error ? -1 : fd;
}

static curl_socket_t take_socket(void *given, curlsocktype purpose,
				 struct curl_sockaddr *to)
{
	(void)purpose, (void)to;
	return *(int *)given;
}

static int is_connected(void *given, curl_socket_t fd, curlsocktype purpose)
{
	(void)given, (void)fd, (void)purpose;
	return CURL_SOCKOPT_ALREADY_CONNECTED;
}

/* A socket to the other end of the proxy; or -1, and why not. */
static int connect_by(const struct onward_proxy *p, int channel,
		      const char *name, uint16_t port, char why[REASON_MAX])
{
	int fd = p->broker ? broker_to_proxy(channel) : dial(&p->addr, p->port);
	CURLcode code;
	CURL *c;

	fd = await_arrival(fd, "the proxy cannot be reached", why);
	if (fd < 0)
		return -1;
	/* without memory it is NULL, which the last of these says */
	c = curl_easy_init();
	set_way(c, p, name, port);
	curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, take_socket);
	curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, &fd);
	curl_easy_setopt(c, CURLOPT_SOCKOPTFUNCTION, is_connected);
	code = curl_easy_perform(c);
	if (code == CURLE_OK)
		return fd; /* the handle's, which lives as long as we do */
	put_reason(c, code, why);
	return -1;
}

/* b does not block, whoever made it; a is not to from now on. */
static void carry(int a, int b)
{
	static struct pair p;
	struct pollfd fds[2];

	(void)fcntl(a, F_SETFL, O_NONBLOCK);
	pair_begin(&p, a, b);
	do
		pair_poll(&p, fds);
	while (poll(fds, 2, -1) != -1 && pair_step(&p, fds));
}

enum onward_way onward_way(const struct standins *s,
			   const struct names_nets *past, const struct addr *to,
			   int64_t now_ms, const char **out_name)
{
	if (standin_nets_have(to)) {
		*out_name = standins_name(s, to);
		return *out_name ? ONWARD_NAME : ONWARD_NOWHERE;
	}
	if (addr_is_machine(to))
		return ONWARD_MACHINE;
	if (names_nets_have(past, to) || standins_passes(s, to, now_ms))
		return ONWARD_PAST;
	return ONWARD_ADDRESS;
}

static int connect_on(const struct server *s, int channel, const struct head *h,
		      char why[REASON_MAX])
{
	const struct onward_proxy *p = s->proxy;
	char addr[ADDR_TEXT_MAX], text[ADDR_TEXT_MAX + 2];
	const char *name;
	int fd;

	switch (onward_way(s->names, p->past, &h->to, clock_ms(), &name)) {
	case ONWARD_NOWHERE:
		break;
	case ONWARD_NAME:
		return connect_by(p, channel, name, h->port, why);
	case ONWARD_ADDRESS:
		snprintf(text, sizeof(text),
			 h->to.family == ADDR_V6 ? "[%s]" : "%s",
			 addr_text(&h->to, addr));
		return connect_by(p, channel, text, h->port, why);
	case ONWARD_PAST:
		fd = p->broker ? dial_by(channel, &h->to, h->port)
			       : dial(&h->to, h->port);
		return await_arrival(fd, "past the proxy", why);
	case ONWARD_MACHINE:
		return await_arrival(dial(&h->to, h->port), "past the proxy",
				     why);
	}
	snprintf(why, REASON_MAX, "no name is known for it");
	return -1;
}

static void serve_client(const struct server *s, int client, int channel)
{
	char why[REASON_MAX] = "";
	struct head h;
	int fd;

	if (!read_head(client, &h))
		return;
	forget_reason(s, h.from_port);
	fd = connect_on(s, channel, &h, why);
	close(channel);
	if (fd >= 0)
		carry(client, fd);
	else
		tell_reason(s, h.from_port, why);
}

/* --- all of them ---------------------------------------------------------- */

static void bury_children(unsigned *live)
{
	while (*live) {
		pid_t pid = waitpid(-1, NULL, *live < ONWARD_MAX ? WNOHANG : 0);

		if (pid <= 0)
			return;
		--*live;
	}
}

static void serve_all(const struct server *s)
{
	unsigned live = 0;

	for (;;) {
		int fd = accept4(LISTEN_FD, NULL, NULL, SOCK_CLOEXEC);
		pid_t self = getpid(), pid;
		int channel;

		if (fd < 0)
			return;
		bury_children(&live);
		/* one of its own, on which nobody else hears an answer; -1
		 * where there is no broker */
		channel = broker_channel(BROKER_FD);
		pid = fork();
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(LISTEN_FD);
			if (getppid() == self)
				serve_client(s, fd, channel);
			_exit(0);
		}
		live += pid > 0;
		close(fd);
		close(channel);
	}
}

/*
 * Nothing of the worker's stays open. The group is root's, as GATE_DIR is,
 * where HAProxy's commands are; there is no capability that it could bring.
 */
static void become_server(const struct server *s, int listener)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* the broker's may be where the listener is to be */
	int broker = fcntl(s->proxy->broker ? s->proxy->broker : null, F_DUPFD,
			   FREE_FD);
	static const sigset_t none;

	if (dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(listener, LISTEN_FD) < 0 || dup2(broker, BROKER_FD) < 0 ||
	    syscall(SYS_close_range, FREE_FD, ~0u, 0) < 0 ||
	    user_become(GATE_UPSTREAM_UID, 0) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != s->parent ||
	    sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		_exit(1);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	if (curl_global_init(CURL_GLOBAL_NOTHING) != CURLE_OK) {
		dprintf(STDERR_FILENO, "there is no libcurl in the gate\n");
		_exit(1);
	}
	serve_all(s);
	_exit(1);
}

static int listen_here(int *out, struct err *err)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX,
				 .sun_path = GATE_UPSTREAM};
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    chmod(GATE_UPSTREAM, 0666) < 0 || listen(fd, BACKLOG) < 0)
		return err_set(err, -errno, GATE_UPSTREAM ": %s",
			       strerror(errno));
	*out = fd;
	fd = -1;
	return 0;
}

int onward_start(const struct onward_proxy *proxy, struct standins *names,
		 struct onward *out, struct err *err)
{
	struct server s = {proxy, names, getpid()};
	auto_fd int listener = -1;
	int rc;

	if (proxy->port == 0)
		return err_set(err, -ENOENT, "the launcher named no proxy");
	rc = listen_here(&listener, err);
	if (rc < 0)
		return rc;
	out->pid = fork();
	if (out->pid == 0)
		become_server(&s, listener);
	if (out->pid < 0)
		return err_errno(err, "fork");
	out->pidfd = (int)syscall(SYS_pidfd_open, out->pid, 0);
	return out->pidfd < 0 ? err_errno(err, "watching the way to the proxy")
			      : 0;
}
