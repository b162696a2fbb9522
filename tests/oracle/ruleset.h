/*
 * A reader of ruleset.nft and an evaluator of packets, for the language that
 * the emitter writes and nothing more: what it does not know ends the program.
 * Shares no code with the emitter; addresses are 128-bit numbers here.
 */
#ifndef TESTS_ORACLE_RULESET_H
#define TESTS_ORACLE_RULESET_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 u128;

struct ip {
	int version; /* 4 or 6 */
	u128 v;
};

struct ip_range {
	struct ip lo, hi;
};

struct rs_set {
	char name[32];
	int version;
	bool dynamic;
	struct ip_range *v;
	size_t n, cap;
};

struct rs_rule {
	char *text;
};

struct rs_chain {
	char name[32];
	bool drops; /* its policy */
	struct rs_rule *v;
	size_t n, cap;
};

struct ruleset {
	struct rs_set sets[1024];
	size_t n_sets;
	struct rs_chain chains[16];
	size_t n_chains;
};

struct packet {
	const char *iif, *oif;
	struct ip saddr, daddr;
	const char *proto; /* "tcp", "udp", "icmp", "ipv6-icmp" */
	unsigned dport;
	const char *state, *direction, *status;
	const char *pkttype;
	const char *icmp; /* the type of ICMP, of either family; or NULL */
	const char *code;
	const char *mark; /* or NULL */
	unsigned hops;
	bool options; /* of IPv4, or a routing header of IPv6's */
	bool flood;   /* one of very many */
	/* Of UDP: what is in it, with zeros behind. */
	const unsigned char *data;
	unsigned n_data, n_zeros;
};

enum rs_verdict { RS_NONE, RS_ACCEPT, RS_DROP, RS_REJECT };

struct rs_result {
	enum rs_verdict verdict;
	char prefix[64]; /* of the last log statement */
	unsigned port;	 /* that it was redirected to, or 0 */
};

static inline _Noreturn void rs_die(const char *what, const char *text)
{
	fprintf(stderr, "ruleset: cannot read %s: %s\n", what, text);
	exit(1);
}

static inline bool ip_of(const char *text, struct ip *out)
{
	unsigned char b[16];
	int version = strchr(text, ':') ? 6 : 4;

	if (inet_pton(version == 4 ? AF_INET : AF_INET6, text, b) != 1)
		return false;
	out->version = version;
	out->v = 0;
	for (int i = 0; i < (version == 4 ? 4 : 16); i++)
		out->v = out->v << 8 | b[i];
	return true;
}

/* "a", "a/n" or "a-b" */
static inline struct ip_range rs_range(const char *text)
{
	char copy[128], *cut;
	struct ip_range r;

	snprintf(copy, sizeof(copy), "%s", text);
	if ((cut = strchr(copy, '/'))) {
		unsigned bits = (unsigned)atoi(cut + 1), width;
		u128 rest;

		*cut = '\0';
		if (!ip_of(copy, &r.lo))
			rs_die("an address", text);
		width = r.lo.version == 4 ? 32 : 128;
		rest = bits == 0 && width == 128
			       ? ~(u128)0
			       : ((u128)1 << (width - bits)) - 1;
		r.hi = r.lo;
		r.hi.v |= rest;
		return r;
	}
	if ((cut = strchr(copy, '-'))) {
		*cut = '\0';
		if (!ip_of(copy, &r.lo) || !ip_of(cut + 1, &r.hi))
			rs_die("a range", text);
		return r;
	}
	if (!ip_of(copy, &r.lo))
		rs_die("an address", text);
	r.hi = r.lo;
	return r;
}

static inline void rs_insert(struct rs_set *s, struct ip_range r)
{
	if (r.lo.version != s->version)
		rs_die("an element of the other family", s->name);
	if (s->n == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 8;
		s->v = realloc(s->v, s->cap * sizeof(*s->v));
	}
	s->v[s->n++] = r;
}

static inline struct rs_set *rs_set_of(struct ruleset *r, const char *name)
{
	for (size_t i = 0; i < r->n_sets; i++)
		if (strcmp(r->sets[i].name, name) == 0)
			return &r->sets[i];
	return NULL;
}

