/* A switch of the kernel's, in a network of this test's own. */
#include "compiler/base/sys/sysctl.h"

#include "tests/check.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORWARD "net/ipv4/ip_forward"

static int forward_is(void)
{
	FILE *f = fopen("/proc/sys/" FORWARD, "re");
	int c = f ? fgetc(f) : EOF;

	if (f)
		fclose(f);
	return c;
}

static void writable(void)
{
	CHECK(sysctl_put(FORWARD, "0") && forward_is() == '0');
	CHECK(sysctl_put(FORWARD, "0"));
	CHECK(sysctl_put(FORWARD, "1") && forward_is() == '1');
	CHECK(!sysctl_put(FORWARD, "x") && forward_is() == '1');
	CHECK(!sysctl_put("net/ipv4/no_such_switch", "1"));
	CHECK(!sysctl_put("net/ipv4", "1"));
}

/* As in a container: by a procfs of its own, or not at all. */
static void read_only(void)
{
	bool put;

	CHECK(mount("/proc/sys", "/proc/sys", NULL, MS_BIND, NULL) == 0);
	CHECK(mount(NULL, "/proc/sys", NULL,
		    MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) == 0);
	CHECK(sysctl_put(FORWARD, "1"));
	put = sysctl_put(FORWARD, "0");
	CHECK(forward_is() == (put ? '0' : '1'));
	CHECK(!sysctl_put("net/ipv4/no_such_switch", "1"));
}

/* In a child: a process whose namespace of processes has ended makes none any
 * more, which a sanitizer wants at the end. */
static int run_in_child(int (*run)(void))
{
	int status = 1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(run());
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status)
		       ? WEXITSTATUS(status)
		       : -1;
}

static int try_both(void)
{
	writable();
	read_only();
	return check_status();
}

static int in_namespaces(void)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET |
		    CLONE_NEWPID) < 0) {
		puts("no namespaces of a user's own here: not tried");
		fflush(stdout);
		return 0;
	}
	return run_in_child(try_both);
}

int main(void)
{
	CHECK(run_in_child(in_namespaces) == 0);
	CHECK(!sysctl_put("no/such/switch", "1"));
	return check_status();
}
