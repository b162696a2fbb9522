/*
 * native.json: what membrane's own engine runs, in the words of `docker run`
 * and the form of docker.json; compiler/plan/native_json.h has what it knows of
 * them. Nothing of the host's files is there but what a word mounts.
 */
#ifndef COMPILER_EMIT_NATIVE_NATIVE_H
#define COMPILER_EMIT_NATIVE_NATIVE_H

#include "compiler/emit/emit.h"

bool native_wanted(const struct ir_policy *p);
bool native_emit(const struct emit_in *in, struct buf *out);

#endif
