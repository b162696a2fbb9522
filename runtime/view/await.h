/*
 * The next request of the kernel. Where a processor without work falls asleep
 * at once, as in most virtual machines, to wake it takes longer than most
 * answers: so it is looked for, for a moment, before it is slept for. Linux
 * does likewise for its guests (Documentation/virt/kvm/halt-polling.rst).
 */
#ifndef RUNTIME_VIEW_AWAIT_H
#define RUNTIME_VIEW_AWAIT_H

#include "runtime/view/view.h"

/* As fuse_session_receive_buf; of one thread at a time. */
int await_request(struct fuse_session *s, struct fuse_buf *buf);

#endif
