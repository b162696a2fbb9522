/* What upstream says, whatever it says, and what goes back of it. */
#include "tests/unit/gate/dns_wire.h"

#include <malloc.h>

static struct dns_query query;

/* An upstream's message with these records (zone file text, ; between). */
static size_t answer_of(const char *name, ldns_rr_type type,
			const char *records)
{
	ldns_pkt *p = ldns_pkt_query_new(ldns_dname_new_frm_str(name), type,
					 LDNS_RR_CLASS_IN, LDNS_RD);
	char text[4096], *save = NULL;
	uint8_t *out;
	size_t n;

	ldns_pkt_set_id(p, 99);
	ldns_pkt_set_qr(p, true);
	snprintf(text, sizeof(text), "%s", records);
	for (char *r = strtok_r(text, ";", &save); r;
	     r = strtok_r(NULL, ";", &save)) {
		ldns_rr *rr = NULL;

		CHECK(ldns_rr_new_frm_str(&rr, r, 0, NULL, NULL) ==
		      LDNS_STATUS_OK);
		ldns_pkt_push_rr(p, LDNS_SECTION_ANSWER, rr);
	}
	CHECK(ldns_pkt2wire(&out, p, &n) == LDNS_STATUS_OK);
	memcpy(wire, out, n);
	free(out);
	ldns_pkt_free(p);
	return n;
}

static enum dns_msg_got got(size_t n, struct dns_answer *a)
{
	return dns_msg_answer(wire, n, &query, 99, a);
}

/* Number of records in a reply of at most max bytes; -1 when it has TC. */
static int reply_records(const struct dns_answer *a, size_t max)
{
	static uint8_t out[DNS_MSG_MAX];
	size_t n = dns_msg_reply(&query, a->rcode, a, false, out, max);
	ldns_pkt *p = NULL;
	int count;

	CHECK(n > 0 && n <= max);
	CHECK(ldns_wire2pkt(&p, out, n) == LDNS_STATUS_OK);
	count = ldns_pkt_tc(p) ? -1
			       : (int)ldns_rr_list_rr_count(ldns_pkt_answer(p));
	if (ldns_pkt_tc(p))
		CHECK(ldns_rr_list_rr_count(ldns_pkt_answer(p)) == 0);
	ldns_pkt_free(p);
	return count;
}

/* */
static void foreign_answers(void)
{
	struct dns_answer a = {0};
	size_t n;

	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_A, &query));
	n = answer_of("a.test", LDNS_RR_TYPE_A, "a.test 60 IN A 192.0.2.1");
	CHECK(dns_msg_answer(wire, n, &query, 98, &a) == DNS_MSG_GOT_FOREIGN);
	CHECK(dns_msg_answer(wire, 11, &query, 99, &a) == DNS_MSG_GOT_FOREIGN);
	CHECK(dns_msg_answer(wire, n - 1, &query, 99, &a) ==
	      DNS_MSG_GOT_FOREIGN);
	wire[2] &= 0x7f;
	CHECK(got(n, &a) == DNS_MSG_GOT_FOREIGN);
	n = answer_of("b.test", LDNS_RR_TYPE_A, "b.test 60 IN A 192.0.2.1");
	CHECK(got(n, &a) == DNS_MSG_GOT_FOREIGN);
	n = answer_of("a.test", LDNS_RR_TYPE_AAAA, "");
	CHECK(got(n, &a) == DNS_MSG_GOT_FOREIGN);
	n = answer_of("a.test", LDNS_RR_TYPE_A, "a.test 60 IN A 192.0.2.1");
	wire[3] |= LDNS_RCODE_SERVFAIL;
	CHECK(got(n, &a) == DNS_MSG_GOT_FAILURE);
	n = answer_of("a.test", LDNS_RR_TYPE_A, "a.test 60 IN A 192.0.2.1");
	wire[2] |= 2;
	CHECK(got(n, &a) == DNS_MSG_GOT_TRUNCATED);
	wire[2] |= 0x28;
	CHECK(got(n, &a) == DNS_MSG_GOT_FOREIGN);
	CHECK(got(DNS_MSG_MAX + 1, &a) == DNS_MSG_GOT_FOREIGN);
	/* no question, one of another class */
	CHECK(got(raw(99, 0x8000, (const uint16_t[4]){0}, BODY("")), &a) ==
	      DNS_MSG_GOT_FOREIGN);
	CHECK(got(raw(99, 0x8000, one, BODY("\1a\4test\0\0\1\0\3")), &a) ==
	      DNS_MSG_GOT_FOREIGN);
}

