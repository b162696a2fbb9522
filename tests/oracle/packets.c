/*
 * What ruleset.nft and names.map let through is what decide() allows: a packet
 * evaluator and a model of the resolver, which read the two texts, against the
 * policy itself, on generated policies. A disagreement is shown with the
 * smallest part of its policy that still shows it.
 *
 *	packets [POLICIES [SEED]]
 */
#include "compiler/algebra/decide/decide.h"
#include "compiler/emit/parts.h"
#include "compiler/emit/nft/nft.h"

#include "tests/check.h"
#include "tests/oracle/generate.h"
#include "tests/oracle/ruleset.h"
#include "tests/oracle/scaled.h"
#include "tests/policy.h"

#define PROBES 60

#define MACHINE 0xc0000005 /* 192.0.0.5, 'host' */

static unsigned long packets, resolutions, accepted, waiting;

/* --- a model of the resolver over names.map ------------------------------ */

enum answer { ANSWER_NX, ANSWER_DROP, ANSWER_KEEP };

/* '*' one label, a leading "**." one or more, "**" everything. */
static bool map_matches(const char *pattern, const char *name)
{
	if (strcmp(pattern, "**") == 0)
		return true;
	if (strncmp(pattern, "**.", 3) == 0) {
		size_t n = strlen(name), m = strlen(pattern);

		/* The rest may hold '*', so every cut is tried. */
		for (size_t i = 1; i + 1 < n && m; i++)
			if (name[i] == '.' &&
			    map_matches(pattern + 3, name + i + 1))
				return true;
		return false;
	}
	while (*pattern) {
		if (*pattern == '*') {
			size_t n = strcspn(name, ".");

			if (n == 0)
				return false;
			name += n;
			pattern++;
		} else if (*pattern++ != *name++) {
			return false;
		}
	}
	return *name == '\0';
}

struct map_state {
	bool floor, private, host;
	unsigned floor_bits, cover_bits;
	bool covered, named, may_private;
	bool denied;
	/* Sets to fill: "host4_", and the class. */
	struct map_to {
		const char *stem;
		unsigned class;
		bool private;
	} to[128];
	size_t n;
};

static unsigned bits_of(const char *net)
{
	const char *slash = strchr(net, '/');

	if (!slash)
		rs_die("a network", net);
	return (unsigned)atoi(slash + 1);
}

static bool net_holds(const char *net, struct ip a)
{
	struct ip_range r = rs_range(net);

	return r.lo.version == a.version && r.lo.v <= a.v && a.v <= r.hi.v;
}

static void map_name(struct map_state *m, const char *line, const char *name)
{
	char pattern[300], class[300], flag[16], id[16];
	bool private;

	if (sscanf(line, "name %299s %299s %15s %15s", pattern, class, flag,
		   id) != 4)
		rs_die("a name", line);
	if (!map_matches(pattern, name))
		return;
	m->named = true;
	private = strcmp(flag, "private") == 0;
	m->may_private |= private;
	if (class[0] == 'h')
		m->to[m->n++] = (struct map_to){
			"http", (unsigned)atoi(class + 1), private};
	else if (class[0] != '-')
		m->to[m->n++] =
			(struct map_to){"host", (unsigned)atoi(class), private};
}

static void map_denial(struct map_state *m, const char *line, const char *name)
{
	char pattern[300];
	unsigned class;
	bool quic;

	if (sscanf(line, "deny %299s", pattern) == 1) {
		m->denied |= map_matches(pattern, name);
		return;
	}
	quic = sscanf(line, "guard %299s q%u", pattern, &class) == 2;
	if (!quic && sscanf(line, "guard %299s d%u", pattern, &class) != 2)
		rs_die("a denial", line);
	else if (map_matches(pattern, name))
		m->to[m->n++] =
			(struct map_to){quic ? "quic" : "guard", class, true};
}

static void map_line(struct map_state *m, const char *line, const char *name,
		     struct ip a)
{
	const char *net = strchr(line, ' ') + 1;

	if (strncmp(line, "floor ", 6) == 0 && net_holds(net, a)) {
		m->floor = true;
		if (bits_of(net) > m->floor_bits)
			m->floor_bits = bits_of(net);
	} else if (strncmp(line, "private ", 8) == 0 && net_holds(net, a)) {
		m->private = true;
	} else if (strncmp(line, "cover ", 6) == 0 && net_holds(net, a)) {
		m->covered = true;
		if (bits_of(net) > m->cover_bits)
			m->cover_bits = bits_of(net);
	} else if (strncmp(line, "name ", 5) == 0) {
		map_name(m, line, name);
	} else if (strncmp(line, "deny ", 5) == 0 ||
		   strncmp(line, "guard ", 6) == 0) {
		map_denial(m, line, name);
	}
}

