/* names.map: what is read, and what is refused. */
#include "runtime/gate/plan/names.h"

#include "tests/check.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "membrane-names 2\nupstream udp 8.8.8.8 53\n"
#define ONE  HEAD "ports 1 tcp/443\n"
#define ASK  ONE "ports a1 tcp/80,tcp/443\n"

static struct err err;

static bool parses(const char *text)
{
	struct names_map map;

	if (names_parse(str_of(text), &map, &err) < 0) {
		CHECK(err.code == -EPROTO && err.text[0]);
		return false;
	}
	names_free(&map);
	CHECK(!map.text && !map.exact && map.n_exact == 0);
	return true;
}

static void accepts(void)
{
	CHECK(parses(HEAD));
	CHECK(parses("membrane-names 2\nupstream udp 2001:db8::1 5353\n"));
	CHECK(parses("membrane-names 2\nupstream host\n"));
	CHECK(parses("membrane-names 2\nupstream proxy\n"));
	CHECK(parses("membrane-names 2\nupstream proxy\npast 10.0.0.0/8\n"));
	CHECK(parses("membrane-names 2\nupstream proxy host\n"
		     "past **.a.b\npast 10.0.0.0/8\npast fc00::/7\n"));
	CHECK(parses("membrane-names 2\nupstream proxy udp 9.9.9.9 53\n"
		     "past a.b\n"));
	CHECK(parses(HEAD "floor 127.0.0.0/8\nprivate fc00::/7\n"
			  "cover 10.1.2.3/32\n"
			  "ports 1 tcp/443\n"
			  "ports 2 tcp/1-65535,udp/1-65535\n"
			  "ports 256 udp/53\n"
			  "name ** - - g-0123456789\n"
			  "name **.a.b 1,2,256 private g-0123456789\n"
			  "name *.*.b 1 - g-af09fa90af\n"
			  "name _x.a-b.c 1,h1 - g-0123456789\n"));
	CHECK(parses(ASK "ask **.a.b a1 60 - - a-0123456789\n"
			 "ask ** a1 600 http private a-0123456789\n"
			 "asknet 10.0.0.0/8 a1 1 - a-0123456789\n"
			 "asknet ::/0 a1 1 http a-0123456789\n"
			 "deny a.b d-0123456789\n"));
}

