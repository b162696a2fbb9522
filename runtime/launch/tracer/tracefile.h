/*
 * The files that a session's trace becomes: trace/ID.jsonl.gz, and when that
 * is too large or too old ID.1.jsonl.gz, ID.2.jsonl.gz and so on.
 *
 * Whole gzip members go in, one after the other; a file ends between two, so
 * each can be read by itself, also while it grows. What is older than the
 * limits allow is removed when a file is begun, but for what grows, of whatever
 * session: that holds an flock(2).
 */
#ifndef RUNTIME_LAUNCH_TRACER_TRACEFILE_H
#define RUNTIME_LAUNCH_TRACER_TRACEFILE_H

#include "compiler/base/err.h"

struct tracefile_limits {
	uint64_t bytes; /* of one file */
	uint64_t age_s; /* of one file, from its first member on */
	uint64_t files; /* of all sessions; the one that grows counts */
	uint64_t total; /* bytes of all of them */
};

struct tracefile {
	const char *dir, *session; /* borrowed */
	struct tracefile_limits limits;
	int fd;	  /* -1: none yet */
	int copy; /* everything goes here, too; -1: nowhere. Not ours */
	unsigned part;
	uint64_t bytes; /* of this file */
	int64_t begun_ms;
};

/* Nothing is opened before the first member. */
void tracefile_init(struct tracefile *f, const char *dir, const char *session,
		    const struct tracefile_limits *limits);
/*
 * Append one member. When that fails, what was written of it is taken back,
 * and a file without any goes:
 *   -ENOSPC, -EDQUOT, -EFBIG  no room
 *   -ENOENT  the file was removed by somebody
 */
must_check int tracefile_add(struct tracefile *f, struct str member,
			     struct err *err);
void tracefile_done(struct tracefile *f);

#endif
