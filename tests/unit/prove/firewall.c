/* The reader of ruleset.nft, line by line: what it takes, and what it says of
 * anything else; and a few packets through chains of chains. */
#include "compiler/prove/firewall.h"

#include "tests/check.h"

#define HEAD                                                                   \
	"# a comment\n\ntable inet membrane {\n"                               \
	"\tset cidr4_1 {\n\t\ttype ipv4_addr\n\t\tflags interval\n"            \
	"\t\telements = { 192.0.2.0/24, 198.51.100.1,\n"                       \
	"\t\t\t     203.0.113.1-203.0.113.9 }\n\t}\n\n"                        \
	"\tset host6_2 {\n\t\ttype ipv6_addr\n\t\tflags timeout\n\t}\n\n"      \
	"\tset proxy4 {\n\t\ttype ipv4_addr . inet_service\n\t}\n\n"
#define FORWARD                                                                \
	"\tchain forward {\n"                                                  \
	"\t\ttype filter hook forward priority filter; policy drop;\n"
#define END  "\t}\n}\n"
#define RULE 22 /* the line of the rule below */

/* Each is one rule, of those that the emitter writes. */
static const char *const rules[] = {
	"accept",
	"iifname != \"agent0\" oifname \"lo\" accept",
	"ip daddr @cidr4_1 tcp dport { 80, 8000-8999 } accept",
	"ip6 daddr != @host6_2 udp dport 53 drop",
	"ip daddr . tcp dport @proxy4 accept",
	"ip saddr { 192.0.2.1, 192.0.2.3 } counter drop",
	"meta l4proto != { tcp, udp } counter log prefix \"membrane:protocol:\" group 77 reject with icmpx admin-prohibited",
	"log prefix \"membrane:allow:\" group 78 accept",
	"meta l4proto tcp reject with tcp reset",
	"ct state established,related accept",
	"ct bytes > 0 ct mark set 0x00000001",
	"ct state established socket transparent 1 meta mark set 0x00000001 accept",
	"ip6 daddr @host6_2 tcp dport 443 tproxy ip6 to :15001 meta mark set 0x00000001 accept",
	"tcp dport 80 redirect to :15002",
	"tcp dport 80 dnat ip to 192.0.0.2",
	"udp dport 80 dnat ip6 to fd00:6d65:6d62::2",
	"limit rate over 1000/second burst 5000 packets counter drop",
	"limit rate 6/minute burst 10 packets log prefix \"membrane:x:\" group 77",
	"ip hdrlength != 5 drop",
	"exthdr rt exists drop",
	"ip6 hoplimit 255 icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept",
	"icmp type destination-unreachable icmp code frag-needed accept",
	"@th,64,8 >= 0xc0 udp length >= 1208 drop",
	"@th,64,8 & 0xc9 == 0x9 @th,136,32 0x51303030-0x51303939 drop",
	"@th,72,32 { 0x1, 0xff000001-0xff0000ff } @th,104,8 0x8-0x14 drop",
	"meta skuid 64101 meta nfproto ipv6 meta pkttype host ct direction original ct status dnat masquerade",
};

