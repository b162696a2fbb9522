#define _GNU_SOURCE
#include "worker.h"

#include "numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

const struct call calls[] = {
#define CALL(name, letters, narrow) {letters, SYS_##name, narrow},
#include "calls.def"
#undef CALL
};
const int calls_n = sizeof(calls) / sizeof(calls[0]);

bool work_has(enum call_name name)
{
	return calls[name].nr >= 0;
}

/* --- what the kernel says ------------------------------------------------- */

/* A link of /proc, and whether its name is a file's. */
struct link {
	char name[64], text[8192];
	bool good, named;
};

static struct {
	sem_t ask, answer;
	struct link *link;
	struct worker *w; /* whose account has its beginning */
	volatile int tid;
} witness;

static void read_link(struct link *l)
{
	ssize_t n = readlinkat(ACCOUNT_PROC_FD, l->name, l->text,
			       sizeof(l->text) - 1);
	struct stat named, it;

	l->good = n >= 0;
	l->text[n < 0 ? 0 : n] = '\0';
	l->named = lstat(l->text, &named) == 0 &&
		   fstatat(ACCOUNT_PROC_FD, l->name, &it, 0) == 0 &&
		   named.st_ino == it.st_ino && named.st_dev == it.st_dev;
}

static void *testify(void *arg)
{
	static struct worker self;

	worker_init(&self, 0, 0, 0, witness.w->account.uid);
	witness.tid = (int)syscall(SYS_gettid);
	DO(&self, unshare, CLONE_FS);
	for (;;) {
		sem_post(&witness.answer);
		sem_wait(&witness.ask);
		read_link(witness.link);
	}
	return arg;
}

void work_witness(struct worker *w)
{
	pthread_t thread;

	witness.w = w;
	sem_init(&witness.ask, 0, 0);
	sem_init(&witness.answer, 0, 0);
	account_begin(&w->account, ACCOUNT_FORK);
	if (pthread_create(&thread, NULL, testify, NULL) != 0)
		_exit(10);
	sem_wait(&witness.answer);
	w->account.head.args[0] = witness.tid;
	w->account.head.args[1] = getpid();
	w->account.head.cpu_after = -1;
	w->account.head.after_ns = account_clock();
	account_end(&w->account);
	w->jailed = true;
}

/* what: as it is called in the folder of a thread. */
static bool link_of(struct worker *w, struct link *l, const char *what)
{
	if (!w->jailed) {
		snprintf(l->name, sizeof(l->name), "thread-self/%s", what);
		read_link(l);
		return l->good;
	}
	/* With numbers as our own /proc has them. */
	snprintf(l->name, sizeof(l->name), "/proc/self/task/%ld/%s",
		 syscall(SYS_gettid), what);
	witness.link = l;
	sem_post(&witness.ask);
	sem_wait(&witness.answer);
	return l->good;
}

/* It has no name any more, or not the one that it was opened by. */
static bool is_gone(const struct link *l)
{
	static const char *const mark = " (deleted)";
	size_t n = strlen(l->text), m = strlen(mark);

	return n >= m && strcmp(l->text + n - m, mark) == 0 && !l->named;
}

void work_fd(struct worker *w, int at, int fd)
{
	struct link l;
	char name[24];

	snprintf(name, sizeof(name), "fd/%d", fd);
	if (fd >= 0 && link_of(w, &l, name))
		account_text(&w->account, is_gone(&l) ? ITEM_DELETED : ITEM_FD,
			     at, l.text);
}

/* The working directory of the thread, and its root. */
void work_where(struct worker *w)
{
	struct link l;

	if (w->jailed && link_of(w, &l, "root"))
		account_text(&w->account, ITEM_ROOT, 0, l.text);
	if (link_of(w, &l, "cwd"))
		account_text(&w->account, is_gone(&l) ? ITEM_DELETED : ITEM_CWD,
			     0xffff, l.text);
}

void work_socket(struct worker *w, enum account_tag tag, int fd)
{
	struct account_socket s = {.type = -1, .family = -1};
	socklen_t n = sizeof(s.type);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &s.type, &n) < 0)
		s.type = -1;
	n = sizeof(s.family);
	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &s.family, &n) < 0)
		s.family = -1;
	s.local_n = s.peer_n = sizeof(s.local);
	if (getsockname(fd, (struct sockaddr *)s.local, &s.local_n) < 0)
		s.local_n = 0;
	if (getpeername(fd, (struct sockaddr *)s.peer, &s.peer_n) < 0)
		s.peer_n = 0;
	account_item(&w->account, tag, 0, &s, sizeof(s));
}

