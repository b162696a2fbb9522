/*
 * An explanation as text for a terminal.
 */
#ifndef COMPILER_CLI_EXPLAIN_EXPLAIN_VIEW_H
#define COMPILER_CLI_EXPLAIN_EXPLAIN_VIEW_H

#include "compiler/base/json.h"
#include "compiler/cli/explain/explain_edits.h"
#include "compiler/cli/text/view.h"

void explain_view(const struct view *v, const struct compilation *c,
		  const struct explanation *e, const struct explain_flip *flip);

/* --- explain_json.c ------------------------------------------------------- */

#define EXPLAIN_JSON_VERSION 1

/* One request's; the caller's, for explain_json(). */
cJSON *explain_json_one(const struct compilation *c,
			const struct explanation *e,
			const struct explain_flip *flip);
/* All of them: an array, which is taken. */
struct str explain_json(struct arena *a, cJSON *take_requests);

#endif
