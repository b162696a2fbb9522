/*
 * trace.json: which events a policy wants, and under which conditions.
 *
 * The compiler wrote it and has checked it; here everything that is not
 * understood refuses the whole file. What conditions mean: condition.h.
 */
#ifndef RUNTIME_WATCH_SELECT_H
#define RUNTIME_WATCH_SELECT_H

#include "compiler/base/err.h"
#include "runtime/watch/condition.h"

#define SELECT_FILE_MAX	  (1u << 20)
#define SELECT_LEAVES_MAX 256u

struct select;

/*
 * text: of trace.json. *out is the caller's, for select_free().
 *   -EPROTO  not a file of this version
 */
must_check int select_parse(struct str text, struct select **out,
			    struct err *err);
void select_free(struct select *s);

bool select_wants(const struct select *s, enum watch_event e);
/* Nobody named it: it came with a set, and may be missing. */
bool select_optional(const struct select *s, enum watch_event e);
/* Without all of it there is no session. */
bool select_required(const struct select *s);
/* Under which conditions; borrowed. */
const struct conditions *select_conditions(const struct select *s,
					   enum watch_event e);
/* The workspace is at path, too, and counts as /workspace there. */
void select_own(struct select *s, const char *path);
/* Is this event one to be told of, its conditions and paths considered? */
bool select_takes(const struct select *s, const struct record *r);
/* Files opened only to be read are events, whatever their names. */
bool select_reads(const struct select *s);
/* Names of files that are events also when they are only read. */
size_t select_leaves(const struct select *s, const char *const **out);
/* Bytes of the ring: a power of two. */
uint32_t select_ring(const struct select *s);

#endif
