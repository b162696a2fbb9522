/*
 * The first line that the launcher says on stdin, to the gate
 * (runtime/gate/l7/hello.c) and to the tracer (runtime/watch/main.c):
 *
 *	{"version":1,"session":ID,"host":[ADDR,…],"credentials":{"1":VALUE,…}}
 *	 and behind that "proxy":{"addr":ADDR,"port":PORT,"login":TEXT} where
 *the gate goes out by one, the last where it has a login; "trial":true where no
 *agent will begin, so that "ready" is said once HAProxy serves, too
 *	{"version":1,"host":NAME,"netns":INODE,"pidns":INODE,"workspace":PATH}
 *
 * "credentials" is there only when there are any, and has those that stand for
 * sentinels under "N:DIGITS" (compiler/plan/gate.h); the tracer's has netns 0
 *and "agent":NAME where the agent has a namespace of its own, and "workspace"
 *where the workspace is in the session at that path, too.
 */
#ifndef COMPILER_PLAN_HELLO_H
#define COMPILER_PLAN_HELLO_H

#define HELLO_VERSION_KEY "version"
#define HELLO_VERSION	  1
#define HELLO_SESSION	  "session"
#define HELLO_HOST	  "host"
#define HELLO_CREDENTIALS "credentials"
#define HELLO_PROXY	  "proxy"
#define HELLO_ADDR	  "addr"
#define HELLO_PORT	  "port"
#define HELLO_LOGIN	  "login"
#define HELLO_TRIAL	  "trial"
#define HELLO_NETNS	  "netns"
#define HELLO_PIDNS	  "pidns"
#define HELLO_AGENT	  "agent"
#define HELLO_WORKSPACE	  "workspace"

/*
 * Later the launcher asks the tracer whose a refusal was (runtime/watch/whose.h)
 * and is told by a line on its stderr, "who", with these arguments: id, how
 * sure that is, and where it is somebody's pid, comm and command.
 */
#define HELLO_WHO	  "who"
#define HELLO_COMMAND_MAX 512u /* bytes; it ends with a whole word */
#define HELLO_WHOSE_MAX	  300u /* of a name or a path that is asked about */

enum hello_sure { HELLO_NOBODY, HELLO_PROBABLY, HELLO_SURELY };

#endif
