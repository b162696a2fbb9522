#include "compiler/algebra/files.h"

static bool same(const ir_patterns *x, const ir_patterns *y)
{
	if (x->n != y->n)
		return false;
	for (uint32_t i = 0; i < x->n; i++)
		if (!str_eq(x->v[i].line, y->v[i].line))
			return false;
	return true;
}

/* Two lists of other text count as other access. */
static void compare_lists(struct arena *a, const ir_patterns *old,
			  const ir_patterns *now, enum access_kind kind,
			  const char *text, struct comparison *out)
{
	if (!same(old, now))
		*vec_push(a, &out->changes) =
			(struct access_change){.way = ACCESS_OTHER,
					       .kind = kind,
					       .text = str_of(text)};
}

void files_compare(struct arena *a, const struct ir_policy *old,
		   const struct ir_policy *now, struct comparison *out)
{
	compare_lists(a, &old->ignore, &now->ignore, ACCESS_READ,
		      "the patterns of 'ignore'", out);
	compare_lists(a, &old->readonly, &now->readonly, ACCESS_WRITE,
		      "the patterns of 'readonly'", out);
}
