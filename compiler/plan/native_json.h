/*
 * native.json: the argument vectors of gate, agent and view as membrane's own
 * engine runs them, without a daemon and without an image. Written by
 * compiler/emit/native/, executed by runtime/launch/native/; the gate reads the
 * link and the ports.
 *
 * The form and the placeholders are those of docker.json, with "engine":
 * "native" and "uplink": how the gate gets out, by a tap device of
 * pasta's or slirp4netns', or by sockets that a broker of the launcher's makes
 * (runtime/broker). A vector begins with "native
 * run", its image is NATIVE_JSON_HOST: a root that is empty but for what the
 * words mount; or NATIVE_JSON_ROOT and a folder of the machine, which is under
 * what they mount, to be read. Of the words of `docker run` the engine knows
 *these, each as Docker does unless another thing is said, and refuses every
 *other:
 *
 *	--interactive --tty    the streams; a terminal of the session's own
 *	--detach-keys=         nothing: there are none
 *	--hostname=NAME
 *	--user UID:GID         --user=UID:GID
 *	--cap-drop=ALL         always so
 *	--cap-add=NAME         in the session's user namespace
 *	--security-opt=no-new-privileges   always so
 *	--security-opt=seccomp=FILE        by libseccomp
 *	--read-only            always so, but for a root of its own
 *	--sysctl=net.NAME=VALUE
 *	--ulimit=nofile=N:N    as far as the user's own limit goes
 *	--pids-limit=N         RLIMIT_NPROC: of one user, in the namespace
 *	--memory=BYTES         by a control group, or RLIMIT_DATA
 *	--cpus=N.NNN           by a control group
 *	--network=none         else the gate's own, or the agent's
 *	--pid=container:NAME   a namespace of processes of its own inside of the
 *	                       view's, which sees them; or inside of that of
 *	                       "asked", where that runs: else as without
 *	--ask=CALL,CALL        where "asked" runs, the kernel asks it before each
 *	                       of an event's calls; CALL:write, where its flags
 *	                       open a file to be written, made or emptied
 *	--ask                  of "asked": it is who is asked, by a descriptor of
 *	                       its own (GATE_BROKER_FD)
 *	--userns=host          the machine's users, not the session's: root's
 *	                       alone to give
 *	--device=/dev/fuse
 *	--mount=type=bind,source=,target=[,readonly][,optional][,shared]
 *	                       a source that is a link is the same link inside;
 *	                       optional: one that is not there is none
 *	                       all places in the order of their depth
 *	--volume=SOURCE:TARGET[:ro]
 *	--masks=FOLDER         what hides: FOLDER/file and FOLDER/dir, both empty
 *	--mask=KIND:DEV:INO:TARGET
 *	                       over what was seen there, behind all places, in the
 *	                       order of the words, no link followed; anything else
 *	                       ends the start. hide: something empty of its type;
 *	                       keep: itself, to be read; pin: itself, so that it
 *	                       keeps its name; is: nothing, it has to be that
 *	--tmpfs=TARGET[:exec,size=,mode=,uid=,gid=]
 *	--env=NAME=VALUE       --env=NAME: this process's own
 *	--workdir=DIR
 *	--entrypoint=PROGRAM   --entrypoint=: none; the last holds
 *	--init=false           nothing: ours is one that the vector names
 *
 * "tracer" and "asked" are two ways to record: by programs in the kernel, where
 * root launches the session, or by being asked, for everybody else.
 *
 * {programs} stands for the folder of membrane's own programs; {path}, a whole
 * word, for a PATH: the folders of the user's own that a word mounts, but for
 * what is membrane's, and behind them the system's; of an unpacked archive those
 * of its image, with what else that has in its environment.
 */
#ifndef COMPILER_PLAN_NATIVE_JSON_H
#define COMPILER_PLAN_NATIVE_JSON_H

#define NATIVE_JSON_NATIVE  "native"
#define NATIVE_JSON_HOST    "host"
#define NATIVE_JSON_UPLINK  "uplink"
#define NATIVE_JSON_TAP	    "tap"
#define NATIVE_JSON_SOCKETS "sockets"
#define NATIVE_JSON_PATH    "{path}"
#define NATIVE_JSON_ASKED   "asked"
#define NATIVE_JSON_WRITE   ":write"
#define NATIVE_JSON_ROOT    "dir:"

#define NATIVE_JSON_MASKS "--masks={state}/empty"
#define NATIVE_JSON_MASK  "--mask=" /* {masks}, expanded */
#define NATIVE_JSON_HIDE  "hide"
#define NATIVE_JSON_KEEP  "keep"
#define NATIVE_JSON_PIN	  "pin"
#define NATIVE_JSON_IS	  "is"

/*
 * Of an archive: what is unpacked before anything starts, {"file": "/…",
 * "sha256": "…"}, and the root that it is then, with the digest.
 */
#define NATIVE_JSON_ARCHIVE  "archive"
#define NATIVE_JSON_FILE     "file"
#define NATIVE_JSON_SHA256   "sha256"
#define NATIVE_JSON_UNPACKED NATIVE_JSON_ROOT "{state}/images/%.*s/root"

/* In {programs}, and in the root of the part that each is. */
#define NATIVE_JSON_GATE   "membrane-gate"
#define NATIVE_JSON_READER "membrane-reader.so"
#define NATIVE_JSON_VIEW   "membrane-view"
#define NATIVE_JSON_WATCH  "membrane-watch"

/* In the session's folder: lists of the system's that are the session's. */
#define NATIVE_JSON_USERS  "passwd"
#define NATIVE_JSON_GROUPS "group"
#define NATIVE_JSON_HOSTS  "hosts"
#define NATIVE_JSON_PROTOCOLS "protocols" /* the gate's, as in its image */

#endif
