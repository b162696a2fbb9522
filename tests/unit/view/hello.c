/* What the launcher says: each line as it is meant, or nothing is. */
#include "runtime/view/hello.h"

#include "compiler/base/buf.h"
#include "compiler/plan/view_hello.h"
#include "tests/check.h"

#include <errno.h>

#define HEAD "membrane-view 1\nowner 1000 100\nroot 66305 2\n"

static struct arena *a;

static int read_text(const char *text, struct hello *h, size_t *used)
{
	struct err err = {0};
	int rc = hello_read(a, str_of(text), h, used, &err);

	CHECK_MSG(rc == 0 || err.text[0], "%s", text);
	return rc;
}

static void all_is_read(void)
{
	struct hello h;
	size_t used;

	CHECK(read_text(HEAD "at /home/u/a%20b\nreadonly\nhold a/%25\nhold b\n"
			     "hide %ff%0A/x\ninode 1 2 3 4\ninode 5 6 0 0\n"
			     "go\ndetach\n",
			&h, &used) == 0);
	CHECK(h.uid == 1000 && h.gid == 100 && h.dev == 66305 && h.ino == 2);
	CHECK(h.readonly && str_is(h.at, "/home/u/a b"));
	CHECK(h.holds.n == 2 && str_is(h.holds.v[0], "a/%"));
	CHECK(h.hides.n == 1 && str_is(h.hides.v[0], "\xff\n/x"));
	CHECK(h.inodes.n == 2 && h.inodes.v[0].born_s == 3 &&
	      h.inodes.v[0].born_ns == 4 && h.inodes.v[1].ino == 6);
	CHECK(used == strlen(HEAD "at /home/u/a%20b\nreadonly\nhold a/%25\n"
				  "hold b\nhide %FF%0A/x\ninode 1 2 3 4\n"
				  "inode 5 6 0 0\ngo\n"));
	CHECK(read_text(HEAD "go\n", &h, &used) == 0 && used > 0);
	CHECK(!h.readonly && h.at.n == 0 && h.holds.n == 0);
}

static void parts_wait(void)
{
	static const char text[] = HEAD "hold a\ngo\n";
	struct hello h;
	struct err err;
	size_t used;

	for (size_t n = 0; n < sizeof(text) - 2; n++)
		CHECK(hello_read(a, (struct str){text, n}, &h, &used, &err) ==
			      0 &&
		      used == 0);
}

static void others_are_refused(void)
{
	static const char *const bad[] = {
		"membrane-view 2\n",
		"membrane-view\n",
		"owner 1 1\n",
		"\n",
		"membrane-view 1\nroot 1 1\n",
		"membrane-view 1\nowner 1\n",
		"membrane-view 1\nowner 1 4294967295\n",
		"membrane-view 1\nowner -1 1\n",
		"membrane-view 1\nowner 1 1 1\n",
		"membrane-view 1\nowner 1 1\ngo\n",
		HEAD HEAD,
		HEAD "go 1\n",
		HEAD "readonly\nreadonly\n",
		HEAD "readonly yes\n",
		HEAD "hide a\nhold b\n",
		HEAD "hold a\nreadonly\n",
		HEAD "hold\n",
		HEAD "hold /a\n",
		HEAD "hold a/\n",
		HEAD "hold a//b\n",
		HEAD "hold ../a\n",
		HEAD "hold a/.\n",
		HEAD "hold a%2F..\n",
		HEAD "hold a b\n",
		HEAD "hold a\tb\n",
		HEAD "hold a%\n",
		HEAD "hold a%2\n",
		HEAD "hold a%2g\n",
		HEAD "hold a%00\n",
		HEAD "at a\n",
		HEAD "at /\n",
		HEAD "inode 1 2 3\n",
		HEAD "inode 1 2 3 1000000000\n",
		HEAD "inode 1 2 3 4 5\n",
		HEAD "holds a\n",
	};
	struct hello h;
	size_t used;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_MSG(read_text(bad[i], &h, &used) == -EPROTO, "%s",
			  bad[i]);
}

static void bounds_hold(void)
{
	struct buf b;
	struct hello h;
	struct err err;
	size_t used;

	buf_init(&b, a);
	buf_adds(&b, HEAD);
	for (unsigned i = 0; i <= VIEW_HELLO_PATHS_MAX; i++)
		buf_addf(&b, "hold %u\n", i);
	CHECK(hello_read(a, buf_str(&b), &h, &used, &err) == -E2BIG);
	buf_init(&b, a);
	buf_adds(&b, HEAD);
	for (unsigned i = 0; i <= VIEW_HELLO_INODES_MAX; i++)
		buf_addf(&b, "inode 1 %u 0 0\n", i);
	CHECK(hello_read(a, buf_str(&b), &h, &used, &err) == -E2BIG);
	buf_init(&b, a);
	buf_adds(&b, HEAD "hold ");
	while (b.n <= VIEW_HELLO_BYTES_MAX)
		buf_adds(&b, "0123456789abcdef0123456789abcdef");
	CHECK(hello_read(a, buf_str(&b), &h, &used, &err) == -E2BIG);
}

int main(void)
{
	a = arena_new();
	all_is_read();
	parts_wait();
	others_are_refused();
	bounds_hold();
	arena_free(a);
	return check_status();
}
