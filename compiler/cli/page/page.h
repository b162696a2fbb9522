/*
 * A page to look at: one file, read without a script and without a network.
 * The browser itself is told so: default-src 'none', and the one stylesheet by
 * its digest.
 */
#ifndef COMPILER_CLI_PAGE_PAGE_H
#define COMPILER_CLI_PAGE_PAGE_H

#include "compiler/cli/page/html.h"

/* Up to the open <main>; title is cleaned as any string. */
void page_begin(struct html *h, struct str title);
void page_end(struct html *h);
/*
 * A section with a heading, and what there is of it at the right: "3
 * destinations", or NULL.
 */
void page_section(struct html *h, const char *id, const char *title,
		  struct str count);
void page_section_end(struct html *h);
/* A sentence in small type. */
void page_note(struct html *h, const char *fmt, ...) printf_like(2, 3);
/* One of the figures in a row: the number, and what it is of. as: "bad",
 * "warn", or NULL. */
void page_figure(struct html *h, struct str number, const char *of,
		 const char *as);
/* The heads of a table's columns, divided by '|'; a '>' before one: numbers. */
void page_columns(struct html *h, const char *names);
/* "1.4 MB", "812 B". */
struct str page_bytes(struct arena *a, uint64_t n);
/* "1 process", "2 processes". */
struct str page_count(struct arena *a, uint64_t n, const char *one,
		      const char *many);

#endif
