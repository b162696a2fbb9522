/*
 * What a plan is for besides this machine: --target, and the options that say
 * how that is to look.
 */
#ifndef COMPILER_CLI_WORKSPACE_TARGET_H
#define COMPILER_CLI_WORKSPACE_TARGET_H

#include "compiler/cli/frame/options.h"
#include "compiler/emit/kubernetes/kube.h"

/*
 * *out is NULL without --target. False, after it was said: a value that is none,
 * or an option of a target where none is named. Of `doctor` the gate's image may
 * be missing.
 */
must_check bool target_find(struct arena *a, const struct options *o,
			    const struct kube_options **out);

#endif
