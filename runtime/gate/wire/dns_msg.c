#include "runtime/gate/wire/dns_msg.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SVCB parameters by number, RFC 9460, section 14.3. */
enum svc_key {
	SVC_MANDATORY = 0,
	SVC_IPV4HINT = 4,
	SVC_ECH = 5,
	SVC_IPV6HINT = 6,
};

/*
 * ldns does not live on without memory, whatever its functions return then
 * (ldns_wire2pkt() fills lists that it could not make). So neither does this:
 * the gate dies, and the container stops.
 */
static void *checked_memory(void *p)
{
	assert(p);
	return p;
}

static void pkt_free(ldns_pkt **p)
{
	ldns_pkt_free(*p);
}
#define auto_pkt __attribute__((cleanup(pkt_free)))

static uint16_t u16_at(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

bool dns_msg_type_served(uint16_t type)
{
	return type == LDNS_RR_TYPE_A || type == LDNS_RR_TYPE_AAAA ||
	       type == LDNS_RR_TYPE_CNAME || type == LDNS_RR_TYPE_SRV ||
	       type == LDNS_RR_TYPE_MX || type == LDNS_RR_TYPE_TXT ||
	       type == LDNS_RR_TYPE_PTR || type == LDNS_RR_TYPE_HTTPS ||
	       type == LDNS_RR_TYPE_SVCB;
}

const char *dns_msg_type_text(uint16_t type, char buf[16])
{
	const ldns_rr_descriptor *d = ldns_rr_descript(type);

	/* One without a name stands for all that have none. */
	if (d->_name)
		snprintf(buf, 16, "%s", d->_name);
	else
		snprintf(buf, 16, "TYPE%u", type);
	return buf;
}

/*
 * The host name that a wire-form name spells: letters, digits, '-' and '_'
 * only, so that no byte can pretend to be a dot. False for all others, which
 * nothing can grant, and for the root. Whatever comes here, ldns has taken for
 * a name: its labels and its length are within their bounds.
 */
static bool name_text(const uint8_t *qname, size_t n,
		      char out[LIMIT_NAME_BYTES + 1])
{
	size_t len = 0;

	for (size_t at = 0; qname[at]; at += qname[at] + 1u) {
		assert(at + qname[at] + 1u < n && n <= LIMIT_NAME_BYTES + 2u);
		if (len)
			out[len++] = '.';
		for (size_t i = 1; i <= qname[at]; i++) {
			char c = (char)qname[at + i];

			if (c >= 'A' && c <= 'Z')
				c = (char)(c - 'A' + 'a');
			if (!((c >= 'a' && c <= 'z') ||
			      (c >= '0' && c <= '9') || c == '-' || c == '_'))
				return false;
			out[len++] = c;
		}
	}
	out[len] = '\0';
	return len > 0;
}

void dns_msg_name_text(const struct dns_query *q,
		       char out[DNS_MSG_NAME_TEXT_MAX])
{
	ldns_rdf *name;
	char *text;
	size_t n;

	snprintf(out, DNS_MSG_NAME_TEXT_MAX, "%s", q->name[0] ? q->name : ".");
	if (q->name[0] || q->qname_n == 0)
		return;
	name = checked_memory(ldns_rdf_new_frm_data(LDNS_RDF_TYPE_DNAME,
						    q->qname_n, q->qname));
	ldns_dname2canonical(name);
	text = checked_memory(ldns_rdf2str(name));
	n = strlen(text);
	if (n > 1) {
		text[n - 1] = '\0'; /* the root's dot */
		snprintf(out, DNS_MSG_NAME_TEXT_MAX, "%s", text);
	}
	free(text);
	ldns_rdf_deep_free(name);
}

static void take_question(const ldns_pkt *p, struct dns_query *out)
{
	const ldns_rr *rr = ldns_rr_list_rr(ldns_pkt_question(p), 0);
	const ldns_rdf *owner = ldns_rr_owner(rr);

	assert(owner && ldns_rdf_size(owner) <= DNS_MSG_QNAME_MAX);
	out->qname_n = (uint16_t)ldns_rdf_size(owner);
	memcpy(out->qname, ldns_rdf_data(owner), out->qname_n);
	out->type = (uint16_t)ldns_rr_get_type(rr);
	out->has_question = true;
	if (!name_text(out->qname, out->qname_n, out->name))
		out->name[0] = '\0';
}

static void take_edns(const ldns_pkt *p, struct dns_query *out)
{
	uint16_t size = ldns_pkt_edns_udp_size(p);

	out->udp_max = DNS_MSG_UDP_MIN;
	out->edns = ldns_pkt_edns(p);
	if (out->edns && size > DNS_MSG_UDP_MIN)
		out->udp_max = size < DNS_MSG_UDP_MAX ? size : DNS_MSG_UDP_MAX;
}

/*
 * Of what the header's counts allow, OPT alone may be there: ldns keeps that
 * out of the additional section, and TSIG too.
 */
static bool only_question(const ldns_pkt *p)
{
	return ldns_rr_list_rr_count(ldns_pkt_additional(p)) == 0 &&
	       !ldns_pkt_tsig(p);
}

enum dns_msg_todo dns_msg_query(const uint8_t *wire, size_t n,
				struct dns_query *out,
				ldns_pkt_rcode *out_rcode)
{
	auto_pkt ldns_pkt *p = NULL;

	*out = (struct dns_query){.udp_max = DNS_MSG_UDP_MIN};
	if (n < LDNS_HEADER_SIZE || LDNS_QR_WIRE(wire))
		return DNS_MSG_DROP;
	out->id = LDNS_ID_WIRE(wire);
	out->rd = LDNS_RD_WIRE(wire);
	*out_rcode = LDNS_RCODE_NOTIMPL;
	if (LDNS_OPCODE_WIRE(wire) != LDNS_PACKET_QUERY)
		return DNS_MSG_REFUSE;
	*out_rcode = LDNS_RCODE_FORMERR;
	/* Counted in the header first, so that ldns never sees long lists. */
	if (n > DNS_MSG_QUERY_MAX || LDNS_QDCOUNT(wire) != 1 ||
	    LDNS_ANCOUNT(wire) || LDNS_NSCOUNT(wire) ||
	    LDNS_ARCOUNT(wire) > 1 || LDNS_TC_WIRE(wire))
		return DNS_MSG_REFUSE;
	if (ldns_wire2pkt(&p, wire, n) != LDNS_STATUS_OK || !only_question(p))
		return DNS_MSG_REFUSE;
	take_question(p, out);
	take_edns(p, out);
	*out_rcode = LDNS_RCODE_REFUSED;
	if (ldns_rr_get_class(ldns_rr_list_rr(ldns_pkt_question(p), 0)) !=
	    LDNS_RR_CLASS_IN) {
		out->has_question = false; /* it would go back as IN */
		return DNS_MSG_REFUSE;
	}
	return DNS_MSG_ASK;
}

bool dns_msg_query_for(const char *name, uint16_t type, struct dns_query *out)
{
	ldns_rdf *dname = ldns_dname_new_frm_str(name);
	bool ok = dname;

	*out = (struct dns_query){.type = type,
				  .rd = true,
				  .has_question = true,
				  .udp_max = DNS_MSG_UDP_MAX};
	if (ok) {
		assert(ldns_rdf_size(dname) <= DNS_MSG_QNAME_MAX);
		out->qname_n = (uint16_t)ldns_rdf_size(dname);
		memcpy(out->qname, ldns_rdf_data(dname), out->qname_n);
		ok = name_text(out->qname, out->qname_n, out->name);
	}
	ldns_rdf_deep_free(dname);
	return ok;
}

static void push_rr(ldns_pkt *p, ldns_pkt_section section, ldns_rr *rr)
{
	bool pushed = ldns_pkt_push_rr(p, section, rr);

	assert(pushed);
}

/* A packet with q's question in it. */
static ldns_pkt *pkt_with(const struct dns_query *q, bool lower)
{
	ldns_pkt *p = checked_memory(ldns_pkt_new());
	ldns_rdf *owner;
	ldns_rr *rr;

	if (!q->has_question)
		return p;
	owner = checked_memory(ldns_rdf_new_frm_data(LDNS_RDF_TYPE_DNAME,
						     q->qname_n, q->qname));
	rr = checked_memory(ldns_rr_new());
	if (lower)
		ldns_dname2canonical(owner);
	ldns_rr_set_owner(rr, owner);
	ldns_rr_set_type(rr, q->type);
	ldns_rr_set_class(rr, LDNS_RR_CLASS_IN);
	ldns_rr_set_question(rr, true);
	push_rr(p, LDNS_SECTION_QUESTION, rr);
	return p;
}

/* The length, more than max when it does not fit. */
static size_t pkt_write(const ldns_pkt *p, uint8_t *out, size_t max)
{
	uint8_t *wire = NULL;
	size_t n = 0;
	ldns_status status = ldns_pkt2wire(&wire, p, &n);

	assert(status == LDNS_STATUS_OK);
	if (n <= max)
		memcpy(out, wire, n);
	LDNS_FREE(wire);
	return n;
}

size_t dns_msg_ask(const struct dns_query *q, uint16_t id, uint8_t *out,
		   size_t max)
{
	auto_pkt ldns_pkt *p = pkt_with(q, true);
	size_t n;

	ldns_pkt_set_id(p, id);
	ldns_pkt_set_rd(p, true);
	ldns_pkt_set_opcode(p, LDNS_PACKET_QUERY);
	ldns_pkt_set_edns_udp_size(p, DNS_MSG_UDP_MAX);
	n = pkt_write(p, out, max);
	return n <= max ? n : 0;
}

static bool same_name(const ldns_rdf *a, const ldns_rdf *b)
{
	return ldns_dname_compare(a, b) == 0;
}

/* TTLs are 31 bits (RFC 2181, section 8), and ours end after a day. */
static uint32_t bound_ttl(uint32_t ttl)
{
	if (ttl > INT32_MAX)
		return 0;
	return ttl < DNS_MSG_TTL_MAX_S ? ttl : DNS_MSG_TTL_MAX_S;
}

static bool svc_key_dropped(uint16_t key)
{
	return key == SVC_IPV4HINT || key == SVC_IPV6HINT || key == SVC_ECH;
}

static bool svc_mandatory_lost(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i + 2 <= n; i += 2)
		if (svc_key_dropped(u16_at(p + i)))
			return true;
	return false;
}

