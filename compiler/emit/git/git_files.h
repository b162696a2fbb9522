/*
 * What git of a session is told, in files that it reads by itself: git.config,
 * git.exclude and git.attributes.
 *
 * To git, a hidden file that is not tracked is one to ignore, and one that is
 * tracked is as it was committed. Patterns of `ignore` are git's own, counted
 * from the top of each repository, where the policy counts them from the
 * workspace's. Attributes know no way back for what is below a folder: there
 * more has the filter than is hidden, and never less.
 */
#ifndef COMPILER_EMIT_GIT_GIT_FILES_H
#define COMPILER_EMIT_GIT_GIT_FILES_H

#include "compiler/emit/emit.h"

/* Of any policy: the file of GIT_CONFIG_SYSTEM. */
bool git_config_emit(const struct emit_in *in, struct buf *out);
bool git_exclude_emit(const struct emit_in *in, struct buf *out);
bool git_attributes_emit(const struct emit_in *in, struct buf *out);
/* Does anything show, in a workspace as the agent has it, that git must not
 * take for the user's? */
bool git_files_wanted(const struct ir_policy *p);

#endif
