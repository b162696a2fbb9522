/* Where files are written, and through what they are not. */
#include "compiler/base/sys/outfile.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/fileio.h"
#include "runtime/launch/workspace/programs.h"
#include "runtime/launch/workspace/workspaces.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct arena *a;
static struct err err;
static const char *top;

static const char *in(const char *name)
{
	return arena_fmt(a, "%s/%s", top, name).p;
}

static void put(const char *name, const char *text)
{
	CHECK(fileio_write(AT_FDCWD, in(name), str_of(text), 0600, &err) == 0);
}

static bool holds(const char *name, const char *text)
{
	struct str have;

	return fileio_read(a, AT_FDCWD, in(name), 1000, &have, &err) == 0 &&
	       str_is(have, text);
}

static int write_to(const struct outfile_rule *rule, const char *name)
{
	return outfile_write(a, rule, AT_FDCWD, in(name), STR("new"), 0644,
			     &err);
}

static bool is_agents(void *ctx, int dirfd)
{
	struct stat x, y;
	int fd = pathwalk_enter(dirfd, "."), up;
	bool yes = false;

	CHECK(stat(ctx, &x) == 0);
	for (int i = 0; i < 8 && fd >= 0; i++) {
		CHECK(fstat(fd, &y) == 0);
		yes |= x.st_ino == y.st_ino && x.st_dev == y.st_dev;
		up = pathwalk_enter(fd, "..");
		fd_close(&fd);
		fd = up;
	}
	fd_close(&fd);
	return yes;
}

static void check_agents(void)
{
	struct outfile_rule rule = {is_agents, (void *)(uintptr_t)in("work")};
	struct stat st;

	put("victim", "mine");
	CHECK(symlink("../victim", in("work/link")) == 0);
	CHECK(symlink("..", in("work/up")) == 0);
	CHECK(symlink("nowhere", in("work/dangling")) == 0);
	CHECK(link(in("victim"), in("work/hard")) == 0);
	CHECK(mkfifo(in("work/fifo"), 0600) == 0);
	CHECK(write_to(&rule, "work/link") == -ELOOP);
	CHECK(write_to(&rule, "work/dangling") == -ELOOP);
	CHECK(write_to(&rule, "work/up/victim") == -ELOOP);
	CHECK(write_to(&rule, "work/fifo") == -EINVAL);
	CHECK(write_to(&rule, "work/none/new") == -ENOENT);
	CHECK(write_to(&rule, "work/hard") == 0 && holds("work/hard", "new"));
	CHECK(holds("victim", "mine"));
	CHECK(write_to(&rule, "work/deep/new") == 0);
	CHECK(stat(in("work/deep/new"), &st) == 0 && st.st_nlink == 1);
	/* Through a link of one's own to a link of the agent's. */
	CHECK(symlink("work", in("own")) == 0);
	CHECK(write_to(&rule, "own/new") == 0 && holds("work/new", "new"));
	CHECK(write_to(&rule, "own/link") == -ELOOP);
	CHECK(write_to(&rule, "work/../own/up/victim") == -ELOOP);
	CHECK(symlink("work/link", in("direct")) == 0);
	CHECK(write_to(&rule, "direct") == -ELOOP);
	CHECK(holds("victim", "mine"));
}

