#include "runtime/launch/workspace/gitrepos.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/limits.h"
#include "runtime/launch/workspace/wspath.h"

#include <fcntl.h>
#include <sys/stat.h>

/* What a gitlink or a commondir file may hold. */
#define POINTER_MAX 4096u

struct str gitrepos_path(struct arena *a, struct str base, struct str path)
{
	struct str out = STR(""), part;
	struct str whole = str_starts(path, STR("/"))
				   ? path
				   : arena_fmt(a, "%.*s/%.*s", STR_ARG(base),
					       STR_ARG(path));

	while (str_field(&whole, '/', &part)) {
		if (part.n == 0 || str_is(part, "."))
			continue;
		out = str_is(part, "..")
			      ? str_parent(out)
			      : arena_fmt(a, "%.*s/%.*s", STR_ARG(out),
					  STR_ARG(part));
	}
	return out;
}

static bool is_there(struct arena *a, struct str dir, const char *name,
		     mode_t type)
{
	const char *path = arena_fmt(a, "%.*s/%s", STR_ARG(dir), name).p;
	struct stat st;

	return stat(path, &st) == 0 && (st.st_mode & S_IFMT) == type;
}

/* The line that a small file of git's holds; false where there is none. */
static bool read_pointer(struct arena *a, struct str path, struct str *out)
{
	const char *name = arena_cstr(a, path);
	struct str text;
	struct stat st;
	struct err ignored;

	if (stat(name, &st) < 0 || !S_ISREG(st.st_mode) ||
	    fileio_read(a, AT_FDCWD, name, POINTER_MAX, &text, &ignored) < 0 ||
	    memchr(text.p, '\0', text.n))
		return false;
	while (text.n && strchr("\r\n", text.p[text.n - 1]))
		text.n--;
	*out = text;
	return text.n > 0;
}

/* As git's own is_git_directory(), but for what HEAD says. */
static bool is_repository(struct arena *a, struct str dir)
{
	return is_there(a, dir, "commondir", S_IFREG) ||
	       (is_there(a, dir, "objects", S_IFDIR) &&
		is_there(a, dir, "refs", S_IFDIR));
}

bool gitrepos_add(struct arena *a, struct gitrepos *all, struct gitrepo r)
{
	struct str to;

	r.common = r.dir;
	if (read_pointer(a, arena_fmt(a, "%.*s/commondir", STR_ARG(r.dir)),
			 &to))
		r.common = gitrepos_path(a, r.dir, to);
	vec_each(k, &all->list)
		if (str_eq(k->dir, r.dir) && str_eq(k->base, r.base))
			return false;
	if (all->list.n >= GITREPOS_MAX) {
		all->cut = true;
		return false;
	}
	*vec_push(a, &all->list) = r;
	return true;
}

bool gitrepos_is_linked(const struct gitrepo *r)
{
	return !str_eq(r->common, r->dir);
}

static bool is_dot_git(struct str path)
{
	return str_ends(path, STR("/.git"));
}

/* ".git" is a file that says where the repository is, or a link to it. */
static void add_gitlink(struct arena *a, struct gitrepos *all, struct str path)
{
	struct gitrepo r = {.dir = path, .base = str_parent(path)};
	struct str to;

	if (read_pointer(a, path, &to)) {
		if (!str_starts(to, STR("gitdir: ")))
			return;
		r.dir = gitrepos_path(a, r.base, str_slice(to, 8, to.n));
	}
	if (is_repository(a, r.dir))
		gitrepos_add(a, all, r);
}

/* A submodule's or a worktree's: gitlinks and core.worktree say where. */
static bool is_part(struct str path)
{
	return memmem(path.p, path.n, "/.git/modules/", 14) ||
	       memmem(path.p, path.n, "/.git/worktrees/", 16);
}

static void add_folder(struct arena *a, struct gitrepos *all, struct str path)
{
	if (is_repository(a, path) && !is_part(path))
		gitrepos_add(a, all,
			     (struct gitrepo){
				     .dir = path,
				     .base = is_dot_git(path) ? str_parent(path)
							      : path,
			     });
}

/* The repository that the workspace is a part of. */
static void add_above(struct arena *a, struct gitrepos *all, struct str root)
{
	for (struct str up = str_parent(root); up.n; up = str_parent(up)) {
		struct str path = arena_fmt(a, "%.*s/.git", STR_ARG(up));
		struct stat st;

		if (lstat(path.p, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			add_folder(a, all, path);
		else
			add_gitlink(a, all, path);
		return;
	}
}

void gitrepos_find(struct arena *a, struct str root_path,
		   const struct scan *found, struct gitrepos *out)
{
	*out = (struct gitrepos){0};
	vec_each(p, &found->heads) {
		struct str path = gitrepos_path(a, root_path, *p);

		if (!is_repository(a, path))
			continue;
		*vec_push(a, &out->inside) = *p;
		add_folder(a, out, path);
	}
	vec_each(p, &found->gitlinks)
		add_gitlink(a, out, gitrepos_path(a, root_path, *p));
	add_above(a, out, root_path);
}
