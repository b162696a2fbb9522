#include "runtime/launch/workspace/gitlinked.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/fileio.h"
#include "runtime/launch/workspace/gitcmd.h"
#include "runtime/launch/workspace/gitrepos.h"
#include "runtime/launch/workspace/wspath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What one of git's pointers may hold, and a name of a worktree's. */
#define POINTER_MAX 4096u
#define NAME_BYTES  255u
#define CONFIG_MAX  (1u << 20)
#define TIMEOUT_MS  5000

struct look {
	struct arena *a;
	const struct gitlinked_places *at;
	struct gitlinked *out;
	uid_t owner; /* of the workspace */
};

static bool refuse_link(struct look *l, struct str why)
{
	l->out->kind = GITLINKED_REFUSED;
	l->out->why = why;
	return false;
}

static bool refuse_path(struct look *l, struct str path, const char *why)
{
	return refuse_link(
		l, arena_fmt(l->a, "%s %s", wspath_show(l->a, path), why));
}

/* --- reading -------------------------------------------------------------- */

/* Absolute and without a link on it, or -1. */
static int open_path(struct look *l, struct str path, int flags)
{
	struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC),
			       .resolve = RESOLVE_NO_SYMLINKS |
					  RESOLVE_NO_MAGICLINKS};

	return (int)syscall(SYS_openat2, AT_FDCWD, arena_cstr(l->a, path), &how,
			    sizeof(how));
}

static bool has_control(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((uint8_t)text.p[i] < 0x20 || text.p[i] == 0x7f)
			return true;
	return false;
}

/* One line of the user's, in a regular file; said why not. */
static bool read_line(struct look *l, struct str path, struct str *out)
{
	auto_fd int fd = open_path(l, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	struct str text;
	ssize_t n = 0;
	char *buf;

	if (fd < 0 || fstat(fd, &st) < 0)
		return refuse_path(l, path,
				   errno == ELOOP ? "has a link on its way"
						  : "cannot be read");
	if (!S_ISREG(st.st_mode) || st.st_size > POINTER_MAX)
		return refuse_path(l, path, "is no file of one line");
	if (st.st_uid != l->owner)
		return refuse_path(l, path, "belongs to another user");
	buf = arena_alloc(l->a, POINTER_MAX + 1);
	n = read(fd, buf, POINTER_MAX + 1);
	if (n < 0 || n > (ssize_t)POINTER_MAX)
		return refuse_path(l, path, "is no file of one line");
	text = (struct str){buf, (size_t)n};
	if (text.n && text.p[text.n - 1] == '\n')
		text.n--;
	if (text.n == 0 || has_control(text))
		return refuse_path(l, path, "is no file of one line");
	*out = text;
	return true;
}

/* --- what a folder is ----------------------------------------------------- */

static bool is_there(int dir, const char *name, mode_t type)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (st.st_mode & S_IFMT) == type;
}

/* A folder of the user's, without a link on its way; *st tells of it. */
static bool open_folder(struct look *l, struct str path, int *out_fd,
			struct stat *st)
{
	int fd = open_path(l, path, O_PATH | O_DIRECTORY);

	if (fd < 0 || fstat(fd, st) < 0) {
		refuse_path(l, path,
			    errno == ELOOP ? "has a link on its way"
					   : "is no folder that can be read");
		fd_close(&fd);
		return false;
	}
	if (st->st_uid != l->owner) {
		fd_close(&fd);
		return refuse_path(l, path, "belongs to another user");
	}
	*out_fd = fd;
	return true;
}

static bool is_or_below(struct str path, struct str dir)
{
	return dir.n && (str_eq(path, dir) || wspath_below(path, dir));
}

/* Where a container has files of its own: nothing of the host's goes there. */
bool gitlinked_is_systems(struct str path)
{
	static const char *const dirs[] = {
		"/bin",	 "/boot",  "/dev",   "/etc",	   "/home/agent",
		"/lib",	 "/lib32", "/lib64", "/proc",	   "/run",
		"/sbin", "/sys",   "/usr",   "/workspace",
	};

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		if (is_or_below(path, str_of(dirs[i])))
			return true;
	return path.n == 0;
}

