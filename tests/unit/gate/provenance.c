/* provenance.json: what is refused, and which rule is behind a packet. */
#include "runtime/gate/record/provenance.h"

#include "tests/check.h"

#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <string.h>

static struct err err;

static int rules_of(const char *text)
{
	struct provenance p;
	int rc = provenance_parse(str_of(text), &p, &err);

	if (rc == 0)
		provenance_free(&p);
	return rc;
}

#define RULE(id, text)                                                         \
	"\"" id "\":{\"text\":\"" text "\",\"source\":\"s\",\"line\":1}"

static const char *rule_for(const struct provenance *p, char kind,
			    const char *addr, uint8_t proto, uint16_t port)
{
	struct packet packet = {
		.proto = proto, .has_port = port != 0, .dport = port};
	const struct provenance_rule *r;

	CHECK(addr_parse(str_of(addr), &packet.dst));
	r = provenance_packet(p, kind, &packet);
	return r ? r->id : "";
}

#define RULED(kind, addr, proto, port, id)                                     \
	CHECK(strcmp(rule_for(&p, kind, addr, IPPROTO_##proto, port), id) == 0)

/* clang-format off */
static const char flow_rules[] =
	"{\"version\":1,\"rules\":{"
	RULE("g-any", "* tcp/80,udp/53") ","
	RULE("g-wide", "10.0.0.0/8 tcp/1-65535") ","
	RULE("g-narrow", "10.1.0.0/16 tcp/22") ","
	RULE("g-http", "10.2.0.0/16 tcp/22 http [* *]") ","
	RULE("g-name", "a.test tcp/22") ","
	RULE("g-six", "2001:db8::/32 udp/1000-2000") ","
	RULE("d-net", "10.9.0.0/16 tcp/22") "}}";
/* clang-format on */

/* Which rule of the packet filter a flow is under. */
static void provenances_of_packets(void)
{
	struct provenance p;

	CHECK(provenance_parse(str_of(flow_rules), &p, &err) == 0);
	RULED('g', "10.0.0.1", TCP, 22, "g-wide");
	RULED('g', "10.1.0.1", TCP, 22, "g-narrow");
	RULED('g', "10.1.0.1", TCP, 23, "g-wide");
	RULED('g', "10.2.0.1", TCP, 22, "g-wide");
	RULED('g', "8.8.8.8", TCP, 80, "g-any");
	RULED('g', "8.8.8.8", UDP, 53, "g-any");
	RULED('g', "8.8.8.8", UDP, 80, "");
	RULED('g', "10.0.0.1", TCP, 0, "");
	RULED('g', "10.0.0.1", ICMP, 22, "");
	RULED('g', "2001:db8::1", UDP, 1000, "g-six");
	RULED('g', "2001:db8::1", UDP, 2001, "");
	RULED('d', "10.9.1.1", TCP, 22, "d-net");
	RULED('d', "10.1.0.1", TCP, 22, "");
	provenance_free(&p);
}

static void provenances(void)
{
	struct provenance p;
	const struct provenance_rule *r;

	CHECK(provenance_parse(STR("{\"version\":1,\"rules\":{"
				   "\"g-2\":{\"source\":\"b\",\"line\":2},"
				   "\"g-1\":{\"source\":\"a\",\"line\":1}}}\n"),
			       &p, &err) == 0);
	r = provenance_find(&p, STR("g-1"));
	CHECK(r && r->line == 1 && strcmp(r->source, "a") == 0);
	CHECK(provenance_find(&p, STR("g-2")));
	CHECK(!provenance_find(&p, STR("g-3")));
	CHECK(!provenance_find(&p, STR("")));
	provenance_free(&p);
	CHECK(rules_of("{\"version\":1,\"rules\":{}}") == 0);
	CHECK(rules_of("") == -EPROTO && strstr(err.text, "not JSON"));
	CHECK(rules_of("{") == -EPROTO && strstr(err.text, "not JSON"));
	CHECK(rules_of("{\"version\":2,\"rules\":{}}") == -EPROTO);
	CHECK(rules_of("{\"version\":1}") == -EPROTO);
	CHECK(rules_of("{\"version\":1,\"rules\":{}}{") == -EPROTO);
	CHECK(rules_of("{\"version\":1,\"rules\":{\"g-1\":{}}}") == -EPROTO);
	CHECK(rules_of("{\"version\":1,\"rules\":{\"g-1\":"
		       "{\"source\":\"a\",\"line\":-1}}}") == -EPROTO);
}

/* The narrowest, wherever it stands; of two that are as narrow the first, and
 * '*' where nothing else is. */
static void narrowest(void)
{
	/* clang-format off */
	static const char text[] =
		"{\"version\":1,\"rules\":{"
		RULE("g-1", "10.0.0.0/8 tcp/22") ","
		RULE("g-2", "10.1.0.0/16 tcp/22") ","
		RULE("g-3", "10.1.2.0/24 tcp/22,udp/53") ","
		RULE("g-4", "10.1.2.0/24 tcp/22") ","
		RULE("g-5", "10.1.0.0/16 tcp/22") ","
		RULE("g-6", "* tcp/22-23") ","
		RULE("g-7", "* tcp/23") ","
		RULE("g-8", "10.9.0.0/16 tcp/22 private") "}}";
	/* clang-format on */
	struct provenance p;

	CHECK(provenance_parse(str_of(text), &p, &err) == 0 && p.n == 8);
	RULED('g', "10.1.2.3", TCP, 22, "g-3");
	RULED('g', "10.1.3.3", TCP, 22, "g-2");
	RULED('g', "10.2.3.3", TCP, 22, "g-1");
	RULED('g', "10.9.3.3", TCP, 22, "g-8");
	RULED('g', "11.2.3.3", TCP, 22, "g-6");
	RULED('g', "10.1.2.3", UDP, 53, "g-3");
	RULED('g', "10.1.2.3", TCP, 24, "");
	RULED('g', "2001:db8::1", TCP, 22, "g-6");
	RULED('d', "10.1.2.3", TCP, 22, "");
	/* of those for all addresses the last: they differ in nothing */
	RULED('g', "10.1.2.3", TCP, 23, "g-7");
	for (unsigned i = 1; i <= 8; i++) {
		char id[8];

		snprintf(id, sizeof(id), "g-%u", i);
		CHECK(provenance_find(&p, str_of(id)) == &p.rules[i - 1]);
	}
	CHECK(!provenance_find(&p, STR("g-0")) &&
	      !provenance_find(&p, STR("g-9")) &&
	      !provenance_find(&p, STR("g-12")));
	provenance_free(&p);
	CHECK(!p.tree && !p.rules && p.n == 0 &&
	      !provenance_find(&p, STR("g-1")));
}

/* A later fragment has no port, whatever number stands where others have it. */
static void without_a_port(void)
{
	struct packet packet = {.proto = IPPROTO_TCP,
				.dport = 22,
				.dst = {ADDR_V4, {10, 1, 2, 3}}};
	struct provenance p;

	CHECK(provenance_parse(str_of(flow_rules), &p, &err) == 0);
	CHECK(!provenance_packet(&p, 'g', &packet));
	packet.has_port = true;
	CHECK(provenance_packet(&p, 'g', &packet));
	provenance_free(&p);
}

/* What the packet filter does not decide by itself. */
static void no_flows(void)
{
	static const char *const texts[] = {
		"10.0.0.0/8", "*", "", "a.test tcp/22", "10.0.0.1/8 tcp/22",
		"https://a.test/x tcp/443", "* tcp/22 http [* *]",
	};
	struct provenance p;
	char text[256];

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		snprintf(text, sizeof(text),
			 "{\"version\":1,\"rules\":{" RULE("g-1", "%s") "}}",
			 texts[i]);
		CHECK(provenance_parse(str_of(text), &p, &err) == 0);
		RULED('g', "10.1.2.3", TCP, 22, "");
		CHECK(provenance_find(&p, STR("g-1")));
		provenance_free(&p);
	}
	CHECK(provenance_parse(STR("{\"version\":1,\"rules\":{\"g-1\":"
				   "{\"text\":7,\"source\":\"s\",\"line\":1}}}"),
			       &p, &err) == 0);
	RULED('g', "10.1.2.3", TCP, 22, "");
	provenance_free(&p);
}

static void refusals(void)
{
	static const char *const bad[] = {
		"{}",
		"[]",
		"{\"rules\":{}}",
		"{\"version\":true,\"rules\":{}}",
		"{\"version\":\"1\",\"rules\":{}}",
		"{\"version\":1,\"rules\":[]}",
		"{\"version\":1,\"rules\":{}} x",
		"{\"version\":1,\"rules\":{}}\t",
		"{\"version\":1,\"rules\":{\"g-1\":{\"line\":1}}}",
		"{\"version\":1,\"rules\":{\"g-1\":{\"source\":1,\"line\":1}}}",
		"{\"version\":1,\"rules\":{\"g-1\":{\"source\":\"s\"}}}",
		"{\"version\":1,\"rules\":{\"g-1\":{\"source\":\"s\","
		"\"line\":2147483648}}}",
	};

	size_t before;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_MSG(rules_of(bad[i]) == -EPROTO && err.text[0], "%s",
			  bad[i]);
	/* of what was refused nothing is left, but for malloc(3)'s own store */
	before = mallinfo2().uordblks;
	for (unsigned i = 0; i < 1000; i++)
		CHECK(rules_of("{\"version\":1,\"rules\":{\"g\":{}}}") ==
		      -EPROTO);
	CHECK(mallinfo2().uordblks < before + 16384);
	CHECK(rules_of("{\"version\":1,\"rules\":{\"g-1\":{}}}") == -EPROTO &&
	      strstr(err.text, "rule 'g-1'"));
	CHECK(rules_of("{\"version\":1,\"rules\":{}} \n \n") == 0);
}

int main(void)
{
	provenances();
	provenances_of_packets();
	narrowest();
	without_a_port();
	no_flows();
	refusals();
	return check_status();
}
