/*
 * The views of a plan: for a terminal, for a pull request, for programs.
 */
#ifndef COMPILER_CLI_PLAN_VIEWS_H
#define COMPILER_CLI_PLAN_VIEWS_H

#include "compiler/cli/plan/parts.h"
#include "compiler/cli/text/view.h"

/* --- plan_view.c ---------------------------------------------------------- */

void plan_view(const struct view *v, const struct plan_model *m);

/* --- plan_markdown.c ------------------------------------------------------ */

void plan_markdown(struct buf *out, const struct plan_model *m);

/* --- plan_html.c ---------------------------------------------------------- */

void plan_html(struct buf *out, const struct plan_model *m);

/* --- plan_json.c ---------------------------------------------------------- */

#define PLAN_JSON_VERSION 2

struct str plan_json(const struct plan_model *m);
/* Of a policy that was refused, for any command: {"version", "errors",
 * "warnings"}; version is the command's own. */
struct str plan_json_refused(struct arena *a, unsigned version,
			     const struct diags *d);

#endif
