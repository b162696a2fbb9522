/*
 * Destinations, ports and paths of URLs, out of their text: doc/semantics.md,
 * sections 2 and 3. The grammar is grammar/destination.y.
 */
#ifndef COMPILER_FRONT_WORD_DEST_H
#define COMPILER_FRONT_WORD_DEST_H

#include "compiler/base/text.h"
#include "compiler/ir/doc.h"

/*
 * Parse one destination. False after reporting what is wrong and what would
 * be right; *out then is IR_DEST_POISON with its place.
 */
must_check bool dest_parse(struct pass_ctx *c, const struct text *text,
			   struct ir_dest *out);
/* "443", "53/udp", "8000-8999/tcp". */
must_check bool dest_parse_port(struct pass_ctx *c, const struct text *text,
				struct ir_port *out);

/*
 * Is this path the one spelling that a rule may use? part is the path within
 * the text. Reports like the others. A path without a leading slash is fine
 * here: http rules are relative to their URL.
 */
must_check bool dest_path_check(struct pass_ctx *c, const struct text *text,
				struct span part);

#endif
