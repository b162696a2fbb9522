/*
 * 'host', the machine that runs membrane, in the gate's network: an address of
 * loopback's, and a listening socket there for each port that the plan names.
 * The launcher gets the sockets, and answers at them: the gate itself has no
 * way to that machine.
 */
#ifndef RUNTIME_GATE_PACKET_MACHINE_H
#define RUNTIME_GATE_PACKET_MACHINE_H

#include "compiler/base/err.h"

#include <stdint.h>

/* n: at most LIMIT_MACHINE_PORTS; nothing is done for 0. to: a path, the
 * launcher's socket. */
must_check int machine_open(const uint16_t *ports, uint32_t n, const char *to,
			    struct err *err);

#endif