static const struct {
	const char *rule, *what;
} bad_rules[] = {
	{"accept accept", "words behind a verdict"},
	{"snat to 1.2.3.4", "a word that no rule has"},
	{"accept ", "a rule that is not one"}, /* a blank at the end */
	{"tcp  dport 80 accept", "a rule that is not one"},
	{"tcp", "a word that no rule has there"},
	{"tcp sport 80 accept", "a word that no rule has there"},
	{"tcp dport", "a rule that ends too early"},
	{"tcp dport 80-80 accept", "a range that is none"},
	{"tcp dport 90-80 accept", "a range that is none"},
	{"tcp dport http accept", "a value that is not known"},
	{"tcp dport 0x1g accept", "a value that is not known"},
	{"tcp dport 0x accept", "a value that is not known"},
	{"tcp dport 99999999999 accept", "a value that is not known"},
	{"tcp dport { 80, 443 accept", "a word that no rule has there"},
	{"tcp dport { 80,", "a rule that ends too early"},
	{"iifname agent0 accept", "a value that is not known"},
	{"iifname \"eth0\" accept", "a value that is not known"},
	{"ip ttl 3 accept", "a field that no rule has"},
	{"ip", "a rule that ends too early"},
	{"ip daddr accept", "no address or network of that family"},
	{"ip daddr 2001:db8::1 accept", "no address or network of that family"},
	{"ip daddr 192.0.2.1/24 accept",
	 "no address or network of that family"},
	{"ip daddr 192.0.2.9-192.0.2.1 accept",
	 "no address or network of that family"},
	{"ip daddr { 192.0.2.9, 192.0.2.1 } accept",
	 "elements that are not in order, and apart"},
	{"ip daddr { 192.0.2.1, 192.0.2.9", "a word that no rule has there"},
	{"ip daddr @cidr4_2 accept", "a set that is not there"},
	{"ip6 daddr @cidr4_1 accept", "a set of another type"},
	{"ip daddr @proxy4 accept", "a set of another type"},
	{"ip daddr . tcp dport @cidr4_1 accept", "a set of another type"},
	{"ip daddr . icmp dport @proxy4 accept", "a pair that no rule has"},
	{"ip saddr . tcp dport @proxy4 accept", "a pair that no rule has"},
	{"ip daddr . tcp dport 80 accept", "a pair that no rule has"},
	{"meta iif 3 accept", "a field that no rule has"},
	{"meta", "a rule that ends too early"},
	{"meta mark set 0 accept", "a mark that is none"},
	{"meta mark set x accept", "a mark that is none"},
	{"ct zone 3 accept", "a field that no rule has"},
	{"ct", "a rule that ends too early"},
	{"ct state open accept", "a value that is not known"},
	{"ct bytes > 9", "words that no rule has there"},
	{"ct mark set x", "a field that no rule has"},
	{"icmp kind 3 accept", "a field that no rule has"},
	{"icmpv6 code 3 accept", "a field that no rule has"},
	{"icmpv6", "a rule that ends too early"},
	{"limit size 3 accept", "a word that no rule has there"},
	{"limit rate 3/hour burst 1 packets accept", "a rate that is none"},
	{"limit rate x/second burst 1 packets accept", "a rate that is none"},
	{"limit rate 3/second burst x packets accept", "a rate that is none"},
	{"@th,0,16 80 accept", "a place in a datagram that no rule has"},
	{"@th,64,8 >= x accept", "a number that is none"},
	{"@th,64,8 & x == 0x9 accept", "a number that is none"},
	{"@th,64,8 & 0x9 0x9 accept", "a word that no rule has there"},
	{"exthdr hbh exists accept", "words that no rule has there"},
	{"socket cgroupv2 1 accept", "a word that no rule has there"},
	{"log prefix \"other:x:\" group 77 accept", "a log that nobody reads"},
	{"log prefix \"membrane::\" group 77 accept",
	 "a log that nobody reads"},
	{"log prefix \"membrane:allow:\" group 77 accept",
	 "words that no rule has there"},
	{"log level debug", "a word that no rule has there"},
	{"redirect to 80", "a port that is none"},
	{"redirect to :0", "a port that is none"},
	{"redirect :80", "a word that no rule has there"},
	{"redirect to", "a rule that ends too early"},
	{"dnat ip to 192.0.0.3", "words that no rule has there"},
	{"tproxy ip to :80 accept", "a word that no rule has there"},
	{"tproxy ip6 to :80 accept", "tproxy without a mark"},
	{"reject", "words that no rule has there"},
	{"reject with tcp fin", "words that no rule has there"},
	{"counter tcp dport 80 log prefix \"membrane:x:\" group 77 ip daddr 1.2.3.4 accept",
	 "a condition behind what is done"},
	{"jump", "a rule that ends too early"},
	{"jump nowhere", "a chain that is not there"},
	{"goto forward", "a chain that is not there"},
};

