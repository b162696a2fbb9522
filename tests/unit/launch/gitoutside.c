/* What git's index has beside the workspace: as git says it, or nothing is. */
#include "runtime/launch/workspace/gitoutside.h"

#include "compiler/base/sys/fileio.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena *a;

static void run(const char *script)
{
	CHECK_MSG(system(script) == 0, "%s", script);
}

static bool has_text(const struct gitoutside *o, const char *path,
		     const char *text)
{
	vec_each(t, &o->texts)
		if (str_is(t->path, path))
			return str_is(t->text, text);
	return false;
}

static void a_repository_is_read(const char *top)
{
	struct gitlinked g = {.kind = GITLINKED_PART,
			      .common = arena_fmt(a, "%s/.git", top),
			      .name = STR("s/web")};
	struct gitoutside o;
	struct err err;
	struct stat st;

	run("set -e; exec >/dev/null 2>&1; export GIT_CONFIG_NOSYSTEM=1 HOME=$PWD "
	    "GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a "
	    "GIT_COMMITTER_EMAIL=a@b; git init -q -b main .;"
	    "mkdir -p s/web s/api; echo '*.o' >.gitignore; echo x >README;"
	    "echo y >s/.gitattributes; echo z >s/web/.gitignore;"
	    "ln -s ../README s/api/l; ln -s /etc/passwd s/.gitignore;"
	    "git add -A -f; git commit -qm one; rm README; echo more >s/api/n");
	CHECK(lstat(arena_fmt(a, "%s/s/api/l", top).p, &st) == 0);
	CHECK_MSG(gitoutside_find(a, &g, &o, &err) == 0, "%s", err.text);
	CHECK(o.files.n == 5 && str_is(o.files.v[0].path, ".gitignore") &&
	      str_is(o.files.v[1].path, "README") &&
	      o.files.v[1].numbers[VIEW_OUTSIDE_SIZE] == 2 &&
	      str_is(o.files.v[4].path, "s/api/l") &&
	      str_is(o.files.v[4].text, "../README") &&
	      o.files.v[4].numbers[VIEW_OUTSIDE_MTIME_NS] ==
		      (uint64_t)st.st_mtim.tv_nsec);
	CHECK(o.texts.n == 2 && has_text(&o, ".gitignore", "*.o\n") &&
	      has_text(&o, "s/.gitattributes", "y\n"));
	run("exec >/dev/null 2>&1; export GIT_CONFIG_NOSYSTEM=1 HOME=$PWD "
	    "GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a "
	    "GIT_COMMITTER_EMAIL=a@b; git checkout -q -f -b other;"
	    "echo 1 >README; git commit -qam 1; git checkout -q main;"
	    "echo 2 >README; git commit -qam 2; git merge -q other; true");
	CHECK(gitoutside_find(a, &g, &o, &err) == -ENOTSUP &&
	      strstr(err.text, "conflicts"));
	run("rm .git/index; echo x >.git/index");
	CHECK(gitoutside_find(a, &g, &o, &err) == -ENOTSUP &&
	      strstr(err.text, "cannot list"));
}

int main(void)
{
	char top[] = "/tmp/membrane-outside.XXXXXX";
	struct err err;

	a = arena_new();
	if (!mkdtemp(top) || chdir(top) < 0)
		return 1;
	a_repository_is_read(top);
	CHECK(chdir("/") == 0);
	CHECK(fileio_remove_tree(AT_FDCWD, top, &err) == 0);
	arena_free(a);
	return check_status();
}