#define A_TEST "\1a\4test\0"
#define B_TEST "\1b\4test\0"
#define SIXTY  "\0\0\0\74"

/* One record that is not as its type wants it. */
static uint32_t records_of(const char *body, size_t n, uint32_t *addresses)
{
	static const uint16_t both[4] = {1, 1, 0, 0};
	struct dns_answer a = {0};
	uint32_t found;

	n = raw(99, 0x8000, both, body, n);
	if (got(n, &a) != DNS_MSG_GOT_ANSWER)
		return UINT32_MAX;
	found = (uint32_t)ldns_rr_list_rr_count(a.rrs);
	*addresses = a.n_addrs;
	dns_msg_done(&a);
	return found;
}

static void odd_records(void)
{
	uint32_t n;

	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_A, &query));
	CHECK(records_of(BODY(A_TEST A_IN A_TEST A_IN SIXTY "\0\4\1\2\3\4"),
			 &n) == 1 &&
	      n == 1);
	/* without data, with more than an address, a chain to nowhere */
	CHECK(records_of(BODY(A_TEST A_IN A_TEST A_IN SIXTY "\0\0"), &n) == 0 &&
	      n == 0);
	CHECK(records_of(BODY(A_TEST A_IN A_TEST A_IN SIXTY "\0\5\1\2\3\4\5"),
			 &n) == 1 &&
	      n == 1);
	CHECK(records_of(BODY(A_TEST A_IN A_TEST "\0\5\0\1" SIXTY "\0\0"),
			 &n) == 0);
	/* a TTL that is negative where it is signed, another class */
	CHECK(records_of(BODY(A_TEST A_IN A_TEST A_IN "\200\0\0\0\0\4\1\2\3\4"),
			 &n) == 1);
	CHECK(records_of(
		      BODY(A_TEST A_IN A_TEST "\0\1\0\3" SIXTY "\0\4\1\2\3\4"),
		      &n) == 0);
	/* parameters that end in their head, or in their value */
	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_SVCB, &query));
	CHECK(records_of(BODY(A_TEST "\0\100\0\1" A_TEST "\0\100\0\1" SIXTY
				     "\0\11\0\1\0\0\3\0\2\1\273"),
			 &n) == 1);
	CHECK(records_of(BODY(A_TEST "\0\100\0\1" A_TEST "\0\100\0\1" SIXTY
				     "\0\6\0\1\0\0\3\0"),
			 &n) == 0);
	CHECK(records_of(BODY(A_TEST "\0\100\0\1" A_TEST "\0\100\0\1" SIXTY
				     "\0\10\0\1\0\0\3\0\2\1"),
			 &n) == 0);
}

