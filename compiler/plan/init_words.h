/*
 * What the launcher tells the first process of the agent's container, and how:
 * words before "--", behind which the command stands. Written by
 * runtime/launch/inside.c, read by runtime/inside/init.c.
 *
 *	init [size=ROWSxCOLUMNS] [TERM=NAME] [LANG=NAME] [image=NAME]
 *	     [protects] [folder=PATH] -- COMMAND [WORD...]
 *	init seal [image=NAME] -- COMMAND [WORD...]
 *
 * TERM and LANG are the host's own, which the environment has, too: where it
 * still has them so and the image knows them not, a fallback takes their place.
 */
#ifndef COMPILER_PLAN_INIT_WORDS_H
#define COMPILER_PLAN_INIT_WORDS_H

#define INIT_SIZE   "size="
#define INIT_TERM   "TERM="
#define INIT_LANG   "LANG="
#define INIT_IMAGE  "image="
#define INIT_FOLDER "folder="
/* Asks the view of the home to close the memory of what it goes on as, and goes
 * on: no first process, but what that began. */
#define INIT_SEAL "seal"
/* With `protect`: the process that becomes the command says so to that view,
 * before anything else runs in there. */
#define INIT_PROTECTS "protects"
#define INIT_END      "--"

/* Exit statuses, as shells have them. */
#define INIT_FAILED	   125 /* ours: the command was not tried */
#define INIT_NOT_RUN	   126 /* it is there */
#define INIT_NOT_FOUND	   127
#define INIT_FALLBACK_TERM "xterm-256color"
#define INIT_FALLBACK_LANG "C.UTF-8"

#endif
