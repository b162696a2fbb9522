/*
 * What one verb has of another.
 */
#ifndef COMPILER_CLI_PARTS_H
#define COMPILER_CLI_PARTS_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"
#include "compiler/cli/frame/options.h"
#include "runtime/launch/kubernetes/kubectl.h"

struct compilation;
struct launch_opts;

/* --- images.c ------------------------------------------------------------- */

/* That of an agent, and those that each session has, where they are missing or
 * old. Says on stderr what it does.
 *   -ENOENT  what they are built from is not installed
 *   -EIO     one could not be built */
must_check int images_build_for(struct arena *a, const char *agent,
				struct err *err);

/* --- run_pod.c ------------------------------------------------------------ */

/* Which cluster the command line means, and where in it. */
struct kubectl kubectl_of(struct arena *a, const struct options *o);
/* --target: what has no meaning there is refused, and said so. */
must_check bool run_pod_fits(const struct options *o,
			     const struct compilation *c);
/* As pod_run(), of what was compiled with --target. */
must_check int run_pod(struct compilation *c, const struct options *o,
		       const struct launch_opts *opts, struct err *err);

/* --- logs_fleet.c --------------------------------------------------------- */

/* Is it about Pods, or about a folder or file of records? */
must_check bool logs_is_fleet(struct arena *a, const struct options *o);
/* The exit status. */
must_check int logs_fleet(struct arena *a, const struct options *o);

/* --- run.c ---------------------------------------------------------------- */

/* What `learn` has of a session besides. */
struct run_lesson {
	/* Of what would run, before anything starts or is asked; false, after
	 * saying why: it shall not. */
	bool (*begin)(void *ctx, struct compilation *c);
	void *ctx;
	/* SESSION_ID_LEN + 1, zeroed: that of a session which membrane has not
	 * failed at. */
	char *id;
};

/* As `membrane run`: its exit status, 125 where nothing ran. */
must_check int run_lesson(struct arena *a, const struct options *o,
			  const struct run_lesson *lesson);

#endif
