/*
 * Marks of gate.cfg, whose lines speak of profiles: a line is there for every
 * grant and denial that has the profile. Each function marks the line that
 * comes next.
 */
#ifndef COMPILER_EMIT_GATE_GATE_MARKS_H
#define COMPILER_EMIT_GATE_GATE_MARKS_H

#include "compiler/emit/gate/gate_parts.h"

/* g->p is borrowed. */
struct gate_marks *gate_marks_new(const struct gate *g);
/* Who has a profile: never nobody. */
const emit_members *gate_marks_members(const struct gate *g,
				       const struct profile *x);

/* The line stands for a profile; rule: of its rules of http, 0 for all. */
void gate_marks_profile(const struct gate *g, const struct profile *x,
			unsigned uses, uint64_t reasons, uint32_t rule);
/* For all of a list that have rules of http, or for those that have none. */
void gate_marks_all(const struct gate *g, const profile_list *l, bool http,
		    unsigned uses, uint64_t reasons);
/* For all of a list. */
void gate_marks_list(const struct gate *g, const profile_list *l, unsigned uses,
		     uint64_t reasons);
/* For the denials of a name's ports, whose addresses come here for that. */
void gate_marks_guarded(const struct gate *g, unsigned uses, uint64_t reasons);
/* For no rule of the policy. */
void gate_marks_default(const struct gate *g, unsigned uses, uint64_t reasons);

#endif
