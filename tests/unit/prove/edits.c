/*
 * Plans that were edited by hand: each of these does something else than its
 * policy says, or is no plan any more, and a proof has to say so.
 */
#include "compiler/emit/parts.h"
#include "compiler/emit/nft/nft.h"
#include "compiler/prove/prove.h"

#include "tests/check.h"
#include "tests/policy.h"

#include <string.h>

/* Most kinds of sets and rules at once. */
static const char *const rich = "allow a.test tcp/443,udp/443\n"
				"allow *.a.test tcp/80,tcp/8000-8999\n"
				"allow p.test tcp/5432 private\n"
				"allow h.test tcp/443 http=GET\n"
				"allow g.test udp/443,udp/8080\n"
				"allow 203.0.113.0/24 tcp/1-65535\n"
				"allow 10.1.0.0/16 tcp/22,udp/53\n"
				"allow 2001:db8::/32 tcp/22,udp/53\n"
				"allow 198.51.100.7 tcp/443 http=GET\n"
				"allow 169.254.169.254 tcp/80\n"
				"allow * tcp/9418\n"
				"deny 203.0.113.64/26 tcp/1-65535,udp/1-65535\n"
				"deny 2001:db8:1::/48 tcp/1-65535,udp/1-65535\n"
				"deny b.a.test tcp/8080\n"
				"deny x.a.test\n"
				"deny * tcp/25\n"
				"deny h.test tcp/443 http=DELETE\n"
				"ask k.test tcp/443\n"
				"ask 192.88.99.0/24 tcp/443\n";
/* Without HAProxy: networks alone, one way out of the floor, the machine. */
static const char *const plain = "allow 203.0.113.0/24 tcp/443\n"
				 "allow 10.0.0.0/8 udp/53,tcp/22\n"
				 "allow 192.0.0.5 tcp/8080\n"
				 "allow 127.0.0.0/24 tcp/80\n"
				 "deny 203.0.113.7 tcp/443\n"
				 "deny 10.9.0.0/16 tcp/1-65535,udp/1-65535\n";

/* The gate's own numbers, elsewhere. */
static const char *const numbers = "allow 1.2.3.4\n"
				   "allow 2606:4700::1\n"
				   "deny a.test tcp/15001,tcp/15002\n";

enum artefact { RULES, NAMES };

/* Of n that are alike the one at nth, from 1, becomes another text. */
struct edit {
	const char *const *policy;
	enum artefact of;
	unsigned nth;
	const char *was, *is;
};

#define LOG(reason)                                                            \
	" counter log prefix \"membrane:" reason ":\" group 77 goto refuse"
#define TAKEN " meta mark set 0x00000001 accept\n"

