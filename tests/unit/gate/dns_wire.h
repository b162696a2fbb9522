/*
 * DNS messages from bytes, the hostile ones included.
 */
#ifndef TESTS_UNIT_GATE_DNS_WIRE_H
#define TESTS_UNIT_GATE_DNS_WIRE_H

#include "runtime/gate/wire/dns_msg.h"

#include "tests/check.h"

#include <string.h>

static uint8_t wire[DNS_MSG_MAX];

/* header, then question bytes */
static inline size_t raw(uint16_t id, uint16_t flags, const uint16_t counts[4],
		  const char *body, size_t n)
{
	uint16_t h[6] = {id, flags, counts[0], counts[1], counts[2], counts[3]};

	for (size_t i = 0; i < 6; i++) {
		wire[2 * i] = (uint8_t)(h[i] >> 8);
		wire[2 * i + 1] = (uint8_t)h[i];
	}
	memcpy(wire + 12, body, n);
	return 12 + n;
}

static const uint16_t one[4] = {1, 0, 0, 0};
#define EXAMPLE "\7Example\4test\0"
#define A_IN	"\0\1\0\1"
#define BODY(s) s, sizeof(s) - 1

#endif
