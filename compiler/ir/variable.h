/*
 * Variables in the values of raw arguments: $NAME, ${NAME}, and $$ for the
 * dollar sign itself. What is checked and what is written are read by this.
 */
#ifndef COMPILER_IR_VARIABLE_H
#define COMPILER_IR_VARIABLE_H

#include "compiler/base/str.h"

/*
 * What the '$' at s.p[i] begins: its length with the '$', and its name, which
 * is empty for "$$"; 0 where it begins neither.
 */
size_t variable_at(struct str s, size_t i, struct str *out_name);

#endif
