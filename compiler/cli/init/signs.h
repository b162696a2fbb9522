/*
 * What lies in a workspace, and what of a policy that speaks for: presets for
 * the tools of its language and for the forges of its remotes, patterns for
 * what likely holds secrets, and settings that 'init --from' reads. Only the
 * folder itself and a few files of fixed names are looked at; nothing of what
 * is found is run, and no link is followed.
 */
#ifndef COMPILER_CLI_INIT_SIGNS_H
#define COMPILER_CLI_INIT_SIGNS_H

#include "compiler/cli/init/proposal.h"

/* dir: the workspace, open. */
void signs_find(int dir, struct proposal *d);

/*
 * Hosts of the remotes in a git configuration (git-config(1)), each once:
 * "git@HOST:path" and "scheme://[user@]HOST[:port]/path". A name that is none
 * is left out.
 */
typedef VEC(struct str) signs_hosts;
void signs_remotes(struct arena *a, struct str config, signs_hosts *out);

#endif
