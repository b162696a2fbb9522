/*
 * docker.json: the argument vectors of gate, agent, tracer, view and relay, as
 *the launcher runs them. Written by compiler/emit/docker/, read by
 * runtime/launch/docker/vectors.c; the gate reads the link.
 *
 *	{"version": 1, "engine": "docker", "runtime": "runc", "link": "veth",
 *	 "gate":  {"image": …, "argv": ["docker", "run", …]},
 *	 "agent": {…}, "tracer": {…} where something traces,
 *	 "view": {…} where masks are held by one,
 *	 "relay": {…} where tokens are renewed and an uplink is named; what it
 *	          connects to, ADDR and PORT, comes behind,
 *	 "credentials": [{"n": 1, "from_env": NAME},
 *	                 {"n": 2, "file": "~/…", "fields": [NAME.NAME, …],
 *	                  "refresh": URL where there is one}, …]
 *	                where there are any,
 *	 "home": "workspace" or "none", where it is not that of all sessions,
 *	 "upstream": {"proxy": "HOST:PORT", "from_env": NAME or
 *	              "from_file": "/…", "direct": [NAME or CIDR, …] where
 *	              any is}, where there is one,
 *	 "upstream_ca": "/…" or "~/…", a file of roots, where one is named,
 *	 "host_ports": [11434, …] of the machine, where there are any,
 *	 "published": [{"addr": "127.0.0.1", "port": 3000, "to": 5173}, …] of
 *	                the machine, where there are any}
 *
 * {session}, {workspace}, {home}, {state}, {user-home}, {resolver} (the host's,
 *an address) and {env:NAME} stand for text, {masks}, {terminal}, {environment},
 *{owner}, {own-path}, {git}, {tracing}, {init}, {entrypoint} and {command} for
 *words; {{ and }} are braces.
 */
#ifndef COMPILER_PLAN_DOCKER_JSON_H
#define COMPILER_PLAN_DOCKER_JSON_H

#define DOCKER_JSON_VERSION_KEY	   "version"
#define DOCKER_JSON_VERSION	   1
#define DOCKER_JSON_ENGINE	   "engine"
#define DOCKER_JSON_DOCKER	   "docker" /* the only one */
#define DOCKER_JSON_RUNTIME	   "runtime"
#define DOCKER_JSON_LINK	   "link"
#define DOCKER_JSON_VETH	   "veth"
#define DOCKER_JSON_BRIDGE	   "bridge"
#define DOCKER_JSON_WIRE	   "wire"  /* of kubernetes.json */
#define DOCKER_JSON_APART	   "apart" /* likewise */
#define DOCKER_JSON_GATE	   "gate"
#define DOCKER_JSON_AGENT	   "agent"
#define DOCKER_JSON_TRACER	   "tracer"
#define DOCKER_JSON_TRACER_VERSION "tracer_version"
#define DOCKER_JSON_VIEW	   "view"
#define DOCKER_JSON_RELAY	   "relay"
#define DOCKER_JSON_IMAGE	   "image"
#define DOCKER_JSON_ARGV	   "argv"
#define DOCKER_JSON_CREDENTIALS	   "credentials"
#define DOCKER_JSON_NUMBER	   "n"
#define DOCKER_JSON_FROM_ENV	   "from_env"
#define DOCKER_JSON_FROM_FILE	   "from_file"
#define DOCKER_JSON_FILE	   "file"
#define DOCKER_JSON_FIELDS	   "fields"
#define DOCKER_JSON_REFRESH	   "refresh"
#define DOCKER_JSON_SSH_AGENT	   "ssh_agent"
#define DOCKER_JSON_HOME	   "home"
#define DOCKER_JSON_HOME_WORKSPACE "workspace"
#define DOCKER_JSON_HOME_NONE	   "none"
#define DOCKER_JSON_UPSTREAM	   "upstream"
#define DOCKER_JSON_PROXY	   "proxy"
#define DOCKER_JSON_DIRECT	   "direct"
#define DOCKER_JSON_UPSTREAM_CA	   "upstream_ca"
#define DOCKER_JSON_HOST_PORTS	   "host_ports"
#define DOCKER_JSON_PUBLISHED	   "published"
#define DOCKER_JSON_ADDR	   "addr"
#define DOCKER_JSON_PORT	   "port"
#define DOCKER_JSON_TO		   "to"

/* Whole words that stand for words. */
#define DOCKER_JSON_MASKS     "{masks}"
#define DOCKER_JSON_TERMINAL  "{terminal}"
#define DOCKER_JSON_USER_HOME "{user-home}" /* of whoever runs membrane */
#define DOCKER_JSON_OWNER     "{owner}"
#define DOCKER_JSON_GIT	      "{git}"
#define DOCKER_JSON_TRACING   "{tracing}"
/* The workspace at the path that it has on the host, where a view can be. */
#define DOCKER_JSON_OWN_PATH	    "{own-path}"
#define DOCKER_JSON_REPOSITORY	    "{repository}"
#define DOCKER_JSON_REPOSITORY_VIEW "{repository-view}"
#define DOCKER_JSON_COMMAND	    "{command}"
/* What the host says of the user's terminal and language, as variables; what
 * the init is told; what the image begins with, and its command where none was
 * given. */
