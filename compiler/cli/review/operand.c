#include "compiler/cli/review/operand.h"

#include "compiler/base/ascii.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/limits.h"
#include "compiler/cli/review/git.h"
#include "compiler/cli/review/parts.h"
#include "compiler/cli/review/pods.h"
#include "compiler/cli/review/proof.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/workspace/inputs.h"
#include "compiler/emit/docker/seccomp.h"
#include "compiler/plan/files.h"
#include "compiler/plan/manifest.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define SHOWN_DIGITS 12

/* Any of these makes a folder a workspace, whatever else is in it. */
static const char *const policy_files[] = {FRONT_POLICY, ".membraneignore",
					   FRONT_POLICY_OLDER,
					   ".membrane/.membraneignore"};

/* What both sides are found with. */
struct finder {
	struct arena *a;
	const struct options *o;
	struct inputs in;
	bool in_git;
	struct git git; /* when in_git */
	struct err why; /* when not */
	bool stdin_is_read;
	bool with_global; /* under each workspace */
};

/* A revision and a place in it, as a word says it. */
struct spec {
	struct str word;
	bool is_revision; /* by its spelling */
	struct str rev, path;
	struct str shown; /* of rev, to people */
	bool has_path;
};

static int fail_operand(const struct finder *f, int status,
			const struct err *err)
{
	console_error("%s", view_cleaned(f->a, str_of(err->text)).p);
	return status;
}

/* A word for a message. */
static const char *quoted_word(const struct finder *f, struct str word)
{
	struct str cut = str_slice(word, 0, 60);

	return arena_fmt(f->a, "'%s%s'", view_cleaned(f->a, cut).p,
			 cut.n < word.n ? "…" : "")
		.p;
}

/* --- folders in a revision ----------------------------------------------- */

/* What the front reads a workspace, or a file, in a revision through. */
struct git_tree {
	struct front_tree tree;
	const struct git *git;
	struct git_entry folder;
	bool is_absent; /* the folder did not exist then */
};

static int read_git(const struct front_tree *t, struct arena *a,
		    struct str path, size_t max, unsigned *out_mode,
		    struct str *out_text, struct err *err)
{
	const struct git_tree *g = (const struct git_tree *)t;
	struct git_entry e;
	int rc = 0;

	if (g->is_absent)
		return err_set(err, -ENOENT, "no such folder");
	rc = git_find(a, g->git, &g->folder, path, &e, err);
	if (rc == 0 && S_ISREG(e.mode) && out_text)
		rc = git_read(a, g->git, &e, max, out_text, err);
	if (rc < 0)
		return rc == -ENOENT ? rc
				     : err_while(err, "%.*s", STR_ARG(path));
	*out_mode = S_ISREG(e.mode) || S_ISLNK(e.mode) ? e.mode : S_IFDIR;
	return 0;
}

static bool has_file(const struct finder *f, const struct git_entry *folder,
		     const char *name)
{
	struct git_entry e;
	struct err err;

	/* What cannot be looked up is there: its reader will say why not. */
	return git_find(f->a, &f->git, folder, str_of(name), &e, &err) !=
	       -ENOENT;
}

static int read_artefact(void *ctx, struct arena *a, struct str name,
			 struct str *out, struct err *err)
{
	const struct git_tree *t = ctx;
	unsigned mode = 0;
	int rc = read_git(&t->tree, a, name, LIMIT_PLAN_BYTES, &mode, out, err);

	if (rc == -ENOENT)
		return err_set(err, -EPROTO, "%.*s: missing", STR_ARG(name));
	if (rc == 0 && !S_ISREG(mode))
		return err_set(err, -EPROTO, "%.*s: not a file", STR_ARG(name));
	return rc;
}

/* plan_read(), of a revision. */
static int read_git_plan(struct git_tree *t, struct arena *a, struct plan *out,
			 struct err *err)
{
	git_names names = {0};
	struct str text;
	int rc = read_artefact(t, a, STR(MANIFEST_NAME), &text, err);

	if (rc == 0)
		rc = manifest_open(a, text, read_artefact, t, out, err);
	if (rc == 0)
		rc = git_list(a, t->git, &t->folder, &names, err);
	if (rc < 0)
		return rc;
	vec_each(n, &names)
		if (!str_is(*n, MANIFEST_NAME) &&
		    !plan_file(out, arena_cstr(a, *n)))
			return err_set(err, -EPROTO, "%.*s: not of this plan",
				       STR_ARG(*n));
	return 0;
}

/* --- compiling one ------------------------------------------------------- */

