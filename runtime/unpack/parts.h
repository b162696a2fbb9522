/*
 * A root out of an archive: what `docker save`, or a tool that writes an OCI
 * image layout into a tar file, left.
 *
 * Files are the user's own, and root's as the archive has them; there are no
 * devices and no set-user-ID bits, and a folder can be written by its owner,
 * who is to remove it.
 *
 * https://github.com/opencontainers/image-spec (layout, layers, whiteouts);
 * https://github.com/moby/docker-image-spec (manifest.json)
 */
#ifndef RUNTIME_UNPACK_PARTS_H
#define RUNTIME_UNPACK_PARTS_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define UNPACK_BYTES_MAX   (64ull << 30) /* of all files, as they are unpacked */
#define UNPACK_ENTRIES_MAX 4000000u	 /* of all layers */
#define UNPACK_JSON_MAX	   (4u << 20)
#define UNPACK_LAYERS_MAX  256u

struct archive;

/* --- tree.c: files below one folder, by names that others wrote ----------- */

/* Links in a name lead no further than that folder. */
struct tree {
	int root;
	bool owners; /* files get the owners that the archive says */
};

/* Of a file, a folder, a link or a pipe. */
struct tree_file {
	const char *path; /* below the root; no "..", and no slash in front */
	mode_t mode;	  /* the nine bits of the rights */
	uid_t uid;
	gid_t gid;
	struct timespec changed;
};

/* A name without "./" and slashes in front or behind; NULL: it leads out, or it
 * is none. "" is the root itself. */
const char *tree_path(struct arena *a, const char *name);
must_check int tree_folder(const struct tree *t, const struct tree_file *f);
/* *out_fd: to be written, and then given to tree_done(). */
must_check int tree_begin(const struct tree *t, const struct tree_file *f,
			  int *out_fd);
must_check int tree_done(const struct tree *t, const struct tree_file *f,
			 int fd);
must_check int tree_symlink(const struct tree *t, const struct tree_file *f,
			    const char *target);
must_check int tree_hardlink(const struct tree *t, const struct tree_file *f,
			     const char *to);
must_check int tree_fifo(const struct tree *t, const struct tree_file *f);
/* And all below it; what is not there is no error. */
must_check int tree_remove(const struct tree *t, const char *path);
/* All that is in a folder. */
must_check int tree_empty(const struct tree *t, const char *path);

/* --- layer.c ------------------------------------------------------------- */

/* Of all layers. */
struct layer_bounds {
	uint64_t bytes;
	uint32_t entries;
};

/*
 * One look at a layer that comes by the outer archive's present entry: first
 * for what it removes of those below it, then for what it adds. Errors name
 * the entry.
 */
enum layer_look { LAYER_REMOVES, LAYER_ADDS };
must_check int layer_read(struct archive *outer, enum layer_look look,
			  const struct tree *t, struct layer_bounds *left,
			  struct err *err);

/* --- layout.c ------------------------------------------------------------- */

typedef VEC(const char *) layout_words;
/* What is in an archive, as its manifest says. */
struct layout {
	layout_words layers; /* names of entries, from below */
	layout_words env;    /* NAME=VALUE */
	layout_words entrypoint, command;
};

must_check int layout_read(struct arena *a, int fd, struct layout *out,
			   struct err *err);
/* Of tar files, compressed or not; it starts no program. NULL: no memory. */
struct archive *layout_reader(void);
/* The archive, at the entry of that name: its reader is the caller's. */
must_check int layout_seek(int fd, const char *name, struct archive **out,
			   struct err *err);

#endif
