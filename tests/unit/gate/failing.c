/* The gate's files of a plan where memory runs out, and where one cannot be
 * read: each is refused, whatever it is that fails. */
#include "runtime/gate/plan/names.h"
#include "runtime/gate/plan/planfile.h"
#include "runtime/gate/plan/profiles.h"
#include "runtime/gate/record/provenance.h"

#include "tests/check.h"
#include "tests/unit/failing.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The Makefile wraps these for this test alone. */
WRAPPED(void *, NULL, malloc, (size_t n), (n))
WRAPPED(void *, NULL, calloc, (size_t k, size_t n), (k, n))
WRAPPED(int, -1, fstat, (int fd, struct stat *out), (fd, out))

static struct {
	size_t most;  /* that a read has at once; 0: all there is */
	size_t asked; /* by the last one */
} reads;

ssize_t __real_read(int fd, void *p, size_t n);
ssize_t __wrap_read(int fd, void *p, size_t n);
ssize_t __wrap_read(int fd, void *p, size_t n)
{
	if (fails_now("read"))
		return -1;
	reads.asked = n;
	return __real_read(fd, p,
			   reads.most && n > reads.most ? reads.most : n);
}

/* What it is where the compiler knows how much room there is. */
ssize_t __wrap___read_chk(int fd, void *p, size_t n, size_t room);
ssize_t __wrap___read_chk(int fd, void *p, size_t n, size_t room)
{
	CHECK(n <= room);
	return __wrap_read(fd, p, n);
}

static struct err err;

static int read_names(void)
{
	struct names_map map;
	int rc = names_parse(STR("membrane-names 2\nupstream host\n"
				 "floor 127.0.0.0/8\nprivate 10.0.0.0/8\n"
				 "cover 10.1.0.0/16\nports 1 tcp/443\n"
				 "ports d1 tcp/22\nports a1 tcp/80\n"
				 "name a.test 1 - g-0123456789\n"
				 "name *.test 1 - g-0123456789\n"
				 "ask ** a1 60 - - a-0123456789\n"
				 "deny b.test d-0123456789\n"
				 "guard c.test d1 d-0123456789\n"),
			     &map, &err);

	if (rc == 0)
		names_free(&map);
	return rc;
}

static int read_passing(void)
{
	struct names_map map;
	int rc = names_parse(STR("membrane-names 2\nupstream proxy host\n"
				 "past 10.0.0.0/8\npast a.test\n"),
			     &map, &err);

	if (rc == 0)
		names_free(&map);
	return rc;
}

static int read_profiles(void)
{
	struct profiles p;
	int rc = profiles_parse(
		STR("membrane-profiles 1\n1 a.test g-0123456789\n"), &p, &err);

	if (rc == 0)
		profiles_free(&p);
	return rc;
}

static int read_provenance(void)
{
	struct provenance p;
	int rc = provenance_parse(STR("{\"version\":1,\"rules\":{\"g-1\":"
				      "{\"source\":\"s\",\"line\":1}}}"),
				  &p, &err);

	if (rc == 0)
		provenance_free(&p);
	return rc;
}

static int read_file(void)
{
	struct str text;
	int rc = planfile_read("/proc/self", "cmdline", &text, &err);

	if (rc == 0)
		planfile_free(text);
	return rc;
}

static void memory(void)
{
	static const struct {
		int (*read)(void);
		const char *call;
		unsigned n; /* so many of these calls it makes */
	} cases[] = {
		{read_names, "malloc", 1},    {read_names, "calloc", 11},
		{read_passing, "calloc", 11}, {read_profiles, "malloc", 1},
		{read_profiles, "calloc", 1}, {read_provenance, "calloc", 1},
		{read_file, "malloc", 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		for (unsigned n = 0; n < cases[i].n; n++) {
			size_t before = mallinfo2().uordblks;

			/* nothing is left, but for malloc(3)'s own store */
			for (unsigned k = 0; k < 100; k++) {
				fail_call(cases[i].call, n, ENOMEM);
				CHECK_MSG(cases[i].read() == -ENOMEM &&
						  has_failed() &&
						  strstr(err.text,
							 "out of memory"),
					  "%zu: %u", i, n);
			}
			CHECK_MSG(mallinfo2().uordblks < before + 16384,
				  "%zu: %u: %zu more", i, n,
				  mallinfo2().uordblks - before);
		}
		CHECK(cases[i].read() == 0);
	}
}

/* A file that comes in parts, between signals, or not at all. */
static void parts_of_a_file(void)
{
	char dir[] = "/tmp/membrane-failing-XXXXXX", path[64];
	struct str text;
	int fd;

	CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a", dir);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	CHECK(fd >= 0 && write(fd, "abcdefg", 7) == 7 && close(fd) == 0);
	reads.most = 3;
	CHECK(planfile_read(dir, "a", &text, &err) == 0 &&
	      str_is(text, "abcdefg") && reads.asked == 1);
	planfile_free(text);
	fail_call("read", 1, EINTR);
	CHECK(planfile_read(dir, "a", &text, &err) == 0 && has_failed() &&
	      str_is(text, "abcdefg"));
	planfile_free(text);
	for (unsigned n = 0; n < 3; n++) {
		fail_call("read", n, EIO);
		CHECK(planfile_read(dir, "a", &text, &err) == -EIO &&
		      has_failed());
	}
	CHECK(unlink(path) == 0 && rmdir(dir) == 0);
}

static void status_of_a_file(void)
{
	fail_call("fstat", 0, EIO);
	CHECK(read_file() == -EIO && has_failed());
}

int main(void)
{
	memory();
	parts_of_a_file();
	status_of_a_file();
	return check_status();
}
