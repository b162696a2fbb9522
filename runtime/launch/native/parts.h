/*
 * What the files of this room ask of each other.
 */
#ifndef RUNTIME_LAUNCH_NATIVE_PARTS_H
#define RUNTIME_LAUNCH_NATIVE_PARTS_H

#include "runtime/launch/native/native.h"
#include "runtime/launch/native/words.h"

#include <linux/filter.h>

/* --- ids.c --------------------------------------------------------------- */

/* Which users a session's namespace has. */
enum ids_kind {
	IDS_ONE,	 /* who launches it, and nobody else */
	IDS_SUBORDINATE, /* that one, and for the other numbers below 65536
			  * some that the host keeps for that one */
	IDS_ALL,	 /* root launches it: every number is itself */
};

struct ids {
	enum ids_kind kind;
	uid_t uid; /* who launches it */
	gid_t gid;
	uint32_t users, groups; /* IDS_SUBORDINATE: the first of the host's */
};

#define IDS_WORD_MAX 24

struct ids ids_own(struct arena *a);
/* The first of 65536 numbers that a file as subuid(5) has for somebody, by
 * name or by number; false: none. Pure. */
bool ids_range(struct str text, struct str name, struct str number,
	       uint32_t *out_first);
/* The words of newuidmap(1), up to an empty one. Pure. */
void ids_words(const char *program, pid_t process, uint32_t own, uint32_t first,
	       char text[12][IDS_WORD_MAX]);
/* Write the maps of a process that has just made its user namespace. */
must_check int ids_map(const struct ids *ids, pid_t process, struct err *err);
/* That user in there, or the launcher's where there is no other. */
uid_t ids_user(const struct ids *ids, uid_t uid);
gid_t ids_group(const struct ids *ids, gid_t gid);

/* --- filter.c ------------------------------------------------------------ */

struct filter {
	struct sock_filter *code; /* in the arena; NULL: none */
	unsigned short n;
};

/*
 * The program that libseccomp makes of a file in Docker's form, for this
 * machine. Calls that it does not know by name are left out: they stay refused.
 */
must_check int filter_read(struct arena *a, const char *path,
			   struct filter *out, struct err *err);
/* From here on, for this process and all that it begins. Without privileges
 * no_new_privs has to be set. */
must_check int filter_load(const struct filter *f, struct err *err);

/* --- asking.c ------------------------------------------------------------ */

/* Has the kernel ask about the calls of w->ask. Pure. */
void asking_make(struct arena *a, const struct words *w, struct filter *out);
/* From here on, for this process and all that it begins: questions come by the
 * listener. There can be one in a process's filters: -EBUSY. */
must_check int asking_load(const struct filter *f, int *out_listener,
			   struct err *err);
/* The same, and the listener goes to whoever is at the channel's other end. */
must_check int asking_begin(const struct filter *f, int channel,
			    struct err *err);
/* Whether the kernel asks, and who is asked can read for what; in a user
 * namespace of the caller's, which it leaves as it is. */
must_check int asking_try(struct arena *a, struct err *err);

/* --- root.c -------------------------------------------------------------- */

/*
 * Make the process's root one that has what the words mount and nothing else,
 * and go there. In a mount namespace of its own, with the right to mount.
 * terminal: not NULL: gets the master of a terminal of the new root's own.
 */
must_check int root_enter(struct arena *a, const struct words *w,
			  const struct ids *ids, int *terminal,
			  struct err *err);
/* The same but for /proc and a terminal: whether mounts can be made at all. */
must_check int root_try(struct arena *a, const struct words *w,
			const struct ids *ids, struct err *err);
/* What words ask to be seen outside is, from here on: in the mount namespace
 * that those who shall see it are in. */
must_check int root_share(const struct words *w, struct err *err);

/* A tree of mounts of its own, of what is open; below 0: see errno. */
int root_clone(int fd);
/* A place, no link followed on the way; likewise. */
int root_open(const char *path);

/* --- masks.c ------------------------------------------------------------- */

/*
 * Over what is in the new root by now, each where it was seen.
 *   -ESTALE  something else is there
 */
must_check int masks_attach(const struct words *w, int root, struct err *err);

/* --- rights.c ------------------------------------------------------------ */

/* The user, the capabilities and the limits of the words, for good: the last
 * before the filter and the program. */
must_check int rights_take(const struct words *w, const struct ids *ids,
			   struct err *err);
/* root: the new one, with its /proc. */
must_check int rights_sysctls(const struct words *w, int root, struct err *err);

/* --- table.c ------------------------------------------------------------- */

/* Make a table of nf_tables, which goes with this network namespace. */
must_check int table_try(struct err *err);

