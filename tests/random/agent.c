/*
 * An agent that does what nobody has thought of: agent FOLDER SEED STEPS, and
 * behind them "no-ring" where what an io_uring does is told of its workers.
 * From the seed it takes which calls it makes, of those that the tracer tells
 * of, and with what; what it did, and what the kernel then said, is put on the
 * account (account.h), and judge.py says what a trace has to hold of it.
 *
 * agent lend FILE COMMAND... runs a command that may become it, with FILE for
 * the account. FOLDER is empty. It begins as root, as the first process of a
 * pid namespace, in a network namespace of its own. Static, so that a machine
 * without libraries runs it, and at a fixed place, so that 32 bits reach its
 * memory.
 */
#define _GNU_SOURCE
#include "worker.h"

#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define USER	1000
#define THREADS 2

static struct worker workers[8];
static unsigned steps;

static void raise_loopback(void)
{
	struct ifreq r = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (ioctl(fd, SIOCSIFFLAGS, &r) < 0)
		perror("lo");
	close(fd);
}

/* Deep enough that nobody climbs into the folder of another one. */
static void make_home(struct worker *w, struct worker *of, const char *folder,
		      int uid)
{
	static const char *const parts[] = {"", "/x", "/y", "/z"};
	size_t n = (size_t)snprintf(of->home, sizeof(of->home), "%s/w%d",
				    folder, of->id);

	for (int i = 0; i < 4; i++) {
		n += (size_t)snprintf(of->home + n, sizeof(of->home) - n, "%s",
				      parts[i]);
		snprintf(w->text[0], WORK_TEXT, "%s", of->home);
		DO(w, mkdirat, AT_FDCWD, (long)w->text[0], 0755);
		DO(w, fchownat, AT_FDCWD, (long)w->text[0], uid, uid, 0);
	}
}

static void become(int uid)
{
	if (uid && (setgid((gid_t)uid) < 0 || setuid((uid_t)uid) < 0))
		_exit(7);
	/* Its files in /proc are its own again. */
	prctl(PR_SET_DUMPABLE, 1);
}

static void settle(struct worker *w, int uid)
{
	w->account.uid = uid;
	worker_name(w);
	snprintf(w->text[0], WORK_TEXT, "%s", w->home);
	DO(w, chdir, (long)w->text[0]);
}

static void *thread(void *arg)
{
	struct worker *w = arg;

	/* A working directory of its own. */
	DO(w, unshare, CLONE_FS);
	settle(w, USER);
	worker_run(w, steps);
	worker_end(w, ACCOUNT_THREAD, 0);
}

struct started {
	pthread_t thread;
	struct worker *w;
	volatile int tid;
};

static void *started(void *arg)
{
	struct started *s = arg;
	struct worker *w = s->w;

	w->account.uid = USER;
	account_spaces(&w->account);
	__atomic_store_n(&s->tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	return thread(w);
}

static void threads(struct worker *w)
{
	static struct started all[THREADS];

	for (int i = 0; i < THREADS; i++) {
		all[i].w = w + 1 + i;
		account_begin(&w->account, ACCOUNT_FORK);
		if (pthread_create(&all[i].thread, NULL, started, &all[i]))
			_exit(8);
		while (!__atomic_load_n(&all[i].tid, __ATOMIC_ACQUIRE))
			sched_yield();
		w->account.head.args[0] = all[i].tid;
		w->account.head.args[1] = getpid();
		w->account.head.after_ns = account_clock();
		w->account.head.cpu_after = -1;
		account_end(&w->account);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i].thread, NULL);
}

/* Who is at work: the first one is the parent of all, the last ones are the
 * threads of the one before. */
static const struct role {
	int may, uid;
	bool threads, spaces;
} roles[] = {
	{0, 0, false, false},
	{MAY_FILES | MAY_SOCKETS | MAY_NARROW, 0, false, false},
	{MAY_FILES | MAY_SOCKETS | MAY_ATTEMPT | MAY_PROGRAMS | MAY_NARROW |
		 MAY_RING,
	 USER, false, false},
	{MAY_FILES | MAY_SPACES | MAY_PROGRAMS | MAY_NARROW, USER, false, true},
	{0, USER, true, false},
	{MAY_FILES | MAY_SOCKETS | MAY_ATTEMPT | MAY_NARROW, USER, false,
	 false},
	{MAY_FILES | MAY_SOCKETS | MAY_ATTEMPT | MAY_RING, USER, false, false},
};
#define ROLES (int)(sizeof(roles) / sizeof(roles[0]))

static _Noreturn void work(int i)
{
	struct worker *w = &workers[i];

	become(roles[i].uid);
	settle(w, roles[i].uid);
	if (roles[i].threads)
		threads(w);
	else if (!roles[i].spaces || spaces_enter(w))
		worker_run(w, steps);
	worker_end(w, ACCOUNT_GROUP, i);
}

static void begin(int i)
{
	struct worker *w = &workers[i];

	/* The parent puts it on its own account, the child goes on alone. */
	if (worker_fork(&workers[0]) != 0)
		return;
	account_spaces(&w->account);
	work(i);
}

/* For a shell that knows no numbers above 9. */
static int lend(const char *file, char **command)
{
	int account = open(file, O_RDWR), proc = open("/proc", O_PATH);

	if (account < 0 || proc < 0 || dup2(account, ACCOUNT_FD) < 0 ||
	    dup2(proc, ACCOUNT_PROC_FD) < 0)
		return 2;
	close(account);
	close(proc);
	execvp(command[0], command);
	return 2;
}

int main(int n, char **v)
{
	struct rlimit many = {20000, 20000};
	const char *next = getenv("NEXT");
	uint64_t seed;

	setrlimit(RLIMIT_NOFILE, &many);
	signal(SIGPIPE, SIG_IGN);
	if (n > 3 && strcmp(v[1], "lend") == 0)
		return lend(v[2], v + 3);
	account_open();
	if (next)
		program_main(v, next);
	if (n != 4 && n != 5)
		return 2;
	seed = strtoull(v[2], NULL, 0);
	steps = (unsigned)atoi(v[3]);
	raise_loopback();
	worker_find_narrow();
	for (int i = 0; i < ROLES; i++)
		worker_init(&workers[i], i,
			    roles[i].may & ~(n == 5 ? MAY_RING : 0),
			    seed * 64 + i, 0);
	program_born(&workers[0], v);
	for (int i = 1; i < ROLES; i++)
		make_home(&workers[0], &workers[i], v[1], roles[i].uid);
	for (int i = 1; i < ROLES - THREADS; i++)
		begin(i);
	while (wait(NULL) > 0)
		;
	worker_end(&workers[0], ACCOUNT_GROUP, 0);
}
