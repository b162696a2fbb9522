/* Items of `ports`: what they mean, and the one text of it. */
#include "compiler/ir/published.h"

#include "tests/check.h"

static const struct {
	const char *text, *addr;
	uint16_t port, to;
	bool local;
	const char *canon;
} good[] = {
	{"1455", "127.0.0.1", 1455, 1455, true, "1455"},
	{"65535", "127.0.0.1", 65535, 65535, true, "65535"},
	{"0080", "127.0.0.1", 80, 80, true, "80"},
	{"3000:5173", "127.0.0.1", 3000, 5173, true, "3000:5173"},
	{"80:80", "127.0.0.1", 80, 80, true, "80"},
	{"127.0.0.1:1:2", "127.0.0.1", 1, 2, true, "1:2"},
	{"127.0.0.2:1:1", "127.0.0.2", 1, 1, true, "127.0.0.2:1:1"},
	{"0.0.0.0:80:80", "0.0.0.0", 80, 80, false, "0.0.0.0:80:80"},
	{"192.0.2.1:8:9", "192.0.2.1", 8, 9, false, "192.0.2.1:8:9"},
	{"[::1]:3000:80", "::1", 3000, 80, true, "[::1]:3000:80"},
	{"[0::0]:3000:80", "::", 3000, 80, false, "[::]:3000:80"},
};

static const char *const bad[] = {
	"",
	"0",
	"65536",
	"a",
	":80",
	"80:",
	"0:80",
	"80:0",
	"80-81",
	"80/tcp",
	"::80",
	":80:80",
	"1.2.3.4",
	"1.2.3.4:5",
	"[1.2.3.4]:80:80",
	"::1:80:80",
	"[]:1:1",
	"a:80:80",
	"1.2.3:80:80",
	"80 ",
	"1:2:3",
	"[::1]:80",
	"1.2.3.4:1:2:3",
	"0x50",
};

static void check_good(struct arena *a)
{
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct ir_published p = {0}, again = {0};
		char text[ADDR_TEXT_MAX];

		CHECK_MSG(!published_parse(str_of(good[i].text), &p), "%s",
			  good[i].text);
		CHECK_MSG(str_is(str_of(addr_text(&p.addr, text)),
				 good[i].addr) &&
				  p.port == good[i].port && p.to == good[i].to,
			  "%s", good[i].text);
		CHECK(published_is_local(&p) == good[i].local);
		CHECK_MSG(str_is(published_text(a, &p), good[i].canon), "%s",
			  good[i].text);
		CHECK(!published_parse(published_text(a, &p), &again) &&
		      addr_eq(&p.addr, &again.addr) && p.port == again.port &&
		      p.to == again.to);
	}
}

int main(void)
{
	struct arena *a = arena_new();
	struct ir_published p = {.to = 7};

	check_good(a);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_MSG(published_parse(str_of(bad[i]), &p) && p.to == 7,
			  "%s", bad[i]);
	arena_free(a);
	return check_status();
}
