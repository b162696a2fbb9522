/*
 * known_hosts: keys of forges, as these publish them, for ssh in a session:
 * policies/forges/known_hosts, of it the hosts that some grant names.
 *
 * A second file of OpenSSH's own default (GlobalKnownHostsFile): the image's
 * and the agent's own are read besides.
 */
#ifndef COMPILER_EMIT_GIT_KNOWN_HOSTS_H
#define COMPILER_EMIT_GIT_KNOWN_HOSTS_H

#include "compiler/emit/emit.h"

bool known_hosts_emit(const struct emit_in *in, struct buf *out);
bool known_hosts_wanted(const struct ir_policy *p);
/* The hosts, with commas: for people. Empty: none. */
struct str known_hosts_names(struct arena *a, const struct ir_policy *p);

#endif
