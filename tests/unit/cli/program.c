/*
 * What belongs to a program: the folders that installers use, and how it is
 * found by PATH, links and the interpreters of scripts.
 */
#include "compiler/cli/program/parts.h"
#include "compiler/ir/visible.h"
#include "tests/check.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena *a;
static char top[] = "/tmp/membrane-program-XXXXXX";

/* --- texts ---------------------------------------------------------------- */

static void test_folders(void)
{
	static const struct {
		const char *path, *widest;
	} rows[] = {
		{"~/.nvm/versions/node/v22.1.0/bin/node", "~/.nvm"},
		{"~/.local/bin/claude", "~/.local/bin"},
		{"~/.local/share/claude/versions/2.0", "~/.local/share/claude"},
		{"~/.local/lib/node_modules/x/cli.js",
		 "~/.local/lib/node_modules"},
		{"~/.npm-global/lib/node_modules/x/cli.js", "~/.npm-global"},
		{"~/npm/lib/node_modules/x/cli.js", "~/npm"},
		{"~/lib/node_modules/x/cli.js", "~"},
		{"/srv/p/node_modules/.bin/x", "/srv/p/node_modules"},
		{"~/.pyenv/shims/python", "~/.pyenv"},
		{"~/.volta/bin/node", "~/.volta"},
		{"~/.local/share/mise/shims/node", "~/.local/share/mise"},
		{"~/.cargo/bin/rg", "~/.cargo"},
		{"~/.claude/local/claude", "~/.claude/local"},
		{"/home/linuxbrew/.linuxbrew/bin/x",
		 "/home/linuxbrew/.linuxbrew"},
		{"/opt/tool/bin/x", "/opt/tool"},
		{"/opt/x", "/opt/x"},
		{"/optional/tool/x", "/optional/tool"},
		{"/data/env/bin/python", "/data/env"},
		{"~/x", "~"},
		{"/x", "/x"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct str got = folders_of(str_of(rows[i].path), 0);

		CHECK_MSG(str_is(got, rows[i].widest), "%s: %.*s", rows[i].path,
			  STR_ARG(got));
	}
	/* each a segment longer, up to the path, and nothing behind that */
	CHECK(str_is(folders_of(STR("~/.cargo/bin/rg"), 1), "~/.cargo/bin"));
	CHECK(str_is(folders_of(STR("~/.cargo/bin/rg"), 2), "~/.cargo/bin/rg"));
	CHECK(folders_of(STR("~/.cargo/bin/rg"), 3).n == 0);
	CHECK(folders_of(STR("/x"), 1).n == 0);
}

static void test_faults(void)
{
	static const char *const never[] = {"/",
					    "~",
					    "/opt",
					    "/srv",
					    "/home",
					    "/home/me",
					    "/root",
					    "/etc",
					    "~/.config",
					    "~/.local",
					    "~/.local/share",
					    "~/.cache",
					    "~/.ssh",
					    "~/.ssh/bin",
					    "~/.gnupg",
					    "~/.cargo",
					    "~/.claude",
					    "~/.codex",
					    "~/.config/gh",
					    "~/.local/share/keyrings",
					    "~/.local/share/opencode",
					    "~/.membrane",
					    "/run/user",
					    "~/.docker/cli-plugins"};
	static const char *const may[] = {
		"~/.cargo/bin",	   "~/.nvm",
		"~/.claude/local", "~/.local/bin",
		"/opt/tool",	   "~/bin",
		"~/.config/nvm",   "~/.local/share/claude"};

	for (size_t i = 0; i < ARRAY_LEN(never); i++)
		CHECK_MSG(folders_fault(str_of(never[i])), "%s", never[i]);
	for (size_t i = 0; i < ARRAY_LEN(may); i++)
		CHECK_MSG(!folders_fault(str_of(may[i])), "%s", may[i]);
}

/* --- files ---------------------------------------------------------------- */

static const char *at(const char *path)
{
	return arena_fmt(a, "%s/%s", top, path).p;
}

static void make_folders(const char *path)
{
	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/'))
		(void)mkdir(at(arena_cstr(
				    a, (struct str){path, (size_t)(p - path)})),
			    0755);
}

static void make_program(const char *path, const char *text)
{
	int fd;

	make_folders(path);
	fd = open(at(path), O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	CHECK(fd >= 0 &&
	      write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void make_link(const char *path, const char *to)
{
	make_folders(path);
	CHECK(symlink(to, at(path)) == 0);
}

static struct program found(const char *path, const char *visible,
			    const char *name)
{
	struct outside_places places = {.workspace = at("project"),
					.agent = at("state/home"),
					.state = at("state"),
					.homes = at("state/homes"),
					.home = at("me")};
	struct ir_policy p = {0};
	struct program out;

	if (visible)
		*vec_push(a, &p.visible) = (struct ir_text){
			.s = visible_text(a, str_of(visible), false)};
	program_find(a, path, &places, &p, name, &out);
	return out;
}

/* The folders, with a space between. */
static bool lacks(struct program p, const char *want)
{
	struct str got = STR("");

	vec_each(t, &p.folders)
		got = arena_fmt(a, "%.*s%s%.*s", STR_ARG(got), got.n ? " " : "",
				STR_ARG(t->s));
	CHECK_MSG(str_is(got, want), "%.*s, not %s", STR_ARG(got), want);
	return str_is(got, want);
}

static void make_home(void)
{
	make_program("me/.local/share/claude/versions/2.1", "ELF");
	make_link("me/.local/bin/claude", "../share/claude/versions/2.1");
	make_program("me/.npm/lib/node_modules/x/cli.js",
		     "#!/usr/bin/env -S A=b node22 --flag\n");
	make_link("me/.npm/bin/x", "../lib/node_modules/x/cli.js");
	make_program("me/.nvm/versions/v22/bin/node22", "ELF");
	make_program("me/kept/bin/tool", "#!/bin/sh\n");
	make_program("me/kept/.netrc", "machine a.test login me password x\n");
	make_program("me/.ssh/tool", "#!/bin/sh\n");
	make_link("me/loop/bin/one", "two");
	make_link("me/loop/bin/two", "one");
	make_program("me/circle/bin/first",
		     arena_fmt(a, "#!%s\n", at("me/circle/bin/second")).p);
	make_program("me/circle/bin/second",
		     arena_fmt(a, "#!%s\n", at("me/circle/bin/first")).p);
	make_program("elsewhere/tree/bin/far", "ELF");
	make_link("me/bin/far", at("elsewhere/tree/bin/far"));
	make_link("me/moved", "../elsewhere/tree");
	make_program("project/run.sh", "#!/usr/bin/env tool\n");
	make_program("state/x", "");
}

static void test_found(void)
{
	struct str path = arena_fmt(
		a,
		"relative:%s/me/.local/bin:%s/me/.npm/bin/:%s/me/.nvm/versions/v22/bin:%s/me/kept/bin:%s/me/bin:%s/me/loop/bin:%s/me/circle/bin:/usr/bin:/bin",
		top, top, top, top, top, top, top);
	struct program p = found(path.p, NULL, "claude");

	CHECK(p.at && strcmp(p.at, at("me/.local/bin/claude")) == 0);
	CHECK(!p.shown && !p.refused);
	(void)lacks(p, "~/.local/bin ~/.local/share/claude");
	(void)lacks(found(path.p, "~/.local/bin", "claude"),
		    "~/.local/share/claude");
	(void)lacks(found(path.p, at("me/.local"), "claude"), "");
	(void)lacks(found(path.p, NULL, "x"), "~/.npm ~/.nvm");
	(void)lacks(found(path.p, NULL, "tool"), "~/kept/bin");
	/* a link that leads nowhere is no program */
	CHECK(!found(path.p, NULL, "one").at);
	(void)lacks(found(path.p, NULL, "first"), "~/circle");
	CHECK(!found(path.p, NULL, "nonesuch").at);
	CHECK(!found(NULL, NULL, "sh").at && !found("", NULL, "").at);
	p = found(path.p, NULL, "sh");
	CHECK(p.at && p.lacks.n == 0);
	(void)lacks(found(path.p, NULL, at("project/run.sh")), "~/kept/bin");
	(void)lacks(found(path.p, NULL, at("me/moved/bin/far")),
		    arena_fmt(a, "~/moved %s", at("elsewhere/tree")).p);
}

static void test_refused(void)
{
	struct str path = arena_fmt(a, "%s/me/.ssh:/usr/bin", top);
	struct program p = found(path.p, NULL, "tool");

	CHECK(p.refused && !p.shown && p.folders.n == 0 && p.lacks.n == 1);
	CHECK(strstr(p.lacks.v[0].why, "logins"));
	make_program("me/.ssh/true", "#!/bin/sh\n");
	p = found(path.p, NULL, "true");
	CHECK(p.refused && p.shown && strcmp(p.shown, "/usr/bin/true") == 0);
	/* what is membrane's own is in no session */
	p = found("/usr/bin", NULL, at("state/x"));
	CHECK(p.refused);
}

int main(void)
{
	a = arena_new();
	if (!mkdtemp(top))
		return 77;
	make_home();
	test_folders();
	test_faults();
	test_found();
	test_refused();
	if (system(arena_fmt(a, "rm -rf %s", top).p) != 0)
		return 1;
	arena_free(a);
	return check_status();
}
