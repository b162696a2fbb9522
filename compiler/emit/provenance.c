#include "compiler/emit/provenance.h"

#include "compiler/base/json.h"

static void put_rules(const struct emit_in *in, cJSON *rules,
		      const ir_grants *grants)
{
	vec_each(g, grants) {
		struct place at = sources_place(in->sources, g->from.at);
		cJSON *o = json_object();

		json_put_str(o, "text", g->canon);
		json_put_cstr(o, "layer", layer_name(g->from.layer));
		json_put_str(o, "source",
			     at.source ? at.source->name : STR("builtin"));
		json_put_u64(o, "line", at.line);
		json_put_u64(o, "column", at.column);
		json_put(rules, g->id.p, o);
	}
}

bool provenance_emit(const struct emit_in *in, struct buf *out)
{
	cJSON *root = json_object(), *rules = json_object();

	json_put_u64(root, "version", 1);
	put_rules(in, rules, &in->policy->allow);
	put_rules(in, rules, &in->policy->deny);
	json_put(root, "rules", rules);
	json_add(out, root);
	return true;
}
