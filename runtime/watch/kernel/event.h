/*
 * What the kernel's side tells the other: the layout of one message in the
 * ring, and the tables that are filled before the programs are loaded.
 *
 * Read by watch.bpf.c and by C: nothing but fixed-width types. A message is a
 * struct watch_head and then items, each with a head of its own; both sides
 * are of one build, so there is no version.
 */
#ifndef RUNTIME_WATCH_KERNEL_EVENT_H
#define RUNTIME_WATCH_KERNEL_EVENT_H

#ifndef WATCH_BPF
#include <linux/types.h>
#endif

#define WATCH_NUMBERS	  512u	/* of system calls, as a machine has them */
#define WATCH_TYPES	  512u /* of the programs; 1 + their last number */
#define WATCH_CALLS_MAX	  1024u /* behind them those of 32-bit programs alone */
#define WATCH_FOREIGN	  1024u /* numbers of others: those of 32-bit programs, */
#define WATCH_X32	  512u	  /* and from here on those that only x32 has */
#define WATCH_SOCKETCALLS 32u	  /* what socketcall() can mean */
#define WATCH_ITEMS_MAX	  0x4000u /* bytes of items, before the last one */
#define WATCH_ITEM_MAX	  8192u	  /* bytes of one item */
#define WATCH_COMM	  16u
#define WATCH_DATA_MAX	  512u	/* RFC 1035, 4.2.1 */
#define WATCH_QUESTIONS	  16u	/* in one message */
#define WATCH_DEPTH	  8192u /* of one path, which has fewer bytes */
#define WATCH_LEAF_MAX	  64u	/* bytes of a name in the table of leaves */

enum watch_kind {
	WATCH_EXEC,
	WATCH_FORK,
	WATCH_EXIT,
	WATCH_CALL,	 /* a system call has ended */
	WATCH_RING,	 /* the same done by an io_uring */
	WATCH_FAST,	 /* a send that makes the connection, too */
	WATCH_RING_FAST, /* both */
	WATCH_REFUSAL,	 /* args[0]: the capability that a call did not have */
};

enum watch_tag {
	WATCH_TEXT,  /* bytes */
	WATCH_PATH,  /* components, leaf first, each ended by a NUL */
	WATCH_BASE,  /* the same: what the next TEXT is relative to */
	WATCH_FILE,  /* struct watch_file */
	WATCH_ADDR,  /* a sockaddr as the process gave it */
	WATCH_SOCK,  /* struct watch_sock */
	WATCH_CHILD, /* struct watch_child */
	WATCH_GROUP, /* name of a control group: of the container */
	WATCH_DATA,  /* the beginning of a datagram to port 53 */
};

/* Which argument or which part of the event an item is. */
enum watch_part {
	WATCH_FIRST,  /* the path; the old one, the target of a link */
	WATCH_SECOND, /* the new one */
	WATCH_ARGV,
	WATCH_INTERP,
	WATCH_CWD,
	WATCH_CMD,  /* the path as it was asked for */
	WATCH_KIND, /* of a namespace, whose file has no name */
	WATCH_ROOT, /* of the process, where that is not everybody's */
	WATCH_PARTS,
};

struct watch_item {
	__u8 tag, part;
	__u16 bytes; /* that follow; the next item follows those at once */
};

struct watch_file {
	__u64 inode, ctime_ns;
	__u32 dev;  /* as the kernel has it: 12 and 20 bits */
	__u32 mode; /* type and permissions */
};

struct watch_sock {
	__u16 family, type;
	__u16 local_port, peer_port; /* host, network byte order */
	__u8 local[16], peer[16];
};

struct watch_child {
	__u64 start_ns;
	__u32 host_tid, host_pid, tid, pid;
};

enum watch_head_flags {
	WATCH_COMPAT = 1, /* a call as 32-bit programs make it, or x32 */
	WATCH_NARROW = 2, /* what its pointers lead to is theirs, too */
	WATCH_SYN = 4,	  /* the socket is as it was when it connected */
	WATCH_BULK = 8,	  /* of the many that say least: left out first */
	WATCH_ASKED = 16, /* the process asks for it: nothing came of it yet */
};

struct watch_head {
	__u32 bytes; /* of the message */
	__u16 kind, nr;
	__u64 time_ns, start_ns; /* since boot */
	__u64 cgroup;
	__s64 ret;
	__u64 args[6];
	__u32 cpu, uid;
	__u32 host_tid, host_pid, host_ppid;
	__u32 tid, pid, ppid; /* in the namespace of the task */
	__u32 mntns, pidns;
	__u32 flags; /* enum watch_head_flags */
	char comm[WATCH_COMM];
};

