/*
 * The emitters of this room, and what they write with.
 */
#ifndef COMPILER_EMIT_PARTS_H
#define COMPILER_EMIT_PARTS_H

#include "compiler/emit/emit.h"

/* --- policy_json.c ------------------------------------------------------- */

bool policy_json_emit(const struct emit_in *in, struct buf *out);

/* --- names.c ------------------------------------------------------------- */

bool names_emit(const struct emit_in *in, struct buf *out);

/* --- mounts.c ------------------------------------------------------------ */

bool mounts_emit(const struct emit_in *in, struct buf *out);

/* --- provenance.c -------------------------------------------------------- */

bool provenance_emit(const struct emit_in *in, struct buf *out);

/* --- readme.c ------------------------------------------------------------ */

bool readme_emit(const struct emit_in *in, struct buf *out);

#endif
