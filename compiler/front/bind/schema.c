#include "compiler/front/bind/schema.h"

#include "compiler/base/ascii.h"
#include "compiler/base/json.h"
#include "compiler/base/limits.h"
#include "compiler/front/bind/bind_keys.h"

#include <stdlib.h>
#include <string.h>

/* --- grammar/schema.def as tables ---------------------------------------- */

enum shape { SHAPE_WORD, SHAPE_LIST, SHAPE_MAPPING, SHAPE_EITHER, SHAPE_OPEN };

/* As in "$defs/grant". */
static const struct {
	const char *name, *where;
} maps[] = {
#define MAP(name, where, prefix) {#name, where},
#include "grammar/schema.def"
};

static const struct {
	const char *name;
	enum shape shape;
	unsigned max;
	const char *what;
} types[] = {
#define TYPE(name, shape, max, what) {#name, SHAPE_##shape, max, what},
#include "grammar/schema.def"
};

static const struct {
	enum bind_type type;
	const char *word;
} words[] = {
#define WORD(type, word) {BIND_TYPE_##type, word},
#include "grammar/schema.def"
};

static const struct {
	enum bind_type type, item;
} items[] = {
#define ITEM(type, item) {BIND_TYPE_##type, BIND_TYPE_##item},
#include "grammar/schema.def"
};

static const struct {
	enum bind_type type;
	enum bind_map map;
} item_maps[] = {
#define ITEM_MAP(type, map) {BIND_TYPE_##type, BIND_MAP_##map},
#include "grammar/schema.def"
};

static const enum bind_type filled[] = {
#define FILLED(type) BIND_TYPE_##type,
#include "grammar/schema.def"
};

static const struct {
	enum bind_type type;
	const char *regex;
} forms[] = {
#define FORM(type, regex) {BIND_TYPE_##type, regex},
#include "grammar/schema.def"
};

static const struct {
	enum bind_type type;
	const char *kind, *min, *max;
} numbers[] = {
#define NUMBER(type, kind, min, max) {BIND_TYPE_##type, kind, min, max},
#include "grammar/schema.def"
};

/* --- words --------------------------------------------------------------- */

/* Where the schema of a map or of a word is: "#/$defs/dest". Both share the
 * names; those of maps end in "_keys". */
static cJSON *ref_schema(struct arena *a, const char *name, const char *tail)
{
	cJSON *o = json_object();

	json_put_str(o, "$ref",
		     arena_fmt(a, "#/$defs/%s%s",
			       ascii_lower(a, str_of(name)).p, tail));
	return o;
}

static cJSON *map_ref(struct arena *a, enum bind_map map)
{
	return ref_schema(a, maps[map].name, "_keys");
}

static cJSON *type_ref(struct arena *a, enum bind_type type)
{
	return ref_schema(a, types[type].name, "");
}

/* What a word without a form may be written as: text that happens to look
 * like a number or a switch is text all the same. */
static void put_any_word(cJSON *o)
{
	static const char *const kinds[] = {"string", "number", "boolean"};
	cJSON *list = json_array();

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		json_push_str(list, str_of(kinds[i]));
	json_put(o, "type", list);
}

static void put_choice(cJSON *o, enum bind_type type)
{
	cJSON *list = json_array();

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (words[i].type == type)
			json_push_str(list, str_of(words[i].word));
	json_put(o, "enum", list);
}

/* Patterns and presets are names of files, and 2026 is one. */
static bool is_free_text(enum bind_type type)
{
	return type == BIND_TYPE_PATTERN || type == BIND_TYPE_NEVER_FILES ||
	       type == BIND_TYPE_FILE_NAME || type == BIND_TYPE_IMAGE ||
	       type == BIND_TYPE_NAME || type == BIND_TYPE_FILTER ||
	       type == BIND_TYPE_ARG;
}

/* patternErrorMessage: what editors show instead of the expression. */
static void put_form(struct arena *a, cJSON *o, enum bind_type type)
{
	const char *number = NULL;

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (numbers[i].type == type) {
			number = numbers[i].kind;
			json_put(o, "minimum", cJSON_CreateRaw(numbers[i].min));
			json_put(o, "maximum", cJSON_CreateRaw(numbers[i].max));
		}
	if (is_free_text(type)) {
		put_any_word(o);
	} else if (number) {
		cJSON *list = json_array();

		json_push_str(list, STR("string"));
		json_push_str(list, str_of(number));
		json_put(o, "type", list);
	} else {
		json_put_cstr(o, "type", "string");
	}
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (forms[i].type == type) {
			json_put_cstr(o, "pattern", forms[i].regex);
			json_put_str(o, "patternErrorMessage",
				     arena_fmt(a, "not %s", types[type].what));
		}
	json_put_u64(o, "maxLength", LIMIT_SCALAR_BYTES);
}

