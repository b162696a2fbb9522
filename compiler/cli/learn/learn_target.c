/* Where what is learned goes, looked at before anything runs. */
#include "compiler/cli/learn/learn.h"

#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/front/testfiles.h"
#include "compiler/front/yaml/edit.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define OWN_TESTS "learned" TESTFILES_ENDING

static struct str folder_of(struct str path)
{
	while (path.n && path.p[path.n - 1] != '/')
		path.n--;
	return path;
}

static struct str without_ending(struct str path)
{
	if (str_ends(path, STR(".yaml")))
		path.n -= strlen(".yaml");
	else if (str_ends(path, STR(".yml")))
		path.n -= strlen(".yml");
	return path;
}

/* Does path lead to a name in the folder dir, whether it is there or not? */
static bool is_at(struct arena *a, const char *path, const char *dir,
		  struct str name)
{
	struct str p = str_of(path), folder = folder_of(p);
	struct str full = arena_fmt(a, "%s/%.*s", dir, STR_ARG(name));
	struct str base = str_slice(p, folder.n, p.n);
	char real[PATH_MAX];

	if (!realpath(folder.n ? arena_cstr(a, folder) : ".", real))
		return false;
	return str_eq(arena_fmt(a, "%s/%.*s", real, STR_ARG(base)), full);
}

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static bool is_free(struct arena *a, const struct options *o, const char *path)
{
	if (options_get(o, OPTION_FORCE) || !is_there(path))
		return true;
	console_error("%s exists: --force takes its place",
		      view_cleaned(a, str_of(path)).p);
	return false;
}

static const char *tests_of(struct arena *a, const struct learn_target *t)
{
	struct str p = str_of(t->path);

	if (t->own)
		return arena_fmt(a, "%.*s" OWN_TESTS, STR_ARG(folder_of(p))).p;
	return arena_fmt(a, "%.*s" TESTFILES_ENDING, STR_ARG(without_ending(p)))
		.p;
}

/* A text of a shape that no line can be put into: before, and not after. */
static bool is_editable(struct arena *a, const struct sources *sources)
{
	struct str file = front_policy_name(sources), ignored;
	const struct source *src = sources_named(sources, file);

	if (!src || edit_add(a, src->text, "allow", STR("x.test"), &ignored))
		return true;
	console_error(
		"%.*s has a shape that is not edited here: leave out -o, and put in by hand what is learned",
		STR_ARG(file));
	return false;
}

bool learn_target_find(struct arena *a, const struct options *o,
		       const struct inputs *in, const struct sources *sources,
		       struct learn_target *out)
{
	struct str file = front_policy_name(sources);

	*out = (struct learn_target){
		.path = options_value(a, o, OPTION_LEARNED, NULL)};
	if (!out->path) {
		if (options_get(o, OPTION_FORCE))
			console_error("--force goes with -o");
		return !options_get(o, OPTION_FORCE);
	}
	out->own = is_at(a, out->path, in->workspace, file);
	if (!out->own &&
	    is_at(a, out->path, in->workspace, STR(FRONT_POLICY))) {
		console_error("the policy of this workspace is %.*s: -o %.*s",
			      STR_ARG(file), STR_ARG(file));
		return false;
	}
	out->tests = tests_of(a, out);
	return is_editable(a, sources) &&
	       (out->own || is_free(a, o, out->path)) &&
	       is_free(a, o, out->tests);
}
