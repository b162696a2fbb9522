/*
 * What the files of this room ask of each other.
 */
#ifndef COMPILER_CLI_PROGRAM_PARTS_H
#define COMPILER_CLI_PROGRAM_PARTS_H

#include "compiler/cli/program/program.h"

#define PROGRAM_HOPS_MAX 64u /* links and interpreters of one program */

typedef VEC(const char *) program_paths;

/* --- hops.c -------------------------------------------------------------- */

/*
 * Every path that a program is found by: its own, where its links lead, and of
 * a script those of what runs it. Absolute; PROGRAM_HOPS_MAX at most. from: how
 * many are known already.
 */
void hops_follow(struct arena *a, const char *path, const char *program,
		 program_paths *out);

/* --- folders.c ----------------------------------------------------------- */

/*
 * From the widest folder that a path of the home ("~/…") or of the machine may
 * belong to: the first that somebody may see is the one to show. The n-th: each
 * is a segment longer than the one before, and the last is the path itself.
 * Empty behind that. Pure.
 */
struct str folders_of(struct str path, unsigned n);
/* Why a folder is never shown, whatever it holds now; or NULL. Pure. */
const char *folders_fault(struct str folder);

#endif
