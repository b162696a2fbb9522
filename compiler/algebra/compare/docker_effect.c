#include "compiler/algebra/compare/docker_effect.h"

#include <stdlib.h>

static const struct docker_effect_row table[] = {
#define EFFECT(id, effect, times)                                              \
	[DOCKER_RUN_##id] = {DOCKER_EFFECT_##effect, DOCKER_TIMES_##times},
#include "compiler/algebra/compare/docker_effects.def"
#undef EFFECT
};

/* A second line for an option is a warning: as many lines are all options. */
static const char answered[] = {
#define EFFECT(id, effect, times) 0,
#include "compiler/algebra/compare/docker_effects.def"
#undef EFFECT
};
_Static_assert(
	ARRAY_LEN(answered) == DOCKER_RUN_IDS,
	"each option of grammar/docker-run.def has its line in docker_effects.def");

const struct docker_effect_row *docker_effect_row(enum docker_run_id id)
{
	return &table[id];
}

struct docker_effect_row docker_effect_of(const struct option *o)
{
	const struct docker_run_option *d = docker_run_named(o->name);

	return d ? table[d->id]
		 : (struct docker_effect_row){DOCKER_EFFECT_CHANGES,
					      DOCKER_TIMES_LAST};
}

bool docker_effect_key(const struct option *o, struct str *out_key)
{
	size_t equals = str_find(o->value, '=', 0);
	size_t colon = str_find(o->value, ':', 0);

	switch (docker_effect_of(o).times) {
	case DOCKER_TIMES_LAST:
		*out_key = STR("");
		return true;
	case DOCKER_TIMES_EQUALS:
		if (equals == o->value.n && str_is(o->name, "security-opt"))
			equals = colon;
		*out_key = str_slice(o->value, 0, equals);
		return true;
	case DOCKER_TIMES_COLON:
		*out_key = str_slice(o->value, 0, colon);
		return true;
	case DOCKER_TIMES_SET:
	case DOCKER_TIMES_ORDER:
		return false;
	}
	abort();
}

/* "host"; "unconfined" behind its key. */
static bool lifts_option(const struct option *o)
{
	struct str key, word = o->value;

	if (!docker_effect_key(o, &key) || !str_is(o->name, "security-opt"))
		return str_is(word, "host");
	return str_is(str_slice(word, key.n + 1, word.n), "unconfined");
}

bool docker_effect_adds(const struct option *o)
{
	const struct docker_run_option *d = docker_run_named(o->name);

	switch (docker_effect_of(o).effect) {
	case DOCKER_EFFECT_ADDS:
		return d->type != DOCKER_RUN_FLAG || str_is(o->value, "true");
	case DOCKER_EFFECT_LIFTS:
		return lifts_option(o);
	case DOCKER_EFFECT_COVERS:
	case DOCKER_EFFECT_CHANGES:
	case DOCKER_EFFECT_NONE:
		return false;
	}
	abort();
}
