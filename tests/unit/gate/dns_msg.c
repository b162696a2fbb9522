/* Questions of clients, the hostile ones included. */
#include "tests/unit/gate/dns_wire.h"

static void queries(void)
{
	static const uint16_t with_opt[4] = {1, 0, 0, 1};
	ldns_pkt_rcode rcode;
	struct dns_query q;
	size_t n = raw(7, 0x0100, one, BODY(EXAMPLE A_IN));

	CHECK(dns_msg_query(wire, n, &q, &rcode) == DNS_MSG_ASK);
	CHECK(q.id == 7 && q.rd && !q.edns && q.type == LDNS_RR_TYPE_A);
	CHECK(strcmp(q.name, "example.test") == 0 && q.udp_max == 512);
	CHECK(memcmp(q.qname, EXAMPLE, q.qname_n) == 0);
	n = raw(7, 0, with_opt,
		BODY(EXAMPLE A_IN "\0\0\51\377\377\0\0\0\0\0\0"));
	CHECK(dns_msg_query(wire, n, &q, &rcode) == DNS_MSG_ASK);
	CHECK(!q.rd && q.edns && q.udp_max == DNS_MSG_UDP_MAX);
	n = raw(7, 0, with_opt, BODY(EXAMPLE A_IN "\0\0\51\3\0\0\0\0\0\0\0"));
	CHECK(dns_msg_query(wire, n, &q, &rcode) == DNS_MSG_ASK &&
	      q.udp_max == 768);
	n = raw(7, 0, with_opt, BODY(EXAMPLE A_IN "\0\0\51\0\2\0\0\0\0\0\0"));
	CHECK(dns_msg_query(wire, n, &q, &rcode) == DNS_MSG_ASK &&
	      q.udp_max == 512);
}

static bool refused(size_t n, ldns_pkt_rcode want)
{
	ldns_pkt_rcode rcode = LDNS_RCODE_NOERROR;
	uint8_t out[DNS_MSG_UDP_MAX];
	struct dns_query q;

	if (dns_msg_query(wire, n, &q, &rcode) != DNS_MSG_REFUSE)
		return false;
	return rcode == want &&
	       dns_msg_reply(&q, rcode, NULL, false, out, 512) >= 12;
}

static void hostile_queries(void)
{
	static const uint16_t two[4] = {2, 0, 0, 0}, none[4],
			      an[4] = {1, 1, 0, 0}, ns[4] = {1, 0, 1, 0},
			      ar[4] = {1, 0, 0, 2}, one_more[4] = {1, 0, 0, 1},
			      many[4] = {0xffff, 0xffff, 0xffff, 0xffff};
	ldns_pkt_rcode rcode;
	struct dns_query q;
	size_t n = raw(7, 0x8100, one, BODY(EXAMPLE A_IN));

	CHECK(dns_msg_query(wire, n, &q, &rcode) == DNS_MSG_DROP);
	CHECK(dns_msg_query(wire, 11, &q, &rcode) == DNS_MSG_DROP);
	CHECK(dns_msg_query(wire, 0, &q, &rcode) == DNS_MSG_DROP);
	CHECK(refused(raw(7, 0x2800, one, BODY(EXAMPLE A_IN)),
		      LDNS_RCODE_NOTIMPL));
	CHECK(refused(raw(7, 0, two, BODY(EXAMPLE A_IN EXAMPLE A_IN)),
		      LDNS_RCODE_FORMERR));
	CHECK(refused(raw(7, 0, none, BODY(EXAMPLE A_IN)), LDNS_RCODE_FORMERR));
	CHECK(refused(raw(7, 0, an, BODY(EXAMPLE A_IN)), LDNS_RCODE_FORMERR));
	CHECK(refused(raw(7, 0, ns, BODY(EXAMPLE A_IN)), LDNS_RCODE_FORMERR));
	CHECK(refused(raw(7, 0, ar, BODY(EXAMPLE A_IN)), LDNS_RCODE_FORMERR));
	CHECK(refused(raw(7, 0, many, BODY(EXAMPLE A_IN)), LDNS_RCODE_FORMERR));
	/* another record where only OPT may be */
	CHECK(refused(raw(7, 0, one_more,
			  BODY(EXAMPLE A_IN "\1x\0\0\1\0\1\0\0\0\0\0\4abcd")),
		      LDNS_RCODE_FORMERR));
	/* a signature that nobody here could check */
	CHECK(refused(
		raw(7, 0, one_more,
		    BODY(EXAMPLE A_IN "\1k\0\0\372\0\377\0\0\0\0\0\23\1h\0"
				      "\0\0\0\0\0\0\1\54\0\0\0\0\0\0\0\0")),
		LDNS_RCODE_FORMERR));
	CHECK(refused(raw(7, 0x0200, one, BODY(EXAMPLE A_IN)),
		      LDNS_RCODE_FORMERR));
	CHECK(refused(raw(7, 0, one, BODY(EXAMPLE "\0\1")),
		      LDNS_RCODE_FORMERR));
	CHECK(refused(raw(7, 0, one, BODY("\7Exam")), LDNS_RCODE_FORMERR));
	/* pointers to itself, forwards, and label types that are no more */
	CHECK(refused(raw(7, 0, one, BODY("\300\14" A_IN)),
		      LDNS_RCODE_FORMERR));
	CHECK(refused(raw(7, 0, one, BODY("\300\60" A_IN)),
		      LDNS_RCODE_FORMERR));
	CHECK(refused(raw(7, 0, one, BODY("\100ab\0" A_IN)),
		      LDNS_RCODE_FORMERR));
	CHECK(refused(raw(7, 0, one, BODY(EXAMPLE "\0\1\0\3")),
		      LDNS_RCODE_REFUSED));
	memset(wire + 12, 0, sizeof(wire) - 12);
	raw(7, 0, one, BODY(EXAMPLE A_IN));
	CHECK(refused(DNS_MSG_QUERY_MAX + 1, LDNS_RCODE_FORMERR));
}

