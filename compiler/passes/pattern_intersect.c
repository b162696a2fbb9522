/*
 * Whether two path patterns can match one path: what a '!' may take back.
 *
 * Looks at the last segments alone, and not into classes and escapes. "No" is
 * certain; "yes" may be wrong.
 */
#include "compiler/passes/parts.h"

#include <string.h>

/* A longer segment is not looked at: the work is the product of two. */
#define SEGMENT_MAX 255

/* What the path's last segment has to match; false where that is not known. */
static bool last_segment(const struct ir_pattern *p, struct str *out)
{
	struct str line = str_slice(p->line, p->back, p->line.n);
	size_t beg;

	if (str_ends(line, STR("/")))
		line.n--;
	for (beg = line.n; beg && line.p[beg - 1] != '/'; beg--)
		if (strchr("[\\", line.p[beg - 1]))
			return false;
	*out = str_slice(line, beg, line.n);
	/* Blanks at the end are no part of a pattern. */
	return out->n && out->n <= SEGMENT_MAX && !str_ends(*out, STR(" "));
}

static bool same_char(char a, char b)
{
	return a == b || a == '?' || b == '?';
}

/* Whether some name matches both: '*' and '?' are all that is special. */
static bool globs_meet(struct str a, struct str b)
{
	/* meet[j]: whether what is left of a meets b from j on. */
	bool meet[SEGMENT_MAX + 1];

	for (size_t i = a.n + 1; i-- > 0;) {
		bool before = false; /* of the row for i + 1, at j + 1 */

		for (size_t j = b.n + 1; j-- > 0;) {
			bool star_a = i < a.n && a.p[i] == '*';
			bool star_b = j < b.n && b.p[j] == '*';
			bool below = i < a.n && meet[j];
			bool right = j < b.n && meet[j + 1];

			if (star_a || star_b)
				meet[j] = below || right;
			else if (i < a.n && j < b.n)
				meet[j] = same_char(a.p[i], b.p[j]) && before;
			else
				meet[j] = i == a.n && j == b.n;
			before = below;
		}
	}
	return meet[0];
}

bool pattern_intersect(const struct ir_pattern *a, const struct ir_pattern *b)
{
	struct str in_a, in_b;

	return !last_segment(a, &in_a) || !last_segment(b, &in_b) ||
	       globs_meet(in_a, in_b);
}
