/* Refusals as lines, and what is hidden under any name. */
#include "runtime/view/record.h"

#include "compiler/base/sys/clock.h"
#include "runtime/view/judge/hidden.h"
#include "tests/check.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static const struct judge_word ignored = {JUDGE_HIDDEN, JUDGE_BY_IGNORE, 3};
static struct record r;
static int from;
static char text[1 << 20];

static cJSON *line_of(const char *path, struct judge_word word)
{
	char *copy = strdup(path), line[RECORD_LINE_MAX];
	struct record_entry e = {
		.path = copy, .kind = RECORD_WRITE, .word = word, .count = 7};
	size_t n = record_line(&e, line, sizeof(line));
	cJSON *o = cJSON_ParseWithLength(line, n);

	CHECK(n > 0 && n <= RECORD_LINE_MAX && line[n - 1] == '\n');
	free(copy);
	return o;
}

static bool has(const cJSON *o, const char *key, const char *want)
{
	const char *s =
		cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));

	return s && strcmp(s, want) == 0;
}

static void lines_say(void)
{
	static const struct {
		struct judge_word word;
		const char *section, *reason;
		bool line;
	} words[] = {
		{{JUDGE_HIDDEN, JUDGE_BY_IGNORE, 3}, "ignore", "ignored", true},
		{{JUDGE_READONLY, JUDGE_BY_READONLY, 1},
		 "readonly",
		 "readonly",
		 true},
		{{JUDGE_READONLY, JUDGE_BY_HOLD, 0}, "hold", "readonly", true},
		{{JUDGE_READONLY, JUDGE_BY_GIT, 0}, "git", "readonly", true},
		{{JUDGE_HIDDEN, JUDGE_BY_HIDE, 0}, "hide", "ignored", true},
		{{JUDGE_HIDDEN, JUDGE_BY_INODE, 0}, "inode", "ignored", false},
		{{JUDGE_READONLY, JUDGE_BY_ALL, 0}, "all", "readonly", false},
	};
	char longest[5000];
	cJSON *o;

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const cJSON *rule;

		o = line_of("a/b", words[i].word);
		rule = cJSON_GetObjectItemCaseSensitive(o, "rule");
		CHECK(has(rule, "section", words[i].section));
		CHECK(has(o, "reason", words[i].reason));
		CHECK(cJSON_HasObjectItem(rule, "line") == words[i].line);
		CHECK(has(o, "kind", "write") && has(o, "verdict", "deny") &&
		      has(o, "event", "decision") && has(o, "path", "a/b"));
		CHECK(cJSON_GetObjectItem(o, "count")->valueint == 7);
		cJSON_Delete(o);
	}
	o = line_of("a\xff\n\"b\xc3\xa9", ignored);
	CHECK(has(o, "path", "a\xef\xbf\xbd\n\"b\xc3\xa9"));
	cJSON_Delete(o);
	memset(longest, 1, sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	o = line_of(longest, ignored);
	CHECK(o && strstr(cJSON_GetObjectItem(o, "path")->valuestring,
			  VIEW_HELLO_OTHERS));
	cJSON_Delete(o);
}

/* The counts of what was told of path since the last time, and lines. */
static uint64_t told(const char *path, unsigned *out_lines)
{
	ssize_t n;
	size_t len = 0;
	uint64_t count = 0;
	struct str rest, line;

	while ((n = read(from, text + len, sizeof(text) - len)) > 0)
		len += (size_t)n;
	rest = (struct str){text, len};
	*out_lines = 0;
	while (str_line(&rest, &line)) {
		cJSON *o = cJSON_ParseWithLength(line.p, line.n);

		if (!path || has(o, "path", path)) {
			count += (uint64_t)cJSON_GetObjectItem(o, "count")
					 ->valueint;
			++*out_lines;
		}
		cJSON_Delete(o);
	}
	return count;
}

static void alike_are_folded(void)
{
	unsigned lines;
	uint64_t woken;

	for (unsigned i = 0; i < 100; i++)
		record_refusal(&r, RECORD_READ, ignored, "x");
	record_refusal(&r, RECORD_WRITE, ignored, "x");
	CHECK(told("x", &lines) == 2 && lines == 2); /* one of each kind */
	CHECK(read(r.wake, &woken, sizeof(woken)) == sizeof(woken));
	CHECK(r.waiting == 1);
	CHECK(record_tell(&r, false) > 0 && told("x", &lines) == 0);
	CHECK(record_tell(&r, true) == -1);
	CHECK(told("x", &lines) == 99 && lines == 1 && r.waiting == 0);
}

static void there_are_bounds(void)
{
	unsigned lines;
	char path[16];
	uint64_t all = 0;

	for (unsigned i = 0; i < VIEW_HELLO_PAIRS_MAX + 500; i++) {
		snprintf(path, sizeof(path), "p%u", i);
		record_refusal(&r, RECORD_READ, ignored, path);
		if (i % 100 == 0)
			all += told(NULL, &lines);
	}
	CHECK(r.n == VIEW_HELLO_PAIRS_MAX);
	all += told(NULL, &lines);
	record_tell(&r, true);
	CHECK(all + told(NULL, &lines) == VIEW_HELLO_PAIRS_MAX + 500);
	/* Nobody reads: they go on being counted. */
	for (unsigned i = 0; i < VIEW_HELLO_PAIRS_MAX - 2; i++) {
		snprintf(path, sizeof(path), "p%u", i);
		for (unsigned k = 0; k < 3; k++)
			record_refusal(&r, RECORD_READ, ignored, path);
	}
	record_tell(&r, true);
	CHECK(r.waiting > 0);
	all = 0;
	while (r.waiting) {
		all += told(NULL, &lines);
		record_tell(&r, true);
	}
	all += told(NULL, &lines);
	CHECK(all == 3 * (VIEW_HELLO_PAIRS_MAX - 2));
}

static void files_are_known(void)
{
	struct hidden h = {0};
	struct hidden_file f = {.dev = 1, .ino = 2, .born_s = 3, .born_ns = 4};
	struct hidden_file other = f, unknown = {.dev = 1, .ino = 9};

	CHECK(!hidden_has(&h, &f));
	CHECK(hidden_add(&h, &f) && hidden_has(&h, &f));
	other.born_ns++;
	CHECK(!hidden_has(&h, &other)); /* the number is used again */
	CHECK(hidden_add(&h, &other) && hidden_has(&h, &other) && h.n == 1);
	CHECK(!hidden_has(&h, &f));
	other.dev = 2;
	CHECK(!hidden_has(&h, &other));
	CHECK(hidden_add(&h, &unknown));
	unknown.born_s = 77;
	CHECK(hidden_has(&h, &unknown));
	for (uint64_t i = 100; i < 5000; i++) {
		f.ino = i;
		CHECK(hidden_add(&h, &f));
	}
	for (uint64_t i = 100; i < 5000; i++) {
		f.ino = i;
		CHECK(hidden_has(&h, &f));
	}
	f.ino = 5000;
	CHECK(!hidden_has(&h, &f) && h.n == 4902);
	hidden_done(&h);
}

int main(void)
{
	int ends[2];

	if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) < 0)
		return 1;
	from = ends[0];
	r.fd = ends[1];
	r.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	lines_say();
	alike_are_folded();
	there_are_bounds();
	files_are_known();
	record_done(&r);
	close(r.fd);
	close(from);
	close(r.wake);
	return check_status();
}
