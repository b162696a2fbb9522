/* Lines for the launcher, to the byte. */
#include "runtime/gate/record/record.h"

#include "tests/check.h"

#include <arpa/inet.h>
#include <malloc.h>
#include <netinet/in.h>
#include <string.h>

static const struct timespec noon = {1767225600, 1234567};
#define NOON "\"time\":\"2026-01-01T00:00:00.001234Z\""

static char buf[RECORD_MAX + 1];

/* What was written, as a text. */
static const char *text(size_t n)
{
	buf[n] = '\0';
	return buf;
}

#define SAYS(n, want)                                                          \
	do {                                                                   \
		const char *text_ = text(n);                                   \
                                                                               \
		CHECK_MSG(strcmp(text_, want "\n") == 0, "%s", text_);         \
	} while (0)

static void prefixes(void)
{
	struct record_prefix p;
	struct packet tcp = {.proto = IPPROTO_TCP},
		      udp = {.proto = IPPROTO_UDP},
		      icmp = {.proto = IPPROTO_ICMP};

	CHECK(record_prefix(STR("membrane:allow:"), &p) && p.allow &&
	      p.reason == REASON_GRANTED && p.id.n == 0);
	CHECK(record_prefix(STR("membrane:denied:d-0123456789"), &p) &&
	      !p.allow && p.reason == REASON_DENIED &&
	      str_is(p.id, "d-0123456789"));
	CHECK(record_prefix(STR("membrane:no-grant: "), &p) &&
	      p.reason == REASON_NO_GRANT && p.id.n == 0);
	CHECK(record_reason(&p, &tcp, false) == REASON_NO_GRANT);
	CHECK(record_reason(&p, &tcp, true) == REASON_PORT);
	CHECK(record_reason(&p, &udp, false) == REASON_NO_GRANT);
	CHECK(record_reason(&p, &udp, true) == REASON_UDP);
	CHECK(record_reason(&p, &icmp, true) == REASON_PROTOCOL);
	CHECK(record_prefix(STR("membrane:floor:"), &p) &&
	      record_reason(&p, &icmp, true) == REASON_FLOOR);
	CHECK(!record_prefix(STR("membrane:floor"), &p));
	CHECK(!record_prefix(STR("membrane:what:"), &p));
	CHECK(!record_prefix(STR("other:floor:"), &p));
	CHECK(!record_prefix(STR("somebody:floor:"), &p));
	CHECK(!record_prefix(STR(""), &p));
}

