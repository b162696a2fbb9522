/*
 * What the edits of an explanation are made of: drafts, items, notes.
 */
#ifndef COMPILER_CLI_EXPLAIN_PARTS_H
#define COMPILER_CLI_EXPLAIN_PARTS_H

#include "compiler/cli/explain/explain_edits.h"
#include "compiler/cli/explain/explain_hunks.h"
#include "compiler/cli/workspace/inputs.h"
#include "compiler/ir/ir.h"

/* --- draft.c -------------------------------------------------------------- */

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

/* --- explain_items.c ------------------------------------------------------ */

/*
 * An item of allow or deny for what connects, asks or resolves; empty when
 * there is none. wider: all of the destination's port, where the request is
 * one of HTTP; the address, where it is one of a name and an address.
 */
struct str explain_items_grant(struct arena *a, const struct ir_request *r,
			       bool wider, bool deny);
/* A denial as it is but for the request's port; empty where that is not all
 * that it would take. */
struct str explain_items_carved(struct arena *a, const struct ir_request *r,
				const struct ir_grant *denial);
/* An item of a grant's ports; one of its rules of http. */
struct str explain_items_port(struct arena *a, const struct ir_request *r);
struct str explain_items_rule(struct arena *a, const struct ir_request *r);
/* Is the grant one of a single name or address? */
bool explain_items_exact(const struct ir_grant *g);
/* A pattern for one path: before, the path with its wildcards escaped, and
 * after. Empty when no pattern says it. */
struct str explain_items_pattern(struct arena *a, const char *before,
				 struct str path, const char *after);

/* --- explain_notes.c ------------------------------------------------------ */

/* The user's own file, as sources are named. */
#define EXPLAIN_GLOBAL STR("~/.membrane/config.yaml")

/* Into out->notes, of out->edits as they are. */
void explain_notes_find(struct arena *a, const struct compilation *c,
			const struct explanation *e, struct explain_flip *out);

#endif
