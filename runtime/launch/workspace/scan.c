#include "runtime/launch/workspace/scan.h"

#include "compiler/base/limits.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/moves.h"
#include "runtime/launch/workspace/wspath.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The first pass judges every name by the patterns and never stats a file that
 * no pattern speaks of. The others are for hard links. One goes below what is
 * masked and notes inodes that have several links; only if there are any does
 * another stat all files that are left visible, to find the other links. Where
 * more is hidden than is visible (node_modules), it is cheaper to ask first
 * whether anything visible has several links at all.
 */
enum pass { PASS_JUDGE, PASS_GATHER, PASS_SUSPECT, PASS_LINKS };

/* From a pass that has seen enough; no errno is positive. */
#define STOP 1

/* Hidden entries looked at before asking, on top of as many as are visible. */
#define GATHER_LEAST 1000

enum entry_type { ENTRY_DIR, ENTRY_LINK, ENTRY_FILE, ENTRY_OTHER };

/* What already holds for everything below the directory at hand. */
enum cover { COVER_NONE, COVER_READONLY, COVER_IGNORE };

/* An inode with several links, one of them masked or readonly. */
struct inode {
	dev_t dev;
	ino_t ino;
	enum cover cover; /* the strongest of its links; NONE: a free slot */
};

struct scanner {
	struct arena *a;
	int root;
	struct str root_path;
	const struct mountsplan *plan;
	struct scan *out;
	enum pass pass;
	struct inode *inodes; /* open addressing; size is a power of two */
	size_t n_inodes, size;
	uint64_t budget; /* entries that PASS_GATHER may still look at */
	size_t path_max, n;
	unsigned depth;
	char path[LIMIT_PATH_BYTES]; /* of the entry at hand; n bytes */
};

static int scan_dir(struct scanner *s, int fd, enum cover cover);

static struct str path_here(const struct scanner *s)
{
	return (struct str){s->path, s->n};
}

static struct mask *add_mask(struct scanner *s, struct str path,
			     enum mask_kind kind)
{
	struct mask *m = vec_push(s->a, &s->out->masks);

	*m = (struct mask){.path = arena_str(s->a, path), .kind = kind};
	return m;
}

static void add_note(struct scanner *s, enum scan_note_kind kind,
		     struct str path, int error)
{
	*vec_push(s->a, &s->out->notes) =
		(struct scan_note){kind, arena_str(s->a, path), error};
}

/* --- inodes with several links ---------------------------------------------
 */

static struct inode *inode_slot(const struct scanner *s, dev_t dev, ino_t ino)
{
	uint64_t h = (ino ^ dev * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
	size_t i = (h ^ h >> 32) & (s->size - 1);

	while (s->inodes[i].cover != COVER_NONE &&
	       (s->inodes[i].dev != dev || s->inodes[i].ino != ino))
		i = (i + 1) & (s->size - 1);
	return &s->inodes[i];
}

static void grow_inodes(struct scanner *s)
{
	struct inode *old = s->inodes;
	size_t n = s->size;

	s->size = n ? n * 2 : 64;
	s->inodes = arena_array(s->a, s->size, sizeof(*old));
	for (size_t i = 0; i < n; i++)
		if (old[i].cover != COVER_NONE)
			*inode_slot(s, old[i].dev, old[i].ino) = old[i];
}

static void remember_inode(struct scanner *s, const struct stat *st,
			   enum cover cover)
{
	struct inode *in;

	if (!S_ISREG(st->st_mode) || st->st_nlink < 2)
		return;
	if (s->n_inodes * 2 >= s->size)
		grow_inodes(s);
	in = inode_slot(s, st->st_dev, st->st_ino);
	if (in->cover == COVER_NONE) {
		*in = (struct inode){st->st_dev, st->st_ino, cover};
		s->n_inodes++;
	} else if (in->cover < cover) {
		in->cover = cover;
	}
}

/* PASS_SUSPECT, at a file that no pattern masks. */
static int stop_at_links(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			       S_ISREG(st.st_mode) && st.st_nlink > 1
		       ? STOP
		       : 0;
}

/* PASS_LINKS, at a file that no pattern masks. */
static void find_link(struct scanner *s, int dirfd, const char *name,
		      enum cover cover)
{
	const struct inode *in;
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode) || st.st_nlink < 2)
		return;
	in = inode_slot(s, st.st_dev, st.st_ino);
	if (in->cover > cover)
		add_mask(s, path_here(s),
			 in->cover == COVER_IGNORE ? MASK_IGNORE_FILE
						   : MASK_READONLY_FILE);
}

/* --- one entry -------------------------------------------------------------
 */

static bool matches_pattern(const struct gitignore *g, struct str path,
			    bool is_dir)
{
	return gitignore_match(g, path, is_dir, NULL) == GITIGNORE_MATCH;
}

