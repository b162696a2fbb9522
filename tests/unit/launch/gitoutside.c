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

#define OID "d00491fd7e5bb6fa28c517a0bb32b8b506539d4d"
#define SEEN                                                                   \
	"  ctime: 17:18\n  mtime: 19:20\n  dev: 65024\tino: 21\n"              \
	"  uid: 22\tgid: 23\n  size: 24\tflags: "

static struct arena *a;

static bool reads(const char *head, const char *tail, bool *skip,
		  uint64_t *stage, struct gitoutside_file *f)
{
	struct str text = arena_fmt(a, "%s%c%s", head, 0, tail);

	return gitoutside_entry(&text, STR("s/web"), f, skip, stage) &&
	       text.n == 0;
}

static void entries_are_read(void)
{
	static const char *const bad[][2] = {
		{"", ""},
		{"100644 " OID " 0\tx", ""},
		{"100600 " OID " 0\tx", SEEN "0\n"},
		{"100644 " OID " 4\tx", SEEN "0\n"},
		{"100644 " OID " 0\t", SEEN "0\n"},
		{"100644 " OID " 0\tx", SEEN "g\n"},
		{"100644 " OID " 0\tx", SEEN "\n"},
		{"100644 " OID " 0\tx", SEEN "123456789\n"},
		{"100644 " OID " 0\tx", "  ctime: 4294967296:0\n"},
		{"100644 " OID " 0\tx", "  mtime: 1:0\n"},
	};
	struct gitoutside_file f;
	uint64_t stage;
	bool skip;

	CHECK(reads("100755 " OID " 0\ts/a b\nc", SEEN "0\n", &skip, &stage,
		    &f));
	CHECK(str_is(f.path, "s/a b\nc") && f.kind == VIEW_OUTSIDE_PROGRAM &&
	      !skip && stage == 0);
	CHECK(f.numbers[VIEW_OUTSIDE_CTIME] == 17 &&
	      f.numbers[VIEW_OUTSIDE_CTIME_NS] == 18 &&
	      f.numbers[VIEW_OUTSIDE_MTIME] == 19 &&
	      f.numbers[VIEW_OUTSIDE_MTIME_NS] == 20 &&
	      f.numbers[VIEW_OUTSIDE_INO] == 21 &&
	      f.numbers[VIEW_OUTSIDE_UID] == 22 &&
	      f.numbers[VIEW_OUTSIDE_GID] == 23 &&
	      f.numbers[VIEW_OUTSIDE_SIZE] == 24);
	CHECK(reads("160000 " OID " 2\ts/webs", SEEN "2000\n", &skip, &stage,
		    &f) &&
	      !skip && stage == 2 && f.kind == VIEW_OUTSIDE_FOLDER);
	CHECK(reads("120000 " OID " 0\ts/web/x", SEEN "0\n", &skip, &stage,
		    &f) &&
	      skip);
	CHECK(reads("100644 " OID " 0\tx", SEEN "40004000\n", &skip, &stage,
		    &f) &&
	      skip);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_MSG(!reads(bad[i][0], bad[i][1], &skip, &stage, &f),
			  "%s %s", bad[i][0], bad[i][1]);
}

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
	entries_are_read();
	if (!mkdtemp(top) || chdir(top) < 0)
		return 1;
	a_repository_is_read(top);
	CHECK(chdir("/") == 0);
	CHECK(fileio_remove_tree(AT_FDCWD, top, &err) == 0);
	arena_free(a);
	return check_status();
}
