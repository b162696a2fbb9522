/*
 * What git makes under names that the policy hides, or in the place of its
 * configuration: made aside, in the session's memory (copies.h), and never on
 * the host's disk.
 *
 * May be made so: while git holds the lock of an index, every name that a
 * pattern hides; at any time config.lock beside a configuration that is held,
 * which then may take the configuration's place. What is there so is the
 * session's own, and is read and written as any file.
 */
#ifndef RUNTIME_VIEW_ASIDE_ASIDE_H
#define RUNTIME_VIEW_ASIDE_ASIDE_H

#include "runtime/view/view.h"

struct place {
	struct node *dir;
	const char *name;
};

/* --- aside.c: what is there ----------------------------------------------- */

/* What is known of a name, or of a folder; NULL. */
struct copy *aside_at(const struct view *v, const struct node *dir,
		      const char *name);
struct copy *aside_of(const struct view *v, const struct node *folder);
/* Of a hidden file of the disk's, what git's index says; NULL: it has none. */
const struct statx *aside_tracked(const struct view *v, const struct node *n);
/* What statx(2) would say of what is made aside; ENOENT: nothing is. */
int aside_look(const struct copy *c, struct statx *x);
/* The same of a node, with a name or open. ESTALE: neither. */
int aside_stat(const struct view *v, const struct node *n, struct statx *x);
struct copy_data *aside_data(const struct view *v, const struct node *n);

/* Is it of git's index, beside the workspace (outside.h)? Like what is hidden,
 * it is changed only while git holds a lock. */
bool aside_is_index(const struct copy *c);

/* Does git hold the lock of an index? */
bool aside_is_locked(struct view *v);
/* A file that was just made: it may be such a lock. */
void aside_note(struct view *v, const struct node *dir, const char *name,
		int fd);
/* May what the policy hides under this name be changed aside by now? */
bool aside_hides(struct view *v, struct node *dir, const char *name,
		 bool is_dir);
/* May a file be made there aside? */
bool aside_may_create(struct view *v, struct node *dir, const char *name);
/* May what is there be taken away aside? */
bool aside_may_remove(struct view *v, struct node *dir, const char *name,
		      bool is_dir);

/* --- aside_names.c: making, removing, renaming ---------------------------- */

int aside_create(struct view *v, struct node *dir, const char *name,
		 mode_t mode, struct fuse_file_info *fi,
		 struct fuse_entry_param *e);
int aside_mkdir(struct view *v, struct node *dir, const char *name, mode_t mode,
		struct fuse_entry_param *e);
int aside_symlink(struct view *v, struct node *dir, const char *name,
		  const char *text, struct fuse_entry_param *e);
int aside_remove(struct view *v, struct node *dir, const char *name,
		 bool is_dir);
/* In the place of a file, from the start: of a configuration, or else of what
 * nobody is told of. False: no room, or no text. */
bool aside_seed(struct view *v, const char *path, struct str text, bool config);
/* A hidden file is to be written: an empty one takes its place. */
int aside_replace(struct view *v, struct node *n);
/* *out_done: it was an affair of ours, and the result is its own. */
int aside_rename(struct view *v, const struct place *from,
		 const struct place *to, unsigned flags, bool *out_done);
/* A folder on the disk that something is in aside: ENOTEMPTY. */
int aside_blocks(const struct view *v, const struct place *at);
/* The disk has followed, or has a new folder there: so does what is known. */
void aside_removed(struct view *v, const struct place *at);
void aside_renamed(struct view *v, const struct place *from,
		   const struct place *to, unsigned flags);

/* --- aside_files.c: content ----------------------------------------------- */

int aside_open(struct view *v, struct node *n, struct fuse_file_info *fi);
int aside_change(struct view *v, struct node *n, const struct stat *to, int set,
		 struct statx *x);
/* The length, or -1 with errno. */
ssize_t aside_readlink(const struct view *v, const struct node *n, char *buf,
		       size_t size);
ssize_t aside_write(struct view *v, struct handle *h, const char *data,
		    size_t size, off_t at);

#endif
