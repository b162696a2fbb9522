/*
 * What the files of this room ask of each other.
 */
#ifndef COMPILER_EMIT_NATIVE_PARTS_H
#define COMPILER_EMIT_NATIVE_PARTS_H

#include "compiler/emit/docker/argv.h"

/* --- native_check.c ------------------------------------------------------ */

/* What this engine cannot hold, at the line that asks for it. */
must_check bool native_check(const struct emit_in *in);
#define NATIVE_CANNOT "the native engine cannot hold this: "
/* Says so at that place, with those words before what. False. */
must_check bool native_refuse(const struct emit_in *in, struct span at,
			      const char *what, const char *help);
/* The same of what Docker's engine has. help: what else would do; NULL: nothing
 */
must_check bool native_or_docker(const struct emit_in *in, struct span at,
			     const char *what, const char *help);

/* --- native_words.c ------------------------------------------------------ */

/* Of the words of `docker run` those that native_json.h names. */
must_check bool native_words_check(const struct emit_in *in);

/* --- native_asked.c ------------------------------------------------------ */

/* By membrane's own tracer. */
bool native_traces(const struct ir_policy *p);
/* Of a user's session: which calls, as --ask of native.json has them. */
void native_put_asked(struct argv *w);

/* --- native_system.c ----------------------------------------------------- */

/* What programs need to run at all: the system's own, to be read. */
void native_programs(struct argv *w);
/* And of /etc, what the agent's may read. */
void native_settings(struct argv *w);

#endif
