/* One rule of ruleset.nft: what it looks at, and what it does. */
#include "compiler/prove/parts.h"

#include "compiler/plan/gate.h"

#include <stdlib.h>

static const struct word_number ifaces[] = {
	{"\"lo\"", FIREWALL_LO}, {"\"" LINK_GATE_IF "\"", FIREWALL_AGENT}, {0}};
static const struct word_number protos[] = {{"tcp", 6}, {"udp", 17}, {0}};
static const struct word_number families[] = {
	{"ipv4", ADDR_V4}, {"ipv6", ADDR_V6}, {0}};
static const struct word_number states[] = {
	{"new", FIREWALL_NEW},
	{"established", FIREWALL_ESTABLISHED},
	{"related", FIREWALL_RELATED},
	{"invalid", FIREWALL_INVALID},
	{0}};
static const struct word_number statuses[] = {{"dnat", FIREWALL_DNAT}, {0}};
static const struct word_number directions[] = {
	{"original", FIREWALL_ORIGINAL}, {"reply", FIREWALL_REPLY}, {0}};
static const struct word_number pkttypes[] = {{"host", FIREWALL_TO_US}, {0}};
/* RFC 4443, RFC 4861, RFC 2710, RFC 3810 */
static const struct word_number icmp6_types[] = {{"packet-too-big", 2},
						 {"mld-listener-report", 131},
						 {"mld-listener-done", 132},
						 {"nd-router-solicit", 133},
						 {"nd-router-advert", 134},
						 {"nd-neighbor-solicit", 135},
						 {"nd-neighbor-advert", 136},
						 {"mld2-listener-report", 143},
						 {0}};
/* RFC 792 */
static const struct word_number icmp_types[] = {{"destination-unreachable", 3},
						{0}};
static const struct word_number icmp_codes[] = {{"frag-needed", 4}, {0}};

/* --- what a rule looks at ------------------------------------------------ */

static uint32_t add_term(struct reader *r, struct firewall_term t)
{
	*vec_push(r->a, &r->f->terms) = t;
	return r->f->terms.n - 1;
}

static bool use_set(struct reader *r, struct firewall_match *m, struct str name,
		    bool pairs)
{
	for (uint32_t i = 0; i < r->f->terms.n; i++) {
		struct firewall_term *t = &r->f->terms.v[i];

		if (!t->name.n || !str_eq(t->name, name))
			continue;
		if (t->family != (enum addr_family)m->family ||
		    t->pairs != pairs)
			return reader_fails(r, "a set of another type");
		t->used = true;
		m->term = i;
		return true;
	}
	return reader_fails(r, "a set that is not there");
}

/* "[!=] @set", "[!=] address", "{ a, b }" */
static bool take_addresses(struct reader *r, struct firewall_match *m)
{
	struct firewall_term t = {.family = (enum addr_family)m->family,
				  .line = r->number,
				  .used = true};
	struct str word;
	bool list;

	m->of_addr = true;
	if (words_peek(r, "!=")) {
		r->at++;
		m->not = true;
	}
	if (!words_take(r, &word))
		return false;
	if (str_starts(word, STR("@")))
		return use_set(r, m, str_slice(word, 1, word.n), false);
	list = str_is(word, "{");
	if (list && !words_take(r, &word))
		return false;
	for (bool more = true; more;) {
		more = list && str_ends(word, STR(","));
		if (!reader_range(r, &t, str_slice(word, 0, word.n - more)) ||
		    (more && !words_take(r, &word)))
			return false;
	}
	if (list && !words_is(r, "}"))
		return false;
	m->term = add_term(r, t);
	return true;
}

/* "ip daddr …", "ip daddr . tcp dport @set", "ip hdrlength != 5" */
static bool take_ip(struct reader *r, struct firewall_match *m,
		    enum addr_family family)
{
	struct str word, set;

