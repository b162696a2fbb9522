/*
 * Where a workspace's `.git` leads: worktrees that git itself made, and texts
 * of somebody who would have another folder shown.
 */
#include "runtime/launch/workspace/gitlinked.h"

#include "compiler/base/err.h"
#include "compiler/base/gitignore.h"
#include "compiler/base/sys/fileio.h"
#include "tests/check.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* main/ with a worktree side/, bare/ with a worktree wt/; all below home. */
struct bed {
	struct arena *a;
	char top[PATH_MAX];
	struct gitlinked got;
	struct err err;
};

static void run(const char *script)
{
	CHECK_MSG(system(script) == 0, "%s", script);
}

static void bed_init(struct bed *b)
{
	char made[] = "/tmp/membrane-linked.XXXXXX";

	*b = (struct bed){.a = arena_new()};
	if (!mkdtemp(made) || !realpath(made, b->top) || chdir(b->top) < 0)
		exit(1);
	run("export GIT_CONFIG_NOSYSTEM=1 HOME=$PWD GIT_AUTHOR_NAME=a "
	    "GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b;"
	    "exec >/dev/null 2>&1; set -e; git init -q main; cd main;"
	    "git commit -q --allow-empty -m one;"
	    "git worktree add -q ../side; git worktree add -q ../other;"
	    "git clone -q --bare . ../bare; cd ../bare;"
	    "git worktree add -q ../wt -b wt; mkdir ../state ../plain");
}

static void bed_done(struct bed *b)
{
	CHECK(chdir("/") == 0);
	CHECK(fileio_remove_tree(AT_FDCWD, b->top, &b->err) == 0);
	arena_free(b->a);
}

static struct str in_top(struct bed *b, const char *name)
{
	return arena_fmt(b->a, "%s/%s", b->top, name);
}

static enum gitlinked_kind look(struct bed *b, const char *name)
{
	struct gitlinked_places at = {.root_path = in_top(b, name),
				      .state = in_top(b, "state"),
				      .home = in_top(b, "home")};

	gitlinked_find(b->a, &at, &b->got);
	return b->got.kind;
}

/* What .git of side says; and then why that is refused. */
static bool refuses(struct bed *b, struct str text, const char *why)
{
	struct str path = in_top(b, "side/.git");

	unlink(path.p);
	CHECK(fileio_write(AT_FDCWD, path.p, text, 0644, &b->err) == 0);
	if (look(b, "side") == GITLINKED_REFUSED &&
	    memmem(b->got.why.p, b->got.why.n, why, strlen(why)) &&
	    b->got.common.n + b->got.name.n + 1 > 0)
		return true;
	fprintf(stderr, "%d %.*s\n", b->got.kind, STR_ARG(b->got.why));
	return false;
}

static void test_gits_own(void)
{
	struct bed b;

	bed_init(&b);
	CHECK(look(&b, "main") == GITLINKED_NONE);
	CHECK(look(&b, "plain") == GITLINKED_NONE);
	CHECK(look(&b, "bare") == GITLINKED_NONE);
	CHECK(look(&b, "nowhere") == GITLINKED_NONE);
	run("mkdir -p main/a/b home; git init -q home/x 2>/dev/null;"
	    "mkdir home/x/y; mkdir home/.git home/z");
	CHECK(look(&b, "main/a/b") == GITLINKED_PART &&
	      str_eq(b.got.common, in_top(&b, "main/.git")) &&
	      str_is(b.got.name, "a/b") && b.got.ino &&
	      str_eq(gitlinked_shown(&b.got), in_top(&b, "main")));
	CHECK(look(&b, "home/x/y") == GITLINKED_PART);
	CHECK(look(&b, "home/z") == GITLINKED_NONE);
	run("mkdir side/in");
	CHECK(look(&b, "side/in") == GITLINKED_FOLDER &&
	      str_eq(b.got.common, in_top(&b, "side")));
	CHECK(look(&b, "side") == GITLINKED_WORKTREE && !b.got.relative);
	CHECK(str_eq(b.got.common, in_top(&b, "main/.git")) &&
	      str_is(b.got.name, "side") && b.got.ino);
	CHECK(look(&b, "wt") == GITLINKED_WORKTREE);
	CHECK(str_eq(b.got.common, in_top(&b, "bare")) &&
	      str_is(b.got.name, "wt"));
	/* as `git worktree add --relative-paths` has them */
	run("echo gitdir: ../main/.git/worktrees/side >side/.git;"
	    "echo ../../../../side/.git >main/.git/worktrees/side/gitdir");
	CHECK(look(&b, "side") == GITLINKED_WORKTREE && b.got.relative);
	bed_done(&b);
}

