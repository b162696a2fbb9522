#include "compiler/cli/workspace/grantable.h"

#include "compiler/base/diag.h"
#include "compiler/base/source.h"
#include "compiler/front/word/dest.h"

bool grantable(struct arena *a, struct str name)
{
	struct sources none = {0};
	struct diags unsaid;
	struct pass_ctx ctx = {a, &none, &unsaid};
	struct text text = {.s = name};
	struct ir_dest dest;

	diags_init(&unsaid, a, &none);
	return dest_parse(&ctx, &text, &dest) && dest.kind == IR_DEST_HOST &&
	       !dest.has_port && str_eq(dest.u.host.name, name);
}
