/*
 * Who asks: is it the session's first process, sealed, and in the program that
 * it was when it asked first, under the name that the session gave it?
 *
 * The server is told a thread by its number, and has no right to look at it: it
 * asks the supervisor, which alone has, and which answers yes or no. Whoever
 * asked waits for the answer of the file system meanwhile, so it can become
 * nothing else. The first process of a container is known by its number there:
 * that is never another's, since all end with it.
 *
 * Sealed: its memory is closed to all others of the session (PR_SET_DUMPABLE).
 */
#ifndef RUNTIME_VIEW_WHO_WHO_H
#define RUNTIME_VIEW_WHO_WHO_H

#include "compiler/base/err.h"
#include "compiler/base/str.h"
#include "runtime/view/who/sealing.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What /proc/PID/status tells of a thread. */
struct who_status {
	pid_t process;	   /* Tgid */
	bool is_first;	   /* of a container of this host's own */
	bool has_one_user; /* real, effective, saved and of files */
	bool has_one_group;
	uid_t uid;
	gid_t gid;
	bool has_rights; /* a capability */
};

/* Pure. text: the file, with a NUL behind it. False: it is none. */
bool who_read_status(const char *text, struct who_status *out);

/* --- the supervisor ------------------------------------------------------- */

/* Is it among the first words of a command line, /proc/PID/cmdline? A script
 * stands behind its interpreter. Pure. */
bool who_is_named(const char *line, size_t n, struct str program);

/* What is read of one. */
#define WHO_LINE_MAX 4096u
/* How much; 0: there is no such process. */
size_t who_read_line(pid_t process, char line[WHO_LINE_MAX]);

struct who {
	struct str program; /* that the session runs; empty: not known */
	struct sealing sealing;
	bool failed; /* it cannot be closed: err */
	struct err err;
	bool is_open; /* the first process asked, and was not sealed */
	bool known;   /* somebody was the first process before */
	pid_t process;
	uint64_t dev, ino; /* its program */
};

bool who_is_first(struct who *w, pid_t thread);
/* One question of the server's; false: it is gone. */
bool who_answer(struct who *w, int fd);
/* After SIGCHLD: close what the first process has gone on as. */
void who_step(struct who *w);

/* --- between the two ------------------------------------------------------ */

struct who_question {
	pid_t thread;
	bool to_seal; /* from its next program on; else: who is it? */
};

enum who_said { WHO_NO, WHO_YES, WHO_FAILED };

/* --- the server ----------------------------------------------------------- */

/* Waits for the answer; false where there is none. */
bool who_ask(int fd, pid_t thread);
/* 0: its next program is closed before it begins. ENODATA: it is not the first
 * process, or was asked for before. EPERM: it cannot be, and the view ends. */
int who_ask_to_seal(int fd, pid_t thread);

#endif