void work_file(struct worker *w, int fd)
{
	struct account_file f = {0};
	struct stat st;

	if (fstat(fd, &st) < 0)
		return;
	f.inode = st.st_ino;
	f.dev = st.st_dev;
	f.mode = st.st_mode;
	f.links = (uint32_t)st.st_nlink;
	account_item(&w->account, ITEM_FILE, 0, &f, sizeof(f));
}

/* The same path from the root, so that the library asks for no folder. */
static const char *from_dir(char *out, size_t room, int dir, const char *path)
{
	if (*path == '/')
		return path;
	if (dir == AT_FDCWD)
		snprintf(out, room, "/proc/thread-self/cwd/%s", path);
	else
		snprintf(out, room, "/proc/thread-self/fd/%d/%s", dir, path);
	return out;
}

/*
 * As it is found: its folder with all links followed, and then its last
 * component; and the latter followed, too. Left out where that needs a call
 * that is traced, or there is no such folder.
 */
void work_found(struct worker *w, int at, int dir, const char *path)
{
	char text[WORK_TEXT], joined[WORK_TEXT + 64], whole[8192], *last;
	char found[PATH_MAX];

	if (w->jailed || !*path || strlen(path) >= PATH_MAX)
		return;
	snprintf(text, sizeof(text), "%s",
		 from_dir(joined, sizeof(joined), dir, path));
	if (realpath(text, found))
		account_text(&w->account, ITEM_FOUND, at, found);
	for (size_t n = strlen(text); n > 1 && text[n - 1] == '/'; n--)
		text[n - 1] = '\0';
	last = strrchr(text, '/');
	*last++ = '\0';
	if (!realpath(*text ? text : "/", found))
		return;
	snprintf(whole, sizeof(whole), "%s/%s", strcmp(found, "/") ? found : "",
		 last);
	account_text(&w->account, ITEM_FOUND, at, whole);
}

/* --- memory --------------------------------------------------------------- */

/* Is it ours? Other pointers lead nowhere, by intention. */
static bool is_memory(struct worker *w, long at)
{
	const char *p = (const char *)at;

	return p >= (const char *)w && p < (const char *)(w + 1);
}

static void put_text(struct worker *w, int at, long from)
{
	if (is_memory(w, from))
		account_text(&w->account, ITEM_TEXT, at, (const char *)from);
}

static void put_addr(struct worker *w, int at, const void *from, long n)
{
	size_t most = sizeof(w->addr[0]);

	if (is_memory(w, (long)from))
		account_item(&w->account, ITEM_ADDR, at, from,
			     n < 0 || (size_t)n > most ? most : (size_t)n);
}

static void put_message(struct worker *w, int at, const struct msghdr *m)
{
	const struct iovec *v = m->msg_iov;

	put_addr(w, at, m->msg_name, (int)m->msg_namelen);
	account_item(&w->account, ITEM_MESSAGE, at,
		     m->msg_iovlen ? v->iov_base : NULL,
		     m->msg_iovlen ? v->iov_len : 0);
}

static void put_messages(struct worker *w, long from, long n)
{
	const struct mmsghdr *m = (const struct mmsghdr *)from;

	if (!is_memory(w, from))
		return;
	for (int i = 0; i < n && i < WORK_MESSAGES; i++)
		put_message(w, i, &m[i].msg_hdr);
}

static void put_struct(struct worker *w, enum account_tag tag, long from,
		       size_t n)
{
	if (is_memory(w, from))
		account_item(&w->account, tag, 0, (const void *)from, n);
}

static void put_arguments(struct worker *w, const char *letters,
			  const long args[6])
{
	int dir = AT_FDCWD;

	for (int i = 0; letters[i]; i++) {
		long next = i < 5 ? args[i + 1] : 0;

		switch (letters[i]) {
		case 'd':
			dir = (int)args[i];
			work_fd(w, i, dir);
			break;
		case 'p':
			put_text(w, i, args[i]);
			if (is_memory(w, args[i]))
				work_found(w, i, dir, (const char *)args[i]);
			dir = AT_FDCWD;
			break;
		case 't':
			put_text(w, i, args[i]);
			break;
		case 'f':
			work_fd(w, i, (int)args[i]);
			break;
		case 's':
			work_socket(w, ITEM_SOCKET, (int)args[i]);
			break;
		case 'a':
			put_addr(w, 0, (const void *)args[i], (int)next);
			break;
		case 'h':
			put_struct(w, ITEM_HOW, args[i], 24);
			break;
		case 'c':
			put_struct(w, ITEM_FLAGS, args[i], 8);
			break;
		case 'b':
			put_struct(w, ITEM_MESSAGE, args[i], (size_t)next);
			break;
		case 'm':
			put_messages(w, args[i], 1);
			break;
		case 'v':
			put_messages(w, args[i], next);
			break;
		}
	}
}

