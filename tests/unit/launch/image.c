/*
 * Images out of archives, with a program of ours in the place of
 * membrane-unpack, which says what it was asked.
 */
#include "runtime/launch/image.h"

#include "compiler/base/sys/fileio.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char top[] = "/tmp/image.XXXXXX";
static struct arena *a;
static struct err err;
static struct image_config is;

static const char *at(const char *name)
{
	return arena_fmt(a, "%s/%s", top, name).p;
}

/* What stands for the program; body has FILE, DIGEST and FOLDER as $1 to $3. */
static void put_program(const char *body)
{
	struct str text = arena_fmt(a, "#!/bin/sh\n%s\n", body);

	CHECK(fileio_write(AT_FDCWD, at(IMAGE_UNPACK), text, 0755, &err) == 0);
	CHECK(chmod(at(IMAGE_UNPACK), 0755) == 0);
}

static int ask(bool quiet)
{
	return image_open(a, at("state"), top, "/srv/x.tar", HEX, quiet, &is,
			  &err);
}

static bool is_there(const char *name)
{
	return access(at(name), F_OK) == 0;
}

static void refused(void)
{
	put_program("mkdir -p $3/root; echo \"$1: no image\" >&2; echo more >&2; "
		    "exit 1");
	CHECK(ask(true) == -EPROTO);
	CHECK(strcmp(err.text, "/srv/x.tar: no image") == 0);
	CHECK(!is_there("state/images/" HEX ".new"));
	CHECK(!is_there("state/images/" HEX));
	put_program("kill -9 $$");
	CHECK(ask(true) == -EPROTO && strstr(err.text, "ended at once"));
	put_program("true"); /* and it made nothing */
	CHECK(ask(true) < 0 && strstr(err.text, HEX));
	CHECK(unlink(at(IMAGE_UNPACK)) == 0);
	CHECK(ask(true) < 0);
}

static void unpacked(void)
{
	CHECK(mkdir(at("state/images/" HEX ".new"), 0700) == 0);
	put_program("[ $1 = /srv/x.tar ] && [ $2 = " HEX " ] && mkdir $3 && "
		    "printf 'A=1\\0PATH=/x\\0' >$3/env && "
		    "printf '/e\\0\\0' >$3/entrypoint && >$3/command");
	CHECK(ask(false) == 0);
	CHECK(is.env.n == 2 && strcmp(is.env.v[0], "A=1") == 0 &&
	      strcmp(is.env.v[1], "PATH=/x") == 0);
	/* a word may be empty */
	CHECK(is.runs.entrypoint.n == 2 &&
	      strcmp(is.runs.entrypoint.v[0], "/e") == 0 &&
	      is.runs.entrypoint.v[1][0] == '\0');
	CHECK(is.runs.command.n == 0);
	/* and never again */
	CHECK(unlink(at(IMAGE_UNPACK)) == 0);
	CHECK(ask(true) == 0 && is.env.n == 2);
	CHECK(truncate(at("state/images/" HEX "/env"), 0) == 0);
	CHECK(ask(true) == 0 && is.env.n == 0);
	/* a part of a config is none */
	CHECK(unlink(at("state/images/" HEX "/command")) == 0);
	CHECK(ask(true) < 0 && strstr(err.text, "/command"));
}

static void nowhere(void)
{
	CHECK(image_open(a, "/proc/none", top, "/srv/x.tar", HEX, true, &is,
			 &err) < 0);
}

int main(void)
{
	a = arena_new();
	CHECK(mkdtemp(top));
	refused();
	unpacked();
	nowhere();
	CHECK(fileio_remove_tree(AT_FDCWD, top, &err) == 0);
	arena_free(a);
	return check_status();
}
