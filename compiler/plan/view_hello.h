/*
 * What the launcher says on stdin to membrane-view (runtime/view), and what
 * that answers on stdout. Text lines, each ended by LF:
 *
 *	membrane-view 1
 *	owner UID GID           whose ids the view runs with; decimal
 *	root DEV INO            what SOURCE must be: st_dev and st_ino, decimal
 *	at PATH                 optional: where the workspace is on the host,
 *	                        absolute: links may spell it out
 *	readonly                optional: all of the workspace is read-only
 *	hold PATH               any number: read-only by name, there or not
 *	hide PATH               any number: hidden with all below it
 *	inode DEV INO SEC NSEC  any number: hidden under whatever name; the time
 *	                        of birth of statx(2), 0 0 when it is not known
 *	go
 *
 * Parts in that order. A PATH is relative to the workspace, segments separated
 * by single slashes, none of them '.' or '..', none at either end; bytes up to
 * 0x20, '%' and 0x7f are written as '%' and two hexadecimal digits. Anything
 * else refuses the whole.
 *
 * Later, once, when the agent has a mount of its own: detach. The end of stdin
 * is the end of the view.
 *
 * On stdout, a JSON object a line:
 *
 *	{"event":"ready"}       mounted; the first request can be answered
 *	{"event":"detached"}
 *	{"event":"decision","time":…,"kind":"write"|"read","verdict":"deny",
 *	 "reason":…,"path":…,"rule":{"section":…,"line":N},"count":N}
 *	{"event":"error","message":…}   then status 1
 *	{"event":"done"}        the last line, after all counts
 *
 * reason is a name of compiler/base/reason.def. What decided is line N, from 0,
 * of its section of mounts.plan ("ignore", "readonly", "hold"), or of the hold
 * lines said here ("git"), or of the hide lines said here ("hide"); "inode"
 * (hidden under another name before) and "all" (the whole workspace) have none.
 *
 * count is how many refusals the line tells of. One line tells of the first
 * refusal of a kind at a path, then one a second at most with what came since;
 * beyond VIEW_HELLO_PAIRS_MAX of both, all others are told under
 * VIEW_HELLO_OTHERS.
 */
#ifndef COMPILER_PLAN_VIEW_HELLO_H
#define COMPILER_PLAN_VIEW_HELLO_H

#define VIEW_HELLO_HEAD	    "membrane-view 1"
#define VIEW_HELLO_OWNER    "owner"
#define VIEW_HELLO_ROOT	    "root"
#define VIEW_HELLO_AT	    "at"
#define VIEW_HELLO_READONLY "readonly"
#define VIEW_HELLO_HOLD	    "hold"
#define VIEW_HELLO_HIDE	    "hide"
#define VIEW_HELLO_INODE    "inode"
#define VIEW_HELLO_GO	    "go"
#define VIEW_HELLO_DETACH   "detach"

/* A PATH has less than LIMIT_PATH_BYTES, each written in three at most. */
#define VIEW_HELLO_PATHS_MAX  65536u /* hold and hide together */
#define VIEW_HELLO_INODES_MAX 65536u
#define VIEW_HELLO_BYTES_MAX  (16u << 20) /* up to the end of "go" */

#define VIEW_SAYS_EVENT	   "event"
#define VIEW_SAYS_READY	   "ready"
#define VIEW_SAYS_DETACHED "detached"
#define VIEW_SAYS_DECISION "decision"
#define VIEW_SAYS_ERROR	   "error"
#define VIEW_SAYS_DONE	   "done"

#define VIEW_SAYS_IGNORE      "ignore"
#define VIEW_SAYS_IS_READONLY "readonly"
#define VIEW_SAYS_HOLD	      "hold"
#define VIEW_SAYS_GIT	      "git"
#define VIEW_SAYS_HIDE	      "hide"
#define VIEW_SAYS_INODE	      "inode"
#define VIEW_SAYS_ALL	      "all"

#define VIEW_HELLO_PAIRS_MAX 4096u
#define VIEW_HELLO_OTHERS    "…"

#endif
