/*
 * Errors of the runtime: a negative errno and one sentence, in fixed storage.
 *
 * A function returns 0 or a negative errno and fills *err; it never logs what
 * it returns. err_while() puts what was being done in front:
 * "reading /plan/names.map: line 3: unknown record 'nmae'".
 */
#ifndef COMPILER_BASE_ERR_H
#define COMPILER_BASE_ERR_H

#include "compiler/base/str.h"

#include <stdio.h>
#include <unistd.h>

struct err {
	int code; /* negative errno, 0 when nothing went wrong */
	char text[512];
};

/* All return the code, so that a caller can return them. */
int err_set(struct err *err, int code, const char *fmt, ...) printf_like(3, 4);
int err_while(struct err *err, const char *fmt, ...) printf_like(2, 3);
/* What errno says of something: a path, or what was being done. */
int err_errno(struct err *err, const char *what);

/* A cleanup handler; it keeps errno. Below 0: nothing. */
void fd_close(int *fd);
#define auto_fd __attribute__((cleanup(fd_close)))

#endif
