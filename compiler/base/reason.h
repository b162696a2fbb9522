/*
 * Why a request was allowed or denied: the closed list in reason.def.
 */
#ifndef COMPILER_BASE_REASON_H
#define COMPILER_BASE_REASON_H

#include "compiler/base/str.h"

enum reason {
#define REASON(name, text, about) REASON_##name,
#include "compiler/base/reason.def"
#undef REASON
};

const char *reason_name(enum reason r);	 /* "no-grant" */
const char *reason_about(enum reason r); /* "nothing grants it" */
bool reason_parse(struct str name, enum reason *out);

#endif
