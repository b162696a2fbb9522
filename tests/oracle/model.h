/*
 * Who may reach whom, said a third time: straight from doc/semantics.md, over
 * small universes, as sets of table entries. Nothing here calls decide().
 *
 * A rule is made of entries of the tables below; a request is the sets of
 * entries that speak of it. The universes hold a request of every kind that
 * such rules can tell apart.
 */
#ifndef TESTS_ORACLE_MODEL_H
#define TESTS_ORACLE_MODEL_H

#include "compiler/ir/ir.h"
#include "tests/oracle/generate.h"

#include <stdlib.h>

/* --- tables of what rules are made of ------------------------------------- */

/* Every pattern of up to three labels out of a, b and '*', and with '**'. */
#define MODEL_PATTERNS_MAX 64
static char model_patterns[MODEL_PATTERNS_MAX][16];
static uint32_t model_n_patterns;

static const struct {
	const char *text;
	uint8_t b[16], bytes, bits;
} model_nets[] = {
	{"203.0.113.0/30", {203, 0, 113, 0}, 4, 30},
	{"203.0.113.0/31", {203, 0, 113, 0}, 4, 31},
	{"203.0.113.1/32", {203, 0, 113, 1}, 4, 32},
	{"203.0.113.2/32", {203, 0, 113, 2}, 4, 32},
	{"10.0.0.0/31", {10, 0, 0, 0}, 4, 31},
	{"10.0.0.1/32", {10, 0, 0, 1}, 4, 32},
	{"169.254.1.0/31", {169, 254, 1, 0}, 4, 31},
	{"169.254.1.1/32", {169, 254, 1, 1}, 4, 32},
	{"169.254.0.0/16", {169, 254}, 4, 16},
	{"192.0.0.5/32", {192, 0, 0, 5}, 4, 32}, /* 'host' */
	{"0.0.0.0/0", {0}, 4, 0},
	{"2001:db8::/127", {0x20, 1, 0xd, 0xb8}, 16, 127},
	{"fd00::1/128", {0xfd, [15] = 1}, 16, 128},
	{"::/0", {0}, 16, 0},
};

static const struct {
	const char *text;
	struct {
		int udp;
		unsigned lo, hi;
	} r[2];
} model_ports[] = {
	{"", {{0, 1, 65535}}}, /* of a denial UDP as well */
	{" tcp/443", {{0, 443, 443}}},
	{" tcp/80", {{0, 80, 80}}},
	{" tcp/80,tcp/443", {{0, 80, 80}, {0, 443, 443}}},
	{" tcp/22-443", {{0, 22, 443}}},
	{" tcp/443-9000", {{0, 443, 9000}}},
	{" udp/53", {{1, 53, 53}}},
	{" tcp/1-65535,udp/1-65535", {{0, 1, 65535}, {1, 1, 65535}}},
	{" tcp/443,udp/443", {{0, 443, 443}, {1, 443, 443}}},
};
#define MODEL_ALL_PORTS 7

/* Without the '/' at their ends. */
static const char *const model_prefixes[] = {"",    "/x",    "/x/y",
					     "/x@", "/x%40", "/x@/z"};
static const char *const model_lasts[] = {"once", "session", "always"};
static const char *const model_methods[] = {"GET", "POST", "CONNECT"};

/* --- rules ---------------------------------------------------------------- */

enum model_who { MODEL_ANY, MODEL_NAME, MODEL_NET };
enum model_scheme { MODEL_BOTH, MODEL_HTTPS, MODEL_CLEAR };

struct model_http {
	uint32_t methods, prefixes; /* bits; none: any */
};

struct model_rule {
	bool deny, url, private, inspect;
	bool ask;	/* else what is not denied is a grant */
	unsigned lasts; /* of ask: 0 once, 1 for the session, 2 always */
	enum model_who who;
	uint32_t which; /* pattern or network */
	uint32_t ports; /* of a url: 1 is 443, 2 is 80 */
	enum model_scheme scheme;
	uint32_t base; /* the url's prefix */
	uint32_t n_http;
	struct model_http http[2];
};

