/*
 * Where HAProxy's log lines arrive: a unix datagram socket.
 *
 * HAProxy itself waits for no reader, it drops and counts. The queue is made as
 * long as the kernel allows, and once it is full the reader in HAProxy's
 * process waits in its place (runtime/reader/interpose.c). So whoever waits for
 * HAProxy takes lines off the queue meanwhile, and keeps them for l7log_read().
 */
#ifndef RUNTIME_GATE_L7_L7LOG_H
#define RUNTIME_GATE_L7_L7LOG_H

#include "compiler/base/err.h"
#include "runtime/gate/record/logline.h"

#include <sys/types.h>

#define L7LOG_READS_MAX 256u /* before others get their turn */
#define L7LOG_KEEP	(512u << 10)

/* pid: of the process that sent it, as the kernel says; 0: unknown. */
typedef void l7log_fn(void *data, pid_t pid, const struct logline *line);

struct l7log {
	int fd;	     /* -1: not open */
	size_t kept; /* bytes */
	char lines[L7LOG_KEEP];
};

must_check int l7log_open(struct l7log *log, const char *path, struct err *err);
/* Read what was kept, and what is there; the number of lines. */
unsigned l7log_read(struct l7log *log, l7log_fn *fn, void *data);
/* Take what is there and keep it, without a look at it. False when there is no
 * room for more: what comes then stays in the queue. */
bool l7log_keep(struct l7log *log);

#endif
