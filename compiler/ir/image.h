/*
 * What `image` may say besides the name of an image: a root of this machine's,
 * unpacked, "dir:/srv/root"; or an archive of an image, which is unpacked once,
 * "archive:/srv/agent.tar@sha256:HEX" with the digest of the whole file.
 */
#ifndef COMPILER_IR_IMAGE_H
#define COMPILER_IR_IMAGE_H

#include "compiler/base/str.h"

/* The path of a root, as it is written; empty: it is no root. */
struct str image_root(struct str image);

struct image_archive {
	struct str path, sha256; /* sha256: empty where none is written */
};
/* False: it is no archive. */
bool image_archive(struct str image, struct image_archive *out);
/* Either of them: nothing that Docker runs. */
bool image_is_own(struct str image);
/* The folder, or the archive; empty: neither. */
struct str image_place(struct str image);
/* Of either: NULL, or what is wrong with it. */
const char *image_fault(struct str image);

#endif
