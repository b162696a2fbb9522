#include "compiler/algebra/space/automaton.h"

#include "compiler/algebra/space/numbers.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_SET 256u /* where sorting by insertion is the fastest */

/*
 * A place in a pattern: before one of its tokens, or behind the last. A token
 * that takes whole segments has a second place, inside of one.
 */
enum place_kind {
	PLACE_TOKEN,
	PLACE_INSIDE, /* a segment that GITIGNORE_DIRS takes */
	PLACE_END,
};

struct place {
	enum place_kind kind;
	struct gitignore_token token;
	uint32_t pattern;
	bool base; /* of a pattern for base names */
	bool dir_only;
	uint32_t next;	/* behind the token */
	uint32_t stamp; /* of the step that put it into a set */
};

struct automaton {
	struct arena *a;
	const struct gitignore *g;
	VEC(struct place) places;
	/* Where patterns begin: those for base names, at every segment. */
	automaton_set anchored, base;
	uint32_t stamp;
};

static void add_pattern(struct automaton *m, uint32_t index)
{
	struct gitignore_shape shape = gitignore_shape(m->g, index);
	uint32_t first = m->places.n;

	*vec_push(m->a, shape.anchored ? &m->anchored : &m->base) = first;
	for (uint32_t i = 0; i < shape.n; i++) {
		struct gitignore_token t = gitignore_token(m->g, index, i);
		bool dirs = t.kind == GITIGNORE_DIRS;
		uint32_t next = m->places.n + 1 + dirs;

		*vec_push(m->a, &m->places) =
			(struct place){.kind = PLACE_TOKEN,
				       .token = t,
				       .pattern = index,
				       .next = next};
		/* Its end leads back to the token itself. */
		if (dirs)
			*vec_push(m->a, &m->places) =
				(struct place){.kind = PLACE_INSIDE,
					       .token = t,
					       .pattern = index,
					       .next = next - 2};
	}
	*vec_push(m->a, &m->places) =
		(struct place){.kind = PLACE_END, .pattern = index};
	for (uint32_t i = first; i < m->places.n; i++) {
		m->places.v[i].base = !shape.anchored;
		m->places.v[i].dir_only = shape.dir_only;
	}
}

struct automaton *automaton_new(struct arena *a, const struct gitignore *g)
{
	struct automaton *m = arena_new_of(a, struct automaton);

	m->a = a;
	m->g = g;
	for (uint32_t i = 0; i < gitignore_count(g); i++)
		add_pattern(m, i);
	return m;
}

/* --- sets ---------------------------------------------------------------- */

/* The place, and those that it leads to without a byte. */
static void put_state(struct automaton *m, uint32_t at, automaton_set *out)
{
	struct place *p = &m->places.v[at];

	while (p->stamp != m->stamp) {
		p->stamp = m->stamp;
		*vec_push(m->a, out) = at;
		if (p->kind != PLACE_TOKEN ||
		    (p->token.kind != GITIGNORE_STAR &&
		     p->token.kind != GITIGNORE_DIRS))
			return;
		at = p->next;
		p = &m->places.v[at];
	}
}

static void begin_set(struct automaton *m, automaton_set *out)
{
	m->stamp++;
	out->n = 0;
}

/* Does the pattern match, whatever else the name has? Its end has no token,
 * and what is inside of a segment neither of these. */
static bool is_sure(const struct automaton *m, const struct place *p)
{
	if (p->dir_only)
		return false;
	return p->token.kind == GITIGNORE_REST ||
	       (p->token.kind == GITIGNORE_STAR &&
		m->places.v[p->next].kind == PLACE_END);
}

/*
 * Later lines win: where one is sure to match the name, those before it that
 * are about names alone do not matter. Without this, each list of lines as
 * "*key*" would have as many sets as it has subsets.
 */
static void forget_set(const struct automaton *m, automaton_set *out)
{
	uint32_t sure = 0, n = 0;

	vec_each(at, out) {
		const struct place *p = &m->places.v[*at];

		if (p->pattern > sure && is_sure(m, p))
			sure = p->pattern;
	}
	if (sure == 0)
		return;
	vec_each(at, out) {
		const struct place *p = &m->places.v[*at];

		if (!p->base || p->pattern >= sure)
			out->v[n++] = *at;
	}
	out->n = n;
}

