/*
 * Child processes and the signals of a session.
 *
 * Portable POSIX: a pipe carries what the handlers saw into the poll loop.
 * Meant for a process with one thread.
 */
#ifndef COMPILER_BASE_SYS_PROC_H
#define COMPILER_BASE_SYS_PROC_H

#include "compiler/base/err.h"

#include <sys/types.h>

enum proc_group {
	PROC_SAME,    /* the terminal's signals reach it as they reach us */
	PROC_GROUP,   /* a process group of its own */
	PROC_SESSION, /* a session of its own, without a terminal */
};

struct proc_opts {
	char *const *argv; /* argv[0] is looked up in our PATH */
	enum proc_group group;
	int in, out, err; /* become 0, 1 and 2; -1: inherited */
	int keep;	  /* stays open in the child; -1: none */
	char **env;	  /* "NAME=VALUE", NULL at the end; NULL: inherited */
	/* What the child does in the place of a program: its exit status. Not
	 * of a process that has threads. NULL: argv. */
	int (*run)(void *ctx, char *const *argv);
	void *ctx;
};

/* Both ends close-on-exec. */
must_check int proc_pipe(int *out_read, int *out_write, struct err *err);
must_check int proc_nonblock(int fd, struct err *err);

/*
 * Start argv with the signal dispositions that this process had before
 * proc_signals_catch(). -ENOENT when the program is not there.
 */
must_check int proc_spawn(const struct proc_opts *o, pid_t *out_pid,
			  struct err *err);
/*
 * What there is to read, at most size bytes; 0 when that is nothing now, or
 * nothing any more: then *fd is closed, and -1. It must not block.
 */
size_t proc_read(int *fd, char *buf, size_t size);
/*
 * Pipes for 0, 1 and 2 of what is started with *o; the ends that are left are
 * ours, and do not block. What o has of them is to be closed again, whatever
 * became of it; on failure what was opened is in the descriptors, for the
 * caller to close.
 */
must_check int proc_pipes(struct proc_opts *o, int *out_in, int *out_out,
			  int *out_err, struct err *err);
void proc_pipes_done(struct proc_opts *o);
/* Of a forked process that is nobody's to end politely: no terminal, nothing at
 * 0, 1 and 2, no handler of a signal, the root as its folder. */
void proc_leave_terminal(void);
/* Close all that was inherited above stderr, but for two; -1: no second. */
void proc_close_others(int keep1, int keep2);
/* 0 to 255, 128 + n after signal n: what a shell makes of a wait status. */
int proc_status(int wait_status);
/* "status 3", "killed by signal 9": of proc_status(). */
#define PROC_STATUS_TEXT_MAX 32
const char *proc_status_text(int status, char buf[PROC_STATUS_TEXT_MAX]);

struct proc_signal {
	int signo;
	bool from_terminal; /* not sent by a process: all of the terminal's
			       foreground group has it */
};

/*
 * Catch SIGINT, SIGTERM, SIGHUP, SIGQUIT (those that are not ignored) and
 * SIGCHLD, ignore SIGPIPE; until proc_signals_restore().
 */
must_check int proc_signals_catch(struct err *err);
/* SIGWINCH and SIGCONT, too: after proc_signals_catch(). */
void proc_signals_catch_terminal(void);
void proc_signals_restore(void);
int proc_signals_fd(void); /* readable when proc_signals_next() has one */
bool proc_signals_next(struct proc_signal *out);

#endif
