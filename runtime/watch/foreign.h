/*
 * The numbers that 32-bit programs and those of x32 know system calls by, as
 * the machine's own: int $0x80 is there for any program, so whoever followed
 * the machine's own numbers alone would not see all that is done.
 *
 * Names come from libseccomp, by number. A call that has another name there, or
 * other arguments, is in a table here; one that only 32-bit programs have, and
 * that is in none, does nothing that is recorded.
 */
#ifndef RUNTIME_WATCH_FOREIGN_H
#define RUNTIME_WATCH_FOREIGN_H

#include "runtime/watch/kernel/event.h"

/* Fill foreign and sockets of out, whose calls are filled already. */
void foreign_fill(struct watch_config *out);

#endif
