/*
 * Programs, processes and threads: how they begin, which program runs, and
 * how they end. All of them are this program.
 */
#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 8

static char next[64]; /* NEXT=..., for a program that this one starts */

/* --- beginnings ----------------------------------------------------------- */

static void put_fork(struct worker *w, int tid, int pid)
{
	w->account.head.args[0] = tid;
	w->account.head.args[1] = pid;
	w->account.head.after_ns = account_clock();
	w->account.head.cpu_after = -1;
	account_end(&w->account);
}

/* Others than the parent do other things. */
static void be_child(struct worker *w)
{
	rng_next(&w->rng);
	w->rng.state ^= 0x5851f42d4c957f2dull;
}

int worker_fork(struct worker *w)
{
	int pid;

	account_begin(&w->account, ACCOUNT_FORK);
	pid = fork();
	if (pid == 0)
		be_child(w);
	else if (pid > 0)
		put_fork(w, pid, pid);
	return pid;
}

_Noreturn void worker_end(struct worker *w, enum account_end how, int what)
{
	account_begin(&w->account, ACCOUNT_EXIT);
	w->account.head.args[0] = how;
	w->account.head.args[1] = what;
	account_end(&w->account);
	switch (how) {
	case ACCOUNT_GROUP:
		syscall(SYS_exit_group, what);
		break;
	case ACCOUNT_THREAD:
		syscall(SYS_exit, what);
		break;
	case ACCOUNT_SIGNAL:
		signal(what, SIG_DFL);
		syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid),
			what);
		break;
	}
	for (;;)
		pause();
}

void worker_name(struct worker *w)
{
	static const char *const names[] = {
		"worker",	   "a\nb", "\xff\xc3\xbc\xc3",
		"fifteen bytes!!", "",	   "\"\\"};

	prctl(PR_SET_NAME, names[pick(w, 6)]);
}

/* --- which program -------------------------------------------------------- */

struct program {
	int dir; /* -2: execve() */
	const char *path;
	int flags;
	char found[512];  /* what will run */
	char interp[700]; /* by what, as the script says; "": no script */
	int file;	  /* what will run, open */
	char *argv[WORDS + 1];
};

static const char *self(void)
{
	static char path[512];
	ssize_t n = *path ? (ssize_t)strlen(path)
			  : readlinkat(ACCOUNT_PROC_FD, "self/exe", path,
				       sizeof(path) - 1);

	path[n < 0 ? 0 : n] = '\0';
	return path;
}

static long open_self(struct worker *w, const char *path, int flags)
{
	snprintf(w->text[3], WORK_TEXT, "%s", path);
	return DO(w, openat, AT_FDCWD, (long)w->text[3], flags);
}

/* A copy that has no name in any folder. */
static void in_memory(struct worker *w, struct program *p)
{
	int from = (int)open_self(w, self(), O_RDONLY);
	long to;

	snprintf(w->text[3], WORK_TEXT, "copy");
	to = DO(w, memfd_create, (long)w->text[3], 0);
	while (from >= 0 && sendfile((int)to, from, NULL, 1 << 24) > 0)
		;
	close(from);
	p->dir = (int)to;
	p->path = "";
	p->flags = AT_EMPTY_PATH;
	snprintf(p->found, sizeof(p->found), "/memfd:copy");
}

static void by_script(struct worker *w, struct program *p, bool by_fd)
{
	char line[700];
	long fd;

	snprintf(line, sizeof(line), "#!%s%s\n", self(),
		 rare(w, 2) ? " an argument \xff" : "");
	snprintf(w->text[3], WORK_TEXT, "script");
	fd = DO(w, openat, AT_FDCWD, (long)w->text[3],
		O_CREAT | O_TRUNC | O_WRONLY, 0755);
	if (fd < 0 || write((int)fd, line, strlen(line)) < 0)
		return;
	close((int)fd);
	snprintf(p->interp, sizeof(p->interp), "%s", line + 2);
	p->interp[strcspn(p->interp, "\n")] = '\0';
	p->path = rare(w, 2) ? "script" : "./script";
	if (!by_fd)
		return;
	p->dir = (int)open_self(w, "script", O_RDONLY);
	p->path = "";
	p->flags = AT_EMPTY_PATH;
}