/* How a system call is read; arguments by number, -1: none. */
enum watch_how {
	WATCH_SKIP,   /* not traced */
	WATCH_PLAIN,  /* its arguments alone */
	WATCH_OPEN,   /* a: directory, b: path; when it worked: the file */
	WATCH_PATHS,  /* a, b: directory and path; c, d: a second pair */
	WATCH_FD,     /* a: descriptor of a file */
	WATCH_TARGET, /* a: text; c, d: directory and path */
	WATCH_TO,     /* a: socket; b: address; c: its length */
	WATCH_SOCKET, /* a: socket */
	WATCH_MSG,    /* a: socket; b: msghdr; c: or how many of them */
	WATCH_WRITE,  /* a: socket; b: bytes; c: how many, or b: an iovec */
	WATCH_CLONE,  /* a: flags, or b: a structure that begins with them */
};

enum watch_call_flags {
	WATCH_NO_MISSING = 1, /* what was not there is no event */
	WATCH_NO_RETRY = 2,   /* nor what was to be tried again */
	WATCH_DATAGRAM = 4,   /* on sockets of IP that are no streams, and where
				 the call connects one */
	WATCH_QUESTION = 8,   /* with what is sent to port 53 */
	WATCH_ONLY_FAILED = 16, /* what worked is told of by another event */
};

struct watch_call {
	__u8 how, flags;
	__s8 a, b, c, d;
};

/* How the arguments of such a call become those of the machine's own. */
enum watch_shape {
	WATCH_SAME,
	WATCH_PAIR_1,	  /* the second and third are one of 64 bits */
	WATCH_PAIR_2,	  /* the third and fourth: Arm's, aligned */
	WATCH_ONE,	  /* there is one, and no flags behind it */
	WATCH_OLD_IDS,	  /* the second and third have 16 bits */
	WATCH_SOCKETCALL, /* which call, and where its arguments are */
};

/* The same system call under another number. */
struct watch_foreign {
	__u16 nr;    /* the machine's own; WATCH_CALLS_MAX: it has none */
	__u8 shape;  /* of socketcall's: how many arguments there are */
	__u8 traced; /* or may become one that is */
	__u8 narrow; /* with structures of 32-bit programs */
	__u8 known;  /* without one of the machine's own it is harmless */
};

/* What an io_uring does without a system call of its own. */
enum watch_op {
	WATCH_OP_NONE, /* nothing that a ring can do */
	WATCH_OP_OPEN,
	WATCH_OP_UNLINK,
	WATCH_OP_RENAME,
	WATCH_OP_LINK,
	WATCH_OP_SYMLINK,
	WATCH_OP_MKDIR,
	WATCH_OP_CONNECT,
	WATCH_OP_BIND,
	WATCH_OP_LISTEN,
	WATCH_OP_ACCEPT,
	WATCH_OP_SEND,
	WATCH_OP_FTRUNCATE,
	WATCH_OPS,
};

/* Set by the other side before the programs are loaded: constants to them. */
struct watch_settings {
	__u32 exec, fork, exit;
	__u32 wake_bytes;  /* in the ring, before somebody is woken for them */
	__u32 crowd_bytes; /* from here on the room is for what says most */
	__u32 reads;	   /* files opened only to be read, too */
	__u32 leaves;	   /* those of a name in the table, in any case */
	__u32 questions;   /* what is sent to port 53 */
	__u32 casts;	   /* the kernel has bpf_rdonly_cast() */
	__u32 hooks;	   /* hooks keep for a call what the kernel saw */
	__u32 opens;	   /* a hook tells of files opened, not the call */
	__u32 refusals;	   /* of capabilities */
	__u32 ring_enter;  /* number of io_uring_enter */
	/* By length, which first bytes (modulo 64) a name in the table has. */
	__u64 leaf_first[WATCH_LEAF_MAX];
};

struct watch_config {
	struct watch_settings settings;
	struct watch_call calls[WATCH_CALLS_MAX]; /* by number */
	struct watch_foreign foreign[WATCH_FOREIGN];
	struct watch_foreign sockets[WATCH_SOCKETCALLS];
	/* The call that stands for it; WATCH_CALLS_MAX: not traced. */
	__u16 ops[WATCH_OPS];
	/* The kernel's numbers of types, by the programs' own (BTF). */
	__u32 types[WATCH_TYPES];
};

/*
 * Whose processes: those of a pid namespace, at a level, and everything below
 * it. Until it is known: of the first program that is started in a network
 * namespace, or where there is none to know, under a host name; outside one
 * pid namespace. The kernel gives a namespace's number to the next one at once:
 * which it is, the time says at which its first process was started.
 */
#define WATCH_HOST 64 /* without the NUL, as the kernel has it */
struct watch_scope {
	__u32 pidns, level; /* level 0: not known yet */
	__u32 netns, not_pidns;
	__u32 hooked;	/* a hook was called for a process of this scope */
	__u64 began_ns; /* since boot; 0: whichever has the number */
	__u64 host[WATCH_HOST / 8]; /* zeros behind it, as the kernel has */
};

/* Of one processor. */
struct watch_counts {
	__u64 sent;
	__u64 no_room;	  /* in the ring */
	__u64 crowded;	  /* little room, and of those that say least */
	__u64 no_slot;	  /* for a hook, that many were at work */
	__u64 unknown;	  /* calls under numbers that nothing is known of */
	__u64 since_look; /* bytes */
	__u64 is_crowded;
};

#endif
