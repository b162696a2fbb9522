/*
 * What the files of this room ask of each other: a system call that the kernel
 * asks about, as a message of the kernel's side
 * (runtime/watch/kernel/event.h) with WATCH_ASKED: what the process asks for,
 * not what comes of it. What is not known yet, or cannot be read, is left out.
 */
#ifndef RUNTIME_WATCH_ASKED_PARTS_H
#define RUNTIME_WATCH_ASKED_PARTS_H

#include "runtime/watch/select.h"

#include <linux/seccomp.h>

struct message {
	int listener; /* where it is asked, and by which question */
	__u64 id;
	struct watch_head head; /* the message: from here, head.bytes */
	char items[WATCH_ITEMS_MAX + WATCH_ITEM_MAX];
};

/* False: it is no event that is wanted, or who asks is gone. */
must_check bool message_make(struct message *m, const struct select *s,
			     int listener, const struct seccomp_notif *asked);
/* Who asked waits still: what was found under its number is its own. */
must_check bool message_waits(const struct message *m);

#endif
