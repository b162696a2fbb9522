/*
 * The way out by a proxy where its system calls fail: whichever it is, nobody
 * serves, and whoever began it hears so.
 */
#include "tests/unit/gate/onward_ends.h"
#include "tests/unit/steps.h"

/* Shared: who begins it, and how far it is. */
static struct {
	pid_t first;
	bool serves, unblocked;
} * way;

static bool make_way(void)
{
	way->first = getpid();
	way->serves = way->unblocked = false;
	unlink(GATE_UPSTREAM);
	return true;
}

/* Somebody takes what comes to its socket, or did: the next one then finds
 * nobody. */
static bool is_served(void)
{
	struct sockaddr_un sa = path_at(GATE_UPSTREAM);
	bool ok = true;

	for (int i = 0; ok && i < 2; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		ok = connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0;
		shutdown(fd, SHUT_WR);
		ok = ok && hears_end(fd);
		close(fd);
	}
	return ok;
}

static int run_way(struct err *e)
{
	struct onward_proxy p = {.port = 1};
	struct onward o = {.pidfd = -1};
	int rc = onward_start(&p, names, &o, e);

	if (rc < 0)
		return rc;
	way->serves = true;
	if (!is_served())
		rc = err_set(e, -EIO, "%s", strerror(EIO));
	kill(o.pid, SIGKILL);
	return waitpid(o.pid, NULL, 0) == o.pid ? rc : -ECHILD;
}

/* Up to where it gives up what it is blocked by. */
static bool is_beginning(const struct seccomp_notif *n)
{
	if ((pid_t)n->pid == way->first)
		return !way->serves;
	if (way->unblocked)
		return false;
	way->unblocked = n->data.nr == SYS_rt_sigprocmask;
	return true;
}

int main(void)
{
	const struct steps_of all = {"the way out", make_way, run_way,
				     NULL,	    0,	      is_beginning};

	if (STEPS_SANITIZED || !steps_are_asked() || !begin_ends())
		return NOT_HERE;
	way = mmap(NULL, sizeof(*way), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(way != MAP_FAILED);
	steps_check(&all);
	return check_status();
}
