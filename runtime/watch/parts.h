/*
 * What the items of one message say, by the part of the event that they are
 * about: texts as they were copied, paths made whole.
 */
#ifndef RUNTIME_WATCH_PARTS_H
#define RUNTIME_WATCH_PARTS_H

#include "runtime/watch/record.h"

/* Empty where the message does not say it; borrowed from it. */
struct parts {
	struct str path[WATCH_PARTS], base[WATCH_PARTS];
	struct str text[WATCH_PARTS];
	struct str addr, group, data[WATCH_QUESTIONS];
	bool has_path[WATCH_PARTS], has_base[WATCH_PARTS];
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
/* What that is relative to: where the process was when the call had ended. */
struct str parts_base(struct record *r, const struct parts *p,
		      enum watch_part part);
/* The path of a file that was opened, which may be in no folder: as /proc has
 * it, "pipe:[7]". */
struct str parts_file(struct record *r, const struct parts *p);
/* Where a message goes: as said with it, or where its socket leads. */
struct value parts_destination(const struct parts *p);

#endif
