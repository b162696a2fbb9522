/*
 * A program in HAProxy's place: the test's own, mounted there, which knows by
 * its name what it is. It says what it was given, on its standard output, and
 * then waits to be killed; or it does what its configuration says.
 */
#ifndef TESTS_UNIT_GATE_HAPROXY_STANDIN_H
#define TESTS_UNIT_GATE_HAPROXY_STANDIN_H

#include "runtime/gate/l7/haproxy.h"
#include "tests/check.h"
#include "tests/unit/gate/rooms.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define STANDIN_CONFIG "/run/standin.cfg"
#define STANDIN_FDS    64
#define STANDIN_WAITS  10000 /* ms, for what comes at once */

extern char **environ;

/* "10: listens 0.0.0.0 15001 now", where now: it never waits. */
static inline void say_descriptor(int fd)
{
	char path[64], target[128] = "";
	int listens = 0, flags = fcntl(fd, F_GETFL);
	socklen_t n = sizeof(listens);
	struct sockaddr_storage sa;
	struct sockaddr_in *v4 = (struct sockaddr_in *)&sa;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&sa;
	socklen_t size = sizeof(sa);
	const char *now = flags & O_NONBLOCK ? "now" : "waits";

	if (flags < 0)
		return;
	(void)getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n);
	if (listens && getsockname(fd, (struct sockaddr *)&sa, &size) == 0) {
		printf("%d: listens %s %u %s\n", fd,
		       inet_ntop(sa.ss_family,
				 sa.ss_family == AF_INET
					 ? (void *)&v4->sin_addr
					 : (void *)&v6->sin6_addr,
				 target, sizeof(target)),
		       ntohs(v4->sin_port), now);
		return;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (readlink(path, target, sizeof(target) - 1) < 0)
		return;
	target[strcspn(target, ":[")] = '\0';
	printf("%d: %s %s\n", fd, target, now);
}

/* Of /proc/self/status what stands there first. */
static inline void say_status(void)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "CapEff", 6) == 0 ||
		    strncmp(line, "NoNewPrivs", 10) == 0 ||
		    strncmp(line, "SigBlk", 6) == 0 ||
		    strncmp(line, "SigIgn", 6) == 0)
			fputs(line, stdout);
	if (f)
		fclose(f);
}

static inline void standin_serve(int argc, char **argv)
{
	struct rlimit files = {0};
	int death = 0;

	for (int fd = 0; fd < STANDIN_FDS; fd++)
		say_descriptor(fd);
	for (int i = 0; i < argc; i++)
		printf("argument %s\n", argv[i]);
	for (char **v = environ; *v; v++)
		printf("variable %s\n", *v);
	say_status();
	prctl(PR_GET_PDEATHSIG, &death);
	getrlimit(RLIMIT_NOFILE, &files);
	printf("user %u group %u groups %d dies %d files %d\n", getuid(),
	       getgid(), getgroups(0, NULL), death,
	       files.rlim_cur == files.rlim_max);
	printf("said all\n");
	fflush(stdout);
	fprintf(stderr, "[ALERT] a stand-in\n");
	for (;;)
		pause();
}

/* First of all in main: where it is HAProxy it stays that. */
static inline void standin_if_asked(int argc, char **argv)
{
	char text[64] = "";
	int fd;

	if (strcmp(argv[0], "haproxy") != 0)
		return;
	fd = argc > 3 ? open(argv[3], O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0)
		(void)!read(fd, text, sizeof(text) - 1);
	close(fd);
	if (strcmp(text, "end") == 0) {
		fprintf(stderr, "[ALERT] it ends\n");
		_exit(1);
	}
	standin_serve(argc, argv);
}

/* False: there is none whose place it could take. */
static inline bool standin_mount(void)
{
	char path[512];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n < 0 ? 0 : n] = '\0';
	return mount(path, HAPROXY_PROGRAM, NULL, MS_BIND, NULL) == 0;
}

/* What it says of what it was given. */
static inline const char *standin_said(const struct haproxy *h)
{
	static char said[8192];
	struct pollfd p = {h->words, POLLIN, 0};
	size_t n = 0;
	ssize_t got;

	said[0] = '\0';
	while (!strstr(said, "said all\n") && poll(&p, 1, STANDIN_WAITS) == 1 &&
	       (got = read(h->words, said + n, sizeof(said) - 1 - n)) > 0) {
		n += (size_t)got;
		said[n] = '\0';
	}
	return said;
}

#endif
