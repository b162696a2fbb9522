#include "compiler/algebra/space/filewalk.h"

#include "compiler/base/hash.h"
#include "compiler/base/limits.h"

#include <stdlib.h>
#include <string.h>

#define SET_STEPS 16 /* what a set of bytes costs, in places of patterns */

/* What the last segment is so far: "", "." and ".." are no names. */
enum segment { SEGMENT_EMPTY, SEGMENT_DOT, SEGMENT_DOTS, SEGMENT_NAME };

struct state {
	uint32_t parent;
	uint8_t byte; /* the last */
	uint8_t segment;
	uint32_t dropped;
	automaton_set at[FILEWALK_LISTS];
	uint32_t in_bucket; /* index of the next + 1 */
	uint32_t hash;
};

struct filewalk {
	struct arena *a;
	uint32_t n;
	struct automaton *m[FILEWALK_LISTS];
	uint32_t same[FILEWALK_LISTS]; /* the first with the same list */
	VEC(struct state) states;
	uint32_t *buckets;
	uint32_t mask;
	uint32_t current;
	uint64_t steps;
	bool stopped, overflow;
};

struct filewalk *filewalk_new(struct arena *a,
			      const struct gitignore *const *lists, uint32_t n)
{
	struct filewalk *w = arena_new_of(a, struct filewalk);

	w->a = a;
	w->n = n;
	w->mask = 4095;
	w->buckets = arena_array(a, w->mask + 1, sizeof(*w->buckets));
	for (uint32_t i = 0; i < n; i++) {
		while (lists[w->same[i]] != lists[i])
			w->same[i]++;
		w->m[i] = w->same[i] < i ? w->m[w->same[i]]
					 : automaton_new(a, lists[i]);
	}
	return w;
}

/* --- states -------------------------------------------------------------- */

static bool is_own(const struct filewalk *w, const struct state *s, uint32_t i)
{
	return w->same[i] == i && !(s->dropped >> i & 1);
}

static uint32_t hash_of(const struct filewalk *w, const struct state *s)
{
	uint64_t h = hash64_step(HASH64_SEED, s->segment | s->dropped << 2);

	for (uint32_t i = 0; i < w->n; i++) {
		h = hash64_step(h, 0xffffffffu);
		vec_each(at, &s->at[i])
			h = hash64_step(h, *at);
	}
	return hash64_folded(h);
}

static bool same_state(const struct filewalk *w, const struct state *x,
		       const struct state *y)
{
	if (x->hash != y->hash || x->segment != y->segment ||
	    x->dropped != y->dropped)
		return false;
	for (uint32_t i = 0; i < w->n; i++) {
		const automaton_set *a = &x->at[i], *b = &y->at[i];

		if (a->n != b->n ||
		    (a->n && memcmp(a->v, b->v, a->n * sizeof(*a->v)) != 0))
			return false;
	}
	return true;
}

static void grow_states(struct filewalk *w)
{
	w->mask = w->mask * 2 + 1;
	w->buckets = arena_array(w->a, w->mask + 1, sizeof(*w->buckets));
	for (uint32_t i = 0; i < w->states.n; i++) {
		struct state *s = &w->states.v[i];

		s->in_bucket = w->buckets[s->hash & w->mask];
		w->buckets[s->hash & w->mask] = i + 1;
	}
}

static automaton_set copy_set(struct arena *a, const automaton_set *from)
{
	automaton_set out = {0};

	if (from->n == 0)
		return out;
	out.n = out.cap = from->n;
	out.v = arena_array(a, from->n, sizeof(*out.v));
	memcpy(out.v, from->v, from->n * sizeof(*out.v));
	return out;
}

/* s: its sets are borrowed, and copied when it is new. */
static void add_state(struct filewalk *w, struct state *s)
{
	uint32_t at;

	s->hash = hash_of(w, s);
	for (at = w->buckets[s->hash & w->mask]; at;
	     at = w->states.v[at - 1].in_bucket)
		if (same_state(w, &w->states.v[at - 1], s))
			return;
	if (w->states.n >= LIMIT_FILE_STATES) {
		w->overflow = true;
		return;
	}
	for (uint32_t i = 0; i < w->n; i++)
		s->at[i] = copy_set(w->a, &s->at[i]);
	s->in_bucket = w->buckets[s->hash & w->mask];
	w->buckets[s->hash & w->mask] = w->states.n + 1;
	*vec_push(w->a, &w->states) = *s;
	if (w->states.n > w->mask)
		grow_states(w);
}

/* --- bytes --------------------------------------------------------------- */

static const char liked[] =
	"xabcdefghijklmnopqrstuvwyz0123456789-_ABCDEFGHIJKLMNOPQRSTUVWXYZ.,+=@%~";

#define BYTES_TRIED (sizeof(liked) - 1 + 256)

/* Every byte, those that people use in names first. */
static uint8_t byte_at(size_t i)
{
	if (i < sizeof(liked) - 1)
		return (uint8_t)liked[i];
	return (uint8_t)(i - (sizeof(liked) - 1) + 0x21);
}

