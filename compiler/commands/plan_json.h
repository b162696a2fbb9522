/*
 * The plan for programs: one JSON object, described in README.md. Members are
 * added as membrane grows; none changes its meaning under one "version".
 */
#ifndef COMPILER_COMMANDS_PLAN_JSON_H
#define COMPILER_COMMANDS_PLAN_JSON_H

#include "compiler/commands/model.h"

struct str plan_json(const struct plan_model *m);
/* Of a policy that was refused: {"version", "errors", "warnings"}. */
struct str plan_json_refused(struct arena *a, const struct diags *d);

#endif
