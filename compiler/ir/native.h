/*
 * What the built-in tracer can record: grammar/native-events.def.
 */
#ifndef COMPILER_IR_NATIVE_H
#define COMPILER_IR_NATIVE_H

#include "compiler/base/str.h"

struct native_event {
	const char *name;
	bool is_default; /* recorded when a policy names none */
	bool somewhere;	 /* not every kernel can give it */
	bool is_asked;	 /* a user's session has it, too */
};

struct native_call {
	const char *name, *event; /* "openat", "security_file_open" */
};

/* In the order of the table; NULL at the end. */
const struct native_event *native_event_at(size_t i);
const struct native_call *native_call_at(size_t i);
const struct native_event *native_event_named(struct str name);
/*
 * The event that records what goes by another name: a system call, or what a
 * trace calls it ("open", "exec"). NULL when there is none.
 */
const char *native_event_meant(struct str name);
/* Can a filter compare that, besides arguments? "comm", "retval" */
bool native_field(struct str name);

#endif
