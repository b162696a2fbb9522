/*
 * The DNS questions that a message of the kernel's side carries besides: what
 * was sent to port 53, read by the C library.
 */
#ifndef RUNTIME_WATCH_QUESTION_H
#define RUNTIME_WATCH_QUESTION_H

#include "runtime/watch/record.h"

/* How many there may be in a message that record_make() has taken. */
unsigned question_count(const void *message, size_t bytes);
/*
 * The n-th one, as a record of its own. False when there is none, or what was
 * sent is no DNS message.
 */
must_check bool question_make(struct record *r, const void *message,
			      size_t bytes, unsigned n);

#endif
