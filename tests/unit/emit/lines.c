/*
 * Lines that a policy puts into an artefact, where a whole artefact (a golden
 * case) would say no more: of each row all lines with that part in them, in
 * their order.
 */
#include "tests/unit/emit/planned.h"

#include "compiler/emit/git/known_hosts.h"

struct row {
	const char *policy, *file, *part, *lines;
	bool apart; /* the agent is in another Pod */
};

#define TLS	"tcp-request content "
#define REQUEST "http-request "
#define ASKED_ANY                                                              \
	"# ask * tcp/443 for=session wait=1m  a-4c009263d8  .membrane.yaml:1\n"

static const struct row rows[] = {
	/* One network of two that touch, in whatever order they are written. */
	{.policy = "upstream: {proxy: 'http://192.0.2.1:3128',"
		   " direct: [10.128.0.0/9, 10.0.0.0/9]}\nallow: [a.test]",
	 .file = "ruleset.nft",
	 .part = "10.",
	 .lines = "elements = { 10.0.0.0/8 }\n"},
	/* Past the proxy for networks alone, nobody asks a resolver. */
	{.policy = "upstream: {proxy: 'http://192.0.2.1:3128',"
		   " direct: [10.128.0.0/9]}\nallow: [a.test]",
	 .file = "ruleset.nft",
	 .part = "@resolver",
	 .lines = ""},
	/* A URL that is asked about has stand-ins as a name has. */
	{.policy = "ask: ['https://d.test/x/']",
	 .file = "ruleset.nft",
	 .part = "ask4_1",
	 .lines = "set ask4_1 {\n"
		  "ip daddr @ask4_1 tcp dport 443 redirect to :15004\n"},
	/* A set names the rules of its own family, and of its own kind. */
	{.policy = "allow: [{dest: 198.51.100.0/24, http: [{paths: [/x]}]},"
		   " {dest: '2001:db8::/32', http: [{paths: [/x]}]}]",
	 .file = "ruleset.nft",
	 .part = "# allow",
	 .lines =
		 "# allow 198.51.100.0/24 tcp/1-65535 http [* /x]  g-c2e08cec39  .membrane.yaml:1\n"
		 "# allow 2001:db8::/32 tcp/1-65535 http [* /x]  g-0286f005c5  .membrane.yaml:1\n"},
	{.policy = "allow: [{dest: '*', http: [{paths: [/x]}]},"
		   " {dest: a.test, http: [{paths: [/x]}]}]",
	 .file = "ruleset.nft",
	 .part = "# allow",
	 .lines =
		 "# allow * tcp/1-65535 http [* /x]  g-f20045833f  .membrane.yaml:1\n"
		 "# allow a.test tcp/1-65535 http [* /x]  g-d9125dce5c  .membrane.yaml:1\n"},
	{.policy = "ask: ['*:443', 'a.test:443']",
	 .file = "ruleset.nft",
	 .part = "# ask *",
	 .lines = ASKED_ANY ASKED_ANY},
	{.policy = "ask: ['*:443', 'a.test:443']",
	 .file = "ruleset.nft",
	 .part = "# ask a.test",
	 .lines =
		 "# ask a.test tcp/443 for=session wait=1m  a-a9c84709f1  .membrane.yaml:1\n"},
	/* One port and one path, by one scheme, the other, and both. */
	{.policy = "allow: [a.test]\n"
		   "deny: ['http://b.test:8080/x', 'https://c.test:8080/x',"
		   " {dest: d.test, ports: [8080], http: [{paths: [/x]}]}]",
	 .file = "hosts.map",
	 .part = ".d",
	 .lines = "b.test .d3.\nc.test .d2.m.\nd.test .d1.m.\n"},
	/* Some requests to the machine are denied, and not its name. */
	{.policy = "deny: [{dest: host, http: [{methods: [PUT]}]}]\n"
		   "allow: ['host:80']",
	 .file = "names.map",
	 .part = "deny host",
	 .lines = ""},
	/* What HAProxy looks at is the machine's as well. */
	{.policy = "allow: ['host:3000', 10.0.0.0/8, a.test]\n"
		   "deny: [{dest: 10.1.0.0/16, http: [{methods: [PUT]}]}]\n"
		   "upstream: {proxy: 'http://192.0.2.1:3128'}",
	 .file = "ruleset.nft",
	 .part = "@cidr4_",
	 .lines = "ip daddr @cidr4_1 tcp dport 1-65535 redirect to :15001\n"
		  "ip daddr @cidr4_2 tcp dport 3000 redirect to :15001\n"},
	/* A rule of which no path is below the URL's matches nothing. */
	{.policy =
		 "allow: [{dest: 'https://a.test/v1/', http: [{methods: [GET],"
		 " paths: [/v2/]}, {paths: [x]}]}]",
	 .file = "gate.cfg",
	 .part = "path_1_",
	 .lines =
		 "acl path_1_1 var(txn.slashed) -m beg -- '/v1/x/'\n"
		 "acl path_1_2 always_false\n" REQUEST
		 "set-var(txn.rule) str(1) if name_1 port_1 over_tls !private_address resolved path_1_1\n" REQUEST
		 "set-var(txn.rule) str(1) if name_1 port_1 over_tls !private_address resolved method_1_2 path_1_2\n"},
	/* What grants let in over TLS, entries of 'ask' have no say in. */
	{.policy = "allow: [10.0.0.0/8:443, 'http://clear.test/', a.test:443]\n"
		   "ask: ['https://c.test/y/', 'http://d.test/x/']\n"
		   "deny: [{dest: e.test, http: [{methods: [PUT]}]}]",
	 .file = "gate.cfg",
	 .part = "let_in",
	 .lines = REQUEST
	 "set-var(txn.let_in) str(1) if { ssl_fc } { var(txn.rule) -m beg d }\n" REQUEST
	 "unset-var(txn.let_in) if name_2 port_2 !private_address resolved\n" REQUEST
	 "set-var(txn.by_path) str(1) if name_a1 port_a1 over_tls !private_address resolved { var(txn.let_in) -m found } !network_granted\n"},
	/* and nobody has where they have no paths, or not over TLS */
	{"ask: ['http://d.test/x/', {dest: c.test, http: [{methods: [GET]}]}]\n"
	 "deny: [{dest: e.test, http: [{methods: [PUT]}]}]",
	 "gate.cfg", "let_in", "", false},
	{"ask: ['https://d.test/x/']\ndeny: ['http://e.test/', e.test:25]",
	 "gate.cfg", "let_in", "", false},
	/* Decrypted is what was answered, and what has rules. */
	{.policy = "ask: [{dest: d.test, ports: [443], tls: inspect},"
		   " 'https://e.test/', f.test:22]",
	 .file = "gate.cfg",
	 .part = "str(ask)",
	 .lines = TLS
	 "set-var(sess.bump) str(ask) if name_a2 port_a2 !private_address resolved answered_a2\n" TLS
	 "set-var(sess.bump) str(ask) if name_a3 port_a3 over_tls !private_address resolved\n"},
	/* '*' with rules of http is asked about as without. */
	{.policy = "ask: [{dest: '*', ports: [80], http: [{methods: [GET]}]}]",
	 .file = "ruleset.nft",
	 .part = ":15004",
	 .lines =
		 "# :15004 is where connections wait until a person was asked\n"
		 "ip daddr @ask4_1 tcp dport 80 redirect to :15004\n"
		 "ip daddr != @private4 tcp dport 80 redirect to :15004\n"
		 "# :15004 is where connections wait until a person was asked\n"
		 "ip6 daddr @ask6_1 tcp dport 80 tproxy ip6 to :15004 meta mark set 0x00000001 accept\n"
		 "ip6 daddr != @private6 tcp dport 80 tproxy ip6 to :15004 meta mark set 0x00000001 accept\n"},
	/* Past the proxy are networks of one family alone. */
	{.policy = "upstream: {proxy: 'http://192.0.2.1:3128',"
		   " direct: ['2001:db8::/32']}\nallow: [a.test]",
	 .file = "ruleset.nft",
	 .part = "direct6",
	 .lines =
		 "set direct6 {\n"
		 "meta skuid 64101 meta l4proto tcp ip6 daddr @direct6 ct direction original ct state established,new accept\n"},
	{.policy = "upstream: {proxy: 'http://192.0.2.1:3128',"
		   " direct: ['2001:db8::/32']}\nallow: [a.test]",
	 .file = "ruleset.nft",
	 .part = "reached past",
	 .lines = "# Networks that are reached past the proxy\n"},
	/* Where a name leads into them, on ports that QUIC could be for. */
	{.policy = "allow: [{dest: a.test, ports: [443/udp]},"
		   " {dest: c.test, ports: [53/udp]}]\n"
		   "deny: [{dest: 198.51.100.0/24, ports: [443],"
		   " http: [{paths: [/x]}]}]",
	 .file = "ruleset.nft",
	 .part = "@requests",
	 .lines =
		 "ip daddr @host4_1 ip daddr @requests4 udp dport 443 jump quic\n"},
	/* Of four classes of grants, as many as there is room for at first, and
	 * not of the denials' behind them. */
	{.policy =
		 "allow: [{dest: a.test, ports: [443/udp]}, a.test:2, a.test:3,"
		 " a.test:4]\n"
		 "deny: [{dest: d.test, ports: [443/udp]},"
		 " {dest: 198.51.100.0/24, ports: [443], http: [{paths: [/x]}]},"
		 " {dest: q.test, ports: [443], http: [{paths: [/x]}]}]",
	 .file = "ruleset.nft",
	 .part = "jump quic",
	 .lines =
		 "ip daddr @host4_4 ip daddr @requests4 udp dport 443 jump quic\n"
		 "ip daddr @host4_4 ip daddr @quic4_1 udp dport 443 jump quic\n"
		 "ip6 daddr @host6_4 ip6 daddr @quic6_1 udp dport 443 jump quic\n"},
	/* Without a packet filter HAProxy denies networks, over TCP. */
	{.policy = "allow: [a.test]\n"
		   "deny: [203.0.113.0/24, 198.51.100.0/24:22,"
		   " {dest: 192.0.2.0/24, ports: [53/udp]}]",
	 .file = "addr.map",
	 .part = ".d",
	 .lines = "198.51.100.0/24 .d2.\n203.0.113.0/24 .d1.\n",
	 .apart = true},
	{"allow: [a.test]\ndeny: [203.0.113.0/24]", "addr.map", ".d", "",
	 false},
	{"allow: [a.test, 10.0.0.0/8:443]", "addr.map", "10.0.0.0/8",
	 "10.0.0.0/8 .private.\n", true},
	/* One name in one certificate, whatever else is said of it; a star
	 * where two labels follow, and none for many labels. */
	{.policy = "allow:\n"
		   "- {dest: a.test, ports: [443], http: [{methods: [GET]}]}\n"
		   "- {dest: a.test, ports: [444]}\n"
		   "- {dest: a.test, ports: [445], http: [{methods: [GET]}]}\n"
		   "- {dest: '*.b.test', http: [{methods: [GET]}]}\n"
		   "- {dest: '*.test', http: [{methods: [GET]}]}\n"
		   "- {dest: '**.c.test', http: [{methods: [GET]}]}\n"
		   "- {dest: 'x.*.test', http: [{methods: [GET]}]}\n"
		   "- {dest: 10.0.0.0/8, http: [{methods: [GET]}]}\n"
		   "- d.test",
	 .file = "crt.lst",
	 .part = "",
	 .lines = "/run/gate/leaf/1.pem *.b.test a.test\n"},
	{"allow: [{dest: '*', http: [{methods: [GET]}]}, a.test]", "crt.lst",
	 "", "/run/gate/leaf/1.pem membrane.invalid\n", false},
	/* What is denied everywhere HAProxy does not get either. */
	{.policy = "allow: [a.test]\n"
		   "deny: [{dest: '*', ports: [25, 53/udp, 2000-3000]}]",
	 .file = "ruleset.nft",
	 .part = "dport { 25",
	 .lines =
		 "tcp dport { 25, 2000-3000 } accept\n"
		 "tcp dport { 25, 2000-3000 } accept\n"
		 "tcp dport { 25, 2000-3000 } counter log prefix \"membrane:denied:\" group 77 goto refuse\n"},
	/* What is private, and holds a part of the floor, opens nothing of it.
	 */
	{.policy = "allow: [192.0.0.0/28:80, '192.0.0.0/16:443']",
	 .file = "ruleset.nft",
	 .part = "elements = { 192.0.0.",
	 .lines = "elements = { 192.0.0.0/16 }\nelements = { 192.0.0.0/28 }\n"},
	/* Whose lines are protected, and that nobody's are. */
	{.policy = "protect: [{files: ['~/.claude/.credentials.json*', '~/.x'],"
		   " by: me}]",
	 .file = "provenance.json",
	 .part = "protect",
	 .lines =
		 "\"protect\": [\".membrane.yaml:1:20\", \".membrane.yaml:1:52\"]\n"},
	{"allow: [a.test]", "provenance.json", "protect", "", false},
	/* Requests are told below what they are for. */
	{.policy = "allow: [{dest: a.test, ports: [443], http:"
		   " [{methods: [GET], paths: [/x]}, {methods: [PUT]}]},"
		   " b.test:22]",
	 .file = "README",
	 .part = "  ",
	 .lines =
		 "membrane allow HOST:PORT           for this session, at once\n"
		 "membrane allow HOST:PORT --save    for later ones, too\n"
		 "a.test  tcp/443\n"
		 "only GET /x\n"
		 "only PUT *\n"
		 "b.test  tcp/22\n"},
	{"deny: [a.test]", "README", "nothing", "nothing\n", false},
	{"allow: [a.test]", "README", "nothing", "", false},
	/* Of the floor nothing is opened by as much of it, nor by requests. */
	{.policy = "allow: [169.254.0.0/16:80,"
		   " {dest: 127.0.0.0/24, ports: [80], http: [{}]}]",
	 .file = "ruleset.nft",
	 .part = "elements = { 0.0.0.0/8",
	 .lines = "elements = { 0.0.0.0/8, 127.0.0.0/8,\n"},
	{"allow: ['0.0.0.0/0:443', 169.254.0.0/16:80]", "ruleset.nft",
	 "elements = { 0.0.0.0/0", "elements = { 0.0.0.0/0 }\n", false},
	/* nor by requests what others open */
	{.policy = "allow: [{dest: 169.254.1.0/24, ports: [80], http: [{}]},"
		   " 169.254.1.5:22]",
	 .file = "ruleset.nft",
	 .part = "elements = { 169.254.",
	 .lines =
		 "elements = { 169.254.1.5 }\n"
		 "elements = { 169.254.1.0-169.254.1.4, 169.254.1.6-169.254.1.255 }\n"},
	/* and what may be asked about is refused on other ports */
	{"ask: [169.254.1.1:80]", "ruleset.nft", "floorask",
	 "set floorask4 {\n"
	 "ip daddr @floorask4 counter log prefix \"membrane:floor:\" group 77 goto refuse\n",
	 false},
	{"ask: [{dest: 'fe80::1', ports: [80]}]", "ruleset.nft", "floorask",
	 "set floorask6 {\n"
	 "ip6 daddr @floorask6 counter log prefix \"membrane:floor:\" group 77 goto refuse\n",
	 false},
	{"allow: [169.254.1.1:80]", "ruleset.nft", "floorask", "", false},
	{.policy = "allow: ['0.0.0.0/0:443']\nask: [169.254.1.1:80]",
	 .file = "ruleset.nft",
	 .part = "elements = { 0.0.0.0-",
	 .lines =
		 "elements = { 0.0.0.0-169.254.1.0, 169.254.1.2-255.255.255.255 }\n"},
	/* One that lies in another of its kind says so, too. */
	{.policy = "allow: [{dest: 10.0.0.0/8, ports: [80], http: [{}]},"
		   " {dest: 10.1.0.0/16, ports: [80], http: [{}]}]",
	 .file = "addr.map",
	 .part = "10.",
	 .lines = "10.0.0.0/8 .1.private.\n10.1.0.0/16 .1.private.1.\n"
		  "::10.0.0.0/104 .private.\n"},
	/* Beside a proxy networks go to the gate, whatever is the machine's. */
	{.policy = "upstream: http://192.0.2.1:3128\n"
		   "allow: ['host:80', '2001:db8::/32:443', 192.0.2.0/24:443]",
	 .file = "ruleset.nft",
	 .part = ":15003",
	 .lines =
		 "ip daddr != 192.0.0.5 ip daddr @cidr4_1 tcp dport 443 redirect to :15003\n"
		 "ip daddr != 192.0.0.5 ip daddr @cidr4_2 tcp dport 80 redirect to :15003\n"
		 "ip6 daddr @cidr6_1 tcp dport 443 tproxy ip6 to :15003 meta mark set 0x00000001 accept\n"},
	{.policy = "upstream: http://192.0.2.1:3128\n"
		   "allow: [192.0.2.0/24:443]",
	 .file = "ruleset.nft",
	 .part = ":15003",
	 .lines = "ip daddr @cidr4_1 tcp dport 443 redirect to :15003\n"},
	{"upstream: http://192.0.2.1:3128\nallow: [a.test]", "ruleset.nft",
	 "Past it", "", false},
	{"upstream: http://192.0.2.1:3128\nallow: [a.test, 192.0.2.0/24:443]",
	 "ruleset.nft", "ct status dnat",
	 "tcp dport { 15001, 15002, 15003 } ct status dnat accept\n", false},
	{"allow: [a.test, 192.0.2.0/24:443]", "ruleset.nft", "ct status dnat",
	 "tcp dport { 15001, 15002 } ct status dnat accept\n", false},
	/* What is published leads in, and answers lead out. */
	{.policy = "allow: [10.0.0.0/8:443]\n"
		   "args: [-p, '8080:80/udp', -p, '81:81']",
	 .file = "ruleset.nft",
	 .part = "iifname != \"agent0\" ",
	 .lines =
		 "iifname != \"agent0\" accept\n"
		 "iifname != \"agent0\" tcp dport 81 dnat ip to 192.0.0.2\n"
		 "iifname != \"agent0\" tcp dport 81 dnat ip6 to fd00:6d65:6d62::2\n"
		 "iifname != \"agent0\" udp dport 80 dnat ip to 192.0.0.2\n"
		 "iifname != \"agent0\" udp dport 80 dnat ip6 to fd00:6d65:6d62::2\n"
		 "iifname != \"agent0\" ct state established,related accept\n"
		 "iifname != \"agent0\" drop\n"
		 "iifname != \"agent0\" oifname \"agent0\" ct state established,related accept\n"
		 "iifname != \"agent0\" oifname \"agent0\" ct status dnat accept\n"
		 "iifname != \"agent0\" drop\n"},
	{"allow: [10.0.0.0/8:443]", "ruleset.nft", " dnat", "", false},
	{"allow: [10.0.0.0/8:443]", "ruleset.nft", "direction reply", "",
	 false},
	{"allow: [10.0.0.0/8:443]\nargs: [-p, '81:81']", "ruleset.nft",
	 "direction reply",
	 "ct direction reply ct state established,related accept\n", false},
	/* Sets and chains that nobody looks into are not there. */
	{.policy = "allow: [10.0.0.0/8:443, 192.0.2.0/24:80]\n"
		   "deny: [10.1.0.0/16]\nask: [10.2.0.0/16:1]",
	 .file = "ruleset.nft",
	 .part = "\tset ",
	 .lines = "set floor4 {\nset floor6 {\nset host4 {\nset host6 {\n"
		  "set deny4_1 {\nset cidr4_1 {\nset cidr4_2 {\n"
		  "set cidrask4_1 {\n"},
	{"allow: [a.test:443, {dest: b.test, ports: [443/udp]}]", "ruleset.nft",
	 "chain quic", "", false},
	/* The machine is denied by what denies everything. */
	{.policy = "allow: ['host:80']\ndeny: [{dest: '*', ports: [25]}]",
	 .file = "ruleset.nft",
	 .part = "dport 25",
	 .lines =
		 "tcp dport 25 counter log prefix \"membrane:denied:\" group 77 goto refuse\n"
		 "tcp dport 25 counter log prefix \"membrane:denied:\" group 77 goto refuse\n"},
	/* Two URLs of one host are two sets of rules. */
	{"allow: ['https://a.test/x/', 'https://a.test/y/', 'https://b.test/x/']",
	 "hosts.map", ".test", "a.test .1.2.m.\nb.test .1.m.\n", false},
	/* What is held until a session ends is not git's; in a view nothing is
	 * put there. */
	{"masks: start\nreadonly: [/a/b]", "git.exclude", "/a/b", "/a/b\n",
	 false},
	{"masks: hold\nreadonly: [/a/b]", "git.exclude", "/a/b", "", false},
	{"masks: start\nignore: [a]", "git.config", "[",
	 "[include]\n[core]\n[filter \"membrane\"]\n", false},
	/* Patterns as git reads them, without blanks that do not count. */
	{.policy = "ignore: ['!ok', '/a/b c', 'keys/', 'x/**', 'blank  ',"
		   " 'some ', 'trail\\ ', 'qu\"o']",
	 .file = "git.attributes",
	 .part = "",
	 .lines =
		 "# What is hidden and tracked is as git's index has it; see the filter in the configuration.\n"
		 "\"**/ok\" !filter\n"
		 "\"/a/b c\" filter=membrane\n"
		 "\"/x/**\" filter=membrane\n"
		 "\"**/blank\" filter=membrane\n"
		 "\"**/some\" filter=membrane\n"
		 "\"**/trail\\\\ \" filter=membrane\n"
		 "\"**/qu\\\"o\" filter=membrane\n"
		 "\"/a/b c/**\" filter=membrane\n"
		 "\"**/keys/**\" filter=membrane\n"
		 "\"**/blank/**\" filter=membrane\n"
		 "\"**/some/**\" filter=membrane\n"
		 "\"**/trail\\\\ /**\" filter=membrane\n"
		 "\"**/qu\\\"o/**\" filter=membrane\n"},
	{"masks: hold", "git.config", "[",
	 "[init]\n[include]\n[filter \"membrane\"]\n", false},
	{.policy = "allow: [github.com:22]",
	 .file = "known_hosts",
	 .part = " ssh-ed25519 ",
	 .lines =
		 "github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl\n"},
	/* Of entries the widest answer comes first, then the longest wait. */
	{.policy = "ask: [{dest: a.test, wait: 90s}, {dest: b.test, wait: 5s},"
		   " {dest: c.test, wait: 90s}, {dest: d.test, for: always},"
		   " {dest: e.test, for: once, wait: 99s},"
		   " {dest: f.test, for: always}, {dest: g.test, wait: 7s}]",
	 .file = "names.map",
	 .part = "ask ",
	 .lines = "ask d.test a1 60 - - a-d8434a3820\n"
		  "ask f.test a1 60 - - a-22e4b19386\n"
		  "ask a.test a1 90 - - a-71ad577839\n"
		  "ask c.test a1 90 - - a-d02d45c6a2\n"
		  "ask g.test a1 7 - - a-df092e5686\n"
		  "ask b.test a1 5 - - a-326f081ecb\n"
		  "ask e.test a1 99 - - a-e270578ee5\n"},
	/* Of one class each set says whose it is. */
	{.policy = "allow: [{dest: '*', ports: [80], http: [{methods: [GET]}]},"
		   " {dest: a.test, ports: [80], http: [{methods: [PUT]}]}]",
	 .file = "ruleset.nft",
	 .part = "# allow",
	 .lines =
		 "# allow * tcp/80 http [GET *]  g-99f1a5a038  .membrane.yaml:1\n"
		 "# allow a.test tcp/80 http [PUT *]  g-7bd7c8984a  .membrane.yaml:1\n"},
	{.policy = "allow: [a.test:1]\nask: [b.test:2]\ndeny: [c.test:3]",
	 .file = "provenance.json",
	 .part = ".test",
	 .lines =
		 "\"g-6de85d19fd\": {\"text\": \"a.test tcp/1\", \"layer\": \"workspace\", \"source\": \".membrane.yaml\", \"line\": 1, \"column\": 9},\n"
		 "\"a-540b3860cb\": {\"text\": \"b.test tcp/2 for=session wait=1m\", \"layer\": \"workspace\", \"source\": \".membrane.yaml\", \"line\": 2, \"column\": 7},\n"
		 "\"d-25ee764a0d\": {\"text\": \"c.test tcp/3\", \"layer\": \"workspace\", \"source\": \".membrane.yaml\", \"line\": 3, \"column\": 8},\n"},
	{"allow: [a.test]", "README", "403", "", false},
	{"allow: [10.0.0.0/8:443]\nargs: [-p, '81:81', -p, '80:80']",
	 "ruleset.nft", " dnat ip to",
	 "iifname != \"agent0\" tcp dport 80-81 dnat ip to 192.0.0.2\n", false},
	/* Who is behind TLS is looked at, but where a policy says not. */
	{"allow: [{dest: a.test, tls: inspect}]\nssl_insecure: true",
	 "gate.cfg", "default-server ssl",
	 "default-server ssl verify none sni ssl_fc_sni pool-low-conn 64\n",
	 false},
	{"allow: [{dest: a.test, tls: inspect}]\nssl_insecure: false",
	 "gate.cfg", "default-server ssl",
	 "default-server ssl verify required ca-file /etc/ssl/certs/ca-certificates.crt sni ssl_fc_sni pool-low-conn 64\n",
	 false},
	/* What the tracer is told, beside names. */
	{.policy = "trace: {events: [{event: cap_capable, optional: true},"
		   " {event: rmdir, filters: ['retval=0']}], rotate: {size: 3m,"
		   " age: 2h, keep: 4, total: 1g}, required: true,"
		   " exclude: [/a]}",
	 .file = "trace.json",
	 .part = ": ",
	 .lines =
		 "\"version\": 1,\n"
		 "\"events\": [\n"
		 "{\"name\": \"cap_capable\", \"filters\": [], \"optional\": true},\n"
		 "{\"name\": \"rmdir\", \"filters\": [\"retval=0\"]}\n"
		 "\"reads\": true,\n"
		 "\"sensitive\": [\n"
		 "\"exclude\": [\"/a\"],\n"
		 "\"rotate\": {\"size\": 3145728, \"age\": 7200, \"keep\": 4, \"total\": 1073741824},\n"
		 "\"required\": true\n"},
	{.policy = "trace: {events: [rmdir], reads: false}",
	 .file = "trace.json",
	 .part = ": ",
	 .lines =
		 "\"version\": 1,\n"
		 "\"events\": [{\"name\": \"rmdir\", \"filters\": []}],\n"
		 "\"reads\": false,\n"
		 "\"sensitive\": [\n"
		 "\"exclude\": [],\n"
		 "\"rotate\": {\"size\": 104857600, \"age\": 86400, \"keep\": 20, \"total\": 2147483648},\n"
		 "\"required\": false\n"},
	/* Of all ports none is asked for. */
	{"allow: [a.test, b.test:443]", "gate.cfg", "acl port_",
	 "acl port_2 dst_port 443\nacl port_2 dst_port 443\n"
	 "acl port_2 dst_port 443\n",
	 false},
	/* Rules that permit everything are rules: only HTTP and TLS may flow.
	 */
	{.policy =
		 "allow:\n"
		 "- {dest: a.test, ports: [443], tls: inspect}\n"
		 "- {dest: b.test, ports: [443], http: [{}]}\n"
		 "- {dest: c.test, ports: [443], http: [{}, {methods: [PUT]}]}\n"
		 "- d.test:443",
	 .file = "hosts.map",
	 .part = ".test",
	 .lines = "a.test .2.m.\nb.test .3.m.\nc.test .4.m.\nd.test .1.\n"},
	/* What some open of the floor, in whatever order, is open to those, and
	 * to a wider network not. */
	{.policy = "allow: [169.254.169.254:80, 169.254.2.1:80,"
		   " 169.254.2.0/28:80, '0.0.0.0/0:443']",
	 .file = "ruleset.nft",
	 .part = "-169.254.",
	 .lines =
		 "169.254.0.0/23, 169.254.2.16-169.254.169.253,\n"
		 "169.254.169.255-169.254.255.255, 192.0.0.0/29,\n"
		 "elements = { 0.0.0.0-169.254.1.255, 169.254.2.16-169.254.169.253,\n"},
	/* All ports but one are not all. */
	{.policy = "allow: [{dest: a.test, ports: [2-65535]}]\n"
		   "deny: [{dest: a.test, ports: [1-65534]}]",
	 .file = "gate.cfg",
	 .part = "if name_",
	 .lines = TLS
	 "set-var(sess.rule) str(1) if name_1 port_1 !private_address resolved\n" TLS
	 "set-var(sess.rule) str(d1) if name_d1 port_d1\n" TLS
	 "set-var(sess.reason) str(port) if name_1\n" TLS
	 "set-var(sess.reason) str(private-address) if name_1 port_1 private_address\n" TLS
	 "set-var(sess.reason) str(not-resolved) if name_1 port_1 !private_address !resolved\n" REQUEST
	 "set-var(txn.rule) str(1) if name_1 port_1 !private_address resolved\n" REQUEST
	 "set-var(txn.rule) str(d1) if name_d1 port_d1\n" REQUEST
	 "set-var(txn.reason) str(port) if name_1\n" REQUEST
	 "set-var(txn.reason) str(private-address) if name_1 port_1 private_address\n" REQUEST
	 "set-var(txn.reason) str(not-resolved) if name_1 port_1 !private_address !resolved\n"},
	/* In another Pod each port is opened that a grant has over TCP. */
	{.policy = "allow: ['a.test:443', {dest: b.test, ports: [8000-8999]},"
		   " {dest: c.test, ports: [8443, 9000]}]",
	 .file = "gate.cfg",
	 .part = "    bind 0.0.0.0",
	 .lines = "bind 0.0.0.0:443\nbind 0.0.0.0:8000-9000\n",
	 .apart = true},
	{.policy = "allow: ['a.test:443', {dest: b.test, ports: [8000-8999]}]",
	 .file = "gate.cfg",
	 .part = "    bind [::]",
	 .lines = "bind [::]:443 v6only\nbind [::]:8000-8999 v6only\n",
	 .apart = true},
	/* A '*' that is not the first label is looked for by its pattern. */
	{.policy =
		 "allow: ['**.x.*.test', '**.y.test', '*.z.test', 'v.*.test', a.test]",
	 .file = "gate.cfg",
	 .part = "sess.name) -m reg",
	 .lines =
		 "acl pattern_1 var(sess.name) -m reg -- '^[^.]+([.][^.]+)*[.]x[.][^.]+[.]test\\z'\n"
		 "acl pattern_2 var(sess.name) -m reg -- '^v[.][^.]+[.]test\\z'\n"},
	{.policy =
		 "allow: ['**.x.*.test', '**.y.test', '*.z.test', 'v.*.test']",
	 .file = "hosts.map",
	 .part = ".test",
	 .lines = "**.y.test .1.\n*.z.test .1.\n"},
};

