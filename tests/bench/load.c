/*
 * Both ends of a measurement of HTTPS; one program, no library where it runs.
 *
 *	load serve PORT [CERTIFICATE KEY]
 *		answer every request with 100 bytes, /b/N with N bytes, in the
 *		clear without a certificate; says "ready" when it listens
 *	load get ADDRESS PORT NAME CONNECTIONS SECONDS
 *		requests one after the other on each connection; prints
 *		requests per second, p50 and p99 in microseconds, and how many
 *		they were
 *	load open ADDRESS PORT NAME CONNECTIONS SECONDS
 *		the same with a new connection for each request
 *	load fetch ADDRESS PORT NAME MEGABYTES
 *		one download; prints MB per second
 *	load clear ADDRESS PORT NAME MEGABYTES
 *		the same without TLS
 *
 * Threads that block, one per connection: simple, and quick enough for the
 * few dozen that are used here.
 */
#include "tests/bench/clock.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define THREADS	 256
#define SAMPLES	 2000000 /* of one connection; later ones are not kept */
#define BUF_SIZE 65536
#define CLOSE	 "Connection: close\r\n" /* RFC 9112, 9.6 */

static SSL_CTX *context;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void no_delay(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* A connection, by TLS or in the clear. */
struct link {
	int fd;
	SSL *tls; /* NULL: in the clear */
};

static ssize_t link_read(struct link *l, void *buf, size_t n)
{
	return l->tls ? SSL_read(l->tls, buf, (int)n) : read(l->fd, buf, n);
}

static ssize_t link_write(struct link *l, const void *buf, size_t n)
{
	size_t done = 0;

	if (l->tls)
		return SSL_write(l->tls, buf, (int)n);
	while (done < n) {
		ssize_t some = write(l->fd, (const char *)buf + done, n - done);

		if (some <= 0)
			return -1;
		done += (size_t)some;
	}
	return (ssize_t)n;
}

static void hang_up(struct link *l)
{
	SSL_free(l->tls);
	close(l->fd);
}

/* --- server -------------------------------------------------------------- */

static ssize_t send_bytes(struct link *l, size_t n)
{
	static const char block[BUF_SIZE];
	char head[128];
	int size =
		snprintf(head, sizeof(head),
			 "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", n);

	/* One write for a small answer, as a real server has it. */
	if (n <= 100) {
		char all[sizeof(head) + 100] = {0};

		memcpy(all, head, (size_t)size);
		return link_write(l, all, (size_t)size + n);
	}
	if (link_write(l, head, (size_t)size) <= 0)
		return -1;
	while (n) {
		size_t part = n < BUF_SIZE ? n : BUF_SIZE;

		if (link_write(l, block, part) <= 0)
			return -1;
		n -= part;
	}
	return 1;
}

static void *serve_one(void *arg)
{
	struct link l = {(int)(intptr_t)arg, context ? SSL_new(context) : NULL};
	char buf[16384];
	size_t used = 0;

	no_delay(l.fd);
	if (l.tls)
		SSL_set_fd(l.tls, l.fd);
	while (!l.tls || SSL_is_init_finished(l.tls) || SSL_accept(l.tls) > 0) {
		ssize_t n = link_read(&l, buf + used, sizeof(buf) - used - 1);
		char *end;

		if (n <= 0)
			break;
		used += (size_t)n;
		buf[used] = '\0';
		while ((end = strstr(buf, "\r\n\r\n"))) {
			size_t size = 100;

			bool last;

			end += 4;
			last = memmem(buf, (size_t)(end - buf), CLOSE,
				      strlen(CLOSE));
			sscanf(buf, "GET /b/%zu", &size);
			if (send_bytes(&l, size) <= 0 || last)
				goto out;
			used -= (size_t)(end - buf);
			memmove(buf, end, used + 1);
		}
		if (used + 1 >= sizeof(buf))
			break;
	}
out:
	hang_up(&l);
	return NULL;
}

static _Noreturn void serve(const char *port, const char *certificate,
			    const char *key)
{
	struct sockaddr_in6 at = {.sin6_family = AF_INET6,
				  .sin6_port = htons((uint16_t)atoi(port))};
	int one = 1, fd = socket(AF_INET6, SOCK_STREAM, 0);

	if (certificate)
		context = SSL_CTX_new(TLS_server_method());
	if (certificate &&
	    (SSL_CTX_use_certificate_chain_file(context, certificate) <= 0 ||
	     SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) <= 0))
		die(certificate);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(fd, 1024) < 0)
		die(port);
	puts("ready");
	fflush(stdout);
	for (;;) {
		pthread_t t;
		int in = accept(fd, NULL, NULL);

		if (in < 0)
			continue;
		if (pthread_create(&t, NULL, serve_one, (void *)(intptr_t)in))
			close(in);
		else
			pthread_detach(t);
	}
}

/* --- client -------------------------------------------------------------- */

struct job {
	const char *name;
	struct sockaddr_in to;
	double until;
	int fresh;	/* a new connection for each request */
	uint32_t *took; /* microseconds of each request */
	size_t count;
};

static struct link dial(const struct job *j)
{
	struct link l = {socket(AF_INET, SOCK_STREAM, 0), NULL};

