/*
 * Where the mounts of `docker run` land: the values of --mount, --volume and
 * --tmpfs, taken apart as docker does.
 */
#ifndef COMPILER_IR_DOCKER_MOUNT_H
#define COMPILER_IR_DOCKER_MOUNT_H

#include "compiler/base/arena.h"
#include "compiler/ir/docker_run.h"

/* Where the workspace is mounted. */
#define DOCKER_MOUNT_WORKSPACE "/workspace"

/*
 * A path without '.', '..', empty segments and a slash at the end, as the
 * kernel would walk it if it had no links; "/" for the root.
 */
struct str docker_mount_clean(struct arena *a, struct str path);
/*
 * Whether path is outer or lies below it. Both are clean; an empty one is not
 * known, and holds nothing.
 */
bool docker_mount_within(struct str path, struct str outer);
/* Shared mounts travel back to the host. */
bool docker_mount_shared(struct str propagation);

/*
 * One field of the value of --mount, a record as Go's encoding/csv reads it:
 * out of the front of *rest, with whether there is more. False: not a record.
 */
must_check bool docker_mount_field(struct arena *a, struct str *rest,
				   bool *more, struct str *out);

/* --mount */
struct docker_mount {
	struct str type, source, target;
	bool has_driver, shared;
	bool strange; /* a key that mounts do not have */
};
/* False: not a list of key=value with commas between. */
must_check bool docker_mount_parse(struct arena *a, struct str value,
				   struct docker_mount *out);

/*
 * What the value of an option mounts, and whether anything of the host's, or of
 * others', is behind it: a tmpfs and a volume without a name are empty. False
 * when it mounts nothing, or when where cannot be known for a variable in it.
 */
must_check bool docker_mount_place(struct arena *a, enum docker_run_id option,
				   struct str value, struct str *out_target,
				   bool *out_empty);

#endif
