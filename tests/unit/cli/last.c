/* The plans that ran last are bounded in number, the newest stay. */
#include "compiler/cli/workspace/last.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sha256.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct err err;

static void age(const char *dir, const char *name, time_t at)
{
	struct timespec t[2] = {{at, 0}, {at, 0}};
	struct arena *a = arena_new();

	CHECK(utimensat(AT_FDCWD, arena_fmt(a, "%s/last/%s", dir, name).p, t,
			0) == 0);
	arena_free(a);
}

/* A name is the hash of the workspace's path. */
static const char *place_of(struct arena *a, const char *dir, const char *path)
{
	char hex[SHA256_HEX_MAX];

	return arena_fmt(a, "%s/last/%.16s", dir, sha256_hex(str_of(path), hex))
		.p;
}

/* What is no plan of ours stays, and there is none to compare with. */
static void check_failures(struct arena *a, const char *dir, struct plan *p)
{
	const char *place = place_of(a, dir, "/other");

	CHECK(access(place_of(a, dir, "/second"), F_OK) == 0);
	CHECK(mkdir(place, 0700) == 0);
	CHECK(fileio_write(AT_FDCWD, arena_fmt(a, "%s/mine", place).p, STR("x"),
			   0600, &err) == 0);
	CHECK(last_write(a, dir, "/other", p, &err) == -EEXIST);
	CHECK(!last_read(a, dir, "/other"));
	dir = arena_fmt(a, "%s/file", dir).p;
	CHECK(fileio_write(AT_FDCWD, dir, STR("x"), 0600, &err) == 0);
	CHECK(last_write(a, dir, "/first", p, &err) == -ENOTDIR);
	CHECK(!last_read(a, dir, "/first"));
}

/* The same plan again: its files stay; what was altered is written anew. */
static void test_again(struct arena *a, const char *dir, const struct plan *p)
{
	const char *manifest =
		arena_fmt(a, "%s/manifest.json", place_of(a, dir, "/first")).p;
	struct stat before, after;

	CHECK(stat(manifest, &before) == 0);
	CHECK(last_write(a, dir, "/first", p, &err) == 0);
	CHECK(stat(manifest, &after) == 0 && after.st_ino == before.st_ino);
	CHECK(truncate(arena_fmt(a, "%s/a.txt", place_of(a, dir, "/first")).p,
		       3) == 0);
	CHECK(!last_read(a, dir, "/first"));
	CHECK(last_write(a, dir, "/first", p, &err) == 0);
	CHECK(last_read(a, dir, "/first") != NULL);
}

int main(void)
{
	char dir[] = "/tmp/membrane-last-XXXXXX";
	struct arena *a = arena_new();
	struct plan p = {0};

	CHECK(mkdtemp(dir) != NULL);
	plan_add(a, &p, STR("a.txt"), STR("text\n"));
	CHECK(last_write(a, dir, "/first", &p, &err) == 0);
	CHECK(last_read(a, dir, "/first") != NULL);
	test_again(a, dir, &p);
	for (unsigned i = 0; i < LAST_KEEP; i++) {
		const char *name = arena_fmt(a, "%04u", i).p;

		CHECK(mkdir(arena_fmt(a, "%s/last/%s", dir, name).p, 0700) ==
		      0);
		age(dir, name, 1000 + (i + 1) / 2);
	}
	CHECK(last_write(a, dir, "/second", &p, &err) == 0);
	CHECK(last_read(a, dir, "/first") && last_read(a, dir, "/second"));
	/* two of one age: by name */
	CHECK(access(arena_fmt(a, "%s/last/0000", dir).p, F_OK) < 0);
	CHECK(access(arena_fmt(a, "%s/last/0001", dir).p, F_OK) == 0);
	CHECK(access(arena_fmt(a, "%s/last/0002", dir).p, F_OK) < 0);
	check_failures(a, dir, &p);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
