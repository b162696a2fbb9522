/*
 * YAML text to a tree whose every node knows its bytes.
 *
 * One document, mappings with plain words for keys, no tags, no merge keys.
 * Anchors and aliases work: an aliased node is the node itself (its place is
 * where it was written), and what the aliases expand to is bounded. What the
 * words mean is the binder's business: here `yes` is text like any other.
 */
#ifndef COMPILER_FRONT_YAML_YAML_H
#define COMPILER_FRONT_YAML_YAML_H

#include "compiler/base/diag.h"
#include "compiler/base/text.h"

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_pair {
	struct text key;
	struct yaml_node *value;
};

struct yaml_node {
	enum yaml_kind kind;
	bool plain;	 /* scalar: without quotes, not a block */
	uint16_t height; /* 1 for a scalar */
	uint32_t close; /* of "[…]" and "{…}": where its last byte is; or 0 */
	uint32_t size;	       /* nodes in it, aliases counted expanded */
	struct text text;      /* scalar: its value; else only its place */
	VEC(struct span) uses; /* where aliases of it stand, in their order */
	VEC(struct yaml_node *) items;
	VEC(struct yaml_pair) pairs;
};

/*
 * Parse one source, which must be in sources already. False after reporting.
 * *out is NULL for a text without a document (empty, or comments alone).
 */
must_check bool yaml_parse(struct arena *a, struct diags *d,
			   const struct source *src, struct yaml_node **out);

/* The encoding alone, for texts that are not YAML: UTF-8, no BOM, NUL,
 * carriage return or other control byte but tab and LF. */
must_check bool yaml_check_bytes(struct diags *d, const struct source *src);

/* A plain scalar that YAML means null by: "", ~, null, Null, NULL. */
bool yaml_is_null(const struct yaml_node *n);

#endif
