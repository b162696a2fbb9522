/*
 * Refusals that come faster than they can be told: alike ones become one
 * record with a count, told once there is room. Whose connection each was (the
 * port it came from) is lost by that, and nothing else.
 *
 * Pure, of fixed size. What is permitted never comes here.
 */
#ifndef RUNTIME_GATE_RECORD_FOLD_H
#define RUNTIME_GATE_RECORD_FOLD_H

#include "runtime/gate/record/record.h"

#define FOLD_ENTRIES 128u

struct fold_entry {
	size_t n; /* bytes of line, as record_decision() wrote it; 0: free */
	uint64_t count;
	struct timespec last;
	char line[RECORD_MAX];
};

/* Zeroed by the caller. */
struct fold {
	unsigned n; /* that are in use, the first ones */
	struct fold_entry entries[FOLD_ENTRIES];
};

/* False when it is like no other and there is no room: it is lost. */
bool fold_add(struct fold *f, const struct record *r);
/*
 * The oldest entry as a line with its LF, and its count; it is forgotten. The
 * length; 0 when there is none.
 */
size_t fold_take(struct fold *f, char buf[RECORD_MAX]);

#endif
