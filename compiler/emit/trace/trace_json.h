/*
 * trace.json: what is recorded, and what becomes of the files;
 * compiler/plan/trace_json.h has the format.
 */
#ifndef COMPILER_EMIT_TRACE_TRACE_JSON_H
#define COMPILER_EMIT_TRACE_TRACE_JSON_H

#include "compiler/emit/emit.h"

bool trace_json_wanted(const struct ir_policy *p);
bool trace_json_emit(const struct emit_in *in, struct buf *out);

#endif
