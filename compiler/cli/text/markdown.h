/*
 * Markdown that a forge shows: blocks and spans of code, which nothing that a
 * policy says gets out of.
 */
#ifndef COMPILER_CLI_TEXT_MARKDOWN_H
#define COMPILER_CLI_TEXT_MARKDOWN_H

#include "compiler/base/buf.h"

/* Wider than a terminal: GitHub scrolls a block sideways. */
#define MARKDOWN_WIDTH 100
/* GitHub takes 65,536 characters of a comment; room for what a workflow puts
 * around ours. */
#define MARKDOWN_MAX 60000u

/* Text, whole lines, in a fence; language as forges know it, "diff". */
void markdown_block(struct buf *out, const char *language, struct str text);
/* A short text within a line, cleaned by the caller. */
void markdown_code(struct buf *out, struct str text);

#endif