static const struct edit edits[] = {
	/* --- a rule is gone -------------------------------------------------
	 */
	{&rich, RULES, 1,
	 "\t\tip daddr @cidr4_2 tcp dport 22 redirect to :15001\n", ""},
	{&rich, RULES, 1,
	 "\t\tip daddr @host4_4 tcp dport 443 redirect to :15001\n", ""},
	{&rich, RULES, 1,
	 "\t\tip daddr @guard4_3 tcp dport 8080 redirect to :15002\n", ""},
	{&rich, RULES, 1, "\t\tip daddr @deny4_1 tcp dport 1-65535 accept\n",
	 ""},
	{&rich, RULES, 1,
	 "\t\tip daddr @ask4_1 tcp dport 443 redirect to :15004\n", ""},
	{&rich, RULES, 1,
	 "\t\tip daddr @cidrask4_1 tcp dport 443 redirect to :15004\n", ""},
	{&rich, RULES, 1, "\t\ttcp dport 25 accept\n", ""},
	{&rich, RULES, 1, "\t\tip daddr @host4 accept\n", ""},
	{&rich, RULES, 1, "\t\tip6 daddr @host6 accept\n", ""},
	{&rich, RULES, 1, "\t\tct state established socket transparent 1" TAKEN,
	 ""},
	{&rich, RULES, 1,
	 "\t\tip6 daddr @cidr6_2 tcp dport 22 tproxy ip6 to :15001" TAKEN, ""},
	{&rich, RULES, 1,
	 "\t\ttcp dport { 15001, 15002, 15004 } ct status dnat accept\n", ""},
	{&rich, RULES, 1, "\t\tmeta l4proto tcp meta mark 0x00000001 accept\n",
	 ""},
	{&rich, RULES, 1, "\t\tip daddr 192.0.0.1 udp dport 53 accept\n", ""},
	{&rich, RULES, 1,
	 "\t\tip6 daddr fd00:6d65:6d62::1 tcp dport 53 accept\n", ""},
	{&rich, RULES, 1, "\t\tmeta pkttype != host drop\n", ""},
	{&rich, RULES, 1, "\t\tip hdrlength != 5" LOG("protocol") "\n", ""},
	{&rich, RULES, 1, "\t\texthdr rt exists" LOG("protocol") "\n", ""},
	{&rich, RULES, 1, "\t\tip daddr @host4" LOG("host-address") "\n", ""},
	{&rich, RULES, 1, "\t\tip6 daddr @floor6" LOG("floor") "\n", ""},
	{&rich, RULES, 1,
	 "\t\tip daddr @deny4_1 udp dport 1-65535" LOG("denied") "\n", ""},
	{&rich, RULES, 1,
	 "\t\tip6 daddr @deny6_1 udp dport 1-65535" LOG("denied") "\n", ""},
	{&rich, RULES, 1, "\t\ttcp dport 25" LOG("denied") "\n", ""},
	{&rich, RULES, 1, "\t\tip daddr @cidr4_2 udp dport 53 goto granted\n",
	 ""},
	{&rich, RULES, 1, "\t\tct state invalid drop\n", ""},
	{&rich, RULES, 1, "\t\tct state established,related accept\n", ""},
	{&rich, RULES, 1, "\t\tip saddr 192.0.0.2 accept\n", ""},
	{&rich, RULES, 1, "\t\tcounter drop\n", ""},
	{&rich, RULES, 1, "\t\toifname != \"agent0\" masquerade\n", ""},
	{&rich, RULES, 1, "\t\toifname \"agent0\" drop\n", ""},
	{&plain, RULES, 1, "\t\tip daddr 192.0.0.5 goto machine\n", ""},
	{&plain, RULES, 2,
	 "\t\tip daddr @deny4_2 tcp dport 443" LOG("denied") "\n", ""},

	/* --- two in another order -------------------------------------------
	 */
	{&rich, RULES, 1,
	 "\t\tip daddr @guard4_3 tcp dport 8080 redirect to :15002\n"
	 "\t\tip daddr @cidr4_1 tcp dport 1-65535 redirect to :15001\n",
	 "\t\tip daddr @cidr4_1 tcp dport 1-65535 redirect to :15001\n"
	 "\t\tip daddr @guard4_3 tcp dport 8080 redirect to :15002\n"},
	{&rich, RULES, 1,
	 "\t\tip daddr @deny4_1 tcp dport 1-65535 accept\n"
	 "\t\tip daddr @guard4_3 tcp dport 8080 redirect to :15002\n",
	 "\t\tip daddr @guard4_3 tcp dport 8080 redirect to :15002\n"
	 "\t\tip daddr @deny4_1 tcp dport 1-65535 accept\n"},
	{&rich, RULES, 1,
	 "\t\tct state established,related accept\n\t\tct state invalid drop\n",
	 ""},
	{&plain, RULES, 1,
	 "\t\tct state established,related accept\n"
	 "\t\tct state invalid drop\n"
	 "\t\tip daddr @cidr4_4 tcp dport 8080 goto granted\n",
	 "\t\tip daddr @cidr4_4 tcp dport 8080 goto granted\n"
	 "\t\tct state established,related accept\n"
	 "\t\tct state invalid drop\n"},

	{&rich, RULES, 1,
	 "\t\tip daddr @host4_4 tcp dport 443 redirect to :15001\n",
	 "\t\tip daddr @http4_3 tcp dport 443 redirect to :15002\n"
	 "\t\tip daddr @host4_4 tcp dport 443 redirect to :15001\n"},

	/* --- a network by one bit, an element -------------------------------
	 */
	{&rich, RULES, 1, "elements = { 203.0.113.64/26 }",
	 "elements = { 203.0.113.64/27 }"},
	{&rich, RULES, 1, "elements = { 203.0.113.64/26 }",
	 "elements = { 203.0.113.65-203.0.113.127 }"},
	{&rich, RULES, 1, "elements = { 203.0.113.0/24 }",
	 "elements = { 203.0.112.0/23 }"},
	{&rich, RULES, 1, "elements = { 10.1.0.0/16 }",
	 "elements = { 10.1.0.0/17 }"},
	{&rich, RULES, 1, "elements = { 2001:db8::/32 }",
	 "elements = { 2001:db8::/31 }"},
	{&rich, RULES, 1, "elements = { 2001:db8:1::/48 }",
	 "elements = { 2001:db8:1::/49 }"},
	{&rich, RULES, 1, "elements = { 198.51.100.7 }",
	 "elements = { 198.51.100.6/31 }"},
	{&rich, RULES, 1, "elements = { 169.254.169.254 }",
	 "elements = { 169.254.169.253 }"},
	{&rich, RULES, 1, "elements = { 192.88.99.0/24 }",
	 "elements = { 192.88.99.0/25 }"},
	{&rich, RULES, 1, "127.0.0.0/8,", "127.0.0.0/9,"},
	{&rich, RULES, 1, "64:ff9b::7f00:0/104,", "64:ff9b::7f00:0/105,"},
	{&rich, RULES, 1, "224.0.0.0/3", "224.0.0.0/4"},
	{&rich, RULES, 1, "2001::/32,\n", "2001::/33,\n"},
	{&rich, RULES, 1, "2002:a00::/24,\n", "2002:a00::/25,\n"},

	/* --- a port by one --------------------------------------------------
	 */
	{&rich, RULES, 1, "@host4_4 tcp dport 443 ", "@host4_4 tcp dport 444 "},
	{&rich, RULES, 1, "@host4_7 tcp dport { 80, 8000-8999 } ",
	 "@host4_7 tcp dport { 80, 8000-9000 } "},
	{&rich, RULES, 1, "@host6_7 tcp dport { 80, 8000-8999 } ",
	 "@host6_7 tcp dport { 80, 8001-8999 } "},
	{&rich, RULES, 1, "@guard4_3 tcp dport 8080 ",
	 "@guard4_3 tcp dport 8081 "},
	{&rich, RULES, 1, "@cidr4_1 tcp dport 1-65535 redirect",
	 "@cidr4_1 tcp dport 2-65535 redirect"},
	{&rich, RULES, 1, "@private4 tcp dport 9418 ",
	 "@private4 tcp dport 9417-9418 "},
	{&rich, RULES, 1, "udp dport 443 goto granted",
	 "udp dport 1-443 goto granted"},
	{&rich, RULES, 1, "ip daddr 192.0.0.1 udp dport 53 ",
	 "ip daddr 192.0.0.1 udp dport 53-54 "},
	{&rich, RULES, 1, "{ 15001, 15002, 15004 }", "{ 15001, 15002 }"},

	/* --- another verdict, another door -----------------------------------
	 */
	{&rich, RULES, 1, "@http4_3 tcp dport 443 redirect to :15002",
	 "@http4_3 tcp dport 443 redirect to :15001"},
	{&rich, RULES, 1, "@http6_3 tcp dport 443 tproxy ip6 to :15002",
	 "@http6_3 tcp dport 443 tproxy ip6 to :15001"},
	{&rich, RULES, 1, "@cidrhttp4_3 tcp dport 443 redirect to :15002",
	 "@cidrhttp4_3 tcp dport 443 redirect to :15001"},
	{&rich, RULES, 1, "@ask6_1 tcp dport 443 tproxy ip6 to :15004",
	 "@ask6_1 tcp dport 443 tproxy ip6 to :15001"},
	{&rich, RULES, 1, "@guard6_3 tcp dport 8080 tproxy ip6 to :15002",
	 "@guard6_3 tcp dport 8080 tproxy ip6 to :15001"},
	{&rich, RULES, 1, "ip daddr @floor4" LOG("floor"),
	 "ip daddr @floor4 accept"},
	{&rich, RULES, 1, "ip daddr != @private4 tcp",
	 "ip daddr @private4 tcp"},
	{&rich, RULES, 1,
	 "counter log prefix \"membrane:no-grant:\" group 77 goto refuse",
	 "goto granted"},
	{&rich, RULES, 1,
	 "counter log prefix \"membrane:no-grant:\" group 77 goto refuse",
	 "counter drop"},
	{&rich, RULES, 1, "log prefix \"membrane:allow:\" group 78 accept",
	 "accept"},
	{&rich, RULES, 1, "meta l4proto != { tcp, udp } counter",
	 "meta l4proto != { tcp, udp } counter accept\n\t\tmeta l4proto != { tcp, udp } counter"},
	{&rich, RULES, 1, "@th,64,8 >= 0xc0 udp length >= 1208 ",
	 "@th,64,8 >= 0xc4 udp length >= 1208 "},
	{&rich, RULES, 1, "udp length >= 1208 ", "udp length >= 1209 "},
	{&rich, RULES, 1, "@quic4_1 udp dport 443 jump quic",
	 "@quic4_1 udp dport 444 jump quic"},
	{&rich, RULES, 1, "priority -450;", "priority mangle;"},
	/* the rule that once stood there: IPv6 to the gate's numbers elsewhere
	 */
	{&numbers, RULES, 1, "\t\tmeta nfproto != ipv6 accept\n",
	 "\t\tmeta nfproto != ipv6 accept\n\t\ttcp dport { 15001, 15002 } accept\n"},

	/* --- no plan any more -----------------------------------------------
	 */
	{&rich, RULES, 1, "\t\tcounter drop\n", "\t\tcounter  drop\n"},
	{&rich, RULES, 1, "counter drop", "counter continue"},
	{&rich, RULES, 1, "@deny4_1", "@deny4_9"},
	{&rich, RULES, 1, "ip daddr @deny4_1", "ip daddr @deny6_1"},
	{&rich, RULES, 1, "goto granted", "goto forward"},
	{&rich, RULES, 1, "flags timeout", "flags constant"},
	{&rich, RULES, 1, "table inet membrane {", "table inet membrane2 {"},
	{&rich, RULES, 1, "tcp dport 25 accept", "tcp sport 25 accept"},
	{&rich, RULES, 1, "elements = { 203.0.113.64/26 }",
	 "elements = { 203.0.113.65/26 }"},

	/* --- names.map -------------------------------------------------------
	 */
	{&rich, NAMES, 1, "deny x.a.test", "deny y.a.test"},
	{&rich, NAMES, 1, "name p.test 5 private", "name p.test 5 -"},
	{&rich, NAMES, 1, "name a.test 4 -", "name a.test 4 private"},
	{&rich, NAMES, 1, "name a.test 4 -", "name a.test - -"},
	{&rich, NAMES, 1, "name a.test 4 -", "name a.test 5 -"},
	{&rich, NAMES, 1, "name h.test h3 -", "name h.test 4 -"},
	{&rich, NAMES, 1, "name *.a.test", "name **.a.test"},
	{&rich, NAMES, 1, "name p.test", "name q.test"},
	{&rich, NAMES, 1, "guard b.a.test d3", "guard c.a.test d3"},
	{&rich, NAMES, 1, "guard h.test q1", "guard i.test q1"},
	{&rich, NAMES, 1, "ask k.test", "ask l.test"},
	{&rich, NAMES, 1, "asknet 192.88.99.0/24", "asknet 192.88.98.0/24"},
	{&rich, NAMES, 1, "ports a1 tcp/443", "ports a1 tcp/444"},
	{&rich, NAMES, 1, "cover 10.1.0.0/16\n", ""},
	{&rich, NAMES, 1, "cover 169.254.169.254/32\n",
	 "cover 169.254.0.0/17\n"},
	{&rich, NAMES, 1, "cover 10.1.0.0/16\n", "cover 10.0.0.0/8\n"},
	{&rich, NAMES, 1, "private 192.168.0.0/16\n",
	 "private 192.168.0.0/16\nprivate 8.8.8.0/24\n"},
	{&rich, NAMES, 1, "membrane-names 2", "membrane-names 3"},
	{&rich, NAMES, 1, "upstream host", "upstream proxy"},
};

