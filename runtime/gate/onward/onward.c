#include "runtime/gate/onward/onward.h"

#include "compiler/plan/gate.h"
#include "runtime/forward/pair.h"
#include "runtime/gate/l7/admin.h"
#include "runtime/gate/onward/head.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
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
#define REASON_MAX  120u

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

/* HAProxy's commands divide words by blanks, and end at ';'. */
static void add_word(char *to, size_t size, const char *text)
{
	size_t n = strlen(to);

	for (; *text && n + 3 < size; text++) {
		if (*text == ' ')
			to[n++] = '\\';
		to[n++] = *text == ';' || *text == '\\' || *text < ' ' ? '-'
								       : *text;
	}
	to[n] = '\0';
}

static void tell_reason(const struct server *s, uint16_t port, const char *why)
{
	char text[256];
	struct err err;

	s->names->failed[port] = 1;
	snprintf(text, sizeof(text), "add map " GATE_FAILURES " %u ", port);
	add_word(text, sizeof(text) - 1, why);
	strcat(text, "\n");
	if (admin_do(GATE_ADMIN, str_of(text), 1, NULL, &err) < 0)
		dprintf(STDERR_FILENO, "why the proxy failed: %s\n", err.text);
}

/* That port is another connection's now. */
static void forget_reason(const struct server *s, uint16_t port)
{
	char text[64];
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
	long status = 0, number = 0;

	curl_easy_getinfo(c, CURLINFO_HTTP_CONNECTCODE, &status);
	curl_easy_getinfo(c, CURLINFO_OS_ERRNO, &number);
	if (status == UNAUTHORISED)
		snprintf(why, REASON_MAX,
			 "the proxy wants another login (407)");
	else if (status)
		snprintf(why, REASON_MAX, "the proxy refuses it (%ld)", status);
	else if (code == CURLE_OPERATION_TIMEDOUT)
		snprintf(why, REASON_MAX, "the proxy does not answer in time");
	else
		snprintf(why, REASON_MAX, "the proxy cannot be reached: %s",
			 number ? strerror((int)number)
				: curl_easy_strerror(code));
}

/* A socket to the other end of the proxy; or -1, and why not. */
static int connect_by(const struct onward_proxy *p, const char *name,
		      uint16_t port, char why[REASON_MAX])
{
	curl_socket_t fd = CURL_SOCKET_BAD;
	CURL *c = curl_easy_init();
	CURLcode code;

	if (!c) {
		snprintf(why, REASON_MAX, "out of memory");
		return -1;
	}
	set_way(c, p, name, port);
	code = curl_easy_perform(c);
	if (code == CURLE_OK)
		code = curl_easy_getinfo(c, CURLINFO_ACTIVESOCKET, &fd);
	if (code == CURLE_OK && fd != CURL_SOCKET_BAD)
		return fd; /* the handle's, which lives as long as we do */
	put_reason(c, code, why);
	return -1;
}

static void set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0)
		(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

static void carry(int a, int b)
{
	static struct pair p;
	struct pollfd fds[2];

	set_nonblocking(a);
	set_nonblocking(b);
	pair_begin(&p, a, b);
	do {
		pair_poll(&p, fds);
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
	} while (pair_step(&p, fds));
}

static void serve_client(const struct server *s, int client)
{
	char why[REASON_MAX] = "";
	const char *name;
	struct head h;
	int fd = -1;

	if (!read_head(client, &h)) {
		pair_reset(client);
		return;
	}
	forget_reason(s, h.from_port);
	name = standins_name(s->names, &h.to);
	if (name)
		fd = connect_by(s->proxy, name, h.port, why);
	else
		snprintf(why, sizeof(why), "no name is known for it");
	if (fd >= 0) {
		carry(client, fd);
		return;
	}
	tell_reason(s, h.from_port, why);
	pair_reset(client);
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

		if (fd < 0 && errno != EINTR && errno != ECONNABORTED)
			return;
		if (fd < 0)
			continue;
		bury_children(&live);
		pid = fork();
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(LISTEN_FD);
			if (getppid() == self)
				serve_client(s, fd);
			_exit(0);
		}
		live += pid > 0;
		close(fd);
	}
}

/*
 * Nothing of the worker's stays open. The group is root's, as GATE_DIR is,
 * where HAProxy's commands are; there is no capability that it could bring.
 */
static void become_server(const struct server *s, int listener)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDOUT_FILENO) < 0 || dup2(listener, LISTEN_FD) < 0 ||
	    syscall(SYS_close_range, LISTEN_FD + 1, ~0u, 0) < 0 ||
	    setgroups(0, NULL) < 0 ||
	    setresuid(GATE_UPSTREAM_UID, GATE_UPSTREAM_UID, GATE_UPSTREAM_UID) <
		    0 ||
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
