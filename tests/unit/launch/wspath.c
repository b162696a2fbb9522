/*
 * Paths of a workspace; where links lead is compared with realpath(3), over
 * generated trees.
 */
#include "runtime/launch/workspace/wspath.h"

#include "compiler/base/sys/fileio.h"
#include "tests/check.h"
#include "tests/rng.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_order(void)
{
	CHECK(wspath_below(STR("a/b"), STR("a")));
	CHECK(!wspath_below(STR("a"), STR("a")));
	CHECK(!wspath_below(STR("ab"), STR("a")));
	CHECK(wspath_below(STR("a"), STR("")));
	CHECK(!wspath_below(STR(""), STR("")));
	CHECK(wspath_cmp(STR("a"), STR("a/b")) < 0);
	CHECK(wspath_cmp(STR("a/b"), STR("a-b")) < 0);
	CHECK(wspath_cmp(STR("a\x01"), STR("a/b")) > 0);
	CHECK(wspath_cmp(STR("a"), STR("a")) == 0);
	CHECK(wspath_cmp(STR("\xff"), STR("a")) > 0);
}

static void test_utf8(struct arena *a)
{
	CHECK(wspath_is_utf8(STR("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80")));
	CHECK(!wspath_is_utf8(STR("\xff")));
	CHECK(!wspath_is_utf8(STR("\xc3")));
	CHECK(!wspath_is_utf8(STR("\xc0\xaf")));	 /* overlong */
	CHECK(!wspath_is_utf8(STR("\xed\xa0\x80")));	 /* surrogate */
	CHECK(!wspath_is_utf8(STR("\xf4\x90\x80\x80"))); /* above U+10FFFF */
	CHECK(!wspath_is_utf8(STR("\xe0\x80\x80")));
	CHECK(!wspath_is_utf8(STR("\x80")));
	CHECK(strcmp(wspath_show(a, STR("a\nb\\c\xff\x1b\xc2\x9b\xc3\xa9")),
		     "a\\x0ab\\x5cc\\xff\\x1b\\xc2\\x9b\xc3\xa9") == 0);
}

static struct rng rng = {1};

/* A path of up to five pieces, which may climb or start at the workspace. */
static struct str random_path(struct arena *a, const char *root)
{
	static const char *const pieces[] = {"a", "b",	"c",  "d", "a",
					     "b", "..", "..", ".", ""};
	struct str p = STR("");

	if (rng_below(&rng, 8) == 0)
		p = str_of(root);
	for (uint32_t n = 1 + rng_below(&rng, 5); n; n--) {
		const char *piece = pieces[rng_below(&rng, ARRAY_LEN(pieces))];

		p = p.n ? arena_fmt(a, "%.*s/%s", STR_ARG(p), piece)
			: arena_str(a, str_of(piece));
	}
	return p.n ? p : STR("a");
}

/* Names a to d at up to three levels: directories, files and links. */
static void random_tree(struct arena *a, const char *root, struct str dir,
			unsigned depth)
{
	for (char c = 'a'; c <= 'd'; c++) {
		struct str path = wspath_join(a, dir, (struct str){&c, 1});
		const char *p = arena_cstr(a, path);
		int fd;

		switch (rng_below(&rng, depth < 3 ? 5 : 3)) {
		case 0:
			break;
		case 1:
			fd = open(p, O_CREAT | O_WRONLY, 0600);
			CHECK(fd >= 0);
			close(fd);
			break;
		case 2:
			CHECK(symlink(random_path(a, root).p, p) == 0);
			break;
		case 3:
		case 4:
			CHECK(mkdir(p, 0700) == 0);
			random_tree(a, root, path, depth + 1);
			break;
		}
	}
}

static unsigned found, missing;

/* Only what climbs out of the workspace and back may differ: outside, ours
 * counts segments and does not look whether they are there. */
static void compare(struct arena *a, int root, const char *root_path,
		    struct str path)
{
	char real[PATH_MAX];
	const char *hit = realpath(path.p, real);
	int error = errno;
	struct wspath_place at =
		wspath_resolve(a, root, str_of(root_path), STR(""), path);
	struct str want = hit ? str_of(hit) : STR("");

	if (at.end == WSPATH_FOUND && hit) {
		found++;
		CHECK_MSG(wspath_below(want, str_of(root_path)) &&
				  str_eq(at.path,
					 str_slice(want, strlen(root_path) + 1,
						   want.n)),
			  "%.*s: %s, ours %.*s", STR_ARG(path), hit,
			  STR_ARG(at.path));
	} else if (hit && (wspath_below(want, str_of(root_path)))) {
		CHECK_MSG(at.end == WSPATH_FOUND, "%.*s: %s, ours %d",
			  STR_ARG(path), hit, (int)at.end);
	} else if (hit && str_eq(want, str_of(root_path))) {
		CHECK(at.end == WSPATH_ROOT);
	} else if (hit) {
		CHECK(at.end == WSPATH_OUT);
	} else if (at.end == WSPATH_MISSING) {
		missing++;
		CHECK_MSG(error == ENOENT, "%.*s: %s", STR_ARG(path),
			  strerror(error));
	} else if (at.end == WSPATH_FILE) {
		CHECK_MSG(error == ENOTDIR, "%.*s: %s", STR_ARG(path),
			  strerror(error));
	}
}

int main(void)
{
	char top[] = "/tmp/membrane-wspath.XXXXXX", real[PATH_MAX];
	struct arena *a = arena_new();
	struct err err;

	test_order();
	test_utf8(a);
	if (!mkdtemp(top) || !realpath(top, real))
		return 1;
	for (unsigned t = 0; t < 60; t++) {
		const char *root_path = arena_fmt(a, "%s/%u", real, t).p;
		int root;

		CHECK(mkdir(root_path, 0700) == 0 && chdir(root_path) == 0);
		random_tree(a, root_path, STR(""), 1);
		root = open(".", O_RDONLY | O_DIRECTORY);
		for (unsigned i = 0; i < 400; i++)
			compare(a, root, root_path, random_path(a, root_path));
		close(root);
	}
	CHECK(found > 1000 && missing > 1000);
	CHECK(chdir("/") == 0);
	CHECK(fileio_remove_tree(AT_FDCWD, top, &err) == 0);
	arena_free(a);
	return check_status();
}
