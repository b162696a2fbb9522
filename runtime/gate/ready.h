/*
 * Whether the gate of this container is ready, for whoever asks from outside: a
 * probe. A lock that the gate holds says so, as no file can: it goes with the
 * process, however that ends.
 */
#ifndef RUNTIME_GATE_READY_H
#define RUNTIME_GATE_READY_H

#include "compiler/base/err.h"

/* From now on, as long as this process lives. */
must_check int ready_hold(struct err *err);
/* Does a gate hold it? */
bool ready_held(void);

#endif