#define MODEL_RULES 6
struct model_policy {
	struct model_rule rules[MODEL_RULES];
	uint32_t n;
};

/* --- requests ------------------------------------------------------------- */

/* Which entries of the tables speak of it. */
struct model_name {
	bool set;
	uint64_t patterns;
};
struct model_addr {
	bool set;
	uint32_t nets;
	int scope; /* 0 public, 1 private, 2 never */
	int floor; /* prefix length of the floor's entry */
};
struct model_port {
	bool udp;
	uint32_t ports;	 /* those of model_ports */
	uint32_t either; /* that have its number, whichever protocol */
};
struct model_url {
	bool tls;
	uint32_t method;	 /* bits; none: another */
	uint32_t plain, decoded; /* prefixes that it lies below */
	bool crooked;		 /* its path is not canonical */
	bool connect;		 /* refused wherever it is seen */
};

/* --- matching ------------------------------------------------------------- */

static inline uint32_t model_labels(const char *s, const char *out[8],
				    size_t len[8])
{
	uint32_t n = 0;

	while (n < 8) {
		len[n] = strcspn(s, ".");
		out[n] = s;
		s += len[n++];
		if (*s++ == '\0')
			break;
	}
	return n;
}

/* From the right; a '**' takes one label or more. */
static inline bool model_matches(const char *pattern, const char *name)
{
	const char *p[8], *s[8];
	size_t pn[8], sn[8];
	uint32_t n = model_labels(pattern, p, pn);
	uint32_t m = model_labels(name, s, sn);

	for (uint32_t i = 0; i < n; i++) {
		const char *want = p[n - 1 - i];
		size_t len = pn[n - 1 - i];

		if (i >= m)
			return false;
		if (len == 2 && memcmp(want, "**", 2) == 0)
			return true;
		if (len == 1 && *want == '*')
			continue;
		if (len != sn[m - 1 - i] ||
		    memcmp(want, s[m - 1 - i], len) != 0)
			return false;
	}
	return n == m;
}

static inline struct model_name model_name(struct str s)
{
	struct model_name out = {.set = s.n != 0};
	char text[300];

	snprintf(text, sizeof(text), "%.*s", STR_ARG(s));
	for (uint32_t i = 0; s.n && i < model_n_patterns; i++)
		if (model_matches(model_patterns[i], text))
			out.patterns |= 1ull << i;
	return out;
}

static inline bool model_in(const uint8_t *net, unsigned bits,
			    const uint8_t *addr)
{
	for (unsigned i = 0; i < bits; i++)
		if ((net[i / 8] ^ addr[i / 8]) & (0x80u >> i % 8))
			return false;
	return true;
}

