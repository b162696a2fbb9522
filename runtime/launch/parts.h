/*
 * What the files of this folder, and not those in it, share.
 */
#ifndef RUNTIME_LAUNCH_PARTS_H
#define RUNTIME_LAUNCH_PARTS_H

#include "compiler/base/str.h"

/* A sentence in place of a line that a docker command printed, or that line. */
struct str advice_for(struct str line);

#endif
