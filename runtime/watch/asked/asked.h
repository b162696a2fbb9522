/*
 * The sensor of whoever may load no programs into the kernel: the kernel asks
 * it before each call of the agent's that makes an event, and it says "go on"
 * (seccomp_unotify(2), SECCOMP_USER_NOTIF_FLAG_CONTINUE), always, once it has
 * read what is asked for. The agent's first process hands the listener over
 * (ASKED_CHANNEL_FD); which calls they are is said by its filter
 * (runtime/launch/native/asking.c, by native.json's --ask).
 *
 * It decides nothing, and nothing may be built upon its seeing: after the
 * answer the kernel reads the process's memory once more, where another thread
 * may have put a second name in the place of the first one. It records what is
 * asked for; what came of it, it does not know, and no record says so.
 *
 * A thread of its own answers, and waits for nothing but the agent: messages
 * go to a queue, and those that find no room are counted as the ring's are. If
 * this program ends, what is asked then fails with ENOSYS: nothing of it is
 * done unseen.
 */
#ifndef RUNTIME_WATCH_ASKED_ASKED_H
#define RUNTIME_WATCH_ASKED_ASKED_H

#include "runtime/watch/sensor.h"

#define ASKED_BACK_END "asked"

/*
 * Waits for the listener at GATE_BROKER_FD.
 *   -ENOTSUP  the kernel does not ask (before Linux 5.5), or, where the plan
 *             requires its trace, an event is wanted that is no call it asks
 *             about
 */
must_check int asked_open(const struct select *s, sensor_message *on_message,
			  void *ctx, struct sensor **out, struct err *err);

#endif