static inline struct rs_chain *rs_chain_of(struct ruleset *r, const char *name)
{
	for (size_t i = 0; i < r->n_chains; i++)
		if (strcmp(r->chains[i].name, name) == 0)
			return &r->chains[i];
	return NULL;
}

static inline void rs_elements(struct rs_set *s, char *text)
{
	char *save = NULL, *word;

	for (word = strtok_r(text, " ,\t{}=", &save); word;
	     word = strtok_r(NULL, " ,\t{}=", &save))
		rs_insert(s, rs_range(word));
}

static inline void rs_rule_add(struct rs_chain *c, const char *text)
{
	if (c->n == c->cap) {
		c->cap = c->cap ? c->cap * 2 : 16;
		c->v = realloc(c->v, c->cap * sizeof(*c->v));
	}
	c->v[c->n++].text = strdup(text);
}

static inline void rs_in_set(struct rs_set *s, char *line, bool *in_elements)
{
	if (*in_elements || strncmp(line, "elements = ", 11) == 0) {
		char *text = *in_elements ? line : line + 11;

		*in_elements = !strchr(line, '}');
		rs_elements(s, text);
	} else if (strcmp(line, "type ipv4_addr") == 0) {
		s->version = 4;
	} else if (strcmp(line, "type ipv6_addr") == 0) {
		s->version = 6;
	} else if (strcmp(line, "flags timeout") == 0) {
		s->dynamic = true;
	} else if (strcmp(line, "flags interval") != 0) {
		rs_die("in a set", line);
	}
}

/* text is NUL-terminated; free with rs_free(). */
static inline struct ruleset *rs_read(const char *text)
{
	struct ruleset *r = calloc(1, sizeof(*r));
	char *copy = strdup(text), *save = NULL, *line;
	struct rs_set *set = NULL;
	struct rs_chain *chain = NULL;
	bool in_elements = false;

	for (line = strtok_r(copy, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		line += strspn(line, " \t");
		if (line[0] == '#' ||
		    strcmp(line, "table inet membrane {") == 0)
			continue;
		if (!in_elements && strcmp(line, "}") == 0) {
			set = NULL;
			chain = NULL;
		} else if (strncmp(line, "set ", 4) == 0) {
			set = &r->sets[r->n_sets++];
			sscanf(line, "set %31s {", set->name);
		} else if (strncmp(line, "chain ", 6) == 0) {
			chain = &r->chains[r->n_chains++];
			sscanf(line, "chain %31s {", chain->name);
		} else if (set) {
			rs_in_set(set, line, &in_elements);
		} else if (chain && strncmp(line, "type ", 5) == 0) {
			chain->drops = strstr(line, "policy drop;");
		} else if (chain) {
			rs_rule_add(chain, line);
		} else {
			rs_die("a line", line);
		}
	}
	free(copy);
	return r;
}

static inline void rs_free(struct ruleset *r)
{
	for (size_t i = 0; i < r->n_sets; i++)
		free(r->sets[i].v);
	for (size_t i = 0; i < r->n_chains; i++) {
		for (size_t k = 0; k < r->chains[i].n; k++)
			free(r->chains[i].v[k].text);
		free(r->chains[i].v);
	}
	free(r);
}

/* --- evaluation ---------------------------------------------------------- */

static inline bool rs_within(const struct rs_set *s, struct ip a)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->version == a.version && s->v[i].lo.v <= a.v &&
		    a.v <= s->v[i].hi.v)
			return true;
	return false;
}

/*
 * The words that follow a key: "[!=] word" or "[!=] { a, b }". Calls hit for
 * each; whether any hit, turned round by "!=".
 */
struct rs_words {
	char **w;
	size_t n, at;
};

static inline const char *rs_word(struct rs_words *ws)
{
	if (ws->at >= ws->n)
		rs_die("a rule", "it ends too early");
	return ws->w[ws->at++];
}

static inline bool rs_match(struct rs_words *ws,
			    bool (*hit)(struct ruleset *r,
					const struct packet *p,
					const char *word),
			    struct ruleset *r, const struct packet *p)
{
	const char *word = rs_word(ws);
	bool negated = strcmp(word, "!=") == 0, any = false;

	if (negated)
		word = rs_word(ws);
	if (strcmp(word, "{") != 0)
		return hit(r, p, word) != negated;
	for (word = rs_word(ws); strcmp(word, "}") != 0; word = rs_word(ws))
		any |= hit(r, p, word);
	return any != negated;
}

