/* What git lists of its index: as it says it, or nothing is. */
#include "runtime/launch/workspace/gitindex.h"

#include "compiler/base/arena.h"
#include "tests/check.h"

#define OID "d00491fd7e5bb6fa28c517a0bb32b8b506539d4d"
#define SEEN                                                                   \
	"  ctime: 17:18\n  mtime: 19:20\n  dev: 65024\tino: 21\n"              \
	"  uid: 22\tgid: 23\n  size: 24\tflags: "

static struct arena *a;

static bool reads(const char *head, const char *tail, struct gitindex_file *f)
{
	struct str text = arena_fmt(a, "%s%c%s", head, 0, tail);

	return gitindex_entry(&text, true, f) && text.n == 0;
}

static void entries_are_read(void)
{
	static const char *const bad[][2] = {
		{"", ""},
		{"100644 " OID " 0\tx", ""},
		{"100600 " OID " 0\tx", SEEN "0\n"},
		{"100644 " OID " 4\tx", SEEN "0\n"},
		{"100644 " OID " 0\t", SEEN "0\n"},
		{"100644 " OID " 0\tx", SEEN "g\n"},
		{"100644 " OID " 0\tx", SEEN "\n"},
		{"100644 " OID " 0\tx", SEEN "123456789\n"},
		{"100644 " OID " 0\tx", "  ctime: 4294967296:0\n"},
		{"100644 " OID " 0\tx", "  mtime: 1:0\n"},
	};
	struct gitindex_file f;
	struct str text;

	CHECK(reads("100755 " OID " 0\ts/a b\nc", SEEN "0\n", &f));
	CHECK(str_is(f.path, "s/a b\nc") && f.kind == VIEW_OUTSIDE_PROGRAM &&
	      !f.skipped && f.stage == 0 && str_is(f.oid, OID));
	CHECK(f.numbers[VIEW_OUTSIDE_CTIME] == 17 &&
	      f.numbers[VIEW_OUTSIDE_CTIME_NS] == 18 &&
	      f.numbers[VIEW_OUTSIDE_MTIME] == 19 &&
	      f.numbers[VIEW_OUTSIDE_MTIME_NS] == 20 &&
	      f.numbers[VIEW_OUTSIDE_INO] == 21 &&
	      f.numbers[VIEW_OUTSIDE_UID] == 22 &&
	      f.numbers[VIEW_OUTSIDE_GID] == 23 &&
	      f.numbers[VIEW_OUTSIDE_SIZE] == 24);
	CHECK(reads("160000 " OID " 2\ts/webs", SEEN "2000\n", &f) &&
	      !f.skipped && f.stage == 2 && f.kind == VIEW_OUTSIDE_FOLDER);
	CHECK(reads("120000 " OID " 0\ts/web/x", SEEN "0\n", &f) &&
	      !f.skipped && f.kind == VIEW_OUTSIDE_LINK && f.text.n == 0);
	CHECK(reads("100644 " OID " 0\tx", SEEN "40004000\n", &f) && f.skipped);
	text = arena_fmt(a, "100644 " OID " 0\tx%c100644 ", 0);
	CHECK(gitindex_entry(&text, false, &f) && str_is(text, "100644 ") &&
	      str_is(f.path, "x") && f.numbers[VIEW_OUTSIDE_SIZE] == 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_MSG(!reads(bad[i][0], bad[i][1], &f), "%s %s", bad[i][0],
			  bad[i][1]);
}

int main(void)
{
	a = arena_new();
	entries_are_read();
	arena_free(a);
	return check_status();
}