static void insert(struct ruleset *r, const struct map_to *to, struct ip a)
{
	char name[32];
	struct rs_set *s;

	snprintf(name, sizeof(name), "%s%d_%u", to->stem, a.version, to->class);
	s = rs_set_of(r, name);
	if (!s || !s->dynamic)
		rs_die("the set of a class", name);
	rs_insert(s, (struct ip_range){a, a});
}

/* Answer one question with one address, as the gate does. */
static enum answer resolve(struct ruleset *r, const char *map, const char *name,
			   struct ip a)
{
	struct map_state m = {0};
	char *copy = strdup(map), *save = NULL;

	for (char *l = strtok_r(copy, "\n", &save); l;
	     l = strtok_r(NULL, "\n", &save))
		map_line(&m, l, name, a);
	free(copy);
	resolutions++;
	if (!m.named || m.denied)
		return ANSWER_NX;
	/* 'host' has its own names alone. */
	if (a.version == 4 && a.v == MACHINE)
		return ANSWER_DROP;
	if (m.floor)
		return m.covered && m.cover_bits > m.floor_bits ? ANSWER_KEEP
								: ANSWER_DROP;
	if (m.private && !m.may_private)
		return m.covered ? ANSWER_KEEP : ANSWER_DROP;
	for (size_t i = 0; i < m.n; i++)
		if (m.to[i].private || !m.private)
			insert(r, &m.to[i], a);
	return ANSWER_KEEP;
}

/* --- one probe ----------------------------------------------------------- */

