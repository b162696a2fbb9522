#include "runtime/gate/packet/fence.h"

#include "runtime/gate/packet/ruleset.h"

#define FENCE_TABLE "fence"

/* Before whatever else looks at a packet. As nft lists it: ruleset.h. */
static const char fence_text[] =
	"table inet " FENCE_TABLE " {\n"
	"	chain input {\n"
	"		type filter hook input priority -400; policy drop;\n"
	"		iif \"lo\" accept\n"
	"	}\n"
	"\n"
	"	chain forward {\n"
	"		type filter hook forward priority -400; policy drop;\n"
	"	}\n"
	"\n"
	"	chain output {\n"
	"		type filter hook output priority -400; policy drop;\n"
	"		oif \"lo\" accept\n"
	"	}\n"
	"}\n";

int fence_raise(struct err *err)
{
	int rc = ruleset_put("inet " FENCE_TABLE, STR(fence_text), err);

	return rc < 0 ? err_while(err, "the fence") : 0;
}

int fence_lift(struct err *err)
{
	int rc = ruleset_drop("inet " FENCE_TABLE, err);

	return rc < 0 ? err_while(err, "the fence") : 0;
}
