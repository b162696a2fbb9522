/*
 * What HAProxy says before a connection that it passes on: whose it is, and
 * where the client called. PROXY protocol, version 2,
 * haproxy.org/download/2.6/doc/proxy-protocol.txt. Pure.
 */
#ifndef RUNTIME_GATE_ONWARD_HEAD_H
#define RUNTIME_GATE_ONWARD_HEAD_H

#include "compiler/base/addr.h"

#include <stddef.h>

#define HEAD_FIRST 16u	/* bytes, which say how many more there are */
#define HEAD_MAX   536u /* bytes at most, all of it */

struct head {
	struct addr to;
	uint16_t port;
	uint16_t from_port; /* the client's */
};

/* Bytes of a whole one, from its first HEAD_FIRST; 0: it is none of ours. */
size_t head_size(const uint8_t *first);
/* n: what head_size() said. False for anything but TCP. */
bool head_parse(const uint8_t *bytes, size_t n, struct head *out);

#endif
