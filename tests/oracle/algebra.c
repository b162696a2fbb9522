/*
 * What compare.h finds between two policies is what they decide differently,
 * request by request, by a model of its own (model.h): random pairs over small
 * universes, 40,000 of them unless told, every request asked of the model.
 *Also: decide_asked() agrees with the model, every witness is one, and what
 *never_find() proves, no request refutes.
 *
 *	algebra [PAIRS [SEED]]
 */
#include "compiler/algebra/compare/compare.h"
#include "compiler/algebra/compare/never.h"
#include "compiler/algebra/decide/ask.h"
#include "compiler/base/name_match.h"
#include "compiler/ir/ports.h"
#include "compiler/ir/text.h"

#include "tests/check.h"
#include "tests/oracle/model_draw.h"
#include "tests/oracle/scaled.h"
#include "tests/oracle/workers.h"
#include "tests/policy.h"

#define NAMES_MAX 128

/* --- universes ------------------------------------------------------------ */

struct universe {
	struct model_mix mix;
	uint32_t labels; /* names of up to so many */
	const char *const *addrs;
	uint32_t n_addrs;
	uint32_t n_paths; /* of paths below */
	char names[NAMES_MAX][16];
	uint32_t n_names;
	struct model_name name[NAMES_MAX + 1]; /* the last: none */
	struct model_addr addr[32];	       /* the last: none */
	struct addr raw[32];
	struct model_port port[16];
	struct model_url url[2 * 4 * 16];
	uint32_t n_urls;
};

static const char *const all_addrs[] = {
	"203.0.113.0", "203.0.113.1",	 "203.0.113.2",	      "203.0.113.3",
	"8.8.8.8",     "10.0.0.0",	 "10.0.0.1",	      "10.9.9.9",
	"169.254.1.0", "169.254.1.1",	 "169.254.9.9",	      "127.0.0.1",
	"2001:db8::1", "2606:4700::1",	 "fd00::1",	      "fd00::2",
	"fe80::1",     "64:ff9b::a00:1", "fd00:6d65:6d62::5", "192.0.0.5",
};
static const char *const few_addrs[] = {"8.8.8.8", "10.9.9.9"};
static const struct {
	bool udp;
	uint16_t port;
} ports[] = {{false, 9},   {false, 22},	  {false, 80},	 {false, 100},
	     {false, 443}, {false, 8080}, {false, 9999}, {true, 9},
	     {true, 22},   {true, 53},	  {true, 80},	 {true, 100},
	     {true, 443},  {true, 8080},  {true, 9999}};
#define TCP_PORTS 7
static const char *const paths[] = {"/",       "/q",  "/x",	"/x/y",
				    "/x/q",    "/x@", "/x%40",	"/x@/z",
				    "/x%40/z", "/xx", "/x/../q"};
static const char *const methods[] = {"GET", "POST", "PUT", "CONNECT"};

static void add_names(struct universe *u, const char *below, uint32_t left)
{
	static const char *const labels[] = {"a", "b", "c"};

	for (int i = 0; left && i < 3; i++) {
		char *to = u->names[u->n_names];

		snprintf(to, 16, "%s%s%s", labels[i], *below ? "." : "", below);
		u->name[u->n_names++] = model_name(str_of(to));
		add_names(u, to, left - 1);
	}
}

static void fill(struct universe *u)
{
	add_names(u, "", u->labels);
	u->name[u->n_names] = (struct model_name){.set = false};
	for (uint32_t i = 0; i < u->n_addrs; i++) {
		struct addr a;

		if (!addr_parse(str_of(u->addrs[i]), &a))
			abort();
		u->addr[i] = model_addr(&a);
		u->raw[i] = a;
	}
	for (size_t i = 0; i < ARRAY_LEN(ports); i++)
		u->port[i] = model_port(ports[i].udp, ports[i].port);
	for (uint32_t i = 0; i < u->n_paths; i++)
		for (int k = 0; k < 4; k++)
			for (int tls = 0; tls < 2; tls++)
				u->url[u->n_urls++] =
					model_url(tls, str_of(methods[k]),
						  str_of(paths[i]));
}

