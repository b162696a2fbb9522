/*
 * trace.json: what is recorded, and what becomes of the files.
 *
 *   {"version": 1,
 *    "tracee": "0.24.1",   the release, when Tracee is the engine
 *    "events": [{"name": "security_file_open", "filters": []}, …],
 *    "reads": false,       files opened only to be read are recorded, too
 *    "sensitive": [".env"] names of those that are in any case
 *    "exclude": ["/usr"]   paths left out, with all below them
 *    "rotate": {"size": 104857600, "age": 86400, "keep": 20, "total": …},
 *    "required": false}    without a trace the session ends
 *
 * membrane-watch reads "events" to "exclude", the launcher the others and the
 * names of events. For Tracee "reads", "sensitive" and "exclude" are left out:
 * its own policy, tracee.yaml, says it all.
 */
#ifndef COMPILER_EMIT_TRACE_TRACE_JSON_H
#define COMPILER_EMIT_TRACE_TRACE_JSON_H

#include "compiler/emit/emit.h"

bool trace_json_wanted(const struct ir_policy *p);
bool trace_json_emit(const struct emit_in *in, struct buf *out);

#endif
