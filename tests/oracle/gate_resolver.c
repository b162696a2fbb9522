/*
 * The resolver against a kernel and a clock of its own: what is renewed when,
 * and what the sets hold then. In a private network namespace, where this
 * program is agent, upstream and gate in one; needs root, else 77.
 */
#include "runtime/gate/dns/dns_gate.h"

#include "runtime/gate/packet/ruleset.h"
#include "tests/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <nftables/libnftables.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MAP                                                                    \
	"membrane-names 2\nupstream udp 127.0.0.2 53\n"                        \
	"ports 1 tcp/443\nports 2 tcp/80\n"                                    \
	"name a.test 1,2 - g-0000000001\n"                                     \
	"name b.test 1 - g-0000000002\n"
#define SET(name)                                                              \
	"\tset " name " {\n\t\ttype ipv4_addr\n\t\tflags timeout\n\t}\n\n"
#define RULES "table inet membrane {\n" SET("host4_1") SET("host4_2") "}\n"

static struct names_map names;
static struct names_hosts hosts;
static struct nftset sets;
static struct resolved seen;
static struct pins pins;
static struct dns_gate gate;
static struct err err;
static int upstream = -1;
static unsigned errors;

static void on_record(void *data, const struct record *r)
{
	(void)data;
	(void)r;
}

static unsigned answers;
static char answer[RECORD_MAX]; /* the last one */

static void on_answer(void *data, const struct record_answer *r)
{
	(void)data;
	answers++;
	answer[record_answer(r, answer)] = '\0';
}

static void on_error(void *data, const char *message)
{
	(void)data;
	(void)message;
	errors++;
}

static int private_network(void)
{
	struct ifreq ifr = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	auto_fd int fd = -1;

	if (unshare(CLONE_NEWNET) < 0)
		return -1;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return ioctl(fd, SIOCSIFFLAGS, &ifr);
}

static int bind_udp(const char *addr, uint16_t port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	inet_pton(AF_INET, addr, &sa.sin_addr);
	return bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 ? fd : -1;
}

/* What nft lists, until the next call. */
static const char *listing(const char *cmd)
{
	static char text[1 << 20];
	struct nft_ctx *ctx = nft_ctx_new(NFT_CTX_DEFAULT);

	nft_ctx_buffer_output(ctx);
	nft_ctx_buffer_error(ctx);
	CHECK(nft_run_cmd_from_buffer(ctx, cmd) == 0);
	snprintf(text, sizeof(text), "%s", nft_ctx_get_output_buffer(ctx));
	nft_ctx_free(ctx);
	return text;
}

/* Answer one question as the upstream: a.test is .1, all others .2. */
static bool serve_one(uint32_t ttl)
{
	struct sockaddr_storage peer;
	socklen_t peer_n = sizeof(peer);
	uint8_t buf[512], *wire;
	ldns_pkt *p = NULL;
	ldns_rr *rr = NULL;
	char text[300], *owner;
	ssize_t n = recvfrom(upstream, buf, sizeof(buf), 0,
			     (struct sockaddr *)&peer, &peer_n);
	size_t size;

	if (n < 0)
		return false;
	CHECK(ldns_wire2pkt(&p, buf, (size_t)n) == LDNS_STATUS_OK);
	owner = ldns_rdf2str(
		ldns_rr_owner(ldns_rr_list_rr(ldns_pkt_question(p), 0)));
	snprintf(text, sizeof(text), "%s %u IN A 192.0.2.%d", owner, ttl,
		 owner[0] == 'a' ? 1 : 2);
	free(owner);
	CHECK(ldns_rr_new_frm_str(&rr, text, 0, NULL, NULL) == LDNS_STATUS_OK);
	ldns_pkt_set_qr(p, true);
	ldns_pkt_push_rr(p, LDNS_SECTION_ANSWER, rr);
	CHECK(ldns_pkt2wire(&wire, p, &size) == LDNS_STATUS_OK);
	CHECK(sendto(upstream, wire, size, 0, (struct sockaddr *)&peer,
		     peer_n) == (ssize_t)size);
	free(wire);
	ldns_pkt_free(p);
	return true;
}

