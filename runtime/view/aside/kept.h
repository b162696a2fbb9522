/*
 * What is left aside at the end, told to the launcher as events "kept":
 * compiler/plan/view_hello.h.
 */
#ifndef RUNTIME_VIEW_ASIDE_KEPT_H
#define RUNTIME_VIEW_ASIDE_KEPT_H

#include "compiler/base/str.h"
#include "runtime/view/aside/copies.h"

/*
 * One line with its LF into size bytes, its length; 0: it does not fit. text:
 * of a configuration; NULL: not said. Pure.
 */
size_t kept_line(const char *path, const char *what, const struct str *text,
		 char *buf, size_t size);
/* All of them, blocking; in the order in which they came. */
void kept_tell(int fd, const struct copies *t);

#endif
