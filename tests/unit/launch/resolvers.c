/* Which of the host's resolvers a gate can ask. */
#include "runtime/launch/resolvers.h"

#include "compiler/base/sys/fileio.h"
#include "tests/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void same(const char *got, const char *want)
{
	if (strcmp(got, want) != 0)
		fprintf(stderr, "'%s', not '%s'\n", got, want);
	CHECK(strcmp(got, want) == 0);
}

static const char *first(const char *text)
{
	static char out[ADDR_TEXT_MAX];
	struct resolvers r;

	resolvers_parse(str_of(text), &r);
	return r.first.family ? addr_text(&r.first, out) : "";
}

static void test_lines(void)
{
	struct resolvers r;

	same(first("nameserver 192.0.2.1\n"), "192.0.2.1");
	same(first("# x\nsearch a.test\n\tnameserver\t192.0.2.1 y\r\n"
		   "nameserver 192.0.2.2"),
	     "192.0.2.1");
	same(first("nameserver 2001:db8::1\nnameserver 192.0.2.1\n"),
	     "192.0.2.1");
	same(first("nameserver 2001:db8::1\nnameserver 2001:db8::2\n"),
	     "2001:db8::1");
	same(first("nameserver 169.254.169.253"), "169.254.169.253");
	same(first(""), "");
	same(first("nameserver\nnameserver x\nnameserverx 192.0.2.1\n"), "");
	same(first("#nameserver 192.0.2.1\n"), "");
	same(first("nameserver fe80::1%eth0\n"), "");
	same(first("nameserver fe80::1\nnameserver 0.0.0.0\n"), "");
	resolvers_parse(STR("nameserver ::1\nnameserver 127.0.0.1\n"), &r);
	CHECK(r.local.family == ADDR_V6 && !r.first.family);
	resolvers_parse(STR("nameserver 127.0.0.1\nnameserver 192.0.2.1\n"),
			&r);
	CHECK(r.local.family == ADDR_V4 && r.first.family == ADDR_V4);
}

/* --- files ---------------------------------------------------------------- */

static struct arena *a;
static const char *root, *own_path;

static void put_text(const char *path, const char *text)
{
	struct err err;

	CHECK(fileio_write(AT_FDCWD, arena_fmt(a, "%s%s", root, path).p,
			   str_of(text), 0644, &err) == 0);
}

/* What is found, or why nothing is. */
static const char *found(void)
{
	const char *out;
	struct err err;

	if (resolvers_find(a, own_path, root, &out, &err) == 0)
		return out;
	return arena_fmt(a, "%s", err.text).p;
}

static void make_folder(const char *path)
{
	CHECK(mkdir(arena_fmt(a, "%s%s", root, path).p, 0755) == 0);
}

static void test_files(void)
{
	char made[] = "/tmp/resolvers-XXXXXX";
	struct err err;

	CHECK((root = mkdtemp(made)) != NULL);
	make_folder("/etc");
	make_folder("/run");
	make_folder("/run/systemd");
	make_folder("/run/systemd/resolve");
	make_folder("/run/NetworkManager");
	CHECK(strstr(found(), "the host's resolver 127.0.0.1 serves"));
	put_text("/etc/resolv.conf", "search a.test\n");
	CHECK(strstr(found(), "names no resolver: write 'dns_resolver: ADDR'"));
	put_text("/etc/resolv.conf", "nameserver 127.0.0.53\n");
	CHECK(strstr(found(), "the host's resolver 127.0.0.53 serves"));
	put_text("/run/NetworkManager/no-stub-resolv.conf",
		 "nameserver 192.0.2.3\n");
	same(found(), "192.0.2.3");
	put_text("/run/systemd/resolve/resolv.conf", "nameserver ::1\n");
	same(found(), "192.0.2.3");
	put_text("/run/systemd/resolve/resolv.conf", "nameserver 192.0.2.2\n");
	same(found(), "192.0.2.2");
	put_text("/etc/resolv.conf", "nameserver 192.0.2.1\n");
	same(found(), "192.0.2.1");
	own_path = "/dev/null";
	CHECK(strstr(found(), "not a regular file") ||
	      strstr(found(), "/dev/null"));
	own_path = arena_fmt(a, "%s/run/systemd/resolve/resolv.conf", root).p;
	same(found(), "192.0.2.2");
	own_path = NULL;
	/* what others wrote is not asked where the host names none */
	put_text("/etc/resolv.conf", "");
	CHECK(strstr(found(), "names no resolver"));
	CHECK(unlink(arena_fmt(a, "%s/etc/resolv.conf", root).p) == 0);
	make_folder("/etc/resolv.conf");
	CHECK(strstr(found(), "/etc/resolv.conf"));
	CHECK(fileio_remove_tree(AT_FDCWD, root, &err) == 0);
}

int main(void)
{
	a = arena_new();
	test_lines();
	test_files();
	arena_free(a);
	return check_status();
}