/* How protocols over UDP begin, and how long that is. */
static const struct datagram {
	const char *name;
	bool is_quic;
	unsigned n_zeros; /* behind */
	unsigned char data[24];
	unsigned n;
} datagrams[] = {
#define SAID(name, quic, zeros, text)                                          \
	{                                                                      \
		name, quic, zeros, text, sizeof(text) - 1                      \
	}
	SAID("QUIC 1", true, 1190,
	     "\xc3\0\0\0\1\x8"
	     "12345678"),
	SAID("QUIC 2", true, 1190,
	     "\xd3\x6b\x33\x43\xcf\x8"
	     "12345678"),
	SAID("QUIC, draft 29", true, 1190,
	     "\xe3\xff\0\0\x1d\x14"
	     "12345678"),
	SAID("QUIC 2, draft", true, 1190,
	     "\xc3\x70\x9a\x50\xc4\x8"
	     "1234"),
	SAID("QUIC, Microsoft's", true, 1190,
	     "\xc3\xab\xcd\0\0\x8"
	     "1234"),
	SAID("QUIC, an early 2", true, 1190,
	     "\xc3\xff\1\0\7\x8"
	     "12345678"),
	SAID("QUIC, a reserved one", true, 1190,
	     "\xc3\x1a\x2a\x3a\x4a\x8"
	     "1"),
	SAID("QUIC, of tomorrow", true, 1200, "\xff\x12\x34\x56\x78\0"),
	SAID("QUIC, a short one", true, 30,
	     "\xc0\x12\x34\x56\x78\x8"
	     "12345678"),
	SAID("QUIC, a list of versions", true, 30,
	     "\xc0\0\0\0\0\x8"
	     "12345678"),
	SAID("Google's T051, short", true, 1000,
	     "\xc3"
	     "T051\0"),
	SAID("QUIC, its bit cleared", true, 1190,
	     "\x83\0\0\0\1\x8"
	     "12345678"),
	SAID("Google's Q050", true, 1190,
	     "\xc3Q050\x8"
	     "12345678"),
	SAID("Google's Q046", true, 1190,
	     "\xc3Q046\x50"
	     "12345678"),
	SAID("Google's Q043", true, 1100,
	     "\x9"
	     "12345678"
	     "Q043\1"),
	SAID("Google's Q039", true, 1100,
	     "\x19"
	     "12345678"
	     "Q039\1"),
	SAID("Google's Q025", true, 1100,
	     "\x3d"
	     "12345678"
	     "Q025\1"),
	SAID("QUIC, later on", false, 1190,
	     "\x43\0\0\0\1\x8"
	     "12345678"),
	SAID("DNS", false, 0, "\xc3\x5\1\0\0\1\0\0\0\0\0\0\1a\4test\0\0\1"),
	SAID("DNS, another", false, 0,
	     "\xff\xff\1\0\0\1\0\0\0\0\0\1\1a\4test\0"),
	SAID("DNS of a resolver", false, 0,
	     "\xff\xff\0\0\0\1\0\0\0\0\0\0\1a\4test\0"),
	SAID("DNS, Q", false, 0, "\x90\x51\1\0\0\1\0\0\0\0\0\0\1a\4test\0"),
	SAID("DNS, low", false, 0, "\x9\xff\1\0\0\1\0\0\0\0\0\1\1a\4test\0"),
	SAID("NTP of a clock not set", false, 40, "\xe3\0\6\xec\0\1\0\0"),
	SAID("NTP 3", false, 40, "\x1b\2\6\xec\0\0\1\2"),
	SAID("STUN", false, 0,
	     "\0\1\0\0\x21\x12\xa4\x42"
	     "123456789012"),
	SAID("TURN's channels", false, 1200, "\x40\0\4\xb0"),
	SAID("ZRTP", false, 40, "\x10\0\0\1ZRTP"),
	SAID("DTLS", false, 1300, "\x16\xfe\xff\0\0\0\0\0\0\0\0\5\x14\1"),
	SAID("DTLS 1.3", false, 1300,
	     "\x2d\0\0\0\1\x8"
	     "Q0431234"),
	SAID("DTLS with numbers", false, 1300, "\x19\xfe\xfd\0\1\0\0\0\0\0\1"),
	SAID("RTP, PCMU", false, 160, "\x80\0\x12\x34\0\0\1\0"),
	SAID("RTP, Opus", false, 90, "\x80\x6f\x33\x44\xcf\0\1\0"),
	SAID("RTP, video", false, 1190, "\x90\xe0\x43\xcf\x12\0\1\0"),
	SAID("RTCP", false, 40, "\x81\xc9\0\7\0\0\0\1"),
	SAID("WireGuard 1", false, 144, "\1\0\0\0"),
	SAID("WireGuard 2", false, 88, "\2\0\0\0"),
	SAID("WireGuard 3", false, 60, "\3\0\0\0"),
	SAID("WireGuard 4", false, 1400, "\4\0\0\0\xff\1\2\3"),
	SAID("OpenVPN, hello", false, 20,
	     "\x38"
	     "12345678\0\0\0\0\0"),
	SAID("OpenVPN, data", false, 1300, "\x48\0\0\1\0\0\0\1"),
	SAID("SIP", false, 1300, "INVITE sip:Q043@a.test"),
	SAID("SIP, about", false, 1300, "INFO sip:Q043@a.test"),
	SAID("syslog", false, 40, "<34>1 2026-11-22T00:00"),
	SAID("SNMP", false, 40, "\x30\x29\2\1\0\4\6public"),
	SAID("CoAP", false, 10, "\x44\1\x30\x39\0\1\2\3"),
	SAID("L2TP", false, 60, "\xc8\2\0\x44\0\0\0\0"),
	SAID("RADIUS", false, 60, "\1\x40\0\x50"),
	SAID("nothing", false, 0, ""),
	SAID("one byte", false, 0, "\xc3"),
#undef SAID
};

struct probe {
	struct addr addr;
	enum ir_proto proto;
	uint16_t port;
	const char *name; /* resolved first, to addr; or NULL */
	bool is_host;
	const struct datagram *said; /* of UDP */
};

static struct ip ip_from(const struct addr *a)
{
	struct ip out = {.version = a->family == ADDR_V4 ? 4 : 6};

	for (int i = 0; i < (out.version == 4 ? 4 : 16); i++)
		out.v = out.v << 8 | a->b[i];
	return out;
}

