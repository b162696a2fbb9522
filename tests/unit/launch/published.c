/* Ports of this machine that are opened for a session, and handed over. */
#include "runtime/launch/ports/published.h"

#include "compiler/plan/docker_json.h"
#include "runtime/forward/forward.h"
#include "runtime/launch/session/local.h"
#include "tests/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static char top[] = "/tmp/membrane-published-XXXXXX";

/* A socket that listens on loopback, and its port. */
static int listen_here(uint16_t *out_port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&at, n) == 0 &&
	      listen(fd, 8) == 0 &&
	      getsockname(fd, (struct sockaddr *)&at, &n) == 0);
	*out_port = ntohs(at.sin_port);
	return fd;
}

static int connect_here(uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0)
		return fd;
	close(fd);
	return -errno;
}

static struct vectors_published place(const char *addr, uint16_t port)
{
	struct vectors_published at = {.port = port};

	CHECK(addr_parse(str_of(addr), &at.addr));
	return at;
}

/* A port that nobody has at this moment. */
static uint16_t free_port(void)
{
	uint16_t port;

	close(listen_here(&port));
	return port;
}

/* What the gate does: take the sockets, and answer at them inside. */
static void serve_inside(int from, uint16_t inside)
{
	struct err err;
	int fd;

	if (forward_take(from, &fd, 1, &err) == 0)
		forward_serve(&fd, &inside, 1);
	_exit(1);
}

static void check_way_in(void)
{
	uint16_t inside, here = free_port();
	int program = listen_here(&inside), gate, client, server;
	struct vectors_published at = place("127.0.0.1", here);
	struct published p = {0};
	struct err err;
	char got[8];
	pid_t pid;

	CHECK(published_start(top, &at, 1, &p, &err) == 0 && p.pid > 0);
	/* Before the gate has come, a client waits. */
	client = connect_here(here);
	CHECK(client >= 0);
	CHECK(local_connect(top, DOCKER_JSON_PUBLISHED_SOCKET, &gate, &err) ==
	      0);
	pid = fork();
	if (pid == 0)
		serve_inside(gate, inside);
	close(gate);
	server = accept(program, NULL, NULL);
	CHECK(server >= 0 && write(client, "ping", 4) == 4 &&
	      read(server, got, 8) == 4 && memcmp(got, "ping", 4) == 0);
	CHECK(write(server, "pong", 4) == 4 && read(client, got, 8) == 4);
	close(server);
	close(client);
	published_stop(&p);
	CHECK(p.pid == 0);
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
	/* Only the gate had it by then. */
	CHECK(connect_here(here) == -ECONNREFUSED);
	close(program);
}

static void check_refusals(void)
{
	uint16_t taken;
	int fd = listen_here(&taken);
	struct vectors_published at[] = {place("127.0.0.1", free_port()),
					 place("127.0.0.1", taken)};
	struct vectors_published away = place("192.0.2.1", 80);
	struct published p = {0};
	struct err err = {0};
	char want[80];

	CHECK(published_start(top, at, 0, &p, &err) == 0 && p.pid == 0);
	published_stop(&p);
	CHECK(published_start(top, at, 2, &p, &err) == -EADDRINUSE &&
	      p.pid == 0);
	snprintf(want, sizeof(want), "port %u of 127.0.0.1 is taken", taken);
	CHECK_MSG(strstr(err.text, want), "%s", err.text);
	/* The first of the two is free again. */
	CHECK(connect_here(at[0].port) == -ECONNREFUSED);
	CHECK(published_start(top, &away, 1, &p, &err) < 0 &&
	      strstr(err.text, "192.0.2.1"));
	CHECK(published_start("/nowhere", at, 1, &p, &err) < 0 && p.pid == 0);
	close(fd);
}

int main(void)
{
	char name[80];

	signal(SIGPIPE, SIG_IGN);
	CHECK(mkdtemp(top) != NULL);
	check_way_in();
	check_refusals();
	snprintf(name, sizeof(name), "%s/%s", top,
		 DOCKER_JSON_PUBLISHED_SOCKET);
	unlink(name);
	rmdir(top);
	return check_status();
}
