/*
 * What the view refuses, as lines for the launcher: compiler/plan/view_hello.h.
 *
 * No agent can fill anything by trying: alike refusals become one line with a
 * count, a second at most, and a pipe that nobody reads holds lines back, where
 * they go on being counted. Not for two threads at once.
 */
#ifndef RUNTIME_VIEW_RECORD_H
#define RUNTIME_VIEW_RECORD_H

#include "compiler/plan/view_hello.h"
#include "runtime/view/judge/judge.h"

#include <time.h>

#define RECORD_EVERY_MS 1000
#define RECORD_LINE_MAX 4096u /* PIPE_BUF: taken whole or not at all */

enum record_kind { RECORD_READ, RECORD_WRITE };

struct record_entry {
	char *path; /* NULL: free */
	enum record_kind kind;
	struct judge_word word;
	uint64_t count; /* since it was told */
	int64_t told_ms;
	struct timespec last;
};

/* Zeroed by the caller, but for the descriptors. */
struct record {
	int fd;	  /* where lines go; does not block */
	int wake; /* an eventfd: something waits to be told */
	uint32_t n, waiting;
	struct record_entry entries[VIEW_HELLO_PAIRS_MAX * 2];
	struct record_entry others[2]; /* by kind */
};

/* path is copied. */
void record_refusal(struct record *r, enum record_kind kind,
		    struct judge_word word, const char *path);
/*
 * Tell what is due, or all there is. Milliseconds until it should be called
 * again; -1: not before the next refusal.
 */
int record_tell(struct record *r, bool all);
void record_done(struct record *r);
/* Where the launcher is told that a path is: what lies in the repository that
 * the view has beside the workspace begins with ".git". Pure. */
const char *record_place(const char *path);
/* A path as it is told, into size bytes: what is no UTF-8 becomes U+FFFD, as in
 * a trace, and one that is too long ends in "…". Pure. */
void record_path(const char *path, char *out, size_t size);
/* One line as it is told, with its LF, into size bytes. Pure. */
size_t record_line(const struct record_entry *e, char *buf, size_t size);

#endif