static struct universe universes[] = {
	{.mix = {0, 0, 10, true},
	 .labels = 4,
	 .addrs = few_addrs,
	 .n_addrs = ARRAY_LEN(few_addrs),
	 .n_paths = 1},
	{.mix = {3, 60, 15, true},
	 .labels = 2,
	 .addrs = all_addrs,
	 .n_addrs = ARRAY_LEN(all_addrs),
	 .n_paths = 1},
	{.mix = {3, 0, 80, false},
	 .labels = 2,
	 .addrs = few_addrs,
	 .n_addrs = ARRAY_LEN(few_addrs),
	 .n_paths = ARRAY_LEN(paths)},
	{.mix = {3, 80, 60, false},
	 .labels = 2,
	 .addrs = all_addrs,
	 .n_addrs = ARRAY_LEN(all_addrs),
	 .n_paths = ARRAY_LEN(paths)},
};

/* --- brute force ---------------------------------------------------------- */

enum { CONNECT, HTTP, RESOLVE, QUIC, KINDS };

struct differs {
	bool gained[KINDS], lost[KINDS];
};

static void note(struct differs *d, int kind, const struct model_policy *x,
		 const struct model_policy *y, const struct model_request *q)
{
	unsigned was = model_level(x, q), is = model_level(y, q);

	d->gained[kind] |= is > was;
	d->lost[kind] |= was > is;
}

static void brute_urls(const struct universe *u, const struct model_policy *x,
		       const struct model_policy *y, struct differs *d)
{
	for (uint32_t p = 0; p < TCP_PORTS; p++)
		for (uint32_t q = 0; q < u->n_urls; q++) {
			const struct model_port *port = &u->port[p];
			const struct model_url *url = &u->url[q];

			for (uint32_t i = 0; i < u->n_names; i++)
				note(d, HTTP, x, y,
					     &(struct model_request){
						     .kind = MODEL_HTTP_NAME,
						     .n = u->name[i],
						     .port = *port,
						     .url = *url});
			for (uint32_t i = 0; i < u->n_addrs; i++)
				note(d, HTTP, x, y,
					     &(struct model_request){
						     .kind = MODEL_HTTP_ADDR,
						     .a = u->addr[i],
						     .port = *port,
						     .url = *url});
		}
}

/* Requests to an address under a name. */
static void brute_both(const struct universe *u, const struct model_policy *x,
		       const struct model_policy *y, struct differs *d)
{
	uint32_t n = u->n_names * u->n_addrs * TCP_PORTS;

	for (uint32_t i = 0; i < n; i++) {
		const struct model_name *name = &u->name[i % u->n_names];
		uint32_t k = i / u->n_names;
		const struct model_addr *addr = &u->addr[k % u->n_addrs];
		const struct model_port *port = &u->port[k / u->n_addrs];

		for (uint32_t q = 0; q < u->n_urls * 2; q++) {
			const struct model_url *url = &u->url[q / 2];

			/* Where nobody led there, CONNECT is not asked. */
			if (url->connect && q % 2 == 0)
				continue;
			if (!url->crooked)
				note(d, HTTP, x, y,
				     &(struct model_request){
					     .kind = MODEL_HTTP_BOTH,
					     .n = *name,
					     .a = *addr,
					     .resolved = q % 2,
					     .port = *port,
					     .url = *url});
		}
	}
}

/* QUIC where other datagrams are decided as they were. */
static void brute_connect(const struct universe *u,
			  const struct model_policy *x,
			  const struct model_policy *y, uint32_t name,
			  uint32_t addr, uint32_t port, struct differs *d)
{
	struct model_request q = {.kind = MODEL_CONNECT,
				  .n = u->name[name],
				  .a = u->addr[addr],
				  .port = u->port[port]};
	unsigned was = model_level(x, &q), is = model_level(y, &q);

	note(d, CONNECT, x, y, &q);
	if (!ports[port].udp)
		return;
	q.kind = MODEL_QUIC;
	if (was - is != model_level(x, &q) - model_level(y, &q))
		note(d, QUIC, x, y, &q);
}