/*
 * Take ECH and the address hints out of an HTTPS or SVCB record. Hints would
 * be addresses that went into no set; without them the client asks A and AAAA.
 * A record that makes one of them mandatory is of no use: false. ldns has no
 * way to see single parameters, so this walks its checked bytes.
 */
static bool strip_svc(ldns_rr *rr)
{
	uint8_t kept[DNS_MSG_MAX];
	size_t n_kept = 0, n, at = 0;
	const uint8_t *p;
	ldns_rdf *rdf;

	if (ldns_rr_rd_count(rr) < 3)
		return ldns_rr_rd_count(rr) == 2;
	p = ldns_rdf_data(ldns_rr_rdf(rr, 2));
	n = ldns_rdf_size(ldns_rr_rdf(rr, 2));
	while (at < n) {
		size_t len;

		if (n - at < 4)
			return false;
		len = 4u + u16_at(p + at + 2);
		if (len > n - at)
			return false;
		if (u16_at(p + at) == SVC_MANDATORY &&
		    svc_mandatory_lost(p + at + 4, len - 4))
			return false;
		if (!svc_key_dropped(u16_at(p + at))) {
			memcpy(kept + n_kept, p + at, len);
			n_kept += len;
		}
		at += len;
	}
	rdf = checked_memory(
		ldns_rdf_new_frm_data(LDNS_RDF_TYPE_SVCPARAMS, n_kept, kept));
	ldns_rdf_deep_free(ldns_rr_set_rdf(rr, rdf, 2));
	return true;
}

