/*
 * What `run` would find of git in the workspace, as it is now: what git's
 * configuration makes git run, and what git has committed of what is hidden.
 * None of it is in the artefacts, which depend on the policy alone.
 */
#ifndef COMPILER_CLI_PLAN_PLAN_GIT_H
#define COMPILER_CLI_PLAN_PLAN_GIT_H

#include "compiler/base/json.h"
#include "compiler/cli/plan/risks.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/workspace/inputs.h"
#include "compiler/plan/plan.h"

/* A path that git runs, or takes for configuration; `run` keeps it as it is. */
struct plan_git_path {
	struct str path; /* cleaned */
	bool is_dir;
	struct str key;	 /* cleaned: "core.hookspath" */
	struct str file; /* cleaned */
	uint32_t line;	 /* 0: not known */
};
typedef VEC(struct plan_git_path) plan_git;

/* Look; what is left open goes to risks. */
void plan_git_find(struct arena *a, const struct inputs *in,
		   const struct plan *plan, plan_git *out, risk_list *risks);
/* A section, where there is any. */
void plan_git_view(const struct view *v, const plan_git *g);
cJSON *plan_git_json(const plan_git *g);

#endif
