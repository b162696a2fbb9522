/*
 * Records as JSON lines in the shape of Tracee 0.24: one object per event with
 * the names, numbers and types that its recipes expect.
 *
 * Lines gather in one buffer, until line_clear(): the library writes straight
 * into it, for this is most of what the tracer does. What is not valid UTF-8
 * becomes U+FFFD, as it does there.
 */
#ifndef RUNTIME_WATCH_LINE_H
#define RUNTIME_WATCH_LINE_H

#include "compiler/base/err.h"
#include "runtime/watch/record.h"

#define LINE_HOST_MAX  256
#define LINE_GROUP_MAX 128

struct line_writer {
	void *json; /* a yajl_gen, that knows where this is */
	char *text; /* the lines */
	size_t n, room;
	bool failed;	       /* no memory for all of the last line */
	int64_t boot_epoch_ns; /* add to times since boot */
	char host[LINE_HOST_MAX];
	char container[LINE_GROUP_MAX]; /* its ID; "" until known */
};

/* w stays where it is until line_done(). */
must_check int line_init(struct line_writer *w, const char *host,
			 struct err *err);
void line_done(struct line_writer *w);

/* Take the container's ID from the name of its control group. */
void line_container(struct line_writer *w, struct str group);
/* One line for the event. -ENOMEM alone. */
must_check int line_record(struct line_writer *w, const struct record *r,
			   struct err *err);

/* A member of a line about the trace itself. */
struct line_fact {
	const char *name;
	const char *text; /* NULL: a number */
	uint64_t number;
};
/*
 * A line that is no event of a process: "membrane_start" and "membrane_end"
 * are the first and the last of a trace. Same shape, facts as arguments.
 */
must_check int line_facts(struct line_writer *w, const char *event,
			  const struct line_fact *facts, size_t n,
			  struct err *err);

/* What was written since line_clear(): whole lines. */
struct str line_text(const struct line_writer *w);
void line_clear(struct line_writer *w);

#endif