static bool take_address(const ldns_rr *rr, struct dns_answer *out)
{
	const ldns_rdf *rdf = ldns_rr_rdf(rr, 0);
	bool v4 = ldns_rr_get_type(rr) == LDNS_RR_TYPE_A;
	struct dns_msg_addr *a = &out->addrs[out->n_addrs];

	if (out->n_addrs == DNS_MSG_ADDRS_MAX || !rdf)
		return false;
	assert(ldns_rdf_size(rdf) == (v4 ? 4u : 16u));
	*a = (struct dns_msg_addr){
		.addr.family = v4 ? ADDR_V4 : ADDR_V6,
		.ttl_s = bound_ttl(ldns_rr_ttl(rr)),
		.keep = true,
	};
	memcpy(a->addr.b, ldns_rdf_data(rdf), ldns_rdf_size(rdf));
	out->n_addrs++;
	return true;
}

/* Rebuild one record into the answer; those that are no use stay out. */
static void take_rr(const ldns_rr *rr, struct dns_answer *out)
{
	uint16_t type = (uint16_t)ldns_rr_get_type(rr);
	uint32_t ttl = bound_ttl(ldns_rr_ttl(rr));
	bool first = ldns_rr_list_rr_count(out->rrs) == 0, pushed;
	ldns_rr *copy;

	if (ldns_rr_list_rr_count(out->rrs) == DNS_MSG_RRS_MAX)
		return;
	if ((type == LDNS_RR_TYPE_A || type == LDNS_RR_TYPE_AAAA) &&
	    !take_address(rr, out))
		return;
	copy = checked_memory(ldns_rr_clone(rr));
	if ((type == LDNS_RR_TYPE_HTTPS || type == LDNS_RR_TYPE_SVCB) &&
	    !strip_svc(copy)) {
		ldns_rr_free(copy);
		return;
	}
	ldns_rr_set_ttl(copy, ttl);
	if (first || ttl < out->ttl_s)
		out->ttl_s = ttl;
	pushed = ldns_rr_list_push_rr(out->rrs, copy);
	assert(pushed);
}

