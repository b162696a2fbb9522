#include "compiler/cli/text/place_json.h"

#include "compiler/cli/text/view.h"

void place_json_put(struct arena *a, cJSON *o, struct place at)
{
	if (!at.source)
		return;
	json_put_str(o, "source", view_cleaned(a, at.source->name));
	json_put_u64(o, "line", at.line);
	json_put_u64(o, "column", at.column);
}

void place_json_span(cJSON *o, const struct sources *s, struct span at)
{
	place_json_put(s->a, o, sources_place(s, at));
}
