/*
 * An item of `ports`: a port inside that the machine publishes. In words
 * "[[ADDRESS:]PORT:]PORT", the one inside last: "1455", "3000:5173",
 * "127.0.0.1:8080:80", "[::1]:3000:3000". Without an address it is the
 * machine's loopback, 127.0.0.1; always TCP, one port each.
 */
#ifndef COMPILER_IR_PUBLISHED_H
#define COMPILER_IR_PUBLISHED_H

#include "compiler/base/addr.h"
#include "compiler/base/arena.h"

struct ir_published {
	struct addr addr; /* of the machine */
	uint16_t port;	  /* there */
	uint16_t to;	  /* inside, on loopback */
};

/* NULL, or what is wrong; then *out is untouched. */
const char *published_parse(struct str s, struct ir_published *out);
/* The shortest way to write it: one text for one meaning. */
struct str published_text(struct arena *a, const struct ir_published *p);
/* Is it open to nobody but programs of the machine itself? */
bool published_is_local(const struct ir_published *p);

#endif
