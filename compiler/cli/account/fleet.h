/*
 * The decisions of many sessions at once: of a folder of records, or of the
 * gates of many Pods, each line with whose it is.
 *
 * A folder has folders of sessions, as ~/.membrane/sessions is one, or files:
 * *.jsonl, *.json and *.log are what a gate printed, each of a session of that
 * name. Where lines begin as `kubectl logs --prefix` has them
 * ("[pod/NAME/gate] "), that says whose they are.
 */
#ifndef COMPILER_CLI_ACCOUNT_FLEET_H
#define COMPILER_CLI_ACCOUNT_FLEET_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

#define FLEET_LINE_MAX	  (1u << 20)  /* bytes; longer ones are left out */
#define FLEET_RECORDS_MAX (64u << 20) /* merged at once */
#define FLEET_FILES_MAX	  100000u     /* of one folder */

/* A line without its LF, and whose it is; both end with the call. */
typedef void fleet_line(void *ctx, struct str source, struct str line);

/* Whose line it is by its beginning, which is cut off; or otherwise. */
struct str fleet_source(struct str *line, struct str otherwise);
/*
 * Each line of all records at path, a folder or one file, by file in the order
 * of their names.
 *   -ENOENT  there is nothing of that kind
 *   -E2BIG   more than FLEET_FILES_MAX
 */
must_check int fleet_read(struct arena *a, const char *path, fleet_line *tell,
			  void *ctx, struct err *err);
bool fleet_is_there(const char *path);

/*
 * What was put in by time, in a file without a name: of each record memory has
 * 16 bytes. A line without a time has that of the one before it.
 */
struct fleet;
must_check int fleet_open(struct arena *a, struct fleet **out, struct err *err);
/* An error is kept for fleet_each(). */
fleet_line fleet_put; /* ctx: a struct fleet */
must_check int fleet_each(struct fleet *f, fleet_line *tell, void *ctx,
			  struct err *err);
/* Columns of the longest source there is. */
unsigned fleet_columns(const struct fleet *f);
void fleet_close(struct fleet *f); /* NULL is allowed */

#endif
