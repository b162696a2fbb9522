/*
 * Privileges, which only shrink.
 */
#ifndef RUNTIME_GATE_CAPS_H
#define RUNTIME_GATE_CAPS_H

#include "compiler/base/err.h"

/*
 * Keep CAP_NET_ADMIN or nothing, for this process and all that it could start:
 * permitted, effective, inheritable and ambient sets, no_new_privs, and the
 * bounding set as far as CAP_SETPCAP is there to shrink it (no_new_privs holds
 * either way).
 */
must_check int caps_drop(bool keep_net_admin, struct err *err);

#endif
