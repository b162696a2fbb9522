/* What the gate decided, in files that have a size. */
#include "runtime/launch/session/decisions.h"

#include "compiler/base/sys/fileio.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE 65536u

static char dir[] = "/tmp/membrane-decisions-XXXXXX";
static struct err err;

static uint64_t size_of(struct arena *a, unsigned part)
{
	struct stat st;

	return stat(decisions_path(a, dir, part), &st) == 0
		       ? (uint64_t)st.st_size
		       : 0;
}

static struct decisions begin(void)
{
	struct decisions d;

	decisions_init(&d);
	CHECK(decisions_open(&d, dir, &err) == 0);
	return d;
}

static void end(struct arena *a, struct decisions *d)
{
	decisions_done(d);
	for (unsigned i = 0; i < 4; i++)
		unlink(decisions_path(a, dir, i));
}

/* Refusals come to an end; what is new, and what was permitted, does not. */
static void refusals_are_bounded(struct arena *a, struct str line)
{
	struct decisions d = begin();
	uint64_t fit = DECISIONS_REFUSED_MAX / LINE;

	for (uint64_t i = 0; i < fit + 10; i++)
		CHECK(decisions_add(&d, line, DECISIONS_REFUSED, &err) == 0);
	CHECK(d.unwritten == 10 && size_of(a, 0) == fit * LINE);
	CHECK(decisions_add(&d, line, DECISIONS_REFUSED_NEW, &err) == 0);
	CHECK(decisions_add(&d, STR("granted\n"), DECISIONS_PERMITTED, &err) ==
	      0);
	CHECK(d.unwritten == 10 && size_of(a, 1) == LINE + 8);
	end(a, &d);
}

static void grants_go_on(struct arena *a, struct str line)
{
	struct decisions d = begin();
	uint64_t fit = DECISIONS_PART / LINE;

	for (uint64_t i = 0; i < 2 * fit + 1; i++)
		CHECK(decisions_add(&d, line, DECISIONS_PERMITTED, &err) == 0);
	CHECK(size_of(a, 0) == DECISIONS_PART);
	CHECK(size_of(a, 1) == DECISIONS_PART);
	CHECK(size_of(a, 2) == LINE && d.unwritten == 0);
	end(a, &d);
}

/* A folder in the place of the next part: an error, and no line is lost to a
 * file that nobody reads. */
static void no_next_part(struct arena *a, struct str line)
{
	struct decisions d = begin();
	int rc = 0;

	CHECK(mkdir(decisions_path(a, dir, 1), 0700) == 0);
	for (uint64_t i = 0; rc == 0 && i <= DECISIONS_PART / LINE; i++)
		rc = decisions_add(&d, line, DECISIONS_PERMITTED, &err);
	CHECK(rc == -EISDIR);
	CHECK(rmdir(decisions_path(a, dir, 1)) == 0);
	end(a, &d);
}

static void copy_has_all(struct arena *a)
{
	const char *path = arena_fmt(a, "%s/copy", dir).p;
	struct decisions d = begin();
	struct str text;

	d.copy = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(decisions_add(&d, STR("one\n"), DECISIONS_REFUSED, &err) == 0);
	CHECK(decisions_add(&d, STR("two\n"), DECISIONS_PERMITTED, &err) == 0);
	end(a, &d);
	CHECK(fileio_read(a, AT_FDCWD, path, 100, &text, &err) == 0);
	CHECK(str_is(text, "one\ntwo\n"));
	unlink(path);
}

int main(void)
{
	struct arena *a = arena_new();
	char *text = arena_alloc(a, LINE);

	memset(text, 'x', LINE);
	text[LINE - 1] = '\n';
	CHECK(mkdtemp(dir) != NULL);
	refusals_are_bounded(a, (struct str){text, LINE});
	grants_go_on(a, (struct str){text, LINE});
	no_next_part(a, (struct str){text, LINE});
	copy_has_all(a);
	CHECK(rmdir(dir) == 0);
	arena_free(a);
	return check_status();
}
