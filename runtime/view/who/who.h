/*
 * Who asks: is it the session's main process, sealed, and in the program that
 * it was when it asked first, under the name that the session gave it?
 *
 * The server is told a thread by its number, and has no right to look at it: it
 * asks the supervisor, which alone has, and which answers yes or no. Whoever
 * asked waits for the answer of the file system meanwhile, so it can become
 * nothing else. The main process says that it is that before it runs anything
 * but our own, and before there is another process in the container than the
 * init: so the first who says it is believed. All end with it, so that its
 * number is never another's.
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
	pid_t process; /* Tgid */
	/* In a container of this host's own; 0: in none, or its first. */
	pid_t number;
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
	pid_t main;  /* the main process; 0: nobody has said so yet */
	bool failed; /* it cannot be closed: err */
	struct err err;
	bool is_open; /* the main process asked, and was not sealed */
	bool known;   /* somebody was the main process before */
	pid_t process;
	uint64_t dev, ino; /* its program */
};

bool who_is_main(struct who *w, pid_t thread);
/* One question of the server's; false: it is gone. */
bool who_answer(struct who *w, int fd);
/* After SIGCHLD: close what the main process has gone on as. */
void who_step(struct who *w);

/* --- between the two ------------------------------------------------------ */

struct who_question {
	pid_t thread;
	enum {
		WHO_IS_IT,
		WHO_IS_MAIN, /* from now on */
		WHO_TO_SEAL, /* from its next program on */
	} what;
};

enum who_said { WHO_NO, WHO_YES, WHO_FAILED };

/* --- the server ----------------------------------------------------------- */

/* Waits for the answer; false where there is none. */
bool who_ask(int fd, pid_t thread);
/* 0: it is the main process from now on. ENODATA: another was before. */
int who_ask_to_be_main(int fd, pid_t thread);
/* 0: its next program is closed before it begins. ENODATA: it is not the main
 * process, or was asked for before. EPERM: it cannot be, and the view ends. */
int who_ask_to_seal(int fd, pid_t thread);

#endif