static bool has_part(struct str line, const char *part)
{
	return line.n && memmem(line.p, line.n, part, strlen(part));
}

/* What the emitter of that file writes. */
static struct str emitted_file(struct compilation *c, const struct row *x)
{
	struct emit_in in = driver_emit(c);
	struct buf out;

	in.apart = x->apart;
	buf_init(&out, c->a);
	for (size_t i = 0; emitter_at(i); i++)
		if (strcmp(emitter_at(i)->file, x->file) == 0)
			CHECK(emitter_at(i)->emit(&in, &out));
	return buf_str(&out);
}

static void check_row(const struct row *x)
{
	struct str text, line;
	struct compilation c;
	struct buf got;

	CHECK_MSG(planned(&c, x->policy), "%s", x->policy);
	buf_init(&got, c.a);
	text = emitted_file(&c, x);
	while (str_line(&text, &line))
		if (has_part(line, x->part))
			buf_addf(&got, "%.*s\n", STR_ARG(str_trim(line)));
	CHECK_MSG(str_is(buf_str(&got), x->lines), "%s\n%.*s", x->policy,
		  STR_ARG(buf_str(&got)));
	driver_done(&c);
}

/* So many methods, paths and ports are too many words for one line. */
static void check_long_lists(void)
{
	static const char *const heads[] = {
		"    acl port_1 dst_port ",
		"    acl method_1_1 var(txn.method) ",
		"    acl path_1_1 var(txn.slashed) "};
	struct row gate = {.file = "gate.cfg"};
	unsigned lines[ARRAY_LEN(heads)] = {0};
	struct compilation c;
	struct buf policy;
	struct arena *a = arena_new();
	struct str text, line;

	buf_init(&policy, a);
	buf_adds(&policy, "allow:\n  - dest: a.test\n    ports: [");
	for (unsigned i = 0; i < 49; i++)
		buf_addf(&policy, "%u, ", 1 + 2 * i);
	buf_adds(&policy, "443]\n    http: [{methods: [");
	for (unsigned i = 0; i < 49; i++)
		buf_addf(&policy, "X%c%c, ", 'A' + i / 26, 'A' + i % 26);
	buf_adds(&policy, "GET], paths: [");
	for (unsigned i = 0; i < 49; i++)
		buf_addf(&policy, "/%u, ", i);
	buf_adds(&policy, "/a]}]\n");
	CHECK_MSG(planned(&c, policy.p), "%s", policy.p);
	text = emitted_file(&c, &gate);
	while (str_line(&text, &line)) {
		CHECK(line.n <= 160 || !str_starts(line, STR("    acl ")));
		for (size_t i = 0; i < ARRAY_LEN(heads); i++)
			lines[i] += str_starts(line, str_of(heads[i]));
	}
	/* of ports and methods once for hellos, or refusals, too */
	CHECK_MSG(lines[0] == 6 && lines[1] == 6 && lines[2] == 3, "%u %u %u",
		  lines[0], lines[1], lines[2]);
	driver_done(&c);
	arena_free(a);
}