/* What the patterns say of the entry at hand itself. */
static enum cover judge_entry(const struct scanner *s, bool is_dir,
			      enum cover cover)
{
	if (matches_pattern(s->plan->ignore, path_here(s), is_dir))
		return COVER_IGNORE;
	if (cover == COVER_NONE &&
	    matches_pattern(s->plan->readonly, path_here(s), is_dir))
		return COVER_READONLY;
	return cover;
}

/* Mask where a matching link leads, if that is inside. */
static void mask_target(struct scanner *s, struct str text, enum cover as_file,
			enum cover as_dir)
{
	struct str dir = str_parent(path_here(s));
	struct wspath_place to =
		wspath_resolve(s->a, s->root, s->root_path, dir, text);
	enum cover cover;
	struct mask *m;
	bool is_dir;

	/* As the host sees it; else as it is seen in the container. */
	if (to.end == WSPATH_OUT)
		to = wspath_resolve(s->a, s->root, s->plan->target, dir, text);
	is_dir = S_ISDIR(to.st.st_mode);
	cover = is_dir ? as_dir : as_file;
	if (to.end == WSPATH_ROOT ||
	    (to.end == WSPATH_FOUND && wspath_below(path_here(s), to.path))) {
		if (as_dir != COVER_NONE)
			add_note(s, SCAN_NOTE_LINK_ABOVE, path_here(s), 0);
		return;
	}
	if (to.end != WSPATH_FOUND || cover == COVER_NONE)
		return;
	if (cover == COVER_IGNORE)
		m = add_mask(s, to.path,
			     is_dir ? MASK_IGNORE_DIR : MASK_IGNORE_FILE);
	else
		m = add_mask(s, to.path,
			     is_dir ? MASK_READONLY_DIR : MASK_READONLY_FILE);
	m->by_link = true;
	remember_inode(s, &to.st, cover);
}

/*
 * A link is judged under its own name, as what it leads to: a file, or, where
 * that makes a difference, a directory.
 */
static void visit_link(struct scanner *s, int dirfd, const char *name,
		       enum cover cover)
{
	enum cover as_file = judge_entry(s, false, COVER_NONE);
	enum cover as_dir = judge_entry(s, true, COVER_NONE);
	char text[LIMIT_PATH_BYTES];
	ssize_t n;

	if (as_file == COVER_NONE && as_dir == COVER_NONE)
		return;
	s->out->hidden_link |= as_file == COVER_IGNORE;
	n = readlinkat(dirfd, name, text, sizeof(text));
	if (n <= 0 || (size_t)n == sizeof(text))
		return;
	mask_target(s, (struct str){text, (size_t)n}, as_file, as_dir);
	if (cover == COVER_NONE && as_file == COVER_READONLY)
		add_note(s, SCAN_NOTE_LINK_FREE, path_here(s), 0);
}

static void judge_file(struct scanner *s, int dirfd, const char *name,
		       enum cover cover, enum cover now)
{
	struct stat st;

	if (now == COVER_NONE)
		return;
	if (now != cover)
		add_mask(s, path_here(s),
			 now == COVER_IGNORE ? MASK_IGNORE_FILE
					     : MASK_READONLY_FILE);
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		remember_inode(s, &st, now);
}

static int visit_file(struct scanner *s, int dirfd, const char *name,
		      enum cover cover)
{
	enum cover now = judge_entry(s, false, cover);

	switch (s->pass) {
	case PASS_JUDGE:
		judge_file(s, dirfd, name, cover, now);
		return 0;
	case PASS_SUSPECT:
		return now == COVER_IGNORE ? 0 : stop_at_links(dirfd, name);
	case PASS_LINKS:
		if (now != COVER_IGNORE)
			find_link(s, dirfd, name, now);
		return 0;
	case PASS_GATHER:
		return 0;
	}
	return 0;
}

/* A directory that cannot be looked into: nobody knows what would match. */
static void mask_unseen(struct scanner *s, enum scan_note_kind why, int error)
{
	if (s->pass != PASS_JUDGE)
		return;
	add_mask(s, path_here(s), MASK_IGNORE_DIR);
	add_note(s, why, path_here(s), error);
}

/* Errors that are the process's and not the directory's. */
static bool is_ours(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM ||
	       error == ENOSPC;
}

static int open_dir(int dirfd, const char *name)
{
	return openat(dirfd, name,
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC |
			      O_NONBLOCK);
}

static int visit_dir(struct scanner *s, int dirfd, const char *name,
		     enum cover cover)
{
	enum cover now = judge_entry(s, true, cover);
	int fd, rc;