static char *edited(struct arena *a, struct str text, const struct edit *e)
{
	const char *at = text.p - 1;
	size_t before, was = strlen(e->was);

	for (unsigned i = 0; at && i < e->nth; i++)
		at = strstr(at + 1, e->was);
	if (!at)
		return NULL;
	before = (size_t)(at - text.p);
	return arena_cstr(a, arena_fmt(a, "%.*s%s%s", (int)before, text.p,
				       e->is, at + was));
}

static void check_edit(const struct edit *e, unsigned n[4])
{
	struct test_policy t;
	struct prove_out out;
	struct prove_in in;
	struct str *part;
	char *text;

	CHECK(test_policy_make(&t, *e->policy));
	in = (struct prove_in){&t.policy, test_policy_emit(&t, nft_emit),
			       test_policy_emit(&t, names_emit), NULL};
	part = e->of == RULES ? &in.ruleset : &in.names;
	text = edited(t.a, *part, e);
	CHECK_MSG(text, "not there: %s", e->was);
	if (text) {
		*part = str_of(text);
		prove_plan(t.a, &in, &out);
		n[out.end]++;
		CHECK_MSG(out.end == PROVE_DIFFERS ||
				  out.end == PROVE_UNREADABLE,
			  "agrees (%u): '%s' for '%s'", out.end, e->is, e->was);
	}
	test_policy_done(&t);
}

static void check_agrees(const char *policy)
{
	struct test_policy t;
	struct prove_out out;
	struct prove_in in;

	CHECK(test_policy_make(&t, policy));
	in = (struct prove_in){&t.policy, test_policy_emit(&t, nft_emit),
			       test_policy_emit(&t, names_emit), NULL};
	prove_plan(t.a, &in, &out);
	CHECK_MSG(out.end == PROVE_AGREES, "%u: %.*s: %.*s, %.*s; %s:%u",
		  out.end, STR_ARG(out.subject), STR_ARG(out.wanted),
		  STR_ARG(out.got), out.by.file ? out.by.file : "",
		  out.by.line);
	test_policy_done(&t);
}

int main(void)
{
	unsigned n[4] = {0};

	check_agrees(rich);
	check_agrees(plain);
	check_agrees(numbers);
	for (size_t i = 0; i < ARRAY_LEN(edits); i++)
		check_edit(&edits[i], n);
	printf("%zu edits: %u differ, %u are no plan\n", ARRAY_LEN(edits),
	       n[PROVE_DIFFERS], n[PROVE_UNREADABLE]);
	return check_status();
}