static void choose_path(struct worker *w, struct program *p)
{
	char folder[512];

	switch (pick(w, 8)) {
	case 0:
		p->path = "/proc/self/exe";
		return;
	case 1:
		snprintf(w->text[2], WORK_TEXT, "%s", self());
		snprintf(w->text[3], WORK_TEXT, "a program \xfe");
		DO(w, symlinkat, (long)w->text[2], AT_FDCWD, (long)w->text[3]);
		snprintf(w->text[1], WORK_TEXT, "%s", w->text[3]);
		p->path = w->text[1];
		p->dir = rare(w, 2) ? AT_FDCWD : -2;
		return;
	case 2:
		p->dir = (int)open_self(w, self(),
					rare(w, 2) ? O_RDONLY : O_PATH);
		p->path = "";
		p->flags = AT_EMPTY_PATH;
		return;
	case 3:
		snprintf(folder, sizeof(folder), "%s", self());
		*strrchr(folder, '/') = '\0';
		p->dir = (int)open_self(w, folder, O_PATH | O_DIRECTORY);
		p->path = strrchr(self(), '/') + 1;
		return;
	case 4:
		in_memory(w, p);
		return;
	case 5:
	case 6:
		by_script(w, p, rare(w, 3));
		return;
	}
}

static void choose_words(struct worker *w, struct program *p)
{
	static char words[WORDS][9000];
	uint32_t n = pick(w, WORDS);

	if (rare(w, 12))
		n = 0;
	for (uint32_t i = 0; i < n; i++) {
		const char *text = pick_text(w, 0);

		snprintf(words[i], sizeof(words[i]), "%s",
			 text >= (char *)w && text < (char *)(w + 1) ? text
								     : "");
		p->argv[i] = words[i];
	}
	p->argv[n] = NULL;
}

static void choose(struct worker *w, struct program *p)
{
	memset(p, 0, sizeof(*p));
	p->dir = -2;
	p->path = self();
	snprintf(p->found, sizeof(p->found), "%s", self());
	choose_words(w, p);
	choose_path(w, p);
	snprintf(next, sizeof(next), "NEXT=%llu,%d,%d",
		 (unsigned long long)rng_next(&w->rng), w->account.uid, w->id);
}

/* Returns when it does not work. */
static void run(struct worker *w, struct program *p)
{
	char *env[] = {next, NULL};
	struct account_record *r;
	struct stat st;
	struct account_file f = {0};

	if (stat(self(), &st) == 0) {
		f.inode = st.st_ino;
		f.dev = st.st_dev;
		f.mode = st.st_mode;
	}
	account_begin(&w->account, ACCOUNT_CALL);
	work_where(w);
	w->account.head.nr = p->dir == -2 ? CALL_execve : CALL_execveat;
	w->account.head.args[0] = p->dir;
	w->account.head.args[1] = p->flags;
	account_text(&w->account, ITEM_TEXT, 0, p->path);
	account_text(&w->account, ITEM_FOUND, 0, p->found);
	if (*p->interp)
		account_text(&w->account, ITEM_INTERP, 0, p->interp);
	for (int i = 0; p->argv[i]; i++)
		account_text(&w->account, ITEM_ARGV, i, p->argv[i]);
	account_item(&w->account, ITEM_FILE, 0, &f, sizeof(f));
	account_now(&w->account);
	r = account_end(&w->account);
	if (p->dir == -2)
		execve(p->path, p->argv, env);
	else
		syscall(SYS_execveat, p->dir, p->path, p->argv, env, p->flags);
	r->ret = -errno;
}

/* --- what becomes of them ------------------------------------------------- */

static _Noreturn void leave(struct worker *w)
{
	switch (pick(w, 4)) {
	case 0:
		worker_end(w, ACCOUNT_SIGNAL, rare(w, 2) ? SIGKILL : SIGTERM);
	case 1:
		worker_end(w, ACCOUNT_THREAD, (int)pick(w, 300));
	}
	worker_end(w, ACCOUNT_GROUP, (int)pick(w, 300));
}

void program_born(struct worker *w, char **argv)
{
	struct account_file f = {0};
	struct stat st;

	account_begin(&w->account, ACCOUNT_BORN);
	for (int i = 0; argv[i]; i++)
		account_text(&w->account, ITEM_ARGV, i, argv[i]);
	work_where(w);
	if (fstatat(ACCOUNT_PROC_FD, "self/exe", &st, 0) == 0) {
		f.inode = st.st_ino;
		f.dev = st.st_dev;
		f.mode = st.st_mode;
		account_item(&w->account, ITEM_FILE, 0, &f, sizeof(f));
	}
	account_end(&w->account);
}

_Noreturn void program_main(char **argv, const char *from)
{
	static struct worker w;
	unsigned long long seed;
	int uid, id;

	if (sscanf(from, "%llu,%d,%d", &seed, &uid, &id) != 3)
		_exit(6);
	worker_init(&w, id, MAY_FILES | MAY_SOCKETS, seed, uid);
	program_born(&w, argv);
	worker_run(&w, pick(&w, 4));
	leave(&w);
}

/* The child has the memory of its parent, which waits. */
static __attribute__((noinline)) void quick(struct worker *w)
{
	static struct worker child;
	static struct program p;
	int pid;

	choose(w, &p);
	child = *w;
	account_begin(&w->account, ACCOUNT_FORK);
	pid = vfork();
	if (pid == 0) {
		run(&child, &p);
		worker_end(&child, ACCOUNT_GROUP, 126);
	}
	put_fork(w, pid, pid);
	waitpid(pid, NULL, 0);
}

