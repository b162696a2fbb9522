/* gate.lua, which is the same for all policies. */
#include "compiler/emit/gate/gate_cfg.h"

/* gate.lua, line by line, each a string: see the Makefile. */
static const char lua[] =
#include "compiler/emit/gate/gate.lua.inc"
	;

bool gate_lua_emit(const struct emit_in *in, struct buf *out)
{
	(void)in;
	buf_adds(out, lua);
	return true;
}
