/*
 * What the files of the init ask of each other.
 */
#ifndef RUNTIME_INSIDE_PARTS_H
#define RUNTIME_INSIDE_PARTS_H

#include "runtime/inside/kernel.h"

/* What the launcher said: compiler/plan/init_words.h. */
struct told {
	const char *term, *lang, *image, *folder; /* or NULL */
	unsigned rows, columns;			  /* 0: nothing said */
	bool to_seal, protects;
	char **command; /* NULL at its end */
	char **envp;
};

/* --- told.c --------------------------------------------------------------- */

/* From what the kernel put onto the stack. False: those are not its words. */
bool told_read(char **stack, struct told *out);

/* --- surroundings.c ------------------------------------------------------- */

/* A TERM and a LANG of the host's that the image does not know become ones that
 * every image does, in place. */
void surroundings_mend(const struct told *t);

/* --- command.c ------------------------------------------------------------ */

/* What a variable says, or NULL. */
const char *command_variable(char *const *envp, const char *name);
/* Becomes the session's main process, for the view of its home. */
void command_claim(void);
/* From now on the launcher hears of what command_run() comes to. */
void command_announce(void);
/* Go on as the command, or say why not, and end with a shell's status. */
_Noreturn void command_run(const struct told *t);
_Noreturn void command_leave(long status);
/* One line on stderr: "membrane: ", and the parts up to NULL. What is no text
 * becomes '?'. */
void command_say(const char *const *parts);

#endif
