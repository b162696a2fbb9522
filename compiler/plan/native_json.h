/*
 * native.json: the argument vectors of gate, agent and view as membrane's own
 * engine runs them, without a daemon and without an image. Written by
 * compiler/emit/native/, executed by runtime/launch/native/; the gate reads the
 * link and the ports.
 *
 * The form and the placeholders are those of docker.json, with "engine":
 * "native" and "uplink": how the gate gets out. A vector begins with "native
 * run", its image is NATIVE_JSON_HOST: a root that is empty but for what the
 * words mount. Of the words of `docker run` the engine knows these, each as
 * Docker does unless another thing is said, and refuses every other:
 *
 *	--interactive --tty    the streams; a terminal of the session's own
 *	--detach-keys=         nothing: there are none
 *	--hostname=NAME
 *	--user UID:GID         --user=UID:GID
 *	--cap-drop=ALL         always so
 *	--cap-add=NAME         in the session's user namespace
 *	--security-opt=no-new-privileges   always so
 *	--security-opt=seccomp=FILE        by libseccomp
 *	--read-only            always so
 *	--sysctl=net.NAME=VALUE
 *	--ulimit=nofile=N:N    as far as the user's own limit goes
 *	--pids-limit=N         RLIMIT_NPROC: of one user, in the namespace
 *	--network=none         else the gate's own, or the agent's
 *	--device=/dev/fuse
 *	--mount=type=bind,source=,target=[,readonly][,optional][,shared]
 *	                       a source that is a link is the same link inside;
 *	                       optional: one that is not there is none
 *	                       all places in the order of their depth
 *	--volume=SOURCE:TARGET[:ro]
 *	--tmpfs=TARGET[:exec,size=,mode=,uid=,gid=]
 *	--env=NAME=VALUE       --env=NAME: this process's own
 *	--workdir=DIR
 *	--entrypoint=PROGRAM
 *	--init=false           nothing: there is one, and only ours
 *
 * {programs} stands for the folder of membrane's own programs.
 */
#ifndef COMPILER_PLAN_NATIVE_JSON_H
#define COMPILER_PLAN_NATIVE_JSON_H

#define NATIVE_JSON_NATIVE "native"
#define NATIVE_JSON_HOST   "host"
#define NATIVE_JSON_UPLINK "uplink"
#define NATIVE_JSON_PASTA  "pasta"

/* In {programs}, and in the gate's root and the view's. */
#define NATIVE_JSON_GATE   "membrane-gate"
#define NATIVE_JSON_READER "membrane-reader.so"
#define NATIVE_JSON_VIEW   "membrane-view"

/* In the session's folder: lists of the system's that are the session's. */
#define NATIVE_JSON_USERS  "passwd"
#define NATIVE_JSON_GROUPS "group"
#define NATIVE_JSON_HOSTS  "hosts"

#endif
