#include "compiler/front/files.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Path on disk of a root; NULL when there is none. */
static const char *root_path(const struct files *f, enum files_root root)
{
	switch (root) {
	case FILES_WORKSPACE:
		return f->in->workspace;
	case FILES_STATE:
		return f->in->state;
	case FILES_POLICIES:
		return f->in->policies;
	case FILES_GIVEN:
		return ".";
	}
	abort();
}

static const char *kind_of(mode_t mode)
{
	if (S_ISLNK(mode))
		return "a symbolic link";
	if (S_ISDIR(mode))
		return "a directory";
	if (S_ISFIFO(mode))
		return "a FIFO";
	if (S_ISSOCK(mode))
		return "a socket";
	return "a device";
}

static enum files_status refuse_file(struct files *f, struct span at,
				     struct str name, mode_t mode)
{
	struct diags *d = f->c->diags;

	diag_error(d, DIAG_NOT_A_FILE, at, "'%s' is %s", diag_quote(d, name),
		   kind_of(mode));
	if (S_ISLNK(mode))
		diag_help(
			d,
			"in a workspace membrane follows no link: put the file itself there");
	else
		diag_help(d, "a policy is a regular file");
	return FILES_REFUSED;
}

/* Another user's policy is not passed over: what it denies would be gone. */
static bool is_others(struct files *f, int dir, const char *rel,
		      struct str name)
{
	struct stat file, folder;

	if (fstatat(dir, rel, &file, 0) < 0 || fstat(dir, &folder) < 0 ||
	    fileio_may_obey(file.st_uid, folder.st_uid))
		return false;
	err_set(f->err, -EPERM,
		"%s belongs to user %u, and not to %u: look at it, then 'sudo chown' it, or remove it",
		diag_quote(f->c->diags, name), (unsigned)file.st_uid,
		(unsigned)geteuid());
	return true;
}

static enum files_status fail_file(struct files *f, struct str name, int code)
{
	err_set(f->err, code, "%s: %s", diag_quote(f->c->diags, name),
		strerror(-code));
	return FILES_FAILED;
}

/* The text that stands in for a file, or NULL. */
static const struct str *instead_of(const struct files *f, struct str name)
{
	for (size_t i = 0; i < f->in->n_texts; i++)
		if (str_eq(f->in->texts[i].name, name))
			return &f->in->texts[i].text;
	return NULL;
}

/* No segment of path below dir may be a link; the last must be a file. */
static enum files_status no_links(struct files *f, int dir, struct str path,
				  struct str name, struct span at)
{
	size_t end = 0;