static void refuses(void)
{
	static const char *const bad[] = {
		"",
		"\n",
		"membrane-names 2",
		"membrane-names 1\nupstream udp 8.8.8.8 53\n",
		"membrane-names 2\n",
		" " HEAD,
		HEAD "\n",
		HEAD "# comment\n",
		ONE "name a.b 1 - g-0123456789",
		ONE "ask a.b 1 60 - - a-0123456789\n",
		ONE "ask a.b a1 60 - - a-0123456789\n",
		ASK "ask a.b a1 60 - - g-0123456789\n",
		ASK "ask a.b a1 60 - a-0123456789\n",
		ASK "ask a.b a1 0 - - a-0123456789\n",
		ASK "ask a.b a1 0 - a-0123456789\n",
		ASK "name a.b a1 - g-0123456789\n",
		HEAD "ports d1 tcp/1\nname a.b d1 - g-0123456789\n",
		ASK "ask a.b a1 601 - - a-0123456789\n",
		ASK "ask a.b a1 60s - - a-0123456789\n",
		ASK "ask a.b a1 60 tls - a-0123456789\n",
		ASK "ask a.b a1,a1 60 - - a-0123456789\n",
		ASK "ask 10.0.0.0/8 a1 60 - - a-0123456789\n",
		ASK "ask a.b\n",
		ASK "ask a.b a1\n",
		ASK "ask a.b a1 60\n",
		ASK "ask a.b a1 60 -\n",
		ASK "ask a.b a1 60 - -\n",
		ASK "ask a..b a1 60 - - a-0123456789\n",
		ASK "ask a.b a1 60 - public a-0123456789\n",
		ASK "ask a.b a2 60 - - a-0123456789\n",
		ASK "asknet\n",
		ASK "asknet 10.0.0.0/8 1 60 - a-0123456789\n",
		ASK "asknet 10.0.0.0/8 a1 60 tls a-0123456789\n",
		ASK "asknet 10.0.0.1/8 a1 60 - a-0123456789\n",
		ASK "asknet 10.0.0.0/8 a1 60 - g-0123456789\n",
		ASK "asknet a.b a1 60 - a-0123456789\n",
		ASK "asknet 10.0.0.1 a1 60 - a-0123456789\n",
		ASK "asknet 10.0.0.0/8 a1 60 - private a-0123456789\n",
		ASK "asknet 10.0.0.0/8 a1 60 - a-0123456789\n"
		    "ask a.b a1 60 - - a-0123456789\n",
		ASK
		"ask a.b a1 60 - - a-0123456789\nname a.b 1 - g-0123456789\n",
		HEAD "upstream udp 8.8.8.8 53\n",
		HEAD "upstream host\n",
		"membrane-names 2\nupstream host\nupstream udp 8.8.8.8 53\n",
		"membrane-names 2\nupstream host 53\n",
		HEAD "past a.b\n",
		"membrane-names 2\nupstream proxy\npast a.b\n",
		"membrane-names 2\nupstream proxy host\n",
		"membrane-names 2\nupstream proxy host\npast 10.0.0.0/8\n",
		"membrane-names 2\nupstream proxy proxy\npast a.b\n",
		"membrane-names 2\nupstream proxy host\npast a..b\n",
		"membrane-names 2\nupstream proxy host\npast a.b c\n",
		"membrane-names 2\nupstream proxy\npast 10.0.0.1/8\n",
		"membrane-names 2\nupstream hosts\n",
		"membrane-names 2\nupstream tls 8.8.8.8 853\n",
		"membrane-names 2\nupstream https https://d.test/q\n",
		"membrane-names 2\nupstream\n",
		"membrane-names 2\nupstream proxy \n",
		"membrane-names 2\nupstream udp\n",
		"membrane-names 2\nupstream udp 8.8.8.8\n",
		"membrane-names 2\nupstream udp 8.8.8 53\n",
		"membrane-names 2\nupstream udp 8.8.8.8 0\n",
		"membrane-names 2\nupstream udp 8.8.8.8 65536\n",
		"membrane-names 2\nupstream udp 8.8.8.8 +53\n",
		"membrane-names 2\nupstream udp 8.8.8.8 53 \n",
		"membrane-names 2\nupstream udp 8.8.8.8  53\n",
		"membrane-names 2\nupstream tcp 8.8.8.8 53\n",
		"membrane-names 2\nupstream https http://d.test/\n",
		"membrane-names 2\nupstream https https://d.test/ x\n",
		"membrane-names 2\nfloor 127.0.0.0/8\nupstream udp 8.8.8.8 "
		"53\n",
		HEAD "floor 127.0.0.1\n",
		HEAD "floor 127.0.0.1/8\n",
		HEAD "floor 127.0.0.0/8 x\n",
		HEAD "private 10.0.0.0/8\nfloor 127.0.0.0/8\n",
		HEAD "private 10.0.0.1\n",
		HEAD "cover 10.0.0.0/33\n",
		HEAD "ports 1\n",
		HEAD "ports 1 \n",
		HEAD "ports - tcp/1\n",
		HEAD "ports 0 tcp/1\n",
		HEAD "ports 257 tcp/1\n",
		HEAD "ports h1 tcp/1\n",
		HEAD "ports x1 tcp/1\n",
		HEAD "ports 1 443\n",
		HEAD "ports 1 sctp/443\n",
		HEAD "ports 1 tcp/0\n",
		HEAD "ports 1 tcp/65536\n",
		HEAD "ports 1 tcp/9-8\n",
		HEAD "ports 1 tcp/8-\n",
		HEAD "ports 1 tcp/443,\n",
		HEAD "ports 1 ,tcp/443\n",
		HEAD "ports 1 tcp/443 udp/53\n",
		HEAD "ports 2 tcp/1\nports 1 tcp/2\n",
		HEAD "ports 1 tcp/1\nports 1 tcp/1\n",
		HEAD "ports d1 tcp/1\nports 1 tcp/1\n",
		HEAD "name a.b - - g-0123456789\nports 1 tcp/1\n",
		HEAD "name a.b 1 - g-0123456789\n",
		ONE "name a.b 1,2 - g-0123456789\n",
		ONE "name a.b h2 - g-0123456789\n",
		ONE "name a.b d1 - g-0123456789\n",
		ONE "guard a.b 1 d-0123456789\n",
		ONE "guard a.b d1 d-0123456789\n",
		ONE "guard a.b\n",
		HEAD "ports d1 tcp/1\nguard a.b d1 g-0123456789\n",
		HEAD "ports d1 tcp/1\nguard a..b d1 d-0123456789\n",
		HEAD "ports d1 tcp/1\nguard a.b d-0123456789\n",
		HEAD "deny\n",
		HEAD "deny a.b\n",
		HEAD "deny a..b d-0123456789\n",
		HEAD "deny a.b g-0123456789\n",
		HEAD "deny a.b d-0123456789 x\n",
		HEAD "nmae a.b 1 - g-0123456789\n",
		HEAD "name\n",
		HEAD "name a.b\n",
		ONE "name A.b 1 - g-0123456789\n",
		ONE "name a..b 1 - g-0123456789\n",
		ONE "name a.b. 1 - g-0123456789\n",
		ONE "name .a 1 - g-0123456789\n",
		ONE "name a*.b 1 - g-0123456789\n",
		ONE "name a.**.b 1 - g-0123456789\n",
		ONE "name *** 1 - g-0123456789\n",
		ONE "name a.b 0 - g-0123456789\n",
		ONE "name a.b 01 - g-0123456789\n",
		ONE "name a.b 257 - g-0123456789\n",
		ONE "name a.b 2,1 - g-0123456789\n",
		ONE "name a.b 1,1 - g-0123456789\n",
		ONE "name a.b 1, - g-0123456789\n",
		ONE "name a.b ,1 - g-0123456789\n",
		ONE "name a.b 1 public g-0123456789\n",
		ONE "name a.b 1\n",
		ONE "name a.b 1 g-0123456789\n",
		ONE "name a.b 1 - g_0123456789\n",
		ONE "name a.b 1 - g-01234567:9\n",
		ONE "name a.b 1 - g-01234567/9\n",
		ONE "name a.b 1 - g-01234567`9\n",
		ONE "name a.b 1 - g-01234567g9\n",
		ONE "name a.b 1 - g-012345678\n",
		ONE "name a.b 1 - d-0123456789\n",
		ONE "name a.b 1 - g-012345678G\n",
		ONE "name a.b 1 - g-0123456789 \n",
		ONE "name a.b 1 - g-0123456789\r\n",
	};
	char text[512];
	size_t before;
	struct names_map map;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		if (parses(bad[i]))
			printf("accepted: %s\n", bad[i]);
		CHECK(!parses(bad[i]));
	}
	CHECK(names_parse((struct str){&"\n"[1], 0}, &map, &err) == -EPROTO &&
	      strstr(err.text, "not whole lines"));
	/* of what was refused nothing is left, but for malloc(3)'s own store */
	before = mallinfo2().uordblks;
	for (unsigned i = 0; i < 100; i++)
		CHECK(!parses(HEAD "name\n"));
	CHECK(mallinfo2().uordblks < before + 16384);
	memcpy(text, HEAD, sizeof(HEAD));
	text[20] = '\0';
	CHECK(names_parse((struct str){text, sizeof(HEAD) - 1}, &map, &err) <
	      0);
}

