/*
 * What the gate enforces, as one plan says it: the first at the start, others
 * in its place while the session runs.
 */
#ifndef RUNTIME_GATE_GENERATION_H
#define RUNTIME_GATE_GENERATION_H

#include "runtime/gate/l7/l7.h"
#include "runtime/gate/plan/names.h"
#include "runtime/gate/record/provenance.h"

struct generation {
	uint32_t number; /* from 1 */
	struct str ruleset; /* empty: packets are not filtered */
	struct names_map names;
	struct provenance provenance;
};

/*
 * Read a plan: l7 gets HAProxy's part. Both are zeroed; on failure nothing is
 * left allocated.
 *
 * filters  it has a ruleset
 * host     the resolver that the host asks, for a plan that wants it; NULL: the
 *          launcher named none, and such a plan is refused
 */
must_check int generation_load(const char *plan, bool filters,
			       const struct addr *host, struct generation *out,
			       struct l7_plan *l7, struct err *err);
void generation_free(struct generation *g);

#endif
