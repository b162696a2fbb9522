/*
 * `membrane trace replay` and `membrane trace suggest`: both read all of a
 * session, its decisions and its trace, before they say anything.
 */
#ifndef COMPILER_CLI_TRACES_TRACE_REPLAY_H
#define COMPILER_CLI_TRACES_TRACE_REPLAY_H

#include "compiler/cli/frame/options.h"

/* what: a session or a file, as traces_find() takes it. The exit status. */
must_check int trace_replay(struct arena *a, const struct options *o,
			    const char *state, struct str what);
must_check int trace_suggest(struct arena *a, const struct options *o,
			     const char *state, struct str what);

#endif
