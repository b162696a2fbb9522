/* A difference of two policies, for programs. */
#include "compiler/cli/review/changes_json.h"
#include "compiler/cli/review/diff.h"

static cJSON *side_json(const struct diff *d, const struct operand *s)
{
	static const char *const kinds[] = {
		[OPERAND_FILE] = "file",
		[OPERAND_WORKSPACE] = "workspace",
		[OPERAND_PLAN] = "plan",
	};
	struct str remark = diff_remark(d->a, s);
	cJSON *o = json_object();

	json_put_str(o, "name", s->label);
	json_put_cstr(o, "kind", kinds[s->kind]);
	if (remark.n)
		json_put_str(o, "remark", remark);
	return o;
}

static cJSON *diff_pods_json(const struct diff *d)
{
	cJSON *list = json_array();

	vec_each(p, &d->pods) {
		cJSON *o = json_object();

		json_put_cstr(o, "way", changes_way_name(p->way));
		json_put_cstr(o, "file", p->file);
		json_put_str(o, "path", view_cleaned(d->a, p->path));
		if (p->was.n)
			json_put_str(o, "old", view_cleaned(d->a, p->was));
		if (p->is.n)
			json_put_str(o, "new", view_cleaned(d->a, p->is));
		json_push(list, o);
	}
	return list;
}

struct str diff_json(const struct diff *d)
{
	const struct changes *x = &d->access;
	cJSON *root = json_object();

	json_put_u64(root, "version", DIFF_JSON_VERSION);
	json_put(root, "old", side_json(d, d->old));
	json_put(root, "new", side_json(d, d->now));
	json_put_cstr(root, "verdict", changes_verdict_name(diff_verdict(d)));
	for (int w = 0; w <= ACCESS_OTHER; w++)
		json_put_u64(root, changes_way_name((enum access_way)w),
			     x->n[w]);
	json_put_u64(root, "unchanged", x->found.unchanged);
	json_put(root, "changes", changes_json(x));
	json_put(root, "unchanged_access", changes_json_kept(x));
	if (d->old->pods && d->now->pods)
		json_put(root, "pods", diff_pods_json(d));
	json_put(root, "third_parties", changes_json_places(x));
	return json_shown(d->a, root);
}
