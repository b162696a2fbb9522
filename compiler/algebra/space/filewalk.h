/*
 * All paths of a workspace, in classes that a few lists of patterns cannot
 * tell apart: the product of their automata, walked breadth first, so that of
 * each class a shortest path comes first.
 */
#ifndef COMPILER_ALGEBRA_SPACE_FILEWALK_H
#define COMPILER_ALGEBRA_SPACE_FILEWALK_H

#include "compiler/algebra/space/automaton.h"

#define FILEWALK_LISTS 4

/* A path, and which pattern of each list holds it. */
struct filewalk_end {
	bool is_dir;
	uint32_t held[FILEWALK_LISTS]; /* AUTOMATON_NONE: none does */
	uint32_t back[FILEWALK_LISTS]; /* the pattern that took it back */
	uint32_t dropped;	       /* lists not looked at, one bit each */
};

struct filewalk;
/*
 * Called for each class, first as a file and then as a directory. For a
 * directory the answer says which lists matter below it, one bit each; none:
 * nothing there does. A list that was left out stays so.
 */
typedef uint32_t (*filewalk_visit)(void *ctx, struct filewalk *w,
				   const struct filewalk_end *e);

/* lists[i] may be lists[k]: the walk is the shorter for it. */
struct filewalk *filewalk_new(struct arena *a,
			      const struct gitignore *const *lists, uint32_t n);
/* False: beyond LIMIT_FILE_STATES or LIMIT_FILE_STEPS. */
must_check bool filewalk_run(struct filewalk *w, filewalk_visit visit,
			     void *ctx);
/* In a visit: no more are wanted. */
void filewalk_stop(struct filewalk *w);
/* In a visit: a path of the class, with a '/' at its end when it is one. */
struct str filewalk_path(struct filewalk *w, bool is_dir);

#endif