static void chains(void)
{
	struct dns_shown out[2];
	struct dns_answer a = {0};
	size_t n;

	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_A, &query));
	n = answer_of("A.test", LDNS_RR_TYPE_A,
		      "z.evil 60 IN A 192.0.2.66;c.test 50 IN A 192.0.2.3;"
		      "b.test 60 IN CNAME C.test;a.test 60 IN CNAME b.test;"
		      "c.test 60 IN AAAA 2001:db8::1;c.test 40 IN TXT x;"
		      "c.test 3000000 IN A 192.0.2.4");
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER);
	CHECK(a.n_addrs == 2 && ldns_rr_list_rr_count(a.rrs) == 4);
	CHECK(a.addrs[0].addr.b[3] == 3 && a.addrs[1].addr.b[3] == 4);
	CHECK(a.addrs[0].ttl_s == 50 && a.ttl_s == 50 &&
	      a.addrs[1].ttl_s == DNS_MSG_TTL_MAX_S);
	CHECK(reply_records(&a, 512) == 4);
	a.addrs[0].keep = false;
	CHECK(reply_records(&a, 512) == 3);
	dns_msg_done(&a);
	/* a TTL of 31 bits, and one of more, which is none */
	n = answer_of("a.test", LDNS_RR_TYPE_A,
		      "a.test 2147483647 IN A 192.0.2.3;"
		      "a.test 2147483648 IN A 192.0.2.4");
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER && a.n_addrs == 2);
	CHECK(a.addrs[0].ttl_s == DNS_MSG_TTL_MAX_S && a.addrs[1].ttl_s == 0);
	/* what goes out, too */
	CHECK(dns_msg_show(&a, out, 2) == 2 &&
	      out[0].ttl_s == DNS_MSG_TTL_MAX_S && out[1].ttl_s == 0);
	dns_msg_done(&a);
	/* a circle, and a chain that is too long */
	n = answer_of("a.test", LDNS_RR_TYPE_A,
		      "a.test 60 IN CNAME b.test;b.test 60 IN CNAME a.test");
	CHECK(got(n, &a) == DNS_MSG_GOT_FAILURE);
	/* the chain leads nowhere: no address of another name */
	n = answer_of("a.test", LDNS_RR_TYPE_A,
		      "a.test 60 IN CNAME b.test;x.test 60 IN A 192.0.2.1");
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER && a.n_addrs == 0);
	dns_msg_done(&a);
	n = answer_of("a.test", LDNS_RR_TYPE_A, "");
	wire[3] |= LDNS_RCODE_NXDOMAIN;
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER &&
	      a.rcode == LDNS_RCODE_NXDOMAIN);
	CHECK(reply_records(&a, 512) == 0);
	dns_msg_done(&a);
	/* asked for CNAME: that record, not what it leads to */
	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_CNAME, &query));
	n = answer_of("a.test", LDNS_RR_TYPE_CNAME,
		      "a.test 60 IN CNAME b.test;b.test 60 IN CNAME c.test");
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER);
	CHECK(ldns_rr_list_rr_count(a.rrs) == 1);
	dns_msg_done(&a);
}

static void sizes(void)
{
	struct dns_answer a = {0};
	char text[4096];
	size_t n = 0;

	for (unsigned i = 0; i < 100; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "a.test 60 IN A 192.0.2.%u;", i);
	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_A, &query));
	n = answer_of("a.test", LDNS_RR_TYPE_A, text);
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER);
	CHECK(a.n_addrs == DNS_MSG_ADDRS_MAX);
	CHECK(reply_records(&a, 512) == -1);
	CHECK(reply_records(&a, DNS_MSG_MAX) == DNS_MSG_ADDRS_MAX);
	/* not even the question fits */
	CHECK(dns_msg_reply(&query, a.rcode, &a, false, wire, 12) == 0);
	CHECK(dns_msg_reply(&query, a.rcode, NULL, false, wire, 12) == 0);
	dns_msg_done(&a);
	n = 0;
	for (unsigned i = 0; i <= DNS_MSG_RRS_MAX; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "a. TXT %u;",
				      i);
	CHECK(dns_msg_query_for("a", LDNS_RR_TYPE_TXT, &query));
	n = answer_of("a", LDNS_RR_TYPE_TXT, text);
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER);
	CHECK(ldns_rr_list_rr_count(a.rrs) == DNS_MSG_RRS_MAX);
	dns_msg_done(&a);
}

