/* Two plans, byte for byte. */
#include "compiler/plan/plan.h"

/* First line that differs, from 1. */
static uint32_t first_difference(struct str old, struct str now)
{
	uint32_t line = 1;

	for (size_t i = 0; i < old.n && i < now.n; i++) {
		if (old.p[i] != now.p[i])
			return line;
		if (old.p[i] == '\n')
			line++;
	}
	return line;
}

uint32_t plan_compare(struct arena *a, const struct plan *old,
		      const struct plan *now, struct plan_delta **out)
{
	struct plan_delta *d = arena_array(
		a, (size_t)old->files.n + now->files.n + 1, sizeof(*d));
	uint32_t n = 0, i = 0, k = 0;

	/* Both are sorted: one walk over the two. */
	while (i < old->files.n || k < now->files.n) {
		const struct plan_file *o =
			i < old->files.n ? &old->files.v[i] : NULL;
		const struct plan_file *w =
			k < now->files.n ? &now->files.v[k] : NULL;
		int order = !o ? 1 : !w ? -1 : str_cmp(o->name, w->name);

		if (order < 0)
			d[n++] = (struct plan_delta){o->name, PLAN_REMOVED, 0};
		else if (order > 0)
			d[n++] = (struct plan_delta){w->name, PLAN_ADDED, 0};
		else if (!str_eq(o->data, w->data))
			d[n++] = (struct plan_delta){
				w->name, PLAN_CHANGED,
				first_difference(o->data, w->data)};
		i += order <= 0;
		k += order >= 0;
	}
	*out = d;
	return n;
}
