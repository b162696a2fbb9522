/*
 * Signals of a program that is alone in its container: read, not caught.
 */
#ifndef COMPILER_BASE_SYS_SIGNALS_H
#define COMPILER_BASE_SYS_SIGNALS_H

#include "compiler/base/err.h"

/*
 * A descriptor that can be read when the program is asked to end (SIGTERM,
 * SIGINT, SIGHUP) or, with children, when one of them has ended (SIGCHLD); they
 * do nothing else from then on, and a reader that is gone is an error of
 * write(). A negative errno when the kernel does not give one.
 */
must_check int signals_open(bool children, struct err *err);

#endif
