/*
 * What may be read and written: compare.h and never.h, of files.
 */
#ifndef COMPILER_ALGEBRA_COMPARE_FILES_H
#define COMPILER_ALGEBRA_COMPARE_FILES_H

#include "compiler/algebra/compare/compare.h"

void files_compare(struct arena *a, const struct ir_policy *old,
		   const struct ir_policy *now, struct comparison *out);

/* The same lines in the same order. */
bool files_same_patterns(const ir_patterns *x, const ir_patterns *y);

/* As never_find(), for sets of files; false also with *out_unknown set. */
bool files_never(struct arena *a, const struct ir_policy *p,
		 const struct ir_never *set, struct ir_request *out,
		 bool *out_unknown);

#endif
