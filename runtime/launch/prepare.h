/*
 * What must be on disk and in Docker before a session can start.
 *
 * Writes the session's folder (plan/, resolv.conf, gitidentity) and the agent's
 * home, tells who owns the workspace, and checks that the images are there.
 */
#ifndef RUNTIME_LAUNCH_PREPARE_H
#define RUNTIME_LAUNCH_PREPARE_H

#include "compiler/base/agent_link.h"
#include "runtime/launch/docker/docker_session.h"
#include "runtime/launch/docker/vectors.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/session/session.h"

#define PREPARE_RESOLVER LINK_GATE_V4 /* the gate's end */

/*
 * Whom the command runs as, and its home folder: the workspace's owner, or who
 * launches it where that is neither root nor the owner.
 */
struct prepare_owner {
	uid_t uid;
	gid_t gid;
	const char *text; /* "1000:1000" */
	const char *home;
};

/*
 * Make home (home.h), 0700, when it is missing. Where root launches for a
 * workspace of somebody else, with a state folder of its own, a home that it
 * makes, or that is still empty, is given to that user; any other mismatch is
 * said on stderr, and the session goes on with a home that the agent cannot
 * write to. workspace: its folder, open; home: borrowed.
 */
must_check int prepare_owner(struct arena *a, const struct launch_opts *o,
			     int workspace, const char *home,
			     struct prepare_owner *out, struct err *err);
/* A user's own engine maps that user and one group: nobody else is there. */
void prepare_alone(struct arena *a, struct prepare_owner *o);
/*
 * plan/ as the gate reads it: by a root without CAP_DAC_OVERRIDE, so every
 * file of it is readable for all (the folders above are not). And resolv.conf.
 */
must_check int prepare_readable(struct arena *a, const char *dir,
				const struct plan *p, struct err *err);
must_check int prepare_folder(struct arena *a, const struct launch_opts *o,
			      const struct session *s, struct err *err);
/*
 * The file for {git} in the session's folder, of what git of this host says for
 * the workspace: *out_any. What does not go in is said on stderr.
 */
must_check int prepare_git(struct arena *a, const struct launch_opts *o,
			   const struct session *s, bool *out_any,
			   struct err *err);
/* -ENOENT: an image or the runtime is missing; *err says what to do. */
must_check int prepare_docker(struct docker *d, const struct vectors *v,
			      bool no_update, struct err *err);
/*
 * Fetch the agent's image, if it is not here: `docker pull`, which speaks on
 * stderr. prepare_docker() has said that it may be.
 *   -ENOENT  it could not be had; docker has said why
 *   -EINTR   a signal came
 */
must_check int prepare_fetch(struct arena *a, struct docker *d,
			     const struct vector *v, struct err *err);

#endif
