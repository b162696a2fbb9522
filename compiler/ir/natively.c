#include "compiler/ir/natively.h"

#include "compiler/ir/image.h"
#include "compiler/ir/upstream.h"

bool natively_alone(const struct ir_policy *p, size_t i, struct natively *out)
{
	struct natively all[2];
	size_t n = 0;

	if (image_is_own(p->image.v))
		all[n++] = (struct natively){p->image.from,
					     "a root of your own",
					     "the name of an image"};
	if (upstream_on_loopback(&p->upstream))
		all[n++] = (struct natively){
			p->upstream.from, "a proxy on loopback",
			"an address of the proxy's that is not loopback"};
	if (i >= n)
		return false;
	if (out)
		*out = all[i];
	return true;
}

bool natively_runs(const struct ir_policy *p)
{
	if (p->engine.v == IR_ENGINE_AUTO)
		return natively_alone(p, 0, NULL);
	return p->engine.v == IR_ENGINE_NATIVE;
}