static int check_compiled(struct finder *f, struct operand *s, int rc,
			  struct err *err)
{
	if (rc < 0)
		return fail_operand(f, STATUS_IO, err);
	if (s->c.ok)
		return STATUS_OK;
	console_diags(s->c.a, &s->c.diags);
	console_error("%s is refused, so there is nothing to compare",
		      s->label.p);
	return STATUS_REFUSED;
}

/* A workspace: in below is set what it is read from. */
static int load_workspace(struct finder *f, struct front_input in,
			  struct operand *s)
{
	struct err err;
	int rc, status;

	s->kind = OPERAND_WORKSPACE;
	in.state = f->in.front.state;
	in.policies = f->in.front.policies;
	in.no_global = !f->with_global;
	s->c.unbound = true; /* what it would permit is what is asked */
	s->c.unwritten = true;
	rc = driver_compile(&s->c, &in, &err);
	status = check_compiled(f, s, rc, &err);
	s->is_empty = true;
	vec_each(src, &s->c.sources.list)
		s->is_empty &= src->layer != LAYER_WORKSPACE;
	return status;
}

static int load_file(struct finder *f, struct front_input in, struct operand *s)
{
	struct err err;
	int rc;

	s->kind = OPERAND_FILE;
	s->file = arena_str(f->a, str_of(in.global));
	in.policies = f->in.front.policies;
	s->c.unbound = true; /* what it would permit is what is asked */
	s->c.unwritten = true;
	rc = driver_compile(&s->c, &in, &err);
	return check_compiled(f, s, rc, &err);
}

/* No seal covers what a cluster enforces besides: by what it lets through. */
static void hold_network(const struct plan *p, struct operand *s)
{
	struct prove_out out;

	if (!s->pods || !s->c.ok)
		return;
	proof_make(&s->c, p, &out);
	switch (out.end) {
	case PROVE_AGREES:
	case PROVE_TOO_LARGE:
		return;
	case PROVE_DIFFERS:
	case PROVE_UNREADABLE:
		break;
	}
	if (s->forged++ == 0)
		s->forged_first = STR(PLAN_NETWORKPOLICY);
}

static int load_plan(struct finder *f, const struct plan *p, const char *prefix,
		     struct operand *s)
{
	struct kube_options *pods = NULL;
	struct derived d;
	struct err err;
	int rc;

	if (plan_file(p, PLAN_KUBERNETES)) {
		struct plan *copy = arena_new_of(f->a, struct plan);

		*copy = *p;
		s->pods = copy;
		pods = arena_new_of(f->a, struct kube_options);
		if (pods_open(f->a, p, pods, &err) < 0) {
			err_while(&err, "%s", *prefix ? prefix : "./");
			return fail_operand(f, STATUS_REFUSED, &err);
		}
	}
	rc = derived_make(p, prefix, pods, &d, &err);
	s->kind = OPERAND_PLAN;
	vec_each(src, &p->sources)
		s->is_personal |= str_starts(src->name, STR("~/.membrane/"));
	s->c = d.c;
	s->forged = d.n;
	if (d.n)
		s->forged_first = d.deltas[0].name;
	for (uint32_t i = 0; i < d.n; i++)
		s->calls_forged |= str_is(d.deltas[i].name, PLAN_SECCOMP);
	s->seccomp = plan_file(p, PLAN_SECCOMP);
	hold_network(p, s);
	return check_compiled(f, s, rc, &err);
}

/* A plan that is not whole is refused like a policy. */
static int bad_plan(struct finder *f, int rc, const struct err *err)
{
	return fail_operand(f, rc == -EPROTO ? STATUS_REFUSED : STATUS_IO, err);
}

/* --- on disk ------------------------------------------------------------- */

/* "old" and "old/" are "old/", "." and "./" nothing at all. */
static const char *folder_prefix(struct arena *a, struct str path)
{
	while (path.n && path.p[path.n - 1] == '/' && path.n > 1)
		path.n--;
	if (str_is(path, "."))
		return "";
	return arena_fmt(a, "%.*s%s", STR_ARG(path),
			 str_is(path, "/") ? "" : "/")
		.p;
}

static bool holds_name(struct arena *a, const char *dir, const char *name)
{
	struct stat st;

	return lstat(arena_fmt(a, "%s/%s", dir, name).p, &st) == 0;
}

