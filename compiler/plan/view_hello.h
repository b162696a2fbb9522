/*
 * What the launcher says on stdin to membrane-view (runtime/view), and what
 * that answers on stdout. Text lines, each ended by LF:
 *
 *	membrane-view 1
 *	owner UID GID           whose ids the view runs with; decimal
 *	root DEV INO            what SOURCE must be: st_dev and st_ino, decimal
 *	at PATH                 optional: where the workspace is on the host,
 *	                        absolute: links may spell it out
 *	program NAME            optional, of a home: whose files that are
 *	                        protected may be opened
 *	readonly                optional: all of the workspace is read-only
 *	repository DEV INO      optional: what VIEW_HELLO_REPOSITORY is, the
 *	                        folder of git's files that the workspace is a
 *	                        worktree of
 *	part PATH               optional, behind that: the workspace is that
 *	                        folder of it. VIEW_HELLO_BESIDE then is the
 *	                        repository's folder, with the outside lines
 *	                        beside .git
 *	module TEXT             optional, behind that: the workspace is a
 *	                        submodule, whose configuration says where its
 *	                        files are on the host: this, written like a
 *	                        PATH, is put behind what git reads, in the
 *	                        session alone
 *	linked PATTERN          any number, in order: read-only in there, where
 *	                        it is called ".git"; anchored, written like a
 *	                        PATH
 *	attributes              optional: the repository has filters of its own
 *	                        for what is hidden: git.attributes of the plan
 *	                        is put behind its info/attributes, in the
 *	                        session alone
 *	hold PATH               any number: read-only by name, there or not
 *	hide PATH               any number: hidden with all below it
 *	inode DEV INO SEC NSEC  any number: hidden under whatever name; the time
 *	                        of birth of statx(2), 0 0 when it is not known
 *	tracked KIND PATH SIZE MTIME NSEC CTIME NSEC INO UID GID [TEXT]
 *	                        any number: hidden, and in git's index, which
 *	                        says all of that: it is shown so, whatever the
 *	                        disk has, without content. KIND is file, program
 *	                        or link; of a link, TEXT is where it leads in
 *	                        the index, written like a PATH
 *	outside KIND PATH SIZE MTIME NSEC CTIME NSEC INO UID GID [TEXT]
 *	                        any number, of a part: the same of the
 *	                        repository beside the workspace, from the
 *	                        repository's folder; KIND may be folder (a
 *	                        submodule), too
 *	text PATH TEXT          any number, of a part: a file there that git
 *	                        reads, and what is in it, written like a PATH
 *	go
 *
 * Parts in that order. A PATH is relative to the workspace, segments separated
 * by single slashes, none of them '.' or '..', none at either end; bytes up to
 * 0x20, '%' and 0x7f are written as '%' and two hexadecimal digits. Anything
 * else refuses the whole.
 *
 * With a HOME there are two of these, the workspace's first; what is said is of
 * both, a path of the home with "~/" before it.
 *
 * Later, once, when the agent has a mount of its own: detach. The end of stdin
 * is the end of the view.
 *
 * On stdout, a JSON object a line:
 *
 *	{"event":"ready"}       mounted; the first request can be answered
 *	{"event":"detached"}
 *	{"event":"unsealed"}    once: the program that files are protected for
 *	                        asked, and its memory was open to others
 *	{"event":"decision","time":…,"kind":"write"|"read","verdict":"deny",
 *	 "reason":…,"path":…,"rule":{"section":…,"line":N},"count":N}
 *	{"event":"error","message":…}   then status 1
 *	{"event":"kept","path":…,"what":"file"|"removed"|"config","text":…}
 *	                        at the end: what git wrote in the session and
 *	                        no file on the disk has. text of a config alone:
 *	                        all of it, unless it is longer than
 *	                        VIEW_SAYS_TEXT_MAX or no UTF-8
 *	{"event":"done"}        the last line, after all counts
 *
 * A line is shorter than VIEW_SAYS_LINE_MAX.
 *
 * Paths in the repository begin with ".git/", which of such a workspace is a
 * file.
 *
 * reason is a name of compiler/base/reason.def. What decided is line N, from 0,
 * of its section of mounts.plan ("ignore", "readonly", "hold", "protect"), or
 * of the hold lines said here ("git"), or of the linked lines ("linked"), or of
 * the hide lines said here ("hide"); "inode"
 * (hidden under another name before), "all" (the whole workspace) and "outside"
 * (of the repository, beside the workspace) have none.
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
#define VIEW_HELLO_PROGRAM  "program"
#define VIEW_HELLO_READONLY "readonly"
#define VIEW_HELLO_SHOWN    "repository"
#define VIEW_HELLO_PART	    "part"
#define VIEW_HELLO_MODULE   "module"
#define VIEW_HELLO_LINKED   "linked"
#define VIEW_HELLO_FILTERED "attributes"
#define VIEW_HELLO_HOLD	    "hold"
#define VIEW_HELLO_HIDE	    "hide"
#define VIEW_HELLO_INODE    "inode"
#define VIEW_HELLO_TRACKED  "tracked"
#define VIEW_HELLO_OUTSIDE  "outside"
#define VIEW_HELLO_TEXT	    "text"
#define VIEW_HELLO_GO	    "go"
#define VIEW_HELLO_DETACH   "detach"

/*
 * Where the view finds the repository: mounted in a folder of its container's.
 * In the view, that folder is VIEW_HELLO_BESIDE in the workspace's: not listed,
 * and whatever has that name on the disk is not seen.
 */
