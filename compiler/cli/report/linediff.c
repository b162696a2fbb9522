/* Two texts, line by line. Pure. */
#include "compiler/cli/report/parts.h"

#include <string.h>

#define EDITS_MAX 700 /* beyond, all is replaced: memory goes by its square */

typedef VEC(struct str) line_list;

struct edit {
	struct linediff *out;
	struct arena *a;
	const struct str *old, *new;
	uint32_t old_line, new_line; /* of what comes next, from 1 */
};

static bool split_lines(struct arena *a, struct str text, line_list *out)
{
	struct str line;

	while (str_line(&text, &line)) {
		if (out->n == LINEDIFF_LINES)
			return false;
		*vec_push(a, out) = line;
	}
	return true;
}

static void put_same(struct edit *e)
{
	*vec_push(e->a, &e->out->v) = (struct linediff_line){
		LINEDIFF_SAME, *e->old, e->old_line++, e->new_line++};
	e->old++;
	e->new ++;
}

static void put_removed(struct edit *e)
{
	*vec_push(e->a, &e->out->v) = (struct linediff_line){
		LINEDIFF_REMOVED, *e->old++, e->old_line++, 0};
	e->out->removed++;
}

static void put_added(struct edit *e)
{
	*vec_push(e->a, &e->out->v) = (struct linediff_line){
		LINEDIFF_ADDED, *e->new ++, 0, e->new_line++};
	e->out->added++;
}

/*
 * How far one gets on each diagonal with d edits, for each d: row d of the
 * trace, whose middle is diagonal 0. The number of edits; -1: too many.
 */
struct trail {
	int32_t *row[EDITS_MAX + 1];
};

static int find_trail(struct arena *a, const struct str *old, int n,
		      const struct str *new, int m, struct trail *t)
{
	int32_t *v = arena_array(a, 2 * EDITS_MAX + 3, sizeof(*v));
	int32_t *at = v + EDITS_MAX + 1;

	for (int d = 0; d <= EDITS_MAX && d <= n + m; d++) {
		for (int k = -d; k <= d; k += 2) {
			bool down =
				k == -d || (k != d && at[k - 1] < at[k + 1]);
			int x = down ? at[k + 1] : at[k - 1] + 1, y = x - k;

			while (x < n && y < m && str_eq(old[x], new[y]))
				x++, y++;
			at[k] = x;
			if (x < n || y < m)
				continue;
			t->row[d] = NULL;
			return d;
		}
		t->row[d] = arena_array(a, (size_t)(2 * d + 1), sizeof(*v));
		memcpy(t->row[d], at - d, (size_t)(2 * d + 1) * sizeof(*v));
	}
	return -1;
}

/* The way back, as a letter for each step: '=', '-' or '+'. */
static uint32_t walk_back(const struct trail *t, int edits, int n, int m,
			  char *steps)
{
	uint32_t used = 0;
	int x = n, y = m;

	/* The same choices as on the way there, which saw the same row. */
	for (int d = edits; d > 0; d--) {
		const int32_t *at = t->row[d - 1] + (d - 1);
		int k = x - y;
		bool down = k == -d || (k != d && at[k - 1] < at[k + 1]);
		int from = down ? at[k + 1] : at[k - 1];
		int from_y = from - (down ? k + 1 : k - 1);

		while (x > from + !down && y > from_y + down) {
			steps[used++] = '=';
			x--, y--;
		}
		steps[used++] = down ? '+' : '-';
		x = from;
		y = from_y;
	}
	while (x-- > 0)
		steps[used++] = '=';
	return used;
}

static void put_middle(struct edit *e, int n, int m)
{
	struct arena *scratch = arena_new();
	struct trail *t = arena_new_of(scratch, struct trail);
	char *steps = arena_array(scratch, (size_t)(n + m + 1), 1);
	int edits = find_trail(scratch, e->old, n, e->new, m, t);
	uint32_t used = 0;

	if (edits >= 0)
		used = walk_back(t, edits, n, m, steps);
	while (used-- > 0)
		if (steps[used] == '=')
			put_same(e);
		else if (steps[used] == '-')
			put_removed(e);
		else
			put_added(e);
	for (int i = 0; edits < 0 && i < n; i++)
		put_removed(e);
	for (int i = 0; edits < 0 && i < m; i++)
		put_added(e);
	arena_free(scratch);
}

bool linediff_make(struct arena *a, struct str before, struct str after,
		   struct linediff *out)
{
	line_list old = {0}, new = {0};
	struct edit e = {.out = out, .a = a, .old_line = 1, .new_line = 1};
	uint32_t head = 0, tail = 0;

	*out = (struct linediff){0};
	if (!split_lines(a, before, &old) || !split_lines(a, after, &new))
		return false;
	while (head < old.n && head < new.n &&str_eq(old.v[head], new.v[head]))
		head++;
	while (tail < old.n - head &&
	       tail < new.n - head &&str_eq(old.v[old.n - 1 - tail],
					    new.v[new.n - 1 - tail]))
		tail++;
	e.old = old.v;
	e.new = new.v;
	for (uint32_t i = 0; i < head; i++)
		put_same(&e);
	put_middle(&e, (int)(old.n - head - tail), (int)(new.n - head - tail));
	for (uint32_t i = 0; i < tail; i++)
		put_same(&e);
	return true;
}
