/*
 * What Tracee says of itself: the lines that it logs on stderr, as of releases
 * 0.20 to 0.24 with '--log debug'.
 *
 * Pure. Each is a JSON object of zap's: {"L":"DEBUG","T":…,"M":"what","k":v},
 * with "level" and "msg" at higher levels. Read in its source, package by
 * package (facts of pkg/cmd, pkg/ebpf and pkg/logger); no release was run.
 */
#ifndef RUNTIME_LAUNCH_TRACER_TRACEE_LOG_H
#define RUNTIME_LAUNCH_TRACER_TRACEE_LOG_H

#include "compiler/base/str.h"

#define TRACEE_LOG_TEXT 256

enum tracee_said {
	TRACEE_SAID_NOTHING, /* nothing that matters here */
	TRACEE_SAID_READY,   /* probes are attached, buffers are polled */
	TRACEE_SAID_LOST,    /* n events found no room */
	TRACEE_SAID_WITHOUT, /* text: an event that this host cannot give */
	TRACEE_SAID_AGAIN,   /* text: it can, in another way */
	TRACEE_SAID_ERROR,   /* text: something went wrong, it goes on */
	TRACEE_SAID_FATAL,   /* text: and it does not */
	TRACEE_SAID_WORDS,   /* text: no log line; Docker's, or on usage */
};

struct tracee_words {
	enum tracee_said said;
	uint64_t n;
	char text[TRACEE_LOG_TEXT]; /* control bytes are blanks */
};

void tracee_log_read(struct str line, struct tracee_words *out);

#endif
