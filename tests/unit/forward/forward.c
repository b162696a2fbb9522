/* A listener handed over, and what comes in there, served on the loopback. */
#include "runtime/forward/forward.h"

#include "compiler/base/sys/fileio.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define BULK (1u << 20) /* bytes, more than all buffers in between */

static struct err err;

/* --- sockets of the loopback ---------------------------------------------- */

static socklen_t loopback(bool six, uint16_t port, struct sockaddr_storage *out)
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
				  .sin6_port = htons(port),
				  .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_in v4 = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	if (six)
		memcpy(out, &v6, sizeof(v6));
	else
		memcpy(out, &v4, sizeof(v4));
	return six ? sizeof(v6) : sizeof(v4);
}

/* -1 where the machine has no such loopback. */
static int listen_at(bool six, uint16_t *out_port)
{
	struct sockaddr_storage at;
	socklen_t size = loopback(six, 0, &at);
	int fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC,
			0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) < 0 ||
	    listen(fd, 16) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &size) < 0) {
		fd_close(&fd);
		return -1;
	}
	*out_port = six ? ntohs(((struct sockaddr_in6 *)&at)->sin6_port)
			: ntohs(((struct sockaddr_in *)&at)->sin_port);
	return fd;
}

static int dial(uint16_t port)
{
	struct sockaddr_storage at;
	socklen_t size = loopback(false, port, &at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(connect(fd, (struct sockaddr *)&at, size) == 0);
	return fd;
}

/* --- handed over ---------------------------------------------------------- */

static void check_hand(void)
{
	int ends[2], fds[3], got[3];
	uint16_t port;

	for (int i = 0; i < 3; i++)
		fds[i] = listen_at(false, &port);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	CHECK(forward_hand(ends[0], fds, 3, &err) == 0);
	CHECK(forward_take(ends[1], got, 3, &err) == 0);
	for (int i = 0; i < 3; i++)
		close(got[i]);
	/* another number than was asked for, and no sockets at all */
	CHECK(forward_hand(ends[0], fds, 2, &err) == 0);
	CHECK(forward_take(ends[1], got, 3, &err) == -EPROTO);
	CHECK(forward_hand(ends[0], fds, 3, &err) == 0);
	CHECK(forward_take(ends[1], got, 1, &err) == -EPROTO);
	CHECK(write(ends[0], "hello", 5) == 5);
	CHECK(forward_take(ends[1], got, 1, &err) == -EPROTO);
	/* sockets that do not listen */
	CHECK(forward_hand(ends[0], ends, 1, &err) == 0);
	CHECK(forward_take(ends[1], got, 1, &err) == -EPROTO);
	close(ends[0]);
	CHECK(forward_take(ends[1], got, 1, &err) == -EPROTO);
	close(ends[1]);
	CHECK(forward_take(ends[1], got, 1, &err) == -EBADF);
	CHECK(forward_hand(ends[1], fds, 1, &err) == -EBADF);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

static void check_connect(void)
{
	char dir[] = "/tmp/membrane-forward.XXXXXX", longest[200];
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;

	CHECK(mkdtemp(dir));
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/s", dir);
	CHECK(forward_connect(at.sun_path, &err) == -ENOENT);
	CHECK(bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0 &&
	      listen(listener, 1) == 0);
	fd = forward_connect(at.sun_path, &err);
	CHECK(fd >= 0);
	close(fd);
	close(listener);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	CHECK(forward_connect(longest, &err) == -ENAMETOOLONG);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
}

/* --- served --------------------------------------------------------------- */

struct served {
	int listen[2];
	uint16_t at[2], to[2];
};

static void *serve(void *ctx)
{
	struct served *s = ctx;

	forward_serve(s->listen, s->to, 2);
	return NULL;
}

static void *fill(void *ctx)
{
	static const char block[4096];
	int fd = *(int *)ctx;

	for (unsigned n = 0; n < BULK; n += sizeof(block))
		if (send(fd, block, sizeof(block), MSG_NOSIGNAL) !=
		    sizeof(block))
			return ctx;
	shutdown(fd, SHUT_WR);
	return NULL;
}

static size_t drain(int fd)
{
	char block[4096];
	size_t all = 0;
	ssize_t n;

	while ((n = read(fd, block, sizeof(block))) > 0)
		all += (size_t)n;
	return n < 0 ? 0 : all;
}

/* Both ways at once, each to its end. */
static void check_bulk(uint16_t at, int service)
{
	int client = dial(at), peer = accept(service, NULL, NULL);
	pthread_t thread[2];
	int *ends[] = {&client, &peer};
	void *broken;

	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&thread[i], NULL, fill, ends[i]) == 0);
	CHECK(drain(peer) == BULK);
	CHECK(drain(client) == BULK);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(thread[i], &broken) == 0 && !broken);
	close(client);
	close(peer);
}

/* Whoever leaves without a word takes the other along. */
static void check_broken(uint16_t at, int service)
{
	struct linger now = {.l_onoff = 1};
	char byte;
	int client = dial(at), peer = accept(service, NULL, NULL);

	CHECK(write(client, "x", 1) == 1 && read(peer, &byte, 1) == 1);
	CHECK(setsockopt(peer, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) == 0);
	close(peer);
	CHECK(read(client, &byte, 1) < 0 && errno == ECONNRESET);
	close(client);
}

static void check_nobody(uint16_t at)
{
	char byte;
	int client = dial(at);

	CHECK(read(client, &byte, 1) < 0 && errno == ECONNRESET);
	close(client);
}

static void check_served(void)
{
	struct served s;
	int v4 = listen_at(false, &s.to[0]), v6 = listen_at(true, &s.to[1]);
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		s.listen[i] = listen_at(false, &s.at[i]);
	CHECK(pthread_create(&thread, NULL, serve, &s) == 0);
	check_bulk(s.at[0], v4);
	check_broken(s.at[0], v4);
	if (v6 >= 0) /* nobody at 127.0.0.1, so ::1 is tried */
		check_bulk(s.at[1], v6);
	fd_close(&v4);
	fd_close(&v6);
	check_nobody(s.at[0]);
	/* a listener that is broken ends it */
	CHECK(shutdown(s.listen[0], SHUT_RD) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	for (int i = 0; i < 2; i++)
		close(s.listen[i]);
}

int main(void)
{
	check_hand();
	check_connect();
	check_served();
	return check_status();
}
