/*
 * Masks over real trees: what is found, in which order, and what becomes of
 * placeholders. The words as Docker takes them are tests/live's.
 */
#include "runtime/launch/mounts/journal.h"
#include "runtime/launch/mounts/masks.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/limits.h"
#include "runtime/launch/mounts/placeholders.h"
#include "runtime/launch/workspace/wspath.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* One test's folder: ws/ and state/, both below a fresh temporary one. */
struct bed {
	struct arena *a;
	char top[64];
	const char *ws, *state;
	struct masks masks;
	struct err err;
};

static void session(struct bed *b, const char *id)
{
	CHECK(fileio_mkdirs(arena_fmt(b->a, "%s/sessions/%s", b->state, id).p,
			    0700, &b->err) == 0);
}

static void bed_init(struct bed *b)
{
	char real[PATH_MAX];

	*b = (struct bed){.a = arena_new()};
	strcpy(b->top, "/tmp/membrane-scan.XXXXXX");
	if (!mkdtemp(b->top) || !realpath(b->top, real) || chdir(real) < 0)
		exit(1);
	CHECK(chmod(".", 0755) == 0);
	CHECK(mkdir("ws", 0755) == 0);
	b->ws = arena_fmt(b->a, "%s/ws", real).p;
	b->state = arena_fmt(b->a, "%s/state", real).p;
	session(b, "s1");
	CHECK(chdir("ws") == 0);
}

static void bed_done(struct bed *b)
{
	CHECK(chdir("/") == 0);
	CHECK(fileio_remove_tree(AT_FDCWD, b->top, &b->err) == 0);
	arena_free(b->a);
}

static void put_n(const char *path, size_t n)
{
	char dir[PATH_MAX];
	struct err err;
	int fd;
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash) {
		*slash = '\0';
		CHECK(fileio_mkdirs(dir, 0755, &err) == 0);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	CHECK_MSG(fd >= 0, "%s: %s", path, strerror(errno));
	CHECK(ftruncate(fd, (off_t)n) == 0);
	close(fd);
}

static void put(const char *path)
{
	put_n(path, 6);
}

