/*
 * One request of grammar/request.y, decided: what `explain`, `test`, `diff` and
 * the proofs call. Behind it stand the decisions of decide.h, each asked what
 * the part of the gate that sees the request would ask.
 */
#ifndef COMPILER_ALGEBRA_DECIDE_ASK_H
#define COMPILER_ALGEBRA_DECIDE_ASK_H

#include "compiler/algebra/decide/decide.h"

/*
 * a      for what is needed on the way; the answer points into p alone
 * p      IR_NORMALISED
 * files  decide_files_new() of p
 *
 * connect     with the address and the name that were given: decide_connect()
 * METHOD url at address, under a name that leads there or does not: packets
 *             first, then HAProxy
 * METHOD url  packets first, then HAProxy: over TLS for https, to a public
 *             address that this session resolved where a name was given
 * docker-arg  allowed when docker gets it, however it is spelled: an option
 *             alone is any value of it
 *
 * What is denied so, and permitted by the policy with one entry of `ask` among
 * its grants and nothing else changed, is VERDICT_ASK: of several such entries
 * that with the widest answer counts, of those alike that which waits longest.
 */
struct decision decide_asked(struct arena *a, const struct ir_policy *p,
			     const struct decide_files *files,
			     const struct ir_request *r);
/*
 * The same where p may be a part of a policy: unseen is what
 * inspection_unseen() says of the whole.
 */
struct decision decide_part(struct arena *a, const struct ir_policy *p,
			    bool unseen, const struct decide_files *files,
			    const struct ir_request *r);
#endif