/* The record of that type and owner after the first `from`, or NULL. */
static const ldns_rr *find_rr(const ldns_rr_list *list, size_t *from,
			      const ldns_rdf *owner, uint16_t type)
{
	for (; *from < ldns_rr_list_rr_count(list); ++*from) {
		const ldns_rr *rr = ldns_rr_list_rr(list, *from);

		if (ldns_rr_get_type(rr) == (ldns_rr_type)type &&
		    ldns_rr_get_class(rr) == LDNS_RR_CLASS_IN &&
		    same_name(ldns_rr_owner(rr), owner)) {
			++*from;
			return rr;
		}
	}
	return NULL;
}

/*
 * Follow the CNAMEs from the question, then take the records asked for at
 * their end. Whatever else the upstream put in stays out. A chain that never
 * ends is no answer.
 */
static bool take_chain(const ldns_pkt *p, const ldns_rdf *qname, uint16_t type,
		       struct dns_answer *out)
{
	const ldns_rr_list *list = ldns_pkt_answer(p);
	const ldns_rdf *owner = qname;
	const ldns_rr *rr;
	size_t from;

	for (unsigned i = 0; type != LDNS_RR_TYPE_CNAME; i++) {
		from = 0;
		rr = find_rr(list, &from, owner, LDNS_RR_TYPE_CNAME);
		if (!rr || ldns_rr_rd_count(rr) != 1)
			break;
		if (i == DNS_MSG_CHAIN_MAX)
			return false;
		take_rr(rr, out);
		owner = ldns_rr_rdf(rr, 0);
	}
	from = 0;
	while ((rr = find_rr(list, &from, owner, type)))
		take_rr(rr, out);
	return true;
}

