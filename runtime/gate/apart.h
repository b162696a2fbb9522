/*
 * The gate in a Pod of its own: what it has to know of the network that it is
 * in, and that no launcher tells.
 */
#ifndef RUNTIME_GATE_APART_H
#define RUNTIME_GATE_APART_H

#include "runtime/gate/plan/names.h"
#include "runtime/gate/plan/planfile.h"
#include "runtime/gate/wire/link_facts.h"

/* No name leads to the gate itself: its interfaces' addresses, and those that
 * it is called by. -E2BIG: too many. */
must_check int apart_hosts(const struct planfile_vectors *v,
			   struct names_hosts *hosts, struct err *err);
/* Whichever family is gone to first: "ipv4" where there is a way out by it. */
const char *apart_family(const struct link_facts *facts);

#endif
