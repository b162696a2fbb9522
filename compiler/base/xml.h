/*
 * XML 1.0 in small: elements, attributes, text. What is written is well-formed
 * whatever the strings hold: the five characters are escaped, and bytes that
 * XML cannot hold (control characters, what is no UTF-8, U+FFFE and U+FFFF)
 * become \xNN. Names of elements and attributes are literals of ours.
 *
 *	xml_open(&x, "testcase");
 *	xml_attr(&x, "name", name);
 *	xml_text(&x, said);
 *	xml_close(&x);
 */
#ifndef COMPILER_BASE_XML_H
#define COMPILER_BASE_XML_H

#include "compiler/base/buf.h"

#define XML_DEPTH 8u /* elements within elements, asserted */

struct xml {
	struct buf *out;
	const char *names[XML_DEPTH]; /* of the open elements */
	unsigned depth;
	bool in_tag;   /* attributes may follow */
	bool has_text; /* of the innermost: its end stands behind it */
};

/* Writes the declaration. */
void xml_init(struct xml *x, struct buf *out);
void xml_open(struct xml *x, const char *name);
/* Between xml_open() and whatever comes next in the element. */
void xml_attr(struct xml *x, const char *name, struct str value);
void xml_attr_u64(struct xml *x, const char *name, uint64_t value);
void xml_text(struct xml *x, struct str s);
void xml_close(struct xml *x);
/* Text by itself, for who reads it as a part of a document. */
void xml_escape(struct buf *out, struct str s);

#endif