/* What logs and records tell of an answer. */
static void shows(void)
{
	struct dns_shown out[4];
	struct dns_answer a = {0};
	char text[400];
	size_t n;

	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_AAAA, &query));
	n = answer_of("a.test", LDNS_RR_TYPE_AAAA,
		      "a.test 60 IN CNAME b.test;b.test 60 IN AAAA 2001:db8::1;"
		      "b.test 50 IN AAAA 2001:db8::2");
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER && a.n_addrs == 2);
	a.addrs[0].keep = false;
	CHECK(dns_msg_show(&a, out, 4) == 2);
	CHECK(strcmp(out[0].type, "CNAME") == 0 &&
	      strcmp(out[0].data, "b.test") == 0 && out[0].ttl_s == 60);
	CHECK(strcmp(out[1].type, "AAAA") == 0 &&
	      strcmp(out[1].data, "2001:db8::2") == 0 && out[1].ttl_s == 50);
	CHECK(reply_records(&a, 512) == 2);
	memset(out, 0, sizeof(out));
	CHECK(dns_msg_show(&a, out, 1) == 2 && !out[1].type[0]);
	dns_msg_done(&a);
	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_A, &query));
	n = answer_of("a.test", LDNS_RR_TYPE_A, "a.test 60 IN A 192.0.2.1");
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER);
	CHECK(dns_msg_show(&a, out, 4) == 1);
	dns_msg_done(&a);
	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_MX, &query));
	n = answer_of("a.test", LDNS_RR_TYPE_MX,
		      "a.test 60 IN MX 10 m.test;a.test 60 IN MX 0 .");
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER);
	CHECK(dns_msg_show(&a, out, 4) == 2);
	CHECK(strcmp(out[0].data, "10 m.test") == 0);
	CHECK(strcmp(out[1].data, "0 ") == 0);
	dns_msg_done(&a);
	/* a value that has no text: the rest of the record is told */
	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_SVCB, &query));
	n = raw(99, 0x8000, (const uint16_t[4]){1, 1, 0, 0},
		BODY(A_TEST "\0\100\0\1" A_TEST "\0\100\0\1" SIXTY
			    "\0\11\0\1\0\0\1\0\2\5h"));
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER);
	CHECK(dns_msg_show(&a, out, 4) == 1 && strcmp(out[0].data, "1 ") == 0);
	dns_msg_done(&a);
	/* a record without values, where another one's was told */
	memset(out, 'x', sizeof(out));
	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_A, &query));
	n = answer_of("a.test", LDNS_RR_TYPE_A, "a.test 60 IN A 192.0.2.1");
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER);
	while (ldns_rr_rd_count(ldns_rr_list_rr(a.rrs, 0)))
		ldns_rdf_deep_free(
			ldns_rr_pop_rdf(ldns_rr_list_rr(a.rrs, 0)));
	CHECK(dns_msg_show(&a, out, 4) == 1 && !out[0].data[0]);
	dns_msg_done(&a);
	/* the root alone, and more than there is room for */
	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_PTR, &query));
	n = answer_of("a.test", LDNS_RR_TYPE_PTR, "a.test 60 IN PTR .");
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER);
	CHECK(dns_msg_show(&a, out, 4) == 1 && strcmp(out[0].data, ".") == 0);
	dns_msg_done(&a);
	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_TXT, &query));
	snprintf(text, sizeof(text), "a.test 60 IN TXT %0150u %0150u x", 1, 2);
	n = answer_of("a.test", LDNS_RR_TYPE_TXT, text);
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER);
	memset(out, '.', sizeof(out));
	CHECK(dns_msg_show(&a, out, 4) == 1 &&
	      strlen(out[0].data) == sizeof(out[0].data) - 1);
	/* whatever stands behind it */
	for (size_t i = 0; i < sizeof(out[1]); i++)
		CHECK(((const char *)&out[1])[i] == '.');
	dns_msg_done(&a);
}

static struct str svc_params(const struct dns_answer *a)
{
	const ldns_rr *rr = ldns_rr_list_rr(a->rrs, 0);
	const ldns_rdf *rdf = ldns_rr_rdf(rr, 2);

	return (struct str){(const char *)ldns_rdf_data(rdf),
			    ldns_rdf_size(rdf)};
}