/* Steps keep the order but for a few places. */
static void sort_most(automaton_set *out)
{
	for (uint32_t i = 1; i < out->n; i++) {
		uint32_t at = out->v[i], k = i;

		for (; k > 0 && out->v[k - 1] > at; k--)
			out->v[k] = out->v[k - 1];
		out->v[k] = at;
	}
}

static void finish_set(const struct automaton *m, automaton_set *out)
{
	forget_set(m, out);
	if (out->n < SMALL_SET)
		sort_most(out);
	else
		numbers_sort(out->v, out->n);
}

void automaton_start(struct automaton *m, automaton_set *out)
{
	begin_set(m, out);
	vec_each(at, &m->anchored)
		put_state(m, *at, out);
	vec_each(at, &m->base)
		put_state(m, *at, out);
	finish_set(m, out);
}

static void step_token(struct automaton *m, uint32_t at, uint8_t byte,
		       automaton_set *out)
{
	const struct place *p = &m->places.v[at];
	const struct gitignore_token *t = &p->token;
	bool slash = byte == '/';

	switch (t->kind) {
	case GITIGNORE_BYTE:
		if (t->byte == byte)
			put_state(m, p->next, out);
		return;
	case GITIGNORE_ANY:
		if (!slash)
			put_state(m, p->next, out);
		return;
	case GITIGNORE_SET:
		if (t->bits[byte >> 6] >> (byte & 63) & 1)
			put_state(m, p->next, out);
		return;
	case GITIGNORE_STAR:
		if (!slash)
			put_state(m, at, out);
		return;
	case GITIGNORE_DIRS:
		if (!slash)
			put_state(m, at + 1, out);
		return;
	case GITIGNORE_REST:
		put_state(m, at, out);
		return;
	}
	abort();
}

static void step_place(struct automaton *m, uint32_t at, uint8_t byte,
		       automaton_set *out)
{
	const struct place *p = &m->places.v[at];

	switch (p->kind) {
	case PLACE_TOKEN:
		step_token(m, at, byte, out);
		return;
	case PLACE_INSIDE:
		put_state(m, byte == '/' ? p->next : at, out);
		return;
	case PLACE_END:
		return;
	}
	abort();
}

void automaton_step(struct automaton *m, const automaton_set *from,
		    uint8_t byte, automaton_set *out)
{
	begin_set(m, out);
	/* Patterns for base names hold no slash: they all end here. */
	vec_each(at, from)
		step_place(m, *at, byte, out);
	if (byte == '/')
		vec_each(at, &m->base)
			put_state(m, *at, out);
	finish_set(m, out);
}

uint32_t automaton_verdict(const struct automaton *m, const automaton_set *at,
			   bool is_dir, bool *out_back)
{
	uint32_t best = AUTOMATON_NONE;

	/* Places are in the order of patterns: the last one counts. */
	*out_back = false;
	vec_each(i, at) {
		const struct place *p = &m->places.v[*i];
		bool end = p->kind == PLACE_END ||
			   (p->kind == PLACE_TOKEN &&
			    p->token.kind == GITIGNORE_REST);

		if (!end)
			continue;
		if (gitignore_shape(m->g, p->pattern).dir_only && !is_dir)
			continue;
		best = p->pattern;
	}
	if (best != AUTOMATON_NONE)
		*out_back = gitignore_shape(m->g, best).back;
	return best;
}

/* --- bytes --------------------------------------------------------------- */

/* Each class in two: what is in the set, and what is not. */
static void split_classes(struct automaton_classes *io, const uint64_t set[4])
{
	uint16_t to[2][256] = {0}, n = 0;

	for (unsigned b = 0; b < 256; b++) {
		uint16_t *class = &to[set[b >> 6] >> (b & 63) & 1][io->of[b]];

		if (*class == 0)
			*class = ++n;
		io->of[b] = (uint8_t)(*class - 1);
	}
	io->sets++;
}

void automaton_split(const struct automaton *m, const automaton_set *at,
		     struct automaton_classes *io)
{
	vec_each(i, at) {
		const struct place *p = &m->places.v[*i];
		uint8_t byte = p->token.byte;

		if (p->kind != PLACE_TOKEN)
			continue;
		if (p->token.kind == GITIGNORE_BYTE)
			io->named[byte >> 6] |= 1ull << (byte & 63);
		if (p->token.kind == GITIGNORE_SET)
			split_classes(io, p->token.bits);
	}
}