/* NULL: of no use to a packet filter, which judges connections. */
static const char *expected_prefix(enum reason r)
{
	switch (r) {
	case REASON_GRANTED:
		return "\"membrane:allow:\"";
	case REASON_FLOOR:
		return "\"membrane:floor:\"";
	case REASON_DENIED:
		return "\"membrane:denied:\"";
	case REASON_QUIC:
		return "\"membrane:quic:\"";
	case REASON_HOST_ADDRESS:
		return "\"membrane:host-address:\"";
	case REASON_NO_GRANT:
	case REASON_ASK:
	case REASON_PORT:
	case REASON_NOT_HTTP:
	case REASON_PRIVATE_ADDRESS:
	case REASON_UDP:
	case REASON_NOT_RESOLVED:
		return "\"membrane:no-grant:\"";
	case REASON_PROTOCOL:
	case REASON_FORGED_SOURCE:
	case REASON_SCHEME:
	case REASON_METHOD:
	case REASON_PATH:
	case REASON_PATH_NOT_CANONICAL:
	case REASON_NO_SNI:
	case REASON_ECH:
	case REASON_NAME_MISMATCH:
	case REASON_QUERY_TYPE:
	case REASON_BAD_QUERY:
	case REASON_BAD_HELLO:
	case REASON_SECOND_HELLO:
	case REASON_BAD_REQUEST:
	case REASON_OVERRIDE:
	case REASON_UPGRADE:
	case REASON_ANSWERED:
	case REASON_NOT_ANSWERED:
	case REASON_ANSWERED_NO:
	case REASON_NOT_ASKED:
	case REASON_TOO_MANY:
	case REASON_NO_STAND_IN:
	case REASON_HANDSHAKE:
	case REASON_UPSTREAM:
	case REASON_IGNORED:
	case REASON_READONLY:
	case REASON_PROTECTED:
	case REASON_UNTRUSTED_WORKSPACE:
		break;
	}
	return NULL;
}

/* What the two say; false, and a sentence in why, when they disagree. */
static bool agree_resolve(const struct ir_policy *p, struct ruleset *rules,
			  const char *map, const struct probe *x, char *why,
			  size_t size)
{
	struct str name = str_of(x->name);
	bool resolves =
		decide_resolve(p, name, STR("A")).verdict == VERDICT_ALLOW;
	enum decide_keep keep = decide_answer(p, name, &x->addr);
	enum answer want =
		!resolves ? ANSWER_NX
		: keep == DECIDE_DROP_FLOOR || keep == DECIDE_DROP_PRIVATE
			? ANSWER_DROP
			: ANSWER_KEEP;
	enum answer got = resolve(rules, map, x->name, ip_from(&x->addr));

	snprintf(why, size, "resolve: decide says %d, names.map says %d", want,
		 got);
	return want == got;
}

/* Where TCP goes before it is forwarded, or 0. */
static unsigned diverted(struct ruleset *r, const struct packet *p)
{
	const char *chain = p->daddr.version == 4 ? "prerouting" : "divert";

	if (strcmp(p->proto, "tcp") != 0 || !rs_chain_of(r, chain))
		return 0;
	return rs_judge(r, chain, p).port;
}

/* 'host' is the gate's own address where it is granted; over TCP alone. */
static const char *way_of(struct ruleset *r, const struct packet *p)
{
	return p->daddr.version == 4 && p->daddr.v == MACHINE &&
			       strcmp(p->proto, "tcp") == 0 &&
			       rs_chain_of(r, "machine")
		       ? "machine"
		       : "forward";
}

enum asked { ASKED_NOT, ASKED_REQUESTS, ASKED_CONNECTION };

/* What one entry of `ask` would permit, were it a grant. */
static enum asked asked_about(struct arena *a, const struct ir_policy *p,
			      const struct decide_flow *flow)
{
	enum asked most = ASKED_NOT;

	vec_each(g, &p->ask) {
		struct ir_policy with = *p;
		struct decision d;

		with.allow = (ir_grants){0};
		vec_each(x, &p->allow)
			*vec_push(a, &with.allow) = *x;
		*vec_push(a, &with.allow) = *g;
		with.allow.v[with.allow.n - 1].key = IR_KEY_ALLOW;
		d = decide_connect(&with, flow);
		if (d.verdict == VERDICT_ALLOW)
			return ASKED_CONNECTION;
		if (d.reason == REASON_NOT_HTTP)
			most = ASKED_REQUESTS;
	}
	return most;
}

