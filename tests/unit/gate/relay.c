/* Bytes between a pair of descriptors and an address. */
#include "runtime/gate/relay.h"

#include <sys/syscall.h>

#ifdef SYS_poll
#define STEPS_MORE STEP(poll)
#endif
#include "tests/check.h"
#include "tests/unit/steps.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
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

static int listen_here(char port[8], int backlog)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	      listen(fd, backlog) == 0 &&
	      getsockname(fd, (struct sockaddr *)&sa, &n) == 0);
	snprintf(port, 8, "%u", ntohs(sa.sin_port));
	return fd;
}

/* The relay in a process of its own; what it is asked through. to: where it
 * writes, or -1: there, too. */
static pid_t start_to(const char *port, int life_ms, int to, int *out)
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
		errno = EIO; /* of something else */
		if (rc == 0)
			rc = relay_run(pair[1], to < 0 ? pair[1] : to, sock,
				       life_ms, &err);
		_exit(-rc);
	}
	close(pair[1]);
	*out = pair[0];
	return pid;
}

static pid_t start(const char *port, int life_ms, int *out)
{
	return start_to(port, life_ms, -1, out);
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
	int listener = listen_here(port, 1), asker, server;
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

/* Who reads takes less at a time than there is. */
static void slow_reader(void)
{
	static char sent[5 * 4096], got[sizeof(sent) + 1];
	char port[8];
	int listener = listen_here(port, 1), asker, server, out[2];
	size_t n = 0;
	ssize_t more = 1;
	pid_t pid;

	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (char)(i * 7 + i / 251);
	CHECK(pipe(out) == 0 && fcntl(out[1], F_SETPIPE_SZ, 4096) > 0);
	pid = start_to(port, WAIT_S * 1000, out[1], &asker);
	close(out[1]);
	server = accept(listener, NULL, NULL);
	CHECK(send(server, sent, sizeof(sent), 0) == sizeof(sent));
	close(server);
	for (; more > 0 && n<sizeof(got); n += more> 0 ? (size_t)more : 0)
		more = read(out[0], got + n, sizeof(got) - n);
	CHECK(n == sizeof(sent) && memcmp(got, sent, n) == 0);
	CHECK(end_of(pid) == 0);
	close(out[0]);
	close(asker);
	close(listener);
}

static void ends(void)
{
	const struct linger at_once = {1, 0};
	char port[8];
	int listener = listen_here(port, 1), asker, server;
	pid_t pid = start(port, 1, &asker);

	CHECK(end_of(pid) == ETIMEDOUT);
	close(asker);
	pid = start(port, -5, &asker); /* it is late already */
	CHECK(end_of(pid) == ETIMEDOUT);
	close(asker);
	close(listener);
	listener = listen_here(port, 1);
	/* nobody asks anything */
	pid = start(port, WAIT_S * 1000, &asker);
	CHECK(shutdown(asker, SHUT_WR) == 0 && end_of(pid) == 0);
	close(accept(listener, NULL, NULL));
	close(asker);
	pid = start(port, WAIT_S * 1000, &asker);
	server = accept(listener, NULL, NULL);
	CHECK(send(server, "x", 1, 0) == 1 && recv(asker, port, 1, 0) == 1);
	CHECK(setsockopt(server, SOL_SOCKET, SO_LINGER, &at_once,
			 sizeof(at_once)) == 0);
	close(server);
	CHECK(end_of(pid) == ECONNRESET);
	close(asker);
	close(listener);
	close(listen_here(port, 1));
	pid = start(port, WAIT_S * 1000, &asker);
	CHECK(end_of(pid) == ECONNREFUSED);
	close(asker);
}

/* There is one who listens, but has no room. */
static void unanswered(void)
{
	char port[8];
	int listener = listen_here(port, 0), first, asker;
	pid_t waiting = start(port, WAIT_S * 1000, &first), pid;
	struct pollfd p = {listener, POLLIN, 0};

	CHECK(poll(&p, 1, WAIT_S * 1000) == 1);
	pid = start(port, 20, &asker);
	CHECK(end_of(pid) == ETIMEDOUT);
	close(asker);
	pid = start(port, WAIT_S * 1000, &asker);
	close(asker);
	CHECK(end_of(pid) == EPIPE);
	close(first);
	CHECK(end_of(waiting) == 0);
	close(listener);
}

/* Its own stdin and stdout, whatever went wrong before. */
static void by_stdin(void)
{
	char port[8];
	int listener = listen_here(port, 1), pair[2];
	pid_t pid;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	pid = fork();
	if (pid == 0) {
		struct err before = {.code = -EIO};

		if (dup2(pair[1], STDIN_FILENO) == STDIN_FILENO &&
		    dup2(pair[1], STDOUT_FILENO) == STDOUT_FILENO)
			_exit(relay_stdio("127.0.0.1", port, &before) != 0);
		_exit(125);
	}
	CHECK(shutdown(pair[0], SHUT_WR) == 0 && end_of(pid) == 0);
	close(pair[0]);
	close(pair[1]);
	close(listener);
}

/* --- what is broken ------------------------------------------------------- */

static void broken(void)
{
	int pair[2], folder = open("/", O_RDONLY | O_CLOEXEC), rc;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	rc = relay_run(folder, pair[0], pair[0], 1000, &err);
	CHECK(rc == -EISDIR && strstr(err.text, "relay: "));
	rc = relay_run(-1, pair[0], pair[0], 1000, &err);
	CHECK(rc == -EBADF && strstr(err.text, "fcntl: "));
	close(pair[0]);
	close(pair[1]);
	close(folder);
}

static char step_port[8];
static int step_in;

static bool begin_steps(void)
{
	int in[2];

	(void)listen_here(step_port, 1);
	CHECK(pipe(in) == 0 && write(in[1], "ask", 3) == 3);
	close(in[1]);
	step_in = in[0];
	return true;
}

static int run_steps(struct err *e)
{
	int sock, rc;

	rc = relay_dial(STR("127.0.0.1"), str_of(step_port), &sock, e);
	return rc < 0 ? rc : relay_run(step_in, STDOUT_FILENO, sock, 1000, e);
}

static void steps_of_it(void)
{
	const struct steps_of all = {"a relay", begin_steps, run_steps,
				     NULL,	0,	     NULL};

	if (!STEPS_SANITIZED && steps_are_asked())
		steps_check(&all);
}

static void what_is_no_address(void)
{
	int sock = -1, in = dup(STDIN_FILENO);

	/* whichever number its descriptor has */
	close(STDIN_FILENO);
	CHECK(relay_dial(STR("127.0.0.1"), STR("443"), &sock, &err) == 0 &&
	      sock == STDIN_FILENO);
	CHECK(dup2(in, STDIN_FILENO) == STDIN_FILENO);
	close(in);
	sock = -1;
	CHECK(relay_dial(STR("a.test"), STR("443"), &sock, &err) == -EINVAL);
	CHECK(relay_dial(STR("192.0.2.1"), STR("65536"), &sock, &err) ==
	      -EINVAL);
	CHECK(relay_dial(STR("::1"), STR("x"), &sock, &err) == -EINVAL);
	CHECK(relay_dial(STR("192.0.2.1"), STR("0"), &sock, &err) == -EINVAL);
	CHECK(sock == -1);
}

int main(void)
{
	passes_all();
	slow_reader();
	ends();
	unanswered();
	by_stdin();
	broken();
	steps_of_it();
	what_is_no_address();
	return check_status();
}
