/* What objects have besides what they were given: the rows of defaults.def. */
#include "compiler/cli/cluster/parts.h"

#include <stdlib.h>
#include <string.h>

#define ANY NULL

struct row {
	const char *place, *key, *value;
};

#define PLACE(map, key, below) {map, key, below},
#define DEFAULT(map, key, json)
#define LEFT_OUT(map, key)
#define NOT_YET(map, key)
#define ITEMS(list, member)
static const struct row places[] = {
#include "compiler/cli/cluster/defaults.def"
};
#undef PLACE
#undef DEFAULT
#define PLACE(map, key, below)
#define DEFAULT(map, key, json) {map, key, json},
static const struct row defaults[] = {
#include "compiler/cli/cluster/defaults.def"
};
#undef DEFAULT
#undef LEFT_OUT
#define DEFAULT(map, key, json)
#define LEFT_OUT(map, key) {map, key, NULL},
static const struct row left_out[] = {
#include "compiler/cli/cluster/defaults.def"
};
#undef LEFT_OUT
#undef NOT_YET
#define LEFT_OUT(map, key)
#define NOT_YET(map, key) {map, key, NULL},
static const struct row not_yet[] = {
#include "compiler/cli/cluster/defaults.def"
};
#undef NOT_YET
#undef ITEMS
#define NOT_YET(map, key)
#define NOT_YET(map, key)
#define ITEMS(list, member) {list, member, NULL},
static const struct row items[] = {
#include "compiler/cli/cluster/defaults.def"
};

const char *default_below(struct arena *a, const char *place, const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (strcmp(places[i].place, place) == 0 &&
		    strcmp(places[i].key, key) == 0)
			return places[i].value;
	return arena_fmt(a, "%s%s%s", place, *key == '[' ? "" : ".", key).p;
}

static bool is_key(const char *row, const char *key)
{
	size_t n = strlen(row);

	return row[n - 1] == '*' ? strncmp(row, key, n - 1) == 0
				 : strcmp(row, key) == 0;
}

static bool is_value(const char *json, const cJSON *value)
{
	cJSON *want = cJSON_Parse(json);
	bool same = cJSON_Compare(want, value, true);

	cJSON_Delete(want);
	return same;
}

bool default_holds(const char *place, const cJSON *member)
{
	for (size_t i = 0; i < ARRAY_LEN(defaults); i++)
		if (strcmp(defaults[i].place, place) == 0 &&
		    is_key(defaults[i].key, member->string))
			return !defaults[i].value ||
			       is_value(defaults[i].value, member);
	return false;
}

bool default_known(const char *place)
{
	size_t n = strlen(place);

	for (size_t i = 0; i < ARRAY_LEN(defaults); i++)
		if (strncmp(defaults[i].place, place, n) == 0 &&
		    (!defaults[i].place[n] || defaults[i].place[n] == '.'))
			return true;
	return false;
}

static bool is_nothing(const struct kube_node *node)
{
	switch (node->kind) {
	case KUBE_NODE_MAP:
	case KUBE_NODE_LIST:
		return node->items.n == 0;
	case KUBE_NODE_TEXT:
		return node->text.n == 0;
	case KUBE_NODE_NUMBER:
		return false;
	case KUBE_NODE_BOOL:
		return !node->truth;
	}
	abort();
}

static bool has_row(const struct row *rows, size_t n, const char *place,
		    const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].place, place) == 0 &&
		    strcmp(rows[i].key, key) == 0)
			return true;
	return false;
}

bool default_left_out(const char *place, const struct kube_node *node)
{
	if (has_row(not_yet, ARRAY_LEN(not_yet), place, node->key))
		return true;
	return has_row(left_out, ARRAY_LEN(left_out), place, node->key) &&
	       is_nothing(node);
}

const char *default_items(const char *place)
{
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		if (strcmp(items[i].place, place) == 0)
			return items[i].key;
	return NULL;
}
