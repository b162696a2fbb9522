/*
 * What the front end shares: sources that are no YAML.
 */
#ifndef COMPILER_FRONT_PARTS_H
#define COMPILER_FRONT_PARTS_H

#include "compiler/front/front.h"
#include "compiler/front/presets.h"
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

/* --- within.c --------------------------------------------------------------
 */

/*
 * The bound of a session that learns: presets and destinations that it may
 * reach besides its policy, of the layer of the flags.
 *
 * All of them are one source, SOURCE_WITHIN, a line each, so that whatever the
 * bound decides says so by its place. A preset is taken as by `extends`, but
 * for the network alone: what it allows, asks about and denies. Its files go by
 * "--within NAME". Appends the documents; whether something was reported is
 * p->ok.
 */
must_check enum files_status within_load(struct presets *p,
					 const struct str *list, size_t n);

#endif