static inline bool rs_quoted(const char *word, const char *plain)
{
	size_t n = strlen(plain);

	return word[0] == '"' && strncmp(word + 1, plain, n) == 0 &&
	       strcmp(word + 1 + n, "\"") == 0;
}

static inline bool hit_iif(struct ruleset *r, const struct packet *p,
			   const char *word)
{
	(void)r;
	return rs_quoted(word, p->iif);
}

static inline bool hit_oif(struct ruleset *r, const struct packet *p,
			   const char *word)
{
	(void)r;
	return rs_quoted(word, p->oif);
}

static inline bool rs_has(struct ruleset *r, struct ip a, const char *word)
{
	struct rs_set *s;
	struct ip_range range;

	if (word[0] != '@') {
		range = rs_range(word);
		return a.version == range.lo.version && range.lo.v <= a.v &&
		       a.v <= range.hi.v;
	}
	s = rs_set_of(r, word + 1);
	if (!s)
		rs_die("a set", word);
	return rs_within(s, a);
}

static inline bool hit_daddr(struct ruleset *r, const struct packet *p,
			     const char *word)
{
	return rs_has(r, p->daddr, word);
}

static inline bool hit_saddr(struct ruleset *r, const struct packet *p,
			     const char *word)
{
	return rs_has(r, p->saddr, word);
}

static inline bool hit_port(struct ruleset *r, const struct packet *p,
			    const char *word)
{
	unsigned lo, hi;

	(void)r;
	if (sscanf(word, "%u-%u", &lo, &hi) != 2) {
		if (sscanf(word, "%u", &lo) != 1)
			rs_die("a port", word);
		hi = lo;
	}
	return lo <= p->dport && p->dport <= hi;
}

static inline bool hit_proto(struct ruleset *r, const struct packet *p,
			     const char *word)
{
	(void)r;
	return strcmp(word, p->proto) == 0;
}

static inline bool hit_pkttype(struct ruleset *r, const struct packet *p,
			       const char *word)
{
	(void)r;
	return strcmp(word, p->pkttype) == 0;
}

static inline bool hit_state(struct ruleset *r, const struct packet *p,
			     const char *word)
{
	char copy[64], *save = NULL;

	(void)r;
	snprintf(copy, sizeof(copy), "%s", word);
	for (char *w = strtok_r(copy, ",", &save); w;
	     w = strtok_r(NULL, ",", &save))
		if (strcmp(w, p->state) == 0)
			return true;
	return false;
}

static inline bool hit_direction(struct ruleset *r, const struct packet *p,
				 const char *word)
{
	(void)r;
	return strcmp(word, p->direction) == 0;
}

static inline bool hit_status(struct ruleset *r, const struct packet *p,
			      const char *word)
{
	(void)r;
	return strcmp(word, p->status) == 0;
}

static inline bool hit_icmp(struct ruleset *r, const struct packet *p,
			    const char *word)
{
	(void)r;
	return p->icmp && strcmp(word, p->icmp) == 0;
}

static inline bool hit_code(struct ruleset *r, const struct packet *p,
			    const char *word)
{
	(void)r;
	return p->code && strcmp(word, p->code) == 0;
}

static inline bool hit_nothing(struct ruleset *r, const struct packet *p,
			       const char *word)
{
	(void)r, (void)p, (void)word;
	return false;
}

