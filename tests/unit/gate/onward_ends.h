/*
 * Who is around the way out by a proxy, in a test of it: HAProxy, the one that
 * answers its commands, and the proxy.
 */
#ifndef TESTS_UNIT_GATE_ONWARD_ENDS_H
#define TESTS_UNIT_GATE_ONWARD_ENDS_H

#include "runtime/gate/onward/onward.h"

#include "compiler/base/sys/sockaddr.h"
#include "runtime/gate/l7/user.h"
#include "runtime/gate/packet/link.h"
#include "tests/check.h"
#include "tests/unit/gate/rooms.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/un.h>
#include <sys/wait.h>

#define WAIT_MS 10000 /* for what comes at once, on a machine that is busy */
#define ADDED	"add map " GATE_FAILURES " "

static struct err err;
static struct standins *names;
static int admin, proxy; /* what listens: HAProxy's commands, the proxy */
static char said[2048];	 /* what the last one did */

/* --- who is around it ----------------------------------------------------- */

static inline bool comes(int fd)
{
	struct pollfd p = {fd, POLLIN, 0};

	return poll(&p, 1, WAIT_MS) == 1;
}

static inline bool is_quiet(int fd)
{
	struct pollfd p = {fd, POLLIN, 0};

	return poll(&p, 1, 0) == 0;
}

static inline int listen_at(const char *addr, uint16_t *port)
{
	struct sockaddr_storage sa;
	struct addr a;
	socklen_t n;
	int fd;

	CHECK(addr_parse(str_of(addr), &a));
	n = sockaddr_put(&a, *port, &sa);
	fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(fd, (struct sockaddr *)&sa, n) == 0 && listen(fd, 8) == 0 &&
	      getsockname(fd, (struct sockaddr *)&sa, &n) == 0);
	*port = ntohs(((struct sockaddr_in *)&sa)->sin_port);
	return fd;
}

static inline struct sockaddr_un path_at(const char *path)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	return sa;
}

static inline int listen_admin(void)
{
	struct sockaddr_un sa = path_at(GATE_ADMIN);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	      chmod(GATE_ADMIN, 0660) == 0 && listen(fd, 8) == 0);
	return fd;
}

static inline int take(int listener)
{
	CHECK(comes(listener));
	return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}

/* Into said, up to what it is to end in. */
static inline bool hear(int fd, const char *end)
{
	size_t n = 0;

	memset(said, 0, sizeof(said));
	while (!strstr(said, end) && n < sizeof(said) - 1 && comes(fd)) {
		ssize_t got = recv(fd, said + n, 1, 0);

		if (got <= 0)
			return false;
		n += (size_t)got;
	}
	return strstr(said, end) != NULL;
}

static inline bool hears(int fd, const char *text)
{
	return hear(fd, text) && strcmp(said, text) == 0;
}

static inline bool hears_end(int fd)
{
	char c;

	return comes(fd) && recv(fd, &c, 1, 0) <= 0;
}

static inline void say(int fd, const char *text)
{
	CHECK(send(fd, text, strlen(text), MSG_NOSIGNAL) ==
	      (ssize_t)strlen(text));
}

/* A command for HAProxy, which begins so, and its answer. */
static inline bool commanded(const char *command, const char *answer)
{
	int fd = take(admin);
	bool ok =
		hear(fd, "\n") && strncmp(said, command, strlen(command)) == 0;

	say(fd, answer);
	close(fd);
	return ok;
}

/* --- HAProxy -------------------------------------------------------------- */

static inline int call_server(void)
{
	struct sockaddr_un sa = path_at(GATE_UPSTREAM);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0);
	return fd;
}

/* A client's connection from that port, to there, and its first words. */
static inline int call(const char *to, uint16_t port, uint16_t from,
		       const char *words)
{
	uint8_t head[64] = "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c";
	int fd = call_server();
	struct addr a;
	size_t size, n;

	CHECK(addr_parse(str_of(to), &a));
	size = addr_bits(a.family) / 8u;
	if (a.family == ADDR_V6) {
		head[13] = 0x21;
		head[15] = 36;
	}
	memcpy(head + 16 + size, a.b, size);
	n = 16 + 2 * size;
	head[n++] = (uint8_t)(from >> 8);
	head[n++] = (uint8_t)from;
	head[n++] = (uint8_t)(port >> 8);
	head[n++] = (uint8_t)port;
	CHECK(send(fd, head, n, MSG_NOSIGNAL) == (ssize_t)n);
	say(fd, words);
	return fd;
}

