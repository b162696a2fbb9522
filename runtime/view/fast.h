/*
 * Folders that are seen past the view: `fast` of mounts.plan.
 *
 * Each is the host's own folder, mounted over its name in the view. When the
 * host puts another one there, the kernel forgets the name, and with it the
 * mount: the view serves what is there then.
 */
#ifndef RUNTIME_VIEW_FAST_H
#define RUNTIME_VIEW_FAST_H

#include "compiler/base/err.h"
#include "compiler/plan/mountsplan.h"

/*
 * Mount those that are there, of the workspace source, in the view at. With
 * CAP_SYS_ADMIN, as who may look at all of it, and beside a server that
 * answers. A name that is no folder, or leads over a link, is left to the view.
 */
must_check int fast_bind(int source, const char *at,
			 const struct mountsplan *plan, struct err *err);

#endif