static void records(void)
{
	static const struct provenance_rule rule = {
		.id = "g-0123456789", .source = ".membrane.yaml", .line = 3};
	struct packet p = {.proto = IPPROTO_TCP,
			   .has_port = true,
			   .dport = 443,
			   .src = {ADDR_V4, {11, 66, 6, 6}},
			   .dst = {ADDR_V4, {8, 8, 4, 4}}};
	struct record r = {.kind = RECORD_CONNECT,
			   .reason = REASON_PORT,
			   .packet = &p,
			   .time = {1767225600, 1234567},
			   .names = {"a.test"},
			   .n_names = 1,
			   .id = STR("g-0123456789"),
			   .rule = &rule};
	const struct flow flow = {.packet = {.proto = IPPROTO_UDP,
					     .has_port = true,
					     .sport = 40000,
					     .dport = 53,
					     .dst = p.dst},
				  .sent = {2, 56},
				  .received = {1, UINT64_C(5000000000)}};
	static char big[2 * RECORD_MAX];
	size_t n = record_decision(&r, buf);

	CHECK(str_is((struct str){buf, n},
		     "{\"event\":\"decision\","
		     "\"time\":\"2026-01-01T00:00:00.001234Z\","
		     "\"kind\":\"connect\",\"verdict\":\"deny\","
		     "\"reason\":\"port\",\"proto\":\"tcp\","
		     "\"addr\":\"8.8.4.4\",\"port\":443,\"name\":\"a.test\","
		     "\"id\":\"g-0123456789\",\"source\":\".membrane.yaml\","
		     "\"line\":3}\n"));
	r.reason = REASON_FORGED_SOURCE;
	buf[record_decision(&r, buf)] = '\0';
	CHECK(strstr(buf, "\"reason\":\"forged-source\"") &&
	      strstr(buf, "\"port\":443,\"src\":\"11.66.6.6\""));
	r = (struct record){.kind = RECORD_RESOLVE,
			    .allow = true,
			    .reason = REASON_GRANTED,
			    .type = "AAAA",
			    .names = {"a\"\n\x7f.test"},
			    .n_names = 1,
			    .time = {1767225600, 0}};
	n = record_decision(&r, buf);
	CHECK(n && memchr(buf, '\n', n) == buf + n - 1);
	CHECK(strstr(buf, "\"name\":\"a\\\"\\n") && strstr(buf, "\"AAAA\""));
	n = record_end(&flow, &r.time, buf);
	CHECK(str_is((struct str){buf, n},
		     "{\"event\":\"end\","
		     "\"time\":\"2026-01-01T00:00:00.000000Z\","
		     "\"kind\":\"connect\",\"proto\":\"udp\","
		     "\"addr\":\"8.8.4.4\",\"port\":53,\"sport\":40000,"
		     "\"sent\":56,\"sent_packets\":2,"
		     "\"received\":5000000000,\"received_packets\":1}\n"));
	memset(big, 'x', sizeof(big) - 1);
	CHECK(record_error(big, buf) == 0);
	n = record_change(&(struct record_change){.generation = 2, .ms = 70},
			  buf);
	buf[n] = '\0';
	CHECK(strcmp(buf, "{\"event\":\"generation\",\"generation\":2,"
			  "\"ok\":true,\"ms\":70}\n") == 0);
	n = record_change(
		&(struct record_change){.generation = 3, .why_not = "no\nroom"},
		buf);
	buf[n] = '\0';
	CHECK(strstr(buf, "\"ok\":false") &&
	      strstr(buf, "\"message\":\"no\\nroom\""));
	n = record_ready(&(struct record_ready){.ipv6 = true, .ms = 12}, buf);
	CHECK(str_is((struct str){buf, n},
		     "{\"event\":\"ready\",\"ipv6\":true,\"ms\":12}\n"));
	n = record_ready(&(struct record_ready){.session = "a-1", .ms = 12},
			 buf);
	CHECK(str_is((struct str){buf, n},
		     "{\"event\":\"ready\",\"session\":\"a-1\","
		     "\"ipv6\":false,\"ms\":12}\n"));
}

/* --- decisions ---------------------------------------------------------- */

static void of_names(void)
{
	const struct addr addr = {ADDR_V4, {11, 0, 0, 1}};
	struct record r = {.kind = RECORD_RESOLVE,
			   .allow = true,
			   .reason = REASON_GRANTED,
			   .time = noon,
			   .addr = &addr,
			   .names = {"a.test", "b.test"},
			   .n_names = 2,
			   .type = "A",
			   .generation = 1};

	SAYS(record_decision(&r, buf),
	     "{\"event\":\"decision\"," NOON ",\"kind\":\"resolve\","
	     "\"verdict\":\"allow\",\"reason\":\"granted\","
	     "\"addr\":\"11.0.0.1\",\"name\":\"a.test\","
	     "\"names\":[\"a.test\",\"b.test\"],\"type\":\"A\"}");
	r.n_names = 1;
	r.generation = 2;
	r.uncounted = true;
	SAYS(record_decision(&r, buf),
	     "{\"event\":\"decision\"," NOON ",\"kind\":\"resolve\","
	     "\"verdict\":\"allow\",\"reason\":\"granted\","
	     "\"addr\":\"11.0.0.1\",\"name\":\"a.test\",\"counted\":false,"
	     "\"type\":\"A\",\"generation\":2}");
}

