/*
 * DNS messages: what the agent sends, and what an upstream sends back for the
 * question that the message itself holds, all the way to the reply.
 */
#include "runtime/gate/dns/answers.h"
#include "runtime/gate/plan/names.h"
#include "runtime/gate/wire/dns_msg.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t wire[DNS_MSG_MAX], out[DNS_MSG_MAX];

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* A reply is a message that ldns reads, and it fits. */
static ldns_pkt *replied(const struct dns_query *q, ldns_pkt_rcode rcode,
			 const struct dns_answer *a, size_t max)
{
	size_t n = dns_msg_reply(q, rcode, a, false, out, max);
	ldns_pkt *p = NULL;

	must(n <= max);
	if (n == 0)
		return NULL;
	must(ldns_wire2pkt(&p, out, n) == LDNS_STATUS_OK);
	must(ldns_pkt_qr(p) && ldns_pkt_id(p) == q->id);
	must(ldns_rr_list_rr_count(ldns_pkt_question(p)) == q->has_question);
	return p;
}

static void judge_all(struct dns_answer *a)
{
	static const struct names_hosts no_hosts;
	static struct names_map map;
	struct names_classes classes;
	struct names_match match;
	struct err err;

	if (!map.text &&
	    names_parse(STR("membrane-names 2\nupstream udp 8.8.8.8 53\n"
			    "cover 10.0.0.0/8\nports 1 tcp/443\n"
			    "name ** 1 - g-0123456789\n"),
			&map, &err) < 0)
		abort();
	names_match(&map, STR("a"), &match);
	for (uint32_t i = 0; i < a->n_addrs; i++)
		a->addrs[i].keep =
			names_judge(&map, &match, &no_hosts, &a->addrs[i].addr,
				    &classes) <= NAMES_COVERED;
}

/* No address is in the reply that was not kept. */
static void check_addresses(const struct dns_answer *a, const ldns_pkt *p)
{
	size_t kept = 0, there = 0;

	for (uint32_t i = 0; i < a->n_addrs; i++)
		kept += a->addrs[i].keep;
	for (size_t i = 0; i < ldns_rr_list_rr_count(ldns_pkt_answer(p)); i++) {
		ldns_rr_type t = ldns_rr_get_type(
			ldns_rr_list_rr(ldns_pkt_answer(p), i));

		there += t == LDNS_RR_TYPE_A || t == LDNS_RR_TYPE_AAAA;
	}
	must(there == kept || (ldns_pkt_tc(p) && there == 0));
}

/* What is kept is the same answer up to its end, with less time. */
static void check_kept(const struct dns_query *q, struct dns_answer *a)
{
	static struct answers kept;
	uint32_t left_s = a->ttl_s, n_addrs = a->n_addrs;
	struct dns_answer aged;
	ldns_pkt *p;

	answers_init(&kept);
	answers_take(&kept, q, a, 0);
	must(!answers_find(&kept, q, left_s * INT64_C(1000), &aged));
	if (a->rrs)
		return;
	must(answers_find(&kept, q, (left_s - 1) * INT64_C(1000), &aged));
	must(aged.ttl_s == 1 && aged.n_addrs == n_addrs);
	p = replied(q, aged.rcode, &aged, DNS_MSG_MAX);
	for (size_t i = 0; p && i < ldns_rr_list_rr_count(ldns_pkt_answer(p));
	     i++)
		must(ldns_rr_ttl(ldns_rr_list_rr(ldns_pkt_answer(p), i)) - 1 <
		     DNS_MSG_TTL_MAX_S);
	ldns_pkt_free(p);
	answers_clear(&kept);
}

static void as_answer(const uint8_t *data, size_t size)
{
	struct dns_answer a;
	ldns_pkt_rcode rcode;
	struct dns_query q;
	ldns_pkt *p;
	uint16_t id;

	/* The same message as a bare query says what was asked. */
	memcpy(wire, data, size);
	wire[2] = wire[3] = 0;
	memset(wire + 6, 0, 6);
	if (dns_msg_query(wire, size, &q, &rcode) != DNS_MSG_ASK)
		return;
	memcpy(wire, data, size);
	wire[2] = (wire[2] & 0x87) | 0x80;
	id = (uint16_t)(wire[0] << 8 | wire[1]);
	if (dns_msg_answer(wire, size, &q, id, &a) != DNS_MSG_GOT_ANSWER)
		return;
	judge_all(&a);
	for (unsigned i = 0; i < 2; i++) {
		p = replied(&q, a.rcode, &a, i ? DNS_MSG_MAX : 512);
		if (p)
			check_addresses(&a, p);
		ldns_pkt_free(p);
	}
	check_kept(&q, &a);
	dns_msg_done(&a);
}

/* Printable, and the one text of that name. */
static void check_text(const struct dns_query *q)
{
	char text[DNS_MSG_NAME_TEXT_MAX];
	ldns_rdf *back, *name;

	dns_msg_name_text(q, text);
	must(text[0]);
	for (const char *c = text; *c; c++)
		must(*c > ' ' && *c < 127);
	back = ldns_dname_new_frm_str(text);
	name = ldns_rdf_new_frm_data(LDNS_RDF_TYPE_DNAME, q->qname_n, q->qname);
	must(back && name && ldns_dname_compare(back, name) == 0);
	ldns_rdf_deep_free(back);
	ldns_rdf_deep_free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ldns_pkt_rcode rcode = LDNS_RCODE_NOERROR;
	struct dns_query q, again;
	size_t n;

	if (size > DNS_MSG_MAX)
		return 0;
	switch (dns_msg_query(data, size, &q, &rcode)) {
	case DNS_MSG_DROP:
		break;
	case DNS_MSG_REFUSE:
		ldns_pkt_free(replied(&q, rcode, NULL, 512));
		break;
	case DNS_MSG_ASK:
		check_text(&q);
		n = dns_msg_ask(&q, 1, out, sizeof(out));
		must(n > 0 &&
		     dns_msg_query(out, n, &again, &rcode) == DNS_MSG_ASK);
		must(strcmp(q.name, again.name) == 0 && q.type == again.type);
		ldns_pkt_free(replied(&q, LDNS_RCODE_NXDOMAIN, NULL, 512));
		break;
	}
	if (size >= LDNS_HEADER_SIZE)
		as_answer(data, size);
	return 0;
}
