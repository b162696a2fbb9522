/*
 * Bytes through a TCP connection, as fast as they go, both ends in C so that
 * the ends are not what is measured.
 *
 *	stream serve PORT         send zeros to whoever connects, until killed;
 *	                          a first line says "ready"
 *	stream get ADDR PORT MB   read that much; prints MB/s
 */
#include "tests/bench/clock.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK (256u << 10)

static char chunk[CHUNK];

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(3);
}

static struct sockaddr_in address(const char *addr, const char *port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET};

	sa.sin_port = htons((uint16_t)atoi(port));
	if (inet_pton(AF_INET, addr, &sa.sin_addr) != 1) {
		fprintf(stderr, "stream: '%s' is no address\n", addr);
		exit(2);
	}
	return sa;
}

static _Noreturn void serve(const char *port)
{
	struct sockaddr_in sa = address("0.0.0.0", port);
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    listen(fd, 16) < 0)
		die("stream: listen");
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	puts("ready");
	fflush(stdout);
	for (;;) {
		int c = accept(fd, NULL, NULL);

		if (c < 0)
			die("stream: accept");
		if (fork() == 0) {
			while (write(c, chunk, CHUNK) > 0)
				;
			_exit(0);
		}
		close(c);
	}
}

static int get(const char *addr, const char *port, double megabytes)
{
	struct sockaddr_in sa = address(addr, port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	double left = megabytes * 1e6, begun;

	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		die("stream: connect");
	begun = now_s();
	while (left > 0) {
		ssize_t n = read(fd, chunk, CHUNK);

		if (n <= 0)
			die("stream: read");
		left -= (double)n;
	}
	printf("%.0f\n", megabytes / (now_s() - begun));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "serve") == 0)
		serve(argv[2]);
	if (argc == 5 && strcmp(argv[1], "get") == 0)
		return get(argv[2], argv[3], atof(argv[4]));
	fputs("usage: stream serve PORT | stream get ADDR PORT MB\n", stderr);
	return 2;
}
