/*
 * Proofs that a policy permits nothing of a set: `never` in tests.
 *
 * By the cells of compare.h, cut by the set as well: a search through all
 * requests, and not a sample of them.
 */
#ifndef COMPILER_ALGEBRA_NEVER_H
#define COMPILER_ALGEBRA_NEVER_H

#include "compiler/algebra/decide.h"

/*
 * A request of the set that p, which is IR_NORMALISED, permits. False: there
 * is none, proved.
 *
 * A set of destinations holds connections, under a name or to an address (or
 * both, where p lets the name be resolved), requests of HTTP, and questions to
 * the resolver; one with methods, paths or a URL holds requests of HTTP alone,
 * one with ports no questions. '*' is every public address and every name, as
 * in a grant; no dest at all is private addresses as well. A path of the set
 * is a prefix, which no other spelling evades. An option of docker without a
 * value is every value of it.
 *
 * Where p is too large for a proof (limits.h) it answers true with a witness
 * whose text is empty.
 */
bool never_find(struct arena *a, const struct ir_policy *p,
		const struct ir_never *set, struct ir_request *out_witness,
		struct decision *out);

#endif
