/*
 * What the files of this room ask of each other.
 */
#ifndef COMPILER_EMIT_NATIVE_PARTS_H
#define COMPILER_EMIT_NATIVE_PARTS_H

#include "compiler/emit/docker/argv.h"

/* --- native_check.c ------------------------------------------------------ */

/* What this engine cannot hold, at the line that asks for it. */
must_check bool native_check(const struct emit_in *in);
/* Says so at that place. False. */
must_check bool native_refuse(const struct emit_in *in, struct span at,
			      const char *what, const char *help);

/* --- native_words.c ------------------------------------------------------ */

/* Of the words of `docker run` those that native_json.h names. */
must_check bool native_words_check(const struct emit_in *in);

/* --- native_system.c ----------------------------------------------------- */

/* What programs need to run at all: the system's own, to be read. */
void native_programs(struct argv *w);
/* And of /etc, what the agent's may read. */
void native_settings(struct argv *w);

#endif
