/*
 * Where a line of mounts.plan was written: "builtin:52:6".
 *
 * Of the plan's provenance.json (compiler/plan/provenance_json.h). It is there
 * to be read by people; nothing is decided by it, and one that says nothing of
 * a line, or is of another making, has no place for it.
 */
#ifndef RUNTIME_LAUNCH_VIEW_WRITTEN_H
#define RUNTIME_LAUNCH_VIEW_WRITTEN_H

#include "compiler/base/arena.h"

struct written;

/* All of it lives in a; text is not needed afterwards. */
struct written *written_read(struct arena *a, struct str text);
/* Of line n, from 0, of those that begin with word; empty: unknown. */
struct str written_find(const struct written *w, struct str word, uint64_t n);
/* Its file and line; false where there is none. */
bool written_split(struct str place, struct str *out_source,
		   uint64_t *out_line);

#endif
