/*
 * What the files of the server share.
 *
 * Requests of the kernel (ops_*.c) come to nodes (node.h), which are judged
 * (judge.h) and looked at on the disk (tree.c). One lock is held for all that
 * has to do with names, so that what is judged is what is opened; reading and
 * writing of open files needs none.
 *
 * Functions return 0 or a positive errno, which is what an answer says.
 */
#ifndef RUNTIME_VIEW_VIEW_H
#define RUNTIME_VIEW_VIEW_H

#define FUSE_USE_VERSION FUSE_MAKE_VERSION(3, 12)

#include "compiler/base/err.h"
#include "compiler/plan/view_hello.h"
#include "runtime/view/aside/copies.h"
#include "runtime/view/judge/hidden.h"
#include "runtime/view/node.h"
#include "runtime/view/record.h"
#include "runtime/view/watches.h"

#include <dirent.h>
#include <fuse3/fuse_lowlevel.h>
#include <pthread.h>
#include <sys/stat.h>

/*
 * The longest that a change on the host stays unseen inside, in seconds: where
 * nothing is heard of it, and where it is but for what says nothing, as a file
 * that is written to by mmap(2).
 */
#define VIEW_TIMEOUT_S	     1.0
#define VIEW_TIMEOUT_HEARD_S 60.0
/* Paths in messages; deeper ones can be made, and are called "…". */
#define VIEW_PATH_MAX 4096u

struct handle {
	struct handle *next; /* of the same node */
	struct node *node;
	int fd;			/* -1: hidden, and empty */
	struct copy_data *data; /* made aside: fd is its own */
	DIR *dir;		/* of a folder that is not hidden */
	struct dirent *ent;	/* read, and not answered yet */
	off_t at;		/* where it was read */
	uint32_t serial;	/* of what is aside, behind the disk's */
	bool past;		/* the disk's has been listed */
	bool hollow;		/* hidden, of a size that is shown */
};

/* A lock of an index that was made here, and may still be held. */
#define VIEW_LOCK_NAME "index.lock"
#define VIEW_LOCKS_MAX 16
struct view_lock {
	bool used;
	int dir; /* O_PATH */
	struct hidden_file file;
};

struct view {
	pthread_mutex_t lock;
	struct judge *judge;
	struct nodes nodes;
	struct watches watches;
	struct hidden hidden;
	struct hidden made; /* folders of git's that were made here */
	struct copies copies;
	struct view_lock locks[VIEW_LOCKS_MAX];
	struct record *record;
	struct fuse_session *session;
	struct str target, at; /* what is viewed, inside and on the host */
	int beside;	       /* O_PATH: the folder with a repository; -1 */
	bool part; /* that is one that the workspace is a folder of */
	bool home; /* the agent's; else the workspace */
	int who;   /* of a home: who.h */
	int proc;  /* /proc/self/fd */
	uid_t uid;
	gid_t gid;
	/* Ids that the namespace does not map show as these; -1: all are. */
	uid_t other_uid;
	gid_t other_gid;
};

/* --- tree.c: names on the disk -------------------------------------------- */

static inline struct view *view_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}
struct node *view_node(struct view *v, fuse_ino_t ino);
fuse_ino_t view_ino(const struct view *v, const struct node *n);

/* statx(2) of a name in a folder, or of a descriptor where name is "". */
int view_look(int fd, const char *name, struct statx *out);
/* Is that what the node stands for? */
bool view_is_same(const struct node *n, const struct statx *x);
/* Is that the folder with the repository, VIEW_HELLO_BESIDE? */
bool view_is_beside(const struct view *v, const struct node *dir,
		    const char *name);
bool view_is_beside_node(const struct view *v, const struct node *n);
/* As the kernel is told of it. */
void view_attr(struct view *v, const struct node *n, const struct statx *x,
	       struct stat *out);
/* Its number, in the view. */
uint64_t view_number(const struct view *v, const struct statx *x);
struct hidden_file view_identity(const struct statx *x);
/* Is the folder still where it was found, and its word true? ESTALE */
int view_fresh(struct view *v, struct node *dir);
/* The same of any node; what has no name any more keeps its last word. */
int view_current(struct view *v, struct node *n);
/* What is seen under a name, and what is known of it: NULL, nothing. */
int view_find(struct view *v, struct node *dir, const char *name,
	      struct statx *x, struct copy **out_copy);
/* Look it up, and count a reference to its node. */
int view_enter(struct view *v, struct node *dir, const char *name,
	       struct fuse_entry_param *out);
void view_drop(struct view *v, struct node *n, uint64_t lookups);
/*
 * An O_PATH descriptor of what the node stands for, and what statx(2) says of
 * it; the caller closes it, unless it is the node's own folder. ESTALE: its
 * name is something else's now; the kernel then looks anew.
 */
int view_grab(struct view *v, struct node *n, int *out_fd, struct statx *x);
/* open(2) by its name, of a node that is current: ESTALE as above. */
int view_open_named(struct view *v, struct node *n, int flags, int *out_fd,
		    struct statx *x);
void view_release_fd(const struct node *n, int fd);
/* open(2) of what a descriptor holds, whatever its name is now. */
int view_reopen(struct view *v, int fd, int flags);
/* "123" for /proc/self/fd. */
#define VIEW_FD_TEXT_MAX 16
const char *view_fd_text(int fd, char buf[VIEW_FD_TEXT_MAX]);
/*
 * The bits that a file gets on the host: by none of the agent's does anybody
 * who runs it become its owner, or one of its group. chmod(2) may ignore both.
 */