/* May a folder be shown, by where it is? */
static bool is_apart(struct look *l, struct str common)
{
	const struct gitlinked_places *at = l->at;

	if (gitlinked_is_systems(common))
		return refuse_path(
			l, common.n ? common : STR("/"),
			"is a folder of the system's, or of a session's");
	if (is_or_below(at->root_path, common))
		return refuse_path(l, common, "has the workspace in it");
	if (is_or_below(at->home, common))
		return refuse_path(l, common, "has the user's home in it");
	if (is_or_below(common, at->state) || is_or_below(at->state, common))
		return refuse_path(l, common,
				   "is in membrane's own folder, or above it");
	return true;
}

/* --- a worktree ----------------------------------------------------------- */

/* As git's own is_git_directory(). */
static bool look_at_common(struct look *l, struct str common)
{
	struct stat st;
	auto_fd int fd = -1;

	if (!is_apart(l, common) || !open_folder(l, common, &fd, &st))
		return false;
	if (!is_there(fd, "HEAD", S_IFREG) ||
	    !is_there(fd, "objects", S_IFDIR) || !is_there(fd, "refs", S_IFDIR))
		return refuse_path(l, common, "is no repository of git's");
	if (is_there(fd, "commondir", S_IFREG))
		return refuse_path(l, common, "is a worktree's own folder");
	l->out->common = common;
	l->out->dev = st.st_dev;
	l->out->ino = st.st_ino;
	return true;
}

/* The worktree's own folder is common/worktrees/NAME, and nothing else. */
static bool take_name(struct look *l, struct str dir)
{
	struct str all =
		arena_fmt(l->a, "%.*s/worktrees", STR_ARG(l->out->common));

	if (!str_eq(str_parent(dir), all))
		return refuse_path(
			l, dir,
			"is no worktree of the repository that it names");
	l->out->name = str_slice(dir, all.n + 1, dir.n);
	return l->out->name.n <= NAME_BYTES && !has_control(l->out->name)
		       ? true
		       : refuse_path(l, dir, "has no name of git's");
}

static struct str below_dir(struct look *l, struct str dir, const char *name)
{
	return arena_fmt(l->a, "%.*s/%s", STR_ARG(dir), name);
}

/* What git made for another folder is not this one's. */
static bool points_back(struct look *l, struct str dir)
{
	struct str text, own = below_dir(l, l->at->root_path, ".git");

	if (!read_line(l, below_dir(l, dir, "gitdir"), &text))
		return false;
	return str_eq(gitrepos_path(l->a, dir, text), own)
		       ? true
		       : refuse_path(
				 l, dir,
				 "is another worktree's: 'git worktree repair' mends one that was moved");
}

static bool look_at_worktree(struct look *l, struct str dir)
{
	struct stat st;
	struct str text;
	auto_fd int fd = -1;

	if (!open_folder(l, dir, &fd, &st) ||
	    !read_line(l, below_dir(l, dir, "commondir"), &text) ||
	    !look_at_common(l, gitrepos_path(l->a, dir, text)) ||
	    !take_name(l, dir) || !points_back(l, dir))
		return false;
	if (!is_there(fd, "HEAD", S_IFREG))
		return refuse_path(l, dir, "has no HEAD");
	l->out->kind = GITLINKED_WORKTREE;
	return true;
}

/* --- a submodule ---------------------------------------------------------- */

/* core.worktree, as git reads it; no other effect of the text. */
static bool read_files(struct look *l, struct str text, struct str *out)
{
	static const char *const words[] = {"--git-dir=/dev/null",
					    "config",
					    "--file",
					    "-",
					    "--no-includes",
					    "--null",
					    "--get",
					    "core.worktree",
					    NULL};
	struct gitcmd g = {.dir = "/",
			   .words = words,
			   .of = GITCMD_NOBODY,
			   .input = text,
			   .max = POINTER_MAX,
			   .timeout_ms = TIMEOUT_MS};
	struct err ignored;

	if (gitcmd_run(l->a, &g, &ignored) < 0 || g.status || g.text.n < 2)
		return false;
	*out = str_slice(g.text, 0, g.text.n - 1);
	return !has_control(*out);
}

