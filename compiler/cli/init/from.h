/*
 * Settings of other sandboxes as a first policy: devcontainer.json (with
 * comments, containers.dev/implementors/json_reference), Claude Code's
 * settings.json, those of srt, Anthropic's sandbox-runtime, and the profile of
 * permissions in codex's config.toml. What says the same here becomes an item;
 * everything else is told in a comment, by its name.
 * Values of variables are never copied.
 *
 * Pure: text in, a proposal out. What the words mean: from_words.h.
 */
#ifndef COMPILER_CLI_INIT_FROM_H
#define COMPILER_CLI_INIT_FROM_H

#include "compiler/base/err.h"
#include "compiler/cli/init/proposal.h"

/*
 * name       of the file, for what it is recognised by, and for errors
 * workspace  absolute, without a slash at the end: paths below it are its own
 *
 *   -EINVAL  the text is none of these: *err says what it is instead
 */
must_check int from_settings(struct str name, struct str text,
			     struct str workspace, struct proposal *d,
			     struct err *err);

#endif
