/*
 * What the agent says that it did: records in memory that its processes share,
 * written without a call that is traced, in the order of each thread.
 *
 * The layout is read by account.py: fields of fixed width, nothing between
 * them.
 */
#ifndef TESTS_RANDOM_ACCOUNT_H
#define TESTS_RANDOM_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

/* Inherited from who started the agent: the memory, and the folder /proc. */
#define ACCOUNT_FD	  200
#define ACCOUNT_PROC_FD	  201
#define ACCOUNT_COMM	  16
#define ACCOUNT_TEXT	  (12u << 10) /* bytes of one item, at most */
#define ACCOUNT_ITEMS_MAX (96u << 10) /* of all items of one record */

enum account_kind {
	ACCOUNT_CALL,
	ACCOUNT_BORN, /* a program begins to run: its exec was before */
	ACCOUNT_FORK, /* args[0]: the child's thread, args[1]: its process */
	ACCOUNT_EXIT, /* args[0]: enum account_end, args[1]: status or signal */
	ACCOUNT_WAIT, /* a thread that does nothing more until it is ended */
};

enum account_end { ACCOUNT_GROUP, ACCOUNT_THREAD, ACCOUNT_SIGNAL };

enum account_tag {
	ITEM_TEXT,    /* what argument `at` points to, up to its NUL */
	ITEM_FD,      /* where the descriptor in argument `at` leads */
	ITEM_DELETED, /* the same, and its file has no name any more */
	ITEM_CWD,     /* of the thread; ITEM_DELETED at 0xffff */
	ITEM_ROOT,    /* of the thread, when it is not that of everybody */
	ITEM_SOCKET,  /* struct account_socket: before the call */
	ITEM_AFTER,   /* the same after it */
	ITEM_ADDR,    /* an address: bytes */
	ITEM_HOW,     /* struct open_how */
	ITEM_FLAGS,   /* the first 64 bits of clone_args */
	ITEM_FOUND,   /* argument `at`, with all links followed */
	ITEM_FILE,    /* struct account_file: of what was opened, or runs */
	ITEM_ARGV,    /* one word of what a program is started with */
	ITEM_INTERP,  /* the interpreter that a script names */
	ITEM_MESSAGE, /* the n-th message: its data; its address: ITEM_ADDR */
	ITEM_RING,    /* done by an io_uring: no data */
};

struct account_item {
	uint16_t tag, at;
	uint32_t bytes; /* that follow, and zeros up to eight */
};

struct account_socket {
	int32_t type, family; /* -1: no socket */
	uint32_t local_n, peer_n;
	uint8_t local[128], peer[128];
};

struct account_file {
	uint64_t inode, dev;
	uint32_t mode, links;
};

struct account_record {
	uint32_t bytes, kind;
	uint64_t before_ns, after_ns; /* since boot */
	uint64_t mntns, pidns;
	int64_t args[6], ret;
	int32_t tid, pid, ppid, uid;
	int32_t cpu_before, cpu_after; /* -1: not known */
	int32_t nr;
	uint32_t narrow; /* made as 32-bit programs do */
	char comm[ACCOUNT_COMM];
};

/* Of one thread, while it writes a record. */
struct account {
	int32_t uid;	       /* as the machine has it, whatever getuid says */
	uint64_t mntns, pidns; /* account_spaces() reads them */
	struct account_record head;
	uint8_t items[ACCOUNT_ITEMS_MAX];
	size_t used;
};

/* Maps ACCOUNT_FD; ends the program when it is none. */
void account_open(void);
/* After namespaces have changed. */
void account_spaces(struct account *a);
/* Who and when: then items, then account_end(). */
void account_begin(struct account *a, enum account_kind kind);
void account_item(struct account *a, enum account_tag tag, int at,
		  const void *data, size_t bytes);
/* As account_item, of a text. */
void account_text(struct account *a, enum account_tag tag, int at,
		  const char *text);
/* Who, again: what a call changed is said as it was before and is after. */
void account_now(struct account *a);
/* The record in shared memory: its fields may still be set. */
struct account_record *account_end(struct account *a);
uint64_t account_clock(void);

#endif
