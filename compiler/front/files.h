/*
 * Files that a policy may come from, read without leaving their root.
 *
 * The workspace is somebody else's: none of its policy files may be, or stand
 * behind, a symbolic link. The user's own folder and the installed presets may
 * be linked as their owner likes.
 */
#ifndef COMPILER_FRONT_FILES_H
#define COMPILER_FRONT_FILES_H

#include "compiler/front/front.h"

enum files_root {
	FILES_WORKSPACE,
	FILES_STATE,
	FILES_POLICIES,
	FILES_GIVEN, /* front_input.global: any path */
};

struct files {
	struct pass_ctx *c;
	const struct front_input *in;
	struct err *err;
};

enum files_status {
	FILES_OK,
	FILES_ABSENT,
	FILES_REFUSED, /* reported as a diagnostic */
	FILES_FAILED,  /* cannot be read: *err says why */
};

/*
 * Read path (relative, no '.' or '..' segment) below a root. name is what the
 * user knows it by; at is who asked for it, or the zero span.
 */
must_check enum files_status files_read(struct files *f, enum files_root root,
					struct str path, struct str name,
					struct span at, struct str *out);
/* Is the workspace's .membrane the state folder itself, or where it is to be? */
bool files_is_state(const struct files *f);
/* Does anything of that name exist? A link counts, whatever it leads to. */
bool files_exists(struct files *f, enum files_root root, const char *path);

#endif