/* What the rules should do with what decide() says of raw bytes. */
static bool agree_packet(struct decision want, enum asked asked,
			 struct ruleset *rules, const struct packet *packet,
			 bool named, char *why, size_t size)
{
	const char *prefix = expected_prefix(want.reason);
	bool allow = want.verdict == VERDICT_ALLOW;
	struct rs_result got = {0};
	unsigned port = diverted(rules, packet);
	bool same;

	if (port == 0) {
		got = rs_judge(rules, way_of(rules, packet), packet);
		same = allow == (got.verdict == RS_ACCEPT) && prefix &&
		       strcmp(got.prefix, prefix) == 0;
		/* A name that is only asked about leads to no address here. */
		same &= named || allow || asked == ASKED_NOT;
	} else if (port == 15001) {
		same = allow;
	} else if (port == 15004) {
		same = !allow && asked != ASKED_NOT;
		waiting++;
	} else {
		/* HAProxy knows whom a denial on some ports is about. */
		same = want.reason == REASON_NOT_HTTP ||
		       (want.reason == REASON_DENIED &&
			want.grant->dest.kind != IR_DEST_CIDR &&
			want.grant->dest.kind != IR_DEST_ANY);
	}
	snprintf(why, size, "decide says %s, %s; the rules %u, %d, %s",
		 verdict_name(want.verdict), reason_name(want.reason), port,
		 got.verdict, got.prefix);
	return same;
}

static struct packet packet_of(const struct probe *x)
{
	struct packet p = {.iif = "agent0",
			   .oif = "eth0",
			   .daddr = ip_from(&x->addr),
			   .proto = x->proto == IR_PROTO_TCP ? "tcp" : "udp",
			   .dport = x->port,
			   .state = "new",
			   .direction = "original",
			   .status = "",
			   .pkttype = "host",
			   .hops = 64};

	if (x->said) {
		p.data = x->said->data;
		p.n_data = x->said->n;
		p.n_zeros = x->said->n_zeros;
	}
	return p;
}

static bool agree(const char *policy, const struct probe *x, char *why,
		  size_t size)
{
	struct test_policy t;
	struct ruleset *rules;
	struct decide_flow flow = {x->proto,   x->port,
				   true,       x->addr,
				   x->is_host, x->said && x->said->is_quic,
				   {0}};
	struct packet packet = packet_of(x);
	struct decision want;
	bool same = true;

	/* 'host' is the gate's address, whoever else has the number. */
	if (!test_policy_make(&t, policy) ||
	    (x->is_host && addr_is_machine(&x->addr))) {
		test_policy_done(&t);
		return true;
	}
	rules = rs_read(test_policy_emit(&t, nft_emit).p);
	if (x->is_host)
		rs_insert(rs_set_of(rules, packet.daddr.version == 4 ? "host4"
								     : "host6"),
			  (struct ip_range){packet.daddr, packet.daddr});
	if (x->name) {
		flow.name = str_of(x->name);
		same = agree_resolve(&t.policy, rules,
				     test_policy_emit(&t, names_emit).p, x, why,
				     size);
	}
	if (same) {
		/* Else the session knows nothing of the name. */
		if (x->name &&
		    (decide_resolve(&t.policy, flow.name, STR("A")).verdict !=
			     VERDICT_ALLOW ||
		     decide_answer(&t.policy, flow.name, &x->addr) !=
			     DECIDE_KEEP_OPEN))
			flow.name.n = 0;
		want = decide_connect(&t.policy, &flow);
		same = agree_packet(want,
				    x->proto == IR_PROTO_TCP
					    ? asked_about(t.a, &t.policy, &flow)
					    : ASKED_NOT,
				    rules, &packet, x->name != NULL, why, size);
		accepted += want.verdict == VERDICT_ALLOW;
		packets++;
	}
	rs_free(rules);
	test_policy_done(&t);
	return same;
}

static void show(struct gen_policy *p, const struct probe *x, uint64_t seed)
{
	uint32_t mask = UINT32_MAX;
	char why[256], text[ADDR_TEXT_MAX];

	for (uint32_t i = 0; i < p->n; i++)
		if (!agree(gen_text(p, mask & ~(1u << i)), x, why, sizeof(why)))
			mask &= ~(1u << i);
	agree(gen_text(p, mask), x, why, sizeof(why));
	CHECK_MSG(false, "seed %llu: %s %s port %u%s%s%s%s%s\n%s\n%s",
		  (unsigned long long)seed,
		  x->proto == IR_PROTO_TCP ? "tcp" : "udp",
		  addr_text(&x->addr, text), x->port,
		  x->name ? " resolved for " : "", x->name ? x->name : "",
		  x->is_host ? ", the host itself" : "",
		  x->said ? ", saying " : "", x->said ? x->said->name : "", why,
		  p->text);
}

static struct probe gen_probe(struct rng *r)
{
	struct probe x = {.addr = gen_addr(r)};