static int load_folder(struct finder *f, const char *path, struct operand *s)
{
	const char *prefix = folder_prefix(f->a, str_of(path));
	struct front_input in = {.workspace = path, .prefix = prefix};
	bool is_plan = holds_name(f->a, path, MANIFEST_NAME) &&
		       holds_name(f->a, path, PLAN_POLICY);
	struct plan p;
	struct err err;
	int rc;

	for (size_t i = 0; i < ARRAY_LEN(policy_files); i++)
		is_plan &= !holds_name(f->a, path, policy_files[i]);
	s->file = arena_fmt(f->a, "%s%s", prefix,
			    is_plan ? PLAN_POLICY : FRONT_POLICY);
	if (!is_plan)
		return load_workspace(f, in, s);
	rc = plan_read(f->a, path, &p, &err);
	return rc < 0 ? bad_plan(f, rc, &err) : load_plan(f, &p, prefix, s);
}

static int load_path(struct finder *f, struct str word, struct operand *s)
{
	const char *path = arena_cstr(f->a, word);
	struct front_input in = {.global = path, .prefix = ""};
	struct stat st;
	struct err err;

	if (stat(path, &st) < 0) {
		err_set(&err, -errno, "%s: %s", path, strerror(errno));
		return fail_operand(f, STATUS_IO, &err);
	}
	if (S_ISDIR(st.st_mode))
		return load_folder(f, path, s);
	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
		err_set(&err, -ELOOP,
			"%s is a symbolic link: name the file that it leads to",
			path);
		return fail_operand(f, STATUS_IO, &err);
	}
	return load_file(f, in, s);
}

/* As what 'membrane trace suggest' prints. */
static int load_stdin(struct finder *f, struct operand *s)
{
	struct front_text text = {.name = STR("<stdin>")};
	struct front_input in = {.global = "<stdin>", .prefix = ""};

	if (f->stdin_is_read) {
		console_error("both sides cannot be stdin");
		return STATUS_USAGE;
	}
	f->stdin_is_read = true;
	s->label = text.name;
	if (!inputs_stdin(f->a, LIMIT_SOURCE_BYTES, &text.text))
		return STATUS_IO;
	in.texts = &text;
	in.n_texts = 1;
	return load_file(f, in, s);
}

/* --- in a revision ------------------------------------------------------- */

/* The path of REV:PATH from the root of the repository, without '/' at its
 * ends. */
static int rooted_path(struct finder *f, const struct spec *spec,
		       struct str *out, struct err *err)
{
	struct str rest = spec->path, part;
	struct buf b;

	buf_init(&b, f->a);
	if (!spec->has_path || str_is(rest, ".") || str_starts(rest, STR("./")))
		buf_add(&b, f->git.prefix);
	while (b.n && b.p[b.n - 1] == '/')
		b.n--;
	while (str_field(&rest, '/', &part)) {
		if (part.n == 0 || str_is(part, "."))
			continue;
		if (str_is(part, ".."))
			return err_set(err, -EINVAL,
				       "a path in a revision has no '..'");
		buf_addf(&b, "%s%.*s", b.n ? "/" : "", STR_ARG(part));
	}
	*out = buf_keep(&b);
	return 0;
}

static int load_entry(struct finder *f, const struct spec *spec,
		      struct git_tree *t, struct str path, struct operand *s)
{
	const char *prefix = arena_fmt(f->a, "%s%.*s%s", s->revision.p,
				       STR_ARG(path), path.n ? "/" : "")
				     .p;
	struct front_input in = {
		.workspace = "", .tree = &t->tree, .prefix = prefix};
	bool is_plan = spec->has_path && !t->is_absent &&
		       has_file(f, &t->folder, MANIFEST_NAME) &&
		       has_file(f, &t->folder, PLAN_POLICY);
	struct plan p = {0};
	struct err err;
	int rc;

	for (size_t i = 0; is_plan && i < ARRAY_LEN(policy_files); i++)
		is_plan = !has_file(f, &t->folder, policy_files[i]);
	s->file = arena_fmt(f->a, "%.*s%s%s", STR_ARG(path), path.n ? "/" : "",
			    is_plan ? PLAN_POLICY : FRONT_POLICY);
	if (!is_plan)
		return load_workspace(f, in, s);
	rc = read_git_plan(t, f->a, &p, &err);
	if (rc < 0) {
		err_while(&err, "%s", s->label.p);
		return bad_plan(f, rc, &err);
	}
	return load_plan(f, &p, prefix, s);
}

static int no_revision(struct finder *f, const struct spec *spec, int rc,
		       struct err *err)
{
	if (rc == -EINVAL) {
		console_error("%s: %s", quoted_word(f, spec->word), err->text);
		return STATUS_USAGE;
	}
	return fail_operand(f, STATUS_IO, err);
}

