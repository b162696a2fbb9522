/*
 * A kubectl that goes on telling, a line at a time: a log that is followed, a
 * watch.
 */
#ifndef RUNTIME_LAUNCH_KUBERNETES_STREAM_H
#define RUNTIME_LAUNCH_KUBERNETES_STREAM_H

#include "compiler/base/buf.h"
#include "runtime/launch/kubernetes/kubectl.h"

#include <poll.h>

#define STREAM_FDS 2u

struct stream {
	pid_t pid; /* 0: none, or it has ended */
	int status;
	int out, err; /* of its pipes, -1 at their end */
	struct lines lines;
	struct buf complaint;
	bool said; /* something, since it was started */
};

/* None is under way. */
void stream_init(struct stream *s, struct arena *a, lines_fn *on_line,
		 void *ctx);
/* In a process group of its own: the terminal's signals are not for it. */
must_check int stream_start(struct stream *s, struct arena *a,
			    const struct kubectl *k, const char *const *words,
			    struct err *err);
size_t stream_fds(const struct stream *s, struct pollfd *out);
/* Never blocks. What on_line said. */
must_check int stream_pump(struct stream *s, struct err *err);
/* Its end, and all that it told is read. */
bool stream_is_over(const struct stream *s);
/* The last line of its complaint, or nothing. */
struct str stream_last_words(const struct stream *s);
/* A child has ended: true, when it was this one. */
bool stream_ended(struct stream *s, pid_t pid, int status);
/* Now, whatever it still has to tell. */
void stream_end(struct stream *s);

#endif
