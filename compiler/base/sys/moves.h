/*
 * Whether something came into a folder by another name than it had, since
 * somebody looked: inotify(7), for names alone.
 *
 * rename(2) holds both folders until it is told here, and readdir(3) waits for
 * that. So what was read of a folder behind moves_watch(), and what moves_any()
 * said no to later, fit together: nothing went from a folder that was still to
 * be read into one that had been.
 */
#ifndef COMPILER_BASE_SYS_MOVES_H
#define COMPILER_BASE_SYS_MOVES_H

#include "compiler/base/err.h"

#include <stdbool.h>

/* *out_fd is the caller's, and may be handed to another process. */
must_check int moves_open(int *out_fd, struct err *err);
/* Before the folder is read.  -ENOSPC: the user watches too many */
must_check int moves_watch(int fd, int dir);
/* Since the last call; true, too, where it cannot be told. */
must_check bool moves_any(int fd);

#endif