/* W-14, W-15 */
static void test_texts(void)
{
	struct bed b;
	char big[5000];

	bed_init(&b);
	memset(big, 'x', sizeof(big));
	CHECK(refuses(&b, STR(""), "no file of one line"));
	CHECK(refuses(&b, STR("\n"), "no file of one line"));
	CHECK(refuses(&b, (struct str){big, sizeof(big)},
		      "no file of one line"));
	CHECK(refuses(&b, STR("gitdir: /a\nb"), "no file of one line"));
	CHECK(refuses(&b, (struct str){"gitdir: /a\0b", 12},
		      "no file of one line"));
	CHECK(refuses(&b, STR("gitdir: /a\n\n"), "no file of one line"));
	CHECK(refuses(&b, STR("gitdir /a\n"), "does not say"));
	CHECK(refuses(&b, STR("gitdir: /\n"), "names the root"));
	CHECK(refuses(&b, STR("gitdir: ../../../../../../..\n"),
		      "names the root"));
	CHECK(refuses(&b, STR("gitdir: ..\n"), "has the workspace in it"));
	CHECK(refuses(&b, STR("gitdir: ../main/.git\n"),
		      "does not say where its files are"));
	CHECK(refuses(&b, STR("gitdir: ../plain\n"), "is no repository"));
	CHECK(refuses(&b, STR("gitdir: ../main/.git/worktrees/none\n"),
		      "is no folder"));
	CHECK(refuses(&b, STR("gitdir: ../main/.git/worktrees/other\n"),
		      "another worktree's"));
	/* below the workspace, all of it is the workspace's */
	run("mkdir -p side/x; echo gitdir: x >side/.git");
	CHECK(look(&b, "side") == GITLINKED_NONE);
	bed_done(&b);
}

/* As a submodule has it: its configuration leads back. */
/* W-6 */
static void test_modules(void)
{
	static const char text[] = "gitdir: ../main/.git/modules/side\n";
	static const char *const elsewhere[] = {
		"../../../../other", "/etc", "..", "", "../../../../side\t",
		"../../../../side/x"};
	struct bed b;

	bed_init(&b);
	run("mkdir main/.git/modules; cp -r bare main/.git/modules/side;"
	    "rm -rf main/.git/modules/side/worktrees;"
	    "git config --file main/.git/modules/side/config core.bare false;"
	    "echo gitdir: ../main/.git/modules/side >side/.git;"
	    "git config --file main/.git/modules/side/config core.worktree "
	    "../../../../side");
	CHECK(look(&b, "side") == GITLINKED_MODULE);
	CHECK(str_eq(b.got.common, in_top(&b, "main/.git/modules/side")) &&
	      b.got.name.n == 0 && b.got.ino);
	run("git config --file main/.git/modules/side/config core.worktree $PWD/side");
	CHECK(look(&b, "side") == GITLINKED_MODULE);
	for (size_t i = 0; i < ARRAY_LEN(elsewhere); i++) {
		run(arena_fmt(b.a,
			      "git config --file main/.git/modules/side/config "
			      "core.worktree '%s'",
			      elsewhere[i])
			    .p);
		CHECK(refuses(&b, STR(text),
			      elsewhere[i][0] && !strchr(elsewhere[i], '\t')
				      ? "has its files elsewhere"
				      : "does not say where"));
	}
	/* an include is not followed, and no alias of git's is run */
	run("cd main/.git/modules/side; sed -i /worktree/d config;"
	    "printf '[core]\\n\\tworktree = ../../../../side\\n' >inc;"
	    "printf '[include]\\n\\tpath = inc\\n' >>config");
	CHECK(refuses(&b, STR(text), "does not say where its files are"));
	run("cd main/.git/modules/side; mv config c; ln -s c config");
	CHECK(refuses(&b, STR(text), "does not say where its files are"));
	bed_done(&b);
}

