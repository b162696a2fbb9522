/*
 * Comments of artefacts: which rules of the policy made what stands below, for
 * languages whose comments go from '#' to the end of the line.
 *
 *	# allow api.test tcp/443  g-0123456789  .membrane.yaml:2
 *
 * Texts are the policy's, and names are those of files: all but printable
 * ASCII is written as \xHH, and so is the backslash. Nothing of theirs ends a
 * comment, and none ends in what could join it to the next line.
 */
#ifndef COMPILER_EMIT_COMMENT_H
#define COMPILER_EMIT_COMMENT_H

#include "compiler/emit/emit.h"

#define COMMENT_COLUMNS 120u

/* indent: what each line begins with, tabs or blanks. */
void comment_text(struct buf *out, const char *indent, struct str text);
/* A rule: one line, or more where it is long. */
void comment_grant(const struct emit_in *in, struct buf *out,
		   const char *indent, const struct ir_grant *g);
/* Of many the first ones, and how many more there are. */
void comment_grants(const struct emit_in *in, struct buf *out,
		    const char *indent, const emit_members *of);
#endif
