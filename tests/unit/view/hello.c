/* What the launcher says: each line as it is meant, or nothing is. */
#include "runtime/view/judge/hello.h"

#include "compiler/base/buf.h"
#include "compiler/plan/view_hello.h"
#include "tests/check.h"

#include <errno.h>

#define HEAD "membrane-view 1\nowner 1000 100\nroot 66305 2\n"

static struct arena *a;

static int read_text(const char *text, struct hello *h, size_t *used)
{
	struct err err = {0};
	int rc = hello_read(a, str_of(text), h, used, &err);

	CHECK_MSG(rc == 0 || err.text[0], "%s", text);
	return rc;
}

static void all_is_read(void)
{
	struct hello h;
	size_t used;

	CHECK(read_text(HEAD
			"at /home/u/a%20b\nreadonly\nhold a/%25\nhold b\n"
			"hide %ff%0A/x\ninode 1 2 3 4\ninode 5 6 0 0\n"
			"tracked program .npmrc 7 1 2 3 4 5 6 7\ntracked link "
			"a%20b/k.pem 7 1 2 3 4 5 6 7 /a%20b\n"
			"go\ndetach\n",
			&h, &used) == 0);
	CHECK(h.uid == 1000 && h.gid == 100 && h.dev == 66305 && h.ino == 2);
	CHECK(h.readonly && str_is(h.at, "/home/u/a b"));
	CHECK(h.holds.n == 2 && str_is(h.holds.v[0], "a/%"));
	CHECK(h.hides.n == 1 && str_is(h.hides.v[0], "\xff\n/x"));
	CHECK(h.inodes.n == 2 && h.inodes.v[0].born_s == 3 &&
	      h.inodes.v[0].born_ns == 4 && h.inodes.v[1].ino == 6);
	CHECK(used ==
	      strlen(HEAD
		     "at /home/u/a%20b\nreadonly\nhold a/%25\n"
		     "hold b\nhide %FF%0A/x\ninode 1 2 3 4\n"
		     "inode 5 6 0 0\ntracked program .npmrc 7 1 2 3 4 5 6 7\n"
		     "tracked link a%20b/k.pem 7 1 2 3 4 5 6 7 "
		     "/a%20b\ngo\n"));
	CHECK(h.tracked.n == 2 && str_is(h.tracked.v[1].path, "a b/k.pem") &&
	      str_is(h.tracked.v[1].text, "/a b") &&
	      h.tracked.v[0].text.n == 0);
	CHECK(read_text(HEAD "go\n", &h, &used) == 0 && used > 0);
	CHECK(!h.readonly && h.at.n == 0 && h.holds.n == 0);
}

static void a_repository_is_read(void)
{
	struct hello h;
	size_t used;

	CHECK(read_text(HEAD "repository 66305 77\nlinked /.git/*\n"
			     "linked !/.git/a%20b/\nhold x\ngo\n",
			&h, &used) == 0);
	CHECK(h.has_repository && h.repository_dev == 66305 &&
	      h.repository_ino == 77 && gitignore_count(h.linked) == 2);
	CHECK(gitignore_match(h.linked, STR(".git/a"), true, NULL) ==
		      GITIGNORE_MATCH &&
	      gitignore_match(h.linked, STR(".git/a b"), true, NULL) ==
		      GITIGNORE_BACK);
	CHECK(read_text(HEAD "repository 1 2\ngo\n", &h, &used) == 0 &&
	      h.has_repository && !h.linked && !h.module.n);
	CHECK(read_text(
		      HEAD
		      "repository 1 2\nmodule %0a[core]\nlinked /.git/a\ngo\n",
		      &h, &used) == 0 &&
	      str_is(h.module, "\n[core]"));
	CHECK(read_text(HEAD "attributes\nhold x\ngo\n", &h, &used) == 0 &&
	      h.filtered);
	CHECK(read_text(HEAD "go\n", &h, &used) == 0 && !h.has_repository &&
	      !h.filtered);
}

#define PART	HEAD "repository 1 2\npart a/b%20c\n"
#define NUMBERS " 5 10 11 20 21 99 1000 100 "

