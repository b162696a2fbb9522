/* What is heard of folders that are watched, and what is not. */
#include "compiler/base/sys/moves.h"

#include "compiler/base/sys/fileio.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/membrane-moves-XXXXXX";
static struct err err;
static int here; /* top */

static int watch(const char *const *folders)
{
	int fd = -1;

	CHECK(moves_open(&fd, &err) == 0);
	for (; *folders; folders++) {
		int dir = openat(here, *folders, O_RDONLY | O_DIRECTORY);

		CHECK(dir >= 0 && moves_watch(fd, dir) == 0);
		close(dir);
	}
	CHECK(!moves_any(fd));
	return fd;
}

/* From a folder that nobody watches into one that is: and once. */
static void test_moves(void)
{
	int fd = watch((const char *const[]){"a", NULL});

	CHECK(renameat(here, "b/x", here, "a/x") == 0);
	CHECK(moves_any(fd) && !moves_any(fd));
	CHECK(renameat(here, "a/x", here, "a/y") == 0);
	CHECK(moves_any(fd));
	/* what leaves is met where it comes to, or nobody looked there yet */
	CHECK(renameat(here, "a/y", here, "b/x") == 0);
	CHECK(!moves_any(fd));
	CHECK(renameat2(here, "a", here, "b", 2 /* RENAME_EXCHANGE */) == 0);
	CHECK(!moves_any(fd)); /* top is not watched */
	CHECK(renameat2(here, "a", here, "b", 2) == 0);
	close(fd);
}

/* A name that is made is no move, nor one that goes. */
static void test_others(void)
{
	int fd = watch((const char *const[]){".", "a", "c", NULL});

	CHECK(mkdirat(here, "a/new", 0700) == 0);
	CHECK(unlinkat(here, "a/new", AT_REMOVEDIR) == 0);
	CHECK(symlinkat("x", here, "a/link") == 0);
	CHECK(unlinkat(here, "a/link", 0) == 0);
	CHECK(unlinkat(here, "c", AT_REMOVEDIR) == 0);
	CHECK(!moves_any(fd));
	CHECK(renameat2(here, "a", here, "b", 2) == 0);
	CHECK(moves_any(fd));
	close(fd);
}

static void test_refused(void)
{
	int fd = watch((const char *const[]){"a", NULL});
	int file = openat(here, "file", O_RDONLY | O_CREAT, 0600);

	CHECK(moves_watch(fd, file) == -ENOTDIR);
	CHECK(moves_watch(-1, file) < 0);
	close(fd);
	/* whoever cannot tell does not say no */
	CHECK(moves_any(fd));
	CHECK(moves_any(file));
	close(file);
}

int main(void)
{
	CHECK(mkdtemp(top));
	here = open(top, O_RDONLY | O_DIRECTORY);
	CHECK(mkdirat(here, "a", 0700) == 0 && mkdirat(here, "b", 0700) == 0 &&
	      mkdirat(here, "c", 0700) == 0 && mkdirat(here, "b/x", 0700) == 0);
	test_moves();
	test_others();
	test_refused();
	CHECK(fileio_remove_tree(AT_FDCWD, top, &err) == 0);
	return check_status();
}
