/*
 * The next request of the kernel. Where a processor without work falls asleep
 * at once, as in most virtual machines, to wake it takes longer than most
 * answers: so it is looked for, for a moment, before it is slept for. Linux
 * does likewise for its guests (Documentation/virt/kvm/halt-polling.rst).
 */
#include "runtime/view/view.h"

#include "compiler/base/sys/clock.h"

#include <poll.h>
#include <sched.h>

/* How long it is looked for; and how soon the last has come for that. */
#define LOOK_NS 100000
#define SOON_NS 500000
/* A turn that is given away takes as long when a process takes it that has
 * work for long. Then processors do not fall asleep: for so long, none is. */
#define TAKEN_NS 500000
#define BUSY_NS	 100000000

static bool came_soon;
static int64_t busy_until;

/* Whether there was nobody else who wants the processor. */
static bool give_turn(int64_t *out_now)
{
	int64_t begun = clock_ns();

	sched_yield();
	*out_now = clock_ns();
	if (*out_now - begun < TAKEN_NS)
		return true;
	busy_until = *out_now + BUSY_NS;
	return false;
}

static void look_for_request(int fuse, int64_t begun)
{
	struct pollfd p = {fuse, POLLIN, 0};
	int64_t now = begun;

	while (poll(&p, 1, 0) == 0 && now - begun < LOOK_NS && give_turn(&now))
		;
}

int await_request(struct fuse_session *s, struct fuse_buf *buf)
{
	int64_t begun = clock_ns();
	int rc;

	if (came_soon && begun >= busy_until)
		look_for_request(fuse_session_fd(s), begun);
	rc = fuse_session_receive_buf(s, buf);
	came_soon = clock_ns() - begun < SOON_NS;
	return rc;
}
