/* Bytes between two sockets, and ports of this machine by sockets that a
 * stand-in for the gate hands over. */
#include "runtime/launch/ports/hostports.h"

#include "compiler/base/limits.h"
#include "compiler/plan/docker_json.h"
#include "runtime/forward/forward.h"
#include "runtime/forward/pair.h"
#include "runtime/launch/session/local.h"
#include "tests/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static char top[] = "/tmp/membrane-ports.XXXXXX";

/* --- a pair --------------------------------------------------------------- */

/* Step while there is something to do; false: it is over. */
static bool turn(struct pair *p)
{
	struct pollfd fds[2];

	for (;;) {
		pair_poll(p, fds);
		if (poll(fds, 2, 0) <= 0)
			return true;
		if (!pair_step(p, fds))
			return false;
	}
}

static void open_pair(struct pair *p, int ours[2])
{
	int a[2], b[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, a) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, b) == 0);
	pair_begin(p, a[1], b[1]);
	ours[0] = a[0];
	ours[1] = b[0];
}

static void check_pair(void)
{
	static struct pair p;
	char got[16];
	int ours[2];

	open_pair(&p, ours);
	CHECK(write(ours[0], "hello", 5) == 5 && turn(&p));
	CHECK(read(ours[1], got, sizeof(got)) == 5 &&
	      memcmp(got, "hello", 5) == 0);
	/* One way ends, the other goes on. */
	CHECK(shutdown(ours[0], SHUT_WR) == 0 && turn(&p));
	CHECK(read(ours[1], got, sizeof(got)) == 0);
	CHECK(write(ours[1], "answer", 6) == 6 && turn(&p));
	CHECK(read(ours[0], got, sizeof(got)) == 6);
	close(ours[1]);
	CHECK(!turn(&p) && p.end[0] == -1);
	CHECK(read(ours[0], got, sizeof(got)) == 0);
	close(ours[0]);
}

/* What nobody reads is not read either. */
static void check_slow_reader(void)
{
	static struct pair p;
	static char data[4 << 20], got[1 << 16];
	size_t put = 0, back = 0;
	ssize_t n;
	int ours[2];

	open_pair(&p, ours);
	do {
		n = write(ours[0], data, sizeof(data));
		put += n > 0 ? (size_t)n : 0;
	} while (turn(&p) && n > 0);
	CHECK(put > PAIR_BUF && put < sizeof(data) && p.way[0].n > 0);
	do {
		n = read(ours[1], got, sizeof(got));
		back += n > 0 ? (size_t)n : 0;
	} while (turn(&p) && n > 0);
	CHECK(back == put);
	/* Broken: whoever is at the other end learns. */
	close(ours[1]);
	CHECK(write(ours[0], "x", 1) == 1 && !turn(&p));
	CHECK(read(ours[0], got, sizeof(got)) <= 0);
	close(ours[0]);
}

/* --- what is handed over -------------------------------------------------- */

static int listen_at(int family, uint16_t *out_port)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
				  .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr *at = family == AF_INET ? (struct sockaddr *)&v4
						: (struct sockaddr *)&v6;
	socklen_t size = family == AF_INET ? sizeof(v4) : sizeof(v6);
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, at, size) < 0 || listen(fd, 16) < 0 ||
	    getsockname(fd, at, &size) < 0) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	*out_port = ntohs(family == AF_INET ? v4.sin_port : v6.sin6_port);
	return fd;
}

static bool send_sockets(int to, const char *word, const int *fds, size_t n)
{
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(8 * sizeof(int))] = "";
	struct iovec text = {(void *)(uintptr_t)word, strlen(word)};
	struct msghdr h = {.msg_iov = &text,
			   .msg_iovlen = 1,
			   .msg_control = n ? room : NULL,
			   .msg_controllen =
				   n ? CMSG_SPACE(n * sizeof(int)) : 0};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	if (c) {
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	}
	return sendmsg(to, &h, 0) > 0;
}

static int take_of(const char *word, const int *fds, size_t n, uint32_t wanted,
		   int *out)
{
	struct err err;
	int ends[2], rc;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	if (word)
		CHECK(send_sockets(ends[0], word, fds, n));
	close(ends[0]);
	rc = forward_take(ends[1], out, wanted, &err);
	close(ends[1]);
	return rc;
}

