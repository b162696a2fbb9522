/*
 * Lines of the view's own, as compiler/plan/view_hello.h has them; decisions
 * are record.h's.
 */
#ifndef RUNTIME_VIEW_SAY_H
#define RUNTIME_VIEW_SAY_H

#include "compiler/base/err.h"

/* Shorter than PIPE_BUF, and so written at once. */
#define SAY_LINE_MAX 2048u

/* {"event":…}, with a message unless that is NULL; its length. */
size_t say_line(const char *event, const char *message, char buf[SAY_LINE_MAX]);
/* Best effort: nobody may be there to read. */
void say_event(int fd, const char *event);
void say_error(int fd, const struct err *err);

#endif
