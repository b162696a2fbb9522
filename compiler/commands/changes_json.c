#include "compiler/commands/changes_json.h"

static void put_words(cJSON *o, const char *key, struct str s)
{
	if (s.n)
		json_put_str(o, key, s);
}

static cJSON *decided(const struct decision *d)
{
	cJSON *o = json_object();

	json_put_bool(o, "allow", d->allow);
	json_put_cstr(o, "reason", reason_name(d->reason));
	return o;
}

static cJSON *one(const struct changes *x, const struct access_change *c)
{
	struct changes_words w = changes_words(x, c);
	cJSON *o = json_object();

	json_put_cstr(o, "change", changes_way_name(c->way));
	json_put_cstr(o, "kind", changes_kind_name(c->kind));
	json_put_str(o, "text", w.text);
	if (c->has_witness) {
		json_put_str(o, "witness", w.request);
		json_put(o, "was", decided(&c->was));
		json_put(o, "is", decided(&c->is));
	}
	put_words(o, "rule", w.rule);
	put_words(o, "rule_id", w.rule_id);
	json_put_cstr(o, "side", c->why_old ? "old" : "new");
	if (w.at.source) {
		put_words(o, "source", view_cleaned(x->a, w.at.source->name));
		json_put_u64(o, "line", w.at.line);
		json_put_u64(o, "column", w.at.column);
	}
	return o;
}

cJSON *changes_json(const struct changes *x)
{
	cJSON *list = json_array();

	vec_each(c, &x->found.changes)
		json_push(list, one(x, c));
	return list;
}

cJSON *changes_json_places(const struct changes *x)
{
	cJSON *list = json_array();

	vec_each(h, &x->places) {
		struct place at =
			sources_place(&x->now->sources, h->grant->from.at);
		cJSON *o = json_object();

		json_put_str(o, "dest", h->place->dest);
		json_put_cstr(o, "kind", third_party_kind_name(h->place->kind));
		json_put_str(o, "path", h->place->path);
		json_put_cstr(o, "what", h->place->what);
		json_put_cstr(o, "documented", h->place->source);
		json_put_str(o, "rule_id", h->grant->id);
		if (at.source) {
			put_words(o, "source",
				  view_cleaned(x->a, at.source->name));
			json_put_u64(o, "line", at.line);
			json_put_u64(o, "column", at.column);
		}
		json_push(list, o);
	}
	return list;
}
