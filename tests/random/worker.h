/*
 * One thread of the agent, which does what its numbers say; everything that it
 * does goes through work_call(), which puts it on the account.
 */
#ifndef TESTS_RANDOM_WORKER_H
#define TESTS_RANDOM_WORKER_H

#include "account.h"

#include "tests/rng.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define WORK_TEXTS    4
#define WORK_TEXT     (6u << 10)
#define WORK_FDS      4
#define WORK_MESSAGES 5

/* All that calls point to is here, in static memory: below 4 GB, where
 * 32-bit programs can point to as well. */
struct worker {
	struct rng rng;
	int id;
	int may;	/* enum worker_may */
	char home[256]; /* its folder, from the root of everybody */
	bool jailed;	/* its root is not that of everybody */
	int outside;	/* a folder outside of it; -1: none */
	int dirs[WORK_FDS], files[WORK_FDS], sockets[WORK_FDS];
	char text[WORK_TEXTS][WORK_TEXT];
	struct sockaddr_storage addr[WORK_MESSAGES];
	char data[WORK_MESSAGES][128];
	struct iovec iov[WORK_MESSAGES];
	struct mmsghdr messages[WORK_MESSAGES];
	uint64_t how[8]; /* of openat2, clone3 */
	struct account account;
};

enum worker_may {
	MAY_FILES = 1,
	MAY_SOCKETS = 2,
	MAY_ATTEMPT = 4, /* it has no privilege that could do harm */
	MAY_SPACES = 8,	 /* it is at home in namespaces of its own */
	MAY_PROGRAMS = 16,
	MAY_RING = 32,
	MAY_NARROW = 64,
};

/*
 * A system call and what its arguments are, a letter each:
 *   d  descriptor of a folder	p  path		t  other text
 *   f  descriptor		s  socket	a  address, its length follows
 *   h  struct open_how		m  message	v  messages, their number
 * follows c  clone_args		b  bytes, their number follows n number,
 * or a pointer that nobody follows
 */
struct call {
	const char *letters;
	long nr;
	int narrow_nr; /* of 32-bit programs, of one form; 0: none */
};

extern const struct call calls[];
extern const int calls_n;

enum call_name {
#define CALL(name, ...) CALL_##name,
#include "calls.def"
#undef CALL
};

/* What it returned, or a negative errno. */
long work_call(struct worker *w, enum call_name name, const long args[6]);
#define DO(w, name, ...) work_call(w, CALL_##name, (const long[6]){__VA_ARGS__})

/* Is there such a call on this machine? */
bool work_has(enum call_name name);
/*
 * From now on another thread says where links of /proc lead: one that keeps the
 * root of everybody.
 */
void work_witness(struct worker *w);
/* Parts that others make records of their own with. */
void work_where(struct worker *w);
void work_fd(struct worker *w, int at, int fd);
void work_found(struct worker *w, int at, int dir, const char *path);
void work_file(struct worker *w, int fd);
void work_socket(struct worker *w, enum account_tag tag, int fd);

/* --- what is chosen ------------------------------------------------------- */

static inline uint32_t pick(struct worker *w, uint32_t n)
{
	return rng_below(&w->rng, n);
}

/* One time in n. */
static inline bool rare(struct worker *w, uint32_t n)
{
	return pick(w, n) == 0;
}

/* A path into text[i], or a pointer that leads nowhere. */
const char *pick_path(struct worker *w, int i);
/* A text that is no path. */
const char *pick_text(struct worker *w, int i);
/* What a relative path is relative to. */
int pick_dir(struct worker *w);
/* Where a new descriptor may be kept; it is closed first. */
void keep(struct worker *w, int *fds, long fd);

/* --- what is done: a step each -------------------------------------------- */

void do_files(struct worker *w);
void do_sockets(struct worker *w);
void do_attempts(struct worker *w);
void do_spaces(struct worker *w);
void do_programs(struct worker *w);
void do_ring(struct worker *w);

/* A worker with nothing but its numbers. */
void worker_init(struct worker *w, int id, int may, uint64_t seed, int uid);
/* Whether the kernel takes the calls of 32-bit programs: some trap instead, and
 * then nothing calls so. */
void worker_find_narrow(void);
/* As many steps of what it may do. */
void worker_run(struct worker *w, unsigned steps);
/* A name of the thread that no reader of lines likes. */
void worker_name(struct worker *w);
/* fork(), on the account of the parent: what it returned. */
int worker_fork(struct worker *w);
/* The end of the thread, the process, or by a signal, on the account. */
_Noreturn void worker_end(struct worker *w, enum account_end how, int what);

/* In namespaces of its own, as their root: true when it has them. */
bool spaces_enter(struct worker *w);
/* What a program does that one of the steps has started, and its end. */
_Noreturn void program_main(char **argv, const char *next);
/* That a program runs now, and which. */
void program_born(struct worker *w, char **argv);

#endif