/* Turn the loop at that time until nothing happens; questions upstream. */
static unsigned turn(int64_t now_ms, uint32_t ttl)
{
	struct pollfd p[DNS_GATE_POLL];
	unsigned n = 0;

	for (unsigned quiet = 0; quiet < 3; quiet++) {
		dns_gate_poll(&gate, p);
		if (poll(p, DNS_GATE_POLL, 5) > 0)
			quiet = 0;
		dns_gate_step(&gate, p, now_ms);
		while (serve_one(ttl)) {
			n++;
			quiet = 0;
		}
	}
	return n;
}

static bool holds(const char *set, const char *element)
{
	char cmd[64];

	snprintf(cmd, sizeof(cmd), "list set inet membrane %s", set);
	return strstr(listing(cmd), element) != NULL;
}

static void use(const char *name)
{
	resolved_name(&seen, str_of(name))->used = true;
}

static void renewals(void)
{
	/* both names at once, without anybody asking */
	CHECK(turn(1000000, 100) == 2);
	CHECK(holds("host4_1", "192.0.2.1 timeout 1m40s"));
	CHECK(holds("host4_2", "192.0.2.1 timeout 1m40s"));
	CHECK(holds("host4_1", "192.0.2.2 timeout 1m40s"));
	CHECK(!holds("host4_2", "192.0.2.2"));
	/* not used: not renewed, now or later */
	use("a.test");
	CHECK(turn(1089000, 100) == 0);
	CHECK(turn(1091000, 300) == 1);
	CHECK(holds("host4_1", "192.0.2.1 timeout 5m"));
	CHECK(holds("host4_1", "192.0.2.2 timeout 1m40s"));
	use("b.test");
	CHECK(turn(1200000, 100) == 0);
	/* one renewal per use */
	CHECK(turn(1400000, 100) == 0);
}

#define AGENT "127.0.0.3"

/* Of a question that is sent before: what turn() is to be called with. */
static int64_t asked_ms = 1400000;
static uint32_t upstream_ttl_s = 60;
static unsigned asked_upstream; /* by the last question */

static bool asked_from(const char *who, const char *name, uint16_t type,
		       const char *want)
{
	struct sockaddr_in to = {AF_INET, htons(53), {htonl(0x7f000001)}, {0}};
	auto_fd int fd = bind_udp(who, 4053);
	unsigned before = answers;
	uint8_t wire[512];
	struct dns_query q;
	size_t n;

	CHECK(fd >= 0 && dns_msg_query_for(name, type, &q));
	n = dns_msg_ask(&q, 0x1234, wire, sizeof(wire));
	CHECK(sendto(fd, wire, n, 0, (struct sockaddr *)&to, sizeof(to)) ==
	      (ssize_t)n);
	asked_upstream = turn(asked_ms, upstream_ttl_s);
	if (answers == before + 1 && strstr(answer, want))
		return true;
	printf("%u answers, the last %s\n", answers - before, answer);
	return false;
}

static bool asked(const char *name, uint16_t type, const char *want)
{
	return asked_from(AGENT, name, type, want);
}

/* Nobody else is answered, or even heard. */
static void strangers(void)
{
	struct sockaddr_in to = {AF_INET, htons(53), {htonl(0x7f000001)}, {0}};
	auto_fd int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char got;

	CHECK(!asked_from("127.0.0.4", "a.test", LDNS_RR_TYPE_A, ""));
	CHECK(!asked_from("127.0.0.1", "c.test", LDNS_RR_TYPE_A, ""));
	CHECK(connect(tcp, (struct sockaddr *)&to, sizeof(to)) == 0);
	turn(1400000, 60);
	CHECK(recv(tcp, &got, 1, 0) == 0);
	CHECK(answers == 0);
}