static void of_packets(void)
{
	struct packet p = {.proto = IPPROTO_ICMP,
			   .src = {ADDR_V4, {11, 0, 0, 9}},
			   .dst = {ADDR_V4, {11, 0, 0, 1}}};
	struct record r = {.kind = RECORD_CONNECT,
			   .reason = REASON_PROTOCOL,
			   .time = noon,
			   .packet = &p,
			   .addr = &p.src};

	SAYS(record_decision(&r, buf),
	     "{\"event\":\"decision\"," NOON ",\"kind\":\"connect\","
	     "\"verdict\":\"deny\",\"reason\":\"protocol\","
	     "\"proto\":\"icmp\",\"addr\":\"11.0.0.1\"}");
	r.packet = NULL;
	r.reason = REASON_FORGED_SOURCE;
	SAYS(record_decision(&r, buf),
	     "{\"event\":\"decision\"," NOON ",\"kind\":\"connect\","
	     "\"verdict\":\"deny\",\"reason\":\"forged-source\","
	     "\"addr\":\"11.0.0.9\"}");
	r.packet = &p;
	r.reason = REASON_PROTOCOL;
	/* the port that it came from tells connections apart */
	p.sport = 4;
	SAYS(record_decision(&r, buf),
	     "{\"event\":\"decision\"," NOON ",\"kind\":\"connect\","
	     "\"verdict\":\"deny\",\"reason\":\"protocol\","
	     "\"proto\":\"icmp\",\"addr\":\"11.0.0.1\",\"sport\":4}");
}

#define REQUEST_OF(verdict, reason)                                            \
	"{\"event\":\"decision\"," NOON ",\"kind\":\"request\","               \
	"\"verdict\":\"" verdict "\",\"reason\":\"" reason "\","               \
	"\"tls\":true,"

static void of_requests(void)
{
	struct logline l = {.tls = true,
			    .up = 3,
			    .down = UINT64_C(5000000000),
			    .error = "x"};
	struct record r = {.kind = RECORD_REQUEST,
			   .reason = REASON_BAD_REQUEST,
			   .time = noon,
			   .flow = &l};

	/* one byte is HAProxy's word for nothing */
	l.reason = REASON_BAD_REQUEST;
	SAYS(record_decision(&r, buf),
	     REQUEST_OF("deny", "bad-request") "\"sent\":3,"
					       "\"received\":5000000000}");
	strcpy(l.error, "ab");
	SAYS(record_decision(&r, buf),
	     REQUEST_OF("deny", "bad-request") "\"sent\":3,"
					       "\"received\":5000000000,"
					       "\"detail\":\"ab\"}");
	l.reason = r.reason = REASON_UPSTREAM;
	SAYS(record_decision(&r, buf),
	     REQUEST_OF("deny", "upstream") "\"sent\":3,"
					    "\"received\":5000000000,"
					    "\"error\":\"ab\"}");
	l.error[0] = '\0';
	l.down = 4;
	SAYS(record_decision(&r, buf),
	     REQUEST_OF("deny", "upstream") "\"sent\":3,\"received\":4}");
	l.reason = r.reason = REASON_GRANTED;
	r.allow = true;
	strcpy(l.error, "not told");
	strcpy(l.method, "GET");
	strcpy(l.path, "/x");
	l.status = 200;
	SAYS(record_decision(&r, buf),
	     REQUEST_OF("allow", "granted") "\"method\":\"GET\","
					    "\"path\":\"/x\","
					    "\"status\":200,\"sent\":3,"
					    "\"received\":4}");
}

static void folded(void)
{
	const struct timespec later = {1767225601, 0};
	const struct str line = STR("{\"time\":\"x\",\"a\":1}\n");

	SAYS(record_folded(line, &later, 1, buf),
	     "{\"time\":\"2026-01-01T00:00:01.000000Z\",\"a\":1}");
	SAYS(record_folded(line, &later, 2, buf),
	     "{\"time\":\"2026-01-01T00:00:01.000000Z\",\"a\":1,"
	     "\"count\":2}");
	CHECK(record_folded(STR("{\"time\""), &later, 2, buf) == 0);
}

/* Of a line nothing stays, nor of what is none, but malloc(3)'s own store. */
static void nothing_left(void)
{
	const struct timespec t = {0};
	size_t before = mallinfo2().uordblks;

	for (unsigned i = 0; i < 300; i++) {
		CHECK(record_done(buf) > 0);
		CHECK(record_folded(STR("{\"time\""), &t, 2, buf) == 0);
	}
	CHECK(mallinfo2().uordblks < before + 8192);
}

/* --- answers ------------------------------------------------------------ */