/* Only what the universe and its witnesses need of the special ranges. */
static inline struct model_addr model_addr(const struct addr *a)
{
	static const struct {
		uint8_t bytes, b[16], bits, scope;
	} special[] = {
		{4, {0}, 8, 2},
		{4, {10}, 8, 1},
		{4, {100, 64}, 10, 1},
		{4, {127}, 8, 2},
		{4, {169, 254}, 16, 2},
		{4, {172, 16}, 12, 1},
		{4, {192, 0, 0}, 24, 1},
		{4, {192, 0, 0}, 29, 2},
		{4, {192, 168}, 16, 1},
		{4, {198, 18}, 15, 1},
		{4, {224}, 4, 2},
		{4, {240}, 4, 2},
		{16, {0}, 128, 2},
		{16, {[15] = 1}, 128, 2},
		{16, {[10] = 0xff, 0xff}, 96, 2},
		{16, {0, 0x64, 0xff, 0x9b, 0, 1}, 48, 2},
		{16, {0x20, 1}, 32, 2},
		{16, {0x20, 1, 0, 2}, 48, 1},
		{16, {0x5f}, 16, 1},
		{16, {0xfc}, 7, 1},
		{16, {0xfd, 0, 0x6d, 0x65, 0x6d, 0x62}, 64, 2},
		{16, {0xfe, 0x80}, 10, 2},
		{16, {0xfe, 0xc0}, 10, 1},
		{16, {0xff}, 8, 2},
	};
	/* IPv4 in IPv6: where it lies, and what stands before it. */
	static const struct {
		uint8_t b[12], bytes;
	} wraps[] = {{{0, 0x64, 0xff, 0x9b}, 12},
		     {{0}, 12},
		     {{[8] = 0xff, 0xff}, 12},
		     {{0x20, 2}, 2}};
	struct model_addr out = {.set = true, .floor = -1};
	uint8_t bytes = a->family == ADDR_V4 ? 4 : 16;

	for (size_t i = 0; i < ARRAY_LEN(special); i++) {
		if (special[i].bytes != bytes ||
		    !model_in(special[i].b, special[i].bits, a->b))
			continue;
		if (special[i].scope > out.scope)
			out.scope = special[i].scope;
		if (special[i].scope == 2 && special[i].bits > out.floor)
			out.floor = special[i].bits;
	}
	for (size_t i = 0; bytes == 16 && i < ARRAY_LEN(wraps); i++) {
		struct addr inner = {.family = ADDR_V4};
		struct model_addr in;

		if (memcmp(a->b, wraps[i].b, wraps[i].bytes) != 0)
			continue;
		memcpy(inner.b, a->b + wraps[i].bytes, 4);
		in = model_addr(&inner);
		if (in.scope > out.scope)
			out.scope = in.scope;
		if (in.floor >= 0 && in.floor + wraps[i].bytes * 8 > out.floor)
			out.floor = in.floor + wraps[i].bytes * 8;
	}
	for (size_t i = 0; i < ARRAY_LEN(model_nets); i++)
		if (model_nets[i].bytes == bytes &&
		    model_in(model_nets[i].b, model_nets[i].bits, a->b))
			out.nets |= 1u << i;
	return out;
}

static inline struct model_port model_port(bool udp, unsigned port)
{
	struct model_port out = {.udp = udp};

	for (size_t i = 0; i < ARRAY_LEN(model_ports); i++)
		for (int k = 0; k < 2; k++)
			if (model_ports[i].r[k].hi &&
			    model_ports[i].r[k].lo <= port &&
			    port <= model_ports[i].r[k].hi) {
				out.either |= 1u << i;
				if (model_ports[i].r[k].udp == udp)
					out.ports |= 1u << i;
			}
	return out;
}

/* At a boundary of segments; of the text, "%40" read as what it is or not. */
static inline bool model_below(const char *path, const char *prefix,
			       bool decoded)
{
	while (*prefix) {
		char p = *path, q = *prefix;

		if (decoded && strncmp(path, "%40", 3) == 0) {
			p = '@';
			path += 2;
		}
		if (decoded && strncmp(prefix, "%40", 3) == 0) {
			q = '@';
			prefix += 2;
		}
		if (p != q)
			return false;
		path++;
		prefix++;
	}
	return *path == '\0' || *path == '/';
}

static inline struct model_url model_url(bool tls, struct str method,
					 struct str path)
{
	struct model_url out = {.tls = tls};
	char text[256];

	snprintf(text, sizeof(text), "%.*s", STR_ARG(path));
	out.crooked = strstr(text, "/../") != NULL;
	out.connect = str_is(method, "CONNECT");
	for (size_t i = 0; i < ARRAY_LEN(model_methods); i++)
		if (str_is(method, model_methods[i]))
			out.method = 1u << i;
	for (size_t i = 0; i < ARRAY_LEN(model_prefixes); i++) {
		/* Under the root, and nowhere else for certain. */
		if (out.crooked && i)
			break;
		if (model_below(text, model_prefixes[i], false))
			out.plain |= 1u << i;
		if (model_below(text, model_prefixes[i], true))
			out.decoded |= 1u << i;
	}
	return out;
}

/* --- deciding ------------------------------------------------------------- */

