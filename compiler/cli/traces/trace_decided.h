/*
 * What the gate decided of connections and requests, in the order of time,
 * beside a trace: for whoever tells both as one story.
 */
#ifndef COMPILER_CLI_TRACES_TRACE_DECIDED_H
#define COMPILER_CLI_TRACES_TRACE_DECIDED_H

#include "compiler/base/arena.h"

#include <cjson/cJSON.h>

struct decided;

/* dir: of the session, borrowed; it may have no records. */
struct decided *decided_new(struct arena *a, const char *dir);
void decided_done(struct decided *d);
/*
 * The next one that was made before then; *out_ns is when. NULL: none was. It
 * stays until the next call.
 */
const cJSON *decided_next(struct decided *d, uint64_t before_ns,
			  uint64_t *out_ns);

#endif
