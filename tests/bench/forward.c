/*
 * What a proxy costs that does nothing else: reads from one end, writes to the
 * other. forward PORT ADDR PORT: whoever connects is connected there, by two
 * threads. No proxy in a process of its own does with less; it is what HAProxy
 * is measured against. For some connections, all of which end with it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define THREADS 2
#define EVENTS	64
#define CHUNK	65536

struct end {
	int fd;
	struct end *other;
};

static struct sockaddr_in listens = {.sin_family = AF_INET},
			  to = {.sin_family = AF_INET};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int open_listener(void)
{
	int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&listens, sizeof(listens)) < 0 ||
	    listen(fd, EVENTS) < 0)
		fail("listen");
	return fd;
}

static void watch(int epoll, int fd, struct end *end)
{
	struct epoll_event e = {EPOLLIN, {.ptr = end}};
	int on = 1;

	if (end && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
		fail("TCP_NODELAY");
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0)
		fail("epoll");
}

static void take(int epoll, int listener)
{
	struct end *ends = calloc(2, sizeof(*ends));
	int from = accept(listener, NULL, NULL),
	    there = socket(AF_INET, SOCK_STREAM, 0);

	if (!ends || from < 0 ||
	    connect(there, (struct sockaddr *)&to, sizeof(to)) < 0)
		fail("connect");
	ends[0] = (struct end){from, &ends[1]};
	ends[1] = (struct end){there, &ends[0]};
	watch(epoll, from, &ends[0]);
	watch(epoll, there, &ends[1]);
}

static void pass(int epoll, const struct end *end)
{
	char bytes[CHUNK];
	ssize_t n = recv(end->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n > 0 &&
	    send(end->other->fd, bytes, (size_t)n, MSG_NOSIGNAL) == n)
		return;
	if (n < 0 && errno == EAGAIN)
		return;
	shutdown(end->other->fd, SHUT_WR);
	epoll_ctl(epoll, EPOLL_CTL_DEL, end->fd, NULL);
}

static void *serve(void *unused)
{
	struct epoll_event events[EVENTS];
	int epoll = epoll_create1(0), listener = open_listener();

	watch(epoll, listener, NULL);
	for (;;) {
		int n = epoll_wait(epoll, events, EVENTS, -1);

		for (int i = 0; i < n; i++)
			if (events[i].data.ptr)
				pass(epoll, events[i].data.ptr);
			else
				take(epoll, listener);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc != 4 || inet_pton(AF_INET, argv[2], &to.sin_addr) != 1)
		return 2;
	listens.sin_port = htons((uint16_t)atoi(argv[1]));
	to.sin_port = htons((uint16_t)atoi(argv[3]));
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, serve, NULL) != 0)
			fail("pthread_create");
	puts("ready");
	fflush(stdout);
	pthread_join(threads[0], NULL);
	return 0;
}
