/*
 * The outcome of `membrane test` as a JUnit report: what GitHub, GitLab and
 * Jenkins show of a test run. A suite per file, a case per expectation; no
 * times, so that the same sources give the same bytes.
 */
#ifndef COMPILER_CLI_REVIEW_JUNIT_H
#define COMPILER_CLI_REVIEW_JUNIT_H

#include "compiler/cli/review/expect.h"

struct str junit_text(struct arena *a, const struct sources *s,
		      const expectations *list);

#endif
