/*
 * A Docker of canned answers, on a socket: for unit tests of what asks it.
 */
#ifndef TESTS_UNIT_DOCKER_STANDIN_H
#define TESTS_UNIT_DOCKER_STANDIN_H

#include "compiler/base/sys/proc.h"
#include "tests/check.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* The first row whose request fits answers; none: 400, "not canned". */
struct standin_answer {
	const char *request; /* how the request line begins */
	int status;
	const char *body;
};

/* Where the lines of requests go, if anybody wants them. */
static int standin_heard = -1;

static inline void standin_reply(int c, const char *head,
				 const struct standin_answer *table,
				 size_t rows)
{
	const struct standin_answer *found = NULL;
	char out[4096];
	int n;

	for (size_t i = 0; i < rows && !found; i++)
		if (strncmp(head, table[i].request, strlen(table[i].request)) ==
		    0)
			found = &table[i];
	n = snprintf(out, sizeof(out),
		     "HTTP/1.1 %d X\r\nApi-Version: 1.99\r\n"
		     "Content-Length: %zu\r\n\r\n%s",
		     found ? found->status : 400,
		     strlen(found ? found->body : "not canned"),
		     found ? found->body : "not canned");
	if (standin_heard >= 0 &&
	    write(standin_heard, head, strcspn(head, "\r") + 1) < 0)
		_exit(1);
	if (write(c, out, (size_t)n) != n)
		_exit(1);
}

/* One connection at a time would starve the event stream: a child each. */
static inline void standin_serve(int listener,
				 const struct standin_answer *table,
				 size_t rows)
{
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int c = accept(listener, NULL, NULL);
		char head[8192];
		size_t n = 0;

		if (c < 0)
			_exit(0);
		if (fork() != 0) {
			close(c);
			continue;
		}
		for (;;) {
			ssize_t got = read(c, head + n, sizeof(head) - 1 - n);

			if (got <= 0)
				_exit(0);
			n += (size_t)got;
			head[n] = '\0';
			/* bodies are small: they come with their headers */
			if (!strstr(head, "\r\n\r\n"))
				continue;
			standin_reply(c, head, table, rows);
			n = 0;
		}
	}
}

/* Its process: to be killed. */
static inline pid_t standin_start(const char *path,
				  const struct standin_answer *table,
				  size_t rows)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	pid_t pid;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	CHECK(bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0 &&
	      listen(listener, 16) == 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test may crash */
		proc_close_others(listener, standin_heard); /* and its locks */
		standin_serve(listener, table, rows);
	}
	close(listener);
	return pid;
}

#endif
