/* A diff turns one text into the other, and is no longer than it has to be. */
#include "compiler/cli/report/parts.h"

#include "tests/check.h"
#include "tests/rng.h"

/* Both texts again out of what is the same, removed and added. */
static void check_both(struct arena *a, struct str before, struct str after,
		       const struct linediff *d)
{
	struct buf old, new;
	uint32_t old_line = 0, new_line = 0;

	buf_init(&old, a);
	buf_init(&new, a);
	vec_each(l, &d->v) {
		if (l->kind != LINEDIFF_ADDED) {
			buf_add(&old, l->text);
			buf_addc(&old, '\n');
			CHECK(l->old_line == ++old_line);
		} else {
			CHECK(l->old_line == 0);
		}
		if (l->kind != LINEDIFF_REMOVED) {
			buf_add(&new, l->text);
			buf_addc(&new, '\n');
			CHECK(l->new_line == ++new_line);
		} else {
			CHECK(l->new_line == 0);
		}
	}
	CHECK(str_eq(buf_str(&old), before));
	CHECK(str_eq(buf_str(&new), after));
}

/* Lines that both have in their order: by the table, slow and plain. */
static unsigned common_lines(const char *x, unsigned n, const char *y,
			     unsigned m)
{
	unsigned t[32][32] = {{0}};

	for (unsigned i = 1; i <= n; i++)
		for (unsigned k = 1; k <= m; k++)
			t[i][k] = x[i - 1] == y[k - 1] ? t[i - 1][k - 1] + 1
				  : t[i - 1][k] > t[i][k - 1] ? t[i - 1][k]
							      : t[i][k - 1];
	return t[n][m];
}

static struct str text_of(struct arena *a, const char *letters, unsigned n)
{
	struct buf b;

	buf_init(&b, a);
	for (unsigned i = 0; i < n; i++)
		buf_addf(&b, "%c\n", letters[i]);
	return buf_str(&b);
}

static void check_least(struct arena *a)
{
	struct rng r = {3};

	for (int i = 0; i < 5000; i++) {
		char x[30], y[30];
		unsigned n = rng_below(&r, 30), m = rng_below(&r, 30), same;
		struct linediff d;

		for (unsigned k = 0; k < 30; k++) {
			x[k] = (char)('a' + rng_below(&r, 4));
			y[k] = (char)('a' + rng_below(&r, 4));
		}
		CHECK(linediff_make(a, text_of(a, x, n), text_of(a, y, m), &d));
		check_both(a, text_of(a, x, n), text_of(a, y, m), &d);
		same = common_lines(x, n, y, m);
		CHECK(d.removed == n - same);
		CHECK(d.added == m - same);
	}
}

/* Too much to look for the least: all of one, then all of the other. */
static void check_long(struct arena *a)
{
	struct buf old, new;
	struct linediff d;

	buf_init(&old, a);
	buf_init(&new, a);
	for (unsigned i = 0; i < 3000; i++) {
		buf_addf(&old, "old %u\n", i);
		buf_addf(&new, "new %u\n", i);
	}
	CHECK(linediff_make(a, buf_str(&old), buf_str(&new), &d));
	check_both(a, buf_str(&old), buf_str(&new), &d);
	CHECK(d.removed == 3000);
	for (unsigned i = 0; i <= LINEDIFF_LINES; i++)
		buf_adds(&new, "x\n");
	CHECK(!linediff_make(a, buf_str(&old), buf_str(&new), &d));
}

int main(void)
{
	struct arena *a = arena_new();

	check_least(a);
	check_long(a);
	arena_free(a);
	return check_status();
}