static void what_is_beside_is_read(void)
{
	struct hello h;
	size_t used;

	CHECK(read_text(PART "linked /.git/config\noutside file README" NUMBERS
			     "\noutside link a/l%0A" NUMBERS "x%20y\n"
			     "outside folder a/bc" NUMBERS "\n"
			     "text .gitignore *.o%0A%25\ntext a/.x \ngo\n",
			&h, &used) == 0);
	CHECK(str_is(h.part, "a/b c") && h.outside.n == 3 && h.texts.n == 2);
	CHECK(h.outside.v[0].kind == VIEW_OUTSIDE_FILE &&
	      str_is(h.outside.v[0].path, "README") &&
	      h.outside.v[0].numbers[VIEW_OUTSIDE_SIZE] == 5 &&
	      h.outside.v[0].numbers[VIEW_OUTSIDE_CTIME_NS] == 21 &&
	      h.outside.v[0].numbers[VIEW_OUTSIDE_GID] == 100);
	CHECK(h.outside.v[1].kind == VIEW_OUTSIDE_LINK &&
	      str_is(h.outside.v[1].path, "a/l\n") &&
	      str_is(h.outside.v[1].text, "x y"));
	CHECK(str_is(h.texts.v[0].text, "*.o\n%") && h.texts.v[1].text.n == 0);
}

static void parts_wait(void)
{
	static const char text[] = HEAD "hold a\ngo\n";
	struct hello h;
	struct err err;
	size_t used;

	for (size_t n = 0; n < sizeof(text) - 2; n++)
		CHECK(hello_read(a, (struct str){text, n}, &h, &used, &err) ==
			      0 &&
		      used == 0);
}

static void others_are_refused(void)
{
	static const char *const bad[] = {
		"membrane-view 2\n",
		"membrane-view\n",
		"owner 1 1\n",
		"\n",
		"membrane-view 1\nroot 1 1\n",
		"membrane-view 1\nowner 1\n",
		"membrane-view 1\nowner 1 4294967295\n",
		"membrane-view 1\nowner -1 1\n",
		"membrane-view 1\nowner 1 1 1\n",
		"membrane-view 1\nowner 1 1\ngo\n",
		HEAD HEAD,
		HEAD "go 1\n",
		HEAD "readonly\nreadonly\n",
		HEAD "readonly yes\n",
		HEAD "hide a\nhold b\n",
		HEAD "repository 1\n",
		HEAD "repository 1 2\nrepository 1 2\n",
		HEAD "linked /.git/*\n",
		HEAD "module /a\n",
		HEAD "attributes 1\n",
		HEAD "hold a\nattributes\n",
		HEAD "repository 1 2\nmodule\n",
		HEAD "repository 1 2\nmodule %0\n",
		HEAD "repository 1 2\nlinked /.git/a\nmodule /a\n",
		HEAD "repository 1 2\nlinked *.pem\n",
		HEAD "repository 1 2\nlinked /a/[\n",
		HEAD "repository 1 2\nlinked\n",
		HEAD "hold a\nrepository 1 2\n",
		HEAD "tracked file a 7 1 2 3 4 5 6 7\ninode 1 2 3 4\n",
		HEAD "tracked file ../a 7 1 2 3 4 5 6 7\n",
		HEAD "tracked file /a 7 1 2 3 4 5 6 7\n",
		HEAD "tracked\n",
		HEAD "tracked file a 7 1 2 3 4 5 6 7 b c\n",
		HEAD "tracked folder a 7 1 2 3 4 5 6 7\n",
		HEAD "tracked odd a 7 1 2 3 4 5 6 7\n",
		HEAD "tracked file a 7 1 2 3 4 5 6\n",
		HEAD "tracked file a 4294967296 1 2 3 4 5 6 7\n",
		HEAD "tracked file a 7 1 2 3 4 5 6 7 %0\n",
		HEAD "hold a\nreadonly\n",
		HEAD "hold\n",
		HEAD "hold /a\n",
		HEAD "hold a/\n",
		HEAD "hold a//b\n",
		HEAD "hold ../a\n",
		HEAD "hold a/.\n",
		HEAD "hold a%2F..\n",
		HEAD "hold a b\n",
		HEAD "hold a\tb\n",
		HEAD "hold a%\n",
		HEAD "hold a%2\n",
		HEAD "hold a%2g\n",
		HEAD "hold a%00\n",
		HEAD "at a\n",
		HEAD "at /\n",
		HEAD "inode 1 2 3\n",
		HEAD "inode 1 2 3 1000000000\n",
		HEAD "inode 1 2 3 4 5\n",
		HEAD "holds a\n",
		HEAD "part a\n",
		HEAD "repository 1 2\npart\n",
		HEAD "repository 1 2\npart /a\n",
		HEAD "repository 1 2\nmodule /a\npart a\n",
		HEAD "outside file x" NUMBERS "\n",
		HEAD "text x y\n",
		PART "part a\n",
		PART "outside file\n",
		PART "outside fifo x" NUMBERS "\n",
		PART "outside file x 1 2 3 4 5 6 7\n",
		PART "outside file x 1 2 3 4 5 6 7 4294967296 \n",
		PART "outside file x 1 2 3 4 5 6 7 8 a b\n",
		PART "outside file .git" NUMBERS "\n",
		PART "outside file .git/config" NUMBERS "\n",
		PART "outside file a" NUMBERS "\n",
		PART "outside file a/b%20c" NUMBERS "\n",
		PART "outside file a/b%20c/d" NUMBERS "\n",
		PART "outside file a/../d" NUMBERS "\n",
		PART "outside file /d" NUMBERS "\n",
		PART "text .git/config x\n",
		PART "text a/b%20c/x y\n",
		PART "text a/x %00\n",
		PART "text a/x\noutside file x" NUMBERS "\n",
	};
	struct hello h;
	size_t used;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_MSG(read_text(bad[i], &h, &used) == -EPROTO, "%s",
			  bad[i]);
}