static bool is_ours(const ldns_pkt *p, const struct dns_query *q)
{
	const ldns_rr_list *list = ldns_pkt_question(p);
	const ldns_rr *rr;
	ldns_rdf owner = {0};

	if (ldns_rr_list_rr_count(list) != 1)
		return false;
	rr = ldns_rr_list_rr(list, 0);
	ldns_rdf_set_type(&owner, LDNS_RDF_TYPE_DNAME);
	ldns_rdf_set_size(&owner, q->qname_n);
	ldns_rdf_set_data(&owner, (void *)(uintptr_t)q->qname);
	return ldns_rr_get_type(rr) == (ldns_rr_type)q->type &&
	       ldns_rr_get_class(rr) == LDNS_RR_CLASS_IN &&
	       same_name(ldns_rr_owner(rr), &owner);
}

enum dns_msg_got dns_msg_answer(const uint8_t *wire, size_t n,
				const struct dns_query *q, uint16_t id,
				struct dns_answer *out)
{
	auto_pkt ldns_pkt *p = NULL;
	struct dns_answer a = {0};

	if (n < LDNS_HEADER_SIZE || n > DNS_MSG_MAX || !LDNS_QR_WIRE(wire) ||
	    LDNS_ID_WIRE(wire) != id ||
	    LDNS_OPCODE_WIRE(wire) != LDNS_PACKET_QUERY)
		return DNS_MSG_GOT_FOREIGN;
	if (ldns_wire2pkt(&p, wire, n) != LDNS_STATUS_OK || !is_ours(p, q))
		return DNS_MSG_GOT_FOREIGN;
	if (LDNS_TC_WIRE(wire))
		return DNS_MSG_GOT_TRUNCATED;
	a.rcode = ldns_pkt_get_rcode(p);
	if (a.rcode != LDNS_RCODE_NOERROR && a.rcode != LDNS_RCODE_NXDOMAIN)
		return DNS_MSG_GOT_FAILURE;
	a.rrs = checked_memory(ldns_rr_list_new());
	if (!take_chain(p,
			ldns_rr_owner(ldns_rr_list_rr(ldns_pkt_question(p), 0)),
			q->type, &a)) {
		dns_msg_done(&a);
		return DNS_MSG_GOT_FAILURE;
	}
	*out = a;
	return DNS_MSG_GOT_ANSWER;
}

void dns_msg_known(const struct dns_query *q, const struct addr *addr,
		   uint32_t ttl_s, struct dns_answer *out)
{
	ldns_rr *rr = checked_memory(ldns_rr_new());
	bool pushed, six = addr->family == ADDR_V6;

	*out = (struct dns_answer){
		.rcode = LDNS_RCODE_NOERROR,
		.rrs = checked_memory(ldns_rr_list_new()),
		.addrs[0] = {.addr = *addr, .ttl_s = ttl_s, .keep = true},
		.n_addrs = 1,
		.ttl_s = ttl_s};
	ldns_rr_set_owner(rr,
			  checked_memory(ldns_rdf_new_frm_data(
				  LDNS_RDF_TYPE_DNAME, q->qname_n, q->qname)));
	ldns_rr_set_type(rr, six ? LDNS_RR_TYPE_AAAA : LDNS_RR_TYPE_A);
	ldns_rr_set_class(rr, LDNS_RR_CLASS_IN);
	ldns_rr_set_ttl(rr, ttl_s);
	pushed = ldns_rr_push_rdf(
		rr, checked_memory(ldns_rdf_new_frm_data(
			    six ? LDNS_RDF_TYPE_AAAA : LDNS_RDF_TYPE_A,
			    six ? 16 : 4, addr->b)));
	assert(pushed);
	pushed = ldns_rr_list_push_rr(out->rrs, rr);
	assert(pushed);
}

void dns_msg_done(struct dns_answer *a)
{
	ldns_rr_list_deep_free(a->rrs);
	a->rrs = NULL;
}

