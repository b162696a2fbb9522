/*
 * What a session gets of a repository that lies beside its workspace
 * (workspace/gitlinked.h), once that is approved: the words for {repository}
 * and {repository-view} of docker.json.
 *
 * In a view, the repository's folder is judged as any .git is, by more lines
 * than that (gitlinked_patterns()). Without one it is mounted read-only, and
 * the folders that git of a worktree writes are mounted over that. The
 * workspace's `.git` is a file of the session's folder, which leads there
 * whatever the host's says. Of a repository that the workspace is a folder of,
 * the whole folder is at its own path, as git's index has it, with the
 * workspace in it, as that is at its own (ownpath.c).
 */
#include "runtime/launch/lifecycle/parts.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/view_hello.h"
#include "runtime/launch/docker/binds.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define IN_WORKSPACE "/workspace/.git"

typedef VEC(const char *) word_list;

struct making {
	struct arena *a;
	const struct gitlinked *linked;
	struct str own; /* common/worktrees/NAME */
	word_list *words;
};

static struct str below(struct making *m, struct str dir, const char *name)
{
	return arena_fmt(m->a, "%.*s/%s", STR_ARG(dir), name);
}

static bool is_there(struct str path)
{
	struct stat st;

	return lstat(path.p, &st) == 0;
}

/* Where it is on the host, in the container, too. */
static void put_own_place(struct making *m, struct str path, bool readonly)
{
	*vec_push(m->a, m->words) = binds_word(m->a, path, path, readonly);
}

/* An agent of the repository itself may have made a link of it, which Docker
 * would follow. */
static int put_where_there(struct making *m, struct str path, bool readonly,
			   struct err *err)
{
	struct stat st;

	if (lstat(path.p, &st) < 0)
		return 0;
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return err_set(err, -ENOTSUP,
			       "%s is neither a folder nor a file", path.p);
	put_own_place(m, path, readonly);
	return 0;
}

/*
 * A name that is not there cannot be mounted over. What could be made there and
 * read as configuration is in a folder that is read-only, but for the
 * worktree's own: git reads config.worktree alone in there.
 */
static int put_folders(struct making *m, struct err *err)
{
	static const char *const written[] = {"objects", "refs", "reftable",
					      "logs",	 "lfs",	 "rr-cache"};
	static const char *const kept[] = {"commondir", "gitdir", "locked",
					   "config.worktree", "modules"};
	struct str common = m->linked->common;
	int rc = 0;

	if (m->linked->kind == GITLINKED_MODULE)
		return err_set(
			err, -ENOTSUP,
			"the workspace is a submodule, which 'masks: start' cannot show git's files of");
	if (m->linked->kind == GITLINKED_PART)
		return err_set(
			err, -ENOTSUP,
			"the workspace is a folder of it, which 'masks: start' cannot show the rest of as git has it");
	if (m->linked->relative)
		return err_set(
			err, -ENOTSUP,
			"the workspace's .git names its repository by a relative path, which 'masks: start' cannot show");
	if (!is_there(below(m, m->own, "config.worktree")) &&
	    is_there(below(m, common, "config.worktree")))
		return err_set(
			err, -ENOTSUP,
			"the repository has a configuration per worktree, which 'masks: start' cannot keep from being written");
	if (!is_there(below(m, common, "logs")))
		return err_set(
			err, -ENOTSUP,
			"the repository has no folder for its logs yet, and 'masks: start' makes none: mkdir %.*s/logs",
			STR_ARG(common));
	put_own_place(m, common, true);
	for (size_t i = 0; i < ARRAY_LEN(written) && rc == 0; i++)
		rc = put_where_there(m, below(m, common, written[i]), false,
				     err);
	if (rc == 0)
		rc = put_where_there(m, below(m, common, "logs/HEAD"), true,
				     err);
	put_own_place(m, m->own, false);
	for (size_t i = 0; i < ARRAY_LEN(kept) && rc == 0; i++)
		rc = put_where_there(m, below(m, m->own, kept[i]), true, err);
	return rc;
}

/* The view has it beside the workspace, and judges it. */
static void put_viewed(struct making *m, const struct session *s)
{
	bool part = m->linked->kind == GITLINKED_PART;
	struct str in_view =
		arena_fmt(m->a,
			  "%s/" DOCKER_JSON_VIEW_FOLDER
			  "/" DOCKER_JSON_VIEW_MOUNT "/" VIEW_HELLO_BESIDE "%s",
			  s->dir, part ? "" : "/.git");

	*vec_push(m->a, m->words) =
		binds_word(m->a, in_view, gitlinked_shown(m->linked), false);
}

/* Wherever the workspace is; git's own list of worktrees looks for it at the
 * path that it has outside, in any case. */
static int put_gitlink(struct making *m, const struct launch_opts *o,
		       const struct session *s, bool view, bool own,
		       struct err *err)
{
	struct str path = arena_fmt(m->a, "%s/" DOCKER_JSON_GITLINK, s->dir);
	struct str text = arena_fmt(m->a, "gitdir: %.*s\n", STR_ARG(m->own));
	int rc = fileio_write(AT_FDCWD, path.p, text, 0644, err);

	/* the agent's user reads it, whatever our umask is */
	if (rc == 0 && chmod(path.p, 0644) < 0)
		rc = err_errno(err, path.p);
	if (rc < 0)
		return rc;
	if (view)
		*vec_push(m->a, m->words) =
			binds_word(m->a, path, STR(IN_WORKSPACE), true);
	if (own || (m->linked->kind == GITLINKED_WORKTREE &&
		    !gitlinked_is_systems(str_of(o->workspace))))
		*vec_push(m->a, m->words) = binds_word(
			m->a, path, arena_fmt(m->a, "%s/.git", o->workspace),
			true);
	return 0;
}

static int check_folder(const struct gitlinked *g, struct arena *a,
			struct err *err)
{
	struct stat st;

	if (lstat(arena_cstr(a, g->common), &st) == 0 && st.st_dev == g->dev &&
	    st.st_ino == g->ino)
		return 0;
	return err_set(err, -ESTALE,
		       "the repository was replaced while the session started");
}

int repository_prepare(struct launch *l, struct err *err)
{
	bool view = l->vectors.view.image != NULL;
	word_list agent = {0}, viewed = {0};
	const struct gitlinked *g = l->o.linked;
	struct making m = {.a = l->a, .linked = g, .words = &agent};
	int rc = check_folder(g, l->a, err);

	m.own = g->kind == GITLINKED_WORKTREE
			? arena_fmt(l->a, "%.*s/worktrees/%.*s",
				    STR_ARG(g->common), STR_ARG(g->name))
			: g->common;
	if (rc == 0 && view)
		put_viewed(&m, &l->session);
	else if (rc == 0)
		rc = put_folders(&m, err);
	if (rc == 0 && g->kind != GITLINKED_PART)
		rc = put_gitlink(&m, &l->o, &l->session, view,
				 l->mounts.own != NULL, err);
	if (rc < 0)
		return rc;
	*vec_push(l->a, &agent) = NULL;
	*vec_push(l->a, &viewed) =
		binds_word(l->a, g->common, STR(VIEW_HELLO_REPOSITORY), false);
	*vec_push(l->a, &viewed) = NULL;
	l->values.repository = agent.v;
	l->values.repository_view = viewed.v;
	return 0;
}
