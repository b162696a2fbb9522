/*
 * Names that go to Docker as they are: whether Docker would take them.
 */
#ifndef COMPILER_EMIT_DOCKER_DOCKER_NAMES_H
#define COMPILER_EMIT_DOCKER_DOCKER_NAMES_H

#include "compiler/base/str.h"

/*
 * [HOST[:PORT]/]PATH[:TAG][@DIGEST], by the grammar of the distribution
 * project's reference package, at most 255 bytes of name.
 */
bool docker_names_image(struct str s);
/* [a-zA-Z0-9][a-zA-Z0-9_.-]*; "host", "none" and "container:…" are no
 * networks that a gate could go out through. */
bool docker_names_network(struct str s);

#endif