	m->family = family;
	if (!words_take(r, &word))
		return false;
	if (str_is(word, "hdrlength") && family == ADDR_V4) {
		m->key = FIREWALL_HEADER;
		return words_values(r, m, NULL);
	}
	if (str_is(word, "hoplimit") && family == ADDR_V6) {
		m->key = FIREWALL_HOPS;
		return words_values(r, m, NULL);
	}
	m->of_source = str_is(word, "saddr");
	if (!m->of_source && !str_is(word, "daddr"))
		return reader_fails(r, "a field that no rule has");
	if (!words_peek(r, "."))
		return take_addresses(r, m);
	r->at++;
	m->of_addr = true;
	if (!words_take(r, &word))
		return false;
	m->proto = str_is(word, "tcp") ? 6 : str_is(word, "udp") ? 17 : 0;
	if (!m->proto || m->of_source || !words_is(r, "dport") ||
	    !words_take(r, &set) || !str_starts(set, STR("@")))
		return reader_fails(r, "a pair that no rule has");
	return use_set(r, m, str_slice(set, 1, set.n), true);
}

/* "@th,64,8": where QUIC says that it is it; doc: compiler/emit/nft. */
static bool take_bytes(struct reader *r, struct firewall_match *m,
		       struct str at)
{
	static const struct word_number places[] = {
		{"@th,64,8", FIREWALL_BYTE},
		{"@th,72,32", FIREWALL_VERSION},
		{"@th,104,8", FIREWALL_ID_LENGTH},
		{"@th,136,32", FIREWALL_OLD_VERSION},
		{0}};

	for (const struct word_number *p = places; p->word; p++)
		if (str_is(at, p->word)) {
			m->key = (enum firewall_key)p->number;
			return words_compared(r, m);
		}
	return reader_fails(r, "a place in a datagram that no rule has");
}

static bool take_limit(struct reader *r, struct firewall_match *m)
{
	bool over;
	struct str word;
	uint32_t n;

	if (!words_is(r, "rate"))
		return false;
	over = words_peek(r, "over");
	r->at += over;
	if (!words_take(r, &word) || (!str_ends(word, STR("/second")) &&
				      !str_ends(word, STR("/minute"))))
		return reader_fails(r, "a rate that is none");
	word = str_slice(word, 0, str_find(word, '/', 0));
	if (!words_number(word, &n) || n == 0 || !words_is(r, "burst") ||
	    !words_take(r, &word) || !words_number(word, &n))
		return reader_fails(r, "a rate that is none");
	m->key = FIREWALL_FLOOD;
	*vec_push(r->a, &m->spans) = (struct firewall_span){over, over};
	return words_is(r, "packets");
}

static bool take_meta(struct reader *r, struct firewall_match *m,
		      struct firewall_rule *rule)
{
	struct str word;

	if (!words_take(r, &word))
		return false;
	if (str_is(word, "l4proto"))
		return m->key = FIREWALL_PROTO, words_values(r, m, protos);
	if (str_is(word, "nfproto"))
		return m->key = FIREWALL_FAMILY, words_values(r, m, families);
	if (str_is(word, "pkttype"))
		return m->key = FIREWALL_PKTTYPE, words_values(r, m, pkttypes);
	if (str_is(word, "skuid"))
		return m->key = FIREWALL_UID, words_values(r, m, NULL);
	if (!str_is(word, "mark"))
		return reader_fails(r, "a field that no rule has");
	if (!words_peek(r, "set"))
		return m->key = FIREWALL_MARK, words_values(r, m, NULL);
	r->at++;
	m->key = FIREWALL_KEYS;
	if (!words_take(r, &word) || !words_number(word, &rule->mark) ||
	    rule->mark == 0)
		return reader_fails(r, "a mark that is none");
	return true;
}

