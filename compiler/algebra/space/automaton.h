/*
 * A list of gitignore patterns as an automaton over the bytes of paths: where
 * in its patterns a path so far may be.
 */
#ifndef COMPILER_ALGEBRA_SPACE_AUTOMATON_H
#define COMPILER_ALGEBRA_SPACE_AUTOMATON_H

#include "compiler/base/arena.h"
#include "compiler/base/gitignore.h"

#define AUTOMATON_NONE UINT32_MAX

struct automaton;
/* Sorted; two paths with the same go on alike. */
typedef VEC(uint32_t) automaton_set;

struct automaton *automaton_new(struct arena *a, const struct gitignore *g);

/* Before the first byte. */
void automaton_start(struct automaton *m, automaton_set *out);
/* After one byte more; out is another set than from. */
void automaton_step(struct automaton *m, const automaton_set *from,
		    uint8_t byte, automaton_set *out);
/*
 * Which pattern decides about a path that ends here, by its index in the list,
 * or AUTOMATON_NONE; *out_back, whether it takes back.
 */
uint32_t automaton_verdict(const struct automaton *m, const automaton_set *at,
			   bool is_dir, bool *out_back);

/*
 * Which bytes are told apart here: those of different classes, and each of
 * named from every other. All zero: none is.
 */
struct automaton_classes {
	uint8_t of[256];
	uint64_t named[4]; /* one bit per byte */
	uint32_t sets;	   /* how many were looked at, for bounds */
};
void automaton_split(const struct automaton *m, const automaton_set *at,
		     struct automaton_classes *io);

#endif
