/*
 * What the files of this room ask of each other.
 */
#ifndef RUNTIME_LAUNCH_NATIVE_PARTS_H
#define RUNTIME_LAUNCH_NATIVE_PARTS_H

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

/* --- uplink.c ------------------------------------------------------------ */

struct uplink {
	const char *program, *log;
	pid_t pid; /* 0: it does not run */
};

/* -ENOENT: the program is not here. dir: where its words go. */
must_check int uplink_find(struct arena *a, const char *dir, struct uplink *out,
			   struct err *err);
/* holder: a process that stays in the gate's network, and its namespace of
 * users. The gate waits for what comes of it. */
must_check int uplink_start(struct uplink *u, pid_t holder, struct err *err);
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
	struct filter filter;
	int user, mounts; /* namespaces to go into; -1: it makes them */
	int network;	  /* likewise; -1: a new one */
	/* Where it says what struct part_word has; closed when the program has
	 * begun, or with it. */
	int status;
	int keep; /* stays open as long as the part lives; -1 */
	/* It makes the namespaces: one byte comes here once they have users. */
	int mapped;
};

/* In a forked process with its streams in place: the exit status. What went
 * wrong is said on stderr: 125. */
int part_run(void *part, char *const *ignored);

#endif
