#include "runtime/launch/attach/modes.h"

#include "tests/check.h"

#include <string.h>

static const struct {
	const char *printed, *enter, *leave;
} cases[] = {
	{"hello\n", "", ""},
	{"\033[?1049h", "\033[?1049h", "\033[?1049l\033[0m"},
	{"\033[?1049h\033[?1049l", "", ""},
	{"\033[?25l", "\033[?25l", "\033[?25h\033[0m"},
	{"\033[?25h\033[?25l\033[?25h", "", ""},
	{"\033[?2004h\033[?1049h", "\033[?1049h\033[?2004h",
	 "\033[?2004l\033[?1049l\033[0m"},
	{"\033[?1000;1006;7h", "\033[?1000h\033[?1006h",
	 "\033[?1006l\033[?1000l\033[0m"},
	{"\033[?1;2;3;4;5;6;7;8;1003h", "\033[?1h", "\033[?1l\033[0m"},
	{"\033[?1049h\033c", "", ""},
	{"\033[1049h", "", ""},
	{"\033[?1049", "", ""},
	{"\033[?1049x", "", ""},
	{"\033[?1049 h", "", ""},
	{"\033[?99999999999999991049h", "", ""},
	{"\033[?10\033[?1004h", "\033[?1004h", "\033[?1004l\033[0m"},
	{"\033[31m\033]0;[?1049h\007", "", ""},
};

/* Cut in every place: what is printed comes in pieces. */
static void check_case(struct arena *a, size_t i)
{
	struct str all = str_of(cases[i].printed);

	for (size_t cut = 0; cut <= all.n; cut++) {
		struct modes m = {0};
		struct buf enter, leave;

		buf_init(&enter, a);
		buf_init(&leave, a);
		modes_take(&m, str_slice(all, 0, cut));
		modes_take(&m, str_slice(all, cut, all.n));
		modes_enter(m.on, &enter);
		modes_leave(m.on, &leave);
		CHECK(str_is(buf_str(&enter), cases[i].enter));
		CHECK(str_is(buf_str(&leave), cases[i].leave));
	}
}

int main(void)
{
	struct arena *a = arena_new();

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_case(a, i);
	arena_free(a);
	return check_status();
}
