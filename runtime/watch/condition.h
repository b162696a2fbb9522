/*
 * A condition on an event, in Tracee's grammar and meaning: in
 * "data.pathname=/etc/passwd,*.pem" several values are alternatives, and so are
 * several '=' on one field; all else must hold. Where Tracee looks at '=' alone
 * ('=' and '!=' on one field), both hold here: the compiler refuses that for
 * Tracee, so that no policy means two things.
 */
#ifndef RUNTIME_WATCH_CONDITION_H
#define RUNTIME_WATCH_CONDITION_H

#include "runtime/watch/record.h"

enum condition_field {
	FIELD_DATA, /* an argument, by name */
	FIELD_COMM,
	FIELD_UID,
	FIELD_PID,
	FIELD_TID,
	FIELD_PPID,
	FIELD_HOST_PID,
	FIELD_HOST_TID,
	FIELD_MNTNS,
	FIELD_PIDNS,
	FIELD_CGROUP,
	FIELD_SYSCALL,
	FIELD_RETVAL,
};

enum condition_op { OP_EQ, OP_NE, OP_LT, OP_GT, OP_LE, OP_GE };

struct condition {
	enum condition_field field;
	enum condition_op op;
	struct str arg;	   /* DATA */
	struct str values; /* separated by commas */
};

/* Of one event. */
struct conditions {
	struct condition *each;
	size_t n;
};

/* False for a text that is none; borrowed from it otherwise. */
must_check bool condition_parse(struct str s, struct condition *out);
/* Is it about what is known only when the call was made, or outside of the
 * session's namespaces? Of a record with WATCH_ASKED it cannot be said. */
bool condition_is_later(const struct condition *c);
/* own: where the workspace is besides /workspace (ownpath.h), or empty. */
bool condition_all_hold(const struct conditions *all, const struct record *r,
			struct str own);

#endif
