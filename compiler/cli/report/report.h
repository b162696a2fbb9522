/*
 * `membrane report`: what a session did, as one page. It reads what a session
 * leaves (its records, its trace, its workspace's git) and writes HTML.
 */
#ifndef COMPILER_CLI_REPORT_REPORT_H
#define COMPILER_CLI_REPORT_REPORT_H

#include "compiler/base/err.h"
#include "compiler/cli/frame/options.h"

/* A page is no longer than that, whatever a session left. */
#define REPORT_BYTES_MAX 1000000u

/*
 * The page. what: as below. STATUS_OK, *out and *damage (code 0: none) are
 * there; else the exit status, after everything has been said.
 */
must_check int report_page(struct arena *a, const struct options *o,
			   const char *state, struct str what, struct str *out,
			   struct err *damage);
/* The same on stdout. what: a session's ID, the beginning of one, or empty for the newest. The
 * exit status: 3, with the page, where something of it is damaged. */
must_check int report_session(struct arena *a, const struct options *o,
			      const char *state, struct str what);

#endif
