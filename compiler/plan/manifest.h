/*
 * manifest.json: the list of what a plan is made of, and its strict reader.
 *
 * There is one text for one plan: a reader parses the manifest to learn names,
 * reads those files, and then compares the manifest byte for byte with the one
 * that they would give. So a digest, a field, an order or a byte that is not
 * what plan_manifest() writes refuses the plan.
 */
#ifndef COMPILER_PLAN_MANIFEST_H
#define COMPILER_PLAN_MANIFEST_H

#include "compiler/plan/plan.h"

#define MANIFEST_NAME  "manifest.json"
#define MANIFEST_BYTES (1u << 20)

/* A name that can stand in a plan: letters, digits, '.', '_', '-', not first
 * a '.', at most 64 bytes, not the manifest's own. */
bool manifest_name_ok(struct str name);

/*
 * The names of the files, without data, and the sources, into an empty plan.
 * -EPROTO when it is no manifest of PLAN_VERSION; digests of files are not
 * looked at here.
 */
must_check int manifest_parse(struct arena *a, struct str text,
			      struct plan *out, struct err *err);

/*
 * The files that manifest text names, handed over by read (which returns as
 * plan_read() does), checked against it, into *out.
 */
typedef int (*manifest_read)(void *ctx, struct arena *a, struct str name,
			     struct str *out_data, struct err *err);
must_check int manifest_open(struct arena *a, struct str text,
			     manifest_read read, void *ctx, struct plan *out,
			     struct err *err);

#endif