static void services(void)
{
	struct dns_answer a = {0};
	size_t n;

	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_HTTPS, &query));
	n = answer_of("a.test", LDNS_RR_TYPE_HTTPS,
		      "a.test 60 IN HTTPS 1 . alpn=h2 port=8443 "
		      "ipv4hint=192.0.2.1 ech=AAAA ipv6hint=2001:db8::1");
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER);
	CHECK(str_eq(svc_params(&a), STR("\0\1\0\3\2h2\0\3\0\2\40\373")));
	CHECK(reply_records(&a, 512) == 1);
	dns_msg_done(&a);
	/* what makes a parameter that goes mandatory is of no use */
	n = answer_of("a.test", LDNS_RR_TYPE_HTTPS,
		      "a.test 60 IN HTTPS 1 . mandatory=alpn,ech alpn=h2 "
		      "ech=AAAA;a.test 60 IN HTTPS 0 b.test");
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER);
	CHECK(ldns_rr_list_rr_count(a.rrs) == 1);
	dns_msg_done(&a);
	/* what is mandatory stays */
	n = answer_of("a.test", LDNS_RR_TYPE_HTTPS,
		      "a.test 60 IN HTTPS 1 . mandatory=alpn,port alpn=h2 "
		      "port=443;"
		      /* what is behind the list is not of it, nor is a port */
		      "a.test 60 IN HTTPS 2 . mandatory=alpn alpn=abc;"
		      "a.test 60 IN HTTPS 3 . port=4");
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER);
	CHECK(ldns_rr_list_rr_count(a.rrs) == 3);
	dns_msg_done(&a);
}

static void asks(void)
{
	ldns_pkt_rcode rcode;
	struct dns_query q;
	uint8_t out[512];
	char type[16];
	size_t n = raw(7, 0x0100, one, BODY(EXAMPLE A_IN));

	CHECK(dns_msg_query(wire, n, &query, &rcode) == DNS_MSG_ASK);
	n = dns_msg_ask(&query, 99, out, sizeof(out));
	CHECK(n > 12 && LDNS_ID_WIRE(out) == 99 && LDNS_RD_WIRE(out));
	CHECK(dns_msg_query(out, n, &q, &rcode) == DNS_MSG_ASK && q.edns);
	CHECK(memcmp(q.qname, "\7example\4test", 14) == 0);
	CHECK(dns_msg_ask(&query, 99, out, 12) == 0);
	/* the client's spelling goes back, and whether it wants to be led */
	for (unsigned rd = 0; rd < 2; rd++) {
		query.rd = rd;
		query.id = (uint16_t)(0x1234 + rd);
		CHECK(dns_msg_reply(&query, LDNS_RCODE_NOERROR, NULL, false,
				    out, sizeof(out)) > 12);
		CHECK(LDNS_RD_WIRE(out) == rd && LDNS_RA_WIRE(out) &&
		      LDNS_QR_WIRE(out) && !LDNS_AA_WIRE(out) &&
		      LDNS_OPCODE_WIRE(out) == LDNS_PACKET_QUERY &&
		      LDNS_ID_WIRE(out) == 0x1234 + rd);
	}
	query.id = 7;
	n = dns_msg_reply(&query, LDNS_RCODE_NXDOMAIN, NULL, false, out,
			  sizeof(out));
	CHECK(n > 12 && memcmp(out + 12, EXAMPLE, 14) == 0);
	/* and EDNS where the client has it, alone; blocked or not */
	CHECK(!query.edns && LDNS_ARCOUNT(out) == 0);
	n = dns_msg_reply(&query, LDNS_RCODE_NXDOMAIN, NULL, true, out,
			  sizeof(out));
	CHECK(n > 12 && LDNS_ARCOUNT(out) == 0);
	query.edns = true;
	n = dns_msg_reply(&query, LDNS_RCODE_NXDOMAIN, NULL, false, out,
			  sizeof(out));
	CHECK(n > 12 && LDNS_ARCOUNT(out) == 1 &&
	      !memmem(out, n, DNS_MSG_BLOCKED, sizeof(DNS_MSG_BLOCKED) - 1));
	/* RFC 8914: code 15 of EDNS, 15 in it */
	n = dns_msg_reply(&query, LDNS_RCODE_NXDOMAIN, NULL, true, out,
			  sizeof(out));
	CHECK(LDNS_ARCOUNT(out) == 1 &&
	      memmem(out, n, "\0\17\0\55\0\17" DNS_MSG_BLOCKED,
		     6 + sizeof(DNS_MSG_BLOCKED) - 1));
	/* what was asked of another class does not go back as if of this */
	n = raw(7, 0x0100, one, BODY(EXAMPLE "\0\1\0\3"));
	CHECK(dns_msg_query(wire, n, &q, &rcode) == DNS_MSG_REFUSE);
	CHECK(dns_msg_reply(&q, rcode, NULL, false, out, sizeof(out)) == 12 &&
	      LDNS_QDCOUNT(out) == 0);
	CHECK(!dns_msg_query_for("a..b", LDNS_RR_TYPE_A, &q) &&
	      !dns_msg_query_for(".", LDNS_RR_TYPE_A, &q) &&
	      !dns_msg_query_for("a b", LDNS_RR_TYPE_A, &q));
	CHECK(strcmp(dns_msg_type_text(1, type), "A") == 0);
	CHECK(strcmp(dns_msg_type_text(65, type), "HTTPS") == 0);
	CHECK(strcmp(dns_msg_type_text(65280, type), "TYPE65280") == 0);
	CHECK(strcmp(dns_msg_type_text(0, type), "TYPE0") == 0);
	for (unsigned t = 0; t < 70; t++)
		CHECK(dns_msg_type_served((uint16_t)t) ==
		      (t == 1 || t == 5 || t == 12 || t == 15 || t == 16 ||
		       t == 28 || t == 33 || t == 64 || t == 65));
	CHECK(dns_msg_type_served(64) && !dns_msg_type_served(10) &&
	      !dns_msg_type_served(255) && !dns_msg_type_served(0));
}

