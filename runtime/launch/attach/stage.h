/*
 * The terminal or the streams of a detached session's command, for everybody
 * who joins it.
 *
 * Its docker command gets a pseudo-terminal or pipes of ours. What comes out
 * goes into the record (spool.h) and nowhere else: whoever joined reads it
 * there, so that nobody who is slow holds up the command or loses anything
 * that the record still has. A socket in the session's folder tells them that
 * there is more, and takes what they type:
 *
 *   to a guest    STAGE_HELLO bytes, once: STAGE_MAGIC, where the record ends
 *                 (segment, offset), the modes of the terminal that are on
 *                 (modes.h). Then a byte STAGE_MORE after each growth; the
 *                 closing is the session's end.
 *   from a guest  a byte what it is, two bytes of length, so many bytes:
 *                 STAGE_INPUT; STAGE_SIZE (rows, columns); STAGE_EOF
 *
 * Numbers have their most significant byte first.
 */
#ifndef RUNTIME_LAUNCH_ATTACH_STAGE_H
#define RUNTIME_LAUNCH_ATTACH_STAGE_H

#include "runtime/launch/attach/modes.h"
#include "runtime/launch/attach/spool.h"
#include "runtime/launch/session/session.h"

#include <poll.h>
#include <sys/types.h>

#define STAGE_MAGIC  "mbr1"
#define STAGE_HELLO  20u
#define STAGE_MORE   '.'
#define STAGE_INPUT  'i'
#define STAGE_SIZE   's'
#define STAGE_EOF    'e'
#define STAGE_HEAD   3u
#define STAGE_DATA   4096u /* most bytes in one message of a guest */
#define STAGE_GUESTS 16u   /* who comes then is turned away */
#define STAGE_FDS    (STAGE_GUESTS + 4u)
#define STAGE_WORDS  8192u

struct stage_guest {
	int fd; /* -1: nobody */
	size_t n;
	unsigned char message[STAGE_HEAD + STAGE_DATA];
};

struct stage {
	bool tty, input; /* input: stdin is open; else at its end */
	int listen;
	int in, out, err; /* our ends; of a terminal in is out; -1 closed */
	int child[3];	  /* the ends for the docker command */
	bool in_ended;	  /* close in when pending is written */
	struct spool spool;
	struct modes modes;
	struct stage_guest guests[STAGE_GUESTS];
	size_t pending_at, pending_n;
	char pending[2 * STAGE_DATA]; /* for stdin */
	/* What came first on stderr: should nothing run, it says why. */
	size_t words_n;
	char words[STAGE_WORDS];
};

struct stage_opts {
	bool tty, input;
	uint16_t rows, columns; /* of the terminal at first; 0: unknown */
};

/* Everything that the docker command needs, and the socket, in dir. */
must_check int stage_open(struct stage *s, const char *dir,
			  const struct stage_opts *o, struct err *err);
/* The docker command has its ends, or never will. */
void stage_close_child(struct stage *s);
/* What to wait for: at most STAGE_FDS. */
size_t stage_fds(const struct stage *s, struct pollfd *out);
/*
 * Take and give what can be; never blocks. agent: the docker command, or 0.
 * SIGPIPE must be ignored.
 */
void stage_pump(struct stage *s, pid_t agent);
/* Nothing more comes out. */
bool stage_is_over(const struct stage *s);
/*
 * The record is whole, and nobody is let in any more. Who is in is let go by
 * this process's end: then there is nothing of the session left to wait for.
 */
void stage_done(struct stage *s);

#endif
