#include "compiler/base/gitignore.h"

#include "compiler/base/hash.h"
#include "compiler/base/pattern.h"

#include <string.h>

struct gitignore {
	struct arena *a;
	uint32_t n;
	/* Newest first in each bucket; the size is a power of two. */
	struct pattern **buckets;
	uint32_t mask, filed;
	bool has_suffix;
	VEC(struct pattern *) globs; /* oldest first */
	VEC(struct pattern *) all;   /* by index */
};

struct gitignore *gitignore_new(struct arena *a)
{
	struct gitignore *g = arena_new_of(a, struct gitignore);

	g->a = a;
	g->mask = 31;
	g->buckets = arena_array(a, g->mask + 1, sizeof(struct pattern *));
	return g;
}

uint32_t gitignore_count(const struct gitignore *g)
{
	return g->n;
}

const char *gitignore_fault_text(enum gitignore_fault f)
{
	switch (f) {
	case GITIGNORE_OK:
		return "no fault";
	case GITIGNORE_BLANK:
		return "empty pattern";
	case GITIGNORE_CLASS:
		return "'[' without its ']', or an unknown '[:class:]'";
	case GITIGNORE_ESCAPE:
		return "backslash with nothing behind it";
	case GITIGNORE_CONTROL:
		return "control byte in a pattern";
	case GITIGNORE_ABOVE:
		return "empty, '.' or '..' segment, which no path has";
	}
	return "?";
}

static void file_in(struct pattern **buckets, uint32_t mask, struct pattern *pt)
{
	pt->next = buckets[pt->hash & mask];
	buckets[pt->hash & mask] = pt;
}

static void grow_patterns(struct gitignore *g)
{
	uint32_t mask = g->mask * 2 + 1;
	struct pattern **to = arena_array(g->a, mask + 1, sizeof(*to));

	/* Each bucket splits in two; taking it oldest first keeps the order. */
	for (uint32_t i = 0; i <= g->mask; i++) {
		struct pattern *rev = NULL, *pt = g->buckets[i], *next;

		for (; pt; pt = next) {
			next = pt->next;
			pt->next = rev;
			rev = pt;
		}
		for (; rev; rev = next) {
			next = rev->next;
			file_in(to, mask, rev);
		}
	}
	g->buckets = to;
	g->mask = mask;
}

static void file_pattern(struct gitignore *g, struct pattern *pt)
{
	if (!pattern_is_filed(pt)) {
		*vec_push(g->a, &g->globs) = pt;
		return;
	}
	if (pt->kind == PATTERN_SUFFIX)
		g->has_suffix = true;
	if (g->filed++ > g->mask)
		grow_patterns(g);
	file_in(g->buckets, g->mask, pt);
}

static void append_pattern(struct gitignore *g, struct pattern *pt)
{
	pt->index = g->n++;
	*vec_push(g->a, &g->all) = pt;
	file_pattern(g, pt);
}

struct gitignore *gitignore_unanchored(const struct gitignore *g)
{
	struct gitignore *out = gitignore_new(g->a);

	vec_each(p, &g->all) {
		struct pattern *copy;

		if ((*p)->anchored)
			continue;
		copy = arena_new_of(g->a, struct pattern);
		*copy = **p;
		copy->next = NULL;
		file_pattern(out, copy);
	}
	out->n = g->n;
	return out;
}

enum gitignore_fault gitignore_add(struct gitignore *g, struct str line,
				   size_t *out_at)
{
	struct pattern *pt;
	size_t at;
	enum gitignore_fault fault = pattern_read(g->a, line, &at, &pt);

	if (out_at)
		*out_at = at;
	if (fault == GITIGNORE_OK)
		append_pattern(g, pt);
	return fault;
}

/* The newest filed pattern for the hash that holds, if newer than best. */
static const struct pattern *look_up(const struct gitignore *g, uint32_t hash,
				     struct str path, struct str base,
				     bool is_dir, const struct pattern *best)
{
	const struct pattern *pt = g->buckets[hash & g->mask];

	for (; pt; pt = pt->next) {
		if (best && pt->index < best->index)
			return best;
		if (pt->hash != hash || (pt->dir_only && !is_dir))
			continue;
		if (pattern_match(pt, path, base))
			return pt;
	}
	return best;
}

enum gitignore_verdict gitignore_match(const struct gitignore *g,
				       struct str path, bool is_dir,
				       uint32_t *out_index)
{
	struct str base = str_slice(path, pattern_base(path), path.n);
	const struct pattern *best = NULL;

	if (g->filed)
		best = look_up(g, hash_str(base), path, base, is_dir, best);
	if (g->has_suffix)
		best = look_up(g, hash_str(pattern_extension(base)), path, base,
			       is_dir, best);
	for (uint32_t i = g->globs.n; i-- > 0;) {
		const struct pattern *pt = g->globs.v[i];

		if (best && pt->index < best->index)
			break;
		if (pt->dir_only && !is_dir)
			continue;
		if (pattern_match(pt, path, base)) {
			best = pt;
			break;
		}
	}
	if (!best)
		return GITIGNORE_NONE;
	if (out_index)
		*out_index = best->index;
	return best->back ? GITIGNORE_BACK : GITIGNORE_MATCH;
}

/* --- taken apart ---------------------------------------------------------- */

struct gitignore_shape gitignore_shape(const struct gitignore *g,
				       uint32_t index)
{
	const struct pattern *pt = g->all.v[index];

	return (struct gitignore_shape){pt->back, pt->dir_only, pt->anchored,
					pt->tokens.n};
}

struct gitignore_token gitignore_token(const struct gitignore *g,
				       uint32_t index, uint32_t at)
{
	const struct pattern *pt = g->all.v[index];
	const struct pattern_token *t = &pt->tokens.v[at];
	struct gitignore_token out = {.kind = t->kind, .byte = t->byte};

	if (t->kind == GITIGNORE_SET)
		memcpy(out.bits, pt->sets.v[t->set].bits, sizeof(out.bits));
	return out;
}