#define DOCKER_JSON_ENVIRONMENT "{environment}"
#define DOCKER_JSON_INIT_WORDS	"{init}"
#define DOCKER_JSON_ENTRYPOINT	"{entrypoint}"

/* In the session's folder, what the view's container shares with the host, and
 * in that the place where the view is mounted. */
#define DOCKER_JSON_VIEW_FOLDER "view"
#define DOCKER_JSON_VIEW_MOUNT	"workspace"
#define DOCKER_JSON_VIEW_HOME	"home" /* with `protect` */

/* That file of the session's folder is the agent's first process:
 * compiler/plan/init_words.h. */
#define DOCKER_JSON_INIT    "init"
#define DOCKER_JSON_INIT_AT "/etc/membrane/init"
/* A FIFO there, with runc: the init holds it open up to the command's first
 * instruction, and writes a byte where that cannot be. */
#define DOCKER_JSON_BEGUN    "begun"
#define DOCKER_JSON_BEGUN_AT "/etc/membrane/begun"
/* With `protect`: that one, as the agent's main process loads it. */
#define DOCKER_JSON_SEAL    "seal.so"
#define DOCKER_JSON_SEAL_AT "/etc/membrane/seal.so"

/* With `ssh_agent`: that socket of the session's folder, at that place; the
 * launcher answers it. */
#define DOCKER_JSON_SSH_SOCKET	  "ssh-agent"
#define DOCKER_JSON_SSH_SOCKET_AT "/etc/membrane/ssh-agent"

/* With "host_ports": that socket of the session's folder, where the gate has
 * GATE_PORTS. The gate opens the ports at LINK_MACHINE_V4, in the order of the
 * list, and hands the sockets over; the launcher answers at them. */
#define DOCKER_JSON_PORTS_SOCKET "ports"
/* With "published": likewise, where the gate has GATE_PUBLISHED. The launcher
 * opens the ports of this machine, in the order of the list, and hands the
 * sockets over to whoever connects first; the gate answers at them, inside. */
#define DOCKER_JSON_PUBLISHED_SOCKET "published"

/* With "upstream_ca": what was in that file, in one of the session's folder,
 * where the gate has GATE_UPSTREAM_CA. */
#define DOCKER_JSON_UPSTREAM_CA_FILE "upstream-ca.pem"

/* In the session's folder: the gate's own roots and the session's CA, made for
 * the agent's mounts when the gate is ready. */
#define DOCKER_JSON_BUNDLE "bundle.pem"

/* {git}: the mount of that file of the session's folder, at that place; no word
 * where git of the host says nothing. */
#define DOCKER_JSON_GIT_IDENTITY    "gitidentity"
#define DOCKER_JSON_GIT_IDENTITY_AT "/etc/membrane/gitidentity"
/* {repository}: the mounts of the folder of git's own files that a workspace is
 * a worktree of, at its own path, and of this file of the session's folder in
 * the place of the workspace's `.git`; {repository-view}: that of the view's
 * container. No word where there is none, or nobody approved it. */
#define DOCKER_JSON_GITLINK "gitlink"
/* Files of the plan, as git inside finds them: the first by its variable, the
 * others by the first. */
#define DOCKER_JSON_GIT_AT	      "/etc/membrane/gitconfig"
#define DOCKER_JSON_GIT_EXCLUDE_AT    "/etc/membrane/gitexclude"
#define DOCKER_JSON_GIT_ATTRIBUTES_AT "/etc/membrane/gitattributes"
#define DOCKER_JSON_GIT_FILTER	      "membrane"
/* And what says there where one is. */
#define DOCKER_JSON_README_AT "/etc/membrane/README"
/* What ssh reads besides the image's own ssh_known_hosts. */
#define DOCKER_JSON_KNOWN_HOSTS_AT "/etc/ssh/ssh_known_hosts2"

/* What is made of the vectors: containers membrane-ROLE-SESSION, a network
 * membrane-SESSION, and labels by which all of it is found again. */
#define DOCKER_JSON_OURS	  "membrane-"
#define DOCKER_JSON_LABEL_SESSION "membrane.session"
#define DOCKER_JSON_LABEL_ROLE	  "membrane.role"

/* What the gate gets where the host's own resolver is to be asked. */
#define DOCKER_JSON_RESOLVER "--resolver={resolver}"

/* Images that are built here: image/. */
#define DOCKER_JSON_IMAGE_GATE	"membrane-gate"
#define DOCKER_JSON_IMAGE_AGENT "membrane-agent"
#define DOCKER_JSON_IMAGE_WATCH "membrane-watch"
#define DOCKER_JSON_IMAGE_VIEW	"membrane-view"

#endif