static void check_taking(void)
{
	uint16_t port;
	int fds[2] = {listen_at(AF_INET, &port),
		      socket(AF_INET, SOCK_STREAM, 0)},
	    out[2];

	CHECK(take_of("sockets", fds, 1, 1, out) == 0);
	CHECK(fcntl(out[0], F_GETFL) & O_NONBLOCK &&
	      fcntl(out[0], F_GETFD) & FD_CLOEXEC);
	close(out[0]);
	CHECK(take_of("host-port!", fds, 1, 1, out) == -EPROTO);
	CHECK(take_of("host", fds, 1, 1, out) == -EPROTO);
	CHECK(take_of("sockets", fds, 0, 1, out) == -EPROTO);
	CHECK(take_of("sockets", fds, 1, 2, out) == -EPROTO);
	CHECK(take_of("sockets", fds, 2, 1, out) == -EPROTO);
	CHECK(take_of("sockets", fds, 2, 2, out) == -EPROTO);
	CHECK(take_of(NULL, NULL, 0, 1, out) == -EPROTO);
	close(fds[0]);
	close(fds[1]);
}

/* --- all of it ------------------------------------------------------------ */

/* What comes at the socket is what is asked for of this machine. */
static int connect_to(int listener)
{
	struct sockaddr_in at;
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (getsockname(listener, (struct sockaddr *)&at, &size) < 0 ||
	    connect(fd, (struct sockaddr *)&at, size) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Through a socket of the gate's, to who listens here. */
static void check_passage(int gate, int here)
{
	int client = connect_to(gate), server = accept(here, NULL, NULL);
	char got[8];

	CHECK(client >= 0 && server >= 0);
	CHECK(write(client, "ping", 4) == 4 && read(server, got, 8) == 4);
	shutdown(client, SHUT_WR);
	CHECK(read(server, got, 8) == 0 && write(server, "pong", 4) == 4);
	CHECK(read(client, got, 8) == 4 && memcmp(got, "pong", 4) == 0);
	close(server);
	CHECK(read(client, got, 8) == 0);
	close(client);
}

static void check_serving(void)
{
	uint16_t ports[3], ignored;
	int v4 = listen_at(AF_INET, &ports[0]),
	    v6 = listen_at(AF_INET6, &ports[1]),
	    nobody = listen_at(AF_INET, &ports[2]), to, client;
	int gate[3] = {listen_at(AF_INET, &ignored),
		       listen_at(AF_INET, &ignored),
		       listen_at(AF_INET, &ignored)};
	struct hostports h = {0};
	struct err err;
	char got[8];

	close(nobody);
	CHECK(hostports_start(top, ports, 0, &h, &err) == 0 && h.pid == 0);
	hostports_stop(&h);
	CHECK(hostports_start("/nowhere", ports, 1, &h, &err) < 0);
	CHECK(hostports_start(top, ports, 3, &h, &err) == 0);
	CHECK(local_connect(top, DOCKER_JSON_PORTS_SOCKET, &to, &err) == 0);
	CHECK(send_sockets(to, "sockets", gate, 3));
	check_passage(gate[0], v4);
	if (v6 >= 0)
		check_passage(gate[1], v6);
	client = connect_to(gate[2]);
	CHECK(client >= 0 && read(client, got, 8) < 0 && errno == ECONNRESET);
	close(client);
	hostports_stop(&h);
	CHECK(h.pid == 0);
	close(to);
	for (int i = 0; i < 3; i++)
		close(gate[i]);
	close(v4);
	if (v6 >= 0)
		close(v6);
}

int main(void)
{
	char name[64];

	signal(SIGPIPE, SIG_IGN);
	CHECK(mkdtemp(top) != NULL);
	check_pair();
	check_slow_reader();
	check_taking();
	check_serving();
	snprintf(name, sizeof(name), "%s/%s", top, DOCKER_JSON_PORTS_SOCKET);
	unlink(name);
	rmdir(top);
	return check_status();
}
