/*
 * What the front end shares: sources that are no YAML.
 */
#ifndef COMPILER_FRONT_PARTS_H
#define COMPILER_FRONT_PARTS_H

#include "compiler/front/front.h"
#include "compiler/ir/doc.h"

/* --- flags.c ---------------------------------------------------------------
 */

/* Flags, and the source that they become: its name, what is between two. */
struct flags_text {
	const struct front_flag *v;
	size_t n;
	enum layer layer;
	const char *name;
	char between;
};

/* *out is the document of that layer. False after reporting. */
must_check bool flags_bind(struct pass_ctx *c, struct sources *sources,
			   const struct flags_text *flags, struct doc *out);

/* --- ignorefile.c ----------------------------------------------------------
 */

/* src is in the sources already. False after reporting. */
must_check bool ignorefile_parse(struct pass_ctx *c, const struct source *src,
				 ir_patterns *out);

#endif