static struct differs brute(const struct universe *u,
			    const struct model_policy *x,
			    const struct model_policy *y)
{
	struct differs d = {0};

	for (uint32_t i = 0; i <= u->n_names; i++)
		for (uint32_t k = 0; k <= u->n_addrs; k++) {
			if (i == u->n_names && k == u->n_addrs)
				continue;
			for (uint32_t p = 0; p < ARRAY_LEN(ports); p++)
				brute_connect(u, x, y, i, k, p, &d);
		}
	for (uint32_t i = 0; i < u->n_names; i++)
		note(&d, RESOLVE, x, y,
		     &(struct model_request){.kind = MODEL_RESOLVE,
					     .n = u->name[i]});
	brute_urls(u, x, y, &d);
	return d;
}

/* --- both sides ----------------------------------------------------------- */

struct operand {
	struct model_policy model;
	char text[MODEL_RULES * 128];
	struct test_policy made;
};

static uint64_t decided, asked, witnesses, equal, proved, refuted, covered;

/* The level: model_level(). */
static unsigned agree(struct operand *s, const struct ir_request *r)
{
	struct decision d = decide_asked(s->made.a, &s->made.policy, NULL, r);
	struct model_request q = model_request(r);
	unsigned level = access_level(&d);

	decided++;
	asked += d.verdict == VERDICT_ASK;
	CHECK_MSG(level == model_level(&s->model, &q),
		  "%.*s: %s, and the model disagrees, of\n%s",
		  STR_ARG(ir_request_text(s->made.a, r)), reason_name(d.reason),
		  s->text);
	return level;
}

static int kind_of(enum access_kind k)
{
	switch (k) {
	case ACCESS_CONNECT:
		return CONNECT;
	case ACCESS_QUIC:
		return QUIC;
	case ACCESS_HTTP:
		return HTTP;
	case ACCESS_RESOLVE:
		return RESOLVE;
	case ACCESS_READ:
	case ACCESS_WRITE:
	case ACCESS_ARG:
	case ACCESS_SETTING:
	case ACCESS_CALL:
		break;
	}
	return KINDS;
}

/* --- what the sets of a comparison hold ----------------------------------- */

/* One request of the universe, by its places in the tables. */
struct point {
	int kind;
	uint32_t name, addr, port, url;
};

static unsigned level_at(const struct universe *u, const struct model_policy *p,
			 const struct point *at)
{
	static const enum model_kind kinds[] = {[CONNECT] = MODEL_CONNECT,
						[QUIC] = MODEL_QUIC,
						[RESOLVE] = MODEL_RESOLVE,
						[HTTP] = MODEL_HTTP_NAME};
	struct model_request q = {.kind = kinds[at->kind],
				  .n = u->name[at->name],
				  .a = u->addr[at->addr],
				  .port = u->port[at->port]};

	if (at->kind != HTTP)
		return model_level(p, &q);
	q.url = u->url[at->url];
	if (!q.n.set)
		q.kind = MODEL_HTTP_ADDR;
	return model_level(p, &q);
}

/* As fill() orders them. */
static const char *path_of(uint32_t url)
{
	return paths[url / 8];
}

static bool has_method(const struct access_http *h, uint32_t url)
{
	vec_each(m, &h->methods)
		if (str_is(m->s, methods[url / 2 % 4]))
			return true;
	/* Which stands for the others where a rule names none of them. */
	return h->other && url / 2 % 4 != 3;
}

static bool has_url(const struct access_set *s, uint32_t url)
{
	if ((url % 2 ? !s->tls : !s->clear) || s->crooked)
		return false;
	vec_each(h, &s->http) {
		char prefix[64];

		snprintf(prefix, sizeof(prefix), "%.*s",
			 STR_ARG(str_is(h->path, "/") ? STR("") : h->path));
		if (has_method(h, url) &&
		    model_below(path_of(url), prefix, true))
			return true;
	}
	return false;
}

static bool has_dest(const struct universe *u, const struct ir_dest *d,
		     const struct point *at)
{
	const struct cidr *net = ir_dest_net(d);

	if (net)
		return at->addr < u->n_addrs &&
		       cidr_has(net, &u->raw[at->addr]);
	if (d->kind == IR_DEST_ANY)
		return true;
	return at->name < u->n_names &&
	       name_matches(ir_dest_name(d), str_of(u->names[at->name]));
}

