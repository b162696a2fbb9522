/*
 * The events that this tracer can record, and the system calls they come from.
 *
 * Names, numbers and arguments are Tracee's (grammar/tracee-events.tsv), so
 * that what reads the one's records reads the other's.
 */
#ifndef RUNTIME_WATCH_EVENTS_H
#define RUNTIME_WATCH_EVENTS_H

#include "compiler/base/str.h"
#include "runtime/watch/kernel/event.h"

enum watch_event {
#define EVENT(name, set) WATCH_EVENT_##name,
#define CALL(...)
#define ARG(...)
#define FIELD(...)
#include "grammar/native-events.def"
#undef EVENT
#undef CALL
#undef FIELD
#undef ARG
	WATCH_EVENTS,
};

struct watch_arg {
	const char *name, *type; /* as in the records: "pathname", "string" */
};

struct watch_event_info {
	const char *name, *id; /* "security_file_open", "732" */
	unsigned n_args;
	const struct watch_arg *args;
};

const struct watch_event_info *events_info(enum watch_event e);
/* Can a user's session tell of it, asked by the kernel? ASKED in the table. */
bool events_is_asked(enum watch_event e);
/* False when there is none of this name. */
bool events_find(struct str name, enum watch_event *out);

/* What one system call is, by its number on this machine. */
struct events_call {
	const char *name; /* "openat"; NULL: not one of ours */
	enum watch_event event;
	struct watch_call how;
};

/* The table by number; calls[i].name is NULL for those that are not ours. */
const struct events_call *events_calls(void);
/*
 * Of a system call of this machine, by name. Those of ours that only 32-bit
 * programs have here (open, where there is openat alone) have numbers from
 * WATCH_NUMBERS on; others that there are not, negative ones.
 */
int events_call_number(const char *name);
/* Of any system call of this machine; "" for a number that is none. */
const char *events_call_name(unsigned nr);

#endif
