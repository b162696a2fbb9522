/*
 * provenance.json: from the id of a grant or a denial to what it says and
 * where it was written. A line that moves changes this, the comments that say
 * the same in gate.cfg and ruleset.nft, and the digest of the source: nothing
 * that anybody decides by. Access is compared by policy.json.
 */
#include "compiler/emit/parts.h"

#include "compiler/base/json.h"
#include "compiler/plan/provenance_json.h"

static void put_rules(const struct emit_in *in, cJSON *rules,
		      const ir_grants *grants)
{
	vec_each(g, grants) {
		struct place at = sources_place(in->sources, g->from.at);
		cJSON *o = json_object();

		json_put_str(o, PROVENANCE_TEXT, g->canon);
		json_put_cstr(o, PROVENANCE_LAYER, layer_name(g->from.layer));
		json_put_str(o, PROVENANCE_SOURCE,
			     at.source ? at.source->name : STR("builtin"));
		json_put_u64(o, PROVENANCE_LINE, at.line);
		json_put_u64(o, PROVENANCE_COLUMN, at.column);
		json_put(rules, g->id.p, o);
	}
}

bool provenance_emit(const struct emit_in *in, struct buf *out)
{
	cJSON *root = json_object(), *rules = json_object();

	json_put_u64(root, PROVENANCE_VERSION_KEY, PROVENANCE_VERSION);
	put_rules(in, rules, &in->policy->allow);
	put_rules(in, rules, &in->policy->deny);
	json_put(root, PROVENANCE_RULES, rules);
	json_add(out, root);
	return true;
}