static bool there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* rules are plan lines without the head. */
static int prepare_as(struct bed *b, const char *id, const char *rules)
{
	struct masks_opts o = {
		.state = b->state,
		.session = id,
		.workspace = b->ws,
		.plan = arena_fmt(b->a,
				  "membrane-mounts 1\nworkspace /workspace\n%s",
				  rules),
	};

	auto_fd int root = open(b->ws, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	o.root = root;
	masks_close(&b->masks);
	b->masks = (struct masks){0};
	b->err = (struct err){0};
	return masks_prepare(b->a, &o, &b->masks, &b->err);
}

/* "I.env R.git/config P.git …": the list, a letter for each kind. */
static const char *listed(struct bed *b)
{
	static const char letters[] = "IiRrP";
	struct buf out;

	buf_init(&out, b->a);
	vec_each(m, &b->masks.list)
		buf_addf(&out, "%s%c:%s", out.n ? " " : "", letters[m->kind],
			 wspath_show(b->a, m->path));
	return buf_str(&out).p;
}

static void expect_at(int line, struct bed *b, const char *rules,
		      const char *want)
{
	int rc = prepare_as(b, "s1", rules);
	const char *got = rc < 0 ? b->err.text : listed(b);

	CHECK_MSG(strcmp(got, want) == 0, "line %d:\n  got  %s\n  want %s",
		  line, got, want);
	CHECK(masks_release(b->state, "s1", &b->err) == 0);
}

#define EXPECT(rules, want) expect_at(__LINE__, &b, rules, want)

static void test_basics(void)
{
	struct bed b;

	bed_init(&b);
	put(".env");
	put("a/.env");
	put("a/b/c/.env");
	put("secrets/key");
	put("keep/x");
	put("vendor/.env");
	put("vendor/deep/.env");
	EXPECT("", "");
	EXPECT("ignore .env\n",
	       "i:.env P:a i:a/.env P:a/b P:a/b/c "
	       "i:a/b/c/.env P:vendor i:vendor/.env P:vendor/deep "
	       "i:vendor/deep/.env");
	EXPECT("ignore secrets/\n", "I:secrets");
	EXPECT("ignore secrets/\nignore !secrets/key\n", "I:secrets");
	EXPECT("ignore *.env\nignore !/a/**\nreadonly vendor/\n",
	       "i:.env R:vendor i:vendor/.env i:vendor/deep/.env");
	EXPECT("ignore /a/\nreadonly a/b/\nreadonly keep/x\n",
	       "I:a P:keep r:keep/x");
	EXPECT("readonly keep\nreadonly !keep/x\n", "R:keep");
	EXPECT("readonly .env\nreadonly !/a/.env\n",
	       "r:.env P:a P:a/b P:a/b/c r:a/b/c/.env P:vendor "
	       "r:vendor/.env P:vendor/deep r:vendor/deep/.env");
	EXPECT("ignore .env\nignore !/a/**\nreadonly .env\n",
	       "i:.env P:a r:a/.env P:a/b P:a/b/c r:a/b/c/.env P:vendor "
	       "i:vendor/.env P:vendor/deep i:vendor/deep/.env");
	CHECK(b.masks.entries == 14);
	bed_done(&b);
}

static void test_words(void)
{
	struct bed b;

	bed_init(&b);
	put("a,b/\"q\"");
	put("x\ny");
	put("p: =");
	CHECK(prepare_as(&b, "s1", "ignore \"*\nignore x*\nreadonly p*\n") ==
	      0);
	CHECK(b.masks.words.n == 8);
	for (uint32_t i = 0; i < b.masks.words.n; i += 2)
		CHECK(strcmp(b.masks.words.v[i], "--mount") == 0);
	CHECK(strcmp(b.masks.words.v[1],
		     arena_fmt(b.a,
			       "type=bind,\"source=%s/a,b\","
			       "\"target=/workspace/a,b\"",
			       b.ws)
			     .p) == 0);
	CHECK(strcmp(b.masks.words.v[3],
		     arena_fmt(b.a,
			       "type=bind,source=%s/empty/file,"
			       "\"target=/workspace/a,b/\"\"q\"\"\",readonly",
			       b.state)
			     .p) == 0);
	CHECK(strcmp(b.masks.words.v[5],
		     arena_fmt(b.a,
			       "type=bind,source=%s/p: =,"
			       "target=/workspace/p: =,readonly",
			       b.ws)
			     .p) == 0);
	CHECK(strcmp(b.masks.words.v[7],
		     arena_fmt(b.a,
			       "type=bind,source=%s/empty/file,"
			       "\"target=/workspace/x\ny\",readonly",
			       b.state)
			     .p) == 0);
	put("bad\xff.key");
	CHECK(prepare_as(&b, "s1", "ignore *.key\n") == -EILSEQ);
	CHECK(strstr(b.err.text, "bad\\xff.key"));
	CHECK(prepare_as(&b, "s1", "ignore *.pem\n") == 0);
	put("cr\r\nlf.pem");
	CHECK(prepare_as(&b, "s1", "ignore *.pem\n") == -EILSEQ);
	bed_done(&b);
}

static void test_types(void)
{
	struct bed b;
	struct stat st;

	bed_init(&b);
	CHECK(mkfifo("pipe.key", 0600) == 0);
	CHECK(mkdir("dir.key", 0700) == 0);
	EXPECT("ignore *.key\n", "I:dir.key i:pipe.key");
	EXPECT("readonly *.key\n", "R:dir.key r:pipe.key");
	CHECK(stat(arena_fmt(b.a, "%s/empty/file", b.state).p, &st) == 0);
	CHECK(S_ISREG(st.st_mode) && (st.st_mode & 07777) == 0444);
	CHECK(stat(arena_fmt(b.a, "%s/empty/dir", b.state).p, &st) == 0);
	CHECK(S_ISDIR(st.st_mode) && (st.st_mode & 07777) == 0555);
	bed_done(&b);
}

/* B-2 */
static void test_links(void)
{
	struct bed b;

	bed_init(&b);
	put("store/secret");
	put("store/dir/x");
	put("outside-is-left");
	CHECK(symlink("store/secret", "l1.env") == 0);
	CHECK(symlink("/nowhere/x", "l2.env") == 0);
	CHECK(symlink("../state", "l3.env") == 0);
	CHECK(symlink("l4.env", "l4.env") == 0);
	CHECK(symlink("l1.env", "l5.env") == 0);
	EXPECT("ignore *.env\n", "P:store i:store/secret");
	CHECK(unlink("l1.env") == 0);
	EXPECT("ignore *.env\n", "");
	CHECK(symlink("store/dir", "l6.env") == 0);
	EXPECT("ignore *.env\n", "P:store I:store/dir");
	/* A pattern for directories is about what the link leads to. */
	EXPECT("ignore *.env/\n", "P:store I:store/dir");
	EXPECT("readonly l6.env\n", "P:store R:store/dir");
	CHECK(b.masks.notes.n == 1);
	/* Absolute, as seen on the host and as seen inside. */
	CHECK(symlink(arena_fmt(b.a, "%s/store/../store//dir/./x", b.ws).p,
		      "h.abs") == 0);
	EXPECT("ignore *.abs\n", "P:store P:store/dir i:store/dir/x");
	CHECK(symlink("/workspace/store/secret", "c.abs") == 0);
	EXPECT("ignore c.abs\n", "P:store i:store/secret");
	CHECK(symlink("../ws/store/secret", "up.abs") == 0);
	EXPECT("ignore up.abs\n", "P:store i:store/secret");
	CHECK(symlink("../workspace/store/secret", "in.abs") == 0);
	EXPECT("ignore in.abs\n", "P:store i:store/secret");
	/* Through a link to a directory, and up again from it. */
	CHECK(symlink("store/dir", "d") == 0);
	CHECK(symlink("d/../secret", "via.abs") == 0);
	EXPECT("ignore via.abs\n", "P:store i:store/secret");
	/* To where it is itself: nothing would be left to see. */
	CHECK(symlink(".", "self") == 0);
	CHECK(symlink("..", "store/up") == 0);
	CHECK(symlink("../store", "store/same") == 0);
	EXPECT("ignore self\nignore up\nignore same\n", "");
	CHECK(b.masks.notes.n == 3);
	bed_done(&b);
}

/* B-3 */
static void test_hard_links(void)
{
	struct bed b;

	bed_init(&b);
	put("a/.env");
	put("other");
	CHECK(link("a/.env", "b-copy") == 0);
	CHECK(mkdir("c", 0755) == 0);
	CHECK(link("a/.env", "c/again") == 0);
	EXPECT("ignore .env\n", "P:a i:a/.env i:b-copy P:c i:c/again");
	EXPECT("readonly .env\n", "P:a r:a/.env r:b-copy P:c r:c/again");
	EXPECT("ignore again\nreadonly .env\n",
	       "P:a i:a/.env i:b-copy P:c i:c/again");
	/* Below a masked directory, at any depth. */
	put("s/deep/er/key");
	CHECK(link("s/deep/er/key", "stolen") == 0);
	EXPECT("ignore s/\n", "I:s i:stolen");
	EXPECT("readonly s/\n", "R:s r:stolen");
	EXPECT("ignore /stolen\nreadonly s/\n", "R:s i:s/deep/er/key i:stolen");
	CHECK(symlink("s/deep", "lk") == 0);
	EXPECT("ignore lk\n", "P:s I:s/deep i:stolen");
	EXPECT("readonly lk\n", "P:s R:s/deep r:stolen");
	/* A link that leads out of the workspace is nobody's business. */
	CHECK(link("other", "../elsewhere") == 0);
	EXPECT("ignore other\n", "i:other");
	bed_done(&b);
}

/* Much more hidden than visible, where the visible is asked first. */
static void test_much_hidden(void)
{
	struct bed b;

	bed_init(&b);
	CHECK(mkdir("dist", 0755) == 0);
	for (unsigned i = 0; i < 3000; i++)
		put(arena_fmt(b.a, "dist/%u/%u", i % 3, i).p);
	put("seen/x");
	EXPECT("ignore dist/\n", "I:dist");
	CHECK(link("dist/2/2999", "seen/y") == 0);
	EXPECT("ignore dist/\n", "I:dist P:seen i:seen/y");
	EXPECT("readonly dist/\n", "R:dist P:seen r:seen/y");
	/* Several links, but all of them hidden. */
	CHECK(rename("seen/y", "dist/y") == 0);
	EXPECT("ignore dist/\n", "I:dist");
	bed_done(&b);
}

static void test_depth(void)
{
	struct bed b;
	char dir[PATH_MAX] = "";
	struct err err;

	bed_init(&b);
	for (unsigned i = 0; i < SCAN_DEPTH + 5; i++)
		strcat(dir, "d/");
	CHECK(fileio_mkdirs(dir, 0755, &err) == 0);
	CHECK(prepare_as(&b, "s1", "ignore .env\n") == 0);
	CHECK(b.masks.list.n == SCAN_DEPTH + 1);
	CHECK(b.masks.list.v[SCAN_DEPTH].kind == MASK_IGNORE_DIR);
	CHECK(b.masks.notes.n == 1);
	bed_done(&b);
}

/* A path longer than a mount can be given. */
static void test_length(void)
{
	char name[251];
	struct bed b;

	bed_init(&b);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (unsigned i = 0; i < 20; i++)
		CHECK(mkdir(name, 0755) == 0 && chdir(name) == 0);
	CHECK(chdir(b.ws) == 0);
	CHECK(prepare_as(&b, "s1", "") == 0);
	CHECK(b.masks.list.n > 10 && b.masks.list.n < 17);
	CHECK(b.masks.notes.n == 1);
	vec_each(m, &b.masks.list)
		CHECK(m->path.n < 4096 - 256);
	bed_done(&b);
}

static void test_too_many(void)
{
	struct buf path;
	struct bed b;

	bed_init(&b);
	CHECK(mkdir("many", 0755) == 0);
	put(".env");
	buf_init(&path, b.a);
	for (unsigned i = 0; i < LIMIT_MASKS; i++) {
		int fd;

		path.n = 0;
		buf_addf(&path, "many/%u.key", i);
		fd = open(path.p, O_CREAT | O_WRONLY, 0600);
		CHECK(fd >= 0);
		close(fd);
	}
	CHECK(prepare_as(&b, "s1",
			 "ignore .env\nignore *.key\n"
			 "hold .git/hooks/\n") == -E2BIG);
	CHECK(strstr(b.err.text, "24580 mounts"));
	CHECK(strstr(b.err.text, "24576 in many/"));
	CHECK(!there(".git"));
	EXPECT("ignore many/\n", "I:many");
	bed_done(&b);
}

/* --- holds -----------------------------------------------------------------
 */

static const char *journal(struct bed *b, const char *id)
{
	return arena_fmt(b->a, "%s/sessions/%s/journal", b->state, id).p;
}

static void test_holds(void)
{
	struct bed b;

	bed_init(&b);
	EXPECT("hold .git/config\nhold .git/hooks/\nhold .membrane.yaml\n",
	       "P:.git r:.git/config R:.git/hooks r:.membrane.yaml");
	CHECK(!there(".git") && !there(".membrane.yaml"));
	CHECK(!there(journal(&b, "s1")));
	/* What is there stays, whatever its type. */
	put_n(".git/config", 0);
	CHECK(mkdir(".membrane.yaml", 0755) == 0);
	EXPECT("hold .git/config\nhold .git/hooks/\nhold .membrane.yaml\n",
	       "P:.git r:.git/config R:.git/hooks R:.membrane.yaml");
	CHECK(there(".git/config") && !there(".git/hooks"));
	CHECK(there(".membrane.yaml"));
	/* Under a mask, or under something readonly, nothing is made. */
	EXPECT("ignore .git/\nhold .git/hooks/\n", "I:.git");
	EXPECT("readonly .git/\nhold .git/hooks/\n", "R:.git");
	/* A path that is ignored is not shown by being held. */
	EXPECT("ignore config\nhold .git/config\n", "P:.git i:.git/config");
	bed_done(&b);
}

static void test_hold_odd(void)
{
	struct bed b;

	bed_init(&b);
	/* A worktree: .git is a file. */
	put(".git");
	EXPECT("hold .git/hooks/\nhold .git/config\n", "r:.git");
	CHECK(unlink(".git") == 0);
	CHECK(symlink("../state", ".git") == 0);
	EXPECT("hold .git/hooks/\n", "");
	CHECK(b.masks.notes.n == 1);
	CHECK(!there("../state/hooks"));
	CHECK(unlink(".git") == 0);
	CHECK(mkdir("real", 0755) == 0);
	CHECK(symlink("real", ".git") == 0);
	EXPECT("hold .git/hooks/\n", "P:real R:real/hooks");
	CHECK(b.masks.notes.n == 1);
	CHECK(!there("real/hooks"));
	bed_done(&b);
}

/* git goes on as if it were not there, and takes nothing from elsewhere. */
static void test_commondir(void)
{
	struct str text;
	struct bed b;

	bed_init(&b);
	CHECK(prepare_as(&b, "s1", "hold .git/commondir\n") == 0);
	CHECK(fileio_read(b.a, AT_FDCWD, ".git/commondir", 99, &text, &b.err) ==
	      0);
	CHECK(str_is(text, ".\n"));
	CHECK(masks_release(b.state, "s1", &b.err) == 0);
	CHECK(!there(".git"));
	CHECK(prepare_as(&b, "s1", "hold .git/commondir\n") == 0);
	CHECK(truncate(".git/commondir", 3) == 0);
	CHECK(masks_release(b.state, "s1", &b.err) == 0);
	CHECK(there(".git/commondir"));
	bed_done(&b);
}

/* Wherever a repository is, and whatever its configuration names. */
static void test_repositories(void)
{
	static const char config[] = "[core]\n\thooksPath = h\n";
	struct bed b;

	bed_init(&b);
	setenv("HOME", b.top, 1);
	setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
	put("a/HEAD"); /* none: the rest is missing */
	put("x/HEAD");
	put("x/objects/o");
	put("x/refs/r");
	CHECK(fileio_write(AT_FDCWD, "x/config", str_of(config), 0644,
			   &b.err) == 0);
	put("y/.git/HEAD");
	put("y/.git/objects/o");
	put("y/.git/refs/r");
	put("y/.git/hooks/h");
	EXPECT("", "P:x r:x/commondir r:x/config r:x/config.worktree R:x/h "
		   "R:x/hooks P:y P:y/.git r:y/.git/commondir r:y/.git/config "
		   "r:y/.git/config.worktree R:y/.git/hooks");
	CHECK(!there("x/commondir") && !there("x/h") &&
	      !there("y/.git/config"));
	EXPECT("ignore x/\nreadonly y/\n", "I:x R:y");
	CHECK(unlink("y/.git/HEAD") == 0);
	/* Nobody else's repository is named by replacing this. */
	CHECK(fileio_write(AT_FDCWD, "y/z", STR("gitdir: ../x\n"), 0644,
			   &b.err) == 0);
	CHECK(mkdir("z", 0755) == 0 && rename("y/z", "z/.git") == 0);
	EXPECT("", "P:x r:x/commondir r:x/config r:x/config.worktree R:x/h "
		   "R:x/hooks P:z r:z/.git R:z/h");
	bed_done(&b);
}

/* B-4 */
static void test_undo(void)
{
	struct bed b;

	bed_init(&b);
	CHECK(prepare_as(&b, "s1",
			 "hold .git/config\nhold .git/hooks/\n"
			 "hold .git/a\nhold .git/b\n") == 0);
	CHECK(there(".git/config") && there(".git/hooks"));
	/* The host writes into one, replaces another, puts a file into a
	 * third: all of that is the user's now. */
	CHECK(truncate(".git/config", 5) == 0);
	CHECK(rename(".git/a", ".git/old-a") == 0);
	put_n(".git/a", 0);
	put_n(".git/hooks/pre-commit", 0);
	CHECK(masks_release(b.state, "s1", &b.err) == 0);
	CHECK(there(".git/config") && there(".git/hooks/pre-commit"));
	CHECK(there(".git/a") && !there(".git/b"));
	CHECK(!there(journal(&b, "s1")));
	CHECK(masks_release(b.state, "s1", &b.err) == 0);
	bed_done(&b);
}

/* Two sessions: the first that ends leaves the other's mounts alone. */
static void test_shared(void)
{
	struct bed b;

	bed_init(&b);
	session(&b, "s2");
	session(&b, "s3");
	CHECK(prepare_as(&b, "s1", "hold .git/hooks/\n") == 0);
	CHECK(prepare_as(&b, "s2", "hold .git/hooks/\nhold .git/config\n") ==
	      0);
	CHECK(strcmp(listed(&b), "P:.git r:.git/config R:.git/hooks") == 0);
	/* Not by a hold, but it stands on a placeholder all the same. */
	CHECK(prepare_as(&b, "s3", "readonly hooks/\n") == 0);
	CHECK(masks_release(b.state, "s1", &b.err) == 0);
	CHECK(there(".git/hooks") && there(".git/config"));
	CHECK(masks_release(b.state, "s2", &b.err) == 0);
	CHECK(there(".git/hooks") && !there(".git/config"));
	CHECK(masks_release(b.state, "s3", &b.err) == 0);
	CHECK(!there(".git"));
	bed_done(&b);
}

/* One that was killed right after it made something in another's folder: who
 * comes and undoes both, in whichever order, finds nothing in the way. */
static void test_killed_in_a_folder(void)
{
	struct journal j = {0};
	bool has_folder = false;
	struct bed b;

	bed_init(&b);
	session(&b, "s2");
	CHECK(prepare_as(&b, "s1", "hold .idea/a\n") == 0);
	CHECK(prepare_as(&b, "s2", "hold .idea/a\nhold .idea/b\n") == 0);
	/* In the order of the journal: the folder before what lies in it. */
	CHECK(journal_load(b.a, journal(&b, "s2"), &j, &b.err) == 0);
	vec_each(r, &j.records) {
		has_folder |= r->made && str_is(r->path, ".idea");
		if (str_is(r->path, ".idea/b"))
			break;
	}
	CHECK(has_folder);
	CHECK(masks_release(b.state, "s1", &b.err) == 0);
	CHECK(masks_release(b.state, "s2", &b.err) == 0);
	CHECK(!there(".idea"));
	bed_done(&b);
}

/* A workspace inside another one's. */
static void test_nested(void)
{
	const char *ws;
	struct bed b;

	bed_init(&b);
	session(&b, "s2");
	CHECK(mkdir("sub", 0755) == 0);
	CHECK(prepare_as(&b, "s1", "hold sub/.git/hooks/\n") == 0);
	ws = b.ws;
	b.ws = arena_fmt(b.a, "%s/sub", ws).p;
	CHECK(prepare_as(&b, "s2", "hold .git/hooks/\n") == 0);
	CHECK(masks_release(b.state, "s1", &b.err) == 0);
	CHECK(there("sub/.git/hooks"));
	CHECK(masks_release(b.state, "s2", &b.err) == 0);
	CHECK(!there("sub/.git") && there("sub"));
	b.ws = ws;
	bed_done(&b);
}

/*
 * Killed at any point: whatever the journal holds by then, the reaper leaves
 * nothing of ours behind and nothing of the user's away.
 */
static void test_killed(void)
{
	struct str whole, cut;
	struct bed b;
	struct err err;

	bed_init(&b);
	CHECK(prepare_as(&b, "s1", "hold .git/hooks/\n") == 0);
	CHECK(fileio_read(b.a, AT_FDCWD, journal(&b, "s1"), 1 << 20, &whole,
			  &err) == 0);
	CHECK(masks_release(b.state, "s1", &b.err) == 0);
	for (size_t n = 0; n <= whole.n; n++) {
		bool dir, hooks;

		cut = str_slice(whole, 0, n);
		/* Just made, and only announced or not even that. */
		dir = memmem(cut.p, cut.n, " .git\n", 6);
		hooks = memmem(cut.p, cut.n, " .git/hooks\n", 12);
		CHECK(!dir || mkdir(".git", 0755) == 0);
		CHECK(!hooks || mkdir(".git/hooks", 0755) == 0);
		CHECK(fileio_write(AT_FDCWD, journal(&b, "s1"), cut, 0600,
				   &err) == 0);
		CHECK(masks_release(b.state, "s1", &b.err) == 0);
		CHECK(!there(journal(&b, "s1")));
		/* With a new inode, `made` speaks of another directory. */
		if (there(".git/hooks"))
			CHECK(rmdir(".git/hooks") == 0);
		if (there(".git"))
			CHECK(rmdir(".git") == 0);
	}
	CHECK(fileio_write(AT_FDCWD, journal(&b, "s1"), STR("something else\n"),
			   0600, &err) == 0);
	CHECK(masks_release(b.state, "s1", &b.err) == -EPROTO);
	bed_done(&b);
}

/* kill -9 in the middle of many holds, then the reaper. */
static void test_kill_9(void)
{
	struct buf rules;
	struct bed b;

	bed_init(&b);
	buf_init(&rules, b.a);
	for (unsigned i = 0; i < 2000; i++)
		buf_addf(&rules, "hold a%u/b/c%u\n", i % 40, i);
	for (unsigned round = 0; round < 8; round++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(prepare_as(&b, "s1", rules.p) < 0);
		usleep(1000 * (round + 1));
		kill(pid, SIGKILL);
		CHECK(waitpid(pid, NULL, 0) == pid);
		CHECK(masks_release(b.state, "s1", &b.err) == 0);
		CHECK(!there("a0") && !there("a39"));
	}
	CHECK(rmdir(b.ws) == 0);
	bed_done(&b);
}

static int one_of_crowd(struct bed *b, const char *id)
{
	for (unsigned round = 0; round < 15; round++) {
		if (prepare_as(b, id,
			       "hold .git/hooks/\nhold .git/config\n"
			       "hold .vscode/tasks.json\n") < 0)
			return 2;
		for (unsigned i = 0; i < 5; i++) {
			usleep(300);
			if (!there(".git/hooks") || !there(".git/config") ||
			    !there(".vscode/tasks.json"))
				return 3;
		}
		if (masks_release(b->state, id, &b->err) < 0)
			return 4;
	}
	return 0;
}

/* Many sessions that come and go: what one stands on, no other takes. */
static void test_crowd(void)
{
	struct bed b;
	pid_t pids[8];
	int status;

	bed_init(&b);
	for (unsigned i = 0; i < ARRAY_LEN(pids); i++) {
		const char *id = arena_fmt(b.a, "c%u", i).p;

		session(&b, id);
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(one_of_crowd(&b, id));
	}
	for (unsigned i = 0; i < ARRAY_LEN(pids); i++) {
		CHECK(waitpid(pids[i], &status, 0) == pids[i]);
		CHECK_MSG(status == 0, "status %x", (unsigned)status);
	}
	CHECK(rmdir(b.ws) == 0);
	bed_done(&b);
}

/* A mount of the host's inside a readonly tree needs one of its own. */
static void test_submount(void)
{
	struct bed b;

	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		fputs("not run: mounts need root\n", stderr);
		return;
	}
	bed_init(&b);
	put("vendor/disk/.env");
	put("vendor/same/x");
	CHECK(mount("none", "vendor/disk", "tmpfs", 0, NULL) == 0);
	CHECK(mount("vendor/same", "vendor/same", NULL, MS_BIND, NULL) == 0);
	put("vendor/disk/deep/.env");
	EXPECT("ignore .env\nreadonly vendor/\n",
	       "R:vendor R:vendor/disk i:vendor/disk/deep/.env R:vendor/same");
	/* a mount cannot be renamed: no pin */
	EXPECT("ignore .env\n",
	       "P:vendor P:vendor/disk/deep i:vendor/disk/deep/.env");
	masks_close(&b.masks);
	CHECK(umount("vendor/disk") == 0 && umount("vendor/same") == 0);
	bed_done(&b);
}