static const struct {
	const char *text, *what;
	uint32_t line;
} bad_texts[] = {
	{"", "not whole lines", 0},
	{"table inet membrane {\n}", "not whole lines", 0},
	{"\n", "no table of ours", 1},
	{"table ip membrane {\n}\n", "no table of ours", 1},
	{"table inet membrane {\n", "a table without its end", 1},
	{"table inet membrane {\n}\n}\n", "a line behind the table", 3},
	{"table inet membrane {\n\tflowtable f {\n\t}\n}\n",
	 "a line that no table has", 2},
	{"table inet membrane {\n\tset x4 {\n", "a set without its end", 2},
	{"table inet membrane {\n\tset x4 {\n\t\ttype mark\n",
	 "a type of sets that is not known", 3},
	{"table inet membrane {\n\tset x4 {\n\t\ttype ipv4_addr\n",
	 "a set without its end", 3},
	{"table inet membrane {\n\tset x4 {\n\t\ttype ipv4_addr\n\t\tflags interval\n",
	 "a set without its end", 4},
	{"table inet membrane {\n\tset x4 {\n\t\ttype ipv4_addr\n\t\tflags dynamic\n",
	 "flags of sets that are not known", 4},
	{"table inet membrane {\n\tset x4 {\n\t\ttype ipv4_addr . inet_service\n\t\tflags timeout\n",
	 "flags of sets that are not known", 4},
	{"table inet membrane {\n\tset x4_1 {\n\t\ttype ipv4_addr\n\t\tflags timeout\n\t}\n",
	 "a set that nothing fills", 5},
	{"table inet membrane {\n\tset host4 {\n\t\ttype ipv4_addr\n\t\tflags timeout\n\t}\n",
	 "a set that nothing fills", 5},
	{"table inet membrane {\n\tset host4_0 {\n\t\ttype ipv4_addr\n\t\tflags timeout\n\t}\n",
	 "a set that nothing fills", 5},
	{"table inet membrane {\n\tset host_1 {\n\t\ttype ipv4_addr\n\t\tflags timeout\n\t}\n",
	 "a set that nothing fills", 5},
	{"table inet membrane {\n\tset x4 {\n\t\ttype ipv4_addr\n\t\tflags interval\n\t\tsize 3\n",
	 "a line that no set has", 5},
	{"table inet membrane {\n\tset x4 {\n\t\ttype ipv4_addr\n\t\tflags interval\n\t\telements = { 1.2.3.4\n",
	 "a list without its end", 5},
	{"table inet membrane {\n\tset x4 {\n\t\ttype ipv4_addr\n\t\tflags interval\n\t\telements = { 1.2.3.4,\n",
	 "a list without its end", 5},
	{"table inet membrane {\n\tset x4 {\n\t\ttype ipv4_addr\n\t\tflags interval\n\t\telements = { ::1 }\n",
	 "no address or network of that family", 5},
	{"table inet membrane {\n\tset x4 {\n\t\ttype ipv4_addr\n\t\tflags interval\n\t}\n\tset x4 {\n",
	 "a set that is there already", 6},
	{"table inet membrane {\n\tchain a {\n\t}\n\tchain a {\n",
	 "a chain that is there already", 4},
	{"table inet membrane {\n\tchain a {\n\t\taccept\n",
	 "a chain without its end", 3},
	{"table inet membrane {\n\tchain a {\n\t\t\taccept\n",
	 "a line that no chain has", 3},
	{"table inet membrane {\n\tchain a {\n\t\ttype filter hook forward priority filter; policy drop;\n",
	 "not the hook of that chain", 3},
	{"table inet membrane {\n\tchain forward {\n\t\ttype filter hook forward priority 7; policy drop;\n",
	 "not the hook of that chain", 3},
	{"table inet membrane {\n\tchain forward {\n\t\taccept\n\t\ttype filter hook forward priority filter; policy drop;\n",
	 "a word that no rule has", 4},
	{"table inet membrane {\n\tchain a {\n\t\tjump b\n\t}\n\tchain b {\n\t\tjump a\n\t}\n}\n",
	 "chains that lead round", 6},
};