static void bounds_hold(void)
{
	struct buf b;
	struct hello h;
	struct err err;
	size_t used;

	buf_init(&b, a);
	buf_adds(&b, HEAD);
	for (unsigned i = 0; i <= VIEW_HELLO_PATHS_MAX; i++)
		buf_addf(&b, "hold %u\n", i);
	CHECK(hello_read(a, buf_str(&b), &h, &used, &err) == -E2BIG);
	buf_init(&b, a);
	buf_adds(&b, HEAD);
	for (unsigned i = 0; i <= VIEW_HELLO_INODES_MAX; i++)
		buf_addf(&b, "inode 1 %u 0 0\n", i);
	CHECK(hello_read(a, buf_str(&b), &h, &used, &err) == -E2BIG);
	buf_init(&b, a);
	buf_adds(&b, HEAD);
	for (unsigned i = 0; i <= VIEW_HELLO_TRACKED_MAX; i++)
		buf_addf(&b, "tracked file %u 7 1 2 3 4 5 6 7\n", i);
	CHECK(hello_read(a, buf_str(&b), &h, &used, &err) == -E2BIG);
	buf_init(&b, a);
	buf_adds(&b, HEAD "hold ");
	while (b.n <= VIEW_HELLO_BYTES_MAX)
		buf_adds(&b, "0123456789abcdef0123456789abcdef");
	CHECK(hello_read(a, buf_str(&b), &h, &used, &err) == -E2BIG);
}

static void program_is_a_name(void)
{
	struct hello h;
	size_t used;

	CHECK(read_text(HEAD "at /home/u\nprogram a%20b\ngo\n", &h, &used) ==
	      0);
	CHECK(str_is(h.program, "a b"));
	CHECK(read_text(HEAD "program a\nprogram b\ngo\n", &h, &used) < 0);
	CHECK(read_text(HEAD "program bin/a\ngo\n", &h, &used) < 0);
	CHECK(read_text(HEAD "program \ngo\n", &h, &used) < 0);
	CHECK(read_text(HEAD "program ..\ngo\n", &h, &used) < 0);
	CHECK(read_text(HEAD "readonly\nprogram a\ngo\n", &h, &used) < 0);
}

int main(void)
{
	a = arena_new();
	all_is_read();
	a_repository_is_read();
	program_is_a_name();
	what_is_beside_is_read();
	parts_wait();
	others_are_refused();
	bounds_hold();
	arena_free(a);
	return check_status();
}
