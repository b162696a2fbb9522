/*
 * compare.h, of files: what may be read and written.
 */
#ifndef COMPILER_ALGEBRA_FILES_H
#define COMPILER_ALGEBRA_FILES_H

#include "compiler/algebra/compare.h"

void files_compare(struct arena *a, const struct ir_policy *old,
		   const struct ir_policy *now, struct comparison *out);

#endif