static void test_state_inside(void)
{
	const char *ws;
	struct bed b;

	bed_init(&b);
	ws = b.ws;
	b.ws = arena_cstr(b.a, str_slice(str_of(ws), 0, strlen(ws) - 3));
	EXPECT("", "I:state");
	CHECK(b.masks.notes.n == 1);
	b.ws = arena_fmt(b.a, "%s/sessions", b.state).p;
	CHECK(prepare_as(&b, "s1", "") == -EINVAL);
	b.ws = "/";
	CHECK(prepare_as(&b, "s1", "ignore /*\n") == -EINVAL);
	b.ws = ws;
	bed_done(&b);
}

static void give_away(const char *path)
{
	if (geteuid() == 0)
		CHECK(chown(path, 65534, 65534) == 0);
}

/* As somebody whom permissions stop. */
/* B-1 */
static void test_unreadable(void)
{
	struct bed b;
	int status;
	pid_t pid;

	bed_init(&b);
	put("closed/.env");
	put("open/.env");
	put("listed/.env");
	put("ro-dir/x");
	CHECK(chmod("closed", 0) == 0);
	CHECK(chmod("listed", 0444) == 0); /* names, but no way in */
	CHECK(chmod("ro-dir", 0555) == 0);
	give_away(b.ws);
	give_away(b.state);
	give_away(arena_fmt(b.a, "%s/sessions", b.state).p);
	give_away(arena_fmt(b.a, "%s/sessions/s1", b.state).p);
	pid = fork();
	if (pid == 0) {
		check_failed = check_passed = 0;
		if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
			_exit(9);
		EXPECT("ignore .env\n", "I:closed P:listed i:listed/.env "
					"P:open i:open/.env");
		CHECK(b.masks.notes.n == 1);
		CHECK(strstr(b.masks.notes.v[0].p, "closed: cannot be read"));
		/* Its owner could change the mode, inside. */
		EXPECT("ignore .env\nhold ro-dir/new\n",
		       "I:closed P:listed i:listed/.env P:open i:open/.env "
		       "R:ro-dir");
		CHECK(b.masks.notes.n == 2);
		EXPECT("hold closed/x\n", "I:closed");
		CHECK(prepare_as(&b, "s1", "hold listed/x\n") == -EACCES);
		_exit(check_failed ? 1 : 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(chmod("closed", 0755) == 0 && chmod("listed", 0755) == 0);
	CHECK(chmod("ro-dir", 0755) == 0);
	bed_done(&b);
}

/* --- plan and argument vector ----------------------------------------------
 */

static void test_plan(void)
{
	static const struct {
		const char *text, *why; /* NULL: accepted */
	} plans[] = {
		{"membrane-mounts 1\nworkspace /w\n", NULL},
		{"membrane-mounts 1\nworkspace /w\nignore a\nignore !b c\n"
		 "readonly d/\nhold e/f\nhold g/\nfast h\nfast i/j\n",
		 NULL},
		{"membrane-mounts 1\nworkspace /w\nhold a\nprotect claude /a*\n"
		 "protect git /b/c\n",
		 NULL},
		{"", "cut"},
		{"membrane-mounts 1\nworkspace /w", "cut"},
		{"membrane-mounts 2\nworkspace /w\n", "line 1"},
		{"membrane-mounts 1\nworkspace w\n", "line 2"},
		{"membrane-mounts 1\nworkspace /w/../x\n", "line 2"},
		{"membrane-mounts 1\nworkspace /\n", "line 2"},
		{"membrane-mounts 1\nignore a\n", "line 2"},
		{"membrane-mounts 1\nworkspace /w\n\n", "unknown record"},
		{"membrane-mounts 1\nworkspace /w\nIgnore a\n",
		 "unknown record"},
		{"membrane-mounts 1\nworkspace /w\nhold a\nignore b\n",
		 "out of order"},
		{"membrane-mounts 1\nworkspace /w\nreadonly b\nignore b\n",
		 "line 4"},
		{"membrane-mounts 1\nworkspace /w\nignore \n", "empty"},
		{"membrane-mounts 1\nworkspace /w\nignore # x\n", "empty"},
		{"membrane-mounts 1\nworkspace /w\nignore\n", "empty"},
		{"membrane-mounts 1\nworkspace /w\nignore [a\n", "']'"},
		{"membrane-mounts 1\nworkspace /w\nignore a\r\n", "control"},
		{"membrane-mounts 1\nworkspace /w\nhold /a\n", "line 3"},
		{"membrane-mounts 1\nworkspace /w\nhold a/../b\n", "line 3"},
		{"membrane-mounts 1\nworkspace /w\nhold a//\n", "line 3"},
		{"membrane-mounts 1\nworkspace /w\nhold \n", "line 3"},
		{"membrane-mounts 1\nworkspace /w\nfast a\nhold b\n",
		 "out of order"},
		{"membrane-mounts 1\nworkspace /w\nfast a/\n", "line 3"},
		{"membrane-mounts 1\nworkspace /w\nfast ../a\n", "line 3"},
		{"membrane-mounts 1\nworkspace /w\nfast /a\n", "line 3"},
		{"membrane-mounts 1\nworkspace /w\nfast \n", "line 3"},
		{"membrane-mounts 1\nworkspace /w\nhold a\x01\n", "line 3"},
		{"membrane-mounts 1\nworkspace /w\nprotect a /b\nhold c\n",
		 "out of order"},
		{"membrane-mounts 1\nworkspace /w\nprotect a\n", "line 3"},
		{"membrane-mounts 1\nworkspace /w\nprotect a b\n", "line 3"},
		{"membrane-mounts 1\nworkspace /w\nprotect a !/b\n", "line 3"},
		{"membrane-mounts 1\nworkspace /w\nprotect bin/a /b\n",
		 "line 3"},
		{"membrane-mounts 1\nworkspace /w\nprotect  /b\n", "line 3"},
		{"membrane-mounts 1\nworkspace /w\nprotect a /[b\n", "']'"},
	};
	struct arena *a = arena_new();

	for (size_t i = 0; i < ARRAY_LEN(plans); i++) {
		struct mountsplan plan;
		struct err err = {0};
		int rc = mountsplan_read(a, str_of(plans[i].text), &plan, &err);

		CHECK_MSG(rc == (plans[i].why ? -EPROTO : 0), "%s: %s",
			  plans[i].text, err.text);
		CHECK_MSG(!plans[i].why || strstr(err.text, plans[i].why), "%s",
			  err.text);
	}
	arena_free(a);
}

static void test_fit(void)
{
	struct arena *a = arena_new();
	char none[] = "", *envp[] = {NULL}, **argv;
	char *big = arena_alloc(a, 200 << 10);
	struct rlimit before, after;
	struct err err;

	CHECK(getrlimit(RLIMIT_STACK, &before) == 0);
	argv = arena_array(a, 60002, sizeof(*argv));
	for (unsigned i = 0; i < 60000; i++)
		argv[i] = none;
	argv[100] = NULL;
	CHECK(masks_fit(argv, envp, &err) == 0);
	memset(big, 'x', (200 << 10) - 1);
	argv[99] = big;
	CHECK(masks_fit(argv, envp, &err) == -E2BIG);
	big[100 << 10] = '\0';
	CHECK(masks_fit(argv, envp, &err) == 0);
	argv[100] = none;
	for (unsigned i = 0; i < 60000; i++)
		argv[i] = i < 40 ? big : none;
	CHECK(masks_fit(argv, envp, &err) == 0); /* 4.6 MB */
	CHECK(getrlimit(RLIMIT_STACK, &after) == 0);
	CHECK(after.rlim_cur / 4 > 4600000);
	for (unsigned i = 0; i < 60; i++)
		argv[i] = big;
	CHECK(masks_fit(argv, envp, &err) == -E2BIG);
	CHECK(setrlimit(RLIMIT_STACK, &before) == 0);
	arena_free(a);
}

int main(void)
{
	umask(022);
	test_plan();
	test_basics();
	test_words();
	test_types();
	test_links();
	test_hard_links();
	test_much_hidden();
	test_depth();
	test_length();
	test_too_many();
	test_holds();
	test_hold_odd();
	test_commondir();
	test_repositories();
	test_undo();
	test_shared();
	test_killed_in_a_folder();
	test_nested();
	test_killed();
	test_kill_9();
	test_crowd();
	test_state_inside();
	test_unreadable();
	test_fit();
	test_submount();
	return check_status();
}
