/*
 * What one raw argument more, or one less, means: docker_effects.def, looked
 * up for an option as option.h has it.
 */
#ifndef COMPILER_ALGEBRA_COMPARE_DOCKER_EFFECT_H
#define COMPILER_ALGEBRA_COMPARE_DOCKER_EFFECT_H

#include "compiler/algebra/decide/option.h"
#include "compiler/ir/docker_run.h"

enum docker_effect {
	DOCKER_EFFECT_NONE, /* no answer: a bug */
	DOCKER_EFFECT_ADDS,
	DOCKER_EFFECT_LIFTS,
	DOCKER_EFFECT_COVERS,
	DOCKER_EFFECT_CHANGES,
};

enum docker_times {
	DOCKER_TIMES_SET,
	DOCKER_TIMES_LAST,
	DOCKER_TIMES_EQUALS,
	DOCKER_TIMES_COLON,
	DOCKER_TIMES_ORDER,
};

struct docker_effect_row {
	enum docker_effect effect;
	enum docker_times times;
};
const struct docker_effect_row *docker_effect_row(enum docker_run_id id);

/* Of one that docker does not know, CHANGES. */
struct docker_effect_row docker_effect_of(const struct option *o);
/* Does it, with this value, do nothing but add? */
bool docker_effect_adds(const struct option *o);
/*
 * Of two with one key docker takes the last; out_key: a part of the value, or
 * empty. False: each counts.
 */
bool docker_effect_key(const struct option *o, struct str *out_key);

#endif
