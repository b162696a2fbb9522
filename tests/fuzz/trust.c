/*
 * trust.json: any bytes are refused whole, or are entries within their bounds
 * that are found by what they hold.
 */
#include "compiler/base/limits.h"
#include "compiler/cli/trust/trust_store.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct str text = {(const char *)data, size};
	struct trust_store s;
	struct err err;
	int rc = trust_store_parse(a, "trust.json", text, &s, &err);

	if ((rc < 0 && s.entries.n) || s.entries.n > LIMIT_TRUST_ENTRIES)
		abort();
	vec_each(e, &s.entries) {
		const struct trust_entry *found =
			trust_store_find(&s, e->workspace, e->digest);

		if (!found || found > e || e->workspace.p[0] != '/' ||
		    e->digest.n != SHA256_HEX_MAX - 1 ||
		    e->adds.n > LIMIT_TRUST_ADDS)
			abort();
	}
	arena_free(a);
	return 0;
}