/* Configuration is not an agent's to write: what it says leads back. */
static bool look_at_module(struct look *l, struct str dir)
{
	struct str text, files;
	struct err ignored;
	auto_fd int fd = -1;
	struct stat st;

	if (!look_at_common(l, dir))
		return false;
	fd = open_path(l, dir, O_RDONLY | O_DIRECTORY);
	if (fd < 0 || fstat(fd, &st) < 0 ||
	    fileio_read_inside(l->a, fd, STR("config"), CONFIG_MAX, &text,
			       &ignored) < 0 ||
	    !read_files(l, text, &files))
		return refuse_path(l, dir, "does not say where its files are");
	if (!str_eq(gitrepos_path(l->a, dir, files), l->at->root_path))
		return refuse_path(l, dir, "has its files elsewhere");
	l->out->kind = GITLINKED_MODULE;
	return true;
}

/* By what it is, and not by where. */
static bool look_at_dir(struct look *l, struct str dir)
{
	auto_fd int fd = -1;
	struct stat st;

	if (!open_folder(l, dir, &fd, &st))
		return false;
	return is_there(fd, "commondir", S_IFREG) ? look_at_worktree(l, dir)
						  : look_at_module(l, dir);
}

static bool look_at_owner(struct look *l)
{
	struct stat st;

	if (stat(arena_cstr(l->a, l->at->root_path), &st) < 0)
		return false;
	l->owner = st.st_uid;
	return true;
}

/* The workspace's owner is who asks, or that is root. */
static bool look_at_user(struct look *l)
{
	if (!look_at_owner(l))
		return false;
	if (geteuid() == 0 || geteuid() == l->owner)
		return true;
	return refuse_path(l, l->at->root_path, "belongs to another user");
}

/* --- a folder of one ------------------------------------------------------ */

/* Nobody else's folder is on the way, into which its owner could put another.
 */
static bool look_at_way(struct look *l, struct str top)
{
	struct str at = l->at->root_path;
	bool ok = true;

	while (ok && !str_eq(at, top)) {
		auto_fd int fd = -1;
		struct stat st;

		at = str_parent(at);
		ok = open_folder(l, at, &fd, &st);
	}
	return ok;
}

/* As git finds it: .git, and its files beside that. */
static bool look_at_part(struct look *l, struct str top)
{
	struct str dir = below_dir(l, top, ".git"), text, files;
	struct str part =
		str_slice(l->at->root_path, top.n + 1, l->at->root_path.n);
	auto_fd int fd = -1;
	struct err ignored;

	if (gitlinked_is_systems(top))
		return refuse_path(l, top,
				   "is a folder of the system's, or of a "
				   "session's");
	if (!look_at_way(l, top) || !look_at_common(l, dir))
		return false;
	if (has_control(part) || part.n > POINTER_MAX)
		return refuse_path(l, part, "is no name for a list of git's");
	fd = open_path(l, dir, O_RDONLY | O_DIRECTORY);
	if (fd < 0 || fileio_read_inside(l->a, fd, STR("config"), CONFIG_MAX,
					 &text, &ignored) < 0)
		return refuse_path(l, dir, "has no configuration to be read");
	if (read_files(l, text, &files) &&
	    !str_eq(gitrepos_path(l->a, dir, files), top))
		return refuse_path(l, dir, "has its files elsewhere");
	l->out->name = part;
	l->out->kind = GITLINKED_PART;
	return true;
}

/* The repository that git would find above; none where that is all of a home.
 */
