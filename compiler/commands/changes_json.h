/*
 * Changes of access for programs: a member each of README's "diff --json".
 */
#ifndef COMPILER_COMMANDS_CHANGES_JSON_H
#define COMPILER_COMMANDS_CHANGES_JSON_H

#include "compiler/base/json.h"
#include "compiler/commands/changes.h"

/* The caller puts it into a tree. */
cJSON *changes_json(const struct changes *x);

#endif
