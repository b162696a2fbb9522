/* What HAProxy says before a connection that it passes on. */
#include "runtime/gate/onward/head.h"
#include "tests/check.h"

#include <string.h>

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define FIRST(n)  SIGNATURE "\x21\x11\0" n
#define ADDRS	  "\xc0\0\0\2\xc0\0\2\7"
#define ADDR6	  "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0"
#define PORTS	  "\x12\x34\1\xbb"

static size_t size_of(const char *bytes)
{
	return head_size((const uint8_t *)bytes);
}

static bool parses(const char *bytes, size_t n, struct head *out)
{
	return head_parse((const uint8_t *)bytes, n, out);
}

int main(void)
{
	static const char good[] = FIRST("\x0c") ADDRS PORTS;
	static const char more[] = FIRST("\x0f") ADDRS PORTS "\4\0\0";
	static const char six[] =
		SIGNATURE "\x21\x21\0\x24" ADDR6 "\1" ADDR6 "\7" PORTS;
	char bad[sizeof(good)], text[ADDR_TEXT_MAX];
	struct head h = {0};

	CHECK(size_of(good) == 28 && parses(good, 28, &h));
	CHECK(strcmp(addr_text(&h.to, text), "192.0.2.7") == 0);
	CHECK(h.port == 443 && h.from_port == 0x1234);
	CHECK(size_of(more) == 31 && parses(more, 31, &h));
	for (size_t i = 0; i < 13; i++) {
		memcpy(bad, good, sizeof(bad));
		bad[i] ^= 1;
		CHECK(size_of(bad) == 0);
	}
	memcpy(bad, good, sizeof(bad));
	bad[14] = 3; /* longer than any of ours */
	CHECK(size_of(bad) == 0);
	bad[14] = 0;
	bad[13] = 0x21; /* IPv6, whose addresses are longer */
	CHECK(!parses(bad, 28, &h));
	bad[13] = 0x12; /* UDP */
	CHECK(!parses(bad, 28, &h));
	CHECK(size_of(six) == 52 && parses(six, 52, &h) &&
	      !parses(six, 51, &h));
	CHECK(strcmp(addr_text(&h.to, text), "2001:db8::7") == 0);
	CHECK(h.port == 443 && h.from_port == 0x1234);
	CHECK(!parses(good, 27, &h));
	memcpy(bad, good, sizeof(bad));
	bad[26] = bad[27] = 0;
	CHECK(!parses(bad, 28, &h));
	memcpy(bad, good, sizeof(bad));
	bad[24] = bad[25] = 0;
	CHECK(!parses(bad, 28, &h));
	return check_status();
}
