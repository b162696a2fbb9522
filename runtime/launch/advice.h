/*
 * What Docker says when the host lacks something, in words that say the next
 * step. Docker's own stay in the session's logs.
 */
#ifndef RUNTIME_LAUNCH_ADVICE_H
#define RUNTIME_LAUNCH_ADVICE_H

#include "compiler/base/str.h"

/* A sentence in place of a line that a docker command printed, or that line. */
struct str advice_for(struct str line);

#endif
