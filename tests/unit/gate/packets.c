/* Heads of IP packets, whole ones and others. */
#include "runtime/gate/wire/packet.h"

#include "tests/check.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/mman.h>

static void packets(void)
{
	static const uint8_t v4[] = {0x45, 0, 0, 40,  0, 0,   0, 0, 64,
				     6,	   0, 0, 192, 0, 0,   2, 8, 8,
				     8,	   8, 1, 2,   1, 187, 0, 0};
	static const uint8_t v6[] = {0x60, 0, 0,    0, 0, 16, 0, 64, 0xfd, 0, 0,
				     0,	   0, 0,    0, 0, 0,  0, 0,  0,	   0, 0,
				     0,	   2, 0x20, 1, 0, 0,  0, 0,  0,	   0, 0,
				     0,	   0, 0,    0, 0, 0,  1, 17, 0,	   0, 0,
				     0,	   0, 0,    0, 1, 2,  0, 53};
	uint8_t copy[sizeof(v6)];
	struct packet p;
	char text[8];

	CHECK(packet_parse(v4, sizeof(v4), &p));
	CHECK(p.proto == IPPROTO_TCP && p.has_port && p.dport == 443 &&
	      p.sport == 258 && p.dst.b[0] == 8 && p.src.b[0] == 192);
	CHECK(p.src.family == ADDR_V4 && p.dst.family == ADDR_V4);
	CHECK(packet_parse(v4, 22, &p) && !p.has_port);
	CHECK(!packet_parse(v4, 19, &p));
	CHECK(!packet_parse(v4, 0, &p));
	memcpy(copy, v4, sizeof(v4));
	copy[7] = 1; /* a later fragment */
	CHECK(packet_parse(copy, sizeof(v4), &p) && !p.has_port);
	memcpy(copy, v4, sizeof(v4));
	copy[0] = 0x44;
	CHECK(!packet_parse(copy, sizeof(v4), &p));
	copy[0] = 0x4f;
	CHECK(!packet_parse(copy, sizeof(v4), &p));
	CHECK(packet_parse(v6, sizeof(v6), &p));
	CHECK(p.proto == IPPROTO_UDP && p.has_port && p.dport == 53);
	for (size_t n = 0; n < sizeof(v6); n++)
		CHECK(packet_parse(v6, n, &p) == (n >= 40) && !p.has_port);
	memcpy(copy, v6, sizeof(v6));
	copy[41] = 255; /* an extension longer than the packet */
	CHECK(packet_parse(copy, sizeof(v6), &p) && !p.has_port);
	CHECK(strcmp(packet_proto_text(132, text), "sctp") == 0);
	CHECK(strcmp(packet_proto_text(47, text), "47") == 0);
}

/* --- IPv4 --------------------------------------------------------------- */

/* A head of so many words, and four bytes of a port behind it. */
static void heads_of_v4(void)
{
	uint8_t p[64] = {[9] = IPPROTO_UDP}; /* 15 words, and 4 */
	struct packet out;

	for (unsigned words = 0; words < 16; words++) {
		size_t head = words * 4;

		p[0] = (uint8_t)(0x40 | words);
		for (size_t n = 0; n <= head + 4; n++) {
			bool whole = words >= 5 && n >= head;

			memset(p + 10, 0, sizeof(p) - 10);
			if (head >= 20) {
				p[head + 1] = 1;
				p[head + 2] = 2;
			}
			CHECK_MSG(packet_parse(p, n, &out) == whole, "%u %zu",
				  words, n);
			CHECK(!whole || out.has_port == (n == head + 4));
			CHECK(!out.has_port ||
			      (out.sport == 1 && out.dport == 0x200));
		}
	}
}

static void fragments_of_v4(void)
{
	static const struct {
		uint8_t high, low;
		bool has_port;
	} cases[] = {
		{0, 0, true},	 {0x40, 0, true},  {0x20, 0, true},
		{0xe0, 0, true}, {0, 1, false},	   {0x20, 0x80, false},
		{1, 0, false},	 {0x10, 0, false}, {0x1f, 0xff, false},
	};
	uint8_t p[24] = {0x45, [9] = IPPROTO_TCP};
	struct packet out;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		p[6] = cases[i].high;
		p[7] = cases[i].low;
		CHECK_MSG(packet_parse(p, sizeof(p), &out) &&
				  out.has_port == cases[i].has_port,
			  "%zu", i);
		CHECK(out.proto == IPPROTO_TCP);
	}
	CHECK(!packet_parse(p, 0, &out) && !packet_parse(p, 19, &out));
	/* nothing else has ports */
	p[6] = p[7] = 0;
	p[9] = IPPROTO_ICMP;
	CHECK(packet_parse(p, sizeof(p), &out) && !out.has_port);
	for (unsigned version = 0; version < 16; version++) {
		p[0] = (uint8_t)(version << 4 | 5);
		CHECK(packet_parse(p, sizeof(p), &out) == (version == 4));
	}
}

/* --- IPv6 --------------------------------------------------------------- */

static uint8_t six[40 + 16 * 8];

/* Behind the head: extensions of eight bytes, then TCP with four bytes. */
static size_t with_extensions(const uint8_t *kinds, unsigned n)
{
	size_t at = 40;
	uint8_t *next = &six[6];

	memset(six, 0, sizeof(six));
	six[0] = 0x60;
	for (unsigned i = 0; i < n; i++) {
		*next = kinds[i];
		next = &six[at];
		at += 8;
	}
	*next = IPPROTO_TCP;
	six[at + 1] = 22;
	six[at + 3] = 80;
	return at + 4;
}

