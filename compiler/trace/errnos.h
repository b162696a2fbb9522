/*
 * Linux's error numbers by name, for traces: they are read on other systems,
 * too. Documentation/process and include/uapi/asm-generic/errno*.h.
 */
#ifndef COMPILER_TRACE_ERRNOS_H
#define COMPILER_TRACE_ERRNOS_H

#include "compiler/base/str.h"

/* 2 of "ENOENT"; 0 when that is none. */
int errnos_number(struct str name);

#endif
