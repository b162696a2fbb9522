/*
 * Changes of access for programs: a member each of "diff --json" in
 * doc/json.md.
 */
#ifndef COMPILER_CLI_REVIEW_CHANGES_JSON_H
#define COMPILER_CLI_REVIEW_CHANGES_JSON_H

#include "compiler/base/json.h"
#include "compiler/cli/review/changes.h"

/* All are lists; the caller puts them into a tree. */

/* What changed. */
cJSON *changes_json(const struct changes *x);
/* The same of what is unchanged. */
cJSON *changes_json_kept(const struct changes *x);
/* Places where others can now read: "third_parties". */
cJSON *changes_json_places(const struct changes *x);

#endif
