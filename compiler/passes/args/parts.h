/*
 * What judges raw arguments shares.
 */
#ifndef COMPILER_PASSES_ARGS_PARTS_H
#define COMPILER_PASSES_ARGS_PARTS_H

#include "compiler/base/str.h"

bool args_env_steers(struct str name);

#endif
