/*
 * The ports behind each class number, read back from the ruleset.
 *
 * Pure. names.map numbers port classes, and only ruleset.nft says which ports
 * they are; records need them to name the one grant that decided. A rule counts
 * if it has an address set with a number and a port match:
 *
 *	ip daddr @host4_1 tcp dport { 443, 8000-8999 } goto granted
 *
 * Comments are passed over. What is not understood is left out: then a record
 *names the first grant of the name. Nothing is permitted or refused by this.
 */
#ifndef RUNTIME_GATE_PLAN_CLASSES_H
#define RUNTIME_GATE_PLAN_CLASSES_H

#include "compiler/base/limits.h"
#include "compiler/base/str.h"

#define CLASSES_PORTS_MAX 8192u /* ranges, all classes together */

struct classes_port {
	uint16_t class; /* from 1 */
	uint8_t proto;	/* IPPROTO_TCP or IPPROTO_UDP */
	uint16_t lo, hi;
};

struct classes {
	struct classes_port v[CLASSES_PORTS_MAX];
	uint32_t n;
};

void classes_read(struct str ruleset, struct classes *out);
bool classes_have(const struct classes *c, unsigned class, uint8_t proto,
		  uint16_t port);

#endif