/* The folder that it leads to has been written by somebody, too. */
/* W-15, W-16 */
static void test_folders(void)
{
	static const struct {
		const char *script, *common, *why;
	} forged[] = {
		{"", "/", "is a folder of the system's"},
		{"", "/etc", "is a folder of the system's"},
		{"", "/usr/lib", "is a folder of the system's"},
		{"", "/workspace", "is a folder of the system's"},
		{"mkdir -p home/u", "home", "has the user's home in it"},
		{"", "side/..", "has the workspace in it"},
		{"", "state/x", "membrane's own folder"},
		{"", "plain", "is no repository"},
		{"ln -s main/.git link", "link", "has a link on its way"},
		{"ln -s main lm", "lm/.git", "has a link on its way"},
		{"", "bare", "is no worktree of the repository"},
		{"cp -r main/.git twice; echo . >twice/commondir", "twice",
		 "is a worktree's own folder"},
		{"mkfifo fifo", "fifo", "is no folder"},
	};
	struct bed b;

	bed_init(&b);
	for (size_t i = 0; i < ARRAY_LEN(forged); i++) {
		const char *to = forged[i].common;

		run(arena_fmt(b.a,
			      "%s; d=main/.git/worktrees/side; c=%s;"
			      "case $c in /*) ;; *) c=$PWD/$c;; esac;"
			      "rm -f $d/commondir; echo $c >$d/commondir",
			      forged[i].script[0] ? forged[i].script : "true",
			      to)
			    .p);
		CHECK_MSG(refuses(&b,
				  STR("gitdir: ../main/.git/worktrees/side\n"),
				  forged[i].why),
			  "%s", to);
	}
	bed_done(&b);
}

static bool is_refused(struct bed *b, const char *name, const char *why)
{
	if (look(b, name) == GITLINKED_REFUSED &&
	    memmem(b->got.why.p, b->got.why.n, why, strlen(why)))
		return true;
	fprintf(stderr, "%s: %d %.*s\n", name, b->got.kind,
		STR_ARG(b->got.why));
	return false;
}

/* The repository above, which somebody else may have put there. */
static void test_parts(void)
{
	struct bed b;

	bed_init(&b);
	run("mkdir -p main/a/b main/.git/x plain/.git/refs plain/.git/objects "
	    "plain/a; mkdir \"main/a/$(printf 'l\\nf')\"");
	CHECK(is_refused(&b, "main/.git/x", "has the workspace in it"));
	CHECK(is_refused(&b, "plain/a", "is no repository of git's"));
	CHECK(is_refused(&b, "main/a/l\nf", "is no name for a list"));
	run("git -C main config core.worktree ..");
	CHECK(look(&b, "main/a") == GITLINKED_PART);
	run("git -C main config core.worktree ../../other");
	CHECK(is_refused(&b, "main/a", "has its files elsewhere"));
	run("git -C main config --unset core.worktree; cd main/.git;"
	    "mv config c; ln -s c config");
	CHECK(is_refused(&b, "main/a", "no configuration to be read"));
	run("cd main; rm .git/config; mv .git/c .git/config; mv .git ../g;"
	    "ln -s ../g .git");
	CHECK(look(&b, "main/a") == GITLINKED_FOLDER);
	if (geteuid() == 0) {
		run("rm main/.git; mv g main/.git; chown 12345 main/.git");
		CHECK(is_refused(&b, "main/a", "belongs to another user"));
		run("chown 0 main/.git; chown 12345 main");
		CHECK(is_refused(&b, "main/a", "belongs to another user"));
		run("chown 0 main; chown 12345 main/a");
		CHECK(is_refused(&b, "main/a/b", "belongs to another user"));
	}
	bed_done(&b);
}

