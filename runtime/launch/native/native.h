/*
 * Membrane's own engine: a session's parts in namespaces of the user's own,
 * without a daemon, an image or a privilege. engine.h says what an engine is,
 * compiler/plan/native_json.h what it knows.
 *
 * The gate's first process makes the session's namespaces and stays in them:
 * the others are made from those, and an uplink is told of the network by it.
 * All are the launcher's children, and die with it.
 */
#ifndef RUNTIME_LAUNCH_NATIVE_NATIVE_H
#define RUNTIME_LAUNCH_NATIVE_NATIVE_H

#include "compiler/base/arena.h"
#include "runtime/launch/engine/engine.h"

#include <stdint.h>

struct native;

/*
 * dir: of the session, where the uplink's words go; borrowed.
 *   -ENOENT  a program of membrane's own, HAProxy or the uplink's is not there
 */
must_check int native_open(struct arena *a, const char *dir,
			   struct native **out, struct err *err);
struct engine *native_engine(struct native *n);
/* What is left of the session's processes ends. NULL: nothing to do. */
void native_close(struct native *n);

/* The uplink's program; NULL: it is not here. */
const char *native_uplink_program(struct arena *a);
/* The folder of membrane's own programs: beside this one, or as installed. */
must_check int native_programs_folder(struct arena *a, const char **out,
				      struct err *err);
/*
 * Files of the session's folder that the words mount: who there is inside, and
 * what names the network has without asking.
 */
must_check int native_write_files(struct arena *a, const char *dir, uid_t uid,
				  gid_t gid, struct err *err);
/* Only where the gate is in a network of this number is the agent's. */
void native_expect(struct native *n, uint32_t netns);
/* The folder that the view's mounts appear in, as the launcher can open it. */
const char *native_view_folder(struct arena *a, const struct native *n,
			       const char *folder);

#endif