/* One byte of each class, but '/' and NUL. */
static uint32_t choose_byte(struct filewalk *w, const struct state *s,
			    uint8_t out[256])
{
	struct automaton_classes classes = {.sets = 0};
	bool chosen[2][256] = {0};
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n; i++)
		automaton_split(w->m[i], &s->at[i], &classes);
	w->steps += (uint64_t)classes.sets * SET_STEPS;
	/* Dots are told apart, for the sake of "." and "..". */
	classes.named['.' >> 6] |= 1ull << ('.' & 63);
	for (size_t i = 0; i < BYTES_TRIED; i++) {
		uint8_t byte = byte_at(i);
		bool named = classes.named[byte >> 6] >> (byte & 63) & 1;
		bool *was = &chosen[named][named ? byte : classes.of[byte]];

		if (*was || byte == '/' || byte == 0)
			continue;
		*was = true;
		out[n++] = byte;
	}
	return n;
}

/* --- the walk ------------------------------------------------------------ */

static enum segment longer_segment(enum segment was, uint8_t byte)
{
	if (byte != '.')
		return SEGMENT_NAME;
	switch (was) {
	case SEGMENT_EMPTY:
		return SEGMENT_DOT;
	case SEGMENT_DOT:
		return SEGMENT_DOTS;
	case SEGMENT_DOTS:
	case SEGMENT_NAME:
		return SEGMENT_NAME;
	}
	abort();
}

static void step_byte(struct filewalk *w, uint32_t from, uint8_t byte,
		      uint32_t dropped, automaton_set room[FILEWALK_LISTS])
{
	struct state next = {.parent = from, .byte = byte, .dropped = dropped};

	next.segment =
		(uint8_t)(byte == '/'
				  ? SEGMENT_EMPTY
				  : longer_segment(w->states.v[from].segment,
						   byte));
	for (uint32_t i = 0; i < w->n; i++) {
		if (!is_own(w, &next, i))
			continue;
		automaton_step(w->m[i], &w->states.v[from].at[i], byte,
			       &room[i]);
		w->steps += w->states.v[from].at[i].n + 1;
		next.at[i] = room[i];
	}
	add_state(w, &next);
}

static struct filewalk_end end_of(const struct filewalk *w, bool is_dir)
{
	const struct state *s = &w->states.v[w->current];
	struct filewalk_end e = {.is_dir = is_dir, .dropped = s->dropped};

	for (uint32_t i = 0; i < w->n; i++) {
		bool back;
		uint32_t at = AUTOMATON_NONE;

		e.held[i] = e.back[i] = AUTOMATON_NONE;
		if (s->dropped >> i & 1)
			continue;
		at = automaton_verdict(w->m[i], &s->at[w->same[i]], is_dir,
				       &back);
		*(back ? &e.back[i] : &e.held[i]) = at;
	}
	return e;
}

/* A list that another stands for is dropped only with it. */
static uint32_t droppable_states(const struct filewalk *w, uint32_t wanted)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (wanted >> i & 1)
			wanted |= 1u << w->same[i];
	return ~wanted & ((1u << w->n) - 1);
}

bool filewalk_run(struct filewalk *w, filewalk_visit visit, void *ctx)
{
	struct state first = {.parent = UINT32_MAX};
	automaton_set room[FILEWALK_LISTS] = {0};
	uint8_t bytes[256];

	for (uint32_t i = 0; i < w->n; i++)
		if (w->same[i] == i)
			automaton_start(w->m[i], &first.at[i]);
	add_state(w, &first);
	for (w->current = 0; w->current < w->states.n; w->current++) {
		uint32_t at = w->current, n, wanted = 0;
		struct filewalk_end e;

		if (w->states.v[at].segment == SEGMENT_NAME) {
			e = end_of(w, false);
			visit(ctx, w, &e);
			e = end_of(w, true);
			if (!w->stopped)
				wanted = visit(ctx, w, &e);
		}
		if (w->stopped)
			return true;
		wanted &= ~w->states.v[at].dropped;
		if (wanted)
			step_byte(w, at, '/', droppable_states(w, wanted),
				  room);
		n = choose_byte(w, &w->states.v[at], bytes);
		for (uint32_t i = 0; i < n; i++)
			step_byte(w, at, bytes[i], w->states.v[at].dropped,
				  room);
		if (w->overflow || w->steps > LIMIT_FILE_STEPS)
			return false;
	}
	return true;
}

void filewalk_stop(struct filewalk *w)
{
	w->stopped = true;
}

struct str filewalk_path(struct filewalk *w, bool is_dir)
{
	uint32_t n = is_dir;
	char *p;

	for (uint32_t at = w->current; w->states.v[at].parent != UINT32_MAX;
	     at = w->states.v[at].parent)
		n++;
	p = arena_alloc(w->a, n + 1);
	if (is_dir)
		p[n - 1] = '/';
	for (uint32_t at = w->current, i = n - is_dir; i-- > 0;
	     at = w->states.v[at].parent)
		p[i] = (char)w->states.v[at].byte;
	return (struct str){p, n};
}
