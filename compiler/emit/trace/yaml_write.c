#include "compiler/emit/trace/yaml_write.h"

#include <stdio.h>
#include <stdlib.h>

static int sink(void *ctx, unsigned char *data, size_t size)
{
	buf_add(ctx, (struct str){(const char *)data, size});
	return 1;
}

/* Out of memory is all that can go wrong: what is emitted is well formed. */
static void check(int ok)
{
	if (ok)
		return;
	fputs("membrane: out of memory\n", stderr);
	exit(3);
}

static void put(struct yaml_write *w, yaml_event_t *e)
{
	check(yaml_emitter_emit(&w->yaml, e));
}

void yaml_write_scalar(struct yaml_write *w, struct str s,
		       yaml_scalar_style_t style)
{
	yaml_event_t e;
	/* libyaml has no const here; it copies the text. */
	char *copy = arena_cstr(w->a, s);

	check(yaml_scalar_event_initialize(&e, NULL, NULL, (yaml_char_t *)copy,
					   (int)s.n, 1, 1, style));
	put(w, &e);
}

void yaml_write_map(struct yaml_write *w, yaml_mapping_style_t style)
{
	yaml_event_t e;

	check(yaml_mapping_start_event_initialize(&e, NULL, NULL, 1, style));
	put(w, &e);
}

void yaml_write_map_end(struct yaml_write *w)
{
	yaml_event_t e;

	check(yaml_mapping_end_event_initialize(&e));
	put(w, &e);
}

void yaml_write_list(struct yaml_write *w, yaml_sequence_style_t style)
{
	yaml_event_t e;

	check(yaml_sequence_start_event_initialize(&e, NULL, NULL, 1, style));
	put(w, &e);
}

void yaml_write_list_end(struct yaml_write *w)
{
	yaml_event_t e;

	check(yaml_sequence_end_event_initialize(&e));
	put(w, &e);
}

void yaml_write_begin(struct yaml_write *w, struct arena *a, struct buf *out)
{
	yaml_event_t e;

	w->a = a;
	check(yaml_emitter_initialize(&w->yaml));
	yaml_emitter_set_output(&w->yaml, sink, out);
	yaml_emitter_set_unicode(&w->yaml, 1);
	yaml_emitter_set_width(&w->yaml, -1);
	check(yaml_stream_start_event_initialize(&e, YAML_UTF8_ENCODING));
	put(w, &e);
	check(yaml_document_start_event_initialize(&e, NULL, NULL, NULL, 1));
	put(w, &e);
}

void yaml_write_end(struct yaml_write *w)
{
	yaml_event_t e;

	check(yaml_document_end_event_initialize(&e, 1));
	put(w, &e);
	check(yaml_stream_end_event_initialize(&e));
	put(w, &e);
	yaml_emitter_delete(&w->yaml);
}
