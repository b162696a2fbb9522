/*
 * The journal of a session's holds: what it made in the workspace, or was about
 * to make, told before it does. The format stands in placeholders.h.
 */
#ifndef RUNTIME_LAUNCH_MOUNTS_JOURNAL_H
#define RUNTIME_LAUNCH_MOUNTS_JOURNAL_H

#include "compiler/base/buf.h"
#include "runtime/launch/mounts/placeholders.h"

#include <sys/stat.h>

/* One line: intent (at) or made (dev, ino). */
struct journal_record {
	bool made, is_dir;
	uint64_t at, dev, ino;
	struct str path;
};

struct journal {
	struct str workspace;
	VEC(struct journal_record) records;
};

/* A path as it stands in such files, up to the end of its line. */
void journal_add_path(struct buf *b, struct str path);
bool journal_read_path(struct arena *a, struct str text, struct str *out);
/* state/sessions/SESSION/journal */
const char *journal_path(struct arena *a, const char *state,
			 const char *session);
/*
 *   -ENOENT  there is none
 *   -EPROTO  it is no journal
 */
must_check int journal_load(struct arena *a, const char *path,
			    struct journal *out, struct err *err);
/* Append to our own, which begins with the first line. */
must_check int journal_intent(struct placeholders *h, struct str path,
			      bool is_dir, struct err *err);
must_check int journal_made(struct placeholders *h, struct str path,
			    const struct stat *st, struct err *err);

/* Below 0 with *err set ends the walk. */
typedef int journal_use(void *ctx, const struct journal *j, struct err *err);
/* Each journal of this state folder but the one of this session, and those of
 * other users, which cannot be read. */
must_check int journal_each_other(struct arena *a, const char *state,
				  const char *session, journal_use *use,
				  void *ctx, struct err *err);

#endif