/* Is the request in the set, or does it go without saying beside it? */
static bool in_change(const struct universe *u, const struct access_change *c,
		      const struct point *at)
{
	const struct access_set *s = &c->set;

	if (s->both && (at->name >= u->n_names || at->addr >= u->n_addrs))
		return false;
	if (!has_dest(u, &s->dest, at) || kind_of(c->kind) == KINDS)
		return false;
	if (at->kind == RESOLVE)
		return true;
	/* Beside whatever else changed. */
	if (at->kind == HTTP && u->url[at->url].crooked &&
	    c->way != ACCESS_KEPT)
		return true;
	if (c->kind == ACCESS_RESOLVE ||
	    !ports_has(&s->ports,
		       ports[at->port].udp ? IR_PROTO_UDP : IR_PROTO_TCP,
		       ports[at->port].port))
		return false;
	if (c->kind == ACCESS_CONNECT)
		return true;
	if (c->kind == ACCESS_QUIC || at->kind == QUIC)
		return c->kind == ACCESS_QUIC && at->kind == QUIC;
	return at->kind == HTTP && has_url(s, at->url);
}

/* CONNECT has sets of its own where a rule of the destination names it, and
 * elsewhere goes without saying beside others: compare.h. */
static bool has_own_set(const struct model_policy *x, const struct model_policy *y,
		    const struct model_name *n, const struct model_addr *a,
		    const struct model_port *port, const struct model_url *url)
{
	const struct model_policy *both[] = {x, y};

	for (int k = 0; url->connect && k < 2; k++)
		for (uint32_t i = 0; i < both[k]->n; i++) {
			const struct model_rule *r = &both[k]->rules[i];
			bool names = false;

			for (uint32_t h = 0; h < r->n_http; h++)
				names |= (r->http[h].methods & 4) != 0;
			if (names && model_has_port(r, port) &&
			    (r->who == MODEL_ANY || model_names(r, n) ||
			     (r->who == MODEL_NET && a->set &&
			      (a->nets >> r->which & 1))))
				return true;
		}
	return !url->connect;
}

struct cover {
	const struct universe *u;
	struct operand *s;
	const struct comparison *c;
	/* Kinds of which something is unchanged. */
	bool kept[KINDS];
};

static void cover(struct cover *x, const struct point *at)
{
	unsigned was = level_at(x->u, &x->s[0].model, at);
	unsigned is = level_at(x->u, &x->s[1].model, at);
	enum access_way way = was == is	 ? ACCESS_KEPT
			      : is > was ? ACCESS_GAINED
					 : ACCESS_LOST;
	/* compare.h: what is left out, and goes with what is not. */
	bool respelled = at->kind == HTTP && strchr(path_of(at->url), '%');
	bool both = at->name < x->u->n_names && at->addr < x->u->n_addrs;
	bool found = false;

	if (!was && !is)
		return;
	if (at->kind == HTTP &&
	    !has_own_set(&x->s[0].model, &x->s[1].model, &x->u->name[at->name],
		     &x->u->addr[at->addr], &x->u->port[at->port],
		     &x->u->url[at->url]))
		return;
	if (way == ACCESS_KEPT)
		x->kept[at->kind] = true;
	vec_each(c, &x->c->changes)
		found |= way == c->way && in_change(x->u, c, at) &&
			 (respelled || (access_level(&c->was) == was &&
					access_level(&c->is) == is));
	if (way == ACCESS_KEPT)
		vec_each(c, &x->c->kept)
			found |= in_change(x->u, c, at) &&
				 (both || access_level(&c->is) == is);
	covered++;
	CHECK_MSG(found,
		  "%s, way %d, and in no set: %s %s port %u %s %s of\n"
		  "%s-\n%s",
		  at->kind == HTTP ? methods[at->url / 2 % 4] : "connect", way,
		  at->name < x->u->n_names ? x->u->names[at->name] : "",
		  at->addr < x->u->n_addrs ? x->u->addrs[at->addr] : "",
		  ports[at->port].port, at->url % 2 ? "https" : "http",
		  path_of(at->url), x->s[0].text, x->s[1].text);
}

