/*
 * Who git takes the user for, as `run` would hand it in: of this host and this
 * workspace, and in no artefact.
 */
#include "compiler/cli/plan/parts.h"

void plan_identity_view(const struct view *v, const struct gitidentity *g)
{
	struct arena *a = v->out->a;

	if (g->values.n + g->notes.n == 0)
		return;
	view_title(v, "who git takes you for, readable inside", g->values.n,
		   g->values.n ? "value" : NULL);
	vec_each(one, &g->values)
		view_row(v, 2, VIEW_PLAIN,
			 arena_fmt(a, "%s: %s", one->key,
				   view_cleaned(a, one->value).p),
			 view_cleaned(a, one->source));
	vec_each(note, &g->notes) {
		view_paragraph(v, view_cleaned(a, *note));
	}
}

cJSON *plan_identity_json(struct arena *a, const struct gitidentity *g)
{
	cJSON *o = json_object(), *values = json_array(), *notes = json_array();

	vec_each(v, &g->values) {
		cJSON *one = json_object();

		json_put_cstr(one, "key", v->key);
		json_put_str(one, "value", view_cleaned(a, v->value));
		json_put_str(one, "source", view_cleaned(a, v->source));
		json_push(values, one);
	}
	vec_each(note, &g->notes)
		json_push_str(notes, view_cleaned(a, *note));
	json_put(o, "values", values);
	json_put(o, "left_out", notes);
	return o;
}
