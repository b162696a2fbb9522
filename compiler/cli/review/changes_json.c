#include "compiler/cli/review/changes_json.h"

#include "compiler/cli/text/place_json.h"
#include "compiler/ir/text.h"

#include <stdlib.h>

static void put_words(cJSON *o, const char *key, struct str s)
{
	if (s.n)
		json_put_str(o, key, s);
}

static cJSON *decision_json(const struct decision *d)
{
	cJSON *o = json_object();

	json_put_bool(o, "allow", d->verdict == VERDICT_ALLOW);
	json_put_cstr(o, "verdict", verdict_name(d->verdict));
	json_put_cstr(o, "reason", reason_name(d->reason));
	if (d->verdict == VERDICT_ASK)
		json_put_cstr(o, "for", ir_lasts_name(d->grant->lasts.v));
	return o;
}

static cJSON *texts_json(const struct changes *x, const ir_texts *list)
{
	cJSON *out = json_array();

	vec_each(t, list)
		json_push_str(out, view_cleaned(x->a, t->s));
	return out;
}

/* Schemes and, by path, methods: an absent list is every one. */
static void put_http(const struct changes *x, cJSON *o,
		     const struct access_set *set)
{
	cJSON *schemes = json_array(), *list = json_array();

	if (set->clear)
		json_push_str(schemes, STR("http"));
	if (set->tls)
		json_push_str(schemes, STR("https"));
	json_put(o, "schemes", schemes);
	vec_each(h, &set->http) {
		cJSON *one = json_object();

		json_put_str(one, "path", view_cleaned(x->a, h->path));
		if (!h->other)
			json_put(one, "methods", texts_json(x, &h->methods));
		json_push(list, one);
	}
	json_put(o, "http", list);
	if (set->crooked)
		json_put_bool(o, "canonical", false);
}

/* Nothing is left out of it, as the text does with long lists. */
static cJSON *set_of(const struct changes *x, const struct access_change *c)
{
	const struct access_set *set = &c->set;
	cJSON *o = json_object();

	json_put_str(o, "dest",
		     view_cleaned(x->a, ir_dest_text(x->a, &set->dest)));
	if (c->kind != ACCESS_RESOLVE)
		json_put_str(o, "ports", ir_ports_text(x->a, &set->ports));
	if (c->kind == ACCESS_HTTP)
		put_http(x, o, set);
	return o;
}

static bool has_set(const struct access_change *c)
{
	switch (c->kind) {
	case ACCESS_CONNECT:
	case ACCESS_QUIC:
	case ACCESS_HTTP:
	case ACCESS_RESOLVE:
		return c->has_witness;
	case ACCESS_READ:
	case ACCESS_WRITE:
	case ACCESS_ARG:
	case ACCESS_SETTING:
	case ACCESS_CALL:
		return false;
	}
	abort();
}

static cJSON *change_json(const struct changes *x,
			  const struct access_change *c)
{
	struct changes_words w = changes_words(x, c);
	cJSON *o = json_object();

	json_put_cstr(o, "change", changes_way_name(c->way));
	json_put_cstr(o, "kind", changes_kind_name(c->kind));
	json_put_str(o, "text", w.text);
	if (has_set(c))
		json_put(o, "set", set_of(x, c));
	if (c->has_witness) {
		json_put_str(o, "witness", w.request);
		json_put(o, "was", decision_json(&c->was));
		json_put(o, "is", decision_json(&c->is));
	}
	put_words(o, "rule", w.rule);
	put_words(o, "rule_id", w.rule_id);
	json_put_cstr(o, "side", c->why_old ? "old" : "new");
	place_json_put(x->a, o, w.at);
	if (w.before.n) {
		cJSON *before = json_object();

		put_words(before, "rule", w.before);
		put_words(before, "rule_id", w.before_id);
		place_json_put(x->a, before, w.before_at);
		json_put(o, "before", before);
	}
	return o;
}

cJSON *changes_json(const struct changes *x)
{
	cJSON *list = json_array();

	vec_each(c, &x->found.changes)
		json_push(list, change_json(x, c));
	return list;
}

cJSON *changes_json_kept(const struct changes *x)
{
	cJSON *list = json_array();

	vec_each(c, &x->found.kept)
		json_push(list, change_json(x, c));
	return list;
}

cJSON *changes_json_places(const struct changes *x)
{
	cJSON *list = json_array();

	vec_each(h, &x->places) {
		cJSON *o = json_object();

		json_put_str(o, "dest", h->place->dest);
		json_put_cstr(o, "kind", third_party_kind_name(h->place->kind));
		json_put_str(o, "path", h->place->path);
		json_put_cstr(o, "what", h->place->what);
		json_put_cstr(o, "documented", h->place->source);
		json_put_str(o, "rule_id", h->grant->id);
		place_json_span(o, &x->now->sources, h->grant->from.at);
		json_push(list, o);
	}
	return list;
}
