/*
 * A root out of an archive, unpacked once below the state folder by
 * membrane-unpack (runtime/unpack): STATE/images/SHA256/root.
 *
 * The file is read only after its SHA-256 is the one that the policy names, and
 * what is there is never unpacked again.
 */
#ifndef RUNTIME_LAUNCH_IMAGE_H
#define RUNTIME_LAUNCH_IMAGE_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"
#include "runtime/launch/docker/docker_info.h"

#define IMAGE_UNPACK "membrane-unpack" /* beside membrane's other programs */

/*
 * What of an image's config holds in a session, of either engine's: user and
 * working folder are the session's own.
 */
struct image_config {
	docker_words env; /* NAME=VALUE */
	struct docker_command runs;
};

/*
 * file    absolute
 * sha256  64 digits, of the whole file
 *
 * The archive's image is there, and *out is what its config says. Of several that ask at once one unpacks; it says so on
 * stderr, but for quiet. Nothing half unpacked stays.
 *   -EPROTO  the file is another one, or no image that can be unpacked here:
 *            *err says what membrane-unpack said
 */
must_check int image_open(struct arena *a, const char *state,
			  const char *programs, const char *file,
			  const char *sha256, bool quiet, 
			  struct image_config *out, struct err *err);

#endif
