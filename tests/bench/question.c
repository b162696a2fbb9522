/*
 * Both ends of a measurement of DNS; one program, no library where it runs.
 *
 *	question serve ADDRESS PORT
 *		answer every question for an address at once, as a resolver
 *		does that has the answer; says "ready" when it listens
 *	question ask ADDRESS PORT NAME TIMES
 *		the same question, one after the other; prints the median in
 *		microseconds
 */
#include "tests/bench/clock.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define HEADER	12 /* bytes */
#define MESSAGE 512
#define TIMES	1000000

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static _Noreturn void serve(const char *addr, const char *port)
{
	/* A name that points to the question's, A, IN, 300 s, 11.0.30.1 */
	static const uint8_t record[] = {0xc0, HEADER, 0, 1, 0,	 1, 0,	0,
					 1,    44,     0, 4, 11, 0, 30, 1};
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)atoi(port))};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (inet_pton(AF_INET, addr, &at.sin_addr) != 1 ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		die(port);
	puts("ready");
	fflush(stdout);
	for (;;) {
		uint8_t m[MESSAGE + sizeof(record)];
		struct sockaddr_in peer;
		socklen_t size = sizeof(peer);
		ssize_t n = recvfrom(fd, m, MESSAGE, 0,
				     (struct sockaddr *)&peer, &size);
		size_t end = HEADER;

		while (n > HEADER && end < (size_t)n && m[end])
			end += m[end] + 1u;
		end += 5;
		if (n < 0 || end > (size_t)n)
			continue;
		memcpy(m + 2, "\x81\x80\0\1\0\1\0\0\0\0", 10);
		/* Only what is asked for by IPv4 is there. */
		m[7] = m[end - 3] == 1;
		memcpy(m + end, record, sizeof(record));
		(void)!sendto(fd, m, end + (m[7] ? sizeof(record) : 0), 0,
			      (struct sockaddr *)&peer, size);
	}
}

static size_t put_name(uint8_t *out, const char *name)
{
	uint8_t *at = out;

	for (const char *dot; *name; name = *dot ? dot + 1 : dot) {
		dot = strchrnul(name, '.');
		*at++ = (uint8_t)(dot - name);
		memcpy(at, name, (size_t)(dot - name));
		at += dot - name;
	}
	*at++ = 0;
	return (size_t)(at - out);
}

static int up(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int ask(char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)atoi(argv[3]))};
	int fd = socket(AF_INET, SOCK_DGRAM, 0), times = atoi(argv[5]);
	struct timeval patience = {.tv_sec = 3};
	uint8_t q[MESSAGE] = {0, 0, 1, 0, 0, 1}, a[MESSAGE];
	size_t n = HEADER;
	double *took;

	if (strlen(argv[4]) > 250 || times < 1 || times > TIMES ||
	    inet_pton(AF_INET, argv[2], &to.sin_addr) != 1)
		die("usage");
	n += put_name(q + n, argv[4]);
	memcpy(q + n, "\0\1\0\1", 4);
	n += 4;
	took = calloc((size_t)times, sizeof(*took));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		die("connect");
	for (int i = 0; i < times; i++) {
		double begun = now_us();
		ssize_t got;

		q[0] = (uint8_t)(i >> 8);
		q[1] = (uint8_t)i;
		if (send(fd, q, n, 0) < 0)
			die("send");
		got = recv(fd, a, sizeof(a), 0);
		took[i] = now_us() - begun;
		if (got <= (ssize_t)n || memcmp(a, q, 2) != 0 || a[3] & 15)
			die("not an answer");
	}
	qsort(took, (size_t)times, sizeof(*took), up);
	printf("%.1f\n", took[times / 2]);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "serve"))
		serve(argv[2], argv[3]);
	if (argc == 6 && !strcmp(argv[1], "ask"))
		return ask(argv);
	fprintf(stderr, "usage: see question.c\n");
	return 2;
}
