/*
 * The plan as Markdown, for a comment under a pull request: the text of `plan`
 * with what changed on top. Pure.
 */
#ifndef COMPILER_CLI_PLAN_PLAN_MARKDOWN_H
#define COMPILER_CLI_PLAN_PLAN_MARKDOWN_H

#include "compiler/cli/plan/model.h"

void plan_markdown(struct buf *out, const struct plan_model *m);

#endif