/* --- calls ---------------------------------------------------------------- */

#ifdef __x86_64__
static bool can_narrow(struct worker *w, const struct call *c,
		       const long args[6])
{
	if (!(w->may & MAY_NARROW) || !c->narrow_nr || !rare(w, 6))
		return false;
	for (int i = 0; i < 6; i++)
		if (args[i] != (int)args[i] && args[i] != (unsigned)args[i])
			return false;
	return true;
}

static long call_narrow(int nr, const long a[6])
{
	register long bp_ __asm__("r12") = a[5];
	long result = nr;

	__asm__ volatile("xchg %%r12, %%rbp\n\tint $0x80\n\t"
			 "xchg %%r12, %%rbp"
			 : "+a"(result), "+r"(bp_)
			 : "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]), "D"(a[4])
			 : "memory", "cc", "r8", "r9", "r10", "r11");
	return (int)result;
}

static bool has_narrow;
static sigjmp_buf trapped;

static void on_trap(int number)
{
	(void)number;
	siglongjmp(trapped, 1);
}

void worker_find_narrow(void)
{
	static const long none[6];
	struct sigaction was, here = {.sa_handler = on_trap};

	sigaction(SIGSEGV, &here, &was);
	if (sigsetjmp(trapped, 1) == 0)
		has_narrow = call_narrow(20 /* getpid */, none) > 0;
	sigaction(SIGSEGV, &was, NULL);
}
#else
static const bool has_narrow = false;

void worker_find_narrow(void)
{
}

static bool can_narrow(struct worker *w, const struct call *c,
		       const long args[6])
{
	(void)w, (void)c, (void)args;
	return false;
}

static long call_narrow(int nr, const long a[6])
{
	(void)nr, (void)a;
	return -ENOSYS;
}
#endif

static long call_it(const struct call *c, bool narrow, const long a[6])
{
	long ret;

	if (narrow)
		return call_narrow(c->narrow_nr, a);
	ret = syscall(c->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	return ret < 0 ? -errno : ret;
}

static bool opens(enum call_name name)
{
	return name == CALL_open || name == CALL_openat ||
	       name == CALL_openat2 || name == CALL_creat;
}

long work_call(struct worker *w, enum call_name name, const long args[6])
{
	const struct call *c = &calls[name];
	/* in this order: the same seed is the same history, but for that */
	bool narrow = can_narrow(w, c, args) && has_narrow;
	struct account *a = &w->account;
	long ret;

	account_begin(a, ACCOUNT_CALL);
	work_where(w);
	put_arguments(w, c->letters, args);
	a->head.nr = name;
	a->head.narrow = narrow;
	memcpy(a->head.args, args, sizeof(a->head.args));
	account_now(a);
	ret = call_it(c, narrow, args);
	a->head.after_ns = account_clock();
	a->head.cpu_after = sched_getcpu();
	a->head.ret = ret;
	if (*c->letters == 's')
		work_socket(w, ITEM_AFTER, (int)args[0]);
	if (opens(name) && ret >= 0) {
		work_fd(w, 0xfffe, (int)ret);
		work_file(w, (int)ret);
	}
	account_end(a);
	return ret;
}

/* --- workers -------------------------------------------------------------- */

void worker_init(struct worker *w, int id, int may, uint64_t seed, int uid)
{
	memset(w, 0, sizeof(*w));
	w->id = id;
	w->may = may;
	w->rng.state = seed;
	w->outside = -1;
	for (int i = 0; i < WORK_FDS; i++)
		w->dirs[i] = w->files[i] = w->sockets[i] = -1;
	w->account.uid = uid;
	account_spaces(&w->account);
}

void worker_run(struct worker *w, unsigned steps)
{
	static const struct {
		int may;
		uint32_t weight;
		void (*step)(struct worker *);
	} kinds[] = {
		{MAY_FILES, 12, do_files},	{MAY_SOCKETS, 6, do_sockets},
		{MAY_ATTEMPT, 4, do_attempts},	{MAY_SPACES, 6, do_spaces},
		{MAY_PROGRAMS, 3, do_programs}, {MAY_RING, 2, do_ring},
	};
	const uint32_t n = sizeof(kinds) / sizeof(kinds[0]);

	while (steps > 0) {
		uint32_t i = pick(w, n);

		if (!(w->may & kinds[i].may) || pick(w, 12) >= kinds[i].weight)
			continue;
		kinds[i].step(w);
		steps--;
	}
}
