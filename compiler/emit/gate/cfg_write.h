/*
 * A typed writer of HAProxy's configuration.
 *
 * Literals of the compiler go in as they are; every string of a policy goes
 * through one of the functions below, which take a closed alphabet and quote
 * what they take: nothing of a user's ends a line, a quote or an ACL, begins a
 * flag or is a format. What they do not take is an error at its span.
 */
#ifndef COMPILER_EMIT_GATE_CFG_WRITE_H
#define COMPILER_EMIT_GATE_CFG_WRITE_H

#include "compiler/emit/emit.h"

#define CFG_COLUMNS 160u /* of a line, but for a word that is longer */

struct cfg {
	struct arena *a;
	struct diags *diags;
	struct buf *out;
	bool ok;	    /* false after the first refusal */
	const char *origin; /* where servers are; NULL: where the client
			     * called */
};

/* Text of ours: a part of one of the .cfg files here. */
void cfg_text(struct cfg *c, const char *part);
/* A line of ours, indented. */
void cfg_line(struct cfg *c, const char *fmt, ...) printf_like(2, 3);

/*
 * " 'text'" where a word may stand: printable ASCII without blanks.
 * at: where it was written.
 */
void cfg_word(struct cfg *c, struct str text, struct span at);
/* The same as part of a format: '%' doubled, blanks allowed. No quotes. */
void cfg_format(struct cfg *c, struct str text, struct span at);
/* A pattern of names as a regular expression, anchored. */
void cfg_name_regex(struct cfg *c, struct str pattern, struct span at);
/* A prefix of a path as one, where an escape and its character are the same. */
void cfg_path_regex(struct cfg *c, struct str path, struct span at);

/*
 * A list of words behind a head ("acl port_7 dst_port"), in as many lines as it
 * takes, each with the head before it: HAProxy takes one of many lines of a
 * name for the name, and so many words in a line.
 */
struct cfg_list {
	struct cfg *c;
	struct str head;
	size_t line, word; /* where both begin */
	uint32_t n;	   /* words in the line */
};
struct cfg_list cfg_list_begin(struct cfg *c, struct str head);
/* The word behind this: it was written as " WORD". */
void cfg_list_word(struct cfg_list *l);
void cfg_list_end(struct cfg_list *l);
/* "443", "8000:8999" */
void cfg_ports(struct cfg *c, struct str head, const ir_ports *ports);

/* A name or pattern for a map: letters, digits, '-', '_', '.', '*'. */
must_check bool cfg_name_ok(struct str name);

#endif
