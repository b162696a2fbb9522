/*
 * Explanations for programs: one JSON object, described in doc/json.md. Members
 * are added; none changes its meaning under one "version".
 */
#include "compiler/cli/explain/explain_view.h"

#include "compiler/cli/review/changes.h"
#include "compiler/cli/text/place_json.h"
#include "compiler/ir/text.h"

static cJSON *rule_json(const struct compilation *c,
			const struct explain_rule *r)
{
	cJSON *o = json_object();

	json_put_cstr(o, "kind", explain_kind_name(r->kind));
	json_put_str(o, "text", r->text);
	if (r->id.n)
		json_put_str(o, "id", r->id);
	json_put_cstr(o, "verdict", verdict_name(r->verdict));
	json_put_cstr(o, "reason", reason_name(r->reason));
	json_put_cstr(o, "layer", layer_name(r->from->layer));
	place_json_span(o, &c->sources, r->from->at);
	return o;
}

static cJSON *texts_json(const explain_texts *list)
{
	cJSON *out = json_array();

	vec_each(s, list)
		json_push_str(out, *s);
	return out;
}

static cJSON *effects_json(const struct explain_edit *x)
{
	cJSON *list = json_array();

	vec_each(e, &x->effects) {
		cJSON *o = json_object();

		json_put_cstr(o, "change", changes_way_name(e->way));
		json_put_str(o, "text", e->text);
		json_push(list, o);
	}
	return list;
}

static cJSON *edits_json(const struct explain_flip *flip)
{
	cJSON *list = json_array();

	vec_each(x, &flip->edits) {
		cJSON *o = json_object(), *changes = json_array();

		vec_each(h, &x->hunks) {
			cJSON *one = json_object();

			json_put_str(one, "file", h->file);
			json_put_u64(one, "line", h->line);
			json_put_bool(one, "new", h->is_new);
			json_put(one, "removed", texts_json(&h->gone));
			json_put(one, "added", texts_json(&h->come));
			json_push(changes, one);
		}
		json_put(o, "changes", changes);
		json_put(o, "left_out", texts_json(&x->left_out));
		json_put(o, "effects", effects_json(x));
		json_push(list, o);
	}
	return list;
}

static cJSON *words_json(const char *const *v, uint32_t n)
{
	cJSON *list = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_push_str(list, str_of(v[i]));
	return list;
}

/* Paths may hold any byte; JSON is UTF-8. */
static struct str utf8_text(struct arena *a, struct str s)
{
	for (size_t i = 0; i < s.n; i += str_utf8(s, i))
		if (str_utf8(s, i) == 0)
			return view_cleaned(a, s);
	return s;
}

static cJSON *held_json(const struct explain_held *h)
{
	cJSON *o = json_object();

	json_put_str(o, "text", h->text);
	if (h->source.n) {
		json_put_str(o, "source", h->source);
		json_put_u64(o, "line", h->line);
	}
	return o;
}

cJSON *explain_json_one(const struct compilation *c,
			const struct explanation *e,
			const struct explain_flip *flip)
{
	cJSON *o = json_object(), *others = json_array();
	cJSON *lines = json_array();

	vec_each(r, &e->others)
		json_push(others, rule_json(c, r));
	vec_each(l, &e->lines) {
		cJSON *one = json_object();

		json_put_cstr(one, "file", l->file);
		json_put_u64(one, "line", l->line);
		json_put_str(one, "text", str_trim(l->text));
		json_push(lines, one);
	}
	json_put_str(o, "request",
		     utf8_text(c->a, ir_request_text(c->a, e->request)));
	json_put_cstr(o, "verdict", verdict_name(e->decision.verdict));
	json_put_cstr(o, "reason", reason_name(e->decision.reason));
	json_put_cstr(o, "about", explain_model_about(e));
	json_put(o, "rule",
		 e->has_rule ? rule_json(c, &e->rule) : cJSON_CreateNull());
	json_put(o, "held",
		 e->held.text.n ? held_json(&e->held) : cJSON_CreateNull());
	json_put(o, "others", others);
	json_put(o, "artefacts", lines);
	json_put(o, "edits", edits_json(flip));
	json_put(o, "notes", words_json(flip->notes.v, flip->notes.n));
	json_put(o, "assumed", words_json(e->assumed.v, e->assumed.n));
	return o;
}

struct str explain_json(struct arena *a, cJSON *take_requests)
{
	cJSON *root = json_object();

	json_put_u64(root, "version", EXPLAIN_JSON_VERSION);
	json_put(root, "requests", take_requests);
	return json_shown(a, root);
}
