/* Sets of addresses: joined, subtracted, and printed as nft lists them. */
#include "compiler/emit/nft/ranges.h"

#include "tests/check.h"

#include <string.h>

static struct arena *a;

/* Networks, with blanks between. */
static ranges ranges_of(const char *text)
{
	struct str rest = str_of(text), word;
	ranges out = {0};

	while (str_field(&rest, ' ', &word)) {
		struct cidr net;

		if (!word.n)
			continue;
		CHECK_MSG(cidr_parse(word, &net) == CIDR_OK, "%s", text);
		ranges_add(a, &out, &net);
	}
	ranges_settle(&out);
	return out;
}

static struct str printed(const ranges *r)
{
	struct buf out;

	buf_init(&out, a);
	vec_each(x, r) {
		if (x != r->v)
			buf_addc(&out, ' ');
		ranges_print(&out, x);
	}
	return buf_str(&out);
}

static void check_settled(const char *nets, const char *want)
{
	ranges r = ranges_of(nets);
	struct str got = printed(&r);

	CHECK_MSG(str_is(got, want), "%s: %.*s", nets, STR_ARG(got));
}

/* Whatever the order, what overlaps or touches is one, and nothing else. */
static void settled(void)
{
	check_settled("", "");
	check_settled("192.0.2.1", "192.0.2.1");
	check_settled("192.0.2.9 192.0.2.1", "192.0.2.1 192.0.2.9");
	check_settled("192.0.2.1 192.0.2.1", "192.0.2.1");
	check_settled("192.0.2.0/25 192.0.2.128/25", "192.0.2.0/24");
	check_settled("192.0.2.128/25 192.0.2.0/25", "192.0.2.0/24");
	check_settled("192.0.2.2/31 192.0.2.5", "192.0.2.2/31 192.0.2.5");
	check_settled("192.0.2.2/31 192.0.2.4", "192.0.2.2-192.0.2.4");
	/* one in another, which goes on behind it, and begins with it */
	check_settled("10.0.0.0/8 10.1.0.0/16", "10.0.0.0/8");
	check_settled("10.0.0.0/16 10.0.0.0/8", "10.0.0.0/8");
	check_settled("10.255.255.255 10.0.0.0/8", "10.0.0.0/8");
	check_settled("10.0.0.0/8 10.1.0.0/16 11.0.0.0/8", "10.0.0.0/7");
	check_settled("10.0.0.0/8 10.1.0.0/16 12.0.0.0/8",
		      "10.0.0.0/8 12.0.0.0/8");
	/* where addresses begin, and where there is none behind */
	check_settled("0.0.0.0/1 128.0.0.0/1", "0.0.0.0/0");
	check_settled("255.255.255.255 255.255.255.254", "255.255.255.254/31");
	check_settled("240.0.0.0/4 255.255.255.255", "240.0.0.0/4");
	check_settled("2001:db8::/33 2001:db8:8000::/33", "2001:db8::/32");
	check_settled("ff00::/8 "
		      "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		      "ff00::/8");
	check_settled("::/1 8000::/1", "::/0");
}

/* What lies behind the list is not of it. */
static void bounded(void)
{
	ranges r = ranges_of("192.0.2.1 192.0.2.9"), one = r;

	one.n = 1;
	ranges_settle(&one);
	CHECK(one.n == 1 && addr_eq(&one.v[0].hi, &one.v[0].lo));
}

/* A network where there is one, else both ends. */
static void spelled(void)
{
	check_settled("192.0.2.0/31", "192.0.2.0/31");
	check_settled("192.0.2.1 192.0.2.2", "192.0.2.1-192.0.2.2");
	check_settled("192.0.2.0/31 192.0.2.2", "192.0.2.0-192.0.2.2");
	check_settled("192.0.2.1 192.0.2.2/31", "192.0.2.1-192.0.2.3");
	check_settled("192.0.2.255 192.0.3.0", "192.0.2.255-192.0.3.0");
	check_settled("0.0.0.0", "0.0.0.0");
	check_settled("::1", "::1");
	check_settled("::/127", "::/127");
	check_settled("::1 ::2", "::1-::2");
	check_settled("2001:db8::/64 2001:db8:0:1::/65",
		      "2001:db8::-2001:db8:0:1:7fff:ffff:ffff:ffff");
}

static void check_minus(const char *from, const char *less, const char *want)
{
	ranges f = ranges_of(from), l = ranges_of(less);
	ranges rest = ranges_minus(a, &f, &l);
	struct str got = printed(&rest);

	CHECK_MSG(str_is(got, want), "%s without %s: %.*s", from, less,
		  STR_ARG(got));
}

static void subtracted(void)
{
	check_minus("", "10.0.0.0/8", "");
	check_minus("10.0.0.0/8", "", "10.0.0.0/8");
	check_minus("10.0.0.0/8", "10.0.0.0/8", "");
	check_minus("10.0.0.0/8", "8.0.0.0/5", "");
	check_minus("10.0.0.0/8", "9.0.0.0/8 11.0.0.0/8", "10.0.0.0/8");
	/* at the start, in the middle, at the end */
	check_minus("10.0.0.0/30", "10.0.0.0", "10.0.0.1-10.0.0.3");
	check_minus("10.0.0.0/30", "10.0.0.1", "10.0.0.0 10.0.0.2/31");
	check_minus("10.0.0.0/30", "10.0.0.3", "10.0.0.0-10.0.0.2");
	check_minus("10.0.0.0/30", "10.0.0.1 10.0.0.3", "10.0.0.0 10.0.0.2");
	/* over an end of each */
	check_minus("10.0.0.2 10.0.0.3 10.0.0.4", "10.0.0.0/30", "10.0.0.4");
	check_minus("10.0.0.3 10.0.0.4 10.0.0.5", "10.0.0.4/30", "10.0.0.3");
	/* one of many in each of many, and in none */
	check_minus("10.0.0.0/30 10.0.1.0/30 10.0.2.0/30",
		    "10.0.0.4 10.0.1.0/31 10.0.3.0",
		    "10.0.0.0/30 10.0.1.2/31 10.0.2.0/30");
	check_minus("10.0.0.0/30 10.0.1.0/30", "10.0.0.2 10.0.0.3 10.0.1.0",
		    "10.0.0.0/31 10.0.1.1-10.0.1.3");
	check_minus("10.0.0.0/31 10.0.0.4/31", "10.0.0.0/29", "");
	/* at both ends of all addresses */
	check_minus("0.0.0.0/0", "0.0.0.0", "0.0.0.1-255.255.255.255");
	check_minus("0.0.0.0/0", "255.255.255.255", "0.0.0.0-255.255.255.254");
	check_minus("240.0.0.0/4", "255.255.255.255/32 240.0.0.0/5",
		    "248.0.0.0-255.255.255.254");
	check_minus("0.0.0.0/0", "0.0.0.0/1", "128.0.0.0/1");
	check_minus("::/0", "::/1 8000::/1", "");
	check_minus("::/0", "ffff::/16",
		    "::-fffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
}

int main(void)
{
	a = arena_new();
	settled();
	bounded();
	spelled();
	subtracted();
	arena_free(a);
	return check_status();
}
