/*
 * trace.json: what is recorded, and what becomes of the files. Written by
 * compiler/emit/trace/trace_json.c.
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
 * membrane-watch (runtime/watch/select.c) reads "events" to "exclude", the
 * launcher (runtime/launch/tracer/) the others. For Tracee "reads", "sensitive"
 * and "exclude" are left out: its own policy, tracee.yaml, says it all.
 */
#ifndef COMPILER_PLAN_TRACE_JSON_H
#define COMPILER_PLAN_TRACE_JSON_H

#define TRACE_JSON_VERSION_KEY "version"
#define TRACE_JSON_VERSION     1
#define TRACE_JSON_TRACEE      "tracee"
#define TRACE_JSON_EVENTS      "events"
#define TRACE_JSON_NAME	       "name"
#define TRACE_JSON_FILTERS     "filters"
#define TRACE_JSON_OPTIONAL    "optional"
#define TRACE_JSON_READS       "reads"
#define TRACE_JSON_SENSITIVE   "sensitive"
#define TRACE_JSON_EXCLUDE     "exclude"
#define TRACE_JSON_ROTATE      "rotate"
#define TRACE_JSON_SIZE	       "size"
#define TRACE_JSON_AGE	       "age"
#define TRACE_JSON_KEEP	       "keep"
#define TRACE_JSON_TOTAL       "total"
#define TRACE_JSON_REQUIRED    "required"

#endif