static inline bool model_is_http(const struct model_rule *r)
{
	return r->n_http || r->url;
}

/* No ports: any TCP port of a grant, everything of a denial. */
static inline bool model_has_port(const struct model_rule *r,
				  const struct model_port *p)
{
	/* '*' alone, denied, is what is so anyway. */
	if (r->deny && r->who == MODEL_ANY && r->ports == 0 &&
	    !model_is_http(r))
		return false;
	if (r->deny && !r->url && r->ports == 0)
		return true;
	return p->ports >> r->ports & 1;
}

static inline bool model_names(const struct model_rule *r,
			       const struct model_name *n)
{
	if (!n->set || r->who == MODEL_NET)
		return false;
	return r->who == MODEL_ANY || (n->patterns >> r->which & 1);
}

/* 'host' is an address of the floor that requests are decided to, too. */
static inline bool model_machine(const struct model_rule *r)
{
	static const uint8_t machine[4] = {192, 0, 0, 5};

	return model_nets[r->which].bytes == 4 &&
	       model_nets[r->which].bits == 32 &&
	       memcmp(model_nets[r->which].b, machine, 4) == 0;
}

/*
 * doc/semantics.md, section 3: only a grant more specific than its entry opens
 * the floor, on the ports that it has; and none with rules of http.
 */
static inline bool model_opens(const struct model_rule *r,
			       const struct model_addr *a)
{
	return a->floor < 0 ||
	       (!r->deny && (!model_is_http(r) || model_machine(r)) &&
		model_nets[r->which].bits > a->floor);
}

/* What a grant opens of the floor no other grant gets. */
static inline bool model_covers(const struct model_rule *r,
				const struct model_addr *a)
{
	return r->who == MODEL_NET && a->set && (a->nets >> r->which & 1) &&
	       (r->deny || model_opens(r, a));
}

static inline bool model_floor(const struct model_policy *p,
			       const struct model_addr *a,
			       const struct model_port *port)
{
	if (!a->set || a->floor < 0)
		return false;
	for (uint32_t i = 0; i < p->n; i++)
		if (model_covers(&p->rules[i], a) &&
		    model_opens(&p->rules[i], a) &&
		    model_has_port(&p->rules[i], port))
			return false;
	return true;
}

static inline bool model_grants(const struct model_rule *r,
				const struct model_name *n,
				const struct model_addr *a)
{
	if (r->who == MODEL_NET)
		return model_covers(r, a);
	if (r->who == MODEL_ANY && a->set && a->scope == 0)
		return true;
	if (!model_names(r, n))
		return false;
	return !a->set || a->scope == 0 || (a->scope == 1 && r->private);
}

static inline bool model_connect(const struct model_policy *p,
				 const struct model_name *n,
				 const struct model_addr *a,
				 const struct model_port *port)
{
	bool granted = false;

	if (model_floor(p, a, port))
		return false;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct model_rule *r = &p->rules[i];

		if (model_is_http(r) || !model_has_port(r, port))
			continue;
		if (r->deny && (r->who == MODEL_ANY || model_names(r, n) ||
				model_covers(r, a)))
			return false;
		granted |= !r->deny && model_grants(r, n, a);
	}
	return granted;
}

/* Could QUIC on that port be for what the rule denies? */
static inline bool model_denies_quic(const struct model_rule *r,
				     const struct model_port *port)
{
	if (!r->deny)
		return false;
	if (model_is_http(r))
		return r->scheme != MODEL_CLEAR &&
		       (port->either >> r->ports & 1);
	/* What is denied over TCP goes by HTTP/3 to the same number. */
	return r->who == MODEL_NAME &&
	       (r->ports == 0 || (port->either >> r->ports & 1));
}

/*
 * Its first packets: the name in them is hidden, so that where nobody's name
 * leads, one that is denied may be meant.
 */
