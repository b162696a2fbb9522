/*
 * 'host' in the gate's network: sockets at its address, handed over to whoever
 * listens at a path, and none kept. In networks of the test's own.
 */
#include "runtime/gate/packet/machine.h"

#include "runtime/forward/forward.h"
#include "tests/unit/gate/plans.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>

#define TAKER "/run/gate/taker"

/* The last is nobody's: there are two. */
static const uint16_t ports[] = {22, 8080, 8080};

static int listen_for_sockets(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX, .sun_path = TAKER};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	unlink(TAKER);
	CHECK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	      listen(fd, 4) == 0);
	return fd;
}

static bool is_at(int fd, uint16_t port)
{
	struct sockaddr_in at = {0};
	socklen_t n = sizeof(at);
	char text[INET_ADDRSTRLEN];

	return getsockname(fd, (struct sockaddr *)&at, &n) == 0 &&
	       at.sin_family == AF_INET && ntohs(at.sin_port) == port &&
	       strcmp(inet_ntop(AF_INET, &at.sin_addr, text, sizeof(text)),
		      LINK_MACHINE_V4) == 0;
}

static int option_of(int fd, int option)
{
	int value = -1;
	socklen_t n = sizeof(value);

	CHECK(getsockopt(fd, SOL_SOCKET, option, &value, &n) == 0);
	return value;
}

/* How many may wait, which the kernel says of a socket that listens. */
static unsigned backlog_of(int fd)
{
	struct tcp_info info = {0};
	socklen_t n = sizeof(info);

	CHECK(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) == 0);
	return info.tcpi_sacked;
}

static void handed_over(int taker)
{
	int before = next_fd(), from, fds[2];

	CHECK(FINE(machine_open(ports, 2, TAKER, &err)) && next_fd() == before);
	from = accept(taker, NULL, NULL);
	CHECK(FINE(forward_take(from, fds, 2, &err)));
	for (size_t i = 0; i < 2; i++) {
		CHECK(is_at(fds[i], ports[i]));
		CHECK(option_of(fds[i], SO_ACCEPTCONN) == 1 &&
		      option_of(fds[i], SO_REUSEADDR) == 1 &&
		      backlog_of(fds[i]) == 128);
	}
	/* one that somebody has already is an error, and leaves none behind */
	CHECK(machine_open(ports + 1, 1, TAKER, &err) == -EADDRINUSE &&
	      strcmp(err.text, "host:8080: Address already in use") == 0);
	close(fds[0]);
	CHECK(machine_open(ports, 2, TAKER, &err) == -EADDRINUSE &&
	      strcmp(err.text, "host:8080: Address already in use") == 0);
	close(fds[1]);
	close(from);
	CHECK(next_fd() == before);
}

static void nobody_there(void)
{
	int before = next_fd();

	new_network(false);
	unlink(TAKER);
	CHECK(machine_open(ports, 2, TAKER, &err) == -ENOENT &&
	      next_fd() == before);
	/* without ports it is not looked for */
	CHECK(FINE(machine_open(ports, 0, TAKER, &err)));
	CHECK(machine_open(ports, 1, TAKER, &err) == -ENOENT);
}

int main(void)
{
	int taker;

	if (!enter_room())
		return NOT_HERE;
	taker = listen_for_sockets();
	close(0); /* a descriptor like others */
	handed_over(taker);
	close(taker);
	nobody_there();
	return check_status();
}
