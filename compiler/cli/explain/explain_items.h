/*
 * The YAML of rules that speak of one request alone.
 */
#ifndef COMPILER_CLI_EXPLAIN_EXPLAIN_ITEMS_H
#define COMPILER_CLI_EXPLAIN_EXPLAIN_ITEMS_H

#include "compiler/ir/ir.h"

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

#endif
