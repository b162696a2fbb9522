/*
 * native.json: what membrane's own engine runs, in the words of `docker run`
 * and the form of docker.json; compiler/plan/native_json.h has what it knows of
 * them. Nothing of the host's files is there but what a word mounts.
 */
#ifndef COMPILER_EMIT_NATIVE_NATIVE_H
#define COMPILER_EMIT_NATIVE_NATIVE_H

#include "compiler/emit/emit.h"

/* The first thing of a policy, in the order of its lines, that a session which
 * nobody gave to Docker could not have natively. */
struct native_obstacle {
	struct span at;
	struct str text; /* what of it, in the arena */
};

/* Whether there is one. p is IR_NORMALISED. */
bool native_obstacle(struct arena *a, const struct ir_policy *p,
		     struct native_obstacle *out);

/* Whether it could run natively if it named the engine: then the image of an
 * agent's profile does not count, and some of Docker's words do. */
bool native_if_named(struct arena *a, const struct sources *sources,
		     const struct ir_policy *p);

/* It is named, or it is left open and there is no obstacle, or the image is an
 * unpacked root, which nothing else runs. */
bool native_wanted(const struct ir_policy *p);
/* Does a user's session record anything of what the policy wants? */
bool native_asks(const struct ir_policy *p);
/* The first of the wanted events that it does not have; NULL: it has all. */
const char *native_unasked(const struct ir_policy *p);
bool native_emit(const struct emit_in *in, struct buf *out);
/* Whether a path of the machine is there inside whatever the policy says. */
bool native_shows(struct str path);

#endif