	if (connect(l.fd, (const struct sockaddr *)&j->to, sizeof(j->to)) < 0)
		die("connect");
	no_delay(l.fd);
	if (!context)
		return l;
	l.tls = SSL_new(context);
	SSL_set_tlsext_host_name(l.tls, j->name);
	SSL_set_fd(l.tls, l.fd);
	if (SSL_connect(l.tls) <= 0)
		die("handshake");
	return l;
}

/* The body's size once the whole answer was read. */
static size_t ask(struct link *l, const char *request, char *buf)
{
	size_t have = 0, size, left;
	char *end, *length;

	if (link_write(l, request, strlen(request)) <= 0)
		die("write");
	do {
		ssize_t n = link_read(l, buf + have, BUF_SIZE - 1 - have);

		if (n <= 0)
			die("the answer's head");
		have += (size_t)n;
		buf[have] = '\0';
	} while (!(end = strstr(buf, "\r\n\r\n")));
	length = strcasestr(buf, "content-length:");
	if (strncmp(buf, "HTTP/1.1 200", 12) != 0 || !length)
		die(buf);
	size = strtoul(length + 15, NULL, 10);
	left = size - (have - (size_t)(end + 4 - buf));
	while (left) {
		ssize_t n = link_read(l, buf, BUF_SIZE);

		if (n <= 0)
			die("the answer's body");
		left -= (size_t)n;
	}
	return size;
}

/*
 * Whoever ends a connection first keeps its port from being used for a minute
 * (RFC 9293, 3.6.1): that is the server, as for any answer to a request that
 * says CLOSE. A client would run out of ports for one server within seconds,
 * and the kernel's search for a free one would be what is measured.
 */
static void see_end(struct link *l, char *buf)
{
	while (link_read(l, buf, BUF_SIZE) > 0)
		;
	hang_up(l);
}

static void *run(void *arg)
{
	struct job *j = arg;
	char request[512], buf[BUF_SIZE];
	struct link l = {-1, NULL};

	if (!j->fresh)
		l = dial(j);
	snprintf(request, sizeof(request),
		 "GET /v1/x HTTP/1.1\r\nHost: %s\r\n%s\r\n", j->name,
		 j->fresh ? CLOSE : "");
	while (now_us() < j->until) {
		double begun = now_us();

		if (j->fresh)
			l = dial(j);
		ask(&l, request, buf);
		if (j->fresh)
			see_end(&l, buf);
		if (j->count < SAMPLES)
			j->took[j->count++] = (uint32_t)(now_us() - begun);
	}
	return NULL;
}

static int up(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int get(struct job *base, int connections, double seconds)
{
	static struct job jobs[THREADS];
	static pthread_t threads[THREADS];
	size_t total = 0;
	uint32_t *all;

	base->until = now_us() + seconds * 1e6;
	for (int i = 0; i < connections; i++) {
		jobs[i] = *base;
		jobs[i].took = calloc(SAMPLES, sizeof(*jobs[i].took));
		pthread_create(&threads[i], NULL, run, &jobs[i]);
	}
	for (int i = 0; i < connections; i++) {
		pthread_join(threads[i], NULL);
		total += jobs[i].count;
	}
	all = calloc(total + 1, sizeof(*all));
	total = 0;
	for (int i = 0; i < connections; i++) {
		memcpy(all + total, jobs[i].took, jobs[i].count * sizeof(*all));
		total += jobs[i].count;
	}
	qsort(all, total, sizeof(*all), up);
	printf("%.0f %u %u %zu\n", (double)total / seconds, all[total / 2],
	       all[total * 99 / 100], total);
	return 0;
}

static int fetch(struct job *j, const char *megabytes)
{
	char request[512], buf[BUF_SIZE];
	struct link l = dial(j);
	double begun;
	size_t size;

	snprintf(request, sizeof(request),
		 "GET /b/%s000000 HTTP/1.1\r\nHost: %s\r\n\r\n", megabytes,
		 j->name);
	begun = now_us();
	size = ask(&l, request, buf);
	printf("%.1f\n", (double)size / (now_us() - begun));
	return 0;
}

int main(int argc, char **argv)
{
	struct job j = {0};

	signal(SIGPIPE, SIG_IGN);
	if ((argc == 3 || argc == 5) && !strcmp(argv[1], "serve"))
		serve(argv[2], argc == 5 ? argv[3] : NULL,
		      argc == 5 ? argv[4] : NULL);
	if (argc < 6) {
		fprintf(stderr, "usage: see load.c\n");
		return 2;
	}
	if (strcmp(argv[1], "clear") != 0)
		context = SSL_CTX_new(TLS_client_method());
	j.name = argv[4];
	j.fresh = !strcmp(argv[1], "open");
	j.to.sin_family = AF_INET;
	j.to.sin_port = htons((uint16_t)atoi(argv[3]));
	if (inet_pton(AF_INET, argv[2], &j.to.sin_addr) != 1)
		die(argv[2]);
	if (!strcmp(argv[1], "fetch") || !strcmp(argv[1], "clear"))
		return fetch(&j, argv[5]);
	if (argc != 7 || atoi(argv[5]) < 1 || atoi(argv[5]) > THREADS)
		die("connections");
	return get(&j, atoi(argv[5]), atof(argv[6]));
}
