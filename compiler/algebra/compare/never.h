/*
 * Proofs that a policy permits nothing of a set, and has nobody asked about it: `never` in tests.
 *
 * By the cells of compare.h, cut by the set as well: a search through all
 * requests, and not a sample of them.
 */
#ifndef COMPILER_ALGEBRA_COMPARE_NEVER_H
#define COMPILER_ALGEBRA_COMPARE_NEVER_H

#include "compiler/algebra/decide/decide.h"

/*
 * A request of the set that p, which is IR_NORMALISED, permits or has asked
 * about. False: there is none, proved.
 *
 * A set of destinations holds connections and requests of HTTP, under a name or
 * to an address (or both, where p lets the name be resolved), and questions to
 * the resolver; one with methods, paths or a URL holds requests alone, one with
 * ports no questions. A request to an address is in a set of addresses whatever
 * name it states; in a set of names where the name led to the address, and not
 * where it is only stated: which names answer in a network nobody knows. '*' is
 * every public address and every name, as in a grant; no dest at all is private
 * addresses as well. A path of the set is a prefix, which no other spelling
 * evades. An option of docker without a value is every value of it.
 *
 * Where p is too large for a proof (limits.h) it answers true with a witness
 * whose text is empty.
 */
bool never_find(struct arena *a, const struct ir_policy *p,
		const struct ir_never *set, struct ir_request *out_witness,
		struct decision *out);

#endif