/* W-14 */
static void test_odd_files(void)
{
	struct str text = STR("gitdir: ../main/.git/worktrees/side\n");
	struct bed b;

	bed_init(&b);
	run("cp -r main/.git/worktrees/side was; cd main/.git/worktrees/side;"
	    "rm gitdir; ln -s ../../../../was/gitdir gitdir");
	CHECK(refuses(&b, text, "has a link on its way"));
	run("cd main/.git/worktrees/side; rm gitdir; mkfifo gitdir");
	CHECK(refuses(&b, text, "is no file of one line"));
	run("cd main/.git/worktrees; cp ../../../was/gitdir side/x;"
	    "rm side/gitdir; mv side/x side/gitdir; rm side/HEAD");
	CHECK(refuses(&b, text, "has no HEAD"));
	/* a link is git's to follow, and none of ours */
	run("rm side/.git; ln -s ../main/.git side/.git");
	CHECK(look(&b, "side") == GITLINKED_NONE);
	if (geteuid() == 0) {
		run("rm side/.git; cp -r was/. main/.git/worktrees/side;"
		    "chown 12345 main/.git");
		CHECK(refuses(&b, text, "belongs to another user"));
		run("chown 0 main/.git; chown 12345 main/.git/worktrees/side");
		CHECK(refuses(&b, text, "belongs to another user"));
	}
	bed_done(&b);
}

static bool writes(struct arena *a, const struct gitlinked *g, const char *path)
{
	struct gitignore *set = gitignore_new(a);
	gitlinked_lines lines = {0};

	gitlinked_patterns(a, g, &lines);
	vec_each(line, &lines)
		CHECK(gitignore_add(set, *line, NULL) == GITIGNORE_OK);
	/* as the view goes: what is read-only keeps all below it so */
	for (size_t i = 0; path[i]; i++)
		if (path[i] == '/' && i > 4 &&
		    gitignore_match(set, (struct str){path, i}, true, NULL) ==
			    GITIGNORE_MATCH)
			return false;
	return gitignore_match(set, str_of(path), false, NULL) !=
	       GITIGNORE_MATCH;
}

/* W-3, W-6 */
static void test_patterns(void)
{
	static const char *const yes[] = {
		".git/objects/ab/cd",
		".git/refs/heads/x",
		".git/packed-refs",
		".git/packed-refs.lock",
		".git/logs/refs/heads/x",
		".git/worktrees/a[b]*/HEAD",
		".git/worktrees/a[b]*/index.lock",
		".git/worktrees/a[b]*/logs/HEAD",
	};
	static const char *const no[] = {
		".git/config",
		".git/config.lock",
		".git/hooks/pre-commit",
		".git/HEAD",
		".git/index",
		".git/commondir",
		".git/info/attributes",
		".git/logs/HEAD",
		".git/modules/x/config",
		".git/worktrees/other/HEAD",
		".git/worktrees/ab/HEAD",
		".git/worktrees/a[b]*x/HEAD",
		".git/worktrees/a[b]*/commondir",
		".git/worktrees/a[b]*/gitdir",
		".git/worktrees/a[b]*/config.worktree",
		".git/worktrees/a[b]*/modules/x/config",
	};
	struct arena *a = arena_new();
	struct gitlinked g = {.kind = GITLINKED_WORKTREE, .name = STR("a[b]*")};
	struct gitlinked part = {.kind = GITLINKED_PART, .name = STR("a")};

	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		CHECK_MSG(writes(a, &g, yes[i]), "%s", yes[i]);
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		CHECK_MSG(!writes(a, &g, no[i]), "%s", no[i]);
	CHECK(writes(a, &part, ".git/HEAD") && writes(a, &part, ".git/index"));
	CHECK(!writes(a, &part, ".git/config") &&
	      !writes(a, &part, ".git/hooks/pre-commit") &&
	      !writes(a, &part, ".git/worktrees/x/HEAD"));
	arena_free(a);
}

int main(void)
{
	test_gits_own();
	test_texts();
	test_modules();
	test_folders();
	test_parts();
	test_odd_files();
	test_patterns();
	return check_status();
}
