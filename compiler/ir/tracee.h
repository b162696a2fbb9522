/*
 * The events that Tracee 0.20 to 0.24 knows, with their arguments.
 *
 * Generated from grammar/tracee-events.tsv. Read by passes/trace, which checks
 * a policy against it, and by emit/tracee, which needs to know what a path to
 * leave out can be compared with.
 */
#ifndef COMPILER_IR_TRACEE_H
#define COMPILER_IR_TRACEE_H

#include "compiler/base/str.h"

/* 0.24.1 as 2401. */
#define TRACEE_RELEASE_MIN     2000
#define TRACEE_RELEASE_MAX     2499
#define TRACEE_RELEASE_DEFAULT 2401
#define TRACEE_DEFAULT_VERSION "0.24.1"
/* From here on a field is 'data.x'; before, and still, 'args.x'. */
#define TRACEE_RELEASE_DATA 2200
/* From here on it is '--containers enrich=false', not '--no-containers'. */
#define TRACEE_RELEASE_CONTAINERS 2400
/* A release by its text, as in "0.24.1"; false when it is none. */
bool tracee_release(struct str version, unsigned *out);

enum tracee_shape {
	TRACEE_NUMBER,
	TRACEE_STRING,
	TRACEE_STRINGS, /* compared as Go prints a list: "[a b]" */
	TRACEE_BOOL,
	TRACEE_OBJECT, /* compared as Go prints a map: "map[a:b c:d]" */
};

enum tracee_arg_flags {
	TRACEE_KERNEL_SIDE = 1, /* compared in the kernel: no *x*, 255 bytes */
	TRACEE_NO_MOUNT = 2,	/* a path in its file system, without mounts */
	TRACEE_UNDECLARED = 4,	/* appended by an option, not for filters */
};

struct tracee_arg {
	const char *name;
	enum tracee_shape shape;
	unsigned flags;
	unsigned since, last; /* releases that have it */
};

enum tracee_kind {
	TRACEE_CORE,
	TRACEE_SYSCALL,
	TRACEE_NET,
	TRACEE_CONTAINER,
	TRACEE_SIGNATURE, /* its data is free: any field may be filtered */
};

struct tracee_event {
	const char *name;
	enum tracee_kind kind;
	const char *sets; /* ",syscalls,fs," */
	unsigned first, n_args;
	unsigned since, last;
};

/* In the order of names; NULL at the end. */
const struct tracee_event *tracee_event_at(size_t i);
const struct tracee_event *tracee_event_named(struct str name);
bool tracee_event_in_set(const struct tracee_event *e, struct str set);
/* Argument i of an event; NULL at the end. */
const struct tracee_arg *tracee_arg_at(const struct tracee_event *e, size_t i);
const struct tracee_arg *tracee_arg_named(const struct tracee_event *e,
					  struct str name, unsigned release);
/*
 * The path that an event is about, when a path to leave out can be compared
 * with it: "pathname", as the agent would write it. Not that of a program
 * that is started: leaving out /usr must not hide what is run from there.
 */
bool tracee_has_path(const struct tracee_event *e);

#endif