/* What both say after the answer, and that the end of one is not the other's.
 */
static inline void talk(int client, int far)
{
	CHECK(hears(far, "first"));
	say(far, "second");
	CHECK(hears(client, "second"));
	shutdown(far, SHUT_WR);
	CHECK(hears_end(client));
	say(client, "third");
	CHECK(hears(far, "third"));
	close(client);
	CHECK(hears_end(far));
	close(far);
}

/* The client hears nothing, and HAProxy why, under the client's port: in these
 * words alone, unless they end in ':'. */
static inline void fails(int client, uint16_t from, const char *why)
{
	char command[400];

	snprintf(command, sizeof(command), ADDED "%u %s%s", from, why,
		 why[strlen(why) - 1] == ':' ? "" : "\n");
	CHECK_MSG(commanded(command, "\n"), "%s not %s", said, command);
	CHECK(hears_end(client));
	close(client);
}

/* --- the process ---------------------------------------------------------- */

/* How many files it has open. */
static inline unsigned count_files(pid_t pid)
{
	char path[64];
	const struct dirent *e;
	unsigned n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

static inline bool read_proc(pid_t pid, const char *name, char out[4096])
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, out, 4095);
	if (fd >= 0)
		close(fd);
	out[n < 0 ? 0 : n] = '\0';
	return n >= 0;
}

/* What it has, when it has begun to serve. */
static inline void privileges(const struct onward *o)
{
	unsigned long long ignored;
	char text[4096];
	const char *at;

	CHECK(read_proc(o->pid, "status", text));
	CHECK(strstr(text, "NoNewPrivs:\t1") &&
	      strstr(text, "SigBlk:\t0000000000000000"));
	/* else it has a namespace of its own, in which there is nothing */
	if (user_there(GATE_UPSTREAM_UID) == GATE_UPSTREAM_UID)
		CHECK(strstr(text, "CapEff:\t0000000000000000") &&
		      strstr(text, "CapPrm:\t0000000000000000") &&
		      strstr(text, "Uid:\t64101\t64101\t64101\t64101") &&
		      strstr(text, "Gid:\t0\t0\t0\t0"));
	at = strstr(text, "SigIgn:\t");
	ignored = at ? strtoull(at + 8, NULL, 16) : 0;
	CHECK((ignored >> (SIGPIPE - 1) & 1) == 1 &&
	      (ignored >> (SIGCHLD - 1) & 1) == 0);
	/* its three, its socket, the broker's or nothing in that one's place */
	CHECK(count_files(o->pid) == 5);
}

static inline void end_by_itself(struct onward *o)
{
	CHECK(comes(o->pidfd) && waitpid(o->pid, NULL, 0) == o->pid);
	close(o->pidfd);
	unlink(GATE_UPSTREAM);
}

static inline void end_server(struct onward *o)
{
	CHECK(kill(o->pid, SIGKILL) == 0);
	end_by_itself(o);
}

static inline struct onward_proxy proxy_at(const char *addr, const char *login)
{
	static struct cidr loopback[] = {{{ADDR_V4, {127}}, 8},
					 {{ADDR_V6, {0}}, 127}};
	static struct names_nets past = {loopback, 2};
	struct onward_proxy p = {.past = &past};

	CHECK(addr_parse(str_of(addr), &p.addr));
	proxy = listen_at(addr, &p.port);
	snprintf(p.login, sizeof(p.login), "%s", login);
	return p;
}

/* A room with an administrator, and names that are known: a.test and b.test. */
static inline bool begin_ends(void)
{
	struct addr a;

	if (!enter_room())
		return false;
	CHECK(standins_new(&names, &err) == 0 &&
	      standins_take(names, STR("a.test"), 1, &a) &&
	      standins_take(names, STR("b.test"), 1, &a));
	admin = listen_admin();
	return true;
}

#endif
