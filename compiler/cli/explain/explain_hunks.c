#include "compiler/cli/explain/explain_hunks.h"

static explain_texts lines_of(struct arena *a, struct str text)
{
	explain_texts out = {0};
	struct str line;

	while (str_line(&text, &line))
		*vec_push(a, &out) = line;
	return out;
}

/* Two texts and how far both were read. */
struct reading {
	explain_texts old, now;
	uint32_t i, k;
};

/* Do they agree after so many lines more? At both ends they do. */
static bool lines_agree(const struct reading *r, uint32_t gone, uint32_t come)
{
	uint32_t i = r->i + gone, k = r->k + come;

	if (i > r->old.n || k > r->now.n)
		return false;
	if (i == r->old.n || k == r->now.n)
		return i == r->old.n && k == r->now.n;
	return str_eq(r->old.v[i], r->now.v[k]);
}

/* How many lines of both until they agree again: the fewest. */
static void resync_lines(const struct reading *r, uint32_t *gone,
			 uint32_t *come)
{
	for (uint32_t n = 1;; n++)
		for (*gone = 0; *gone <= n; ++*gone) {
			*come = n - *gone;
			if (lines_agree(r, *gone, *come))
				return;
		}
}

void explain_hunks_find(struct arena *a, struct str file,
			const struct str *before, struct str now,
			explain_hunks *out)
{
	struct reading r = {.now = lines_of(a, now)};
	uint32_t gone, come;

	if (before)
		r.old = lines_of(a, *before);
	while (r.i < r.old.n || r.k < r.now.n) {
		struct explain_hunk *h;

		if (lines_agree(&r, 0, 0)) {
			r.i++;
			r.k++;
			continue;
		}
		resync_lines(&r, &gone, &come);
		h = vec_push(a, out);
		h->file = file;
		h->line = (gone ? r.i : r.k) + 1;
		h->is_new = !before;
		while (gone--)
			*vec_push(a, &h->gone) = r.old.v[r.i++];
		while (come--)
			*vec_push(a, &h->come) = r.now.v[r.k++];
	}
}

bool explain_hunks_same_texts(const explain_texts *a, const explain_texts *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (!str_eq(a->v[i], b->v[i]))
			return false;
	return true;
}

bool explain_hunks_same(const explain_hunks *a, const explain_hunks *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct explain_hunk *x = &a->v[i], *y = &b->v[i];

		if (!str_eq(x->file, y->file) || x->line != y->line ||
		    !explain_hunks_same_texts(&x->gone, &y->gone) ||
		    !explain_hunks_same_texts(&x->come, &y->come))
			return false;
	}
	return true;
}
