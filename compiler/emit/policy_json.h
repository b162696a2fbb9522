/*
 * policy.json: the normalised policy, in the keys of a policy file.
 *
 * JSON is YAML: read as a policy file it compiles to itself. Grants have their
 * long form, presets and layers are dissolved, events expanded and defaults
 * written out. Left out is what comes again by itself, the built-in floor, and
 * workspace_trust, which says who may write a policy and not what it is. No
 * places are in it: lines may move.
 */
#ifndef COMPILER_EMIT_POLICY_JSON_H
#define COMPILER_EMIT_POLICY_JSON_H

#include "compiler/emit/emit.h"

bool policy_json_emit(const struct emit_in *in, struct buf *out);

#endif
