#include "compiler/cli/review/git.h"

#include "compiler/base/ascii.h"
#include "compiler/base/buf.h"
#include "compiler/base/limits.h"
#include "runtime/launch/workspace/gitcmd.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define TIMEOUT_MS  30000
#define LISTING_MAX (64u << 10)

/* --- one run of git ------------------------------------------------------ */

static int run_git(struct arena *a, const char *dir, const char *const *words,
		   size_t max, struct str *out_text, int *out_status,
		   struct str *out_complaint, struct err *err)
{
	struct gitcmd g = {.dir = dir,
			   .words = words,
			   .of = GITCMD_USER,
			   .max = max,
			   .timeout_ms = TIMEOUT_MS};
	int rc = gitcmd_run(a, &g, err);

	*out_text = g.text;
	*out_complaint = g.complaint;
	*out_status = g.status;
	return rc;
}

/* git's own words: the line that it ends with, behind its warnings. */
static int fail_git(struct str complaint, int status, struct err *err)
{
	struct str line, fatal = {0};

	while (fatal.n == 0 && str_line(&complaint, &line))
		if (str_starts(line, STR("fatal: ")))
			fatal = str_slice(line, 7, line.n);
	if (fatal.n == 0)
		return err_set(err, -EPROTO, "git failed with status %d",
			       status);
	return err_set(err, -EPROTO, "git: %.*s", STR_ARG(fatal));
}

/* For what must succeed. */
static int must_run(struct arena *a, const char *dir, const char *const *words,
		    size_t max, struct str *out_text, struct err *err)
{
	struct str complaint;
	int status = 0;
	int rc =
		run_git(a, dir, words, max, out_text, &status, &complaint, err);

	if (rc < 0)
		return rc;
	return status ? fail_git(complaint, status, err) : 0;
}

/* --- revisions ----------------------------------------------------------- */

int git_open(struct arena *a, const char *dir, struct git *out, struct err *err)
{
	static const char *const words[] = {"rev-parse", "--show-prefix", NULL};
	struct str text, complaint;
	int status = 0;
	int rc = run_git(a, dir, words, LIMIT_PATH_BYTES, &text, &status,
			 &complaint, err);

	if (rc < 0)
		return rc;
	if (status && memmem(complaint.p, complaint.n, "not a git repository",
			     strlen("not a git repository")))
		return err_set(err, -ENOENT, "%s lies in no git repository",
			       dir);
	if (status)
		return fail_git(complaint, status, err);
	if (str_ends(text, STR("\n")))
		text.n--;
	*out = (struct git){dir, arena_str(a, text)};
	return 0;
}

/* The digest that is all of a text but the newline at its end. */
static bool is_oid(struct str text, char out[GIT_OID_MAX])
{
	size_t n = text.n - str_ends(text, STR("\n"));

	if (n < 40 || n >= GIT_OID_MAX || !ascii_is_hex(str_slice(text, 0, n)))
		return false;
	memcpy(out, text.p, n);
	out[n] = '\0';
	return true;
}

static int resolve_rev(struct arena *a, const struct git *g, struct str rev,
		       const char *as, char out[GIT_OID_MAX], struct err *err)
{
	const char *words[] = {"rev-parse",	   "--verify", "--quiet",
			       "--end-of-options", NULL,       NULL};
	struct str text, complaint;
	bool plain =
		rev.n > 0 && rev.n <= LIMIT_SCALAR_BYTES && rev.p[0] != '-';
	int status = 0, rc;

	for (size_t i = 0; plain && i < rev.n; i++)
		plain = (unsigned char)rev.p[i] >= 0x20 && rev.p[i] != 0x7f;
	if (!plain)
		return err_set(err, -EINVAL, "not the name of a revision");
	words[4] = arena_fmt(a, "%.*s^{%s}", STR_ARG(rev), as).p;
	rc = run_git(a, g->dir, words, LIMIT_SCALAR_BYTES, &text, &status,
		     &complaint, err);
	if (rc < 0)
		return rc;
	if (status == 0 && is_oid(text, out))
		return 0;
	if (status == 0 || complaint.n == 0 || status == 1)
		return err_set(err, -ENOENT, "no revision '%.*s'",
			       STR_ARG(rev));
	return fail_git(complaint, status, err);
}

