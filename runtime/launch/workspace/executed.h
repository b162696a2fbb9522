/*
 * Which files that tools on the host run by themselves were made or changed
 * while a session ran: the warning at its end. grammar/executed.def names them.
 *
 * Two looks, before and after, each bounded in time and entries; of what the
 * first did not get to, the time of change decides. A git repository that is
 * new counts as one such file.
 */
#ifndef RUNTIME_LAUNCH_WORKSPACE_EXECUTED_H
#define RUNTIME_LAUNCH_WORKSPACE_EXECUTED_H

#include "compiler/base/buf.h"

#include <cjson/cJSON.h>
#include <sys/stat.h>
#include <time.h>

/* Of one look. Folders of packages and git's objects are not entered. */
#define EXECUTED_ENTRIES 50000u
#define EXECUTED_TIME_MS 300
#define EXECUTED_FOUND	 2000u
#define EXECUTED_DEPTH	 40u

struct executed_file {
	struct str path; /* of the workspace */
	const char *tool;
	struct stat st;
};

struct executed {
	VEC(struct executed_file) files; /* sorted by path */
	time_t at;			 /* when it was looked */
	bool whole;			 /* nothing was left out */
};

/* workspace: absolute. What cannot be read is not there. */
void executed_look(struct arena *a, const char *workspace,
		   struct executed *out);
/* Those of now that are not as before. */
void executed_changed(struct arena *a, const struct executed *before,
		      const struct executed *now, struct executed *out);
/* A line of the session's last words; nothing when there is nothing. */
void executed_words(const struct executed *changed, struct buf *out);
/* "executed": [{path, tool}] for summary.json; the caller owns it. */
cJSON *executed_json(struct arena *a, const struct executed *changed);

#endif
