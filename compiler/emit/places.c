#include "compiler/emit/places.h"

#include "compiler/base/json.h"
#include "compiler/plan/provenance_json.h"

#include <stdlib.h>

struct entry {
	struct str id, source;
	uint32_t line;
};

struct places {
	VEC(struct entry) list; /* sorted by id */
};

static int by_id(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;

	return str_cmp(a->id, b->id);
}

static bool read_entry(struct arena *a, const cJSON *item, struct entry *out)
{
	struct str source;
	uint64_t line;

	if (!item->string || !json_get_str(item, PROVENANCE_SOURCE, &source) ||
	    !json_get_u64(item, PROVENANCE_LINE, UINT32_MAX, &line))
		return false;
	out->id = arena_str(a, str_of(item->string));
	out->source = arena_str(a, source);
	out->line = (uint32_t)line;
	return true;
}

struct places *places_read(struct arena *a, struct str text)
{
	struct places *p = arena_new_of(a, struct places);
	cJSON *root = cJSON_ParseWithLength(text.p, text.n);
	const cJSON *item;
	struct entry e;

	cJSON_ArrayForEach(
		item, cJSON_GetObjectItemCaseSensitive(root, PROVENANCE_RULES))
		if (read_entry(a, item, &e))
			*vec_push(a, &p->list) = e;
	cJSON_Delete(root);
	vec_sort(&p->list, by_id);
	return p;
}

void places_find(const struct places *p, struct str id, struct str *out_source,
		 uint32_t *out_line)
{
	struct entry key = {.id = id};
	const struct entry *e = p->list.n ? bsearch(&key, p->list.v, p->list.n,
						    sizeof(*p->list.v), by_id)
					  : NULL;

	if (!e)
		return;
	*out_source = e->source;
	*out_line = e->line;
}
