/* A program is closed before its first instruction, whatever it is. */
#include "runtime/view/who/sealing.h"

#include "compiler/base/err.h"
#include "tests/check.h"

#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define GOES_ON(line) sealing_goes_on(line, sizeof(line) - 1)

static void go_betweens_are_told(void)
{
	CHECK(GOES_ON("/usr/bin/env\0node\0claude\0"));
	CHECK(GOES_ON("sh\0-c\0exec claude\0"));
	CHECK(GOES_ON("bash"));
	CHECK(!GOES_ON("/opt/env/claude\0sh\0"));
	CHECK(!GOES_ON("node\0/usr/bin/env\0"));
	CHECK(!GOES_ON("envs\0"));
	CHECK(!GOES_ON(""));
}

/* Goes on as ourselves, under that name, once it may: as the wait for an answer
 * is over. */
static pid_t start_child(const char *name, int begin, int told)
{
	pid_t child = fork();
	char c;

	if (child != 0)
		return child;
	if (read(begin, &c, 1) == 1 && dup2(told, STDOUT_FILENO) >= 0)
		execl("/proc/self/exe", name, "--tell", NULL);
	_exit(99);
}

/* What the child said before it ended: is it open to others? */
static void is_closed(const char *name)
{
	struct sealing s = {0};
	struct err err;
	siginfo_t how;
	int begin[2], told[2];
	pid_t child;
	char open = 2;

	CHECK(pipe(begin) == 0 && pipe(told) == 0);
	child = start_child(name, begin[0], told[1]);
	close(told[1]);
	CHECK(sealing_begin(&s, child, &err) == 0);
	CHECK(sealing_begin(&s, child, &err) == -EBUSY);
	CHECK(write(begin[1], "x", 1) == 1);
	while (s.process) {
		CHECK(waitid(P_PID, (id_t)child, &how,
			     WEXITED | WSTOPPED | WNOWAIT | __WALL) == 0);
		if (sealing_step(&s, STR("meant"), &err) < 0)
			break;
	}
	CHECK(s.process == 0);
	if (s.process)
		kill(child, SIGKILL);
	CHECK(read(told[0], &open, 1) == 1 && open == 0);
	waitpid(child, NULL, 0); /* unless that was the tracer's */
	close(begin[0]);
	close(begin[1]);
	close(told[0]);
}

static void signals_are_its_own(void)
{
	struct sealing s = {0};
	struct err err;
	siginfo_t how;
	int begin[2];
	pid_t child;

	CHECK(pipe(begin) == 0);
	child = start_child("other", begin[0], STDOUT_FILENO);
	CHECK(sealing_begin(&s, child, &err) == 0);
	CHECK(kill(child, SIGTERM) == 0);
	while (s.process) {
		CHECK(waitid(P_PID, (id_t)child, &how,
			     WEXITED | WSTOPPED | WNOWAIT | __WALL) == 0);
		if (sealing_step(&s, STR("meant"), &err) < 0)
			break;
	}
	/* It waits for a byte that does not come: nothing else ends it. */
	CHECK(s.process == 0);
	if (s.process)
		kill(child, SIGKILL);
	close(begin[0]);
	close(begin[1]);
}

static void nobody_is_not_traced(void)
{
	struct sealing s = {0};
	struct err err;

	CHECK(sealing_begin(&s, getpid(), &err) < 0);
	CHECK(!s.begun && sealing_step(&s, STR("meant"), &err) == 0);
}

static bool may_trace(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {0};

	return syscall(SYS_capget, &head, data) == 0 &&
	       data[0].effective & 1u << CAP_SYS_PTRACE;
}

int main(int argc, char **argv)
{
	char open = (char)prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);

	if (argc == 2 && strcmp(argv[1], "--tell") == 0)
		_exit(write(STDOUT_FILENO, &open, 1) != 1);
	go_betweens_are_told();
	nobody_is_not_traced();
	if (may_trace()) {
		is_closed("/opt/meant");
		is_closed("other");
		signals_are_its_own();
	} else {
		fprintf(stderr, "skip: no right to trace\n");
	}
	return check_status();
}
