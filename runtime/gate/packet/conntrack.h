/*
 * Connections that go through the packet filter by themselves, in the namespace
 * of the caller: those that the agent began, and whose source is rewritten.
 *
 * A packet of one that is forgotten is judged like the first of a new one: what
 * is still permitted goes on, anything else does not. Kernels before 5.19 know
 * no choice (CTA_STATUS_MASK) and forget all, those that the gate has itself
 * included: what was opened in the moment before may have to be once more.
 */
#ifndef RUNTIME_GATE_PACKET_CONNTRACK_H
#define RUNTIME_GATE_PACKET_CONNTRACK_H

#include "compiler/base/err.h"

/* Can conntrack_forget() be asked for? Nothing changes. */
must_check int conntrack_check(struct err *err);
/* Forget all of them. */
must_check int conntrack_forget(struct err *err);

#endif
