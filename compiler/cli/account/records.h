/*
 * What a session's gate tells, line by line: decisions.jsonl and its later
 * parts, read to their end, or followed while the session runs.
 */
#ifndef COMPILER_CLI_ACCOUNT_RECORDS_H
#define COMPILER_CLI_ACCOUNT_RECORDS_H

#include "compiler/base/err.h"
#include "runtime/launch/session/metadata.h"

#include <stdio.h>

struct records {
	/* The caller's, with the rest zeroed: */
	struct arena *a;
	const struct metadata *about; /* borrowed */
	/* Once there is something to read; or NULL. */
	void (*on_begin)(void *ctx);
	/* Each whole line, with its LF. */
	void (*on_line)(void *ctx, struct str line);
	/* All that was there is read; or NULL. */
	void (*on_read)(void *ctx);
	/* There is something to be read from keys; or NULL. */
	void (*on_keys)(void *ctx);
	int keys;
	void *ctx;
	int out; /* who reads what is made of it: when nobody does, it ends */
	/* Its own: */
	unsigned part;
	const char *path;
	FILE *file;
	char *line; /* getline(3)'s */
	size_t room;
	int changes, launcher; /* inotify(7), pidfd_open(2); 0: none */
};

/*
 * All that is there; with follow, then what comes, until the session has ended.
 *   -ENOENT  nothing was ever told
 */
must_check int records_read(struct records *r, bool follow, struct err *err);
void records_done(struct records *r);

#endif