static inline bool model_quic(const struct model_policy *p,
			      const struct model_name *n,
			      const struct model_addr *a,
			      const struct model_port *port)
{
	bool blind = false, denied = false, at = false, about = false;

	if (!model_connect(p, n, a, port))
		return false;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct model_rule *r = &p->rules[i];
		bool http = model_is_http(r) && r->scheme != MODEL_CLEAR;

		if (!r->deny && !model_is_http(r) && model_has_port(r, port))
			blind |=
				model_covers(r, a) || (r->who == MODEL_ANY &&
						       a->set && a->scope == 0);
		denied |= model_denies_quic(r, port);
		at |= r->deny && http && model_covers(r, a);
		about |= model_denies_quic(r, port) && model_names(r, n) &&
			 (http || r->who == MODEL_NAME);
	}
	return !(denied && (blind || at)) && !about;
}

static inline bool model_resolve(const struct model_policy *p,
				 const struct model_name *n)
{
	bool granted = false;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct model_rule *r = &p->rules[i];

		if (!model_names(r, n))
			continue;
		if (!r->deny)
			granted = true;
		else if (r->who == MODEL_NAME && !model_is_http(r) &&
			 (r->ports == 0 || r->ports == MODEL_ALL_PORTS))
			return false;
	}
	return granted;
}

/* Method, path and scheme of one rule. */
static inline bool model_permits(const struct model_rule *r,
				 const struct model_url *u)
{
	uint32_t below = r->deny ? u->decoded : u->plain;

	if (!model_is_http(r))
		return true;
	if (r->scheme != MODEL_BOTH && (r->scheme == MODEL_HTTPS) != u->tls)
		return false;
	if (r->url && !(below >> r->base & 1))
		return false;
	if (r->n_http == 0)
		return true;
	for (uint32_t i = 0; i < r->n_http; i++) {
		const struct model_http *h = &r->http[i];

		if ((!h->methods || (h->methods & u->method)) &&
		    (!h->prefixes || (h->prefixes & below)))
			return true;
	}
	return false;
}

/* A path that is not canonical, where a rule of the destination has one. */
static inline bool model_refuses_path(const struct model_rule *r,
				      const struct model_url *u)
{
	if (!u->crooked || !model_is_http(r) ||
	    (r->scheme != MODEL_BOTH && (r->scheme == MODEL_HTTPS) != u->tls))
		return false;
	if (r->url && r->base)
		return true;
	for (uint32_t i = 0; i < r->n_http; i++)
		if (r->http[i].prefixes)
			return true;
	return false;
}

/* Is nothing looked into? Then '*' passes as packets. */
static inline bool model_unseen(const struct model_policy *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct model_rule *r = &p->rules[i];
		bool tcp = r->ports != 6;

		if (!tcp)
			continue;
		if (r->deny && (model_is_http(r) || r->who == MODEL_NAME))
			return false;
		if (!r->deny &&
		    (model_is_http(r) || (r->inspect && r->who != MODEL_NET)))
			return false;
	}
	return true;
}

/* Is the address granted as such on that port? */
static inline bool model_net(const struct model_policy *p,
			     const struct model_addr *a,
			     const struct model_port *port)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct model_rule *r = &p->rules[i];

		if (!r->deny && !model_is_http(r) && model_covers(r, a) &&
		    model_has_port(r, port))
			return true;
	}
	return false;
}

/* Does a name lead to where the rule opens it? */
static inline bool model_leads(const struct model_rule *r,
			       const struct model_addr *a, bool resolved)
{
	if (a->scope == 0)
		return resolved || r->who == MODEL_ANY;
	return resolved && a->scope == 1 && r->private;
}

/* Is TLS to an address under a name decrypted, so that paths are seen? */
static inline bool model_decrypts(const struct model_policy *p,
				  const struct model_name *n,
				  const struct model_addr *a, bool resolved,
				  const struct model_port *port)
{
	bool net = model_net(p, a, port);

	for (uint32_t i = 0; i < p->n; i++) {
		const struct model_rule *r = &p->rules[i];
		bool names = model_names(r, n), covers = model_covers(r, a);

		if (!model_has_port(r, port) || r->scheme == MODEL_CLEAR)
			continue;
		if (r->deny && model_is_http(r) && (names || covers))
			return true;
		if (!r->deny && !net &&
		    (model_is_http(r) || (r->inspect && r->who != MODEL_NET)) &&
		    (covers || (names && model_leads(r, a, resolved))))
			return true;
	}
	return false;
}

