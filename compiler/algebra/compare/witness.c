#include "compiler/algebra/compare/witness.h"

#include "compiler/algebra/decide/ask.h"
#include "compiler/base/limits.h"

#include <stdlib.h>

struct trial {
	struct arena *a;
	const struct ir_policy *p[2];
	struct decide_files *files[2]; /* when they are first needed */
	uint64_t work;		       /* rules looked at */
};

static bool is_file(const struct access_change *c)
{
	return c->kind == ACCESS_READ || c->kind == ACCESS_WRITE;
}

static unsigned level_by(struct trial *t, int side,
			 const struct access_change *c)
{
	const struct ir_policy *p = t->p[side];
	struct decision d;

	if (is_file(c) && !t->files[side])
		t->files[side] = decide_files_new(t->a, p);
	t->work += is_file(c) ? p->ignore.n + p->readonly.n
			      : p->allow.n + p->ask.n + p->deny.n;
	d = decide_asked(t->a, p, t->files[side], &c->witness);
	return access_level(&d);
}

static bool change_holds(struct trial *t, const struct access_change *c)
{
	unsigned was, is;

	if (!c->has_witness)
		return true;
	was = level_by(t, 0, c);
	is = level_by(t, 1, c);
	if (was != access_level(&c->was) || is != access_level(&c->is))
		return false;
	switch (c->way) {
	case ACCESS_GAINED:
		return was < is;
	case ACCESS_LOST:
		return was > is;
	case ACCESS_OTHER:
		return was != is;
	case ACCESS_KEPT:
		return was && was == is;
	}
	abort();
}

bool witness_holds(struct arena *a, const struct ir_policy *old,
		   const struct ir_policy *now, const struct access_change *c)
{
	struct trial t = {.a = a, .p = {old, now}};

	return change_holds(&t, c);
}

const struct access_change *witness_refuted(const struct ir_policy *old,
					    const struct ir_policy *now,
					    const struct comparison *c)
{
	struct trial t = {.a = arena_new(), .p = {old, now}};
	const struct access_change *found = NULL;

	vec_each(x, &c->changes)
		if (!found && t.work < LIMIT_WITNESSES && !change_holds(&t, x))
			found = x;
	vec_each(x, &c->kept)
		if (!found && t.work < LIMIT_WITNESSES && !change_holds(&t, x))
			found = x;
	arena_free(t.a);
	return found;
}