static void extensions(void)
{
	static const uint8_t passed[] = {
		IPPROTO_HOPOPTS,  IPPROTO_ROUTING, IPPROTO_DSTOPTS,
		IPPROTO_FRAGMENT, IPPROTO_HOPOPTS, IPPROTO_HOPOPTS,
		IPPROTO_HOPOPTS,  IPPROTO_HOPOPTS, IPPROTO_HOPOPTS};
	struct packet out;

	for (unsigned n = 0; n <= ARRAY_LEN(passed); n++) {
		size_t size = with_extensions(passed, n);

		/* eight at most: what would be behind more nobody asks */
		CHECK_MSG(packet_parse(six, size, &out) &&
				  out.has_port == (n <= 8) &&
				  out.proto == (n <= 8 ? IPPROTO_TCP
						       : IPPROTO_HOPOPTS),
			  "%u", n);
		CHECK(!out.has_port || (out.sport == 22 && out.dport == 80));
		CHECK(packet_parse(six, size - 1, &out) && !out.has_port);
	}
	for (size_t i = 0; i < 4; i++) {
		size_t size = with_extensions(&passed[i], 1);

		CHECK(packet_parse(six, size, &out) && out.dport == 80);
		/* it is not whole, and so nothing is known behind it */
		CHECK(packet_parse(six, 47, &out) && !out.has_port &&
		      out.proto == passed[i]);
		CHECK(packet_parse(six, 48, &out) && !out.has_port &&
		      out.proto == IPPROTO_TCP);
	}
	/* another one is the end of it */
	with_extensions((uint8_t[]){IPPROTO_ESP}, 1);
	CHECK(packet_parse(six, 60, &out) && !out.has_port &&
	      out.proto == IPPROTO_ESP);
}

/* How long it is says its second byte; of a fragment's head it says nothing. */
static void lengths_of_extensions(void)
{
	struct packet out;

	with_extensions((uint8_t[]){IPPROTO_DSTOPTS, 0}, 2);
	six[40] = IPPROTO_UDP;
	six[41] = 1;
	six[56 + 1] = 53;
	CHECK(packet_parse(six, 60, &out) && out.proto == IPPROTO_UDP &&
	      out.has_port && out.sport == 53);
	CHECK(packet_parse(six, 56, &out) && !out.has_port &&
	      out.proto == IPPROTO_UDP);
	CHECK(packet_parse(six, 55, &out) && !out.has_port &&
	      out.proto == IPPROTO_UDP);
	with_extensions((uint8_t[]){IPPROTO_FRAGMENT}, 1);
	six[41] = 255;
	CHECK(packet_parse(six, 52, &out) && out.has_port && out.dport == 80);
	/* more to come, but the first; later ones have no ports */
	six[43] = 7;
	CHECK(packet_parse(six, 52, &out) && out.has_port);
	for (unsigned bit = 3; bit < 16; bit++) {
		six[42] = (uint8_t)(1u << bit >> 8);
		six[43] = (uint8_t)(1u << bit);
		CHECK(packet_parse(six, 52, &out) && !out.has_port &&
		      out.proto == IPPROTO_FRAGMENT);
	}
	/* of another extension these bytes are its own */
	with_extensions((uint8_t[]){IPPROTO_HOPOPTS}, 1);
	memset(six + 42, 0xff, 6);
	CHECK(packet_parse(six, 52, &out) && out.dport == 80);
}

static void addresses_of_v6(void)
{
	struct packet out;

	with_extensions(NULL, 0);
	for (uint8_t i = 0; i < 32; i++)
		six[8 + i] = i;
	CHECK(packet_parse(six, 44, &out) && out.src.family == ADDR_V6 &&
	      out.dst.family == ADDR_V6);
	CHECK(memcmp(out.src.b, six + 8, 16) == 0 &&
	      memcmp(out.dst.b, six + 24, 16) == 0);
	CHECK(!packet_parse(six, 39, &out) && packet_parse(six, 40, &out));
	for (unsigned version = 0; version < 16; version++) {
		six[0] = (uint8_t)(version << 4);
		CHECK(packet_parse(six, 44, &out) == (version == 6));
	}
}

/* Of no bytes none is read: behind them there is no memory. */
static void no_bytes(void)
{
	const size_t page = 65536; /* at least one */
	uint8_t *p =
		mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct packet out;

	CHECK(p != MAP_FAILED && !packet_parse(p, 0, &out));
	CHECK(munmap(p, page) == 0);
}

static void protocols(void)
{
	static const struct {
		uint8_t number;
		const char *text;
	} cases[] = {{6, "tcp"},    {17, "udp"}, {1, "icmp"}, {58, "icmpv6"},
		     {132, "sctp"}, {0, "0"},	 {255, "255"}};
	char text[8];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK(strcmp(packet_proto_text(cases[i].number, text),
			     cases[i].text) == 0);
}

int main(void)
{
	packets();
	heads_of_v4();
	fragments_of_v4();
	extensions();
	lengths_of_extensions();
	addresses_of_v6();
	no_bytes();
	protocols();
	return check_status();
}