static inline bool rs_is(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static inline bool hit_family(struct ruleset *r, const struct packet *p,
			      const char *word)
{
	(void)r;
	return strcmp(word, p->daddr.version == 4 ? "ipv4" : "ipv6") == 0;
}

static inline bool hit_mark(struct ruleset *r, const struct packet *p,
			    const char *word)
{
	(void)r;
	return p->mark && strcmp(word, p->mark) == 0;
}

/* Bits of a datagram from its header on; false where it is too short. */
static inline bool rs_bits(const struct packet *p, const char *key,
			   unsigned *out)
{
	unsigned at, bits;

	if (sscanf(key, "@th,%u,%u", &at, &bits) != 2 || at < 64)
		rs_die("a place in a datagram", key);
	at = at / 8 - 8;
	if (at + bits / 8 > p->n_data + p->n_zeros)
		return false;
	*out = 0;
	for (unsigned i = at; i < at + bits / 8; i++)
		*out = *out << 8 | (i < p->n_data ? p->data[i] : 0);
	return true;
}

static inline bool rs_number_in(const char *word, unsigned n)
{
	char *dash;
	unsigned long lo = strtoul(word, &dash, 0), hi = lo;

	if (*dash == '-')
		hi = strtoul(dash + 1, NULL, 0);
	return lo <= n && n <= hi;
}

/* ">= 0x80", "& 0xc9 == 0x9", "0x1-0x2" or "{ 0x1, 0x5 }" */
static inline bool rs_compare(struct rs_words *ws, bool known, unsigned n)
{
	const char *word = rs_word(ws);
	bool any = false;

	if (strcmp(word, ">=") == 0)
		return known & (n >= strtoul(rs_word(ws), NULL, 0));
	if (strcmp(word, "&") == 0) {
		n &= (unsigned)strtoul(rs_word(ws), NULL, 0);
		if (strcmp(rs_word(ws), "==") != 0)
			rs_die("a comparison", word);
		return known & rs_number_in(rs_word(ws), n);
	}
	if (strcmp(word, "{") != 0)
		return known && rs_number_in(word, n);
	for (word = rs_word(ws); strcmp(word, "}") != 0; word = rs_word(ws))
		any |= rs_number_in(word, n);
	return known && any;
}

/* "rate over 1000/second burst 5000 packets", or without "over" */
static inline bool rs_limit(struct rs_words *ws, const struct packet *p)
{
	bool over = strcmp(rs_word(ws), "over") == 0;

	for (int i = 0; i < (over ? 4 : 3); i++)
		rs_word(ws);
	return p->flood == over;
}

/* A key and its second word, like "ip daddr"; whether the packet matches. */
static inline bool rs_condition(struct ruleset *r, const struct packet *p,
				const char *key, struct rs_words *ws)
{
	bool of_proto, known;
	unsigned n = 0;
	const char *sub;

	if (rs_is(key, "iifname"))
		return rs_match(ws, hit_iif, r, p);
	if (rs_is(key, "oifname"))
		return rs_match(ws, hit_oif, r, p);
	if (strncmp(key, "@th,", 4) == 0) {
		known = rs_bits(p, key, &n);
		return rs_compare(ws, known, n);
	}
	sub = rs_word(ws);
	if (rs_is(key, "limit"))
		return rs_limit(ws, p);
	if (rs_is(key, "udp") && rs_is(sub, "length"))
		return rs_compare(ws, rs_is(p->proto, "udp"),
				  8 + p->n_data + p->n_zeros);
	if (rs_is(key, "ip") && rs_is(sub, "hdrlength")) {
		if (!rs_is(rs_word(ws), "!=") || !rs_is(rs_word(ws), "5"))
			rs_die("a length", key);
		return p->options && p->daddr.version == 4;
	}
	if (rs_is(key, "exthdr") && rs_is(sub, "rt"))
		return rs_is(rs_word(ws), "exists") && p->options &&
		       p->daddr.version == 6;
	if (rs_is(key, "ip6") && rs_is(sub, "hoplimit"))
		return rs_compare(ws, p->daddr.version == 6, p->hops);
	if ((rs_is(key, "ip") || rs_is(key, "ip6")) &&
	    (rs_is(sub, "daddr") || rs_is(sub, "saddr"))) {
		bool of_family = p->daddr.version == (rs_is(key, "ip") ? 4 : 6);

		/* The family is a condition of its own, before "!=". */
		return rs_match(ws, rs_is(sub, "saddr") ? hit_saddr : hit_daddr,
				r, p) &&
		       of_family;
	}
	if ((rs_is(key, "tcp") || rs_is(key, "udp")) && rs_is(sub, "dport")) {
		of_proto = rs_is(key, p->proto);
		return rs_match(ws, hit_port, r, p) && of_proto;
	}
	if (rs_is(key, "meta") && rs_is(sub, "l4proto"))
		return rs_match(ws, hit_proto, r, p);
	if (rs_is(key, "meta") && rs_is(sub, "nfproto"))
		return rs_match(ws, hit_family, r, p);
	if (rs_is(key, "meta") && rs_is(sub, "mark"))
		return rs_match(ws, hit_mark, r, p);
	/* Of flows that are open; those here are new. */
	if (rs_is(key, "socket") && rs_is(sub, "transparent"))
		return rs_match(ws, hit_nothing, r, p);
	if (rs_is(key, "meta") && rs_is(sub, "pkttype"))
		return rs_match(ws, hit_pkttype, r, p);
	if (rs_is(key, "ct") && rs_is(sub, "state"))
		return rs_match(ws, hit_state, r, p);
	if (rs_is(key, "ct") && rs_is(sub, "direction"))
		return rs_match(ws, hit_direction, r, p);
	/* "ct bytes > 0" of what is counted, "ct mark set": nothing is decided
	 * by them. */
	if (rs_is(key, "ct") && (rs_is(sub, "bytes") || rs_is(sub, "mark"))) {
		rs_word(ws);
		rs_word(ws);
		return true;
	}
	if (rs_is(key, "ct") && rs_is(sub, "status"))
		return rs_match(ws, hit_status, r, p);
	if (rs_is(key, "icmpv6") || rs_is(key, "icmp")) {
		of_proto = rs_is(p->proto,
				 rs_is(key, "icmp") ? "icmp" : "ipv6-icmp");
		return rs_match(ws, rs_is(sub, "type") ? hit_icmp : hit_code, r,
				p) &&
		       of_proto;
	}
	rs_die("a condition", key);
}

static inline enum rs_verdict rs_run(struct ruleset *r, const char *chain,
				     const struct packet *p,
				     struct rs_result *out);

/* One rule; RS_NONE when the next one is to be tried. *left: by goto. */
static inline enum rs_verdict rs_one(struct ruleset *r, char *text,
				     const struct packet *p,
				     struct rs_result *out, bool *left)
{
	char *w[256], *save = NULL;
	struct rs_words ws = {w, 0, 0};

	for (char *x = strtok_r(text, " ", &save); x && ws.n < 256;
	     x = strtok_r(NULL, " ", &save)) {
		size_t n = strlen(x);

		if (x[n - 1] == ',')
			x[n - 1] = '\0';
		w[ws.n++] = x;
	}
	while (ws.at < ws.n) {
		const char *key = rs_word(&ws);

		if (rs_is(key, "counter"))
			continue;
		if (rs_is(key, "accept"))
			return RS_ACCEPT;
		if (rs_is(key, "drop"))
			return RS_DROP;
		if (rs_is(key, "reject"))
			return RS_REJECT;
		if (rs_is(key, "log")) {
			rs_word(&ws);
			snprintf(out->prefix, sizeof(out->prefix), "%s",
				 rs_word(&ws));
			rs_word(&ws);
			rs_word(&ws);
			continue;
		}
		if (rs_is(key, "redirect") || rs_is(key, "tproxy")) {
			while (!rs_is(rs_word(&ws), "to"))
				;
			out->port = (unsigned)atoi(rs_word(&ws) + 1);
			return RS_ACCEPT;
		}
		if (rs_is(key, "goto")) {
			*left = true;
			return rs_run(r, rs_word(&ws), p, out);
		}
		if (rs_is(key, "jump"))
			return rs_run(r, rs_word(&ws), p, out);
		if (!rs_condition(r, p, key, &ws))
			return RS_NONE;
	}
	return RS_NONE;
}

static inline enum rs_verdict rs_run(struct ruleset *r, const char *chain,
				     const struct packet *p,
				     struct rs_result *out)
{
	struct rs_chain *c = rs_chain_of(r, chain);

	if (!c)
		rs_die("a chain", chain);
	for (size_t i = 0; i < c->n; i++) {
		char *copy = strdup(c->v[i].text);
		bool left = false;
		enum rs_verdict v = rs_one(r, copy, p, out, &left);

		free(copy);
		if (v != RS_NONE || left)
			return v;
	}
	return RS_NONE;
}

static inline struct rs_result rs_judge(struct ruleset *r, const char *chain,
					const struct packet *p)
{
	struct rs_result out = {0};

	out.verdict = rs_run(r, chain, p, &out);
	if (out.verdict == RS_NONE)
		out.verdict =
			rs_chain_of(r, chain)->drops ? RS_DROP : RS_ACCEPT;
	return out;
}

#endif
