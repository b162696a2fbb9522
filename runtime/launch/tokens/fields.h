/*
 * Fields of a tree of JSON by the names from its root, "tokens.access"; the
 * trees hold secrets, which are overwritten before they go.
 */
#ifndef RUNTIME_LAUNCH_TOKENS_FIELDS_H
#define RUNTIME_LAUNCH_TOKENS_FIELDS_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

#include <cjson/cJSON.h>

/* All of the text; NULL when it is not one value, or a text in it has a NUL.
 * For fields_delete(). */
cJSON *fields_parse(struct str json);
void fields_delete(cJSON *root);
/* The name at the front of a path; *rest is what is behind it, or empty. */
struct str fields_front(struct str path, struct str *rest);
/* NULL: there is none. */
cJSON *fields_find(cJSON *root, const char *name);
/* As text: with lines of its own where that which it is like has them. */
must_check int fields_print(struct arena *a, cJSON *root, struct str like,
			    struct str *out, struct err *err);

#endif
