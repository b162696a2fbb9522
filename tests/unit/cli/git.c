/*
 * Folders of revisions, from repositories that git made: odd names, links,
 * submodules, what is too large, and words that are no revision.
 */
#include "compiler/cli/review/git.h"

#include "compiler/base/sys/fileio.h"

#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct arena *a;
static char top[] = "/tmp/membrane-git-XXXXXX";
static struct err err;

/* A repository with one commit, and a second with nothing in common. */
static const char script[] =
	"exec >/dev/null 2>&1; set -e; cd \"$TOP\"; mkdir repo outside\n"
	"git init -q -b main repo; cd repo; mkdir -p a/b 'odd\nname'\n"
	"echo one >a/b/file; echo two >':(top)*'; echo star >'*'\n"
	"echo three >'odd\nname/-x'; ln -s a link; ln -s nowhere a/dangling\n"
	"head -c 5000 /dev/zero >large; git add -A\n"
	"git update-index --add --cacheinfo "
	"160000,0123456789012345678901234567890123456789,sub\n"
	"git commit -q -m one; git tag v1; git tag -a -m x v1a\n"
	"git checkout -q --orphan other; git rm -q -r -f .\n"
	"git commit -q --allow-empty -m two; git checkout -q main\n"
	"git init -q --bare ../outside/bare\n";

static bool make(void)
{
	setenv("TOP", top, 1);
	setenv("HOME", top, 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("GIT_AUTHOR_NAME", "n", 1);
	setenv("GIT_AUTHOR_EMAIL", "n@example.com", 1);
	setenv("GIT_COMMITTER_NAME", "n", 1);
	setenv("GIT_COMMITTER_EMAIL", "n@example.com", 1);
	unsetenv("GIT_DIR");
	unsetenv("GIT_INDEX_FILE");
	return system(script) == 0;
}

static const char *in(const char *path)
{
	return arena_fmt(a, "%s/%s", top, path).p;
}

static void test_open(void)
{
	struct git g;

	CHECK(git_open(a, in("repo"), &g, &err) == 0);
	CHECK(g.prefix.n == 0);
	CHECK(git_open(a, in("repo/a/b"), &g, &err) == 0);
	CHECK(str_is(g.prefix, "a/b/"));
	CHECK(git_open(a, in("repo/odd\nname"), &g, &err) == 0);
	CHECK(str_is(g.prefix, "odd\nname/"));
	CHECK(git_open(a, in("outside"), &g, &err) == -ENOENT);
	/* Its configuration is whoever's files these are. */
	CHECK(git_open(a, in("outside/bare"), &g, &err) == -EPROTO);
	setenv("PATH", "/nowhere", 1);
	CHECK(git_open(a, in("repo"), &g, &err) == -ENOENT);
}

static void test_revisions(const struct git *g)
{
	static const char *const good[] = {"main",   "HEAD",	   "v1",
					   "v1a",    "@",	   "main@{0}",
					   "HEAD^0", "main^{/one}"};
	static const struct {
		const char *rev;
		int code;
	} bad[] = {{"nope", -ENOENT},	 {"main~9", -ENOENT},
		   {"", -EINVAL},	 {"--all", -EINVAL},
		   {"-n", -EINVAL},	 {"main\n", -EINVAL},
		   {"a\x1b", -EINVAL},	 {"main main", -ENOENT},
		   {"main..", -ENOENT},	 {"^main", -ENOENT},
		   {"v1:a", -ENOENT},	 {"main:large", -ENOENT},
		   {"HEAD@{9}", -ENOENT}};
	struct git_entry e, same;
	struct str base;

	CHECK(git_root(a, g, STR("main"), &same, &err) == 0);
	CHECK(S_ISDIR(same.mode));
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		CHECK_MSG(git_root(a, g, str_of(good[i]), &e, &err) == 0, "%s",
			  good[i]);
		CHECK_MSG(!strcmp(e.oid, same.oid), "%s", good[i]);
	}
	/* A tree is one, too. */
	CHECK(git_root(a, g, str_of(same.oid), &e, &err) == 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_MSG(git_root(a, g, str_of(bad[i].rev), &e, &err) ==
				  bad[i].code,
			  "%s: %s", bad[i].rev, err.text);
	CHECK(git_merge_base(a, g, STR("main"), STR("v1a"), &base, &err) == 0);
	CHECK(base.n == 40);
	CHECK(git_merge_base(a, g, STR("main"), STR("other"), &base, &err) ==
	      -ENOENT);
	CHECK(git_merge_base(a, g, STR("main"), STR("--all"), &base, &err) ==
	      -EINVAL);
}

static void read_is(const struct git *g, const struct git_entry *root,
		    const char *path, const char *want)
{
	struct git_entry e;
	struct str text = {0};

	CHECK_MSG(git_find(a, g, root, str_of(path), &e, &err) == 0, "%s: %s",
		  path, err.text);
	CHECK_MSG(S_ISREG(e.mode), "%s", path);
	CHECK(git_read(a, g, &e, 100, &text, &err) == 0);
	CHECK_MSG(str_is(text, want), "%s: %.*s", path, STR_ARG(text));
}

static void test_files(const struct git *g)
{
	static const char *const absent[] = {"b",     "a/b/file/x", "a/c/file",
					     "sub/x", ":(top)a",    "a/*",
					     "*/b",   "A"};
	struct git_entry root, e;
	git_names names = {0};
	struct str text;

	CHECK(git_root(a, g, STR("main"), &root, &err) == 0);
	read_is(g, &root, "a/b/file", "one\n");
	read_is(g, &root, "a//b/file", "one\n");
	read_is(g, &root, ":(top)*", "two\n");
	read_is(g, &root, "*", "star\n");
	read_is(g, &root, "odd\nname/-x", "three\n");
	for (size_t i = 0; i < ARRAY_LEN(absent); i++)
		CHECK_MSG(git_find(a, g, &root, str_of(absent[i]), &e, &err) ==
				  -ENOENT,
			  "%s", absent[i]);
	CHECK(git_find(a, g, &root, STR(""), &e, &err) == 0);
	CHECK(!strcmp(e.oid, root.oid));
	/* A link is what is found, and never where it leads. */
	CHECK(git_find(a, g, &root, STR("link/b/file"), &e, &err) == 0);
	CHECK(S_ISLNK(e.mode));
	CHECK(git_find(a, g, &root, STR("a/dangling"), &e, &err) == 0);
	CHECK(S_ISLNK(e.mode));
	CHECK(git_find(a, g, &root, STR("sub"), &e, &err) == 0);
	CHECK(!S_ISDIR(e.mode) && !S_ISREG(e.mode) && !S_ISLNK(e.mode));
	CHECK(git_find(a, g, &root, STR("large"), &e, &err) == 0);
	CHECK(git_read(a, g, &e, 4999, &text, &err) == -EFBIG);
	CHECK(git_read(a, g, &e, 5000, &text, &err) == 0 && text.n == 5000);
	CHECK(git_list(a, g, &root, &names, &err) == 0);
	CHECK(names.n == 7);
	CHECK(str_is(names.v[0], "*") && str_is(names.v[6], "sub"));
}

int main(void)
{
	struct git g;

	if (!mkdtemp(top))
		return 1;
	a = arena_new();
	if (!make()) {
		printf("git cannot make a repository here\n");
		return 77;
	}
	CHECK(git_open(a, in("repo"), &g, &err) == 0);
	test_revisions(&g);
	test_files(&g);
	test_open();
	CHECK(fileio_remove_tree(AT_FDCWD, top, &err) == 0);
	arena_free(a);
	return check_status();
}
