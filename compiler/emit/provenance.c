/*
 * provenance.json: from the id of a grant or a denial to what it says and
 * where it was written; likewise from a line of mounts.plan, and from a field
 * of a manifest to what made it. A line that moves changes this, the comments
 * that say the same in gate.cfg and ruleset.nft, and the digest of the source:
 * nothing that anybody decides by. Access is compared by policy.json.
 */
#include "compiler/emit/parts.h"

#include "compiler/base/json.h"
#include "compiler/emit/kubernetes/kube.h"
#include "compiler/plan/mounts_plan.h"
#include "compiler/plan/provenance_json.h"

static void put_rules(const struct emit_in *in, cJSON *rules,
		      const ir_grants *grants)
{
	vec_each(g, grants) {
		struct place at = sources_place(in->sources, g->from.at);
		cJSON *o = json_object();

		json_put_str(o, PROVENANCE_TEXT, g->canon);
		json_put_cstr(o, PROVENANCE_LAYER, layer_name(g->from.layer));
		json_put_str(o, PROVENANCE_SOURCE, at.source->name);
		json_put_u64(o, PROVENANCE_LINE, at.line);
		json_put_u64(o, PROVENANCE_COLUMN, at.column);
		json_put(rules, g->id.p, o);
	}
}

/* As an editor takes it, "FILE:LINE:COLUMN": somebody reads it. */
static void push_place(const struct emit_in *in, cJSON *list,
		       const struct ir_pattern *p)
{
	struct place at = sources_place(in->sources, p->from.at);

	json_push_str(list,
		      arena_fmt(in->a, "%.*s:%u:%u", STR_ARG(at.source->name),
				at.line, at.column));
}

static void put_lines(const struct emit_in *in, cJSON *files, const char *word,
		      const ir_patterns *patterns, bool held)
{
	cJSON *list = json_array();

	vec_each(p, patterns)
		if (!held || p->hold)
			push_place(in, list, p);
	json_put(files, word, list);
}

static void put_protected(const struct emit_in *in, cJSON *files)
{
	cJSON *list = json_array();

	vec_each(x, &in->policy->protect)
		vec_each(p, &x->files)
			push_place(in, list, p);
	json_put(files, MOUNTS_PLAN_PROTECT, list);
}

bool provenance_emit(const struct emit_in *in, struct buf *out)
{
	cJSON *root = json_object(), *rules = json_object();
	cJSON *files = json_object(), *fields;
	const struct ir_policy *p = in->policy;

	json_put_u64(root, PROVENANCE_VERSION_KEY, PROVENANCE_VERSION);
	put_rules(in, rules, &p->allow);
	put_rules(in, rules, &p->ask);
	put_rules(in, rules, &p->deny);
	json_put(root, PROVENANCE_RULES, rules);
	put_lines(in, files, MOUNTS_PLAN_IGNORE, &p->ignore, false);
	put_lines(in, files, MOUNTS_PLAN_READONLY, &p->readonly, false);
	put_lines(in, files, MOUNTS_PLAN_HOLD, &p->readonly, true);
	if (p->protect.n)
		put_protected(in, files);
	json_put(root, PROVENANCE_FILES, files);
	fields = in->kubernetes ? kube_fields(in) : NULL;
	if (fields)
		json_put(root, PROVENANCE_FIELDS, fields);
	json_add(out, root);
	return true;
}
