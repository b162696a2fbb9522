/*
 * Files that likely hold secrets, by name and by a look at their beginning.
 */
#ifndef COMPILER_LINT_SECRET_FILES_H
#define COMPILER_LINT_SECRET_FILES_H

#include "compiler/base/gitignore.h"

/* Bytes of a file that are looked at. */
#define SECRET_FILES_READ 16384u

struct secret_file {
	const char *needles; /* "" or a list divided by '|' */
	const char *what;    /* "a private key" */
	enum {
		SECRET_FILE_ANY,
		SECRET_FILE_TEXT,
		SECRET_FILE_SECRET,
		SECRET_FILE_NEVER,
	} check;
};

/* secret_files.def, compiled once. */
struct gitignore *secret_files_new(struct arena *a);
/* The row for a path from the root of the workspace; NULL for most. */
const struct secret_file *secret_files_row(const struct gitignore *g,
					   struct str path);
/* Does what is at its beginning say so, too? */
bool secret_files_holds(const struct secret_file *row, struct str beginning);

#endif
