/*
 * YAML as it is written here: by libyaml's emitter, so that no string can be
 * more than a string. UTF-8, lines of any length.
 *
 * Running out of memory ends the program, as in the arena; nothing else can go
 * wrong with what is well formed.
 */
#ifndef COMPILER_EMIT_YAML_WRITE_H
#define COMPILER_EMIT_YAML_WRITE_H

#include "compiler/base/buf.h"

#include <yaml.h>

struct yaml_write {
	struct arena *a;
	yaml_emitter_t yaml;
};

/* The first document begins; what is in it goes to *out. */
void yaml_write_begin(struct yaml_write *w, struct arena *a, struct buf *out);
/* It ends, and another one begins, behind a line "---". */
void yaml_write_next(struct yaml_write *w);
void yaml_write_end(struct yaml_write *w);
void yaml_write_scalar(struct yaml_write *w, struct str s,
		       yaml_scalar_style_t style);
void yaml_write_map(struct yaml_write *w, yaml_mapping_style_t style);
void yaml_write_map_end(struct yaml_write *w);
void yaml_write_list(struct yaml_write *w, yaml_sequence_style_t style);
void yaml_write_list_end(struct yaml_write *w);

#endif