	x.proto = rng_below(r, 3) ? IR_PROTO_TCP : IR_PROTO_UDP;
	x.port = rng_below(r, 5) ? GEN_PICK(r, gen_ports_hit)
				 : (uint16_t)(1 + rng_below(r, 65535));
	if (rng_below(r, 2))
		x.name = GEN_PICK(r, gen_names);
	x.is_host = rng_below(r, 20) == 0;
	if (x.proto == IR_PROTO_UDP)
		x.said = &datagrams[rng_below(r, ARRAY_LEN(datagrams))];
	return x;
}

/* --- what does not depend on the policy ---------------------------------- */

static struct packet packet_to(const char *addr, const char *proto,
			       unsigned port)
{
	struct packet p = {.iif = "agent0",
			   .oif = "eth0",
			   .proto = proto,
			   .dport = port,
			   .state = "new",
			   .direction = "original",
			   .status = "",
			   .pkttype = "host",
			   .hops = 64};

	if (!ip_of(addr, &p.daddr) ||
	    !ip_of(p.daddr.version == 4 ? "192.0.0.2" : "fd00:6d65:6d62::2",
		   &p.saddr))
		rs_die("an address", addr);
	return p;
}

static struct packet from(const char *addr, struct packet p)
{
	if (!ip_of(addr, &p.saddr))
		rs_die("an address", addr);
	return p;
}

static struct packet icmp6_to(const char *addr, const char *type)
{
	struct packet p = packet_to(addr, "ipv6-icmp", 0);

	p.icmp = type;
	p.hops = 255;
	return p;
}

static enum rs_verdict judge(struct ruleset *r, const char *chain,
			     struct packet p)
{
	return rs_judge(r, chain, &p).verdict;
}

/* Who may send on the agent's link, whatever it is. */
static void check_source(struct ruleset *r)
{
	static const char *const others[] = {
		"192.0.0.1", "192.0.0.3",  "127.0.0.1",	      "0.0.0.0",
		"8.8.8.8",   "172.17.0.2", "255.255.255.255", "224.0.0.1"};
	static const char *const others6[] = {"fd00:6d65:6d62::1",
					      "fd00:6d65:6d62::3",
					      "::1",
					      "::",
					      "fe80::1",
					      "2606:4700::1",
					      "ff02::1",
					      "::ffff:192.0.0.2"};
	struct packet p = packet_to("1.2.3.4", "tcp", 443);
	struct packet p6 = packet_to("2606:4700::1", "udp", 53);
	struct packet nd = icmp6_to("ff02::1:ff00:1", "nd-neighbor-solicit");

	CHECK(judge(r, "source", p) == RS_ACCEPT);
	CHECK(judge(r, "source", p6) == RS_ACCEPT);
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		struct rs_result got;
		struct packet x = from(others[i], p);

		got = rs_judge(r, "source", &x);
		CHECK(got.verdict == RS_DROP &&
		      strcmp(got.prefix, "\"membrane:forged-source:\"") == 0);
		x.flood = true;
		got = rs_judge(r, "source", &x);
		CHECK(got.verdict == RS_DROP && !got.prefix[0]);
		x.iif = "eth0";
		CHECK(judge(r, "source", x) == RS_ACCEPT);
	}
	for (size_t i = 0; i < ARRAY_LEN(others6); i++)
		CHECK(judge(r, "source", from(others6[i], p6)) == RS_DROP);
	CHECK(judge(r, "source", nd) == RS_ACCEPT);
	CHECK(judge(r, "source", from("fe80::5", nd)) == RS_ACCEPT);
	CHECK(judge(r, "source", from("::", nd)) == RS_ACCEPT);
	CHECK(judge(r, "source", from("fd00:6d65:6d62::3", nd)) == RS_DROP);
	CHECK(judge(r, "source", from("2606:4700::1", nd)) == RS_DROP);
	nd.hops = 254;
	CHECK(judge(r, "source", from("fe80::5", nd)) == RS_DROP);
	nd = icmp6_to("ff02::1", "nd-router-advert");
	CHECK(judge(r, "source", from("fe80::5", nd)) == RS_DROP);
	CHECK(judge(r, "input", nd) == RS_REJECT);
}

