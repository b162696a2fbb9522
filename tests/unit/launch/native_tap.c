/*
 * A tap device goes from a network, and who has it open is told by the kernel;
 * other links stay.
 */
#include "runtime/launch/native/parts.h"

#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 10000

/* The exit status of who has a device: the first thing that went wrong. */
enum holder {
	HOLDER_TOLD,   /* it is gone */
	HOLDER_NOT,    /* it heard nothing of the kind */
	HOLDER_UNABLE, /* this machine gives nobody a device */
};

static int open_tap(void)
{
	struct ifreq r = {.ifr_name = "tap0",
			  .ifr_flags = IFF_TAP | IFF_NO_PI};
	int fd = unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0
			 ? -1
			 : open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	return fd >= 0 && ioctl(fd, TUNSETIFF, &r) == 0 ? fd : -1;
}

static int hold(int ready)
{
	int fd = open_tap();
	struct pollfd p = {fd, 0, 0};
	bool is_told;

	if (write(ready, fd < 0 ? "-" : "+", 1) != 1 || fd < 0)
		return HOLDER_UNABLE;
	is_told = poll(&p, 1, PATIENCE_MS) == 1 && (p.revents & POLLERR);
	return is_told && !if_nametoindex("tap0") && if_nametoindex("lo")
		       ? HOLDER_TOLD
		       : HOLDER_NOT;
}

static int wait_status(pid_t pid)
{
	int status = -1;

	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int open_namespace(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/ns/%s", (long)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void remove_from(pid_t holder)
{
	int users = open_namespace(holder, "user");
	int network = open_namespace(holder, "net");
	pid_t pid = fork();

	if (pid == 0)
		_exit(tap_remove(users, network) < 0);
	CHECK(wait_status(pid) == 0);
	close(users);
	close(network);
}

static void test_removed(void)
{
	int ready[2];
	char word = 0;
	pid_t pid;

	CHECK(pipe(ready) == 0);
	pid = fork();
	if (pid == 0)
		_exit(hold(ready[1]));
	CHECK(read(ready[0], &word, 1) == 1);
	if (word == '+')
		remove_from(pid);
	CHECK(wait_status(pid) ==
	      (word == '+' ? HOLDER_TOLD : HOLDER_UNABLE));
	close(ready[0]);
	close(ready[1]);
}

static void test_refused(void)
{
	int none = open("/dev/null", O_RDONLY | O_CLOEXEC);

	CHECK(tap_remove(-1, -1) == -EBADF);
	CHECK(tap_remove(none, none) == -EINVAL);
	close(none);
}

int main(void)
{
	test_removed();
	test_refused();
	return check_status();
}