	if (now == COVER_IGNORE) {
		if (s->pass == PASS_JUDGE)
			add_mask(s, path_here(s), MASK_IGNORE_DIR);
		return 0;
	}
	if (now != cover && s->pass == PASS_JUDGE)
		add_mask(s, path_here(s), MASK_READONLY_DIR);
	if (s->depth >= SCAN_DEPTH) {
		mask_unseen(s, SCAN_NOTE_TOO_DEEP, 0);
		return 0;
	}
	fd = open_dir(dirfd, name);
	if (fd < 0) {
		if (is_ours(errno))
			return -errno;
		/* Gone, or replaced by something else, since it was listed:
		 * an entry that is there now was not judged. */
		if (errno != ENOENT)
			mask_unseen(s, SCAN_NOTE_UNREADABLE, errno);
		return 0;
	}
	/* a readonly bind of its parent may not reach it */
	if (cover == COVER_READONLY && s->pass == PASS_JUDGE &&
	    fileio_is_mount(dirfd, fd))
		add_mask(s, path_here(s), MASK_READONLY_DIR)->submount = true;
	s->depth++;
	rc = scan_dir(s, fd, now);
	s->depth--;
	if (rc < 0 && !is_ours(-rc)) {
		mask_unseen(s,
			    rc == -ENAMETOOLONG ? SCAN_NOTE_TOO_DEEP
						: SCAN_NOTE_UNREADABLE,
			    -rc);
		rc = 0;
	}
	return rc;
}

/* PASS_GATHER: below a mask nothing is judged, only remembered. */
static int gather_inodes(struct scanner *s, int dirfd, const char *name,
			 enum entry_type type, enum cover cover)
{
	struct stat st;
	int fd, rc;

	if (s->budget-- == 0)
		return STOP;
	switch (type) {
	case ENTRY_FILE:
		if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			remember_inode(s, &st, cover);
		return 0;
	case ENTRY_DIR:
		/* What the user cannot read, they have no links to show. */
		fd = s->depth < SCAN_DEPTH ? open_dir(dirfd, name) : -1;
		if (fd < 0)
			return 0;
		s->depth++;
		rc = scan_dir(s, fd, cover);
		s->depth--;
		return rc == STOP || is_ours(-rc) ? rc : 0;
	case ENTRY_LINK:
	case ENTRY_OTHER:
		return 0;
	}
	return 0;
}

static enum entry_type type_of(int dirfd, const struct dirent *e)
{
	struct stat st;