/* --- way.c --------------------------------------------------------------- */

/* Until this network namespace has a route to everywhere. */
must_check int way_await(struct err *err);

/* --- streams.c ----------------------------------------------------------- */

/*
 * The command's streams. A pipe of the caller's is handed on; what is anything
 * else (a terminal, a file, a folder) is not the agent's to have, and bytes
 * pass through pipes. A terminal is one of the session's own.
 */
struct streams {
	bool tty;
	int inside[3];	/* what the program has as 0, 1 and 2; -1: the same */
	int outside[3]; /* our ends; -1: none */
	int terminal;	/* the master; -1 */
};

/* Before the process is made that will have them. */
must_check int streams_open(struct streams *s, bool tty, struct err *err);
/* In that process: they are 0, 1 and 2 from now on. */
must_check int streams_take(struct streams *s, struct err *err);
/* In the other one: what was for the first is closed. */
void streams_leave(struct streams *s);
/*
 * Pass on what is typed and printed, and signals, until the process has ended
 * and all is printed: its wait status. signals: a signalfd of SIGCHLD, SIGWINCH
 * and of what is to be passed on.
 */
int streams_serve(struct streams *s, pid_t process, int signals);

/* --- tap.c --------------------------------------------------------------- */

#define TAP_WORDS 24
/*
 * What starts such a program, whose stdin is a namespace of users, and stdout
 * one of the network; NULL at the end. root: who starts it is.
 */
void tap_words(const char *program, bool root, const char *out[TAP_WORDS]);

/* --- tap_remove.c -------------------------------------------------------- */

/*
 * The tap devices of that network go, and so does the program that has one. For
 * a process of its own: it ends up in both namespaces. Below 0: see errno.
 */
must_check int tap_remove(int users, int network);

/* --- uplink.c ------------------------------------------------------------ */

struct uplink {
	bool sockets;		   /* a broker of ours, and no program */
	struct broker_proxy proxy; /* that one's */
	const char *program; /* native_uplink_program(), or as it is called */
	int log;	     /* what it says; -1: nothing runs yet */
	pid_t pid;	     /* 0: it does not run */
	/* A program's: who is to end it, and the namespaces it was given, -1. */
	pid_t launcher;
	int users, network;
};

#define UPLINK_NONE \
	((struct uplink){.log = -1, .users = -1, .network = -1})

/* -ENOENT: the program is not here. */
must_check int uplink_find(struct arena *a, const struct native_place *place,
			   struct uplink *out, struct err *err);
/*
 * Before the gate: what its words are said to, for it to have as
 * GATE_BROKER_FD; the caller's to close. -1 where there is no broker.
 */
must_check int uplink_broker(struct uplink *u, int *out_channel,
			     struct err *err);
/* Of the gate's namespaces of users and of the network, which are open. The
 * gate waits for what comes of it. With a broker: nothing. */
must_check int uplink_start(struct uplink *u, int users, int network,
			    struct err *err);
/* -ENETDOWN, once: it has ended by itself. */
must_check int uplink_check(struct uplink *u, struct err *err);
void uplink_end(struct uplink *u);

/* --- part.c -------------------------------------------------------------- */

enum part_kind {
	PART_NAMESPACES, /* they are made, and have no users yet */
	PART_PROCESS,	 /* process is the part's first */
	PART_FAILED,	 /* it does not begin, as text says */
};

struct part_word {
	enum part_kind kind;
	pid_t process; /* as the launcher counts */
	char text[256];
};

/* One part, before it is a process of its own. */
struct part {
	struct arena *a;
	const struct words *words;
	const struct ids *ids;
	struct filter filter, asking;
	int user, mounts; /* namespaces to go into; -1: it makes them */
	int network;	  /* likewise; -1: a new one */
	int processes;	  /* the namespace that its own is made in; -1: the
			   * launcher's */
	/* Where it says what struct part_word has; closed when the program has
	 * begun, or with it. */
	int status;
	int cgroup; /* who writes "0" to it is in a group; -1 */
	int keep;   /* stays open as long as the part lives; -1 */
	int broker; /* is GATE_BROKER_FD of its program; -1 */
	int asker; /* who is asked takes its listener there; -1 */
	int moves;  /* of moves.h: no mask is sure once one was heard; -1 */
	int hold;   /* one byte comes here, and the program begins; -1: now */
	/* It makes the namespaces: one byte comes here once they have users. */
	int mapped;
};

/* In a forked process with its streams in place: the exit status. What went
 * wrong is said on stderr: 125. */
int part_run(void *part, char *const *ignored);

#endif