static int load_revision(struct finder *f, const struct spec *spec,
			 struct operand *s)
{
	struct git_tree t = {.tree = {read_git}, .git = &f->git};
	struct front_input in = {.tree = &t.tree};
	struct git_entry root;
	struct str path = {0};
	struct err err;
	int rc;

	s->is_revision = !spec->has_path;
	s->revision = arena_fmt(f->a, "%.*s:", STR_ARG(spec->shown));
	if (!f->in_git) {
		console_error("%s: %s", quoted_word(f, spec->word),
			      view_cleaned(f->a, str_of(f->why.text)).p);
		return STATUS_IO;
	}
	rc = git_root(f->a, &f->git, spec->rev, &root, &err);
	if (rc == 0)
		rc = rooted_path(f, spec, &path, &err);
	if (rc < 0)
		return no_revision(f, spec, rc, &err);
	rc = git_find(f->a, &f->git, &root, path, &t.folder, &err);
	if (rc == -ENOENT && !spec->has_path)
		t.is_absent = true;
	else if (rc < 0)
		return fail_operand(
			f, STATUS_IO,
			(err_while(&err, "%.*s", STR_ARG(spec->shown)), &err));
	if (t.is_absent || S_ISDIR(t.folder.mode))
		return load_entry(f, spec, &t, path, s);
	if (!S_ISREG(t.folder.mode)) {
		console_error("%s is neither a file nor a folder there",
			      quoted_word(f, spec->word));
		return STATUS_IO;
	}
	t.folder = root;
	in.global = path.p;
	in.prefix = s->revision.p;
	return load_file(f, in, s);
}

/* --- words --------------------------------------------------------------- */

/* The digest of a commit or a tree, of which people get the beginning. */
static struct str shown_rev(struct str rev)
{
	return ascii_is_hex(rev) ? str_slice(rev, 0, SHOWN_DIGITS) : rev;
}

/* So spelled that it is a path and nothing else. */
static bool is_path(struct str w)
{
	return str_is(w, ".") || str_is(w, "..") || str_starts(w, STR("/")) ||
	       str_starts(w, STR("./")) || str_starts(w, STR("../"));
}

/* A word that may be a path, a revision, both or neither. */
static int load_spec_word(struct finder *f, const struct spec *spec,
			  struct operand *s)
{
	struct git_entry root;
	struct stat st;
	struct err err;
	bool here = lstat(arena_cstr(f->a, spec->word), &st) == 0;
	int rc;

	if (!f->in_git && f->why.code != -ENOENT) {
		console_error("%s%s%s",
			      view_cleaned(f->a, str_of(f->why.text)).p,
			      here ? "\n  for the path, write ./" : "",
			      here ? s->label.p : "");
		return STATUS_IO;
	}
	rc = f->in_git ? git_root(f->a, &f->git, spec->rev, &root, &err)
		       : -ENOENT;
	if (rc < 0 && rc != -ENOENT && rc != -EINVAL)
		return fail_operand(f, STATUS_IO, &err);
	if (here && rc == 0) {
		console_error(
			"%s is a path and a revision: write './%s' or '%s:./'",
			quoted_word(f, spec->word), s->label.p, s->label.p);
		return STATUS_USAGE;
	}
	if (here)
		return load_path(f, spec->word, s);
	if (rc == 0)
		return load_revision(f, spec, s);
	if (rc == -EINVAL)
		return no_revision(f, spec, rc, &err);
	console_error("%s is neither a file or folder here nor a revision%s",
		      quoted_word(f, spec->word),
		      f->in_git ? "" : ", since this is no git repository");
	return STATUS_IO;
}

static int load_spec(struct finder *f, struct spec spec, struct operand *s)
{
	size_t colon = str_find(spec.word, ':', 0);

	s->label = view_cleaned(f->a, spec.word);
	if (str_is(spec.word, "-"))
		return load_stdin(f, s);
	if (spec.is_revision)
		return load_revision(f, &spec, s);
	if (is_path(spec.word))
		return load_path(f, spec.word, s);
	spec.rev = str_slice(spec.word, 0, colon);
	spec.shown = shown_rev(spec.rev);
	spec.has_path = colon < spec.word.n;
	spec.path = str_slice(spec.word, colon + 1, spec.word.n);
	return spec.has_path ? load_revision(f, &spec, s)
			     : load_spec_word(f, &spec, s);
}

