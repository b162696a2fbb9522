/*
 * Which programs take the events that are wanted, on which kernels.
 *
 *   fexit     where functions of the kernel can be traced: what it had in its
 *             hands, of io_uring too
 *   lsm       the same by the BPF LSM, where that is active
 *   sys_exit  everywhere: where system calls end, and what the process passed
 *             is read from its memory then
 *
 * All three tell the same events. They differ in these:
 *   - paths are as they were asked for (sys_exit), or as they were found, with
 *     links followed; an open that worked is the latter everywhere
 *   - a refusal before the hook (a name that is not there, no permission for
 *     the folder) is told as sys_exit tells it
 *   - an open that fails before its name is looked at (no descriptor left)
 *     is an event of lsm and sys_exit alone
 *   - of an io_uring, fexit and lsm tell what was found and whether a security
 *     module refused it, sys_exit what was asked for and how it went (Linux
 *     6.0 and later; before, its setup alone)
 *
 * Nothing is loaded here: sensor.c tries them in this order.
 */
#ifndef RUNTIME_WATCH_BACKEND_H
#define RUNTIME_WATCH_BACKEND_H

#include "runtime/watch/select.h"

struct btf;

enum backend {
	BACKEND_FEXIT,
	BACKEND_LSM,
	BACKEND_SYS_EXIT,
	BACKENDS,
};

/* What this kernel has. */
struct backend_kernel {
	bool takes[BACKENDS]; /* a program of that kind, tried */
	bool casts;	      /* bpf_rdonly_cast(): 6.2 */
	bool capable;	      /* the tracepoint cap_capable: 6.13 */
	bool ring_requests;   /* io_uring_submit_req: 6.4 */
	bool ring_sqes;	      /* io_uring_submit_sqe, of a request: 6.0 */
	bool ring_done_cqes;  /* io_uring_complete passes the entry: 6.15 */
};

const char *backend_name(enum backend b);
must_check bool backend_find(const char *name, enum backend *out);

/* Looks among the kernel's types (NULL: it tells of none), and loads a program
 * that does nothing, of each kind. */
void backend_kernel_read(const struct btf *types, struct backend_kernel *out);
/* Is a program of watch.bpf.c, by name, for this back end and selection? */
bool backend_uses(enum backend b, const struct backend_kernel *k,
		  const struct select *s, const char *program);
void backend_config(enum backend b, const struct backend_kernel *k,
		    const struct select *s, uint32_t prove_call,
		    struct watch_config *out);
/* Can it give this event? Those that are calls, always. */
bool backend_gives(enum backend b, const struct backend_kernel *k,
		   enum watch_event e);
/* "followed", or "its setup": how far an io_uring is seen into. */
const char *backend_io_uring(enum backend b, const struct backend_kernel *k);

/* foreign.c: fill foreign and sockets of out, whose calls are filled already.
 */
void foreign_fill(struct watch_config *out);

#endif
