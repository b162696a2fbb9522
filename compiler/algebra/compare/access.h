/*
 * Cells that two policies decide differently, gathered into changes: one per
 * rule that is responsible, way and kind.
 */
#ifndef COMPILER_ALGEBRA_COMPARE_ACCESS_H
#define COMPILER_ALGEBRA_COMPARE_ACCESS_H

#include "compiler/algebra/compare/compare.h"
#include "compiler/algebra/space/cells.h"

struct access;

struct access *access_new(struct arena *a, struct sides *s,
			  struct comparison *out);

/* One cell, decided by both; its rules are those of the views. */
struct access_cell {
	enum access_kind kind;
	struct ir_request request;
	struct ruling by[2];
	uint32_t *all; /* every rule that speaks of the destination */
	uint32_t n_all;
	uint16_t lo, hi; /* ports; 0 where there are none */
	bool other;	 /* its method stands for the rest */
	bool crooked;	 /* its path for those that are not canonical */
	bool tunnel;	 /* CONNECT that no rule names */
	bool both;	 /* a name and an address together */
};
/* Which way it changed; false: it did not. */
bool access_way_of(const struct access_cell *c, enum access_way *out);
/* From which level to which: below ACCESS_STEPS. */
#define ACCESS_STEPS (ACCESS_LEVELS * ACCESS_LEVELS)
unsigned access_step(const struct access_cell *c);
/* Leaves other rules in the views than it found. */
void access_add(struct access *x, const struct access_cell *c,
		const uint32_t *ids, uint32_t n);
/* The rule responsible for a cell that changed, and whose it is. */
uint32_t access_cause(struct sides *s, const struct access_cell *c,
		      const uint32_t *ids, uint32_t n, int *out_side);
/* One cell that both permit, or have asked about. */
bool access_is_kept(const struct access_cell *c);
/* What it is due to, of a name and an address. */
enum access_due {
	ACCESS_DUE_NAME,
	ACCESS_DUE_ADDR,
	ACCESS_DUE_ALL, /* any two: one cell stands for all of them */
};
enum access_due access_keep(struct access *x, const struct access_cell *c);
/* Put what was gathered into words, and count what was not. */
void access_finish(struct access *x);

#endif
