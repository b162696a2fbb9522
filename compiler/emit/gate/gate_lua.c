/* gate.lua: one text for all policies, and one more where there are sentinels.
 */
#include "compiler/emit/gate/gate_cfg.h"

/* Line by line, each a string: see the Makefile. */
static const char lua[] =
#include "compiler/emit/gate/gate.lua.inc"
	;

static const char tokens[] =
#include "compiler/emit/gate/tokens.lua.inc"
	;

bool gate_lua_emit(const struct emit_in *in, struct buf *out)
{
	bool wanted = false;

	buf_adds(out, lua);
	vec_each(x, &in->policy->credentials)
		wanted |= x->fields.n > 0;
	if (wanted)
		buf_adds(out, tokens);
	return true;
}
