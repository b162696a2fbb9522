#include "compiler/emit/yaml_write.h"

#include <stdio.h>
#include <stdlib.h>

static int sink_bytes(void *ctx, unsigned char *data, size_t size)
{
	buf_add(ctx, (struct str){(const char *)data, size});
	return 1;
}

/* Out of memory is all that can go wrong: what is emitted is well formed. */
static void check_emitted(int ok)
{
	if (ok)
		return;
	fputs("membrane: out of memory\n", stderr);
	exit(3);
}

static void put_event(struct yaml_write *w, yaml_event_t *e)
{
	check_emitted(yaml_emitter_emit(&w->yaml, e));
}

void yaml_write_scalar(struct yaml_write *w, struct str s,
		       yaml_scalar_style_t style)
{
	yaml_event_t e;
	/* libyaml has no const here; it copies the text. */
	char *copy = arena_cstr(w->a, s);

	check_emitted(yaml_scalar_event_initialize(
		&e, NULL, NULL, (yaml_char_t *)copy, (int)s.n, 1, 1, style));
	put_event(w, &e);
}

void yaml_write_map(struct yaml_write *w, yaml_mapping_style_t style)
{
	yaml_event_t e;

	check_emitted(
		yaml_mapping_start_event_initialize(&e, NULL, NULL, 1, style));
	put_event(w, &e);
}

void yaml_write_map_end(struct yaml_write *w)
{
	yaml_event_t e;

	check_emitted(yaml_mapping_end_event_initialize(&e));
	put_event(w, &e);
}

void yaml_write_list(struct yaml_write *w, yaml_sequence_style_t style)
{
	yaml_event_t e;

	check_emitted(
		yaml_sequence_start_event_initialize(&e, NULL, NULL, 1, style));
	put_event(w, &e);
}

void yaml_write_list_end(struct yaml_write *w)
{
	yaml_event_t e;

	check_emitted(yaml_sequence_end_event_initialize(&e));
	put_event(w, &e);
}

static void begin_document(struct yaml_write *w, bool implicit)
{
	yaml_event_t e;

	check_emitted(yaml_document_start_event_initialize(&e, NULL, NULL, NULL,
							   implicit));
	put_event(w, &e);
}

static void end_document(struct yaml_write *w)
{
	yaml_event_t e;

	check_emitted(yaml_document_end_event_initialize(&e, 1));
	put_event(w, &e);
}

void yaml_write_begin(struct yaml_write *w, struct arena *a, struct buf *out)
{
	yaml_event_t e;

	w->a = a;
	check_emitted(yaml_emitter_initialize(&w->yaml));
	yaml_emitter_set_output(&w->yaml, sink_bytes, out);
	yaml_emitter_set_unicode(&w->yaml, 1);
	yaml_emitter_set_width(&w->yaml, -1);
	check_emitted(
		yaml_stream_start_event_initialize(&e, YAML_UTF8_ENCODING));
	put_event(w, &e);
	begin_document(w, true);
}

void yaml_write_next(struct yaml_write *w)
{
	end_document(w);
	begin_document(w, false);
}

void yaml_write_end(struct yaml_write *w)
{
	yaml_event_t e;

	end_document(w);
	check_emitted(yaml_stream_end_event_initialize(&e));
	put_event(w, &e);
	yaml_emitter_delete(&w->yaml);
}
