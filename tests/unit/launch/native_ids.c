/*
 * Whose numbers a session's user namespace gets.
 */
#include "runtime/launch/native/parts.h"

#include "tests/check.h"

#include <string.h>

static bool find(const char *text, uint32_t *out)
{
	return ids_range(str_of(text), STR("me"), STR("1000"), out);
}

static void test_ranges(void)
{
	static const char *const none[] = {
		"",
		"me",
		"me:100000",
		"me:100000:",
		"me:100000:65535", /* fewer than programs use */
		"you:100000:65536",
		"me:x:65536",
		"me:0:65536", /* root's own */
		"me:4294967295:65536",
		"me:-1:65536",
		" me:100000:65536",
	};
	uint32_t first = 0;

	CHECK(find("me:100000:65536\n", &first) && first == 100000);
	CHECK(find("you:1:65536\n1000:200000:70000", &first) &&
	      first == 200000);
	CHECK(find("me:100000:10\nme:300000:65536\n", &first) &&
	      first == 300000);
	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		CHECK_MSG(!find(none[i], &first), "%s", none[i]);
}

static void check_words(uint32_t own, const char *want)
{
	char text[12][IDS_WORD_MAX], all[400] = "";

	ids_words("new", 7, own, 100000, text);
	for (size_t i = 0; i < 12 && text[i][0]; i++) {
		strcat(all, i ? " " : "");
		strcat(all, text[i]);
	}
	CHECK_MSG(strcmp(all, want) == 0, "%s", all);
}

static void test_words(void)
{
	check_words(1000,
		    "new 7 0 100000 1000 1000 1000 1 1001 101001 64535");
	check_words(65535, "new 7 0 100000 65535 65535 65535 1");
	/* a number that is none of those */
	check_words(70000, "new 7 0 100000 65536 70000 70000 1");
}

static void test_users(void)
{
	struct ids one = {.kind = IDS_ONE, .uid = 7, .gid = 8},
		   all = {.kind = IDS_ALL};

	CHECK(ids_user(&one, 0) == 7 && ids_group(&one, 64100) == 8);
	CHECK(ids_user(&all, 5) == 5 && ids_group(&all, 6) == 6);
}

int main(void)
{
	test_ranges();
	test_words();
	test_users();
	return check_status();
}
