/*
 * .membraneignore: gitignore syntax, one pattern per line, for `ignore`.
 */
#ifndef COMPILER_FRONT_IGNOREFILE_H
#define COMPILER_FRONT_IGNOREFILE_H

#include "compiler/ir/doc.h"

/* src is in the sources already. False after reporting. */
must_check bool ignorefile_parse(struct pass_ctx *c, const struct source *src,
				 ir_patterns *out);

#endif
