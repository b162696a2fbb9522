/*
 * What the items of one message say, by the part of the event that they are
 * about: texts as they were copied, paths made whole.
 */
#ifndef RUNTIME_WATCH_PARTS_H
#define RUNTIME_WATCH_PARTS_H

#include "runtime/watch/record.h"

/* Empty where the message does not say it; borrowed from it. */
struct parts {
	struct str path[WATCH_CMD + 1], base[WATCH_CMD + 1];
	struct str text[WATCH_CMD + 1];
	struct str addr, group, data[2];
	bool has_path[WATCH_CMD + 1], has_base[WATCH_CMD + 1];
	struct watch_file file;
	struct watch_sock sock;
	struct watch_child child;
};

/* Of what stands behind the head; false when that is none of ours. */
must_check bool parts_take(struct parts *p, const char *at, const char *end);
/* A text that was copied with the NUL behind it. */
struct str parts_text(struct str s);
/* The path that a part of the event is about; its text is in the record. */
struct str parts_path(struct record *r, const struct parts *p,
		      enum watch_part part);
/* Where a message goes: as said with it, or where its socket leads. */
struct value parts_destination(const struct parts *p);

#endif