/* What is wrong is said, and where. */
static void messages(void)
{
	char *big = calloc(1, LIMIT_PLAN_BYTES + 1u);
	struct names_map map;

	CHECK(!parses(HEAD "\n") && strstr(err.text, "line 3: malformed"));
	CHECK(!parses(HEAD " deny\n") && strstr(err.text, "line 3: malformed"));
	CHECK(!parses(HEAD "what x\n") && strstr(err.text, "unknown record"));
	CHECK(!parses(HEAD HEAD) && strstr(err.text, "unknown record"));
	CHECK(!parses(HEAD "upstream host\n") &&
	      strstr(err.text, "line 3: 'upstream' out of order"));
	CHECK(!parses(HEAD "deny a\n") &&
	      strstr(err.text, "line 3: malformed 'deny' record"));
	/* of so many bytes none is looked at but the last */
	big[LIMIT_PLAN_BYTES] = '\n';
	CHECK(names_parse((struct str){big, LIMIT_PLAN_BYTES + 1u}, &map,
			  &err) == -EPROTO &&
	      strstr(err.text, "not whole lines"));
	free(big);
}

/* As long as they may be, and one byte longer. */
static void lengths(void)
{
	char name[LIMIT_NAME_BYTES + 2], text[512];

	for (int more = 0; more < 2; more++) {
		snprintf(text, sizeof(text),
			 ONE "name %0*d.b 1 - g-0123456789\n",
			 (int)LIMIT_LABEL_BYTES + more, 0);
		CHECK(parses(text) == !more);
		memset(name, 'z', sizeof(name));
		for (size_t at = 50; at < LIMIT_NAME_BYTES; at += 50)
			name[at] = '.';
		name[LIMIT_NAME_BYTES + more] = '\0';
		CHECK(names_pattern(str_of(name)) == !more);
	}
	CHECK(names_pattern(STR("az09-_.*")) && !names_pattern(STR("a{")) &&
	      !names_pattern(STR("a`")) && !names_pattern(STR("a/")) &&
	      !names_pattern(STR("a:")));
}

/* So many lines about names, and one more. */
static void many_lines(void)
{
	static char text[LIMIT_GRANTS * 24u];

	for (unsigned more = 0; more < 2; more++) {
		size_t n = (size_t)sprintf(text, HEAD);

		for (unsigned i = 0; i < LIMIT_GRANTS + more; i++) {
			memcpy(text + n, "deny a d-0123456789\n", 20);
			n += 20;
		}
		text[n] = '\0';
		CHECK(parses(text) == !more);
	}
	CHECK(strstr(err.text, "more than 20000 names"));
}

#define QUIC ONE "ports q1 tcp/443\n"

/* A guard has one class, which is of no grant. */
static void guard_classes(void)
{
	CHECK(!parses(QUIC "guard a.test q d-0123456789\n"));
	CHECK(!parses(QUIC "guard a.test q0 d-0123456789\n"));
	CHECK(!parses(QUIC "guard a.test q2 d-0123456789\n"));
	CHECK(!parses(QUIC "guard a.test q257 d-0123456789\n"));
	CHECK(!parses(QUIC "guard a.test h1 d-0123456789\n"));
	CHECK(!parses(QUIC "guard a.test 1 d-0123456789\n"));
	CHECK(parses(QUIC "guard a.test q1 d-0123456789\n"));
}

int main(void)
{
	accepts();
	refuses();
	messages();
	lengths();
	many_lines();
	guard_classes();
	return check_status();
}
