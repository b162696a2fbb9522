/*
 * What the files of this folder share.
 */
#ifndef COMPILER_CLI_WORKSPACE_PARTS_H
#define COMPILER_CLI_WORKSPACE_PARTS_H

#include "compiler/cli/frame/options.h"
#include "compiler/emit/kubernetes/kube.h"

/* --- target.c ------------------------------------------------------------- */

/*
 * --target, and the options that say how that is to look. *out is NULL without
 * it. False, after it was said: a value that is none, or an option of a target
 * where none is named.
 */
must_check bool target_find(struct arena *a, const struct options *o,
			    const struct kube_options **out);

#endif
