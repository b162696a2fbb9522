/*
 * docker.json: the argument vectors of gate, agent, tracer and view, as the
 * launcher runs them. Written by compiler/emit/docker/, read by
 * runtime/launch/docker/vectors.c; the gate reads the link.
 *
 *	{"version": 1, "engine": "docker", "runtime": "runc", "link": "veth",
 *	 "gate":  {"image": …, "argv": ["docker", "run", …]},
 *	 "agent": {…}, "tracer": {…} where something traces,
 *	 "view": {…} where masks are held by one,
 *	 "credentials": [{"n": 1, "from_env": NAME}, …] where there are any}
 *
 * {session}, {workspace}, {home}, {state} and {env:NAME} stand for text,
 * {masks}, {terminal}, {owner}, {git}, {tracing} and {command} for words; {{
 * and }} are braces.
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
#define DOCKER_JSON_GATE	   "gate"
#define DOCKER_JSON_AGENT	   "agent"
#define DOCKER_JSON_TRACER	   "tracer"
#define DOCKER_JSON_TRACER_VERSION "tracer_version"
#define DOCKER_JSON_VIEW	   "view"
#define DOCKER_JSON_IMAGE	   "image"
#define DOCKER_JSON_ARGV	   "argv"
#define DOCKER_JSON_CREDENTIALS	   "credentials"
#define DOCKER_JSON_NUMBER	   "n"
#define DOCKER_JSON_FROM_ENV	   "from_env"
#define DOCKER_JSON_FROM_FILE	   "from_file"

/* Whole words that stand for words. */
#define DOCKER_JSON_MASKS    "{masks}"
#define DOCKER_JSON_TERMINAL "{terminal}"
#define DOCKER_JSON_OWNER    "{owner}"
#define DOCKER_JSON_GIT	     "{git}"
#define DOCKER_JSON_TRACING  "{tracing}"
#define DOCKER_JSON_COMMAND  "{command}"

/* In the session's folder, what the view's container shares with the host, and
 * in that the place where the view is mounted. */
#define DOCKER_JSON_VIEW_FOLDER "view"
#define DOCKER_JSON_VIEW_MOUNT	"workspace"

/* {git}: the mount of that file of the session's folder, at that place, and the
 * variable that names it; no word where git of the host says nothing. */
#define DOCKER_JSON_GIT_FILE "gitconfig"
#define DOCKER_JSON_GIT_AT   "/etc/membrane/gitconfig"

/* What is made of the vectors: containers membrane-ROLE-SESSION, a network
 * membrane-SESSION, and labels by which all of it is found again. */
#define DOCKER_JSON_OURS	  "membrane-"
#define DOCKER_JSON_LABEL_SESSION "membrane.session"
#define DOCKER_JSON_LABEL_ROLE	  "membrane.role"

/* Images that are built here: image/. */
#define DOCKER_JSON_IMAGE_GATE	"membrane-gate"
#define DOCKER_JSON_IMAGE_AGENT "membrane-agent"
#define DOCKER_JSON_IMAGE_WATCH "membrane-watch"
#define DOCKER_JSON_IMAGE_VIEW	"membrane-view"

#endif