static inline mode_t view_mode(mode_t mode)
{
	return S_ISDIR(mode) ? mode : mode & ~(mode_t)(S_ISUID | S_ISGID);
}
/* How long the kernel may go by it: what has two names may change under the
 * other. Seconds. */
double view_attr_timeout(const struct node *n, const struct statx *x);
/* Note what changed_* says of a file that was read or written here. */
void view_saw(struct node *n, const struct statx *x);

/* What setattr says of times, of a descriptor; as a call does. */
int view_set_times(int fd, const struct stat *to, int set);

/* --- verdict.c ------------------------------------------------------------ */

/*
 * What the policy says of what x tells of, under that name. What is hidden is
 * remembered, and what it leads to.
 */
struct judge_word view_judge(struct view *v, struct node *dir, const char *name,
			     const struct statx *x);
/* Is it hidden so that git may change it aside? */
static inline bool view_may_open(struct judge_word word)
{
	return word.section == JUDGE_BY_IGNORE ||
	       word.section == JUDGE_BY_OUTSIDE;
}
/* Of a name that is to be, by its type. */
struct judge_word view_judge_new(struct view *v, struct node *dir,
				 const char *name, bool is_dir);
/* Does the policy spell out the beginning of a path with it? */
bool view_spells(struct view *v, const struct node *dir, const char *name,
		 struct judge_word *out);
/* A folder that was just made: it may be one of git's. */
void view_note_made(struct view *v, const struct node *dir, const char *name);
/* Is a file of git's held there, whatever a list of the policy says? */
bool view_holds(struct view *v, struct node *dir, const char *name);
/* What a node is by what is known of it: NULL, nothing. */
void view_set_known(struct node *n, const struct copy *c);
/* A folder's set of lines; hidden where there are too many. */
void view_set_below(struct view *v, struct node *n);

/* Refusals: each counts it, and returns the errno that is answered. */
int view_refuse(struct view *v, enum record_kind kind, struct judge_word word,
		const struct node *dir, const char *name, int code);
/*
 * What is protected is open for the program that it is for, and *word then says
 * so; else EACCES. Any other word is left as it is.
 */
int view_guard(struct view *v, enum record_kind kind, struct judge_word *word,
	       const struct node *dir, const char *name);
/* Of a node, by its own name. */
int view_refuse_node(struct view *v, enum record_kind kind,
		     const struct node *n);

/* --- ops_files.c: what is open -------------------------------------------- */

/* NULL: no file is open. */
static inline struct handle *view_handle(const struct fuse_file_info *fi)
{
	return fi ? (struct handle *)(uintptr_t)fi->fh : NULL;
}
/* Does open(2) with these change a file, or may it be written by then? */
bool view_writes(int flags);
/* Those of an agent, as the host's file is opened with. */
int view_open_flags(int flags);
/* fd is the handle's from now on, unless this fails. ENOMEM alone. */
int view_opened(struct node *n, int fd, struct fuse_file_info *fi);
void view_closed(struct view *v, struct fuse_file_info *fi);
/* The same, and a lookup that nobody has heard of. */
void view_abandon(struct view *v, fuse_ino_t ino, struct fuse_file_info *fi);

/* --- ops_attr.c ----------------------------------------------------------- */

/* What the kernel is told of a node, by what is open of it if that is not NULL,
 * and for how long it may go by that. */
int view_attr_of(struct view *v, struct node *n, struct handle *h,
		 struct statx *x, struct stat *out, double *out_timeout_s);

/* --- ops_names.c ---------------------------------------------------------- */

/* O_TMPFILE in a folder: a node with one reference, open as fi says. */
int view_open_unnamed(struct view *v, struct node *dir, mode_t mode,
		      struct fuse_file_info *fi, struct node **out,
		      struct statx *x);

/* --- serve.c -------------------------------------------------------------- */

/* The thread whose request this thread answers; 0: none that is seen here. */
pid_t serve_asker(void);
/* What follows may take long: let another thread answer meanwhile. */
void serve_yield(void);

/* --- what serve.c asks of others ------------------------------------------ */

/* As fuse_session_receive_buf; of one thread at a time. */
int await_request(struct fuse_session *s, struct fuse_buf *buf);

/*
 * Does the disk take names that differ in the case of letters for the same?
 * Asked of a folder (O_PATH) by looking for one of its entries under another
 * spelling. One that has no entry with a letter does as far as its kind of file
 * system may. Folders below may differ from it: they are not asked.
 */
bool folds_case(int dir);

/*
 * Pass on what the watches have heard. Without v's lock, and in a thread that
 * answers no request: the kernel may wait for one meanwhile.
 */
void invalidate_changed(struct view *v);

/* Answer a request as it was read, where it is one of these; false: it is
 * another, or not whole. */
bool newer_answer(struct view *v, const struct fuse_buf *request);

/* --- ops_*.c -------------------------------------------------------------- */

void ops_names(struct fuse_lowlevel_ops *ops);
void ops_attr(struct fuse_lowlevel_ops *ops);
void ops_files(struct fuse_lowlevel_ops *ops);
void ops_dirs(struct fuse_lowlevel_ops *ops);

#endif