/* Each request that either permits is in a set of what is found. */
static void check_cover(struct cover *x)
{
	const struct universe *u = x->u;

	for (uint32_t i = 0; i <= u->n_names; i++)
		for (uint32_t k = 0; k <= u->n_addrs; k++) {
			struct point at = {CONNECT, i, k, 0, 0};

			if (i == u->n_names && k == u->n_addrs)
				continue;
			for (; at.port < ARRAY_LEN(ports); at.port++) {
				at.kind = CONNECT;
				cover(x, &at);
				at.kind = QUIC;
				if (ports[at.port].udp)
					cover(x, &at);
				if (at.port >= TCP_PORTS ||
				    (i < u->n_names && k < u->n_addrs))
					continue;
				at.kind = HTTP;
				for (at.url = 0; at.url < u->n_urls; at.url++)
					cover(x, &at);
				at.url = 0;
			}
		}
	for (uint32_t i = 0; i < u->n_names; i++)
		cover(x, &(struct point){RESOLVE, i, u->n_addrs, 0, 0});
}

/* What is unchanged: each witness is permitted by both, and none is missing. */
static void check_kept(const struct universe *u, struct operand s[2])
{
	struct comparison c;
	struct cover x = {.u = u, .s = s, .c = &c};
	bool got = false;

	compare_whole(s[0].made.a, &s[0].made.policy, &s[1].made.policy, &c);
	vec_each(k, &c.kept) {
		CHECK(k->way == ACCESS_KEPT);
		if (kind_of(k->kind) == KINDS)
			continue;
		got = true;
		witnesses++;
		CHECK_MSG(agree(&s[0], &k->witness) &&
				  agree(&s[1], &k->witness) && k->was.grant &&
				  k->is.grant,
			  "%.*s is not permitted by both\n%s-\n%s",
			  STR_ARG(k->witness.text), s[0].text, s[1].text);
	}
	check_cover(&x);
	CHECK(got || !(x.kept[CONNECT] || x.kept[HTTP] || x.kept[RESOLVE] ||
		       x.kept[QUIC]));
}

/* --- one pair ------------------------------------------------------------- */

static void check_witness(struct operand s[2], const struct access_change *c)
{
	unsigned was = agree(&s[0], &c->witness);
	unsigned is = agree(&s[1], &c->witness);
	struct decision d[2];

	witnesses++;
	for (int i = 0; i < 2; i++)
		d[i] = decide_asked(s[i].made.a, &s[i].made.policy, NULL,
				    &c->witness);
	CHECK_MSG(was != is && (is > was) == (c->way == ACCESS_GAINED) &&
			  d[0].reason == c->was.reason &&
			  d[1].reason == c->is.reason &&
			  d[0].grant == c->was.grant &&
			  d[1].grant == c->is.grant,
		  "%.*s (%s, %s) is no witness of %.*s (%s, %s) "
		  "between\n%sand\n%s",
		  STR_ARG(c->witness.text), reason_name(d[0].reason),
		  reason_name(d[1].reason), STR_ARG(c->text),
		  reason_name(c->was.reason), reason_name(c->is.reason),
		  s[0].text, s[1].text);
}

/* What goes without saying follows from what is said: compare.h. */
static void check_way(const bool *want, const bool *got, struct operand s[2],
		      const char *way)
{
	bool any = got[CONNECT] || got[HTTP] || got[RESOLVE] || got[QUIC];

	CHECK_MSG(want[CONNECT] == got[CONNECT],
		  "%s connect: %d not %d:\n%s-\n%s", way, got[CONNECT],
		  want[CONNECT], s[0].text, s[1].text);
	CHECK_MSG(got[QUIC] ? want[QUIC] : !want[QUIC] || got[CONNECT],
		  "%s quic: %d not %d:\n%s-\n%s", way, got[QUIC], want[QUIC],
		  s[0].text, s[1].text);
	CHECK_MSG(got[HTTP] ? want[HTTP] : !want[HTTP] || got[CONNECT],
		  "%s http: %d not %d:\n%s-\n%s", way, got[HTTP], want[HTTP],
		  s[0].text, s[1].text);
	CHECK_MSG(got[RESOLVE] ? want[RESOLVE] : !want[RESOLVE] || any,
		  "%s resolve: %d not %d:\n%s-\n%s", way, got[RESOLVE],
		  want[RESOLVE], s[0].text, s[1].text);
}

