#include "runtime/launch/view/written.h"

#include "compiler/base/json.h"
#include "compiler/plan/provenance_json.h"

struct section {
	struct str word;
	VEC(struct str) places;
};

struct written {
	VEC(struct section) sections;
};

static void take_section(struct arena *a, const cJSON *list,
			 struct section *out)
{
	const cJSON *item;

	out->word = arena_str(a, str_of(list->string));
	cJSON_ArrayForEach(item, list)
		*vec_push(a, &out->places) =
			cJSON_IsString(item)
				? arena_str(a, str_of(item->valuestring))
				: STR("");
}

struct written *written_read(struct arena *a, struct str text)
{
	struct written *w = arena_new_of(a, struct written);
	cJSON *root = cJSON_ParseWithLength(text.p, text.n);
	const cJSON *list;

	cJSON_ArrayForEach(
		list, cJSON_GetObjectItemCaseSensitive(root, PROVENANCE_FILES))
		take_section(a, list, vec_push(a, &w->sections));
	cJSON_Delete(root);
	return w;
}

struct str written_find(const struct written *w, struct str word, uint64_t n)
{
	vec_each(s, &w->sections)
		if (str_eq(s->word, word) && n < s->places.n)
			return s->places.v[n];
	return STR("");
}

/* From behind: a file's name may hold a colon. */
static bool take_number(struct str *place, uint64_t *out)
{
	size_t at = place->n;

	while (at > 0 && place->p[at - 1] != ':')
		at--;
	if (at == 0 ||
	    !str_u64(str_slice(*place, at, place->n), UINT32_MAX, out))
		return false;
	place->n = at - 1;
	return true;
}

bool written_split(struct str place, struct str *out_source,
		   uint64_t *out_line)
{
	uint64_t column, line;

	if (!take_number(&place, &column) || !take_number(&place, &line) ||
	    place.n == 0)
		return false;
	*out_source = place;
	*out_line = line;
	return true;
}