/* So many names in a certificate, one more in the next. */
static void check_leaves(unsigned names, unsigned files)
{
	struct row leaves = {.file = "crt.lst"};
	struct compilation c;
	struct str text, line;
	struct buf policy;
	struct arena *a = arena_new();
	unsigned n = 0, seen = 0;

	buf_init(&policy, a);
	buf_adds(&policy, "tls: inspect\nallow:\n");
	for (unsigned i = 0; i < names; i++)
		buf_addf(&policy, "  - n%03u.test:443\n", i);
	CHECK(planned(&c, policy.p));
	text = emitted_file(&c, &leaves);
	while (str_line(&text, &line)) {
		struct str word;

		CHECK(str_field(&line, ' ', &word) &&
		      str_is(word,
			     arena_fmt(a, "/run/gate/leaf/%u.pem", ++n).p));
		while (str_field(&line, ' ', &word))
			CHECK(str_is(word,
				     arena_fmt(a, "n%03u.test", seen++).p));
		CHECK(seen == (n < files ? n * 100 : names));
	}
	CHECK_MSG(n == files && seen == names, "%u", names);
	driver_done(&c);
	arena_free(a);
}

/* The README is for a terminal: a byte that is not printable ASCII is none. */
static void check_readme(void)
{
	struct row readme = {.file = "README", .part = "tcp/443"};
	struct compilation c;
	struct str text;

	CHECK(planned(&c, "allow: [a.test:443]"));
	c.policy.allow.v[0].dest.u.host.name = STR("a\x1f \n!~\x7f\x80");
	text = emitted_file(&c, &readme);
	CHECK(has_part(text, "\n  a? ?!~??  tcp/443\n"));
	driver_done(&c);
}