/* both: look at every name at every address as well. */
static void check_pair(const struct universe *u, struct operand s[2], bool both)
{
	struct differs want = brute(u, &s[0].model, &s[1].model), got = {0};
	struct comparison c;
	bool more = false;

	compare_policies(s[0].made.a, &s[0].made.policy, &s[1].made.policy, &c);
	vec_each(x, &c.changes) {
		int kind = kind_of(x->kind);

		/* That TLS is looked into is no request. */
		CHECK_MSG(kind < KINDS || x->kind == ACCESS_SETTING, "%.*s",
			  STR_ARG(x->text));
		if (kind == KINDS) {
			more |= x->way != ACCESS_LOST;
			continue;
		}
		both |= x->kind == ACCESS_HTTP && x->set.both;
		if (x->way == ACCESS_GAINED)
			got.gained[kind] = true;
		else
			got.lost[kind] = true;
		check_witness(s, x);
	}
	if (both)
		brute_both(u, &s[0].model, &s[1].model, &want);
	check_way(want.gained, got.gained, s, "gained");
	check_way(want.lost, got.lost, s, "lost");
	for (int i = 0; i < KINDS; i++)
		more |= want.gained[i];
	CHECK(compare_widens(&c) == more);
	equal += compare_equal(&c);
}

/* --- never ---------------------------------------------------------------- */

static struct ir_never some_set(const struct universe *u, struct rng *r,
				struct arena *a, struct model_rule *as_rule)
{
	struct ir_never set = {.kind = IR_NEVER_NET, .has_dest = true};

	*as_rule = model_rule(r, &u->mix);
	as_rule->url = false;
	as_rule->n_http = 0;
	as_rule->deny = true;
	if (as_rule->who == MODEL_NET) {
		set.dest.kind = IR_DEST_CIDR;
		(void)cidr_parse(str_of(model_nets[as_rule->which].text),
				 &set.dest.u.cidr.net);
	} else if (as_rule->who == MODEL_ANY) {
		set.has_dest = false;
	} else {
		struct str name = str_of(model_patterns[as_rule->which]);

		set.dest.kind = str_find(name, '*', 0) < name.n
					? IR_DEST_PATTERN
					: IR_DEST_HOST;
		set.dest.u.pattern.name = name;
	}
	for (int k = 0; as_rule->ports && k < 2; k++)
		if (model_ports[as_rule->ports].r[k].hi)
			*vec_push(a, &set.ports) = (struct ir_port){
				.proto = model_ports[as_rule->ports].r[k].udp
						 ? IR_PROTO_UDP
						 : IR_PROTO_TCP,
				.lo = (uint16_t)model_ports[as_rule->ports]
					      .r[k]
					      .lo,
				.hi = (uint16_t)model_ports[as_rule->ports]
					      .r[k]
					      .hi};
	if (rng_below(r, 3) == 0)
		*vec_push(a, &set.methods) = (struct ir_text){.s = STR("POST")};
	if (rng_below(r, 3) == 0)
		*vec_push(a, &set.paths) = (struct ir_text){.s = STR("/x@")};
	return set;
}

/* Does the set, written as a rule, hold the connection? */
static bool in_set(const struct model_rule *x, const struct model_name *n,
		   const struct model_addr *a)
{
	return x->who == MODEL_ANY || model_names(x, n) || model_covers(x, a);
}

static bool in_ports(const struct model_rule *x, const struct model_port *p)
{
	return x->ports == 0 || (p->ports >> x->ports & 1);
}

/* Or somebody may let it be. */
static bool resolves(const struct model_policy *p, const struct model_name *n)
{
	return model_level(
		p, &(struct model_request){.kind = MODEL_RESOLVE, .n = *n});
}

/*
 * Requests to an address under a name: in a set of addresses whatever name is
 * stated, in one of names where the session let the name lead there.
 */
