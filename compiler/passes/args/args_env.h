/*
 * Environment variables that steer programs, whatever these are.
 *
 * A variable like LD_PRELOAD or NODE_OPTIONS makes every program of the image
 * run code that somebody chose, in the agent's name and with what the agent
 * was lent; one like GIT_SSL_NO_VERIFY turns off a check of theirs. To set
 * such a one widens. Others are for programs that look for them by name.
 */
#ifndef COMPILER_PASSES_ARGS_ARGS_ENV_H
#define COMPILER_PASSES_ARGS_ARGS_ENV_H

#include "compiler/base/str.h"

bool args_env_steers(struct str name);

#endif
