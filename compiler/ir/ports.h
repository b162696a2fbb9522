/*
 * Port lists: sorted, merged, compared.
 */
#ifndef COMPILER_IR_PORTS_H
#define COMPILER_IR_PORTS_H

#include "compiler/ir/ir.h"

/* Sort by protocol and port; join what overlaps or touches. In place. */
void ports_normalise(ir_ports *ports);
/* Whether every port of inner is one of outer; both normalised. */
bool ports_cover(const ir_ports *outer, const ir_ports *inner);
bool ports_has(const ir_ports *ports, enum ir_proto proto, uint16_t port);
/* The ports of one protocol that of has too, or (is_in false) has not; all
 * normalised. */
ir_ports ports_split(struct arena *a, const ir_ports *ports, const ir_ports *of,
		     enum ir_proto proto, bool is_in);
/* Whether it is all of TCP and all of UDP; normalised. */
bool ports_all(const ir_ports *ports);

#endif