static bool brute_never_both(const struct universe *u,
			     const struct model_policy *p,
			     const struct model_rule *x, const bool *urls)
{
	struct model_name nobody = {.set = false};
	uint32_t n = u->n_names * u->n_addrs;

	for (uint32_t i = 0; i < n; i++) {
		const struct model_name *name = &u->name[i / u->n_addrs];
		const struct model_addr *addr = &u->addr[i % u->n_addrs];
		bool led = in_set(x, name, addr) && resolves(p, name);
		bool said = in_set(x, &nobody, addr);

		for (uint32_t k = 0; (led || said) && k < TCP_PORTS * u->n_urls;
		     k++) {
			struct model_request q = {
				.kind = MODEL_HTTP_BOTH,
				.n = *name,
				.a = *addr,
				.port = u->port[k % TCP_PORTS],
				.url = u->url[k / TCP_PORTS],
			};

			if (!urls[k / TCP_PORTS] || !in_ports(x, &q.port))
				continue;
			if (said && model_level(p, &q))
				return true;
			q.resolved = true;
			if (led && model_level(p, &q))
				return true;
		}
	}
	return false;
}

static bool brute_never(const struct universe *u, const struct model_policy *p,
			const struct model_rule *x, const struct ir_never *set)
{
	bool http = set->methods.n || set->paths.n;
	struct model_addr none = {.set = false};
	struct model_name nobody = {.set = false};
	bool urls[ARRAY_LEN(u->url)];

	for (uint32_t v = 0; v < u->n_urls; v++)
		urls[v] = (!set->methods.n || u->url[v].method == 2) &&
			  (!set->paths.n || (u->url[v].decoded & 8));
	for (uint32_t i = 0; !http && i <= u->n_names; i++)
		for (uint32_t k = 0; k <= u->n_addrs; k++) {
			const struct model_name *n = &u->name[i];
			const struct model_addr *a = &u->addr[k];

			if ((!n->set && !a->set) || !in_set(x, n, a) ||
			    (n->set && a->set && !resolves(p, n)))
				continue;
			for (uint32_t q = 0; q < ARRAY_LEN(ports); q++)
				if (in_ports(x, &u->port[q]) &&
				    model_level(p,
						&(struct model_request){
							.kind = MODEL_CONNECT,
							.n = *n,
							.a = *a,
							.port = u->port[q]}))
					return true;
			if (!a->set && x->ports == 0 && resolves(p, n))
				return true;
		}
	for (uint32_t q = 0; q < TCP_PORTS; q++)
		for (uint32_t v = 0; v < u->n_urls; v++) {
			struct model_request to = {.kind = MODEL_HTTP_NAME,
						   .port = u->port[q],
						   .url = u->url[v]};

			if (!urls[v] || !in_ports(x, &u->port[q]))
				continue;
			for (uint32_t i = 0; i < u->n_names; i++) {
				to.n = u->name[i];
				if (in_set(x, &to.n, &none) &&
				    model_level(p, &to))
					return true;
			}
			to.kind = MODEL_HTTP_ADDR;
			to.n = nobody;
			for (uint32_t i = 0; i < u->n_addrs; i++) {
				to.a = u->addr[i];
				if (in_set(x, &nobody, &to.a) &&
				    model_level(p, &to))
					return true;
			}
		}
	return brute_never_both(u, p, x, urls);
}

static void check_never(const struct universe *u, struct rng *r,
			struct operand *s)
{
	struct model_rule as_rule;
	struct ir_never set = some_set(u, r, s->made.a, &as_rule);
	struct ir_request witness;
	struct decision d;
	bool found = never_find(s->made.a, &s->made.policy, &set, &witness, &d);
	bool want = brute_never(u, &s->model, &as_rule, &set);

	/* Nothing lies under a path that a small universe has not. */
	if (set.paths.n && u->n_paths == 1)
		return;
	*(found ? &refuted : &proved) += 1;
	CHECK_MSG(found == want, "never %.*s: %d not %d, of\n%s",
		  STR_ARG(ir_never_text(s->made.a, &set)), found, want,
		  s->text);
	if (found)
		CHECK(d.verdict != VERDICT_DENY &&
		      agree(s, &witness) == access_level(&d));
}

/* --- decisions ------------------------------------------------------------ */