	switch (e->d_type) {
	case DT_DIR:
		return ENTRY_DIR;
	case DT_LNK:
		return ENTRY_LINK;
	case DT_REG:
		return ENTRY_FILE;
	case DT_UNKNOWN:
		if (fstatat(dirfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return ENTRY_OTHER;
		return S_ISDIR(st.st_mode)   ? ENTRY_DIR
		       : S_ISLNK(st.st_mode) ? ENTRY_LINK
		       : S_ISREG(st.st_mode) ? ENTRY_FILE
					     : ENTRY_OTHER;
	default:
		return ENTRY_OTHER;
	}
}

/* What git takes a folder for a repository by. */
static void note_git(struct scanner *s, const char *name, enum entry_type type)
{
	if (strcmp(name, "HEAD") == 0)
		*vec_push(s->a, &s->out->heads) =
			arena_str(s->a, str_parent(path_here(s)));
	else if (strcmp(name, ".git") == 0 && type != ENTRY_DIR)
		*vec_push(s->a, &s->out->gitlinks) =
			arena_str(s->a, path_here(s));
}

static int visit_entry(struct scanner *s, int dirfd, const struct dirent *e,
		       enum cover cover)
{
	enum entry_type type = type_of(dirfd, e);

	if (s->pass == PASS_GATHER)
		return gather_inodes(s, dirfd, e->d_name, type, cover);
	if (s->pass == PASS_JUDGE) {
		s->out->entries++;
		note_git(s, e->d_name, type);
	}
	switch (type) {
	case ENTRY_DIR:
		return visit_dir(s, dirfd, e->d_name, cover);
	case ENTRY_LINK:
		if (s->pass == PASS_JUDGE)
			visit_link(s, dirfd, e->d_name, cover);
		return 0;
	case ENTRY_FILE:
	case ENTRY_OTHER:
		return visit_file(s, dirfd, e->d_name, cover);
	}
	return 0;
}

static bool is_dots(const char *name)
{
	return name[0] == '.' &&
	       (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static int each_entry(struct scanner *s, DIR *dir, enum cover cover)
{
	const struct dirent *e;
	size_t n = s->n, start = n + (n > 0);
	int rc = 0;

	if (n)
		s->path[n] = '/';
	while (rc == 0) {
		size_t len;

		errno = 0;
		e = readdir(dir);
		if (!e)
			return -errno;
		if (is_dots(e->d_name))
			continue;
		len = strlen(e->d_name);
		if (start + len > s->path_max)
			return -ENAMETOOLONG;
		memcpy(s->path + start, e->d_name, len);
		s->n = start + len;
		rc = visit_entry(s, dirfd(dir), e, cover);
		s->n = n;
	}
	return rc;
}

/* Takes fd. */
static int scan_dir(struct scanner *s, int fd, enum cover cover)
{
	DIR *dir = fdopendir(fd);
	size_t n = s->n;
	int rc;

	if (!dir) {
		rc = -errno;
		fd_close(&fd);
		return rc;
	}
	rc = s->pass == PASS_JUDGE && s->out->moves
		     ? moves_watch(*s->out->moves, fd)
		     : 0;
	if (rc == 0)
		rc = each_entry(s, dir, cover);
	s->n = n;
	closedir(dir);
	return rc;
}

/* --- the passes ------------------------------------------------------------
 */

static int scan_root(struct scanner *s, enum pass pass)
{
	int fd = openat(s->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	s->pass = pass;
	s->n = s->depth = 0;
	return scan_dir(s, fd, s->out->readonly ? COVER_READONLY : COVER_NONE);
}

/* Below each directory mask; readonly ones were entered unless by a link. */
static int gather_all(struct scanner *s, uint64_t budget)
{
	int rc = 0;

	s->pass = PASS_GATHER;
	s->budget = budget;
	vec_each(m, &s->out->masks) {
		bool ignore = m->kind == MASK_IGNORE_DIR;

		if (!ignore && !(m->kind == MASK_READONLY_DIR && m->by_link))
			continue;
		memcpy(s->path, m->path.p, m->path.n);
		s->n = m->path.n;
		s->path[s->n] = '\0';
		s->depth = 0;
		rc = gather_inodes(s, s->root, s->path, ENTRY_DIR,
				   ignore ? COVER_IGNORE : COVER_READONLY);
		if (rc != 0)
			return rc;
	}
	return 0;
}

static int find_hard_links(struct scanner *s)
{
	int rc = gather_all(s, s->out->entries + GATHER_LEAST);

	if (rc == STOP) {
		rc = scan_root(s, PASS_SUSPECT);
		if (rc != STOP)
			return rc;
		rc = gather_all(s, UINT64_MAX);
	}
	return rc == 0 && s->n_inodes ? scan_root(s, PASS_LINKS) : rc;
}

const char *scan_note_text(enum scan_note_kind kind)
{
	switch (kind) {
	case SCAN_NOTE_UNREADABLE:
		return "cannot be read, so it is hidden whole";
	case SCAN_NOTE_TOO_DEEP:
		return "too deep to be looked into, so it is hidden whole";
	case SCAN_NOTE_LINK_ABOVE:
		return "matches, but is a link to a folder that it is in; left as it is";
	case SCAN_NOTE_LINK_FREE:
		return "is or passes a symbolic link; what it leads to is read-only, but the link itself can be replaced";
	case SCAN_NOTE_HOLD_OUT:
		return "a symbolic link leads out of the workspace, so it cannot be kept as it is";
	case SCAN_NOTE_HOLD_DENIED:
		return "not there and cannot be made, so its folder is kept read-only";
	case SCAN_NOTE_STATE:
		return "membrane's own folder, so it is hidden whole";
	}
	abort();
}

bool scan_is_readonly(const char *workspace)
{
	return faccessat(AT_FDCWD, workspace, W_OK, AT_EACCESS) < 0;
}

int scan_workspace(struct arena *a, int root, struct str root_path,
		   const struct mountsplan *plan, struct scan *out,
		   struct err *err)
{
	struct scanner *s = arena_new_of(a, struct scanner);
	struct scan found = {.readonly = out->readonly, .moves = out->moves};
	size_t front =
		root_path.n > plan->target.n ? root_path.n : plan->target.n;
	int rc;

	/* The runtime puts its own root in front of the target. */
	if (front + 512 >= LIMIT_PATH_BYTES)
		return err_set(err, -ENAMETOOLONG, "%.*s: path too long",
			       STR_ARG(root_path));
	s->a = a;
	s->root = root;
	s->root_path = root_path;
	s->plan = plan;
	s->out = &found;
	s->path_max = LIMIT_PATH_BYTES - 256 - front;
	rc = scan_root(s, PASS_JUDGE);
	if (rc == 0)
		rc = find_hard_links(s);
	if (rc == -ENOSPC && found.moves)
		return err_set(
			err, rc,
			"%.*s: it has more folders than a user may watch (sysctl fs.inotify.max_user_watches)",
			STR_ARG(root_path));
	if (rc < 0)
		return err_set(err, rc, "%.*s: %s", STR_ARG(root_path),
			       strerror(-rc));
	*out = found;
	return 0;
}
