/*
 * Changes of access for programs: a member each of README's "diff --json".
 */
#ifndef COMPILER_COMMANDS_CHANGES_JSON_H
#define COMPILER_COMMANDS_CHANGES_JSON_H

#include "compiler/base/json.h"
#include "compiler/commands/changes.h"

/* The caller puts it into a tree. */
/* Places where others can now read, likewise: "third_parties". */
cJSON *changes_json_places(const struct changes *x);
cJSON *changes_json(const struct changes *x);
/* The same of what is unchanged. */
cJSON *changes_json_kept(const struct changes *x);

#endif