static void add_records(ldns_pkt *p, const struct dns_answer *answer)
{
	uint32_t n_addr = 0;

	for (size_t i = 0; i < ldns_rr_list_rr_count(answer->rrs); i++) {
		const ldns_rr *rr = ldns_rr_list_rr(answer->rrs, i);
		uint16_t type = (uint16_t)ldns_rr_get_type(rr);
		ldns_rr *copy;

		if ((type == LDNS_RR_TYPE_A || type == LDNS_RR_TYPE_AAAA) &&
		    !answer->addrs[n_addr++].keep)
			continue;
		copy = checked_memory(ldns_rr_clone(rr));
		ldns_rr_set_ttl(copy, ldns_rr_ttl(rr) - answer->age_s);
		push_rr(p, LDNS_SECTION_ANSWER, copy);
	}
}

/* The packet has the list from then on. */
static void add_blocked(ldns_pkt *p)
{
	static const char text[] = DNS_MSG_BLOCKED;
	uint8_t data[2 + sizeof(text) - 1];
	ldns_edns_option_list *list =
		checked_memory(ldns_edns_option_list_new());
	bool pushed;

	ldns_write_uint16(data, LDNS_EDE_BLOCKED);
	memcpy(data + 2, text, sizeof(text) - 1);
	pushed = ldns_edns_option_list_push(
		list, checked_memory(ldns_edns_new_from_data(
			      LDNS_EDNS_EDE, sizeof(data), data)));
	assert(pushed);
	ldns_pkt_set_edns_option_list(p, list);
}

size_t dns_msg_reply(const struct dns_query *q, ldns_pkt_rcode rcode,
		     const struct dns_answer *answer, bool blocked,
		     uint8_t *out, size_t max)
{
	auto_pkt ldns_pkt *p = pkt_with(q, false);
	size_t n;

	ldns_pkt_set_id(p, q->id);
	ldns_pkt_set_qr(p, true);
	ldns_pkt_set_opcode(p, LDNS_PACKET_QUERY);
	ldns_pkt_set_rd(p, q->rd);
	ldns_pkt_set_ra(p, true);
	ldns_pkt_set_rcode(p, (uint8_t)rcode);
	if (q->edns)
		ldns_pkt_set_edns_udp_size(p, DNS_MSG_UDP_MAX);
	if (q->edns && blocked)
		add_blocked(p);
	if (answer)
		add_records(p, answer);
	n = pkt_write(p, out, max);
	if (n <= max)
		return n;
	ldns_rr_list_deep_free(ldns_pkt_answer(p));
	ldns_pkt_set_answer(p, ldns_rr_list_new());
	ldns_pkt_set_ancount(p, 0);
	ldns_pkt_set_tc(p, true);
	n = pkt_write(p, out, max);
	return n <= max ? n : 0;
}

/* --- for people ----------------------------------------------------------- */

/* Names without the dot at their end, as they are asked for. */
static void show_data(const ldns_rr *rr, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < ldns_rr_rd_count(rr) && n < size; i++) {
		char *text = ldns_rdf2str(ldns_rr_rdf(rr, i));

		/* There is none for parameters with an odd value. */
		if (text)
			n += (size_t)snprintf(out + n, size - n, "%s%s",
					      i ? " " : "", text);
		free(text);
	}
	if (n > 1 && n < size && out[n - 1] == '.')
		out[n - 1] = '\0';
}

size_t dns_msg_show(const struct dns_answer *a, struct dns_shown *out,
		    size_t max)
{
	size_t n = 0, addr = 0;

	for (size_t i = 0; i < ldns_rr_list_rr_count(a->rrs); i++) {
		const ldns_rr *rr = ldns_rr_list_rr(a->rrs, i);
		ldns_rr_type type = ldns_rr_get_type(rr);
		bool is_addr =
			type == LDNS_RR_TYPE_A || type == LDNS_RR_TYPE_AAAA;

		if (is_addr && !a->addrs[addr++].keep)
			continue;
		if (n < max) {
			dns_msg_type_text((uint16_t)type, out[n].type);
			out[n].ttl_s = ldns_rr_ttl(rr) - a->age_s;
			show_data(rr, out[n].data, sizeof(out[n].data));
		}
		n++;
	}
	return n;
}