/* What is counted decides nothing: "ct bytes > 0", "ct mark set". */
static bool take_ct(struct reader *r, struct firewall_match *m)
{
	struct str word;
	uint32_t n;

	if (!words_take(r, &word))
		return false;
	if (str_is(word, "state"))
		return m->key = FIREWALL_STATE, words_values(r, m, states);
	if (str_is(word, "status"))
		return m->key = FIREWALL_STATUS, words_values(r, m, statuses);
	if (str_is(word, "direction"))
		return m->key = FIREWALL_DIRECTION,
		       words_values(r, m, directions);
	m->key = FIREWALL_KEYS;
	if (str_is(word, "bytes"))
		return words_all(r, "> 0");
	if (!str_is(word, "mark") || !words_is(r, "set") ||
	    !words_take(r, &word) || !words_number(word, &n))
		return reader_fails(r, "a field that no rule has");
	return true;
}

static bool take_icmp(struct reader *r, struct firewall_match *m, bool v6)
{
	struct str word;

	m->proto = v6 ? 58 : 1;
	if (!words_take(r, &word))
		return false;
	m->key = str_is(word, "type") ? FIREWALL_ICMP_TYPE : FIREWALL_ICMP_CODE;
	if (m->key == FIREWALL_ICMP_CODE && (v6 || !str_is(word, "code")))
		return reader_fails(r, "a field that no rule has");
	return words_values(r, m,
			    m->key == FIREWALL_ICMP_CODE ? icmp_codes
			    : v6			 ? icmp6_types
							 : icmp_types);
}

static bool take_ports(struct reader *r, struct firewall_match *m, bool udp)
{
	m->proto = udp ? 17 : 6;
	if (udp && words_peek(r, "length")) {
		r->at++;
		m->key = FIREWALL_LENGTH;
		return words_compared(r, m);
	}
	m->key = FIREWALL_DPORT;
	return words_is(r, "dport") && words_values(r, m, NULL);
}

static bool acts(const struct firewall_rule *rule)
{
	return rule->mark || rule->tproxy || rule->reason.n;
}

/* One condition; what is none is left where it is. */
static bool take_condition(struct reader *r, struct firewall_rule *rule,
			   bool *out_is)
{
	struct firewall_match m = {.mask = UINT32_MAX};
	struct str key = r->w[r->at];
	bool ok;

	*out_is = true;
	r->at++;
	if (str_is(key, "iifname"))
		m.key = FIREWALL_IIF, ok = words_values(r, &m, ifaces);
	else if (str_is(key, "oifname"))
		m.key = FIREWALL_OIF, ok = words_values(r, &m, ifaces);
	else if (str_is(key, "ip") || str_is(key, "ip6"))
		ok = take_ip(r, &m, key.n == 2 ? ADDR_V4 : ADDR_V6);
	else if (str_is(key, "tcp") || str_is(key, "udp"))
		ok = take_ports(r, &m, str_is(key, "udp"));
	else if (str_is(key, "meta"))
		ok = take_meta(r, &m, rule);
	else if (str_is(key, "ct"))
		ok = take_ct(r, &m);
	else if (str_is(key, "icmp") || str_is(key, "icmpv6"))
		ok = take_icmp(r, &m, str_is(key, "icmpv6"));
	else if (str_is(key, "limit"))
		ok = take_limit(r, &m);
	else if (str_starts(key, STR("@th,")))
		m.proto = 17, ok = take_bytes(r, &m, key);
	else if (str_is(key, "socket")) {
		m.key = FIREWALL_SOCKET;
		ok = words_is(r, "transparent") && words_values(r, &m, NULL);
	} else if (str_is(key, "exthdr")) {
		m.key = FIREWALL_ROUTING;
		m.family = ADDR_V6;
		*vec_push(r->a, &m.spans) = (struct firewall_span){1, 1};
		ok = words_all(r, "rt exists");
	} else {
		r->at--;
		*out_is = false;
		return true;
	}
	if (ok && m.key != FIREWALL_KEYS) {
		if (acts(rule))
			return reader_fails(r,
					    "a condition behind what is done");
		*vec_push(r->a, &rule->matches) = m;
	}
	return ok || reader_fails(r, "a condition that is not known");
}

/* --- what a rule does ---------------------------------------------------- */