/* Where no agent writes, a path means what it always meant. */
static void check_others(void)
{
	struct outfile_rule rule = {is_agents, (void *)(uintptr_t)in("work")};
	struct stat st;
	int fd;

	CHECK(symlink("victim", in("mine")) == 0);
	CHECK(write_to(&rule, "mine") == 0 && holds("victim", "new"));
	CHECK(lstat(in("mine"), &st) == 0 && S_ISLNK(st.st_mode));
	CHECK(symlink("made", in("makes")) == 0);
	CHECK(write_to(&rule, "makes") == 0 && holds("made", "new"));
	CHECK(symlink("round", in("round")) == 0);
	CHECK(write_to(&rule, "round") == -ELOOP);
	CHECK(outfile_open(a, &rule, AT_FDCWD, "/dev/null", 0644, &fd, &err) ==
	      0);
	close(fd);
	CHECK(symlink("/dev/null", in("null")) == 0);
	CHECK(write_to(&rule, "null") == 0);
	CHECK(lstat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
	CHECK(write_to(&rule, "victim/") < 0 || holds("victim", "new"));
	CHECK(write_to(&rule, ".") == -EISDIR);
	CHECK(outfile_open(a, &rule, AT_FDCWD, "/", 0644, &fd, &err) ==
	      -EISDIR);
}

/* No rule: below an open folder no link at all. */
static void check_below(void)
{
	static const struct outfile_rule rule = {NULL, NULL};
	int dir = open(in("work"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct pathwalk_end at;

	CHECK(outfile_write(a, &rule, dir, "up/victim", STR("x"), 0644, &err) ==
	      -ELOOP);
	CHECK(outfile_write(a, &rule, dir, "link", STR("x"), 0644, &err) ==
	      -ELOOP);
	CHECK(outfile_find(a, &rule, dir, "a/b/c", 0, &at, &err) == -ENOENT);
	CHECK(outfile_find(a, &rule, dir, "a/b/c", 0755, &at, &err) == 0);
	CHECK(!at.exists && !strcmp(at.name, "c") && str_is(at.path, "/a/b/c"));
	close(at.dir_fd);
	CHECK(outfile_find(a, &rule, dir, "a/b/", 0, &at, &err) == 0);
	CHECK(at.exists && !strcmp(at.name, "b"));
	close(at.dir_fd);
	CHECK(outfile_find(a, &rule, dir, "a/b/..", 0, &at, &err) == 0);
	CHECK(at.exists && !strcmp(at.name, "a"));
	close(at.dir_fd);
	close(dir);
}

/* A workspace is known by its path, and by what that stood for. */
static void check_workspaces(void)
{
	struct workspaces_ask ask = {a, in("state"), NULL};
	int work, deep, other;

	CHECK(mkdir(in("state"), 0700) == 0 && mkdir(in("other"), 0700) == 0);
	work = open(in("work"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	deep = open(in("work/deep"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	other = open(in("other"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(!workspaces_hold(&ask, work));
	CHECK(workspaces_note(a, in("state"), in("work"), &err) == 0);
	CHECK(workspaces_note(a, in("state"), in("work"), &err) == 0);
	CHECK(workspaces_hold(&ask, work) && workspaces_hold(&ask, deep));
	CHECK(!workspaces_hold(&ask, other));
	ask.workspace = in("other");
	CHECK(workspaces_hold(&ask, other));
	ask.workspace = NULL;
	/* renamed, and another folder in its place */
	CHECK(rename(in("work"), in("renamed")) == 0);
	CHECK(workspaces_hold(&ask, deep));
	CHECK(rename(in("other"), in("work")) == 0);
	CHECK(workspaces_hold(&ask, other));
	close(other);
	other = open(in("state"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(workspaces_hold(&ask, other));
	/* what cannot be read counts as a yes */
	put("state/workspaces", "rubbish");
	CHECK(mkdir(in("third"), 0700) == 0);
	close(other);
	other = open(in("third"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(workspaces_hold(&ask, other));
	CHECK(workspaces_note(a, in("state"), in("third"), &err) == -EPROTO);
	close(other);
	close(work);
	close(deep);
}

static void set_path(const char *text)
{
	CHECK(setenv("PATH", text, 1) == 0);
}

/* Of PATH stay absolute folders that are there and no agent's. */
static void check_path(void)
{
	struct workspaces_ask ask = {a, in("state"), in("current")};
	const char *before = arena_cstr(a, str_of(getenv("PATH")));
	const struct workspaces *read;
	int ours, fd;

	CHECK(mkdir(in("current"), 0700) == 0 &&
	      mkdir(in("current/bin"), 0700) == 0);
	CHECK(mkdir(in("ours"), 0700) == 0 && mkdir(in("ours/bin"), 0700) == 0);
	CHECK(mkdir(in("old"), 0700) == 0 && mkdir(in("old/bin"), 0700) == 0);
	CHECK(fileio_write(AT_FDCWD, in("state/workspaces"), STR(""), 0600,
			   &err) == 0);
	CHECK(workspaces_note(a, in("state"), in("old"), &err) == 0);
	set_path(arena_fmt(a, "%s:bin::%s:%s:%s:%s:%s", in("current/bin"),
			   in("ours/bin"), in("old/bin"), in("nowhere"),
			   in("ours"), in("state"))
			 .p);
	programs_trust_path(&ask);
	CHECK(!strcmp(getenv("PATH"),
		      arena_fmt(a, "%s:%s", in("ours/bin"), in("ours")).p));
	/* the list as it was read, and anew */
	ours = open(in("ours/bin"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = open(in("old/bin"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	read = workspaces_read(&ask);
	CHECK(workspaces_note(a, in("state"), in("ours"), &err) == 0);
	CHECK(workspaces_have(read, fd) && !workspaces_have(read, ours));
	CHECK(workspaces_hold(&ask, fd) && workspaces_hold(&ask, ours));
	close(ours);
	close(fd);
	/* nothing left; and a list that cannot be read */
	programs_trust_path(&ask);
	CHECK(str_starts(str_of(getenv("PATH")), STR("/usr/local/sbin:")));
	set_path(in("nowhere"));
	put("state/workspaces", "rubbish");
	programs_trust_path(&ask);
	CHECK(str_starts(str_of(getenv("PATH")), STR("/usr/local/sbin:")));
	set_path(before);
}

static void check_bound(void)
{
	struct workspaces_ask ask = {a, in("state"), NULL};
	struct buf b;
	struct stat st;
	int first;

	CHECK(mkdir(in("first"), 0700) == 0 && mkdir(in("last"), 0700) == 0);
	CHECK(stat(in("first"), &st) == 0);
	buf_init(&b, a);
	buf_addf(&b, "%llu %llu %s", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino, in("first"));
	buf_addc(&b, '\0');
	for (unsigned i = 1; i < WORKSPACES_MAX; i++) {
		buf_addf(&b, "1 %u /nowhere/%u", i, i);
		buf_addc(&b, '\0');
	}
	CHECK(fileio_write(AT_FDCWD, in("state/workspaces"), buf_str(&b), 0600,
			   &err) == 0);
	first = open(in("first"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(workspaces_hold(&ask, first));
	CHECK(workspaces_note(a, in("state"), in("last"), &err) == 0);
	CHECK(!workspaces_hold(&ask, first));
	close(first);
	first = open(in("last"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(workspaces_hold(&ask, first));
	close(first);
}

/* What root makes in somebody's folder is theirs. */
static void check_owner(void)
{
	struct stat st;

	if (geteuid() != 0)
		return;
	CHECK(mkdir(in("theirs"), 0700) == 0);
	CHECK(chown(in("theirs"), 4242, 4243) == 0);
	CHECK(fileio_mkdirs(in("theirs/a/b"), 0700, &err) == 0);
	CHECK(stat(in("theirs/a/b"), &st) == 0 && st.st_uid == 4242 &&
	      st.st_gid == 4243);
	put("theirs/a/b/file", "x");
	CHECK(stat(in("theirs/a/b/file"), &st) == 0 && st.st_uid == 4242);
	CHECK(stat(in("victim"), &st) == 0 && st.st_uid == 0);
}

int main(void)
{
	char dir[] = "/tmp/membrane-outfile-XXXXXX";

	a = arena_new();
	top = mkdtemp(dir);
	CHECK(top && mkdir(in("work"), 0755) == 0 &&
	      mkdir(in("work/deep"), 0755) == 0);
	check_agents();
	check_others();
	check_below();
	check_workspaces();
	check_path();
	check_bound();
	check_owner();
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
