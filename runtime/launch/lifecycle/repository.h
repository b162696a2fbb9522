/*
 * What a session gets of a repository that lies beside its workspace
 * (workspace/gitlinked.h), once that is approved: the words for {repository}
 * and {repository-view} of docker.json.
 *
 * In a view, the repository's folder is judged as any .git is, by more lines
 * than that (gitlinked_patterns()). Without one it is mounted read-only, and
 * the folders that git of a worktree writes are mounted over that. The
 * workspace's `.git` is a file of the session's folder, which leads there
 * whatever the host's says. Of a repository that the workspace is a folder of,
 * the whole folder is at its own path, as git's index has it, with the
 * workspace in it.
 */
#ifndef RUNTIME_LAUNCH_LIFECYCLE_REPOSITORY_H
#define RUNTIME_LAUNCH_LIFECYCLE_REPOSITORY_H

#include "runtime/launch/docker/vectors.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/session/session.h"

/*
 * Write the file, and set values->repository and values->repository_view.
 * v: of the plan; o->linked: not NULL, and not refused.
 *   -ESTALE  the folder is another than the one that was approved
 *   -ENOTSUP mounts cannot hold all of it
 */
must_check int repository_prepare(struct arena *a, const struct launch_opts *o,
				  const struct session *s,
				  const struct vectors *v,
				  struct vectors_values *values,
				  struct err *err);

#endif