/* What just fits goes out whole; one byte less, and it does not. */
static void exact_sizes(void)
{
	static uint8_t out[DNS_MSG_MAX];
	struct dns_answer a = {0};
	size_t n, cut;

	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_A, &query));
	n = dns_msg_ask(&query, 1, out, sizeof(out));
	memset(out, 0xee, sizeof(out));
	CHECK(dns_msg_ask(&query, 1, out, n) == n && out[0] == 0 &&
	      out[n] == 0xee);
	/* and then nothing is written */
	memset(out, 0xee, sizeof(out));
	CHECK(dns_msg_ask(&query, 1, out, n - 1) == 0 && out[0] == 0xee &&
	      out[n - 1] == 0xee);
	n = answer_of("a.test", LDNS_RR_TYPE_A,
		      "a.test 60 IN A 192.0.2.1;a.test 60 IN A 192.0.2.2");
	CHECK(got(n, &a) == DNS_MSG_GOT_ANSWER);
	n = dns_msg_reply(&query, a.rcode, &a, false, out, sizeof(out));
	CHECK(dns_msg_reply(&query, a.rcode, &a, false, out, n) == n &&
	      LDNS_ANCOUNT(out) == 2 && !LDNS_TC_WIRE(out));
	cut = dns_msg_reply(&query, a.rcode, &a, false, out, n - 1);
	CHECK(cut < n && LDNS_ANCOUNT(out) == 0 && LDNS_TC_WIRE(out));
	CHECK(dns_msg_reply(&query, a.rcode, &a, false, out, cut) == cut &&
	      dns_msg_reply(&query, a.rcode, &a, false, out, cut - 1) == 0);
	dns_msg_done(&a);
	n = dns_msg_reply(&query, LDNS_RCODE_REFUSED, NULL, false, out, 512);
	CHECK(dns_msg_reply(&query, LDNS_RCODE_REFUSED, NULL, false, out, n) ==
		      n &&
	      !LDNS_TC_WIRE(out) && LDNS_RCODE_WIRE(out) == LDNS_RCODE_REFUSED);
	CHECK(dns_msg_reply(&query, LDNS_RCODE_REFUSED, NULL, false, out,
			    n - 1) == 0);
}

/* Parameters that are nothing but their head, and records without any. */
static void bare_services(void)
{
	uint32_t n;

	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_SVCB, &query));
	CHECK(records_of(BODY(A_TEST "\0\100\0\1" A_TEST "\0\100\0\1" SIXTY
				     "\0\7\0\1\0\0\2\0\0"),
			 &n) == 1);
	CHECK(records_of(BODY(A_TEST "\0\100\0\1" A_TEST "\0\100\0\1" SIXTY
				     "\0\3\0\1\0"),
			 &n) == 1);
	/* one that is whole, and behind it half of another */
	CHECK(records_of(BODY(A_TEST "\0\100\0\1" A_TEST "\0\100\0\1" SIXTY
				     "\0\15\0\1\0\0\1\0\3\2h2\0\3\0"),
			 &n) == 0);
	CHECK(records_of(BODY(A_TEST "\0\100\0\1" A_TEST "\0\100\0\1" SIXTY
				     "\0\17\0\1\0\0\1\0\3\2h2\0\3\0\2\1"),
			 &n) == 0);
	/* half of one: no target, nothing at all */
	CHECK(records_of(BODY(A_TEST "\0\100\0\1" A_TEST "\0\100\0\1" SIXTY
				     "\0\2\0\1"),
			 &n) == 0);
	CHECK(records_of(BODY(A_TEST "\0\100\0\1" A_TEST "\0\100\0\1" SIXTY
				     "\0\0"),
			 &n) == 0);
}

