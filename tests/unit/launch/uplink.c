/* The way of a renewal by an uplink: who may take it, and its end. */
#include "runtime/launch/tokens/uplink.h"
#include "tests/check.h"

#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static struct arena *a;
static struct err err;

/* In the place of docker: says what it is asked for, then gives all back. */
static char *words[] = {(char[]){"sh"}, (char[]){"-c"},
			(char[]){"echo \"$0 $1 $2\"; exec cat"},
			(char[]){"{session}"}};
static struct vector relay = {.image = "x", .words = {.v = words, .n = 4}};
static struct vectors_values values = {.session = "s1"};

static int dial(const char *name)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(sa.sun_path + 1, name, strlen(name));
	CHECK(connect(fd, (struct sockaddr *)&sa,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				  strlen(name))) == 0);
	return fd;
}

static void hear(int fd, const char *want)
{
	char got[64] = "";
	size_t n = 0;

	while (n < strlen(want)) {
		ssize_t more = recv(fd, got + n, sizeof(got) - n - 1, 0);

		if (more <= 0)
			break;
		n += (size_t)more;
	}
	CHECK_MSG(strcmp(got, want) == 0, "'%s'", got);
}

static void taken(void)
{
	struct uplink u;
	int fd;

	CHECK(uplink_open(a, &relay, &values, "192.0.2.1", "443", &u, &err) ==
	      0);
	CHECK(uplink_take(&u, &err) == 0 && u.listener >= 0 && !u.pid);
	fd = dial(u.name);
	CHECK(uplink_take(&u, &err) == 0 && u.listener < 0 && u.pid);
	hear(fd, "s1 192.0.2.1 443\n");
	CHECK(send(fd, "hello", 5, 0) == 5);
	hear(fd, "hello");
	close(fd);
	uplink_done(&u);
	CHECK(!u.pid && waitpid(-1, NULL, WNOHANG) < 0);
}

static void by_nobody_else(void)
{
	struct uplink u;
	char byte;
	pid_t pid;

	CHECK(uplink_open(a, &relay, &values, "192.0.2.1", "443", &u, &err) ==
	      0);
	pid = fork();
	if (pid == 0)
		_exit(recv(dial(u.name), &byte, 1, 0) == 0 ? 0 : 1);
	CHECK(poll(&(struct pollfd){u.listener, POLLIN, 0}, 1, 20000) == 1);
	CHECK(uplink_take(&u, &err) == 0 && u.listener >= 0 && !u.pid);
	uplink_done(&u);
	CHECK(waitpid(pid, &(int){0}, 0) == pid);
}

static void what_cannot_start(void)
{
	char program[] = "/nonexistent/docker", unknown[] = "{nothing}";
	char *missing[] = {program};
	struct vector none = {.image = "x", .words = {.v = missing, .n = 1}};
	struct uplink u;
	int fd;

	CHECK(uplink_open(a, &none, &values, "192.0.2.1", "443", &u, &err) ==
	      0);
	fd = dial(u.name);
	CHECK(uplink_take(&u, &err) < 0);
	close(fd);
	uplink_done(&u);
	missing[0] = unknown;
	CHECK(uplink_open(a, &none, &values, "192.0.2.1", "443", &u, &err) < 0);
	uplink_done(&u);
}

int main(void)
{
	a = arena_new();
	taken();
	by_nobody_else();
	what_cannot_start();
	arena_free(a);
	return check_status();
}