static struct sockaddr_storage end_of(const char *addr, uint16_t port)
{
	struct sockaddr_storage s = {0};
	struct sockaddr_in *in = (void *)&s;
	struct sockaddr_in6 *in6 = (void *)&s;

	if (strchr(addr, ':')) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		CHECK(inet_pton(AF_INET6, addr, &in6->sin6_addr) == 1);
	} else {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		CHECK(inet_pton(AF_INET, addr, &in->sin_addr) == 1);
	}
	return s;
}

static void of_answers(void)
{
	struct sockaddr_storage client = end_of("192.0.0.2", 40000),
				server = end_of("fd00::1", 53);
	const struct addr addr = {ADDR_V4, {11, 0, 0, 1}};
	struct record_answer r = {.time = noon,
				  .client = &client,
				  .server = &server,
				  .bytes = 44};
	struct dns_query q;
	struct dns_answer a;

	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_A, &q));
	q.id = 7;
	r.q = &q;
	dns_msg_known(&q, &addr, 60, &a);
	r.answer = &a;
	SAYS(record_answer(&r, buf),
	     "{\"event\":\"answer\",\"time_ns\":1767225600001234567,"
	     "\"tcp\":false,\"client\":\"192.0.0.2\",\"port\":40000,"
	     "\"server\":\"fd00::1\",\"server_port\":53,\"id\":7,"
	     "\"bytes\":44,\"name\":\"a.test\",\"type\":\"A\","
	     "\"rcode\":\"NOERROR\",\"cut\":false,\"records\":["
	     "{\"type\":\"A\",\"ttl\":60,\"data\":\"11.0.0.1\"}]}");
	dns_msg_done(&a);
	/* a code that has no name, and no records */
	r = (struct record_answer){.tcp = true,
				   .cut = true,
				   .client = &server,
				   .server = &client,
				   .q = &q,
				   .rcode = 14,
				   .refused = true,
				   .reason = REASON_DENIED};
	SAYS(record_answer(&r, buf),
	     "{\"event\":\"answer\",\"time_ns\":0,\"tcp\":true,"
	     "\"client\":\"fd00::1\",\"port\":53,\"server\":\"192.0.0.2\","
	     "\"server_port\":40000,\"id\":7,\"bytes\":0,"
	     "\"name\":\"a.test\",\"type\":\"A\",\"rcode\":\"\","
	     "\"refused\":\"denied\",\"cut\":true,\"records\":[]}");
}

/* So many records of an answer that has n of so many bytes. */
static unsigned told_of(unsigned n, unsigned bytes)
{
	struct sockaddr_storage end = end_of("192.0.0.2", 1);
	struct record_answer r = {.client = &end, .server = &end};
	struct dns_answer a = {.rrs = ldns_rr_list_new()};
	char zone[300];
	struct dns_query q;
	unsigned found = 0;
	const char *at;

	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_TXT, &q));
	for (unsigned i = 0; i < n; i++) {
		ldns_rr *rr = NULL;

		snprintf(zone, sizeof(zone), "a.test 60 IN TXT \"%0*u\"",
			 (int)bytes, i);
		CHECK(ldns_rr_new_frm_str(&rr, zone, 0, NULL, NULL) ==
			      LDNS_STATUS_OK &&
		      ldns_rr_list_push_rr(a.rrs, rr));
	}
	r.q = &q;
	r.answer = &a;
	at = text(record_answer(&r, buf));
	while ((at = strstr(at, "\"type\":\"TXT\",\"ttl\""))) {
		found++;
		at++;
	}
	dns_msg_done(&a);
	return found;
}

/* At most so many, and half of them where all together are too long. */
static void long_answers(void)
{
	CHECK(told_of(0, 1) == 0 && told_of(1, 1) == 1);
	CHECK(told_of(RECORD_ANSWERS_MAX, 100) == RECORD_ANSWERS_MAX);
	CHECK(told_of(RECORD_ANSWERS_MAX + 1, 100) == RECORD_ANSWERS_MAX);
	CHECK(told_of(RECORD_ANSWERS_MAX, 240) == RECORD_ANSWERS_MAX / 2);
	CHECK(told_of(RECORD_ANSWERS_MAX / 2, 240) == RECORD_ANSWERS_MAX / 2);
}

