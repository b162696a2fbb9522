/*
 * A compiled plan: a set of named artefacts and the manifest that seals them.
 *
 * The only thing that compiler and runtime share, besides base. In memory it
 * is bytes under names; on disk a directory with one file each and
 * manifest.json, which holds the format version and the SHA-256 of every file
 * and of every source. A plan is written all or not at all (a temporary
 * directory beside the target, then a rename), and read only whole: an unknown
 * version, a missing, extra or altered file, or a trailing byte refuses it.
 */
#ifndef COMPILER_PLAN_PLAN_H
#define COMPILER_PLAN_PLAN_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

#define PLAN_VERSION 1

struct plan_file {
	struct str name; /* "ruleset.nft" */
	struct str data;
};

struct plan_source {
	struct str name; /* "~/.membrane/config.yaml"; never absolute */
	struct str sha256;
};

struct plan {
	VEC(struct plan_file) files; /* sorted by name, without the manifest */
	VEC(struct plan_source) sources; /* in the order in which they apply */
};

/* All borrowed. */
void plan_add(struct arena *a, struct plan *p, struct str name,
	      struct str data);
const struct plan_file *plan_file(const struct plan *p, const char *name);
/* manifest.json of this plan. */
struct str plan_manifest(struct arena *a, const struct plan *p);

/*
 * Write the plan as directory dir. An existing dir is replaced, if it is empty
 * or holds a plan (a manifest.json); anything else is -EEXIST and untouched.
 */
must_check int plan_write(const char *dir, const struct plan *p,
			  struct err *err);
/* The same, as name in a folder that is open, where name is no link; shown is
 * what messages call it. */
must_check int plan_write_at(int dirfd, const char *name, const char *shown,
			     const struct plan *p, struct err *err);
/*
 * Read and verify.
 *   -ENOENT  no such directory, or no manifest in it
 *   -EPROTO  unknown version, or something is missing, extra or altered
 */
must_check int plan_read(struct arena *a, const char *dir,
			 struct plan *out_plan, struct err *err);

/* One difference between two plans, per file. */
enum plan_change { PLAN_SAME, PLAN_ADDED, PLAN_REMOVED, PLAN_CHANGED };
struct plan_delta {
	struct str name;
	enum plan_change change;
	uint32_t line; /* first line that differs, from 1; 0 for whole files */
};
/* Deltas other than PLAN_SAME, in the order of names; the count. */
uint32_t plan_compare(struct arena *a, const struct plan *old,
		      const struct plan *now, struct plan_delta **out);

#endif