static void look_above(struct look *l)
{
	struct stat st;

	for (struct str up = str_parent(l->at->root_path); up.n;
	     up = str_parent(up)) {
		if (is_or_below(l->at->home, up))
			return;
		if (lstat(below_dir(l, up, ".git").p, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && look_at_user(l)) {
			look_at_part(l, up);
			return;
		}
		if (l->out->kind == GITLINKED_REFUSED)
			return;
		l->out->kind = GITLINKED_FOLDER;
		l->out->common = up;
		return;
	}
}

void gitlinked_find(struct arena *a, const struct gitlinked_places *at,
		    struct gitlinked *out)
{
	struct look l = {.a = a, .at = at, .out = out};
	struct str path = arena_fmt(a, "%.*s/.git", STR_ARG(at->root_path)),
		   text, dir;
	struct stat st;

	*out = (struct gitlinked){0};
	if (lstat(path.p, &st) < 0) {
		look_above(&l);
		return;
	}
	/* a folder is the workspace's own, and judged with it */
	if (!S_ISREG(st.st_mode) || !look_at_owner(&l))
		return;
	if (!read_line(&l, path, &text))
		return;
	if (!str_starts(text, STR("gitdir: "))) {
		refuse_path(&l, path, "does not say 'gitdir: …'");
		return;
	}
	text = str_slice(text, 8, text.n);
	out->relative = !str_starts(text, STR("/"));
	dir = gitrepos_path(a, at->root_path, text);
	if (dir.n == 0) {
		refuse_path(&l, path, "names the root folder");
		return;
	}
	if (is_or_below(dir, at->root_path))
		return;
	if (look_at_user(&l))
		look_at_dir(&l, dir);
}

/* --- what is said of it --------------------------------------------------- */

struct str gitlinked_shown(const struct gitlinked *g)
{
	return g->kind == GITLINKED_PART ? str_parent(g->common) : g->common;
}

struct str gitlinked_text(struct arena *a, const struct gitlinked *g)
{
	if (g->kind == GITLINKED_PART)
		return arena_fmt(a, "git %.*s, folder %.*s", STR_ARG(g->common),
				 STR_ARG(g->name));
	return g->kind == GITLINKED_MODULE
		       ? arena_fmt(a, "git %.*s, submodule", STR_ARG(g->common))
		       : arena_fmt(a, "git %.*s, worktree %.*s",
				   STR_ARG(g->common), STR_ARG(g->name));
}

struct str gitlinked_files(struct arena *a, struct str inside)
{
	struct buf b;

	buf_init(&b, a);
	buf_adds(&b, "\n[core]\n\tworktree = \"");
	for (size_t i = 0; i < inside.n; i++) {
		if (inside.p[i] == '"' || inside.p[i] == '\\')
			buf_addc(&b, '\\');
		buf_addc(&b, inside.p[i]);
	}
	buf_adds(&b, "\"\n");
	return buf_str(&b);
}

/* As it stands for itself in a pattern. */
static struct str quoted_name(struct arena *a, struct str name)
{
	char *p = arena_alloc(a, 2 * name.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < name.n; i++) {
		if (strchr("\\*?[! #", name.p[i]))
			p[n++] = '\\';
		p[n++] = name.p[i];
	}
	return (struct str){p, n};
}

void gitlinked_patterns(struct arena *a, const struct gitlinked *g,
			gitlinked_lines *out)
{
	/* Shared, and no command stands in it; what is a pack's or a
	 * collection's comes and goes beside them. */
	static const char *const shared[] = {
		"/.git/*",	     "!/.git/objects/",	 "!/.git/refs/",
		"!/.git/reftable/",  "!/.git/logs/",	 "/.git/logs/HEAD",
		"!/.git/lfs/",	     "!/.git/rr-cache/", "!/.git/packed-refs*",
		"!/.git/shallow*",   "!/.git/gc.*",	 "!/.git/worktrees/",
		"/.git/worktrees/*",
	};
	/* Which repository it belongs to, and what may name commands. */
	static const char *const own[] = {
		"commondir", "gitdir", "config.worktree", "locked", "modules/"};
	/* All of it is its own, but for what runs or leads elsewhere. */
	static const char *const module[] = {
		"/.git/hooks/",	   "/.git/config", "/.git/config.worktree",
		"/.git/commondir", "/.git/gitdir", "/.git/modules/",
		"/.git/worktrees/"};
	struct str name = quoted_name(a, g->name);

	if (g->kind == GITLINKED_MODULE || g->kind == GITLINKED_PART) {
		for (size_t i = 0; i < ARRAY_LEN(module); i++)
			*vec_push(a, out) = str_of(module[i]);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(shared); i++)
		*vec_push(a, out) = str_of(shared[i]);
	*vec_push(a, out) =
		arena_fmt(a, "!/.git/worktrees/%.*s/", STR_ARG(name));
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		*vec_push(a, out) = arena_fmt(a, "/.git/worktrees/%.*s/%s",
					      STR_ARG(name), own[i]);
}
