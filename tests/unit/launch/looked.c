/* What of a workspace is hidden or read-only beside the names of patterns. */
#include "runtime/launch/mounts/looked.h"

#include "compiler/base/sys/fileio.h"
#include "tests/check.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena *a;
static struct err err;
static struct str top;
static int root;

static const char plan[] = "membrane-mounts 1\n"
			   "workspace /workspace\n"
			   "ignore secret\n"
			   "readonly /lib\n"
			   "hold lib\n"
			   "hold tool/run\n";

static struct looked look(struct str state, bool readonly)
{
	struct looked_at at = {.state = state,
			       .root_path = top,
			       .root = root,
			       .mounts = str_of(plan),
			       .readonly = readonly};
	struct looked l;

	CHECK_MSG(looked_make(a, &at, &l, &err) == 0, "%s", err.text);
	return l;
}

static bool hides(const struct looked *l, const char *path, const char *by)
{
	struct looked_word w;

	return looked_hides(a, l, str_of(path), &w) && w.kind == LOOKED_MASK &&
	       str_is(w.path, by);
}

static bool keeps(const struct looked *l, const char *path,
		  enum looked_kind kind)
{
	struct looked_word w;

	return looked_keeps(a, l, str_of(path), &w) && w.kind == kind;
}

static void check_links(void)
{
	struct looked l = look(STR(""), false);
	struct looked_word w;

	CHECK(hides(&l, "real/file", "real"));
	CHECK(hides(&l, "real/", "real") && hides(&l, "other", "real"));
	CHECK(hides(&l, "other/none/at/all", "real"));
	CHECK(!looked_hides(a, &l, STR("realm"), &w));
	/* for the host's path, and the container's */
	CHECK(hides(&l, "host/file", "real") && hides(&l, "inside/x", "real"));
	/* leading out, nowhere or to itself is none of ours */
	CHECK(!looked_hides(a, &l, STR("out/passwd"), &w));
	CHECK(!looked_hides(a, &l, STR("loop/x"), &w));
	CHECK(!looked_keeps(a, &l, STR("loop/x"), &w));
	CHECK(!looked_holds(a, &l, STR("top"), &w));
	CHECK(keeps(&l, "lib/x", LOOKED_HOLD));
	CHECK(keeps(&l, "bin/run", LOOKED_HOLD));
	CHECK(!looked_keeps(a, &l, STR("bin/walk"), &w));
}

/* A workspace that the user cannot write to; the state folder in it. */
static void check_whole(void)
{
	struct str state = arena_fmt(a, "%.*s/state", STR_ARG(top));
	struct looked l = look(state, true);
	struct looked_word w;

	CHECK(looked_holds(a, &l, STR("any/thing"), &w));
	CHECK(w.kind == LOOKED_WHOLE);
	CHECK(!looked_holds(a, &l, STR("out/passwd"), &w));
	CHECK(hides(&l, "state/sessions/1", "state"));
	CHECK(!looked_hides(a, &l, STR("any/thing"), &w));
	l = look(arena_fmt(a, "%.*s-state", STR_ARG(top)), false);
	CHECK(!looked_hides(a, &l, STR("state/sessions/1"), &w));
	CHECK(!looked_holds(a, &l, STR("any/thing"), &w));
}

/* git's paths stand behind the policy's holds, and are told apart. */
static void check_git(void)
{
	struct looked_word w;
	struct looked l;

	CHECK(system("git init -q . && git config core.hooksPath hk") == 0);
	l = look(STR(""), false);
	CHECK(looked_holds(a, &l, STR("hk/update"), &w));
	CHECK(w.kind == LOOKED_GIT && !w.git->is_own);
	CHECK(str_is(w.git->at.key, "core.hookspath"));
	CHECK(looked_holds(a, &l, STR(".git/config"), &w));
	CHECK(w.kind == LOOKED_GIT && w.git->is_own);
	CHECK(!looked_holds(a, &l, STR("lib/x"), &w));
	CHECK(!looked_holds(a, &l, STR("hkx"), &w));
}

int main(void)
{
	char made[] = "/tmp/membrane-looked-XXXXXX", real[PATH_MAX];

	a = arena_new();
	if (!mkdtemp(made) || !realpath(made, real) || chdir(real) < 0)
		return 1;
	top = str_of(real);
	root = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	setenv("HOME", real, 1);
	setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
	CHECK(system("mkdir real lib bin state && ln -s real secret && "
		     "ln -s real other && ln -s \"$PWD/real\" host && "
		     "ln -s /workspace/real inside && ln -s /etc out && "
		     "ln -s loop loop && ln -s . top && ln -s bin tool") == 0);
	check_links();
	check_whole();
	check_git();
	close(root);
	CHECK(chdir("/") == 0);
	CHECK(fileio_remove_tree(AT_FDCWD, real, &err) == 0);
	arena_free(a);
	return check_status();
}
