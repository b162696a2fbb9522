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
#include "runtime/broker/broker.h"
#include "runtime/launch/docker/binds.h"
#include "runtime/launch/engine/engine.h"

#include <stdint.h>

struct native;

/* What a session of this engine is told, all borrowed. */
struct native_place {
	const char *dir; /* of the session */
	bool sockets;	 /* the gate gets out by a broker's, not by a tap */
	struct broker_proxy
		proxy; /* and by that; port 0: there is none */
};

/* -ENOENT: a program of membrane's own, HAProxy or who has a tap is not there. */
must_check int native_open(struct arena *a, const struct native_place *place,
			   struct native **out, struct err *err);
struct engine *native_engine(struct native *n);
/* What is left of the session's processes ends. NULL: nothing to do. */
void native_close(struct native *n);

/* How a user without a group gets one, where systemd runs the machine. */
#define NATIVE_GROUP                                                           \
	"systemd-run --user --scope -p Delegate=yes membrane run makes one"
/*
 * Before the agent is started by its vector: the group that holds its memory
 * and processors, where it has such limits.
 *
 * out_weaker  set where a limit is weaker than with a group: what of it
 *   others    there is none, and a limit that takes one
 */
must_check int native_limit(struct native *n, char *const *vector,
			    struct str *out_weaker, struct err *err);
/* How many of the agent's processes were ended for what its group holds; known
 * once it is closed. NULL: none. */
uint64_t native_killed(const struct native *n);
/* Can a session of this user's be traced? Why not. */
#define NATIVE_NOT_TRACED                                                      \
	"a program in the kernel records what a session does, and the kernel takes one from root alone: run membrane as root, or write 'engine: docker', whose daemon is"
bool native_may_trace(const struct native *n);
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
/*
 * Where programs are looked for inside: the folders of path, the user's own
 * PATH or NULL, that binds have, and behind them those of image, an image's
 * own PATH; NULL: the usual. What is mounted
 * out of state, membrane's own folder, is the agent's to write: not that. Pure.
 */
const char *native_path(struct arena *a, const char *path,
			const bind_list *binds, const char *state,
			const char *image);
/* Of moves.h, the caller's: what was moved since the masks of the agent's words
 * were found ends its start. */
void native_hear(struct native *n, int moves);
/* Only where the gate is in a network of this number is the agent's. */
void native_expect(struct native *n, uint32_t netns);
/* The folder that the view's mounts appear in, as the launcher can open it. */
const char *native_view_folder(struct arena *a, const struct native *n,
			       const char *folder);

#endif