int git_root(struct arena *a, const struct git *g, struct str rev,
	     struct git_entry *out, struct err *err)
{
	struct git_entry e = {.mode = S_IFDIR};
	int rc = resolve_rev(a, g, rev, "tree", e.oid, err);

	if (rc == 0)
		*out = e;
	return rc;
}

int git_merge_base(struct arena *a, const struct git *g, struct str one,
		   struct str two, struct str *out, struct err *err)
{
	char x[GIT_OID_MAX], y[GIT_OID_MAX], base[GIT_OID_MAX];
	const char *words[] = {"merge-base", x, y, NULL};
	struct str text, complaint;
	int status = 0;
	int rc = resolve_rev(a, g, one, "commit", x, err);

	if (rc == 0)
		rc = resolve_rev(a, g, two, "commit", y, err);
	if (rc == 0)
		rc = run_git(a, g->dir, words, LIMIT_SCALAR_BYTES, &text,
			     &status, &complaint, err);
	if (rc < 0)
		return rc;
	if (status == 1)
		return err_set(err, -ENOENT,
			       "'%.*s' and '%.*s' have no commit in common",
			       STR_ARG(one), STR_ARG(two));
	if (status || !is_oid(text, base))
		return fail_git(complaint, status, err);
	*out = arena_str(a, str_of(base));
	return 0;
}

/* --- folders and files --------------------------------------------------- */

/* "100644 blob OID\tNAME" */
static bool parse_entry(struct str line, struct git_entry *out,
			struct str *out_name)
{
	struct str mode, type, oid;
	struct git_entry e = {0};

	if (!str_field(&line, ' ', &mode) || !str_field(&line, ' ', &type) ||
	    !str_field(&line, '\t', &oid) || !is_oid(oid, e.oid))
		return false;
	for (size_t i = 0; i < mode.n; i++) {
		if (mode.p[i] < '0' || mode.p[i] > '7')
			return false;
		e.mode = e.mode * 8 + (unsigned)(mode.p[i] - '0');
	}
	*out = e;
	*out_name = line;
	return true;
}

static int list_tree(struct arena *a, const struct git *g, const char *oid,
		     const char *name, struct str *out, struct err *err)
{
	const char *words[] = {"ls-tree", "-z", "--full-tree", oid,
			       "--",	  name, NULL};

	return must_run(a, g->dir, words, LISTING_MAX, out, err);
}

int git_find(struct arena *a, const struct git *g,
	     const struct git_entry *folder, struct str path,
	     struct git_entry *out, struct err *err)
{
	struct git_entry e = *folder;
	struct str part;

	while (str_field(&path, '/', &part)) {
		struct str text, line, name = {0};
		int rc;

		if (part.n == 0)
			continue;
		rc = list_tree(a, g, e.oid, arena_cstr(a, part), &text, err);
		if (rc < 0)
			return rc;
		if (!str_field(&text, '\0', &line))
			return err_set(err, -ENOENT, "no '%.*s'",
				       STR_ARG(part));
		if (!parse_entry(line, &e, &name) || !str_eq(name, part))
			return err_set(err, -EPROTO,
				       "git lists '%.*s' in an unknown way",
				       STR_ARG(part));
		/* Nothing lies below a file, or in another repository. */
		if (path.n && !S_ISDIR(e.mode) && !S_ISLNK(e.mode))
			return err_set(err, -ENOENT, "no '%.*s'",
				       STR_ARG(path));
		if (S_ISLNK(e.mode))
			break;
	}
	*out = e;
	return 0;
}

int git_read(struct arena *a, const struct git *g, const struct git_entry *file,
	     size_t max, struct str *out, struct err *err)
{
	const char *words[] = {"cat-file", "blob", file->oid, NULL};

	return must_run(a, g->dir, words, max, out, err);
}

int git_list(struct arena *a, const struct git *g,
	     const struct git_entry *folder, git_names *out, struct err *err)
{
	struct str text, line;
	int rc = list_tree(a, g, folder->oid, NULL, &text, err);

	while (rc == 0 && str_field(&text, '\0', &line)) {
		struct git_entry e;
		struct str name;

		if (!parse_entry(line, &e, &name))
			return err_set(err, -EPROTO,
				       "git lists a folder in an unknown way");
		*vec_push(a, out) = name;
	}
	return rc;
}
