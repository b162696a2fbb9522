/*
 * The plan for programs: one JSON object, described in doc/json.md. Members are
 * added as membrane grows; none changes its meaning under one "version".
 */
#ifndef COMPILER_CLI_PLAN_PLAN_JSON_H
#define COMPILER_CLI_PLAN_PLAN_JSON_H

#include "compiler/cli/plan/model.h"

#define PLAN_JSON_VERSION 2

struct str plan_json(const struct plan_model *m);
/* Of a policy that was refused, for any command: {"version", "errors",
 * "warnings"}; version is the command's own. */
struct str plan_json_refused(struct arena *a, unsigned version,
			     const struct diags *d);

#endif