/* Whoever asks is told, and so is the tracer; renewals are nobody's. */
static void answered(void)
{
	CHECK(answers == 0);
	CHECK(asked("a.test", LDNS_RR_TYPE_A,
		    "\"tcp\":false,\"client\":\"127.0.0.3\",\"port\":4053,"
		    "\"server\":\"127.0.0.1\",\"server_port\":53,"
		    "\"id\":4660,\"bytes\":"));
	CHECK(strstr(answer, "\"name\":\"a.test\",\"type\":\"A\","
			     "\"rcode\":\"NOERROR\",\"cut\":false,"
			     "\"records\":[{\"type\":\"A\",\"ttl\":60,"
			     "\"data\":\"192.0.2.1\"}]}\n"));
	CHECK(asked("c.test", LDNS_RR_TYPE_A,
		    "\"rcode\":\"NXDOMAIN\",\"refused\":\"no-grant\","
		    "\"cut\":false,\"records\":[]"));
	CHECK(asked("a.test", LDNS_RR_TYPE_NULL,
		    "\"rcode\":\"NOTIMPL\",\"refused\":\"query-type\""));
	CHECK(asked("a.test", LDNS_RR_TYPE_AAAA,
		    "\"rcode\":\"NOERROR\",\"cut\":false,\"records\":[]"));
}

static void step(int64_t now_ms)
{
	struct pollfd p[DNS_GATE_POLL];

	dns_gate_poll(&gate, p);
	poll(p, DNS_GATE_POLL, 5);
	dns_gate_step(&gate, p, now_ms);
}

/* Whoever asks by TCP while all slots are taken waits for one. */
static void waits_its_turn(void)
{
	struct sockaddr_in to = {AF_INET, htons(53), {htonl(0x7f000001)}, {0}};
	auto_fd int udp = bind_udp(AGENT, 4053);
	auto_fd int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in from = {AF_INET, 0, {0}, {0}};
	uint8_t wire[514], got[514];
	struct dns_query q;
	size_t n;

	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_TXT, &q));
	n = dns_msg_ask(&q, 0x1234, wire + 2, sizeof(wire) - 2);
	wire[0] = 0;
	wire[1] = (uint8_t)n;
	inet_pton(AF_INET, AGENT, &from.sin_addr);
	CHECK(bind(tcp, (struct sockaddr *)&from, sizeof(from)) == 0);
	CHECK(connect(tcp, (struct sockaddr *)&to, sizeof(to)) == 0);
	step(1400000);
	for (unsigned i = 0; i < DNS_GATE_FLIGHTS; i++) {
		CHECK(sendto(udp, wire + 2, n, 0, (struct sockaddr *)&to,
			     sizeof(to)) == (ssize_t)n);
		step(1400000);
	}
	CHECK(gate.n_live == DNS_GATE_FLIGHTS);
	CHECK(send(tcp, wire, n + 2, 0) == (ssize_t)(n + 2));
	for (unsigned i = 0; i < 10; i++)
		step(1400000);
	CHECK(turn(1400000, 60) == DNS_GATE_FLIGHTS + 1 && gate.n_live == 0);
	CHECK(recv(tcp, got, sizeof(got), MSG_DONTWAIT) > (ssize_t)n);
	CHECK(got[2] == 0x12 && got[3] == 0x34);
}

