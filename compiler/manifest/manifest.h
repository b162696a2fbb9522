/*
 * Manifests, read back: the documents of a text as trees whose nodes know the
 * lines that they stand in.
 *
 * For those who hold bytes against a policy that wrote them. Of YAML it takes
 * what a writer of manifests has use for: maps with texts for keys, each once,
 * lists and scalars. No anchors, aliases, tags or merge keys: what was edited
 * by hand into one of these is refused, and not guessed. What a key means is
 * the caller's business.
 */
#ifndef COMPILER_MANIFEST_MANIFEST_H
#define COMPILER_MANIFEST_MANIFEST_H

#include "compiler/base/arena.h"
#include "compiler/base/str.h"

enum manifest_kind { MANIFEST_TEXT, MANIFEST_LIST, MANIFEST_MAP };

struct manifest_member {
	struct str key; /* of a map; of an item of a list it is empty */
	uint32_t line;	/* from 1 */
	struct manifest_node *value;
};

struct manifest_node {
	enum manifest_kind kind;
	bool plain;	 /* a scalar without quotes: 443 is a number */
	uint32_t line;	 /* from 1 */
	struct str text; /* of a scalar */
	VEC(struct manifest_member) members;
};

struct manifest {
	VEC(struct manifest_node *) documents;
};

struct manifest_fault {
	uint32_t line;
	struct str what;
};

/*
 * All memory is the arena's; text may go afterwards. False, with *fault, where
 * it is no YAML, not of the kind above, larger than LIMIT_PLAN_BYTES or deeper
 * than LIMIT_YAML_DEPTH, or has more than LIMIT_DERIVED_NODES nodes.
 */
must_check bool manifest_documents(struct arena *a, struct str text,
				   struct manifest *out,
				   struct manifest_fault *fault);

/* That member of a map; NULL where there is none, or n is NULL or no map. */
const struct manifest_node *manifest_get(const struct manifest_node *n,
					 const char *key);
/* A text of a scalar, empty where there is none. */
struct str manifest_text(const struct manifest_node *n);
/* Is it a number that is written as one, of at most max? */
bool manifest_number(const struct manifest_node *n, uint64_t max,
		     uint64_t *out);

#endif