/* --- the rest ----------------------------------------------------------- */

static void small_ones(void)
{
	SAYS(record_answers_lost(3, buf),
	     "{\"event\":\"answer\",\"missing\":3}");
	SAYS(record_lost(4, buf), "{\"event\":\"lost\",\"count\":4}");
	SAYS(record_done(buf), "{\"event\":\"done\"}");
	SAYS(record_error("a\"b", buf),
	     "{\"event\":\"error\",\"message\":\"a\\\"b\"}");
	SAYS(record_roots(STR("PEM\n and more"), buf),
	     "{\"event\":\"roots\",\"pem\":\"PEM\\n and more\"}");
	SAYS(record_roots((struct str){"PEM and more", 3}, buf),
	     "{\"event\":\"roots\",\"pem\":\"PEM\"}");
	SAYS(record_ready(
		     &(struct record_ready){
			     .ms = 1, .ca = "CA", .netns = 5, .pidns = 6},
		     buf),
	     "{\"event\":\"ready\",\"ipv6\":false,\"ms\":1,\"ca\":\"CA\","
	     "\"netns\":5,\"pidns\":6}");
}

static void renewals(void)
{
	const struct addr addr = {ADDR_V6, {0x20, 1}};
	const struct record_renewal r = {.id = 1,
					 .n = 2,
					 .addr = &addr,
					 .is_form = true,
					 .agent = {"curl/8 and more", 6},
					 .body = STR("a=b")};

	SAYS(record_renewal(&r, buf),
	     "{\"event\":\"renewal\",\"id\":1,\"n\":2,\"addr\":\"2001::\","
	     "\"form\":true,\"agent\":\"curl/8\",\"body\":\"a=b\"}");
}

static void questions(void)
{
	static const struct provenance_rule rule = {.source = "s", .line = 3};
	const struct addr addr = {ADDR_V4, {11, 0, 0, 1}};
	struct record_question q = {.time = noon,
				    .id = 1,
				    .wait_s = 60,
				    .rule = "a-0000000001",
				    .name = "",
				    .addr = &addr,
				    .port = 443,
				    .sport = 40000,
				    .method = "",
				    .path = ""};

	SAYS(record_question(&q, buf),
	     "{\"event\":\"question\"," NOON ",\"id\":1,"
	     "\"rule\":\"a-0000000001\",\"addr\":\"11.0.0.1\",\"port\":443,"
	     "\"wait_s\":60,\"sport\":40000}");
	q.from = &rule;
	q.name = "a.test";
	q.tls = true;
	q.method = "GET";
	q.path = "/x";
	SAYS(record_question(&q, buf),
	     "{\"event\":\"question\"," NOON ",\"id\":1,"
	     "\"rule\":\"a-0000000001\",\"source\":\"s\",\"line\":3,"
	     "\"name\":\"a.test\",\"port\":443,\"tls\":true,"
	     "\"method\":\"GET\",\"path\":\"/x\",\"wait_s\":60,"
	     "\"sport\":40000}");
	SAYS(record_answered(&(struct record_answered){noon, 7, "yes"}, buf),
	     "{\"event\":\"answered\"," NOON ",\"id\":7,"
	     "\"answer\":\"yes\"}");
}

/* The longest line that there is, and one byte more. */
static void lengths(void)
{
	static char big[RECORD_MAX];
	size_t around = strlen("{\"event\":\"error\",\"message\":\"\"}\n");

	memset(big, 'x', sizeof(big));
	for (size_t n = RECORD_MAX - around - 8; n < RECORD_MAX - around; n++) {
		size_t got;

		big[n] = '\0';
		got = record_error(big, buf);
		big[n] = 'x';
		/* cJSON wants some bytes for itself */
		CHECK(got == 0 || (got == n + around && buf[got - 1] == '\n'));
		CHECK(n != RECORD_MAX - around - 8 || got);
	}
}

int main(void)
{
	prefixes();
	records();
	of_names();
	of_packets();
	of_requests();
	folded();
	nothing_left();
	of_answers();
	long_answers();
	small_ones();
	renewals();
	questions();
	lengths();
	return check_status();
}