/* An answer that is made here is what it would be from elsewhere. */
static void known(const char *text, ldns_rr_type type)
{
	struct dns_query ours;
	uint8_t out[DNS_MSG_UDP_MAX];
	struct dns_answer a, back;
	struct dns_shown shown;
	struct addr addr;
	size_t n, size;

	CHECK(dns_msg_query_for("a.test", type, &ours));
	ours.id = 7;
	CHECK(addr_parse(str_of(text), &addr));
	dns_msg_known(&ours, &addr, 60, &a);
	n = dns_msg_reply(&ours, LDNS_RCODE_NOERROR, &a, false, out,
			  sizeof(out));
	CHECK(n > 12 && LDNS_ANCOUNT(out) == 1);
	size = addr_bits(addr.family) / 8;
	CHECK(out[n - size - 1] == size &&
	      memcmp(out + n - size, addr.b, size) == 0);
	CHECK(dns_msg_show(&a, &shown, 1) == 1 &&
	      strcmp(shown.data, text) == 0);
	CHECK(dns_msg_answer(out, n, &ours, 7, &back) == DNS_MSG_GOT_ANSWER);
	CHECK(back.rcode == LDNS_RCODE_NOERROR && back.n_addrs == 1 &&
	      addr_cmp(&back.addrs[0].addr, &addr) == 0 &&
	      back.addrs[0].ttl_s == 60);
	dns_msg_done(&a);
	dns_msg_done(&back);
}

/* Of what is refused, cut or left out nothing stays, but malloc(3)'s own store.
 */
static void nothing_left(void)
{
	static const char circle[] = "a.test 60 IN CNAME b.test;"
				     "b.test 60 IN CNAME a.test";
	char name[DNS_MSG_NAME_TEXT_MAX];
	uint8_t out[512];
	struct dns_query odd = {.qname = "\1!", .qname_n = 3};
	struct dns_answer a = {0};
	struct addr addr;
	size_t n, before = mallinfo2().uordblks;
	uint32_t none;

	CHECK(addr_parse(STR("192.0.2.7"), &addr));
	for (unsigned i = 0; i < 300; i++) {
		CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_A, &query));
		dns_msg_known(&query, &addr, 60, &a);
		n = dns_msg_reply(&query, 0, &a, false, out, sizeof(out));
		CHECK(dns_msg_reply(&query, 0, &a, false, out, n - 1) > 12);
		dns_msg_done(&a);
		dns_msg_name_text(&odd, name);
		CHECK(strcmp(name, "!") == 0);
		CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_SVCB, &query));
		CHECK(records_of(BODY(A_TEST "\0\100\0\1" A_TEST
					     "\0\100\0\1" SIXTY
					     "\0\6\0\1\0\0\3\0"),
				 &none) == 0);
	}
	CHECK(mallinfo2().uordblks < before + 8192);
	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_A, &query));
	n = answer_of("a.test", LDNS_RR_TYPE_A, circle);
	before = mallinfo2().uordblks;
	for (unsigned i = 0; i < 300; i++)
		CHECK(got(n, &a) == DNS_MSG_GOT_FAILURE);
	CHECK(mallinfo2().uordblks < before + 8192);
}

int main(void)
{
	foreign_answers();
	chains();
	sizes();
	services();
	odd_records();
	shows();
	asks();
	exact_sizes();
	bare_services();
	nothing_left();
	known("192.0.2.7", LDNS_RR_TYPE_A);
	known("2001:db8::7", LDNS_RR_TYPE_AAAA);
	return check_status();
}