/* What the gate itself sends: answers go to the agent, by its link. */
static void check_output(struct ruleset *r)
{
	struct packet p = packet_to("8.8.8.8", "udp", 53);

	CHECK(judge(r, "output", p) == RS_ACCEPT);
	p.state = "established";
	CHECK(judge(r, "output", p) == RS_ACCEPT);
	p.direction = "reply";
	CHECK(judge(r, "output", p) == RS_DROP);
	p.oif = "agent0";
	CHECK(judge(r, "output", p) == RS_DROP);
	p = packet_to("192.0.0.2", "udp", 40000);
	p.direction = "reply";
	CHECK(judge(r, "output", p) == RS_DROP);
	p.oif = "agent0";
	CHECK(judge(r, "output", p) == RS_ACCEPT);
	p = packet_to("2606:4700::1", "ipv6-icmp", 0);
	p.icmp = "destination-unreachable";
	p.state = "related";
	CHECK(judge(r, "output", p) == RS_DROP);
	p.icmp = "packet-too-big";
	CHECK(judge(r, "output", p) == RS_ACCEPT);
	p.oif = "agent0";
	CHECK(judge(r, "output", p) == RS_DROP);
	p = packet_to("8.8.8.8", "icmp", 0);
	p.icmp = "destination-unreachable";
	p.code = "admin-prohibited";
	p.state = "related";
	CHECK(judge(r, "output", p) == RS_DROP);
	p.code = "frag-needed";
	CHECK(judge(r, "output", p) == RS_ACCEPT);
	CHECK(judge(r, "output", icmp6_to("fe80::1", "nd-neighbor-advert")) ==
	      RS_ACCEPT);
	CHECK(judge(r, "output", icmp6_to("ff02::1", "nd-router-advert")) ==
	      RS_DROP);
}

static void check_input(struct ruleset *r, bool with_l7)
{
	struct packet p = packet_to("192.0.0.1", "udp", 53);

	CHECK(judge(r, "input", p) == RS_ACCEPT);
	p.iif = "eth0";
	CHECK(judge(r, "input", p) == RS_DROP);
	p.state = "established";
	CHECK(judge(r, "input", p) == RS_ACCEPT);
	CHECK(judge(r, "input", packet_to("192.0.0.1", "tcp", 53)) ==
	      RS_ACCEPT);
	CHECK(judge(r, "input", packet_to("192.0.0.1", "tcp", 54)) ==
	      RS_REJECT);
	CHECK(judge(r, "input", packet_to("172.17.0.2", "udp", 53)) ==
	      RS_REJECT);
	CHECK(judge(r, "input", packet_to("fd00:6d65:6d62::1", "udp", 53)) ==
	      RS_ACCEPT);
	CHECK(judge(r, "input", packet_to("fe80::1", "udp", 53)) == RS_REJECT);
	/* HAProxy's ports: for nobody by themselves. */
	p = packet_to("192.0.0.1", "tcp", 15001);
	CHECK(judge(r, "input", p) == RS_REJECT);
	p.status = "dnat";
	CHECK(judge(r, "input", p) == (with_l7 ? RS_ACCEPT : RS_REJECT));
	p = packet_to("2606:4700::1", "tcp", 443);
	CHECK(judge(r, "input", p) == RS_REJECT);
	p.mark = "0x00000001";
	CHECK(judge(r, "input", p) == (with_l7 ? RS_ACCEPT : RS_REJECT));
}

static void check_forward(struct ruleset *r)
{
	struct packet p = packet_to("1.2.3.4", "tcp", 443);

	CHECK(judge(r, "forward", p) == RS_ACCEPT);
	p.proto = "icmp";
	CHECK(judge(r, "forward", p) == RS_REJECT);
	p = packet_to("9.9.9.9", "tcp", 443);
	CHECK(judge(r, "forward", p) == RS_REJECT);
	p.state = "established";
	CHECK(judge(r, "forward", p) == RS_ACCEPT);
	p = packet_to("1.2.3.4", "tcp", 443);
	p.state = "invalid";
	CHECK(judge(r, "forward", p) == RS_DROP);
	p = packet_to("9.9.9.9", "tcp", 443);
	p.flood = true;
	CHECK(judge(r, "forward", p) == RS_DROP);
	/* What only routers read. */
	p = packet_to("1.2.3.4", "tcp", 443);
	p.state = "established";
	p.options = true;
	CHECK(judge(r, "forward", p) == RS_REJECT);
	p = packet_to("2606:4700::1", "tcp", 443);
	p.options = true;
	CHECK(judge(r, "forward", p) == RS_REJECT);
	/* The floor and denials hold for flows that are open already. */
	p = packet_to("169.254.169.254", "tcp", 80);
	p.state = "established";
	CHECK(judge(r, "forward", p) == RS_REJECT);
	p = packet_to("5.5.5.5", "tcp", 80);
	p.state = "established";
	CHECK(judge(r, "forward", p) == RS_REJECT);
	/* From the world: answers only. */
	p = packet_to("192.0.0.2", "tcp", 80);
	p.iif = "eth0";
	p.oif = "agent0";
	CHECK(judge(r, "forward", p) == RS_DROP);
	p.status = "dnat";
	CHECK(judge(r, "forward", p) == RS_DROP);
	p.state = "established";
	CHECK(judge(r, "forward", p) == RS_ACCEPT);
	p.oif = "eth1";
	CHECK(judge(r, "forward", p) == RS_DROP);
}

