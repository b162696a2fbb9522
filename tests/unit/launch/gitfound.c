/*
 * What git's configuration names in a workspace, over real repositories: git
 * itself makes them. What then is mounted is scan.c's.
 */
#include "runtime/launch/workspace/gitfound.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/fileio.h"
#include "runtime/launch/workspace/gitkeys.h"
#include "runtime/launch/workspace/wspath.h"
#include "tests/check.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One test's folder: home/ and ws/, both below a fresh temporary one. */
struct bed {
	struct arena *a;
	char top[PATH_MAX];
	struct str ws;
	struct gitfound git;
	struct err err;
};

static void bed_init(struct bed *b)
{
	char made[] = "/tmp/membrane-git.XXXXXX";

	*b = (struct bed){.a = arena_new()};
	if (!mkdtemp(made) || !realpath(made, b->top) || chdir(b->top) < 0)
		exit(1);
	CHECK(mkdir("home", 0755) == 0 && mkdir("ws", 0755) == 0);
	setenv("HOME", arena_fmt(b->a, "%s/home", b->top).p, 1);
	setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("GIT_CONFIG_GLOBAL");
	b->ws = arena_fmt(b->a, "%s/ws", b->top);
	CHECK(chdir("ws") == 0);
}

static void bed_done(struct bed *b)
{
	CHECK(chdir("/") == 0);
	CHECK(fileio_remove_tree(AT_FDCWD, b->top, &b->err) == 0);
	arena_free(b->a);
}

/* What a test is made of, in a shell, with nobody's settings. */
static void make(const char *script)
{
	char text[4096];

	snprintf(text, sizeof(text),
		 "exec 2>&1 >/dev/null; set -e; export GIT_CONFIG_NOSYSTEM=1 "
		 "GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a "
		 "GIT_COMMITTER_EMAIL=a@b; %s",
		 script);
	CHECK_MSG(system(text) == 0, "%s", script);
}