static cJSON *word_schema(struct arena *a, enum bind_type type)
{
	cJSON *o = json_object();

	json_put_cstr(o, "description", types[type].what);
	if (type == BIND_TYPE_BOOL) {
		json_put_cstr(o, "type", "boolean");
		return o;
	}
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (words[i].type == type) {
			put_choice(o, type);
			return o;
		}
	put_form(a, o, type);
	return o;
}

/* --- lists --------------------------------------------------------------- */

/* What a list may hold, or a MAPPING is: at least one of the two. */
static cJSON *item_schema(struct arena *a, enum bind_type type)
{
	cJSON *any = json_array(), *o;

	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		if (items[i].type == type)
			json_push(any, type_ref(a, items[i].item));
	for (size_t i = 0; i < ARRAY_LEN(item_maps); i++)
		if (item_maps[i].type == type)
			json_push(any, map_ref(a, item_maps[i].map));
	if (cJSON_GetArraySize(any) == 1) {
		o = cJSON_DetachItemFromArray(any, 0);
		cJSON_Delete(any);
		return o;
	}
	o = json_object();
	json_put(o, "anyOf", any);
	return o;
}

static cJSON *list_schema(struct arena *a, enum bind_type type)
{
	cJSON *o = json_object();

	json_put_cstr(o, "type", "array");
	json_put(o, "items", item_schema(a, type));
	for (size_t i = 0; i < ARRAY_LEN(filled); i++)
		if (filled[i] == type)
			json_put_u64(o, "minItems", 1);
	json_put_u64(o, "maxItems", types[type].max);
	return o;
}

static bool takes_word(enum shape shape)
{
	return shape == SHAPE_WORD || shape == SHAPE_OPEN;
}

/* That, or a mapping of the type. */
static cJSON *or_mapping(struct arena *a, enum bind_type type, cJSON *that)
{
	cJSON *o = json_object(), *any = json_array();

	json_push(any, that);
	for (size_t i = 0; i < ARRAY_LEN(item_maps); i++)
		if (item_maps[i].type == type)
			json_push(any, map_ref(a, item_maps[i].map));
	json_put(o, "anyOf", any);
	return o;
}

/* What a value of the type is: a reference, or a list of references. */
static cJSON *value_schema(struct arena *a, enum bind_type type)
{
	switch (types[type].shape) {
	case SHAPE_WORD:
		return type_ref(a, type);
	case SHAPE_LIST:
		return list_schema(a, type);
	case SHAPE_MAPPING:
		return item_schema(a, type);
	case SHAPE_EITHER:
		return or_mapping(a, type, list_schema(a, type));
	case SHAPE_OPEN:
		return or_mapping(a, type, type_ref(a, type));
	}
	abort();
}

/* --- mappings ------------------------------------------------------------ */

static cJSON *names_of(const char *key, cJSON *take_names)
{
	cJSON *o = json_object();

	json_put(o, key, take_names);
	return o;
}

static cJSON *both_keys(const struct bind_key *k, const struct bind_key *other)
{
	cJSON *names = json_array();

	json_push_str(names, str_of(k->name));
	json_push_str(names, str_of(other->name));
	return names_of("not", names_of("required", names));
}

/* "not network.allow beside allow": one setting on two levels. */
static cJSON *not_below(const struct bind_key *k, const struct bind_key *outer,
			const struct bind_key *inner)
{
	cJSON *names = json_array(), *below = json_array();
	cJSON *o = json_object(), *of = json_object();

	json_push_str(names, str_of(k->name));
	json_push_str(names, str_of(outer->name));
	json_put(o, "required", names);
	json_push_str(below, str_of(inner->name));
	json_put(of, outer->name, names_of("required", below));
	json_put(o, "properties", of);
	return names_of("not", o);
}

/* Keys of one setting exclude each other. */
static void push_exclusions(cJSON *all, enum bind_map map)
{
	bind_each_key(k)
		bind_each_key(other)
			if (k < other && k->map == map && other->map == map &&
			    strcmp(k->setting, other->setting) == 0)
				json_push(all, both_keys(k, other));
}

/* So do those of the top level and of `network`. */
static void push_network(cJSON *all)
{
	const struct bind_key *network = bind_keys;

	while (network->type != BIND_TYPE_NETWORK)
		network++;
	bind_each_key(k)
		bind_each_key(inner)
			if (k->map == BIND_MAP_POLICY &&
			    inner->map == BIND_MAP_NETWORK &&
			    strcmp(k->setting, inner->setting) == 0)
				json_push(all, not_below(k, network, inner));
}

/* An entry of never with a key that stands alone in it. */
static void push_alone(cJSON *all)
{
	static const enum bind_type alone[] = {BIND_TYPE_NEVER_FILES,
					       BIND_TYPE_NEVER_ARG};

	bind_each_key(k)
		for (size_t t = 0; t < ARRAY_LEN(alone); t++) {
			cJSON *names, *o, *most;

			if (k->map != BIND_MAP_NEVER || k->type != alone[t])
				continue;
			names = json_array();
			json_push_str(names, str_of(k->name));
			o = json_object();
			json_put(o, "if", names_of("required", names));
			most = json_object();
			json_put_u64(most, "maxProperties", 1);
			json_put(o, "then", most);
			json_push(all, o);
		}
}