static void check_read(const char *text, const char *what, uint32_t line)
{
	struct arena *a = arena_new();
	struct firewall_fault fault;
	struct firewall f;
	bool ok = firewall_read(a, str_of(text), &f, &fault);

	if (!what)
		CHECK_MSG(ok, "line %u: %.*s: %.*s", fault.line,
			  STR_ARG(fault.what), STR_ARG(fault.text));
	else
		CHECK_MSG(!ok && str_is(fault.what, what) && fault.line == line,
			  "%s: line %u: %.*s", text, fault.line,
			  STR_ARG(fault.what));
	arena_free(a);
}

static void check_rule(const char *rule, const char *what)
{
	struct arena *a = arena_new();

	check_read(arena_fmt(a, HEAD FORWARD "\t\t%s\n" END, rule).p, what,
		   RULE);
	arena_free(a);
}

/* Forty chains: more than there may be. */
static void check_many(void)
{
	struct arena *a = arena_new();
	struct str text = STR("table inet membrane {\n");

	for (int i = 0; i < 40; i++)
		text = arena_fmt(a, "%.*s\tchain c%d {\n\t}\n", STR_ARG(text),
				 i);
	check_read(text.p, "too many chains", 66);
	arena_free(a);
}

/* --- packets through chains ---------------------------------------------- */

static bool is_member(const void *ctx, uint32_t term)
{
	(void)ctx, (void)term;
	return false;
}

static const char *const nested =
	"table inet membrane {\n" FORWARD "\t\ttcp dport 1 jump outer\n"
	"\t\ttcp dport 2 goto outer\n"
	"\t\tlog prefix \"membrane:last:\" group 77 reject with tcp reset\n"
	"\t}\n"
	"\tchain outer {\n\t\tmeta mark 0x00000000 jump inner\n"
	"\t\ttcp dport 3 accept\n\t}\n"
	"\tchain inner {\n\t\tmeta mark 0x00000007 accept\n\t}\n}\n";

static void check_packet(uint32_t port, uint32_t proto, uint32_t mark,
			 enum firewall_end end, uint32_t steps)
{
	struct arena *a = arena_new();
	struct firewall_packet p = {.to = is_member, .from = is_member};
	struct firewall_result r = {0};
	struct firewall_fault fault;
	struct firewall f;

	CHECK(firewall_read(a, str_of(nested), &f, &fault));
	for (size_t i = 0; i < FIREWALL_KEYS; i++)
		p.v[i] = FIREWALL_NONE;
	p.v[FIREWALL_PROTO] = proto;
	p.v[FIREWALL_DPORT] = port;
	p.v[FIREWALL_MARK] = mark;
	firewall_run(&f, FIREWALL_FORWARD, &p, &r);
	CHECK_MSG(r.end == end && r.n == steps, "port %u: %u, %u steps", port,
		  r.end, r.n);
	arena_free(a);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		check_rule(rules[i], NULL);
	for (size_t i = 0; i < ARRAY_LEN(bad_rules); i++)
		check_rule(bad_rules[i].rule, bad_rules[i].what);
	for (size_t i = 0; i < ARRAY_LEN(bad_texts); i++)
		check_read(bad_texts[i].text, bad_texts[i].what,
			   bad_texts[i].line);
	check_many();
	/* Back from a chain that was jumped to; not from one by goto. */
	check_packet(1, 6, 0, FIREWALL_REJECT, 1);
	check_packet(2, 6, 0, FIREWALL_DROP, 1);
	check_packet(3, 6, 0, FIREWALL_REJECT, 1);
	check_packet(1, 17, 0, FIREWALL_REJECT, 1);
	return check_status();
}
