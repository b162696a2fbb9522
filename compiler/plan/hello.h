/*
 * The first line that the launcher says on stdin, to the gate
 * (runtime/gate/l7/hello.c) and to the tracer (runtime/watch/main.c):
 *
 *	{"version":1,"session":ID,"host":[ADDR,…],"credentials":{"1":VALUE,…}}
 *	{"version":1,"host":NAME,"netns":INODE,"pidns":INODE,"workspace":PATH}
 *
 * "credentials" is there only when there are any, and has those that stand for
 * sentinels under "N:DIGITS" (compiler/plan/gate.h); the tracer's has netns 0 and
 * "agent":NAME where the agent has a namespace of its own, and "workspace" where
 * the workspace is in the session at that path, too.
 */
#ifndef COMPILER_PLAN_HELLO_H
#define COMPILER_PLAN_HELLO_H

#define HELLO_VERSION_KEY "version"
#define HELLO_VERSION	  1
#define HELLO_SESSION	  "session"
#define HELLO_HOST	  "host"
#define HELLO_CREDENTIALS "credentials"
#define HELLO_NETNS	  "netns"
#define HELLO_PIDNS	  "pidns"
#define HELLO_AGENT	  "agent"
#define HELLO_WORKSPACE	  "workspace"

#endif
