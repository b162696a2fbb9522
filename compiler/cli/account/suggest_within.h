/*
 * Does a suggestion stay within what a session was granted?
 */
#ifndef COMPILER_CLI_ACCOUNT_SUGGEST_WITHIN_H
#define COMPILER_CLI_ACCOUNT_SUGGEST_WITHIN_H

#include "compiler/cli/account/suggest.h"

/*
 * Compiled by themselves, do the grants permit nothing that under does not?
 * False, too, where they do not compile or are too many to be compared. under:
 * IR_NORMALISED.
 */
bool suggest_within(const struct ir_policy *under,
		    const suggest_grants *grants);

#endif
