/*
 * Where HAProxy's log lines arrive: a unix datagram socket.
 *
 * HAProxy never waits for a reader, it drops and counts; so the queue is made
 * as long as the kernel allows.
 */
#ifndef RUNTIME_GATE_L7_L7LOG_H
#define RUNTIME_GATE_L7_L7LOG_H

#include "compiler/base/err.h"
#include "runtime/gate/record/logline.h"

#include <sys/types.h>

#define L7LOG_READS_MAX 256u /* before others get their turn */

/* pid: of the process that sent it, as the kernel says; 0: unknown. */
typedef void l7log_fn(void *data, pid_t pid, const struct logline *line);

/* The socket's descriptor. */
must_check int l7log_open(const char *path, struct err *err);
/* Read what is there; the number of lines. */
unsigned l7log_read(int fd, l7log_fn *fn, void *data);

#endif