static bool take_log(struct reader *r, struct firewall_rule *rule)
{
	struct str word, prefix = STR("\"" GATE_LOG_PREFIX);

	if (!words_is(r, "prefix") || !words_take(r, &word))
		return false;
	if (!str_starts(word, prefix) || !str_ends(word, STR(":\"")) ||
	    word.n <= prefix.n + 2)
		return reader_fails(r, "a log that nobody reads");
	rule->reason = str_slice(word, prefix.n, word.n - 2);
	return words_all(r, str_is(rule->reason, GATE_LOG_ALLOW)
				    ? "group " GATE_TEXT(GATE_LOG_GRANTED)
				    : "group " GATE_TEXT(GATE_LOG_REFUSED));
}

/* ":15001" */
static bool take_port(struct reader *r, uint32_t *out)
{
	struct str word;
	uint64_t port;

	if (!words_is(r, "to") || !words_take(r, &word))
		return false;
	if (!str_starts(word, STR(":")) ||
	    !str_u64(str_slice(word, 1, word.n), UINT16_MAX, &port) ||
	    port == 0)
		return reader_fails(r, "a port that is none");
	*out = (uint32_t)port;
	return true;
}

static bool take_dnat(struct reader *r)
{
	if (words_peek(r, "ip"))
		return words_all(r, "ip to " LINK_AGENT_V4);
	return words_all(r, "ip6 to " LINK_AGENT_V6);
}

/* The last words of a rule, or counter and log before them. */
static bool take_statement(struct reader *r, struct firewall_rule *rule)
{
	struct str word = r->w[r->at++];

	if (str_is(word, "counter"))
		return true;
	if (str_is(word, "log"))
		return take_log(r, rule);
	if (str_is(word, "tproxy"))
		return words_is(r, "ip6") && take_port(r, &rule->tproxy);
	rule->end = str_is(word, "accept")	 ? FIREWALL_ACCEPT
		    : str_is(word, "drop")	 ? FIREWALL_DROP
		    : str_is(word, "reject")	 ? FIREWALL_REJECT
		    : str_is(word, "jump")	 ? FIREWALL_JUMP
		    : str_is(word, "goto")	 ? FIREWALL_GOTO
		    : str_is(word, "redirect")	 ? FIREWALL_REDIRECT
		    : str_is(word, "dnat")	 ? FIREWALL_TO_AGENT
		    : str_is(word, "masquerade") ? FIREWALL_MASQUERADE
						 : FIREWALL_GOES_ON;
	switch (rule->end) {
	case FIREWALL_GOES_ON:
		return reader_fails(r, "a word that no rule has");
	case FIREWALL_REJECT:
		return words_all(r,
				 words_peek(r, "with") && r->at + 1 < r->n &&
						 str_is(r->w[r->at + 1], "tcp")
					 ? "with tcp reset"
					 : "with icmpx admin-prohibited");
	case FIREWALL_JUMP:
	case FIREWALL_GOTO:
		return words_take(r, &rule->to);
	case FIREWALL_REDIRECT:
		return take_port(r, &rule->port);
	case FIREWALL_TO_AGENT:
		return take_dnat(r);
	case FIREWALL_ACCEPT:
	case FIREWALL_DROP:
	case FIREWALL_MASQUERADE:
		return true;
	}
	abort();
}

/* Conditions, then what is done, and nothing behind a verdict. A mark is put
 * on behind tproxy. */
bool rule_read(struct reader *r, struct firewall_chain *c)
{
	struct firewall_rule rule = {.line = r->number, .text = r->line};

	if (r->depth != 2 || !words_split(r))
		return reader_fails(r, "a line that no chain has");
	while (r->at < r->n) {
		bool is;

		if (rule.end != FIREWALL_GOES_ON)
			return reader_fails(r, "words behind a verdict");
		if (!take_condition(r, &rule, &is) ||
		    (!is && !take_statement(r, &rule)))
			return false;
	}
	if (rule.tproxy && !rule.mark)
		return reader_fails(r, "tproxy without a mark");
	*vec_push(r->a, &c->rules) = rule;
	return true;
}
