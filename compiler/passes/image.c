/*
 * `image` with the native engine, which runs what the machine has: that of an
 * agent's profile says where Docker finds the program, and no more. What a
 * person wrote counts as ever, and is for the engine to refuse.
 */
#include "compiler/passes/parts.h"

#include "compiler/ir/natively.h"
#include "compiler/plan/docker_json.h"

void image_settle(struct pass_ctx *c, struct ir_policy *p)
{
	const struct source *from = sources_of(c->sources, p->image.from.at);

	if (!natively_runs(p) || !from || !source_is_preset(from))
		return;
	p->image_spared = p->image;
	p->image = p->image_written.set
			   ? p->image_written
			   : (ir_opt_str){.set = true,
					  .v = STR(DOCKER_JSON_IMAGE_AGENT)};
}
