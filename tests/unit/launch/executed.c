/*
 * What a session leaves behind for tools to run: real files, looked at before
 * and after.
 */
#include "runtime/launch/workspace/executed.h"

#include "compiler/base/err.h"
#include "compiler/base/sys/fileio.h"
#include "tests/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct bed {
	struct arena *a;
	char top[64];
	struct executed before, changed;
	struct err err;
};

static void put(struct bed *b, const char *path, const char *text)
{
	struct str dir = str_parent(str_of(path));

	if (dir.n)
		CHECK(fileio_mkdirs(arena_cstr(b->a, dir), 0755, &b->err) == 0);
	CHECK(fileio_write(AT_FDCWD, path, str_of(text), 0644, &b->err) == 0);
}

static void bed_init(struct bed *b)
{
	*b = (struct bed){.a = arena_new()};
	strcpy(b->top, "/tmp/membrane-executed.XXXXXX");
	if (!mkdtemp(b->top) || chdir(b->top) < 0)
		exit(1);
	put(b, ".envrc", "a\n");
	put(b, "sub/.claude/skills/x/run.sh", "a\n");
	put(b, "later/settings.local.json", "{}\n");
	put(b, ".git/HEAD", "ref: x\n");
	executed_look(b->a, b->top, &b->before);
	CHECK(b->before.whole && b->before.files.n == 3);
}

static const char *words(struct bed *b)
{
	struct executed now;
	struct buf out;

	executed_look(b->a, b->top, &now);
	executed_changed(b->a, &b->before, &now, &b->changed);
	buf_init(&out, b->a);
	executed_words(&b->changed, &out);
	return out.n ? strstr(buf_str(&out).p, "machine:") + 9 : "";
}

static void bed_done(struct bed *b)
{
	CHECK(chdir("/") == 0);
	CHECK(fileio_remove_tree(AT_FDCWD, b->top, &b->err) == 0);
	arena_free(b->a);
}

#define WORDS(want)                                                            \
	do {                                                                   \
		const char *got = words(&b);                                   \
		CHECK_MSG(strcmp(got, want) == 0, "%s", got);                  \
	} while (0)

static void test_changes(void)
{
	struct bed b;

	bed_init(&b);
	put(&b, "package.json", "{}\n");
	put(&b, ".git/index", "x");
	WORDS("");
	put(&b, ".pre-commit-config.yaml", ""); /* as a placeholder is */
	put(&b, ".git/config", "x");		/* held; not a new repository */
	put(&b, "node_modules/x/.envrc", "x");
	WORDS("");
	put(&b, ".envrc", "b\n");
	put(&b, "deep/er/.mcp.json", "{}\n");
	WORDS(".envrc (direnv, mise), deep/er/.mcp.json (MCP clients)\n");
	CHECK(unlink(".envrc") == 0);
	put(&b, "sub/.claude/skills/x/run.sh", "b\n");
	WORDS("deep/er/.mcp.json (MCP clients), "
	      "sub/.claude/skills/x/run.sh (Claude Code)\n");
	bed_done(&b);
}

/* What was there under another name; what is another repository. */
static void test_moved(void)
{
	struct bed b;

	bed_init(&b);
	CHECK(rename("later", ".claude") == 0);
	put(&b, "new/.git/HEAD", "x");
	put(&b, "link/.git", "gitdir: ../new/.git\n");
	put(&b, ".git/rebase-merge/git-rebase-todo", "exec x\n");
	put(&b, ".git/worktrees/w/commondir", "../..\n");
	put(&b, ".git/worktrees/w/gitdir", "x\n");
	put(&b, ".git/modules/m/config", "x\n");
	WORDS(".claude/settings.local.json (Claude Code), "
	      ".git/modules/m/config (git), "
	      ".git/rebase-merge/git-rebase-todo (git rebase), "
	      ".git/worktrees/w/commondir (git), "
	      "link/.git (git), new/.git (git)\n");
	CHECK(fileio_remove_tree(AT_FDCWD, ".git/worktrees", &b.err) == 0 &&
	      fileio_remove_tree(AT_FDCWD, ".git/modules", &b.err) == 0);
	CHECK(rename(".git", "old") == 0 && mkdir(".git", 0755) == 0);
	CHECK(strncmp(words(&b),
		      ".claude/settings.local.json (Claude Code), "
		      ".git (git), ",
		      52) == 0);
	bed_done(&b);
}

/* Names are an agent's: none of them writes to a terminal. */
static void test_odd(void)
{
	struct bed b;
	cJSON *list;

	bed_init(&b);
	put(&b, "a\033[2J\n/.envrc", "x");
	WORDS("a\\x1b[2J\\x0a/.envrc (direnv, mise)\n");
	list = executed_json(b.a, &b.changed);
	CHECK(cJSON_GetArraySize(list) == 1);
	cJSON_Delete(list);
	for (unsigned i = 0; i < 12; i++)
		put(&b, arena_fmt(b.a, "d%02u/.envrc", i).p, "x");
	CHECK(strstr(words(&b), "d08/.envrc (direnv, mise) and 3 more\n"));
	bed_done(&b);
}

/* More than is looked at: then the time of change tells. */
static void test_bounds(void)
{
	struct bed b;

	bed_init(&b);
	b.before.whole = false;
	b.before.files.n = 0;
	b.before.at += 3600;
	WORDS("");
	b.before.at -= 7200;
	CHECK(strstr(words(&b), ".envrc (direnv, mise)"));
	CHECK(strstr(words(&b), "not all of it was looked at"));
	bed_done(&b);
}

int main(void)
{
	test_changes();
	test_moved();
	test_odd();
	test_bounds();
	return check_status();
}
