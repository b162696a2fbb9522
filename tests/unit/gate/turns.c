/*
 * One HAProxy takes another's place: who is told what, who may end what it has,
 * and who has to go. The processes are this test's, as is the runtime socket.
 */
#include "runtime/gate/l7/l7_next.h"
#include "runtime/gate/l7/user.h"
#include "tests/unit/gate/administrator.h"
#include "tests/unit/gate/rooms.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>

#define KEPT L7_KEEP "admin.sock"

static struct err err;
static struct l7 l;
static char complaint[200];

static void on_error(void *data, const char *message)
{
	(void)data;
	snprintf(complaint, sizeof(complaint), "%s", message);
}

static void on_lost(void *data, uint64_t n)
{
	(void)data, (void)n;
}

/* One that does nothing but what signals make of it. */
static struct haproxy begin_haproxy(void)
{
	struct haproxy h = haproxy_none();

	h.pid = fork();
	if (h.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	h.pidfd = (int)syscall(SYS_pidfd_open, h.pid, 0);
	return h;
}

static bool is_gone(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

static void turn(int64_t now_ms)
{
	struct pollfd p[L7_POLL];

	l7_poll(&l, p);
	CHECK(l7_step(&l, p, now_ms, &err) == 0);
}

static void take(bool cut, int64_t now_ms, uint32_t generation)
{
	struct l7_plan p = {.generation = generation};

	complaint[0] = '\0';
	l7_next_take(&l, &p, cut, now_ms);
	CHECK(p.generation == 0); /* it is l's now */
	CHECK(l.haproxy.pid == 0 && l.next.pid == 0 && !l.serves &&
	      l.plan.generation == generation && !l.pins.admin);
	/* what was kept for it is forgotten, and nothing else */
	CHECK(access(KEPT, F_OK) < 0 && access(GATE_ADMIN, F_OK) == 0);
}

/* A grant disturbs nobody: it may end what it has. */
static void kept_on(void)
{
	pid_t pid;

	l.haproxy = begin_haproxy();
	l.serves = true;
	l.plan.generation = 1;
	pid = l.haproxy.pid;
	ANSWERS("Name: HAProxy\nDroppedLogs: 0\n");
	take(false, 1000, 2);
	CHECK(TOLD("show info\n") && !complaint[0]);
	CHECK(l.past[0].haproxy.pid == pid && l.past[0].generation == 1 &&
	      l.past[0].kill_ms == 0 && !l7_next_cutting(&l));
	/* it was asked to end, and is buried when it has */
	CHECK(poll(&(struct pollfd){l.past[0].haproxy.pidfd, POLLIN, 0}, 1,
		   10000) == 1);
	turn(2000);
	CHECK(l.past[0].haproxy.pid == 0 && is_gone(pid));
}

/* A denial ends what was permitted: at once, or when it is killed for it. */
static void cut_off(void)
{
	struct haproxy earlier = begin_haproxy(), one;
	int64_t kill_ms = 5000 + L7_CUT_MS;

	signal(SIGUSR1, SIG_IGN); /* which children have of this one */
	one = begin_haproxy();
	signal(SIGUSR1, SIG_DFL);
	l.past[0] = (struct l7_past){.haproxy = earlier, .generation = 1};
	l.haproxy = one;
	ANSWERS("Name: HAProxy\n", "# none\n", "");
	take(true, 5000, 3);
	CHECK(TOLD("show info\n", "show servers conn\n", "show sess\n") &&
	      !complaint[0]);
	CHECK(l.past[1].haproxy.pid == one.pid && l.past[1].generation == 2);
	CHECK(l.past[0].kill_ms == kill_ms && l.past[1].kill_ms == kill_ms);
	CHECK(l7_next_cutting(&l));
	l.sweep_ms = kill_ms + 1000;
	CHECK(l7_wait_ms(&l, kill_ms - 7) == 7);
	CHECK(l7_wait_ms(&l, kill_ms + 7) == 0);
	turn(kill_ms - 1);
	CHECK(l.past[1].haproxy.pid == one.pid && l7_next_cutting(&l));
	turn(kill_ms);
	CHECK(!l.past[0].haproxy.pid && !l.past[1].haproxy.pid &&
	      is_gone(one.pid) && is_gone(earlier.pid) && !l7_next_cutting(&l));
}

/* What it does not answer is told, and it goes all the same. */
static void unheard(void)
{
	pid_t pid;

	l.haproxy = begin_haproxy();
	pid = l.haproxy.pid;
	ANSWERS("Name: HAProxy\n", "a/b 1/1 x\n", "No such server.\n\n");
	take(true, 1, 4);
	CHECK(TOLD("show info\n", "show servers conn\n",
		   "shutdown sessions server a/b\n"));
	CHECK(strstr(complaint, "No such server") != NULL);
	turn(1 + L7_CUT_MS);
	CHECK(is_gone(pid));
}

/* Of too many the oldest loses its place. */
static void crowded(void)
{
	static const uint32_t generations[L7_PAST] = {7, 5, 6, 8};
	pid_t oldest, pid;

	for (size_t i = 0; i < L7_PAST; i++)
		l.past[i] = (struct l7_past){.haproxy = begin_haproxy(),
					     .generation = generations[i]};
	oldest = l.past[1].haproxy.pid;
	l.haproxy = begin_haproxy();
	l.plan.generation = 9;
	pid = l.haproxy.pid;
	ANSWERS("Name: HAProxy\n");
	take(false, 1, 10);
	CHECK(is_gone(oldest) && l.past[1].haproxy.pid == pid &&
	      l.past[1].generation == 9);
	for (size_t i = 0; i < L7_PAST; i++)
		haproxy_end(&l.past[i].haproxy);
}

static void plans(void)
{
	struct l7_plan p = {.decrypts = true, .wanted = true};

	CHECK(l7_next_start(&l, &p, &err) == -EOPNOTSUPP &&
	      strstr(err.text, "decrypts nothing"));
	p = (struct l7_plan){.wanted = false};
	CHECK(l7_next_start(&l, &p, &err) == 0 && l.next.pid == 0);
	CHECK(l7_next_ready(&l, &p, &err) == 1);
	l.sweep_ms = 2000;
	CHECK(l7_wait_ms(&l, 1500) == 500);
	l.log.kept = 1;
	CHECK(l7_wait_ms(&l, 1500) == 0);
	l.log.kept = 0;
	l.plan.wanted = true;
	CHECK(l7_wait_ms(&l, 1500) == HAPROXY_RETRY_MS);
	l.serves = true;
	CHECK(l7_wait_ms(&l, 1500) == 500);
	l.plan.wanted = l.serves = false;
}

int main(void)
{
	signal(SIGUSR1, SIG_DFL);
	if (!enter_room())
		return NOT_HERE;
	administrator_start_at(GATE_ADMIN);
	/* HAProxy's own, by whom alone it may be linked */
	CHECK(chown(GATE_ADMIN, user_there(GATE_UID), (gid_t)-1) == 0 &&
	      chmod(GATE_ADMIN, 0666) == 0);
	l7_init(&l);
	l.on_error = on_error;
	l.on_lost = on_lost;
	kept_on();
	cut_off();
	unheard();
	crowded();
	plans();
	kill(administrator_pid, SIGKILL);
	CHECK(waitpid(administrator_pid, NULL, 0) == administrator_pid);
	return check_status();
}
