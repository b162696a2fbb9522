/*
 * Where that lies which comes with this program: presets, and what images are
 * built from.
 */
#ifndef COMPILER_CLI_WORKSPACE_INSTALLED_H
#define COMPILER_CLI_WORKSPACE_INSTALLED_H

#include "compiler/base/arena.h"

/*
 * The folder of this name that holds this file: of the source tree that the
 * program was built in, else of the prefix that it runs from, else of the one
 * that it was built for. Of the last it is not known whether it is there.
 */
const char *installed_folder(struct arena *a, const char *name,
			     const char *file);

#endif
