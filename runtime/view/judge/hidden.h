/*
 * Files that were once judged hidden: by device, inode and time of birth, so
 * that they are hidden under whatever name they have later.
 *
 * Pure. An inode number is used again when its file is gone; the time of birth
 * tells the new file from the old one. Where a file system has none, the number
 * alone decides, and hides one too many rather than one too few.
 */
#ifndef RUNTIME_VIEW_JUDGE_HIDDEN_H
#define RUNTIME_VIEW_JUDGE_HIDDEN_H

#include <stdbool.h>
#include <stdint.h>

/* 128 MiB of them; beyond that hidden_add() refuses. */
#define HIDDEN_MAX (1u << 22)

struct hidden_file {
	uint64_t dev, ino;
	int64_t born_s;
	uint32_t born_ns; /* both 0: not known */
	bool used;
};

/* Zeroed by the caller. */
struct hidden {
	struct hidden_file *v; /* open addressing, a power of two */
	uint32_t n, size;
};

void hidden_done(struct hidden *h);
/* False: no memory, or too many. What has the same number but another birth is
 * replaced: that file is gone. */
bool hidden_add(struct hidden *h, const struct hidden_file *f);
bool hidden_has(const struct hidden *h, const struct hidden_file *f);

#endif
