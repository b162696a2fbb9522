/*
 * A YAML tree to the typed policy, by the schema (grammar/schema.def).
 *
 * Everything wrong is reported at its place, and binding goes on at the next
 * item; a value or an entry in which something is wrong is left out.
 */
#ifndef COMPILER_FRONT_BIND_BIND_H
#define COMPILER_FRONT_BIND_BIND_H

#include "compiler/front/yaml/yaml.h"
#include "compiler/ir/doc.h"

/*
 * Bind one document. root may be NULL: an empty policy. *extends gets the
 * items of `extends`, which is no part of the policy. False when an error was
 * reported.
 */
must_check bool bind_policy(struct pass_ctx *c, enum layer layer,
			    const struct yaml_node *root, struct ir_policy *out,
			    ir_texts *extends);

/* Bind a file of tests alone: the keys of `tests`, added to *out. */
must_check bool bind_tests(struct pass_ctx *c, enum layer layer,
			   const struct yaml_node *root, struct ir_tests *out);

/*
 * Bind one value as if it stood under a top-level key of the schema: what the
 * command line needs. Of a list it is an item.
 */
must_check bool bind_flag(struct pass_ctx *c, enum layer layer, const char *key,
			  const struct text *value, struct ir_policy *out);

#endif
