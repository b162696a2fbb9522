/*
 * A policy's sources as they would be with some edits, and what they compile
 * to. Nothing on disk changes.
 *
 * An edit is made in the text of a source or in the flags. Places are those of
 * what was compiled last. What comes with membrane nobody here may change: an
 * edit there is false, as one that a text's shape does not allow.
 */
#ifndef COMPILER_CLI_EXPLAIN_DRAFT_H
#define COMPILER_CLI_EXPLAIN_DRAFT_H

#include "compiler/cli/explain/explain_hunks.h"
#include "compiler/cli/workspace/inputs.h"

struct draft {
	struct arena *a;
	const struct inputs *in;
	const struct compilation *base; /* which in compiled to */
	const struct compilation *c;	/* of the last edits; or base */
	struct compilation own;
	VEC(struct front_text) texts;
	VEC(struct front_flag) flags;
	explain_texts left_out; /* flags: "-n github.com" */
};

/* As nothing was edited; a, in and base are set. draft_end() between two. */
void draft_begin(struct draft *d);
/* False when it is refused. */
must_check bool draft_compile(struct draft *d);
void draft_end(struct draft *d);

/* A file of lines, and not of YAML. */
bool draft_is_ignore_file(struct str name);
/* A file, that somebody here may change. */
bool draft_may_edit(const struct source *s);

/* One more item of a list: front/edit.h. A file that is not there begins. */
must_check bool draft_add(struct draft *d, struct str file, const char *key,
			  struct str item);
/* The same of a pattern, in a file of either kind; false for none. */
must_check bool draft_add_pattern(struct draft *d, struct str file,
				  const char *key, struct str line);
/* The rule, pattern, word or flag that was written there, under that key. */
must_check bool draft_remove(struct draft *d, struct span at, const char *key);
/* Both words of an argument. */
must_check bool draft_remove_arg(struct draft *d, const struct ir_origin *from);
must_check bool draft_remove_nth(struct draft *d, struct str file,
				 const char *key, uint32_t i);
must_check bool draft_replace(struct draft *d, struct span at, const char *key,
			      struct str item);
must_check bool draft_extend(struct draft *d, struct span at, const char *key,
			     struct str item);

#endif
