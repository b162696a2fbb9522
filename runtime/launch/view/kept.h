/*
 * What git wrote in a session and no file of the host has: the view keeps it
 * aside, and says so at the end.
 *
 *	membrane: git's configuration was changed in this session alone; …
 *	  + .git/config  [remote "origin"] url = https://git.example/a.git
 *	  …
 *
 * Pure: records and the host's text in, text out. What stands in them comes
 * from the agent, so nothing but printable ASCII gets to the terminal.
 */
#ifndef RUNTIME_LAUNCH_VIEW_KEPT_H
#define RUNTIME_LAUNCH_VIEW_KEPT_H

#include "compiler/base/buf.h"
#include "compiler/base/err.h"

#include <cjson/cJSON.h>

#define KEPT_ENTRIES_MAX 8192u /* beyond: a view that cannot be trusted */
#define KEPT_TEXTS_MAX	 64u   /* configurations whose text is held */
#define KEPT_LINES_MAX	 20u   /* of configurations, printed */
#define KEPT_NAMES_MAX	 5u    /* of other files, printed */

struct kept;

struct kept *kept_new(struct arena *a);
/* The path of a record that tells of a configuration; else NULL. It is in the
 * workspace. */
const char *kept_config(const cJSON *record);
/*
 * Take one record of the view. host: of a configuration what the file of that
 * path has; empty where there is none.
 *   -EPROTO  not one as compiler/plan/view_hello.h has it, or one too many
 */
must_check int kept_add(struct kept *k, const cJSON *record, struct str host,
			struct err *err);
/* The text, with an LF behind every line. summary: where all of it is. */
void kept_print(const struct kept *k, const char *summary, struct buf *out);
/* "kept":[…] for summary.json; the caller owns it. */
cJSON *kept_json(const struct kept *k);

#endif
