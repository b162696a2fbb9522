/*
 * HAProxy's runtime socket, played by a process of a test's: it keeps what it
 * is told, in order, and answers what the test has written down for each.
 * Behind the last of these it says nothing, and hangs up.
 */
#ifndef TESTS_UNIT_GATE_ADMINISTRATOR_H
#define TESTS_UNIT_GATE_ADMINISTRATOR_H

#include "runtime/gate/l7/admin.h"
#include "tests/check.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOLD_MAX   16u
#define ANSWER_MAX (ADMIN_ANSWER_MAX + 2u)

static struct administrator {
	unsigned n; /* commands so far */
	char told[TOLD_MAX][ADMIN_BATCH_MAX + 1];
	char answers[TOLD_MAX][ANSWER_MAX];
	int wait; /* before an answer something is read here; -1: nothing */
} * administrator;

static char administrator_path[] = "/tmp/membrane-admin-XXXXXX/sock";
static pid_t administrator_pid;

static inline void administrator_serve(int listener)
{
	struct administrator *a = administrator;
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		unsigned i = a->n;
		ssize_t n;

		if (fd < 0 || i == TOLD_MAX)
			_exit(1);
		n = recv(fd, a->told[i], ADMIN_BATCH_MAX, 0);
		a->told[i][n > 0 ? n : 0] = '\0';
		a->n = i + 1;
		if (a->wait >= 0)
			(void)!read(a->wait, &c, 1);
		(void)send(fd, a->answers[i], strlen(a->answers[i]),
			   MSG_NOSIGNAL);
		close(fd);
	}
}

/* At a path of the caller's. */
static inline void administrator_start_at(const char *path)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	administrator =
		mmap(NULL, sizeof(*administrator), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(administrator != MAP_FAILED);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	CHECK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	      listen(fd, 8) == 0);
	administrator->wait = -1;
	administrator_pid = fork();
	if (administrator_pid == 0)
		administrator_serve(fd);
	close(fd);
}

static inline void administrator_start(void)
{
	char *slash = strrchr(administrator_path, '/');

	*slash = '\0';
	CHECK(mkdtemp(administrator_path) != NULL);
	*slash = '/';
	administrator_start_at(administrator_path);
}

static inline void administrator_end(void)
{
	kill(administrator_pid, SIGKILL);
	CHECK(waitpid(administrator_pid, NULL, 0) == administrator_pid);
	unlink(administrator_path);
	*strrchr(administrator_path, '/') = '\0';
	rmdir(administrator_path);
}

/* Its next answers: up to NULL. */
static inline void answer_with(const char *const *answers)
{
	memset(administrator->told, 0, sizeof(administrator->told));
	for (unsigned i = 0; i < TOLD_MAX; i++) {
		administrator->answers[i][0] = '\0';
		if (*answers)
			snprintf(administrator->answers[i], ANSWER_MAX, "%s",
				 *answers++);
	}
	administrator->n = 0;
}

#define ANSWERS(...) answer_with((const char *const[]){__VA_ARGS__, NULL})

/* That was the command of that number, from 0, and these are all. */
static inline bool was_told(unsigned i, const char *command)
{
	if (i < administrator->n &&
	    strcmp(administrator->told[i], command) == 0)
		return true;
	fprintf(stderr, "command %u of %u: %s\n", i, administrator->n,
		i < TOLD_MAX ? administrator->told[i] : "");
	return false;
}

static inline bool was_told_all(const char *const *commands)
{
	unsigned i = 0;

	for (; commands[i]; i++)
		if (!was_told(i, commands[i]))
			return false;
	return administrator->n == i;
}

#define TOLD(...) was_told_all((const char *const[]){__VA_ARGS__, NULL})

#endif
