/*
 * The agents that go by their names: agents.def.
 */
#ifndef COMPILER_CLI_FRAME_AGENTS_H
#define COMPILER_CLI_FRAME_AGENTS_H

#include "compiler/base/str.h"

/* Of what image/images.sh builds for one, and all of its words: the image that
 * a profile names is this with the agent's name behind it. */
#define AGENTS_IMAGE "membrane-agent-"

struct agent {
	const char *name; /* of the program, too; its image: image/agents */
};

/* In their order; NULL at the end. */
const struct agent *agent_at(size_t i);
/* By the name of a program; NULL when it is none of them. */
const struct agent *agent_named(struct str name);
/* Whose image this is, or NULL. */
const struct agent *agent_of_image(struct str image);

#endif