static void some_request(const struct universe *u, struct rng *r,
			 struct operand s[2])
{
	struct ir_request q = {.kind = IR_REQ_CONNECT, .type = STR("A")};
	uint32_t port = rng_below(r, ARRAY_LEN(ports));
	struct str name = str_of(u->names[rng_below(r, u->n_names)]);

	q.has_addr = u->n_addrs && rng_below(r, 2);
	if (q.has_addr)
		(void)addr_parse(str_of(u->addrs[rng_below(r, u->n_addrs)]),
				 &q.addr);
	if (!q.has_addr || rng_below(r, 2))
		q.name = name;
	q.proto = ports[port].udp ? IR_PROTO_UDP : IR_PROTO_TCP;
	q.port = ports[port].port;
	q.quic = ports[port].udp && rng_below(r, 2);
	if (rng_below(r, 8) == 0) {
		q.kind = IR_REQ_RESOLVE;
		q.name = name;
		q.quic = false;
	} else if (rng_below(r, 2)) {
		q.kind = IR_REQ_HTTP;
		q.quic = false;
		q.method = str_of(GEN_PICK(r, methods));
		q.url.scheme =
			rng_below(r, 2) ? IR_SCHEME_HTTP : IR_SCHEME_HTTPS;
		q.url.who =
			q.has_addr && !q.name.n ? IR_DEST_CIDR : IR_DEST_HOST;
		q.unresolved = q.has_addr && q.name.n && rng_below(r, 2);
		q.url.name = name;
		q.url.net = (struct cidr){q.addr, addr_bits(q.addr.family)};
		q.url.port = q.port;
		q.url.path = str_of(GEN_PICK(r, paths));
	}
	agree(&s[0], &q);
	agree(&s[1], &q);
}

static void trial(struct rng *r, uint64_t i)
{
	const struct universe *u = &universes[i % ARRAY_LEN(universes)];
	static struct operand s[2];

	model_policy(r, &u->mix, &s[0].model);
	if (rng_below(r, 4))
		model_change(r, &u->mix, &s[0].model, &s[1].model);
	else
		model_policy(r, &u->mix, &s[1].model);
	for (int k = 0; k < 2; k++) {
		model_text(&s[k].model, s[k].text);
		CHECK_MSG(test_policy_make(&s[k].made, s[k].text), "%s",
			  s[k].text);
	}
	if (s[0].made.ok && s[1].made.ok) {
		check_pair(u, s, rng_below(r, 6) == 0);
		if (rng_below(r, 8) == 0)
			check_kept(u, s);
		for (int k = 0; k < 4; k++)
			some_request(u, r, s);
		if (rng_below(r, 4) == 0)
			check_never(u, r, &s[0]);
	}
	test_policy_done(&s[0].made);
	test_policy_done(&s[1].made);
}

static void report(uint64_t out[WORKERS_COUNTS])
{
	out[0] = decided;
	out[1] = witnesses;
	out[2] = equal;
	out[3] = proved;
	out[4] = refuted;
	out[5] = covered;
	out[6] = asked;
}

int main(int argc, char **argv)
{
	uint64_t pairs =
		argc > 1 ? strtoull(argv[1], NULL, 10) : SCALED(5000, 20);
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	uint64_t sum[WORKERS_COUNTS];

	model_init();
	for (size_t i = 0; i < ARRAY_LEN(universes); i++)
		fill(&universes[i]);
	workers_run(pairs, seed, trial, report, sum);
	printf("seed %llu: %llu pairs, %llu equal; %llu decisions, %llu "
	       "of them asked, %llu witnesses; %llu sets proved, %llu refuted; %llu requests in "
	       "sets\n",
	       (unsigned long long)seed, (unsigned long long)pairs,
	       (unsigned long long)sum[2], (unsigned long long)sum[0],
	       (unsigned long long)sum[6], (unsigned long long)sum[1],
	       (unsigned long long)sum[3], (unsigned long long)sum[4],
	       (unsigned long long)sum[5]);
	CHECK(sum[2] > pairs / 50 && sum[2] < pairs / 2);
	CHECK(sum[3] > pairs / 50 && sum[4] > pairs / 50);
	CHECK(sum[6] > sum[0] / 100);
	return check_status();
}