/* Do packets to the address pass without a look? */
static inline bool model_direct(const struct model_policy *p,
				const struct model_addr *a,
				const struct model_port *port)
{
	bool inside = false, net = model_net(p, a, port);

	for (uint32_t i = 0; i < p->n; i++) {
		const struct model_rule *r = &p->rules[i];

		inside |= r->deny && model_has_port(r, port) &&
			  (model_is_http(r) || r->who == MODEL_NAME);
		net |= !r->deny && !model_is_http(r) && r->who == MODEL_ANY &&
		       a->set && a->scope == 0 && model_has_port(r, port) &&
		       model_unseen(p);
	}
	return net && !inside;
}

/* To a name, at a public address of it. */
static inline bool model_http_name(const struct model_policy *p,
				   const struct model_name *n,
				   const struct model_port *port,
				   const struct model_url *u)
{
	const struct model_addr none = {.set = false}, some = {.set = true};
	bool granted = false;

	if (u->connect &&
	    (!u->tls || model_decrypts(p, n, &none, true, port)) &&
	    !model_direct(p, &some, port))
		return false;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct model_rule *r = &p->rules[i];

		if (!model_has_port(r, port) || !model_names(r, n))
			continue;
		if (model_refuses_path(r, u))
			return false;
		if (!model_permits(r, u))
			continue;
		if (r->deny)
			return false;
		granted = true;
	}
	return granted;
}

static inline bool model_http_addr(const struct model_policy *p,
				   const struct model_addr *a,
				   const struct model_port *port,
				   const struct model_url *u)
{
	bool unseen = model_unseen(p), direct = false, granted = false;
	bool net = false, denied = false, aimed = false;

	if (model_floor(p, a, port) ||
	    (u->connect && !u->tls && !model_direct(p, a, port)))
		return false;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct model_rule *r = &p->rules[i];
		bool any = r->who == MODEL_ANY && a->scope == 0;

		if (!model_has_port(r, port))
			continue;
		denied |= (r->who == MODEL_ANY || model_covers(r, a)) &&
			  (r->deny || !model_net(p, a, port)) &&
			  model_refuses_path(r, u);
		if (r->deny && !model_is_http(r)) {
			if (r->who == MODEL_ANY || model_covers(r, a))
				return false;
		} else if (r->deny) {
			bool speaks = r->who == MODEL_ANY || model_covers(r, a);

			denied |= speaks && model_permits(r, u);
			aimed |= speaks && r->scheme != MODEL_CLEAR;
		} else if (!model_is_http(r)) {
			net |= model_covers(r, a);
			direct |= any && unseen;
			granted |= any;
		} else {
			granted |= (any || model_covers(r, a)) &&
				   model_permits(r, u);
		}
	}
	/* TLS to an address names nobody, and its requests are not seen. */
	if (net && (u->tls ? !aimed : !denied))
		return true;
	return direct || (granted && !denied && !u->tls);
}

/*
 * To an address under a name; resolved: the name led there. The gate knows the
 * name, so that what is said of it holds beside what is said of the address.
 */
static inline bool model_http_both(const struct model_policy *p,
				   const struct model_name *n,
				   const struct model_addr *a, bool resolved,
				   const struct model_port *port,
				   const struct model_url *u)
{
	bool granted = false, net = model_net(p, a, port);
	bool seen = !u->tls || model_decrypts(p, n, a, resolved, port);

	if (model_floor(p, a, port) ||
	    (u->connect && seen && !model_direct(p, a, port)))
		return false;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct model_rule *r = &p->rules[i];
		bool names = model_names(r, n);
		bool leads = model_leads(r, a, resolved);

		if (!model_has_port(r, port) || !(names || model_covers(r, a)))
			continue;
		if (seen && (r->deny || !net) && model_refuses_path(r, u))
			return false;
		if (!model_permits(r, u))
			continue;
		if (r->deny)
			return false;
		granted |= model_covers(r, a) || (names && leads);
	}
	return granted;
}

