/*
 * Lines, packed: frames on stdout that the launcher appends to trace files.
 *
 * A frame is its length (32 bits, little-endian) and one whole gzip member
 * (RFC 1952), so that members one after the other are a file that gunzip
 * reads, also while it grows, and that can be cut between any two. A length of
 * 0 is the end: no frame follows.
 */
#ifndef RUNTIME_WATCH_PACK_H
#define RUNTIME_WATCH_PACK_H

#include "compiler/base/err.h"

#define PACK_LEVEL 1

struct pack {
	void *gzip; /* a libdeflate_compressor */
	char *out;
	size_t room;
	uint64_t bytes; /* of all members */
};

must_check int pack_init(struct pack *p, struct err *err);
void pack_done(struct pack *p);
/* Write the text as one frame; blocks while nobody reads. */
must_check int pack_write(struct pack *p, int fd, struct str text,
			  struct err *err);
must_check int pack_end(int fd, struct err *err);

#endif
