#include "compiler/cli/frame/agents.h"

static const struct agent table[] = {
#define AGENT(name) {name},
#include "compiler/cli/frame/agents.def"
#undef AGENT
};

const struct agent *agent_at(size_t i)
{
	return i < ARRAY_LEN(table) ? &table[i] : NULL;
}

const struct agent *agent_named(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (str_is(name, table[i].name))
			return &table[i];
	return NULL;
}

const struct agent *agent_of_image(struct str image)
{
	struct str before = STR(AGENTS_IMAGE);

	return str_starts(image, before)
		       ? agent_named(str_slice(image, before.n, image.n))
		       : NULL;
}
