/* What was kept aside, as lines: none is longer than its bound. */
#include "runtime/view/aside/kept.h"

#include "compiler/base/err.h"
#include "compiler/base/limits.h"
#include "compiler/plan/view_hello.h"
#include "tests/check.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static char line[VIEW_SAYS_LINE_MAX];

static bool line_is(const char *path, const char *what, struct str *text,
		    const char *want)
{
	size_t n = kept_line(path, what, text, line, sizeof(line));

	return n == strlen(want) && memcmp(line, want, n) == 0;
}

static void lines_say_it(void)
{
	struct str text = STR("[user]\n\tname = \"a\"\n");
	struct str odd = STR("a\xff"), nul = {"a\0b", 3};

	CHECK(line_is(
		"a/b", VIEW_SAYS_FILE, NULL,
		"{\"event\":\"kept\",\"path\":\"a/b\",\"what\":\"file\"}\n"));
	CHECK(line_is("a\xff", VIEW_SAYS_REMOVED, NULL,
		      "{\"event\":\"kept\",\"path\":\"a\xef\xbf\xbd\","
		      "\"what\":\"removed\"}\n"));
	CHECK(line_is("c", VIEW_SAYS_CONFIG, &text,
		      "{\"event\":\"kept\",\"path\":\"c\",\"what\":\"config\","
		      "\"text\":\"[user]\\n\\tname = \\\"a\\\"\\n\"}\n"));
	CHECK(line_is("c", VIEW_SAYS_CONFIG, &odd,
		      "{\"event\":\"kept\",\"path\":\"c\","
		      "\"what\":\"config\"}\n"));
	CHECK(line_is("c", VIEW_SAYS_CONFIG, &nul,
		      "{\"event\":\"kept\",\"path\":\"c\","
		      "\"what\":\"config\"}\n"));
}

/* Each byte as long as JSON can write it. */
static void the_longest_fits(void)
{
	static char path[LIMIT_PATH_BYTES], text[VIEW_SAYS_TEXT_MAX + 1];
	struct str s = {text, VIEW_SAYS_TEXT_MAX};

	memset(path, 1, sizeof(path) - 1);
	memset(text, 1, VIEW_SAYS_TEXT_MAX);
	CHECK(kept_line(path, VIEW_SAYS_CONFIG, &s, line, sizeof(line)) >
	      6 * (size_t)VIEW_SAYS_TEXT_MAX);
}

static void put_file(struct copies *t, const char *path, size_t n, bool config)
{
	static char text[VIEW_SAYS_TEXT_MAX + 2];
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct copy *c = copies_make(t, path);

	memset(text, 'x', sizeof(text));
	CHECK(pwrite(fd, text, n, 0) == (ssize_t)n);
	CHECK(copies_set(t, c, COPY_FILE, copies_data(t, fd)));
	c->config = config;
}

static void all_is_told(void)
{
	static const char want[] =
		"{\"event\":\"kept\",\"path\":\"d/a\",\"what\":\"file\"}\n"
		"{\"event\":\"kept\",\"path\":\"d/e/b\",\"what\":\"removed\"}\n"
		"{\"event\":\"kept\",\"path\":\".git/config\","
		"\"what\":\"config\",\"text\":\"xxx\"}\n"
		"{\"event\":\"kept\",\"path\":\"big\",\"what\":\"config\"}\n";
	int out = memfd_create("lines", MFD_CLOEXEC);
	char got[sizeof(want) + 100] = "";
	struct copies t;

	CHECK(copies_init(&t));
	put_file(&t, "d/a", 5, false);
	CHECK(copies_set(&t, copies_make(&t, "d/e/b"), COPY_GONE, NULL));
	CHECK(copies_set(&t, copies_make(&t, "t/k"), COPY_TRACKED, NULL));
	put_file(&t, ".git/config", 3, true);
	put_file(&t, "big", VIEW_SAYS_TEXT_MAX + 1, true);
	kept_tell(out, &t);
	CHECK(pread(out, got, sizeof(got) - 1, 0) == sizeof(want) - 1);
	CHECK_MSG(strcmp(got, want) == 0, "%s", got);
	close(out);
	copies_done(&t);
}

int main(void)
{
	lines_say_it();
	the_longest_fits();
	all_is_told();
	return check_status();
}