static const char *name_of(const char *body, size_t n)
{
	static struct dns_query q;
	ldns_pkt_rcode rcode;

	n = raw(7, 0, one, body, n);
	return dns_msg_query(wire, n, &q, &rcode) == DNS_MSG_ASK ? q.name : "?";
}

static const char *shown(const char *body, size_t n)
{
	static char text[DNS_MSG_NAME_TEXT_MAX];
	struct dns_query q;
	ldns_pkt_rcode rcode;

	n = raw(7, 0, one, body, n);
	if (dns_msg_query(wire, n, &q, &rcode) != DNS_MSG_ASK)
		return "?";
	dns_msg_name_text(&q, text);
	return text;
}

static void names_for_people(void)
{
	char body[300], text[DNS_MSG_NAME_TEXT_MAX];
	size_t n = 0;

	/* no question at all */
	dns_msg_name_text(&(struct dns_query){0}, text);
	CHECK(strcmp(text, ".") == 0);
	CHECK(strcmp(shown(BODY("\0" A_IN)), ".") == 0);
	CHECK(strcmp(shown(BODY("\1A\4Test\0" A_IN)), "a.test") == 0);
	CHECK(strcmp(shown(BODY("\4A.bc\4test\0" A_IN)), "a\\.bc.test") == 0);
	CHECK(strcmp(shown(BODY("\2a.\0" A_IN)), "a\\.") == 0);
	CHECK(strcmp(shown(BODY("\1.\0" A_IN)), "\\.") == 0);
	CHECK(strcmp(shown(BODY("\4a\0bc\4test\0" A_IN)), "a\\000bc.test") ==
	      0);
	CHECK(strcmp(shown(BODY("\3\033[m\1x\0" A_IN)), "\\027[m.x") == 0);
	CHECK(strcmp(shown(BODY("\4a\\bc\4test\0" A_IN)), "a\\\\bc.test") == 0);
	CHECK(strcmp(shown(BODY("\2\303\244\4test\0" A_IN)),
		     "\\195\\164.test") == 0);
	CHECK(strcmp(shown(BODY("\3a b\4test\0" A_IN)), "a\\032b.test") == 0);
	/* the longest */
	for (unsigned i = 0; i < 4; i++) {
		unsigned size = i < 3 ? 63 : 61;

		body[n] = (char)size;
		memset(body + n + 1, 1, size);
		n += size + 1;
	}
	memcpy(body + n, "\0" A_IN, 5);
	CHECK(strlen(shown(body, n + 5)) == 250 * 4 + 3);
}

static void odd_names(void)
{
	char body[300];
	size_t n = 0;

	/* not host names: nothing can grant them */
	CHECK(strcmp(name_of(BODY("\0" A_IN)), "") == 0);
	CHECK(strcmp(name_of(BODY("\4a.bc\4test\0" A_IN)), "") == 0);
	CHECK(strcmp(name_of(BODY("\4a\0bc\4test\0" A_IN)), "") == 0);
	CHECK(strcmp(name_of(BODY("\4a\\bc\4test\0" A_IN)), "") == 0);
	CHECK(strcmp(name_of(BODY("\1*\4test\0" A_IN)), "") == 0);
	CHECK(strcmp(name_of(BODY("\2\303\244\4test\0" A_IN)), "") == 0);
	CHECK(strcmp(name_of(BODY("\2a{\4test\0" A_IN)), "") == 0);
	CHECK(strcmp(name_of(BODY("\2a@\4test\0" A_IN)), "") == 0);
	CHECK(strcmp(name_of(BODY("\4_TcP\4test\0" A_IN)), "_tcp.test") == 0);
	CHECK(strcmp(name_of(BODY("\4a-90\4test\0" A_IN)), "a-90.test") == 0);
	CHECK(strcmp(name_of(BODY("\10AZaz09-_\2zZ\0" A_IN)), "azaz09-_.zz") ==
	      0);
	/* neighbours of those, each alone */
	for (const char *c = "/:@[`{ \x7f\x80\xff,^"; *c; c++) {
		char odd[8] = {2, 'a', *c, 0, 0, 1, 0, 1};

		CHECK_MSG(strcmp(name_of(odd, sizeof(odd)), "") == 0, "%c", *c);
	}
	/* 253 characters are the most that a name can have */
	for (unsigned i = 0; i < 3; i++) {
		body[n] = 63;
		memset(body + n + 1, 'a', 63);
		n += 64;
	}
	body[n] = 61;
	memset(body + n + 1, 'b', 61);
	n += 62;
	memcpy(body + n, "\0" A_IN, 5);
	CHECK(strlen(name_of(body, n + 5)) == 253);
	/* one more, and four whole labels: no name */
	body[192] = 62;
	memcpy(body + n, "b\0" A_IN, 6);
	CHECK(strcmp(name_of(body, n + 6), "?") == 0);
	body[192] = 63;
	memcpy(body + n, "bb\0" A_IN, 7);
	CHECK(strcmp(name_of(body, n + 7), "?") == 0);
}

int main(void)
{
	queries();
	hostile_queries();
	odd_names();
	names_for_people();
	return check_status();
}