/* It shows so many grants, and how many more there are. */
static void check_shown(unsigned grants, const char *more)
{
	struct row readme = {.file = "README"};
	struct compilation c;
	struct buf policy;
	struct arena *a = arena_new();
	struct str text;

	buf_init(&policy, a);
	buf_adds(&policy, "allow:\n");
	for (unsigned i = 0; i < grants; i++)
		buf_addf(&policy, "  - n%03u.test:443\n", i);
	CHECK(planned(&c, policy.p));
	text = emitted_file(&c, &readme);
	CHECK(has_part(text, "\n  n063.test  tcp/443\n"));
	CHECK(!has_part(text, "n064.test"));
	CHECK_MSG(has_part(text, " more\n") == (*more != '\0') &&
			  has_part(text, more),
		  "%.*s", STR_ARG(text));
	driver_done(&c);
	arena_free(a);
}

/* What is decrypted has certificates, in the plan and in HAProxy, and whoever
 * is inside is told. */
static void check_decrypts(void)
{
	static const struct {
		const char *policy;
		bool decrypts;
	} each[] = {
		{"allow: [{dest: a.test, tls: inspect}]", true},
		{"allow: [{dest: a.test, http: [{paths: [/a]}]}]", true},
		{"allow: ['https://a.test/a']", true},
		{"ask: [{dest: a.test, tls: inspect}]", true},
		{"ask: ['https://a.test/a']", true},
		{"allow: [a.test]\ndeny: ['https://b.test/']", true},
		{"allow: [a.test]\ncredentials: [{host: a.test, header: X-K,"
		 " from_env: K}]",
		 true},
		{"allow: [a.test]", false},
		{"allow: ['http://a.test/a']", false},
		{"ask: [a.test]\ndeny: [b.test:22]", false},
		{"ask: ['http://a.test/a']", false},
		{"allow: [a.test]\ndeny: ['http://b.test/']", false},
		{"allow: ['*']\ndeny: [10.0.0.0/8]", false},
		/* nobody gets there */
		{"deny: ['https://a.test/x/']", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(each); i++) {
		struct compilation c;

		CHECK(planned(&c, each[i].policy));
		CHECK_MSG((plan_file(&c.plan, "crt.lst") != NULL) ==
				  each[i].decrypts,
			  "%s", each[i].policy);
		CHECK_MSG(has_part(planned_file(&c, "gate.cfg"),
				   " crt-list ") == each[i].decrypts,
			  "%s", each[i].policy);
		CHECK_MSG(has_part(planned_file(&c, "README"), "decrypted") ==
				  each[i].decrypts,
			  "%s", each[i].policy);
		driver_done(&c);
	}
}

static void check_forges(void)
{
	static const char *const policies[] = {
		"allow: [a.test]", "allow: [github.com, gitlab.com:443]",
		"allow: [\"*.github.com\", 'https://gitlab.com/x/',"
		" bitbucket.org:22]"};
	static const char *const names[] = {"", "github.com, gitlab.com",
					    "bitbucket.org"};
	struct compilation c;

	for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
		struct str got;

		CHECK(planned(&c, policies[i]));
		got = known_hosts_names(c.a, &c.policy);
		CHECK_MSG(str_is(got, names[i]), "%.*s", STR_ARG(got));
		CHECK(known_hosts_wanted(&c.policy) == (got.n > 0));
		driver_done(&c);
	}
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check_row(&rows[i]);
	check_readme();
	check_shown(64, "");
	check_shown(66, "\n  and 2 more\n");
	check_decrypts();
	check_forges();
	check_long_lists();
	check_leaves(1, 1);
	check_leaves(100, 1);
	check_leaves(101, 2);
	check_leaves(201, 3);
	return check_status();
}
