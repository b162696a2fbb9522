/*
 * Paths that people would think of first, for a pattern of gitignore.
 */
#ifndef COMPILER_ALGEBRA_COMPARE_EXAMPLE_PATH_H
#define COMPILER_ALGEBRA_COMPARE_EXAMPLE_PATH_H

#include "compiler/base/arena.h"

/*
 * Wildcards filled in, a file where the line means directories; below: a file
 * in what it names. It may be none that the pattern matches; empty: it is no
 * path.
 */
struct str likely_path(struct arena *a, struct str line, bool below);

#endif