static void races(void)
{
	struct addr a = {ADDR_V4, {192, 0, 2, 1}}, b = {ADDR_V4, {1, 2, 3, 4}};
	struct nftset_elem v[3] = {{a, 1, 900}, {a, 2, 900}, {b, 1, 5}};

	/* the kernel has dropped what the mirror still has: added alone */
	listing("delete element inet membrane host4_1 { 192.0.2.1 }");
	CHECK(nftset_add(&sets, v, 3, 1400000, &err) == 0);
	CHECK(holds("host4_1", "192.0.2.1 timeout 15m"));
	CHECK(holds("host4_2", "192.0.2.1 timeout 15m"));
	CHECK(holds("host4_1", "1.2.3.4 timeout 1m"));
	/* never shortened */
	v[0].ttl_s = 60;
	CHECK(nftset_add(&sets, v, 1, 1400000, &err) == 0);
	CHECK(holds("host4_1", "192.0.2.1 timeout 15m"));
	/* a set that does not exist */
	v[0].class = 3;
	CHECK(nftset_add(&sets, v, 1, 1400000, &err) == -ENOENT);
	v[1].class = 1;
	CHECK(nftset_add(&sets, v + 1, 1, 1400000, &err) == 0);
}

/* How often upstream was asked until b.test was answered so. */
static unsigned asked_at(int64_t now_ms, const char *want)
{
	asked_ms = now_ms;
	CHECK(asked("b.test", LDNS_RR_TYPE_A, want));
	return asked_upstream;
}

/* What is kept is answered with the time that is left of it, and opened. */
static void keeps(void)
{
	upstream_ttl_s = 100;
	CHECK(turn(2000000, 100) == 1); /* a renewal of a.test was due */
	CHECK(asked_at(2000000, "\"ttl\":100,\"data\":\"192.0.2.2\"") == 1);
	CHECK(asked_at(2000000, "\"ttl\":100,") == 0);
	CHECK(asked_at(2030000, "\"ttl\":70,") == 0);
	/* what the mirror holds is enough */
	CHECK(holds("host4_1", "192.0.2.2 timeout 1m40s"));
	/* a client has at least a minute, however little is left */
	CHECK(asked_at(2080000, "\"ttl\":20,") == 0);
	CHECK(holds("host4_1", "192.0.2.2 timeout 1m "));
	/* renewed at nine tenths, as was planned when it came */
	upstream_ttl_s = 50;
	CHECK(turn(2089000, 50) == 0 && turn(2091000, 50) == 1);
	CHECK(asked_at(2100000, "\"ttl\":41,") == 0);
	CHECK(asked_at(2140000, "\"ttl\":1,") == 0);
	/* its end comes before its renewal: asked for, and never with 0 */
	upstream_ttl_s = 200;
	CHECK(asked_at(2141000, "\"ttl\":200,") == 1);
}

/* Asked before a change and answered after it: not kept. */
static void changes_while_asked(void)
{
	struct sockaddr_in to = {AF_INET, htons(53), {htonl(0x7f000001)}, {0}};
	int fd = bind_udp(AGENT, 4053);
	unsigned before = answers;
	uint8_t wire[512];
	struct dns_query q;
	size_t n;

	CHECK(fd >= 0 && dns_msg_query_for("x.c.test", LDNS_RR_TYPE_A, &q));
	n = dns_msg_ask(&q, 0x1234, wire, sizeof(wire));
	CHECK(sendto(fd, wire, n, 0, (struct sockaddr *)&to, sizeof(to)) ==
	      (ssize_t)n);
	step(2150000);
	CHECK(gate.n_live == 1);
	dns_gate_changed(&gate);
	turn(2150000, 200);
	CHECK(answers == before + 1);
	close(fd);
	asked_ms = 2150000;
	CHECK(asked("x.c.test", LDNS_RR_TYPE_A, "\"ttl\":200,"));
	CHECK(asked_upstream == 1);
	CHECK(asked("x.c.test", LDNS_RR_TYPE_A, "\"ttl\":200,"));
	CHECK(asked_upstream == 0);
}

