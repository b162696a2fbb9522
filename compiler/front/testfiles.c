#include "compiler/front/testfiles.h"

#include "compiler/base/limits.h"
#include "compiler/front/bind/bind.h"
#include "compiler/front/files.h"
#include "compiler/front/yaml/yaml.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct testfiles {
	struct files files;
	struct sources *sources;
	struct ir_tests *out;
	bool ok;
};

typedef VEC(const char *) names;

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Almost the ending: what would be passed over in silence. */
static void check_ending(struct testfiles *t, struct str name)
{
	struct diags *d = t->files.c->diags;

	if (!str_ends(name, STR(".membrane-test.yml")) &&
	    !str_ends(name, STR(".membrane-tests.yaml")))
		return;
	diag_error(d, DIAG_MISNAMED, (struct span){0},
		   "'%s' is not a name that membrane reads",
		   diag_quote(d, name));
	diag_help(d, "files of tests end in '" TESTFILES_ENDING "'");
	t->ok = false;
}

static void find_files(struct testfiles *t, names *out)
{
	struct arena *a = t->files.c->a;
	DIR *dir = opendir(t->files.in->workspace);
	const struct dirent *e;

	if (!dir)
		return;
	while ((e = readdir(dir))) {
		struct str s = str_of(e->d_name);

		if (str_ends(s, STR(TESTFILES_ENDING)))
			*vec_push(a, out) = arena_cstr(a, s);
		else
			check_ending(t, s);
	}
	closedir(dir);
	vec_sort(out, by_name);
}

static enum files_status read_one(struct testfiles *t, enum files_root root,
				  struct str path)
{
	struct pass_ctx *c = t->files.c;
	struct yaml_node *node;
	enum files_status s;
	struct str text;

	if (t->sources->list.n >= LIMIT_SOURCES) {
		diag_error(c->diags, DIAG_SOURCES, (struct span){0},
			   "more than %u files", LIMIT_SOURCES);
		return FILES_REFUSED;
	}
	s = files_read(&t->files, root, path, path, (struct span){0}, &text);
	if (s != FILES_OK)
		return s;
	if (!yaml_parse(c->a, c->diags,
			sources_add(t->sources, path, text, LAYER_WORKSPACE),
			&node) ||
	    !bind_tests(c, LAYER_WORKSPACE, node, t->out))
		return FILES_REFUSED;
	return FILES_OK;
}

/* Is it one of the named ones? Those are read under the name they were given.
 */
static bool is_named(struct testfiles *t, const char *found,
		     const struct str *named, size_t n)
{
	struct arena *a = t->files.c->a;
	struct stat mine, other;

	if (stat(arena_fmt(a, "%s/%s", t->files.in->workspace, found).p,
		 &mine) < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (stat(arena_cstr(a, named[i]), &other) == 0 &&
		    other.st_dev == mine.st_dev && other.st_ino == mine.st_ino)
			return true;
	return false;
}

static int read_named(struct testfiles *t, struct str name)
{
	enum files_status s = read_one(t, FILES_GIVEN, name);

	t->ok &= s == FILES_OK;
	if (s == FILES_ABSENT)
		return err_set(t->files.err, -ENOENT, "%s: %s",
			       diag_quote(t->files.c->diags, name),
			       strerror(ENOENT));
	return s == FILES_FAILED ? t->files.err->code : 0;
}

int testfiles_load(struct pass_ctx *c, struct sources *sources,
		   const struct front_input *in, const struct str *named,
		   size_t n, struct ir_tests *out, bool *out_ok,
		   struct err *err)
{
	struct testfiles t = {{c, in, err}, sources, out, true};
	names found = {0};

	find_files(&t, &found);
	vec_each(name, &found) {
		enum files_status s;

		if (is_named(&t, *name, named, n))
			continue;
		s = read_one(&t, FILES_WORKSPACE, str_of(*name));
		if (s == FILES_FAILED)
			return err->code;
		t.ok &= s != FILES_REFUSED;
	}
	for (size_t i = 0; i < n; i++) {
		int rc = read_named(&t, named[i]);

		if (rc < 0)
			return rc;
	}
	*out_ok = t.ok;
	return 0;
}