	while (end < path.n) {
		const char *prefix;
		struct stat st;

		end = str_find(path, '/', end ? end + 1 : 0);
		prefix = arena_cstr(f->c->a, str_slice(path, 0, end));
		if (fstatat(dir, prefix, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return errno == ENOENT || errno == ENOTDIR
				       ? FILES_ABSENT
				       : fail_file(f, name, -errno);
		if (S_ISLNK(st.st_mode))
			return refuse_file(f, at, str_of(prefix), st.st_mode);
		if (end == path.n && !S_ISREG(st.st_mode))
			return refuse_file(f, at, name, st.st_mode);
	}
	return FILES_OK;
}

static void too_big(struct files *f, struct span at, struct str name)
{
	diag_error(f->c->diags, DIAG_TOO_BIG, at,
		   "'%s' is larger than %u bytes",
		   diag_quote(f->c->diags, name), LIMIT_SOURCE_BYTES);
	diag_help(
		f->c->diags,
		"a policy is written and read by people; grant networks or wildcards instead of single names");
}

/* The folder that a root is when it is not on disk, or NULL. */
static const struct front_tree *tree_of(const struct files *f,
					enum files_root root)
{
	switch (root) {
	case FILES_WORKSPACE:
		return f->in->workspace ? f->in->tree : NULL;
	case FILES_GIVEN:
		return f->in->tree;
	case FILES_STATE:
	case FILES_POLICIES:
		break;
	}
	return NULL;
}

static enum files_status read_tree(struct files *f, const struct front_tree *t,
				   struct str path, struct str name,
				   struct span at, struct str *out)
{
	unsigned mode = 0;
	struct err err;
	int rc =
		t->read(t, f->c->a, path, LIMIT_SOURCE_BYTES, &mode, out, &err);

	if (rc == -ENOENT)
		return FILES_ABSENT;
	if (rc == -EFBIG) {
		too_big(f, at, name);
		return FILES_REFUSED;
	}
	if (rc < 0) {
		*f->err = err;
		return FILES_FAILED;
	}
	return S_ISREG(mode) ? FILES_OK : refuse_file(f, at, name, mode);
}

enum files_status files_read(struct files *f, enum files_root root,
			     struct str path, struct str name, struct span at,
			     struct str *out)
{
	const char *base = root_path(f, root);
	const char *rel = arena_cstr(f->c->a, path);
	const struct str *instead = instead_of(f, name);
	auto_fd int dir = -1;
	enum files_status s;
	struct err err;
	struct stat st;
	int rc;

	if (instead) {
		*out = *instead;
		return FILES_OK;
	}
	if (tree_of(f, root))
		return read_tree(f, tree_of(f, root), path, name, at, out);
	if (!base)
		return FILES_ABSENT;
	dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 && errno == ENOENT && root != FILES_WORKSPACE)
		return FILES_ABSENT;
	if (dir < 0)
		return fail_file(f,
				 root == FILES_WORKSPACE ? STR("the workspace")
							 : name,
				 -errno);
	if (root == FILES_WORKSPACE) {
		s = no_links(f, dir, path, name, at);
		if (s != FILES_OK)
			return s;
	}
	if (root == FILES_STATE && is_others(f, dir, rel, name))
		return FILES_FAILED;
	/* an agent of another session may put a link there at any moment */
	rc = root == FILES_WORKSPACE
		     ? fileio_read_inside(f->c->a, dir, path,
					  LIMIT_SOURCE_BYTES, out, &err)
		     : fileio_read(f->c->a, dir, rel, LIMIT_SOURCE_BYTES, out,
				   &err);
	if (rc == -ENOENT || rc == -ENOTDIR)
		return FILES_ABSENT;
	if (rc == -EINVAL && fstatat(dir, rel, &st, 0) == 0)
		return refuse_file(f, at, name, st.st_mode);
	if (rc == -EFBIG) {
		too_big(f, at, name);
		return FILES_REFUSED;
	}
	return rc < 0 ? fail_file(f, name, rc) : FILES_OK;
}

bool files_exists(struct files *f, enum files_root root, const char *path)
{
	const char *base = root_path(f, root);
	const struct front_tree *tree = tree_of(f, root);
	auto_fd int dir = -1;
	struct stat st;
	unsigned mode;
	struct err err;

	if (root == FILES_WORKSPACE && instead_of(f, str_of(path)))
		return true;
	if (tree)
		return tree->read(tree, f->c->a, str_of(path), 0, &mode, NULL,
				  &err) != -ENOENT;
	if (!base)
		return false;
	dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir >= 0 && fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The folder in which the state folder stands, or is to stand; NULL for none. */
static const char *state_parent(struct arena *a, const char *state)
{
	struct str path = str_of(state), name = STR("/.membrane");

	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	if (!str_ends(path, name))
		return NULL;
	return path.n == name.n
		       ? "/"
		       : arena_str(a, str_slice(path, 0, path.n - name.n)).p;
}

static bool is_same(const struct stat *x, const struct stat *y)
{
	return x->st_dev == y->st_dev && x->st_ino == y->st_ino;
}

bool files_is_state(const struct files *f)
{
	const struct front_input *in = f->in;
	struct stat workspace, own, other;
	auto_fd int dir = -1;
	const char *parent;

	if (!in->workspace || !in->state || in->tree)
		return false;
	dir = open(in->workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fstat(dir, &workspace) < 0)
		return false;
	/* Before the first session the state folder is not there yet. */
	parent = state_parent(f->c->a, in->state);
	if (parent && stat(parent, &other) == 0 && is_same(&workspace, &other))
		return true;
	return fstatat(dir, ".membrane", &own, AT_SYMLINK_NOFOLLOW) == 0 &&
	       stat(in->state, &other) == 0 && is_same(&own, &other);
}
