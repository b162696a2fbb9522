/*
 * System calls in `diff`: of plans whose seccomp.json does not follow from
 * their policy.json, which was edited by hand, or written by another version
 * of membrane.
 */
#ifndef COMPILER_CLI_REVIEW_DIFF_CALLS_H
#define COMPILER_CLI_REVIEW_DIFF_CALLS_H

#include "compiler/cli/review/diff.h"

/*
 * Adds to d->access what the two profiles open differently; nothing where both
 * follow from their policies, whose settings tell the difference. STATUS_OK,
 * or STATUS_REFUSED after it was said why a profile cannot be read.
 */
must_check int diff_calls(struct diff *d);

#endif