#define VIEW_HELLO_REPOSITORY_DIR "/repository"
#define VIEW_HELLO_REPOSITORY	  VIEW_HELLO_REPOSITORY_DIR "/.git"
#define VIEW_HELLO_BESIDE	  ".membrane-repository"
#define VIEW_HELLO_LINKED_MAX	  64u
#define VIEW_HELLO_CONFIG_MAX	  (1u << 20)

#define VIEW_HELLO_ATTRIBUTES ".git/info/attributes"
#define VIEW_HELLO_EXCLUDE    ".git/info/exclude"

/* Of an outside line. */
enum view_outside {
	VIEW_OUTSIDE_FILE,
	VIEW_OUTSIDE_PROGRAM,
	VIEW_OUTSIDE_LINK,
	VIEW_OUTSIDE_FOLDER,
};
#define VIEW_OUTSIDE_KINDS                                                     \
	{                                                                      \
		"file", "program", "link", "folder"                            \
	}
/* Its numbers, as git's index has them: 32 bits each. */
enum view_outside_number {
	VIEW_OUTSIDE_SIZE,
	VIEW_OUTSIDE_MTIME,
	VIEW_OUTSIDE_MTIME_NS,
	VIEW_OUTSIDE_CTIME,
	VIEW_OUTSIDE_CTIME_NS,
	VIEW_OUTSIDE_INO,
	VIEW_OUTSIDE_UID,
	VIEW_OUTSIDE_GID,
	VIEW_OUTSIDE_NUMBERS,
};

/*
 * What the init (runtime/inside) asks of the home's folder by getxattr(2). The
 * first who ever asks this is the session's main process. 0: so it is.
 */
#define VIEW_MAIN_ATTRIBUTE "user.membrane.main"
/*
 * And what the main process asks there: from now on each program that it goes
 * on as is closed before its first instruction. 0: so it is; ENODATA: another
 * process asks; else it is not, and the session ends.
 */
#define VIEW_SEAL_ATTRIBUTE "user.membrane.seal"

/* A PATH has less than LIMIT_PATH_BYTES, each written in three at most. */
#define VIEW_HELLO_PATHS_MAX   65536u /* hold and hide together */
#define VIEW_HELLO_INODES_MAX  65536u
#define VIEW_HELLO_TRACKED_MAX 10000u
#define VIEW_HELLO_OUTSIDE_MAX 100000u
#define VIEW_HELLO_TEXTS_MAX   1000u
#define VIEW_HELLO_BYTES_MAX   (16u << 20) /* up to the end of "go" */

#define VIEW_SAYS_EVENT	   "event"
#define VIEW_SAYS_READY	   "ready"
#define VIEW_SAYS_DETACHED "detached"
#define VIEW_SAYS_UNSEALED "unsealed"
#define VIEW_SAYS_DECISION "decision"
#define VIEW_SAYS_ERROR	   "error"
#define VIEW_SAYS_KEPT	   "kept"
#define VIEW_SAYS_DONE	   "done"

#define VIEW_SAYS_IGNORE      "ignore"
#define VIEW_SAYS_IS_READONLY "readonly"
#define VIEW_SAYS_HOLD	      "hold"
#define VIEW_SAYS_PROTECT     "protect"
#define VIEW_SAYS_GIT	      "git"
#define VIEW_SAYS_LINKED      "linked"
#define VIEW_SAYS_OUTSIDE     "outside"
#define VIEW_SAYS_HIDE	      "hide"
#define VIEW_SAYS_INODE	      "inode"
#define VIEW_SAYS_ALL	      "all"

/* What is kept: a file or link, that nothing is there, git's configuration. */
#define VIEW_SAYS_FILE	  "file"
#define VIEW_SAYS_REMOVED "removed"
#define VIEW_SAYS_CONFIG  "config"

/* A byte of a text is six in a line at most (\u00XX). */
#define VIEW_SAYS_TEXT_MAX (16u << 10)
#define VIEW_SAYS_LINE_MAX (128u << 10)

#define VIEW_HELLO_PAIRS_MAX 4096u
#define VIEW_HELLO_OTHERS    "…"

#endif
