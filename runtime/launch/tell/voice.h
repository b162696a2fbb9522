/*
 * Lines for stderr that are not waited for: it may be a pipe that nobody reads,
 * or a terminal that was stopped, and who writes here has a gate to listen to.
 *
 * Others write there as well, so its mode is left alone. It is opened once
 * more, without blocking; into a pipe that is another user's the bytes are
 * spliced out of one of our own. Where neither can be had nothing is said.
 */
#ifndef RUNTIME_LAUNCH_TELL_VOICE_H
#define RUNTIME_LAUNCH_TELL_VOICE_H

#include "compiler/base/err.h"
#include "compiler/base/str.h"

#include <stdbool.h>

#define VOICE_BYTES 16384u

struct voice {
	int fd; /* -1: nothing is said, or nobody listens any more */
	bool is_socket;
	int into, from; /* a pipe of ours, in front of one; -1: it is none */
	size_t piped;	/* bytes in there */
	size_t pieces;	/* spliced since somebody has read all */
	size_t n;
	char text[VOICE_BYTES]; /* whole lines, but for the first */
};

/* Nothing is open. */
void voice_init(struct voice *v);
/* Say it where fd, which is borrowed for the moment, leads. */
must_check int voice_open(struct voice *v, int fd, struct err *err);
/* A line with its LF, at most PIPE_BUF bytes; false: there is no room. */
must_check bool voice_add(struct voice *v, struct str line);
/* As much as is taken now. */
void voice_pump(struct voice *v);
/* Is poll(2) to say when fd takes more? */
bool voice_waits(const struct voice *v);
void voice_done(struct voice *v);

#endif
