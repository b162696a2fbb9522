/*
 * Requests of the kernel's that libfuse may not know yet, read and answered
 * here: statx(2), for the time of birth, and O_TMPFILE.
 */
#ifndef RUNTIME_VIEW_NEWER_H
#define RUNTIME_VIEW_NEWER_H

#include "runtime/view/view.h"

/* Answer a request as it was read, where it is one of these; false: it is
 * another, or not whole. */
bool newer_answer(struct view *v, const struct fuse_buf *request);

#endif
