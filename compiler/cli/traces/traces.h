/*
 * Where traces are: the files of a session in ~/.membrane/trace, in order, or
 * any file that is named.
 */
#ifndef COMPILER_CLI_TRACES_TRACES_H
#define COMPILER_CLI_TRACES_TRACES_H

#include "compiler/base/arena.h"
#include "compiler/trace/reader.h"

typedef struct {
	const char **v;
	uint32_t n, cap;
	bool found; /* all that there is of a session, in order */
} trace_paths;

/*
 * what: a file, "-", a session's ID or the beginning of one, or empty for the
 * newest session. -ENOENT: there is none.
 */
must_check int traces_find(struct arena *a, const char *state, struct str what,
			   trace_paths *out, struct err *err);
typedef VEC(struct str) trace_ids;
/* Every session that has a trace, once; none when they cannot be listed. */
void traces_ids(struct arena *a, const char *state, trace_ids *out);
/* Is this word meant as one of those, and not as an expression? */
bool traces_is_name(struct arena *a, struct str word);

/* Is it an ID, whole or the beginning of one? */
bool traces_is_id(struct str word);
/* Whose they are, by their names; empty for files that are called otherwise. */
struct str traces_session(const trace_paths *paths);
/* On stderr, when the oldest were removed to make room. */
void traces_tell_missing(const trace_paths *paths);

/* Called with each event. A return other than 0 ends the reading. */
typedef int trace_visit(void *ctx, const struct trace_event *e);
/*
 * All events of all files. Negative, after the others were read: one cannot be
 * read. What is no record is said on stderr afterwards.
 */
must_check int traces_read(const trace_paths *paths, trace_visit *visit,
			   void *ctx, struct err *err);

#endif
