/*
 * What git's configuration makes git run that lies in the workspace: hooks
 * wherever core.hooksPath says, included configuration, filters, drivers,
 * helpers. Found at each launch, like masks; held like what a policy says is
 * readonly, also where it does not exist yet.
 *
 * Configuration is untrusted text. git itself reads it, from bytes that were
 * read once, outside of any repository and with nobody's settings: nothing of
 * it takes effect. Included files are followed, by text. Read are all
 * repositories of gitrepos.h, the user's own configuration and the system's.
 */
#ifndef RUNTIME_LAUNCH_WORKSPACE_GITFOUND_H
#define RUNTIME_LAUNCH_WORKSPACE_GITFOUND_H

#include "runtime/launch/workspace/gitrepos.h"

/* Where something is configured. */
struct gitfound_at {
	struct str key;	 /* "core.hookspath" */
	struct str file; /* for people: of the workspace, "~/…", or absolute */
	struct str text; /* what the file holds */
	uint32_t index;	 /* of the entry among all of the file */
};

struct gitfound_path {
	struct str path; /* of the workspace */
	bool is_dir;	 /* what a placeholder would have to be */
	bool is_own; /* a repository's own file; no configuration names it */
	struct gitfound_at at;
};

/* What is run, and cannot be kept as it is. */
struct gitfound_loose {
	struct str value; /* as configured */
	bool is_root;	  /* a folder of hooks with all of a repository in it */
	struct gitfound_at at;
};

struct gitfound {
	VEC(struct gitfound_path) paths;
	VEC(struct gitfound_loose) loose;
	VEC(struct str) notes; /* what could not be read: a sentence each */
	struct gitrepos repos;
};

/*
 * Look. What cannot be read is in the notes, and no error; no git is one of
 * the notes, where there is a repository at all.
 */
void gitfound_look(struct arena *a, struct str root_path,
		   const struct scan *found, struct gitfound *out);
/* Make them holds of a plan. */
void gitfound_hold(struct arena *a, const struct gitfound *g,
		   struct mountsplan *plan);
/* The line at which an entry begins; by asking git again. 0: not known. */
uint32_t gitfound_line(struct arena *a, const struct gitfound_at *at);

#endif
