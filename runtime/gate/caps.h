/*
 * Privileges, which only shrink.
 */
#ifndef RUNTIME_GATE_CAPS_H
#define RUNTIME_GATE_CAPS_H

#include "compiler/base/err.h"

enum caps_keep {
	CAPS_NONE,
	CAPS_NET,      /* CAP_NET_ADMIN */
	CAPS_NET_KILL, /* and CAP_KILL: to end HAProxy, which has a user of
			  its own, also by dying (PR_SET_PDEATHSIG) */
};

/*
 * Keep that and nothing else, for this process and all that it could start:
 * permitted, effective, inheritable and ambient sets, no_new_privs, and the
 * bounding set as far as CAP_SETPCAP is there to shrink it (no_new_privs holds
 * either way).
 */
must_check int caps_drop(enum caps_keep keep, struct err *err);

#endif
