/* What an emitter of JSON writes of a test's policy. */
#ifndef TESTS_UNIT_EMIT_EMITTED_H
#define TESTS_UNIT_EMIT_EMITTED_H

#include "tests/check.h"
#include "tests/unit/policy.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

/* The policy, finished, in place of what *json had; false: it was refused. */
static bool emitted(struct test_policy *t,
		    bool (*emit)(const struct emit_in *, struct buf *),
		    cJSON **json)
{
	struct emit_in in;
	struct buf out;

	cJSON_Delete(*json);
	*json = NULL;
	if (!test_policy_done(t)) {
		test_policy_show(t);
		return false;
	}
	in = test_policy_in(t);
	buf_init(&out, t->a);
	if (!emit(&in, &out)) {
		if (getenv("VERBOSE"))
			test_policy_show(t);
		return false;
	}
	*json = cJSON_Parse(out.p);
	CHECK(*json);
	return true;
}

#endif
