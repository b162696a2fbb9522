#include "compiler/base/name_match.h"

/* The last label of *rest, taken off with its dot. */
static bool last_label(struct str *rest, struct str *out)
{
	size_t at = rest->n;

	if (rest->n == 0)
		return false;
	while (at > 0 && rest->p[at - 1] != '.')
		at--;
	*out = str_slice(*rest, at, rest->n);
	*rest = str_slice(*rest, 0, at ? at - 1 : 0);
	return true;
}

bool name_matches(struct str pattern, struct str name)
{
	struct str want, label;

	while (last_label(&pattern, &want)) {
		if (!last_label(&name, &label))
			return false;
		if (str_is(want, "**"))
			return true; /* leftmost, and it took one label */
		if (str_is(label, "**"))
			return false; /* some of these have more labels */
		if (!str_is(want, "*") && !str_eq(want, label))
			return false;
	}
	return name.n == 0;
}
