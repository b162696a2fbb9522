/*
 * Users of the gate's own processes: who decides (HAProxy) and who speaks to a
 * proxy. The gate's namespace of users has them, or the gate's own alone.
 */
#ifndef RUNTIME_GATE_L7_USER_H
#define RUNTIME_GATE_L7_USER_H

#include <sys/types.h>

/* That one, or the gate's own where its namespace has no other. Of a process
 * that is root there. */
uid_t user_there(uid_t uid);
/*
 * Become it for good, in a process that will be another program or is forked:
 * no group but that one, no capability. -1 and errno. Where there is no such
 * user: one more namespace of users, in which the gate's own is called so, and
 * which has power over nothing, since nothing belongs to it.
 */
int user_become(uid_t uid, gid_t gid);

#endif
