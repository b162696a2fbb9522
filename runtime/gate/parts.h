/*
 * What the processes of the gate share.
 */
#ifndef RUNTIME_GATE_PARTS_H
#define RUNTIME_GATE_PARTS_H

#include "compiler/base/err.h"

enum caps_keep {
	CAPS_NONE,
	/* CAP_NET_ADMIN; CAP_SETUID and CAP_SETGID, to start HAProxy as a user
	 * of its own whenever the policy changes; and CAP_KILL, to end it,
	 * also by dying (PR_SET_PDEATHSIG). */
	CAPS_GATE,
};

/*
 * Keep that and nothing else, for this process and all that it could start:
 * permitted, effective, inheritable and ambient sets, no_new_privs, and the
 * bounding set as far as CAP_SETPCAP is there to shrink it (no_new_privs holds
 * either way).
 */
must_check int caps_drop(enum caps_keep keep, struct err *err);

#endif
