/*
 * What the files that a session wrote are now, against the commit of their
 * repository. git reads objects and its lists of what it ignores, and nothing
 * of the repository's is run (cli/review/git.h, launch/workspace/gitcmd.h); the
 * files themselves are read here, through no link, so that no filter of
 * anybody's sees them. Contents that the policy hides, that git ignores or that
 * likely are secrets never get this far.
 */
#include "compiler/cli/report/parts.h"

#include "compiler/algebra/decide/ask.h"
#include "compiler/base/secret.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/cli/review/git.h"
#include "runtime/launch/workspace/gitcmd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX   60u
#define FILE_BYTES  (256u << 10)
#define IGNORED_MAX (16u << 20)
#define GIT_MS	    10000u
#define COMMIT_HEX  12u

struct sides {
	struct arena *a;
	struct git git;
	struct git_entry root;
	int workspace;	       /* its folder */
	struct texts *ignored; /* by git */
};

/* --- what is not shown ---------------------------------------------------- */

static bool is_hidden(const struct report *r, struct str path)
{
	struct ir_request ask = {.kind = IR_REQ_READ, .path = path};

	/* Whoever does not know what was hidden shows nothing. */
	return !r->past.has_policy ||
	       decide_asked(r->a, &r->past.under.c.policy, r->past.files, &ask)
			       .verdict == VERDICT_DENY;
}

/* Files that git ignores, and folders that it ignores whole: "a/". */
static int ask_ignored(struct sides *s, struct err *err)
{
	static const char *const words[] = {
		"ls-files",    "--others", "--ignored", "--exclude-standard",
		"--directory", "-z",	   NULL};
	struct gitcmd g = {.dir = s->git.dir,
			   .words = words,
			   .of = GITCMD_USER,
			   .max = IGNORED_MAX,
			   .timeout_ms = GIT_MS};
	int rc = gitcmd_run(s->a, &g, err);
	struct str one;

	s->ignored = arena_new_of(s->a, struct texts);
	s->ignored->a = s->a;
	while (rc == 0 && str_field(&g.text, '\0', &one))
		texts_index(s->ignored, one, true);
	if (rc < 0 || (g.status == 0 && s->ignored->beyond == 0))
		return rc;
	return err_set(err, -EPROTO, "git does not say what it ignores");
}

static bool is_ignored(const struct sides *s, struct str path)
{
	for (size_t i = 0; i < path.n; i++)
		if (path.p[i] == '/' &&
		    texts_index(s->ignored, str_slice(path, 0, i + 1), false))
			return true;
	return texts_index(s->ignored, path, false);
}

static const char *why_hidden(const struct report *r, const struct file *f)
{
	if (is_hidden(r, f->path))
		return r->past.has_policy ? "hidden by the policy"
					  : "what its policy hid is not known";
	if (f->secret)
		return "its name is one of a secret";
	return NULL;
}

/* --- both sides ----------------------------------------------------------- */

/* As committed; *has: there is one. */
static const char *read_before(const struct sides *s, struct str path,
			       struct str *out, bool *has)
{
	struct git_entry e;
	struct err err;
	int rc = git_find(s->a, &s->git, &s->root,
			  arena_fmt(s->a, "%.*s%.*s", STR_ARG(s->git.prefix),
				    STR_ARG(path)),
			  &e, &err);

	*has = rc == 0;
	*out = STR("");
	if (rc == -ENOENT)
		return NULL;
	if (rc < 0)
		return "git does not say what was committed";
	if (!S_ISREG(e.mode))
		return "it was committed as a link, a folder or a submodule";
	rc = git_read(s->a, &s->git, &e, FILE_BYTES, out, &err);
	if (rc == -EFBIG)
		return "too long to be compared";
	return rc < 0 ? "git does not say what was committed" : NULL;
}

static const char *read_after(const struct sides *s, struct str path,
			      struct str *out, bool *has)
{
	struct err err;
	int rc = fileio_read_inside(s->a, s->workspace, path, FILE_BYTES, out,
				    &err);

