/*
 * Rules that do the same, whomever they are about: who has them, whether they
 * deny, and on which ports. Two destinations whose rules do the same are alike,
 * and one of them stands for both.
 */
#ifndef COMPILER_ALGEBRA_SPACE_EFFECTS_H
#define COMPILER_ALGEBRA_SPACE_EFFECTS_H

#include "compiler/algebra/space/sides.h"

/*
 * A number per rule, from 1, the same for those that do the same to
 * connections; with requests, to requests as well: schemes, paths and methods.
 */
uint32_t *effects_number(const struct sides *s, bool requests);

#endif
