/*
 * Rules of http, as requests are matched against them.
 */
#ifndef COMPILER_IR_HTTP_H
#define COMPILER_IR_HTTP_H

#include "compiler/ir/ir.h"

/* The rules of a grant; one that permits everything when it has none. */
struct http_rules {
	const struct ir_http *v;
	uint32_t n;
};
struct http_rules http_rules(struct arena *a, const struct ir_grant *g);

bool http_any_path(const struct ir_dest *d, const struct ir_http *h);
/*
 * The paths of a rule that has some, the URL's where it has none of its own;
 * none: the rule matches nothing. Without the '/' at the end, so that the root
 * is the empty string.
 */
ir_texts http_paths(struct arena *a, const struct ir_dest *d,
		    const struct ir_http *h);
/* Has the grant a path that matters? A method? */
bool http_has_paths(struct arena *a, const struct ir_grant *g);
bool http_has_methods(struct arena *a, const struct ir_grant *g);

/* Methods that people know, to tell a slip by; NULL behind the last. */
const char *http_known_method(size_t i);
/*
 * May a rule name it: one that people know, or another token of capitals that
 * is no slip of one? If not, *out_near is what may be meant, or NULL.
 */
bool http_method_fits(struct arena *a, struct str method,
		      const char **out_near);

#endif
