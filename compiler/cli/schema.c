/* `membrane schema`: the JSON Schema of a policy or of its tests. */
#include "compiler/front/bind/schema.h"

#include "compiler/cli/frame/options.h"
#include "compiler/cli/text/console.h"

int command_schema(struct arena *a, const struct options *o)
{
	struct str word = o->words.n ? o->words.v[0] : STR("policy");

	if (str_is(word, "policy"))
		return console_result(schema_text(a, SCHEMA_POLICY));
	if (str_is(word, "tests"))
		return console_result(schema_text(a, SCHEMA_TESTS));
	console_error("membrane schema knows two: policy and tests");
	return STATUS_USAGE;
}