static void check_published(struct ruleset *r)
{
	struct packet p = packet_to("192.0.0.2", "tcp", 80);

	p.iif = "eth0";
	p.oif = "agent0";
	CHECK(judge(r, "forward", p) == RS_DROP);
	p.status = "dnat";
	CHECK(judge(r, "forward", p) == RS_ACCEPT);
	/* Its answer, to an address of the floor. */
	p = packet_to("169.254.1.1", "tcp", 40000);
	p.state = "established";
	CHECK(judge(r, "forward", p) == RS_REJECT);
	p.direction = "reply";
	CHECK(judge(r, "forward", p) == RS_ACCEPT);
	p.state = "new";
	CHECK(judge(r, "forward", p) == RS_REJECT);
}

/* HAProxy's own ports are others' ports elsewhere. */
static void check_ports_of_ours(void)
{
	static const char *const addrs[] = {"1.2.3.4", "2606:4700::1"};
	struct test_policy t;
	struct ruleset *r;
	struct packet p;

	CHECK(test_policy_make(&t, "allow 1.2.3.4\nallow 2606:4700::1\n"
				   "deny a.test tcp/15001,tcp/15002\n"));
	r = rs_read(test_policy_emit(&t, nft_emit).p);
	for (unsigned port = 15001; port <= 15002; port++)
		for (size_t i = 0; i < ARRAY_LEN(addrs); i++) {
			p = packet_to(addrs[i], "tcp", port);
			CHECK(diverted(r, &p) == 15001);
		}
	p = packet_to("fd00:6d65:6d62::1", "tcp", 15001);
	CHECK(diverted(r, &p) == 0);
	CHECK(judge(r, "input", p) == RS_REJECT);
	rs_free(r);
	test_policy_done(&t);
}

static void check_fixed(void)
{
	struct test_policy t;
	struct ruleset *r;
	struct arg *arg;

	CHECK(test_policy_make(&t, "allow 1.2.3.4 tcp/443\ndeny 5.5.5.5\n"));
	r = rs_read(test_policy_emit(&t, nft_emit).p);
	check_source(r);
	check_output(r);
	check_input(r, false);
	check_forward(r);
	rs_free(r);
	arg = vec_push(t.a, &t.policy.docker_args);
	arg->is_publish = true;
	arg->publish = (struct arg_publish){STR("80:80"), IR_PROTO_TCP, 80, 80};
	r = rs_read(test_policy_emit(&t, nft_emit).p);
	check_input(r, false);
	check_published(r);
	rs_free(r);
	test_policy_done(&t);
	CHECK(test_policy_make(&t, "allow a.test tcp/443\n"));
	r = rs_read(test_policy_emit(&t, nft_emit).p);
	check_source(r);
	check_output(r);
	check_input(r, true);
	rs_free(r);
	test_policy_done(&t);
	check_ports_of_ours();
}

int main(int argc, char **argv)
{
	unsigned policies = argc > 1 ? (unsigned)atoi(argv[1]) : SCALED(1200, 8);
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	static struct gen_policy p;

	check_fixed();
	for (unsigned i = 0; i < policies && check_failed < 5; i++) {
		struct rng r = {seed + i};

		gen_policy(&r, &p);
		if (i % 4 == 3)
			gen_asks(&r, &p);
		for (unsigned k = 0; k < PROBES; k++) {
			struct probe x = gen_probe(&r);
			char why[256];

			if (agree(gen_text(&p, UINT32_MAX), &x, why,
				  sizeof(why))) {
				check_passed++;
				continue;
			}
			show(&p, &x, seed + i);
			break;
		}
	}
	CHECK(waiting || policies < 100);
	printf("%u policies from seed %llu: %lu packets, %lu accepted, %lu waiting, "
	       "%lu resolutions\n",
	       policies, (unsigned long long)seed, packets, accepted, waiting,
	       resolutions);
	return check_status();
}
