/*
 * What git's index has of a file, as `git ls-files -z -s` lists it, and with
 * `--debug`, which takes git twice as long, what it last saw of it. Pure.
 */
#ifndef RUNTIME_LAUNCH_WORKSPACE_GITINDEX_H
#define RUNTIME_LAUNCH_WORKSPACE_GITINDEX_H

#include "compiler/base/str.h"
#include "compiler/plan/view_hello.h"

#include <stdint.h>

struct gitindex_file {
	struct str path; /* from the folder that git was asked in */
	enum view_outside kind;
	/* What it saw, in the order of VIEW_HELLO_OUTSIDE's line. */
	uint64_t numbers[VIEW_OUTSIDE_NUMBERS];
	struct str oid;
	struct str text; /* of a link, where it leads; left empty here */
	uint64_t stage;	 /* not 0: it is in conflict */
	bool skipped;	 /* likewise: a sparse checkout has left it out */
};

/* One of them, off *rest. seen: with --debug. False: that is none. */
bool gitindex_entry(struct str *rest, bool seen, struct gitindex_file *out);

#endif
