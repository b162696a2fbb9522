/*
 * A place in a source, for programs: "source", "line" and "column", which all
 * commands' JSON calls so.
 */
#ifndef COMPILER_CLI_TEXT_PLACE_JSON_H
#define COMPILER_CLI_TEXT_PLACE_JSON_H

#include "compiler/base/json.h"
#include "compiler/base/source.h"

/* Nothing is put for a place that is in no source. */
void place_json_put(struct arena *a, cJSON *o, struct place at);
/* The same for a span. */
void place_json_span(cJSON *o, const struct sources *s, struct span at);

#endif