static void child(struct worker *w)
{
	struct program p;
	int pid = worker_fork(w);

	if (pid != 0) {
		waitpid(pid, NULL, 0);
		return;
	}
	w->may &= ~MAY_PROGRAMS;
	worker_name(w);
	worker_run(w, pick(w, 6));
	if (rare(w, 2)) {
		choose(w, &p);
		run(w, &p);
	}
	leave(w);
}

/* In a pid namespace of its own, where it is the first. */
static void first(struct worker *w)
{
	long flags = CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD;
	long pid;

	memset(w->how, 0, sizeof(w->how));
	w->how[0] = CLONE_NEWUSER | CLONE_NEWPID;
	if (rare(w, 2))
		pid = DO(w, clone, flags, 0, 0, 0, 0);
	else
		pid = DO(w, clone3, (long)w->how, 64);
	if (pid != 0) {
		waitpid((pid_t)pid, NULL, __WALL);
		return;
	}
	be_child(w);
	account_spaces(&w->account);
	w->may = MAY_FILES;
	worker_run(w, 1 + pick(w, 4));
	pid = worker_fork(w);
	if (pid == 0) {
		struct program p;

		worker_run(w, pick(w, 3));
		choose(w, &p);
		run(w, &p);
		worker_end(w, ACCOUNT_GROUP, 3);
	}
	waitpid((pid_t)pid, NULL, 0);
	worker_end(w, ACCOUNT_GROUP, (int)pick(w, 256));
}

/* --- threads -------------------------------------------------------------- */

#define CROWD 4

enum end_by { BY_LEADER, BY_THREAD, BY_PROGRAM, BY_SIGNAL, LEADER_FIRST };

struct member {
	struct worker w;
	int tid;
	bool acts;
	enum end_by by;
	sem_t ready, go;
};

static struct member crowd[CROWD];

static void await_leader(void)
{
	char name[40], text[8];

	/* The first thing of its that is gone, after its end was told. */
	snprintf(name, sizeof(name), "/proc/self/task/%d/cwd", getpid());
	while (readlink(name, text, sizeof(text)) >= 0)
		sched_yield();
}

static void act(struct member *m)
{
	struct program p;

	if (m->by == LEADER_FIRST)
		await_leader();
	if (m->by == BY_PROGRAM) {
		choose(&m->w, &p);
		run(&m->w, &p);
	}
	worker_end(&m->w, m->by == BY_SIGNAL ? ACCOUNT_SIGNAL : ACCOUNT_GROUP,
		   m->by == BY_SIGNAL ? SIGKILL : (int)pick(&m->w, 256));
}

static void *member(void *arg)
{
	struct member *m = arg;

	m->tid = (int)syscall(SYS_gettid);
	account_spaces(&m->w.account);
	worker_name(&m->w);
	account_begin(&m->w.account, ACCOUNT_WAIT);
	account_end(&m->w.account);
	sem_post(&m->ready);
	sem_wait(&m->go);
	if (m->acts)
		act(m);
	for (;;)
		pause();
	return NULL;
}

static void gather(struct worker *w, struct member *m)
{
	pthread_t thread;

	worker_init(&m->w, w->id, MAY_FILES, rng_next(&w->rng), w->account.uid);
	sem_init(&m->ready, 0, 0);
	sem_init(&m->go, 0, 0);
	account_begin(&w->account, ACCOUNT_FORK);
	if (pthread_create(&thread, NULL, member, m) != 0)
		worker_end(w, ACCOUNT_GROUP, 9);
	sem_wait(&m->ready);
	put_fork(w, m->tid, getpid());
}

static void several(struct worker *w)
{
	enum end_by by;
	uint32_t n;
	int pid = worker_fork(w);

	if (pid != 0) {
		waitpid(pid, NULL, 0);
		return;
	}
	by = (enum end_by)pick(w, 5);
	n = 1 + pick(w, CROWD);
	for (uint32_t i = 0; i < n; i++) {
		crowd[i].by = by;
		crowd[i].acts = i == 0 && by != BY_LEADER;
		gather(w, &crowd[i]);
	}
	if (by == BY_LEADER)
		worker_end(w, ACCOUNT_GROUP, (int)pick(w, 256));
	if (by != LEADER_FIRST) {
		account_begin(&w->account, ACCOUNT_WAIT);
		account_end(&w->account);
	}
	sem_post(&crowd[0].go);
	if (by == LEADER_FIRST)
		worker_end(w, ACCOUNT_THREAD, (int)pick(w, 256));
	for (;;)
		pause();
}

void do_programs(struct worker *w)
{
	static void (*const steps[])(struct worker *) = {child, child, quick,
							 first, several};

	steps[pick(w, sizeof(steps) / sizeof(steps[0]))](w);
}
