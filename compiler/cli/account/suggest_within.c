/*
 * Does a suggestion stay within what a session was granted?
 */
#include "compiler/cli/account/suggest.h"

#include "compiler/algebra/compare/compare.h"
#include "compiler/driver.h"

#define NAME "<suggestion>"

/* What it says of files is not of the suggestion: a session's are its own. */
static bool is_network(enum access_kind kind)
{
	switch (kind) {
	case ACCESS_CONNECT:
	case ACCESS_QUIC:
	case ACCESS_HTTP:
	case ACCESS_RESOLVE:
		return true;
	case ACCESS_READ:
	case ACCESS_WRITE:
	case ACCESS_ARG:
	case ACCESS_SETTING:
	case ACCESS_CALL:
		break;
	}
	return false;
}

static bool widens_network(struct arena *a, const struct ir_policy *under,
			   const struct ir_policy *now)
{
	struct comparison found;

	compare_policies(a, under, now, &found);
	vec_each(x, &found.changes)
		if (is_network(x->kind) && x->way != ACCESS_LOST)
			return true;
	return false;
}

bool suggest_within(const struct ir_policy *under, const suggest_grants *grants)
{
	struct arena *a = arena_new();
	struct front_text text = {STR(NAME), suggest_grants_yaml(a, grants)};
	struct front_input in = {
		.global = NAME, .prefix = "", .texts = &text, .n_texts = 1};
	struct compilation c = {.unbound = true, .unwritten = true};
	struct err ignored;
	bool ok = driver_compile(&c, &in, &ignored) == 0 && c.ok &&
		  !widens_network(a, under, &c.policy);

	driver_done(&c);
	arena_free(a);
	return ok;
}
