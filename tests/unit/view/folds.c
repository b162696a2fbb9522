/* A disk that tells cases apart is known, whatever lies on it. */
#include "runtime/view/view.h"

#include "tests/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int dir;

static void make_file(const char *name)
{
	int fd = openat(dir, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && close(fd) == 0);
}

int main(void)
{
	char top[] = "/tmp/membrane-folds-XXXXXX";

	if (!mkdtemp(top))
		return 1;
	dir = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CHECK(dir >= 0 &&
	      !folds_case(dir)); /* empty, of a kind that does not */
	make_file("12");
	CHECK(!folds_case(dir));
	/* Two names of one file are no other spelling of one. */
	make_file("a");
	CHECK(linkat(dir, "a", dir, "A", 0) == 0 && !folds_case(dir));
	make_file("b");
	CHECK(!folds_case(dir) && mkdirat(dir, "d", 0700) == 0);
	CHECK(mkdirat(dir, "D", 0700) == 0 && !folds_case(dir));
	CHECK(!unlinkat(dir, "12", 0) && !unlinkat(dir, "a", 0) &&
	      !unlinkat(dir, "A", 0) && !unlinkat(dir, "b", 0) &&
	      !unlinkat(dir, "d", AT_REMOVEDIR) &&
	      !unlinkat(dir, "D", AT_REMOVEDIR) && !rmdir(top));
	close(dir);
	return check_status();
}