/* --- the whole request ---------------------------------------------------- */

struct model_request {
	enum model_kind {
		MODEL_CONNECT,
		MODEL_QUIC,
		MODEL_RESOLVE,
		MODEL_HTTP_NAME,
		MODEL_HTTP_ADDR,
		MODEL_HTTP_BOTH,
	} kind;
	struct model_name n;
	struct model_addr a;
	struct model_port port;
	struct model_url url;
	bool resolved; /* both: the name led to the address */
};

/* By a policy whose rules are grants and denials. */
static inline bool model_grants_it(const struct model_policy *p,
				   const struct model_request *q)
{
	switch (q->kind) {
	case MODEL_CONNECT:
		return model_connect(p, &q->n, &q->a, &q->port);
	case MODEL_QUIC:
		return model_quic(p, &q->n, &q->a, &q->port);
	case MODEL_RESOLVE:
		return model_resolve(p, &q->n);
	case MODEL_HTTP_NAME:
		return model_http_name(p, &q->n, &q->port, &q->url);
	case MODEL_HTTP_ADDR:
		return model_http_addr(p, &q->a, &q->port, &q->url);
	case MODEL_HTTP_BOTH:
		return model_http_both(p, &q->n, &q->a, q->resolved, &q->port,
				       &q->url);
	}
	abort();
}

/*
 * doc/semantics.md, section 6: 4 is permitted; 1 to 3 asked about, and how wide
 * an answer may be; 0 denied. Who says yes to an entry of ask makes a grant of
 * it, and leaves the others as they are.
 */
#define MODEL_LEVEL_ALLOW 4u
static inline unsigned model_level(const struct model_policy *p,
				   const struct model_request *q)
{
	struct model_policy granted = {.n = 0};
	unsigned level = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (!p->rules[i].ask)
			granted.rules[granted.n++] = p->rules[i];
	if (model_grants_it(&granted, q))
		return MODEL_LEVEL_ALLOW;
	for (uint32_t i = 0; i < p->n; i++) {
		if (!p->rules[i].ask || p->rules[i].lasts < level)
			continue;
		granted.rules[granted.n++] = p->rules[i];
		if (model_grants_it(&granted, q))
			level = 1 + p->rules[i].lasts;
		granted.n--;
	}
	return level;
}

static inline struct model_request model_request(const struct ir_request *r)
{
	struct model_request q = {.kind = MODEL_RESOLVE,
				  .n = model_name(r->name),
				  .resolved = !r->unresolved};

	switch (r->kind) {
	case IR_REQ_CONNECT:
		q.kind = r->quic ? MODEL_QUIC : MODEL_CONNECT;
		q.port = model_port(r->proto == IR_PROTO_UDP, r->port);
		if (r->has_addr)
			q.a = model_addr(&r->addr);
		return q;
	case IR_REQ_RESOLVE:
		return q;
	case IR_REQ_HTTP:
		q.url = model_url(r->url.scheme == IR_SCHEME_HTTPS, r->method,
				  r->url.path);
		q.port = model_port(false, r->url.port);
		if (r->url.who == IR_DEST_CIDR) {
			q.kind = MODEL_HTTP_ADDR;
			q.a = model_addr(&r->url.net.addr);
			return q;
		}
		q.kind = r->has_addr ? MODEL_HTTP_BOTH : MODEL_HTTP_NAME;
		q.n = model_name(r->url.name);
		if (r->has_addr)
			q.a = model_addr(&r->addr);
		return q;
	case IR_REQ_READ:
	case IR_REQ_WRITE:
	case IR_REQ_ARG:
		break;
	}
	abort();
}

#endif
