/*
 * `attach`: joining the terminal or the streams of a session that a keeper
 * holds (stage.h is the other end), and leaving it again.
 */
#ifndef RUNTIME_LAUNCH_ATTACH_JOIN_H
#define RUNTIME_LAUNCH_ATTACH_JOIN_H

#include "runtime/launch/attach/detach.h"
#include "runtime/launch/session/metadata.h"

struct join_opts {
	const struct metadata *about;
	struct detach keys;
	bool no_input; /* only listen */
	bool past;     /* what came before, too: the last lines of it */
	uint64_t lines;
};

enum join_how {
	JOIN_ENDED,    /* the session is over */
	JOIN_LOST,     /* its keeper was killed */
	JOIN_DETACHED, /* by the keys */
	JOIN_SIGNAL,   /* we were asked to end: *out_signal */
};

/*
 * Until one of these. The caller's terminal is as it was afterwards. Output
 * goes to stdout and stderr.
 *   -EBUSY  as many have joined as can
 */
must_check int join_run(struct arena *a, const struct join_opts *o,
			enum join_how *out, int *out_signal, struct err *err);
/*
 * What the session printed, or the last lines of that, to stdout and stderr;
 * until its end when follow is set. *out_skipped: some was gone already.
 *   -ENOENT  this session's output is not recorded
 */
must_check int join_print(const struct metadata *about, bool past,
			  uint64_t lines, bool follow, bool *out_skipped,
			  struct err *err);

#endif
