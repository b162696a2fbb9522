#include "compiler/base/source.h"

#include <stdlib.h>

const char *layer_name(enum layer layer)
{
	switch (layer) {
	case LAYER_FLOOR:
		return "floor";
	case LAYER_PRESET:
		return "preset";
	case LAYER_GLOBAL:
		return "global";
	case LAYER_WORKSPACE:
		return "workspace";
	case LAYER_FLAGS:
		return "flags";
	case LAYER_SESSION:
		return "session";
	}
	abort();
}

void sources_init(struct sources *s, struct arena *a)
{
	*s = (struct sources){.a = a, .end = 1};
}

const struct source *sources_add(struct sources *s, struct str name,
				 struct str text, enum layer layer)
{
	struct source *src = vec_push(s->a, &s->list);

	*src = (struct source){
		.name = name, .text = text, .base = s->end, .layer = layer};
	*vec_push(s->a, &src->lines) = 0;
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == '\n')
			*vec_push(s->a, &src->lines) = (uint32_t)i + 1;
	/* One more than the text, so that its end is a place of its own. */
	s->end += (uint32_t)text.n + 1;
	return src;
}

bool source_is_preset(const struct source *s)
{
	return str_starts(s->name, STR(SOURCE_PRESET)) ||
	       str_starts(s->name, STR(SOURCE_WITHIN " "));
}

const struct source *sources_of(const struct sources *s, struct span at)
{
	uint32_t lo = 0, hi = s->list.n;

	if (at.beg == 0 || at.beg >= s->end)
		return NULL;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->list.v[mid].base <= at.beg)
			lo = mid;
		else
			hi = mid;
	}
	return s->list.n ? &s->list.v[lo] : NULL;
}

const struct source *sources_named(const struct sources *s, struct str name)
{
	vec_each(src, &s->list)
		if (str_eq(src->name, name))
			return src;
	return NULL;
}

/* Index of the line that holds the byte at off. */
static uint32_t line_of(const struct source *src, size_t off)
{
	uint32_t lo = 0, hi = src->lines.n;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (src->lines.v[mid] <= off)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

struct place sources_place(const struct sources *s, struct span at)
{
	const struct source *src = sources_of(s, at);
	struct place p = {.source = src};
	size_t off, beg, end;

	if (!src)
		return p;
	off = at.beg - src->base;
	p.line = line_of(src, off);
	beg = src->lines.v[p.line++];
	end = str_find(src->text, '\n', beg);
	if (end > beg && src->text.p[end - 1] == '\r')
		end--;
	p.column = (uint32_t)(off - beg) + 1;
	p.text = str_slice(src->text, beg, end);
	return p;
}

struct str sources_text(const struct sources *s, struct span at)
{
	const struct source *src = sources_of(s, at);

	if (!src)
		return (struct str){NULL, 0};
	return str_slice(src->text, at.beg - src->base, at.end - src->base);
}