/* A..B and A...B, where an empty end is HEAD. */
static int split_range(struct finder *f, struct str word, struct spec out[2])
{
	size_t dots = 0, n;
	struct err err;
	int rc;

	while (dots < word.n &&
	       !str_starts(str_slice(word, dots, word.n), STR("..")))
		dots++;
	if (is_path(word) || dots == word.n ||
	    str_find(word, ':', 0) < word.n) {
		console_error(
			"'membrane diff' needs two policies, OLD and NEW, or a range of revisions A..B");
		return STATUS_USAGE;
	}
	n = str_starts(str_slice(word, dots, word.n), STR("...")) ? 3 : 2;
	out[0].rev = str_slice(word, 0, dots);
	out[1].rev = str_slice(word, dots + n, word.n);
	for (int i = 0; i < 2; i++) {
		if (out[i].rev.n == 0)
			out[i].rev = STR("HEAD");
		out[i].word = out[i].shown = shown_rev(out[i].rev);
		out[i].is_revision = true;
	}
	if (n == 2 || !f->in_git)
		return STATUS_OK;
	rc = git_merge_base(f->a, &f->git, out[0].rev, out[1].rev, &out[0].rev,
			    &err);
	if (rc < 0)
		return no_revision(f, &out[0], rc, &err);
	out[0].word = out[0].shown = shown_rev(out[0].rev);
	return STATUS_OK;
}

/*
 * What ran here last, and what would run now: the personal settings are in the
 * one, so they are in the other.
 */
static int load_ran(struct finder *f, struct operand out[2])
{
	struct front_input now = f->in.front;
	struct ran ran;
	struct err err;
	int rc = ran_find(f->a, f->in.state, f->in.workspace, &ran, &err);
	int status;

	if (rc == -ENOENT) {
		console_error(
			"no session of this workspace is on record, so there is nothing to compare with\n  run one, or name two policies: membrane diff OLD NEW");
		return STATUS_IO;
	}
	if (rc < 0)
		return fail_operand(f, STATUS_IO, &err);
	out[0].label = arena_fmt(f->a, "session %s, %s", ran.about.session.id,
				 ran.about.started);
	out[0].file = STR(PLAN_POLICY);
	out[1].label = STR("the workspace");
	out[1].file = STR(FRONT_POLICY);
	f->with_global = true;
	status = load_plan(f, &ran.plan, "", &out[0]);
	out[0].is_personal = false;
	return status == STATUS_OK ? load_workspace(f, now, &out[1]) : status;
}

static struct finder finder_of(struct arena *a, const struct options *o)
{
	return (struct finder){
		.a = a,
		.o = o,
		.with_global = options_get(o, OPTION_WITH_GLOBAL) != NULL};
}

int operand_load_both(struct arena *a, const struct options *o,
		      struct operand out[2])
{
	struct finder f = finder_of(a, o);
	struct spec specs[2] = {0};
	struct err err;
	int status = STATUS_OK;

	memset(out, 0, 2 * sizeof(*out));
	if (inputs_find(a, o, &f.in, &err) < 0)
		return fail_operand(&f, STATUS_IO, &err);
	if (o->words.n == 0)
		return load_ran(&f, out);
	f.in_git = git_open(a, f.in.workspace, &f.git, &f.why) == 0;
	if (o->words.n == 1)
		status = split_range(&f, o->words.v[0], specs);
	else
		for (int i = 0; i < 2; i++)
			specs[i].word = o->words.v[i];
	for (int i = 0; i < 2 && status == STATUS_OK; i++)
		status = load_spec(&f, specs[i], &out[i]);
	/* A repository may well do without; a folder that somebody named, and
	 * that holds nothing, is another one than was meant. */
	if (status == STATUS_OK && out[0].is_empty && out[1].is_empty &&
	    !(out[0].is_revision && out[1].is_revision)) {
		console_error("neither %s nor %s has a policy", out[0].label.p,
			      out[1].label.p);
		return STATUS_IO;
	}
	return status;
}

int operand_load(struct arena *a, const struct options *o, struct str word,
		 struct operand *out)
{
	struct finder f = finder_of(a, o);
	struct err err;
	int status;

	*out = (struct operand){0};
	if (inputs_find(a, o, &f.in, &err) < 0)
		return fail_operand(&f, STATUS_IO, &err);
	f.in_git = git_open(a, f.in.workspace, &f.git, &f.why) == 0;
	status = load_spec(&f, (struct spec){.word = word}, out);
	if (status == STATUS_OK && out->is_empty && !out->is_revision) {
		console_error("%s has no policy", out->label.p);
		return STATUS_IO;
	}
	return status;
}

void operand_done_both(struct operand sides[2])
{
	for (int i = 0; i < 2; i++)
		driver_done(&sides[i].c);
}
