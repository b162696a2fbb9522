/*
 * One run of git, over a repository that somebody else may have written.
 *
 * git gets an argument vector, no shell, no terminal and no pager; output and
 * time are bounded. Whatever the repository's own configuration names (hooks, a
 * file system monitor, remotes to fetch missing objects from) is not run and
 * not asked, and a folder that looks like a bare repository is none.
 */
#ifndef RUNTIME_LAUNCH_WORKSPACE_GITCMD_H
#define RUNTIME_LAUNCH_WORKSPACE_GITCMD_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

#define GITCMD_WORDS_MAX 24u

enum gitcmd_of {
	GITCMD_USER,   /* in the user's environment: as the user would see it */
	GITCMD_NOBODY, /* no variable, no configuration of anybody's */
};

struct gitcmd {
	const char *dir;	  /* where it runs */
	const char *const *words; /* the subcommand and on; NULL at the end */
	enum gitcmd_of of;
	struct str input; /* for it to read; empty: nothing */
	size_t max;	  /* bytes that it may print */
	unsigned timeout_ms;
	/* what came of it */
	struct str text, complaint;
	int status; /* its exit status; 128 with a complaint when it failed */
};

/*
 * Run it.
 *   -ENOENT     there is no git
 *   -EFBIG      it printed more; the rest was not waited for
 *   -ETIMEDOUT  it was killed
 */
must_check int gitcmd_run(struct arena *a, struct gitcmd *g, struct err *err);

#endif
