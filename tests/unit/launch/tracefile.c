/* The files of a trace: when the next begins, and which old ones go. */
#include "runtime/launch/tracer/tracefile.h"

#include "compiler/base/arena.h"
#include "compiler/base/sys/fileio.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *dir;
static struct arena *a;
static struct err err;

static bool is_there(const char *name)
{
	return access(arena_fmt(a, "%s/%s.jsonl.gz", dir, name).p, F_OK) == 0;
}

/* As old as that, in seconds. */
static void age(const char *name, int s)
{
	struct timespec at[2] = {{.tv_sec = 1000000 - s},
				 {.tv_sec = 1000000 - s}};

	CHECK(utimensat(AT_FDCWD, arena_fmt(a, "%s/%s.jsonl.gz", dir, name).p,
			at, 0) == 0);
}

static bool add(struct tracefile *f, const char *text)
{
	return tracefile_add(f, str_of(text), &err) == 0;
}

static void rotation(void)
{
	const struct tracefile_limits limits = {8, 1000, 2, 1000};
	struct tracefile f;

	tracefile_init(&f, dir, "aaaaaaaaaaaa", &limits);
	CHECK(!is_there("aaaaaaaaaaaa"));
	CHECK(add(&f, "12345") && is_there("aaaaaaaaaaaa"));
	age("aaaaaaaaaaaa", 2);
	CHECK(add(&f, "12345") && is_there("aaaaaaaaaaaa.1"));
	age("aaaaaaaaaaaa.1", 1);
	CHECK(add(&f, "123") && !is_there("aaaaaaaaaaaa.2"));
	CHECK(add(&f, "1") && is_there("aaaaaaaaaaaa.2"));
	CHECK(!is_there("aaaaaaaaaaaa") && is_there("aaaaaaaaaaaa.1"));
	tracefile_done(&f);
}

/* Another session's is as old as it is silent, and in use all the same. */
static void others(void)
{
	const struct tracefile_limits limits = {8, 1000, 1, 4};
	struct tracefile f, silent;

	tracefile_init(&silent, dir, "bbbbbbbbbbbb", &limits);
	CHECK(add(&silent, "12"));
	age("bbbbbbbbbbbb", 100);
	tracefile_init(&f, dir, "cccccccccccc", &limits);
	CHECK(add(&f, "123456") && add(&f, "123456"));
	CHECK(is_there("bbbbbbbbbbbb") && is_there("cccccccccccc.1"));
	CHECK(!is_there("cccccccccccc") && !is_there("aaaaaaaaaaaa.2"));
	CHECK(add(&silent, "34") && is_there("bbbbbbbbbbbb"));
	tracefile_done(&silent);
	age("bbbbbbbbbbbb", 100);
	CHECK(add(&f, "123456") && !is_there("bbbbbbbbbbbb"));
	tracefile_done(&f);
}

static void removed(void)
{
	const struct tracefile_limits limits = {100, 1000, 9, 1000};
	struct tracefile f;

	tracefile_init(&f, dir, "dddddddddddd", &limits);
	CHECK(add(&f, "12"));
	CHECK(unlink(arena_fmt(a, "%s/dddddddddddd.jsonl.gz", dir).p) == 0);
	CHECK(tracefile_add(&f, STR("34"), &err) == -ENOENT);
	CHECK(strstr(err.text, "removed"));
	tracefile_done(&f);
}

/* As where a disk is full, in the middle of a member. */
static void no_room(void)
{
	const struct tracefile_limits limits = {100, 1000, 9, 1000};
	const struct rlimit four = {4, RLIM_INFINITY},
			    all = {RLIM_INFINITY, RLIM_INFINITY};
	struct tracefile f;
	struct stat st;

	signal(SIGXFSZ, SIG_IGN);
	CHECK(setrlimit(RLIMIT_FSIZE, &four) == 0);
	tracefile_init(&f, dir, "eeeeeeeeeeee", &limits);
	CHECK(tracefile_add(&f, STR("123456"), &err) == -EFBIG);
	CHECK(!is_there("eeeeeeeeeeee"));
	CHECK(add(&f, "123") && is_there("eeeeeeeeeeee"));
	CHECK(tracefile_add(&f, STR("456"), &err) == -EFBIG);
	CHECK(fstat(f.fd, &st) == 0 && st.st_size == 3);
	tracefile_done(&f);
	CHECK(setrlimit(RLIMIT_FSIZE, &all) == 0);
}

int main(void)
{
	char top[] = "/tmp/membrane-tracefile.XXXXXX";

	a = arena_new();
	CHECK(mkdtemp(top));
	dir = arena_fmt(a, "%s/trace", top).p;
	rotation();
	others();
	removed();
	no_room();
	CHECK(fileio_remove_tree(AT_FDCWD, top, &err) == 0);
	arena_free(a);
	return check_status();
}