	*has = rc == 0;
	switch (rc) {
	case 0:
		return NULL;
	case -ENOENT:
		*out = STR("");
		return NULL;
	case -EFBIG:
		*has = true;
		return "too long to be compared";
	case -ELOOP:
	case -ENOTDIR:
		return "a link is on its path";
	case -EINVAL:
		return "it is no regular file";
	default:
		return "it cannot be read";
	}
}

static bool is_binary(struct str s)
{
	return s.n && memchr(s.p, '\0', s.n);
}

static void compare_one(const struct sides *s, const struct file *f,
			struct compared *out)
{
	struct str before, after;
	bool was = false, is = false;

	if (!out->why)
		out->why = read_before(s, f->path, &before, &was);
	if (!out->why)
		out->why = read_after(s, f->path, &after, &is);
	out->is_new = !was && is;
	out->is_gone = !is;
	if (!out->why && !was && !is)
		out->why = "gone, and was never committed";
	if (out->why)
		return;
	if (was == is && str_eq(before, after)) {
		out->how = COMPARED_SAME;
		return;
	}
	if (is_binary(before) || is_binary(after)) {
		out->why = "not a text";
		return;
	}
	/* A private key is known by all of its lines: before they are parted.
	 */
	if (!linediff_make(s->a, secret_hidden(s->a, before),
			   secret_hidden(s->a, after), &out->diff)) {
		out->why = "too long to be compared";
		return;
	}
	out->how = COMPARED_DIFF;
}

/* --- the repository ------------------------------------------------------- */

static int open_sides(struct report *r, struct sides *s, struct err *err)
{
	const char *workspace = r->past.about.workspace;
	int rc;

	if (!r->past.about.known)
		return err_set(err, -ENOENT,
			       "where the workspace was is not known");
	s->workspace = open(workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->workspace < 0)
		return err_errno(err, workspace);
	rc = git_open(r->a, workspace, &s->git, err);
	if (rc == 0)
		rc = git_root(r->a, &s->git, STR("HEAD"), &s->root, err);
	if (rc == -ENOENT && s->git.dir)
		return err_set(err, -ENOENT, "nothing is committed there yet");
	return rc < 0 ? rc : ask_ignored(s, err);
}

static struct str head_commit(struct report *r, const struct sides *s)
{
	static const char *const words[] = {"rev-parse", "--verify", "--quiet",
					    "HEAD", NULL};
	struct gitcmd g = {.dir = s->git.dir,
			   .words = words,
			   .of = GITCMD_USER,
			   .max = GIT_OID_MAX,
			   .timeout_ms = GIT_MS};
	struct err ignored;

	if (gitcmd_run(r->a, &g, &ignored) < 0 || g.status)
		return STR("");
	return str_slice(g.text, 0, COMMIT_HEX);
}

static void compare_file(struct report *r, const struct sides *s,
			 const struct file *f, struct comparing *out,
			 uint32_t *looked_at)
{
	struct compared *c = vec_push(r->a, &out->v);

	*c = (struct compared){.how = COMPARED_HIDDEN, .why = why_hidden(r, f)};
	if (!c->why && is_ignored(s, f->path)) {
		c->why = "ignored by git";
		c->is_ignored = true;
	}
	if (c->why)
		return;
	if (*looked_at == FILES_MAX) {
		c->why = "not compared";
		out->left_out++;
		return;
	}
	++*looked_at;
	compare_one(s, f, c);
	out->diffs += c->how == COMPARED_DIFF;
}

void comparing_make(struct report *r, struct comparing *out)
{
	struct sides s = {.a = r->a, .workspace = -1};
	uint32_t looked_at = 0;
	struct err err;

	*out = (struct comparing){.a = r->a};
	if (open_sides(r, &s, &err) < 0) {
		out->why = arena_str(r->a, str_of(err.text));
	} else {
		out->is_repository = true;
		out->commit = head_commit(r, &s);
		vec_each(f, &r->files.v)
			if (f->in_workspace && f->writes)
				compare_file(r, &s, f, out, &looked_at);
	}
	if (s.workspace >= 0)
		close(s.workspace);
}
