/* Bytes between a pair of descriptors and an address. */
#include "runtime/gate/relay.h"

#include "tests/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY   300000u /* more than what is on its way at a time */
#define WAIT_S 20

static struct err err;

static int listen_here(char port[8])
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	      listen(fd, 1) == 0 &&
	      getsockname(fd, (struct sockaddr *)&sa, &n) == 0);
	snprintf(port, 8, "%u", ntohs(sa.sin_port));
	return fd;
}

/* The relay in a process of its own; what it is asked through. */
static pid_t start(const char *port, int life_ms, int *out)
{
	int pair[2];
	pid_t pid;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	pid = fork();
	if (pid == 0) {
		int sock = -1, rc;

		close(pair[0]);
		alarm(WAIT_S);
		rc = relay_dial(STR("127.0.0.1"), str_of(port), &sock, &err);
		if (rc == 0)
			rc = relay_run(pair[1], pair[1], sock, life_ms, &err);
		_exit(-rc);
	}
	close(pair[1]);
	*out = pair[0];
	return pid;
}

static int end_of(pid_t pid)
{
	int status = -1;

	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* What they say to each other, both at once. */
static void both_ways(int asker, int server)
{
	static char sent[MANY], got[2][MANY];
	const int fds[] = {asker, server};
	size_t wrote[2] = {0}, read_n[2] = {0};

	for (size_t i = 0; i < MANY; i++)
		sent[i] = (char)(i * 7 + i / 251);
	while (read_n[0] < MANY || read_n[1] < MANY) {
		struct pollfd p[2];

		for (int i = 0; i < 2; i++)
			p[i] = (struct pollfd){
				fds[i],
				(short)(POLLIN |
					(wrote[i] < MANY ? POLLOUT : 0)),
				0};
		CHECK(poll(p, 2, WAIT_S * 1000) > 0);
		for (int i = 0; i < 2; i++) {
			ssize_t n = 0;

			if (p[i].revents & POLLOUT)
				n = send(fds[i], sent + wrote[i],
					 MANY - wrote[i], MSG_DONTWAIT);
			wrote[i] += n > 0 ? (size_t)n : 0;
			n = recv(fds[i], got[i] + read_n[i], MANY - read_n[i],
				 MSG_DONTWAIT);
			read_n[i] += n > 0 ? (size_t)n : 0;
			if (n == 0 && read_n[i] < MANY) {
				CHECK(!"it ended early");
				return;
			}
		}
	}
	CHECK(memcmp(got[0], sent, MANY) == 0 &&
	      memcmp(got[1], sent, MANY) == 0);
}

static void passes_all(void)
{
	char port[8], byte;
	int listener = listen_here(port), asker, server;
	pid_t pid = start(port, WAIT_S * 1000, &asker);

	server = accept(listener, NULL, NULL);
	both_ways(asker, server);
	/* Who asked goes, and so does the connection. */
	close(asker);
	CHECK(recv(server, &byte, 1, 0) == 0 && end_of(pid) == 0);
	close(server);

	pid = start(port, WAIT_S * 1000, &asker);
	server = accept(listener, NULL, NULL);
	CHECK(send(server, "bye", 3, 0) == 3);
	close(server);
	CHECK(end_of(pid) == 0);
	CHECK(recv(asker, port, sizeof(port), 0) == 3);
	close(asker);
	close(listener);
}

static void ends(void)
{
	char port[8];
	int listener = listen_here(port), asker;
	pid_t pid = start(port, 1, &asker);

	CHECK(end_of(pid) == ETIMEDOUT);
	close(asker);
	close(listener);
	pid = start(port, WAIT_S * 1000, &asker);
	CHECK(end_of(pid) == ECONNREFUSED);
	close(asker);
}

static void what_is_no_address(void)
{
	int sock = -1;

	CHECK(relay_dial(STR("a.test"), STR("443"), &sock, &err) == -EINVAL);
	CHECK(relay_dial(STR("192.0.2.1"), STR("0"), &sock, &err) == -EINVAL);
	CHECK(relay_dial(STR("192.0.2.1"), STR("65536"), &sock, &err) ==
	      -EINVAL);
	CHECK(relay_dial(STR("::1"), STR("x"), &sock, &err) == -EINVAL);
	CHECK(sock == -1);
}

int main(void)
{
	passes_all();
	ends();
	what_is_no_address();
	return check_status();
}