static void look(struct bed *b)
{
	struct str plan = STR("membrane-mounts 1\nworkspace /workspace\n");
	int root = open(b->ws.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct mountsplan m;
	struct scan found = {0};

	CHECK(mountsplan_read(b->a, plan, &m, &b->err) == 0);
	CHECK(scan_workspace(b->a, root, b->ws, &m, &found, &b->err) == 0);
	gitfound_look(b->a, b->ws, &found, &b->git);
	close(root);
}

/* "path (key file:line); …", of what configuration names, then "! value". */
static const char *listed(struct bed *b)
{
	struct buf out;

	buf_init(&out, b->a);
	vec_each(p, &b->git.paths)
		if (!p->is_own)
			buf_addf(&out, "%s%.*s%s (%.*s %.*s:%u)",
				 out.n ? "; " : "", STR_ARG(p->path),
				 p->is_dir ? "/" : "", STR_ARG(p->at.key),
				 STR_ARG(p->at.file),
				 gitfound_line(b->a, &p->at));
	vec_each(p, &b->git.loose)
		buf_addf(&out, "%s! %.*s%s", out.n ? "; " : "",
			 STR_ARG(p->value), p->is_root ? " (root)" : "");
	return buf_str(&out).p;
}

/* The repositories' own files. */
static const char *owned(struct bed *b)
{
	struct buf out;

	buf_init(&out, b->a);
	vec_each(p, &b->git.paths)
		if (p->is_own)
			buf_addf(&out, "%s%.*s%s", out.n ? " " : "",
				 STR_ARG(p->path), p->is_dir ? "/" : "");
	return buf_str(&out).p;
}

static void expect_at(int line, const char *got, const char *want)
{
	CHECK_MSG(strcmp(got, want) == 0, "line %d:\n  got  %s\n  want %s",
		  line, got, want);
}

#define NAMED(script, want)                                                    \
	do {                                                                   \
		make(script);                                                  \
		look(&b);                                                      \
		expect_at(__LINE__, listed(&b), want);                         \
		CHECK(b.git.notes.n == 0);                                     \
	} while (0)
#define OWNED(want) expect_at(__LINE__, owned(&b), want)

static void test_hooks(void)
{
	struct bed b;

	bed_init(&b);
	NAMED("true", "");
	OWNED("");
	NAMED("git init -q .", "");
	OWNED(".git/hooks/ .git/config .git/config.worktree .git/commondir");
	NAMED("git config core.hooksPath .husky",
	      ".husky/ (core.hookspath .git/config:6)");
	NAMED("git config core.hooksPath .husky/_; mkdir -p .husky/_",
	      ".husky/_/ (core.hookspath .git/config:6)");
	NAMED("git config core.hooksPath ./a//b/../c",
	      "a/c/ (core.hookspath .git/config:6)");
	NAMED("git config core.hooksPath \"$PWD/x y\"",
	      "x y/ (core.hookspath .git/config:6)");
	NAMED("git config core.hooksPath /nowhere", "");
	NAMED("git config core.hooksPath ../hooks", "");
	NAMED("git config core.hooksPath .", "! . (root)");
	NAMED("ln -s ws ../also; git config core.hooksPath \"$PWD/../also/h\";"
	      "mkdir h",
	      "h/ (core.hookspath .git/config:6)");
	bed_done(&b);
}

static void test_include(void)
{
	struct bed b;

	bed_init(&b);
	NAMED("git init -q .; git config include.path ../shared/git.inc; "
	      "mkdir shared; printf '# x\\n[core]\\n\\thooksPath = tools\\n"
	      "[include]\\npath = more\\npath = git.inc\\n' > shared/git.inc",
	      "shared/git.inc (include.path .git/config:7); "
	      "tools/ (core.hookspath shared/git.inc:3); "
	      "shared/more (include.path shared/git.inc:5)");
	NAMED("rm -r shared; git config --unset include.path; "
	      "git config 'includeIf.gitdir:/nowhere/.path' ~/out; "
	      "git config -f ~/out core.hooksPath here",
	      "here/ (core.hookspath ~/out:2)");
	make("git config include.path ~/out; rm ~/out; git config "
	     "--remove-section 'includeIf.gitdir:/nowhere/'");
	make("mkfifo ~/out");
	look(&b);
	CHECK(b.git.notes.n == 1);
	CHECK(memmem(b.git.notes.v[0].p, b.git.notes.v[0].n, "not a regular",
		     13));
	make("rm ~/out; echo '[core' > ~/out");
	look(&b);
	CHECK(b.git.notes.n == 1);
	bed_done(&b);
}

static void test_commands(void)
{
	struct bed b;

	bed_init(&b);
	make("git init -q .; mkdir tools; touch tools/a tools/b.js e.sh "
	     "README");
	NAMED("git config filter.x.clean 'tools/a --x=%f README'",
	      "tools/a (filter.x.clean .git/config:7)");
	NAMED("git config filter.x.clean ./tools/missing",
	      "tools/missing (filter.x.clean .git/config:7)");
	NAMED("git config filter.x.clean 'node --flag \"tools/b.js\" | cat'",
	      "tools/b.js (filter.x.clean .git/config:7); "
	      "! node --flag \"tools/b.js\" | cat");
	NAMED("git config filter.x.clean "
	      "'\"$(git rev-parse --show-toplevel)/tools/a\"'",
	      "tools/a (filter.x.clean .git/config:7)");
	NAMED("git config filter.x.clean 'git-lfs clean -- %f'", "");
	NAMED("git config filter.x.clean 'sh e.sh'",
	      "e.sh (filter.x.clean .git/config:7); ! sh e.sh");
	NAMED("git config filter.x.clean 'make fmt'", "! make fmt");
	NAMED("git config --remove-section filter.x; "
	      "git config alias.st status; git config alias.t '!tools/a'; "
	      "git config core.fsmonitor true; git config core.editor vim",
	      "tools/a (alias.t .git/config:10)");
	NAMED("git config --remove-section alias; "
	      "git config submodule.s.update '!tools/a'; "
	      "git config remote.r.url 'ext::tools/b.js %S'; "
	      "git config remote.s.url tools/a",
	      "tools/a (submodule.s.update .git/config:9); "
	      "tools/b.js (remote.r.url .git/config:11)");
	bed_done(&b);
}

static void test_users(void)
{
	struct bed b;

	bed_init(&b);
	make("git init -q sub; git config -f ~/.gitconfig core.hooksPath .gh; "
	     "git config -f ~/.gitconfig alias.m '!make'; "
	     "mkdir -p ~/.config/git; git config -f ~/.config/git/config "
	     "core.editor './ed.sh -w'");
	look(&b);
	expect_at(__LINE__, listed(&b),
		  "sub/ed.sh (core.editor ~/.config/git/config:2); "
		  "sub/.gh/ (core.hookspath ~/.gitconfig:2)");
	bed_done(&b);
}

/* Submodules, worktrees and bare ones have configuration of their own. */
static void test_kinds(void)
{
	struct bed b;

	bed_init(&b);
	make("git init -q ../other; cd ../other; git commit -q --allow-empty "
	     "-m a; cd ../ws; git init -q .; git -c protocol.file.allow=always "
	     "submodule add -q ../other sub; git commit -qm b; "
	     "git worktree add -q wt 2>/dev/null; "
	     "git -C sub config core.hooksPath h");
	look(&b);
	expect_at(__LINE__, listed(&b),
		  "sub/h/ (core.hookspath .git/modules/sub/config:7)");
	CHECK(strstr(owned(&b), " sub/.git"));
	CHECK(strstr(owned(&b), " wt/.git"));
	CHECK(strstr(owned(&b), ".git/modules/sub/commondir"));
	CHECK(strstr(owned(&b), ".git/worktrees/wt/commondir"));
	CHECK(strstr(owned(&b), ".git/worktrees/wt/config.worktree"));
	CHECK(!strstr(owned(&b), ".git/worktrees/wt/hooks"));
	make("git config core.hooksPath k");
	look(&b);
	CHECK(strstr(listed(&b), "wt/k/ (core.hookspath .git/config:"));
	make("rm -rf .git sub wt; git init -q --bare x; "
	     "git --git-dir=x config core.hooksPath k");
	look(&b);
	expect_at(__LINE__, listed(&b), "x/k/ (core.hookspath x/config:5)");
	OWNED("x/hooks/ x/config x/config.worktree x/commondir");
	bed_done(&b);
}

/* The workspace is a folder of a repository, or a worktree of one. */
static void test_above(void)
{
	struct bed b;

	bed_init(&b);
	make("git init -q ..; git config core.hooksPath ws/h");
	look(&b);
	expect_at(__LINE__, listed(&b),
		  arena_fmt(b.a, "h/ (core.hookspath %s/.git/config:6)", b.top)
			  .p);
	make("rm -rf ../.git; git init -q ../main; cd ../main; git commit -q "
	     "--allow-empty -m a; git worktree add -q ../ws/wt 2>/dev/null; "
	     "git config core.hooksPath h");
	look(&b);
	expect_at(__LINE__, listed(&b),
		  arena_fmt(b.a, "wt/h/ (core.hookspath %s/main/.git/config:6)",
			    b.top)
			  .p);
	OWNED("wt/.git");
	bed_done(&b);
}

int main(void)
{
	test_hooks();
	test_include();
	test_commands();
	test_users();
	test_kinds();
	test_above();
	return check_status();
}
