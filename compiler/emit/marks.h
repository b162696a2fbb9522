/*
 * Which line of an artefact came from which rule.
 *
 * Kept beside the plan in memory and in no artefact: for `explain`, and for
 * whoever turns a refusal of nft, haproxy or docker into a place in the policy.
 * An emitter marks a line while it writes it, by the offset of any of its
 * bytes; where nobody asked (emit_in.marks is NULL) that costs one branch.
 */
#ifndef COMPILER_EMIT_MARKS_H
#define COMPILER_EMIT_MARKS_H

#include "compiler/base/buf.h"
#include "compiler/base/reason.h"
#include "compiler/ir/ir.h"

/* What a line has a say in. */
enum marks_use {
	MARKS_NAME = 1u << 0, /* what the resolver answers */
	MARKS_TCP4 = 1u << 1, /* packets, by protocol and family */
	MARKS_TCP6 = 1u << 2,
	MARKS_UDP4 = 1u << 3,
	MARKS_UDP6 = 1u << 4,
	MARKS_RAW = 1u << 5,	 /* first bytes, as HAProxy sees them */
	MARKS_HELLO = 1u << 6,	 /* the name in a TLS hello */
	MARKS_REQUEST = 1u << 7, /* requests in the clear or decrypted */
	MARKS_READ = 1u << 8,
	MARKS_WRITE = 1u << 9,
	MARKS_ARG = 1u << 10,
};

#define MARKS_TCP (MARKS_TCP4 | MARKS_TCP6)
#define MARKS_UDP (MARKS_UDP4 | MARKS_UDP6)
/* The bit of a reason in marks_one.reasons. */
#define MARKS_FOR(name) (UINT64_C(1) << REASON_##name)
#define MARKS_ANY	UINT64_MAX

struct marks_one {
	const char *file; /* the artefact */
	size_t at;	  /* a byte of the line */
	/* Of the grant, pattern or argument: a pointer into the policy. NULL:
	 * of no rule, what holds where none does. */
	const struct ir_origin *from;
	unsigned uses;	  /* marks_use */
	uint64_t reasons; /* decisions that it stands for */
	uint32_t rule;	  /* the one of http, from 1; 0: all of them */
	bool has_range;	  /* only for addresses from lo up to hi */
	struct addr lo, hi;
};

struct marks {
	struct arena *a;
	const char *file; /* being written */
	VEC(struct marks_one) list;
};

/* Mark a line; its file is the one being written. m may be NULL. */
void marks_add(struct marks *m, struct marks_one one);
/* The same for the addresses of a network. */
void marks_net(struct marks *m, struct marks_one one, const struct cidr *net);
/* The line of a byte in a text, from 1; and that line without its end. */
uint32_t marks_line(struct str text, size_t at, struct str *out_line);

#endif