/* Each is judged by the plan and the hosts that there are then. */
static void judges_again(void)
{
	static struct names_map other;
	struct addr a = {ADDR_V4, {192, 0, 2, 2}};

	CHECK(names_parse(STR("membrane-names 2\nupstream udp 127.0.0.2 53\n"
			      "ports 1 tcp/443\nports 2 tcp/80\n"
			      "name *.c.test 2 - g-0000000004\n"
			      "name b.test 2 - g-0000000003\n"),
			  &other, &err) == 0);
	CHECK(asked_at(2142000, "\"ttl\":199,") == 0);
	CHECK(names_hosts_add(&hosts, &a));
	CHECK(asked_at(2143000, "\"records\":[]") == 0);
	hosts = (struct names_hosts){0};
	CHECK(!holds("host4_2", "192.0.2.2"));
	gate.names = &other;
	dns_gate_changed(&gate);
	CHECK(asked_at(2144000, "\"ttl\":200,") >= 1);
	CHECK(holds("host4_2", "192.0.2.2"));
	changes_while_asked();
	gate.names = &names;
	dns_gate_changed(&gate);
	turn(2400000, 300);
	names_free(&other);
}

/* What the kernel does not take leaves neither anew nor of what is kept. */
static void withheld(void)
{
	upstream_ttl_s = 30;
	CHECK(asked_at(3000000, "\"ttl\":30,") == 1);
	listing("delete set inet membrane host4_1");
	CHECK(asked_at(3010000, "\"rcode\":\"SERVFAIL\"") == 0);
	CHECK(errors == 1);
	errors = 0;
	listing("add set inet membrane host4_1 "
		"{ type ipv4_addr; flags timeout; }");
}

/* More than one transaction holds, and more than the mirror does. */
static void many(void)
{
	static struct nftset_elem v[1000];
	struct addr a = {ADDR_V4, {20}};
	const char *text;
	unsigned n = 0;
	int rc = 0;

	for (unsigned i = 0; i < ARRAY_LEN(v); i++) {
		a.b[2] = (uint8_t)(i >> 8);
		a.b[3] = (uint8_t)i;
		v[i] = (struct nftset_elem){a, 2, 60};
	}
	CHECK(nftset_add(&sets, v, ARRAY_LEN(v), 4000000, &err) == 0);
	text = listing("list set inet membrane host4_2");
	while ((text = strstr(text, "20.0."))) {
		text++;
		n++;
	}
	CHECK(n == ARRAY_LEN(v));
	for (unsigned i = 0; rc == 0 && i < 70; i++) {
		for (unsigned k = 0; k < ARRAY_LEN(v); k++)
			v[k].addr.b[1] = (uint8_t)(i + 1);
		rc = nftset_add(&sets, v, ARRAY_LEN(v), 4000000, &err);
	}
	CHECK(rc == -ENFILE);
	/* their time is over: there is room again */
	CHECK(nftset_add(&sets, v, 1, 4000000 + 100000, &err) == 0);
}

int main(void)
{
	static const struct dns_gate_ends ends = {"127.0.0.1", AGENT};

	if (private_network() < 0) {
		printf("needs root\n");
		return 77;
	}
	upstream = bind_udp("127.0.0.2", 53);
	resolved_init(&seen);
	CHECK(upstream >= 0);
	CHECK(ruleset_load(STR(RULES), &err) == 0 &&
	      ruleset_verify(STR(RULES), &err) == 0);
	CHECK(ruleset_load(STR(RULES), &err) == -EEXIST);
	CHECK(names_parse(STR(MAP), &names, &err) == 0);
	CHECK(nftset_open(&sets, &err) == 0);
	gate.names = &names;
	gate.hosts = &hosts;
	gate.sets = &sets;
	gate.seen = &seen;
	pins_init(&pins, "/nowhere");
	gate.pins = &pins;
	gate.on_record = on_record;
	gate.on_answer = on_answer;
	gate.on_error = on_error;
	CHECK(dns_gate_open(&gate, &ends, NULL, &err) == 0);
	renewals();
	strangers();
	answered();
	waits_its_turn();
	races();
	keeps();
	judges_again();
	withheld();
	many();
	CHECK(errors == 0);
	return check_status();
}
