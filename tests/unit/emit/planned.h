/* All artefacts of a policy's text. */
#ifndef TESTS_UNIT_EMIT_PLANNED_H
#define TESTS_UNIT_EMIT_PLANNED_H

#include "compiler/driver.h"
#include "tests/check.h"

#include <string.h>

#define PLANNED_NOWHERE "/nonexistent"

/* As a workspace's policy, beside an empty global one. */
static inline bool planned_text(struct compilation *c, const char *policy)
{
	struct front_text texts[] = {
		{STR("~/.membrane/config.yaml"), STR("")},
		{STR(".membrane.yaml"), str_of(policy)},
	};
	struct front_input in = {.workspace = PLANNED_NOWHERE,
				 .state = PLANNED_NOWHERE,
				 .policies = PLANNED_NOWHERE,
				 .texts = texts,
				 .n_texts = ARRAY_LEN(texts)};
	struct err err;

	return driver_compile(c, &in, &err) == 0 && c->ok;
}

/* With marks, and without. */
static inline bool planned(struct compilation *c, const char *policy)
{
	*c = (struct compilation){.mark_lines = true};
	return planned_text(c, policy);
}

static inline bool planned_plain(struct compilation *c, const char *policy)
{
	*c = (struct compilation){0};
	return planned_text(c, policy);
}

/* Only what may refuse it. */
static inline bool planned_unwritten(struct compilation *c, const char *policy)
{
	*c = (struct compilation){.unwritten = true};
	return planned_text(c, policy);
}

static inline struct str planned_file(const struct compilation *c,
				      const char *name)
{
	const struct plan_file *f = plan_file(&c->plan, name);

	return f ? f->data : (struct str){0};
}

#endif