/* Is it the first of its setting? */
static bool begins_setting(const struct bind_key *key)
{
	bind_each_key(k)
		if (k < key && k->map == key->map &&
		    strcmp(k->setting, key->setting) == 0)
			return false;
	return true;
}

/* Of the keys of a setting one has to be there. */
static void push_one(cJSON *all, const struct bind_key *first)
{
	cJSON *one = json_array();

	bind_each_key(k) {
		cJSON *names;

		if (k->map != first->map ||
		    strcmp(k->setting, first->setting) != 0)
			continue;
		names = json_array();
		json_push_str(names, str_of(k->name));
		json_push(one, names_of("required", names));
	}
	json_push(all, names_of("anyOf", one));
}

static void put_all(cJSON *o, enum bind_map map)
{
	cJSON *all = json_array();

	bind_each_key(k)
		if (k->map == map && k->flags & BIND_KEY_ONE &&
		    begins_setting(k))
			push_one(all, k);
	push_exclusions(all, map);
	if (map == BIND_MAP_POLICY)
		push_network(all);
	if (map == BIND_MAP_NEVER)
		push_alone(all);
	if (all->child)
		json_put(o, "allOf", all);
	else
		cJSON_Delete(all);
}

static void put_required(cJSON *o, enum bind_map map)
{
	cJSON *names = json_array();

	bind_each_key(k)
		if (k->map == map && k->flags & BIND_KEY_MUST)
			json_push_str(names, str_of(k->name));
	if (names->child)
		json_put(o, "required", names);
	else
		cJSON_Delete(names);
	if (map == BIND_MAP_NEVER)
		json_put_u64(o, "minProperties", 1);
}

static void put_map(struct arena *a, cJSON *o, enum bind_map map)
{
	cJSON *properties = json_object();

	json_put_cstr(o, "type", "object");
	bind_each_key(k) {
		cJSON *v;

		if (k->map != map)
			continue;
		v = value_schema(a, k->type);
		json_put(v, "description",
			 json_str(arena_fmt(
				 a, "%s%s", k->about,
				 k->flags & BIND_KEY_GLOBAL
					 ? "; in the global file alone"
					 : "")));
		json_put(properties, k->name, v);
	}
	json_put(o, "properties", properties);
	json_put_bool(o, "additionalProperties", false);
	put_required(o, map);
	put_all(o, map);
}

/* --- the whole ----------------------------------------------------------- */

/* What can be reached from a root, so that nothing is defined for nobody. */
struct reach {
	bool map[BIND_MAPS], type[BIND_TYPES];
};

static void reach_map(struct reach *r, enum bind_map map);

static void reach_type(struct reach *r, enum bind_type type)
{
	if (r->type[type])
		return;
	r->type[type] = true;
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		if (items[i].type == type)
			reach_type(r, items[i].item);
	for (size_t i = 0; i < ARRAY_LEN(item_maps); i++)
		if (item_maps[i].type == type)
			reach_map(r, item_maps[i].map);
}

static void reach_map(struct reach *r, enum bind_map map)
{
	r->map[map] = true;
	bind_each_key(k)
		if (k->map == map)
			reach_type(r, k->type);
}

static cJSON *all_defs(struct arena *a, enum bind_map root)
{
	cJSON *o = json_object();
	struct reach reach = {0};

	reach_map(&reach, root);
	for (int i = 0; i < BIND_MAPS; i++) {
		struct str name;
		cJSON *map;

		if (!reach.map[i] || i == (int)root)
			continue;
		map = json_object();
		json_put_cstr(map, "description", maps[i].where);
		put_map(a, map, (enum bind_map)i);
		name = arena_fmt(a, "%s_keys", maps[i].name);
		json_put(o, ascii_lower(a, name).p, map);
	}
	for (int i = 0; i < BIND_TYPES; i++)
		if (reach.type[i] && takes_word(types[i].shape))
			json_put(o, ascii_lower(a, str_of(types[i].name)).p,
				 word_schema(a, (enum bind_type)i));
	return o;
}

struct str schema_text(struct arena *a, enum schema_file file)
{
	enum bind_map root =
		file == SCHEMA_POLICY ? BIND_MAP_POLICY : BIND_MAP_TESTS;
	cJSON *o = json_object();

	json_put_cstr(o, "$schema",
		      "https://json-schema.org/draft/2020-12/schema");
	json_put_cstr(o, "title",
		      file == SCHEMA_POLICY ? "A policy of membrane"
					    : "Tests of a policy of membrane");
	json_put_cstr(o, "$comment",
		      file == SCHEMA_POLICY
			      ? "written by 'membrane schema'"
			      : "written by 'membrane schema tests'");
	put_map(a, o, root);
	json_put(o, "$defs", all_defs(a, root));
	return json_text(a, o);
}
