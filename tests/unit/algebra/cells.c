/*
 * cells.h and sides.h: which ports and requests stand for all, and what two
 * policies say of them. Policies are written as in tests/policy.h.
 */
#include "compiler/algebra/space/cells.h"

#include "compiler/ir/text.h"

#include "tests/check.h"
#include "tests/policy.h"

struct cells {
	struct test_policy was, is;
	struct sides s;
	struct target to;
	uint32_t ids[64], n; /* rules that users wrote, and speak of it */
	uint16_t port;
	struct buf shown;
};

/* Rules of both policies, but the floor's. now: NULL is one policy alone. */
static void begin_cells(struct cells *c, const char *was, const char *now,
			const char *name, const char *addr)
{
	*c = (struct cells){.to.name = str_of(name)};
	CHECK(test_policy_make(&c->was, was));
	if (now)
		CHECK(test_policy_make(&c->is, now));
	if (addr)
		c->to.has_addr = addr_parse(str_of(addr), &c->to.addr);
	sides_init(&c->s, c->was.a, &c->was.policy,
		   now ? &c->is.policy : NULL);
	for (uint32_t i = 0; i < c->s.rules.n; i++)
		if (rule_grant(&c->s.rules.v[i])->from.layer != LAYER_FLOOR)
			c->ids[c->n++] = i;
	c->ids[c->n] = UINT32_MAX / 2; /* what is behind them is no rule */
	buf_init(&c->shown, c->was.a);
}

static void end_cells(struct cells *c)
{
	sides_done(&c->s);
	test_policy_done(&c->was);
	if (c->is.a)
		test_policy_done(&c->is);
}

/* The place of a rule among those that are not the floor's. */
static uint32_t place_of(const struct cells *c, uint32_t rule)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->ids[i] == rule)
			return i;
	return UINT32_MAX;
}

static void show_rules(struct cells *c, const uint32_t *ids, uint32_t n)
{
	bool has[64] = {0};

	for (uint32_t i = 0; i < n; i++) {
		CHECK(!has[place_of(c, ids[i])]);
		has[place_of(c, ids[i])] = true;
	}
	for (uint32_t i = 0, some = 0; i < c->n; i++)
		if (has[i])
			buf_addf(&c->shown, some++ ? ",%u" : "%u", i);
}

/* --- ports ---------------------------------------------------------------- */

/* "tcp/1-442=0,1@80 " */
static void show_ports(void *ctx, const struct cells_ports *p)
{
	struct cells *c = ctx;

	buf_addf(&c->shown, "%s/%u-%u=",
		 p->proto == IR_PROTO_TCP ? "tcp" : "udp", p->lo, p->hi);
	show_rules(c, p->ids, p->n);
	buf_addf(&c->shown, "@%u ", p->shown);
}

static const struct {
	const char *was, *now, *only, *shown;
} ports[] = {
	{"allow a.test tcp/22-60\n", NULL, NULL, "tcp/22-60=0@22 "},
	{"allow a.test tcp/1-100\nallow a.test tcp/1-50\n"
	 "allow a.test tcp/1-75\n",
	 NULL, NULL, "tcp/1-50=0,1,2@22 tcp/51-75=0,2@53 tcp/76-100=0@80 "},
	{"allow a.test tcp/1-100\nallow a.test tcp/20-40\n"
	 "allow a.test tcp/30-75\nallow a.test tcp/35-36\n",
	 NULL, NULL, "tcp/1-19=0@1 tcp/20-29=0,1@22 tcp/30-34=0,1,2@30 tcp/35-36=0,1,2,3@35 tcp/37-40=0,1,2@37 tcp/41-75=0,2@53 tcp/76-100=0@80 "},
	{"allow a.test udp/1-65535\ndeny a.test tcp/443,udp/443 http=GET\n",
	 NULL, NULL, "udp/1-442=0@53 udp/443-443=0,1@443 udp/444-65535=0@444 "},
	{"allow a.test udp/1-500\ndeny 203.0.113.0/24 tcp/443 http=GET\n",
	 NULL, NULL, "udp/1-442=0,1@53 udp/443-443=0,1@443 udp/444-500=0,1@444 "},
	{"allow a.test tcp/1-500\ndeny 203.0.113.0/24 tcp/443 http=GET\n",
	 NULL, NULL, "tcp/1-442=0@80 tcp/443-443=0,1@443 tcp/444-500=0@444 "},
	{"allow a.test udp/1-500\ndeny 203.0.113.0/24 tcp/443\n", NULL, NULL,
	 "udp/1-500=0@53 "},
	{"allow a.test:443\n", NULL, NULL, "tcp/443-443=0@443 "},
	{"allow a.test\n", NULL, NULL, "tcp/1-65535=0@443 "},
	{"allow a.test udp/1-65535\n", NULL, NULL, "udp/1-65535=0@53 "},
	{"deny a.test\n", NULL, NULL, ""},
	{"allow a.test:443\nallow a.test tcp/400-500\n", NULL, NULL,
	 "tcp/400-442=0@400 tcp/443-443=0,1@443 tcp/444-500=0@444 "},
	{"allow a.test tcp/1-99\nallow a.test tcp/100-200\n", NULL, NULL,
	 "tcp/1-99=0@80 tcp/100-200=1@100 "},
	{"allow a.test tcp/1-99\nallow a.test tcp/101-200\n", NULL, NULL,
	 "tcp/1-99=0@80 tcp/101-200=1@101 "},
	{"allow a.test tcp/53,udp/53\n", NULL, NULL,
	 "tcp/53-53=0@53 udp/53-53=0@53 "},
	{"allow a.test udp/123\nallow b.test udp/124-65535\n", NULL, NULL,
	 "udp/123-123=0@123 udp/124-65535=1@443 "},
	{"allow a.test tcp/65535,udp/65535\n", NULL, NULL,
	 "tcp/65535-65535=0@65535 udp/65535-65535=0@65535 "},
	{"allow a.test\ndeny a.test tcp/22\n", NULL, NULL,
	 "tcp/1-21=0@1 tcp/22-22=0,1@22 tcp/23-65535=0@443 "},
	{"allow a.test udp/1-65535\ndeny a.test tcp/22\n", NULL, NULL,
	 "udp/1-21=0@1 udp/22-22=0,1@22 udp/23-65535=0@53 "},
	{"allow a.test udp/1-65535\ndeny a.test tcp/1-65535 http=GET\n", NULL, NULL,
	 "udp/1-65535=0,1@53 "},
	{"allow a.test udp/1-65535\ndeny http://a.test/\n", NULL, NULL,
	 "udp/1-65535=0@53 "},
	{"allow a.test udp/1-500\ndeny 203.0.113.0/24 tcp/1-65535 http=GET\n", NULL, NULL,
	 "udp/1-500=0,1@53 "},
	{"allow a.test tcp/1-500\ndeny 203.0.113.0/24 tcp/1-65535 http=GET\n", NULL, NULL,
	 "tcp/1-500=0,1@443 "},
	{"allow a.test\n", "allow a.test:443\n", NULL,
	 "tcp/1-442=0@80 tcp/443-443=0,1@443 tcp/444-65535=0@8080 "},
	{"allow a.test\n", NULL, "tcp/80", "tcp/80-80=0@80 "},
	{"allow a.test\n", NULL, "tcp/80-90,tcp/443,udp/53",
	 "tcp/80-90=0@80 tcp/443-443=0@443 "},
	{"allow a.test tcp/80-85\n", NULL, "tcp/70-82", "tcp/80-82=0@80 "},
	{"allow a.test tcp/81\n", NULL, "tcp/80", ""},
	{"allow a.test tcp/1-21\n", NULL, NULL, "tcp/1-21=0@1 "},
	{"allow a.test tcp/1-22\n", NULL, NULL, "tcp/1-22=0@22 "},
	{"allow a.test tcp/23-79\n", NULL, NULL, "tcp/23-79=0@53 "},
	{"allow a.test tcp/81-442\n", NULL, NULL, "tcp/81-442=0@81 "},
	{"allow a.test tcp/444-65535\n", NULL, NULL, "tcp/444-65535=0@8080 "},
	{"allow a.test tcp/8081-65535\n", NULL, NULL, "tcp/8081-65535=0@8081 "},
	{"allow a.test udp/54-442\n", NULL, NULL, "udp/54-442=0@123 "},
	{"allow a.test udp/54-65535\n", NULL, NULL, "udp/54-65535=0@443 "},
	{"allow a.test udp/444-65535\n", NULL, NULL, "udp/444-65535=0@444 "},
	{"", NULL, NULL, ""},
};

static void check_ports(void)
{
	for (size_t i = 0; i < ARRAY_LEN(ports); i++) {
		struct cells c;
		ir_ports only = {0};

		begin_cells(&c, ports[i].was, ports[i].now, "a.test", NULL);
		if (ports[i].only)
			CHECK(test_ports(c.was.a, str_of(ports[i].only),
					 &only));
		cells_ports(&c.s, c.ids, c.n, ports[i].only ? &only : NULL,
			    show_ports, &c);
		CHECK_MSG(str_is(buf_str(&c.shown), ports[i].shown),
			  "%zu %s:\n\t\t\"%.*s\"", i, ports[i].was,
			  STR_ARG(buf_str(&c.shown)));
		end_cells(&c);
	}
}

/* --- requests ------------------------------------------------------------- */

/* What each policy says: the reason, and the rule that is named for it. */
static void show_rulings(struct cells *c, const struct ir_request *r)
{
	for (int side = 0; side < (int)c->s.n; side++) {
		struct ruling x = sides_ask(&c->s, side, r);

		buf_addf(&c->shown, " %s", reason_name(x.d.reason));
		if (x.rule != SIDES_NONE)
			buf_addf(&c->shown, ":%u", place_of(c, x.rule));
		/* as by all rules together */
		CHECK_MSG(decide_asked(c->was.a, c->s.p[side], NULL, r)
					  .verdict == x.d.verdict,
			  "%.*s", STR_ARG(buf_str(&c->shown)));
		CHECK((x.rule == SIDES_NONE) == !x.d.grant);
		CHECK(!x.d.grant ||
		      x.d.grant == c->s.rules.v[x.rule].g[side]);
	}
}

/*
 * "GET http://a.test/x 0,1 granted:0\n": a request, the rules, what each policy
 * says. Behind a method that stands for others '*', behind CONNECT that no rule
 * names '?'.
 */
static void show_request(void *ctx, const struct cells_http *h)
{
	const struct ir_request *r = &h->request;
	struct cells *c = ctx;
	char text[ADDR_TEXT_MAX];

	buf_addf(&c->shown, "%.*s%s%s %s://", STR_ARG(r->method),
		 h->other ? "*" : "", h->unnamed ? "?" : "",
		 r->url.scheme == IR_SCHEME_HTTPS ? "https" : "http");
	CHECK(r->kind == IR_REQ_HTTP && r->url.port == c->port);
	if (r->url.who == IR_DEST_CIDR)
		buf_adds(&c->shown, addr_text(&r->url.net.addr, text));
	else
		buf_add(&c->shown, r->url.name);
	buf_add(&c->shown, r->url.path);
	if (r->has_addr)
		buf_addf(&c->shown, " at %s", addr_text(&r->addr, text));
	buf_addc(&c->shown, ' ');
	show_rules(c, h->ids, h->n);
	show_rulings(c, r);
	buf_addc(&c->shown, '\n');
}

static const struct {
	const char *was, *now, *name, *addr;
	uint16_t port;
	const char *only; /* as of http= */
	const char *shown;
} requests[] = {
	{"allow a.test:443\n", NULL, "a.test", NULL, 443, NULL,
	 "GET* https://a.test/ 0 granted:0\n"
	 "GET* http://a.test/ 0 granted:0\n"
	 "CONNECT? https://a.test/ 0 granted:0\n"
	 "CONNECT? http://a.test/ 0 method\n"},
	{"allow a.test:80\n", NULL, "a.test", NULL, 80, NULL,
	 "GET* http://a.test/ 0 granted:0\n"
	 "GET* https://a.test/ 0 granted:0\n"
	 "CONNECT? http://a.test/ 0 method\n"
	 "CONNECT? https://a.test/ 0 granted:0\n"},
	{"allow a.test tcp/443 http=GET+/x\n", NULL, "a.test", NULL, 443, NULL,
	 "GET* https://a.test/  no-grant\n"
	 "GET* http://a.test/  no-grant\n"
	 "POST* https://a.test/x 0 method:0\n"
	 "POST* http://a.test/x 0 method:0\n"
	 "GET https://a.test/x 0 granted:0\n"
	 "GET http://a.test/x 0 granted:0\n"
	 "CONNECT? https://a.test/ 0 method\n"
	 "CONNECT? http://a.test/ 0 method\n"},
	{"allow a.test tcp/443 http=GET+/x http=POST+/x+/y\n", NULL, "a.test", NULL, 443, NULL,
	 "GET* https://a.test/  no-grant\n"
	 "GET* http://a.test/  no-grant\n"
	 "PUT* https://a.test/x 0 method:0\n"
	 "PUT* http://a.test/x 0 method:0\n"
	 "GET https://a.test/x 0 granted:0\n"
	 "GET http://a.test/x 0 granted:0\n"
	 "POST https://a.test/x 0 granted:0\n"
	 "POST http://a.test/x 0 granted:0\n"
	 "GET* https://a.test/y 0 method:0\n"
	 "GET* http://a.test/y 0 method:0\n"
	 "POST https://a.test/y 0 granted:0\n"
	 "POST http://a.test/y 0 granted:0\n"
	 "CONNECT? https://a.test/ 0 method\n"
	 "CONNECT? http://a.test/ 0 method\n"},
	{"allow a.test tcp/443 http=GET+POST+GET\n", NULL, "a.test", NULL, 443, NULL,
	 "PUT* https://a.test/ 0 method:0\n"
	 "PUT* http://a.test/ 0 method:0\n"
	 "GET https://a.test/ 0 granted:0\n"
	 "GET http://a.test/ 0 granted:0\n"
	 "POST https://a.test/ 0 granted:0\n"
	 "POST http://a.test/ 0 granted:0\n"
	 "CONNECT? https://a.test/ 0 method\n"
	 "CONNECT? http://a.test/ 0 method\n"},
	{"allow a.test tcp/443 http=GET+CONNECT\n", NULL, "a.test", NULL, 443, NULL,
	 "POST* https://a.test/ 0 method:0\n"
	 "POST* http://a.test/ 0 method:0\n"
	 "GET https://a.test/ 0 granted:0\n"
	 "GET http://a.test/ 0 granted:0\n"
	 "CONNECT https://a.test/ 0 method\n"
	 "CONNECT http://a.test/ 0 method\n"},
	{"allow a.test tcp/443 http=GET\n", "allow a.test tcp/443 http=POST\n", "a.test", NULL, 443, NULL,
	 "PUT* https://a.test/ 0,1 method:0 method:1\n"
	 "PUT* http://a.test/ 0,1 method:0 method:1\n"
	 "GET https://a.test/ 0,1 granted:0 method:1\n"
	 "GET http://a.test/ 0,1 granted:0 method:1\n"
	 "POST https://a.test/ 0,1 method:0 granted:1\n"
	 "POST http://a.test/ 0,1 method:0 granted:1\n"
	 "CONNECT? https://a.test/ 0,1 method method\n"
	 "CONNECT? http://a.test/ 0,1 method method\n"},
	{"allow a.test:443\ndeny a.test tcp/1-65535 http=GET+/x\n", NULL, "a.test", NULL, 443, NULL,
	 "GET* https://a.test/ 0 granted:0\n"
	 "GET* http://a.test/ 0 granted:0\n"
	 "POST* https://a.test/x 0,1 granted:0\n"
	 "POST* http://a.test/x 0,1 granted:0\n"
	 "GET https://a.test/x 0,1 denied:1\n"
	 "GET http://a.test/x 0,1 denied:1\n"
	 "CONNECT? https://a.test/ 0,1 method\n"
	 "CONNECT? http://a.test/ 0,1 method\n"},
	{"allow a.test tcp/443 http=*+/%28\ndeny a.test tcp/1-65535 http=GET+/(\n", NULL, "a.test", NULL, 443, NULL,
	 "GET* https://a.test/  no-grant\n"
	 "GET* http://a.test/  no-grant\n"
	 "POST* https://a.test/%28 0,1 granted:0\n"
	 "POST* http://a.test/%28 0,1 granted:0\n"
	 "GET https://a.test/%28 0,1 denied:1\n"
	 "GET http://a.test/%28 0,1 denied:1\n"
	 "POST* https://a.test/( 1 no-grant\n"
	 "POST* http://a.test/( 1 no-grant\n"
	 "GET https://a.test/( 1 no-grant\n"
	 "GET http://a.test/( 1 denied:1\n"
	 "CONNECT? https://a.test/ 0,1 method\n"
	 "CONNECT? http://a.test/ 0,1 method\n"},
	{"allow https://a.test/x/\n", NULL, "a.test", NULL, 443, NULL,
	 "GET* https://a.test/  no-grant\n"
	 "GET* http://a.test/  no-grant\n"
	 "GET* https://a.test/x 0 granted:0\n"
	 "GET* http://a.test/x 0 scheme:0\n"
	 "CONNECT? https://a.test/ 0 method\n"
	 "CONNECT? http://a.test/ 0 method\n"},
	{"allow a.test:443\n", NULL, "a.test", NULL, 443, "GET+POST",
	 "GET https://a.test/ 0 granted:0\n"
	 "GET http://a.test/ 0 granted:0\n"
	 "POST https://a.test/ 0 granted:0\n"
	 "POST http://a.test/ 0 granted:0\n"},
	{"allow a.test tcp/443 http=GET+/x\n", NULL, "a.test", NULL, 443, "GET+/x/y+/z",
	 "GET https://a.test/x/y 0 granted:0\n"
	 "GET http://a.test/x/y 0 granted:0\n"
	 "GET https://a.test/z  no-grant\n"
	 "GET http://a.test/z  no-grant\n"},
	{"allow a.test tcp/443 http=GET+/x\n", NULL, "a.test", NULL, 443, "*+/x",
	 "POST* https://a.test/x 0 method:0\n"
	 "POST* http://a.test/x 0 method:0\n"
	 "GET https://a.test/x 0 granted:0\n"
	 "GET http://a.test/x 0 granted:0\n"},
	{"allow a.test tcp/443 http=GET+/x\n", NULL, "a.test", NULL, 443, "CONNECT",
	 "CONNECT https://a.test/ 0 method\n"
	 "CONNECT http://a.test/ 0 method\n"},
	{"allow a.test tcp/443 http=GET+CONNECT\n", NULL, "a.test", NULL, 443, "*",
	 "POST* https://a.test/ 0 method:0\n"
	 "POST* http://a.test/ 0 method:0\n"
	 "GET https://a.test/ 0 granted:0\n"
	 "GET http://a.test/ 0 granted:0\n"
	 "CONNECT https://a.test/ 0 method\n"
	 "CONNECT http://a.test/ 0 method\n"},
	{"allow a.test tcp/443 http=GET\n", NULL, "a.test", NULL, 443, "*",
	 "POST* https://a.test/ 0 method:0\n"
	 "POST* http://a.test/ 0 method:0\n"
	 "GET https://a.test/ 0 granted:0\n"
	 "GET http://a.test/ 0 granted:0\n"},
	{"allow a.test tcp/443 http=GET+CONNECT\n", NULL, "a.test", NULL, 443, "*+/x",
	 "POST* https://a.test/x 0 method:0\n"
	 "POST* http://a.test/x 0 method:0\n"
	 "GET https://a.test/x 0 granted:0\n"
	 "GET http://a.test/x 0 granted:0\n"},
	{"allow a.test tcp/443 http=GET+CONNECT\n", NULL, "a.test", NULL, 443, "CONNECT+/x", ""},
	{"allow 203.0.113.0/24\n", NULL, "", "203.0.113.1", 80, NULL,
	 "GET* http://203.0.113.1/ 0 granted:0\n"
	 "GET* https://203.0.113.1/ 0 granted:0\n"
	 "CONNECT? http://203.0.113.1/ 0 granted:0\n"
	 "CONNECT? https://203.0.113.1/ 0 granted:0\n"},
	{"allow 203.0.113.0/24\ndeny a.test\n", NULL, "", "203.0.113.1", 80, NULL,
	 "GET* http://203.0.113.1/ 0,1 granted:0\n"
	 "GET* https://203.0.113.1/ 0,1 granted:0\n"
	 "CONNECT? http://203.0.113.1/ 0,1 method\n"
	 "CONNECT? https://203.0.113.1/ 0,1 granted:0\n"},
	{"allow 203.0.113.0/24\ndeny 203.0.113.0/24 tcp/1-65535 http=GET+/x\n", NULL, "", "203.0.113.1", 443, NULL,
	 "GET* https://203.0.113.1/ 0,1 no-sni:1\n"
	 "GET* http://203.0.113.1/ 0,1 granted:0\n"
	 "POST* https://203.0.113.1/x 0,1 no-sni:1\n"
	 "POST* http://203.0.113.1/x 0,1 granted:0\n"
	 "GET https://203.0.113.1/x 0,1 no-sni:1\n"
	 "GET http://203.0.113.1/x 0,1 denied:1\n"
	 "CONNECT? https://203.0.113.1/ 0,1 no-sni:1\n"
	 "CONNECT? http://203.0.113.1/ 0,1 method\n"},
	{"allow 203.0.113.0/24 http=GET\nallow a.test http=POST\n", NULL, "a.test", "203.0.113.1", 80, NULL,
	 "PUT* http://a.test/ at 203.0.113.1 0,1 method:0\n"
	 "PUT* https://a.test/ at 203.0.113.1 0,1 method:0\n"
	 "GET http://a.test/ at 203.0.113.1 0,1 granted:0\n"
	 "GET https://a.test/ at 203.0.113.1 0,1 granted:0\n"
	 "POST http://a.test/ at 203.0.113.1 0,1 granted:1\n"
	 "POST https://a.test/ at 203.0.113.1 0,1 granted:1\n"
	 "CONNECT? http://a.test/ at 203.0.113.1 0,1 method\n"
	 "CONNECT? https://a.test/ at 203.0.113.1 0,1 method\n"},
	{"allow a.test\nask a.test http=GET\n", NULL, "a.test", NULL, 80, NULL,
	 "POST* http://a.test/ 0,1 granted:0\n"
	 "POST* https://a.test/ 0,1 granted:0\n"
	 "GET http://a.test/ 0,1 granted:0\n"
	 "GET https://a.test/ 0,1 granted:0\n"
	 "CONNECT? http://a.test/ 0,1 method\n"
	 "CONNECT? https://a.test/ 0,1 granted:0\n"},
	{"ask a.test http=GET\n", NULL, "a.test", NULL, 80, NULL,
	 "POST* http://a.test/ 0 no-grant\n"
	 "POST* https://a.test/ 0 no-grant\n"
	 "GET http://a.test/ 0 ask:0\n"
	 "GET https://a.test/ 0 ask:0\n"
	 "CONNECT? http://a.test/ 0 method\n"
	 "CONNECT? https://a.test/ 0 no-grant\n"},
	{"allow a.test tcp/443 http=GET+POST+PUT+DELETE+PATCH+HEAD+OPTIONS+REPORT+SEARCH\n", NULL, "a.test", NULL, 443, "*+/x",
	 "X-A* https://a.test/x 0 method:0\n"
	 "X-A* http://a.test/x 0 method:0\n"
	 "DELETE https://a.test/x 0 granted:0\n"
	 "DELETE http://a.test/x 0 granted:0\n"
	 "GET https://a.test/x 0 granted:0\n"
	 "GET http://a.test/x 0 granted:0\n"
	 "HEAD https://a.test/x 0 granted:0\n"
	 "HEAD http://a.test/x 0 granted:0\n"
	 "OPTIONS https://a.test/x 0 granted:0\n"
	 "OPTIONS http://a.test/x 0 granted:0\n"
	 "PATCH https://a.test/x 0 granted:0\n"
	 "PATCH http://a.test/x 0 granted:0\n"
	 "POST https://a.test/x 0 granted:0\n"
	 "POST http://a.test/x 0 granted:0\n"
	 "PUT https://a.test/x 0 granted:0\n"
	 "PUT http://a.test/x 0 granted:0\n"
	 "REPORT https://a.test/x 0 granted:0\n"
	 "REPORT http://a.test/x 0 granted:0\n"
	 "SEARCH https://a.test/x 0 granted:0\n"
	 "SEARCH http://a.test/x 0 granted:0\n"},
	{"allow a.test tcp/443 http=GET+POST+PUT+DELETE+PATCH+HEAD+OPTIONS+REPORT+SEARCH+X-A+X-AA\n", NULL, "a.test", NULL, 443, "*+/x",
	 "X-AAA* https://a.test/x 0 method:0\n"
	 "X-AAA* http://a.test/x 0 method:0\n"
	 "DELETE https://a.test/x 0 granted:0\n"
	 "DELETE http://a.test/x 0 granted:0\n"
	 "GET https://a.test/x 0 granted:0\n"
	 "GET http://a.test/x 0 granted:0\n"
	 "HEAD https://a.test/x 0 granted:0\n"
	 "HEAD http://a.test/x 0 granted:0\n"
	 "OPTIONS https://a.test/x 0 granted:0\n"
	 "OPTIONS http://a.test/x 0 granted:0\n"
	 "PATCH https://a.test/x 0 granted:0\n"
	 "PATCH http://a.test/x 0 granted:0\n"
	 "POST https://a.test/x 0 granted:0\n"
	 "POST http://a.test/x 0 granted:0\n"
	 "PUT https://a.test/x 0 granted:0\n"
	 "PUT http://a.test/x 0 granted:0\n"
	 "REPORT https://a.test/x 0 granted:0\n"
	 "REPORT http://a.test/x 0 granted:0\n"
	 "SEARCH https://a.test/x 0 granted:0\n"
	 "SEARCH http://a.test/x 0 granted:0\n"
	 "X-A https://a.test/x 0 granted:0\n"
	 "X-A http://a.test/x 0 granted:0\n"
	 "X-AA https://a.test/x 0 granted:0\n"
	 "X-AA http://a.test/x 0 granted:0\n"},
	{"allow 203.0.113.0/24 http=GET+/x\n", NULL, "", "203.0.113.1", 80,
	 NULL,
	 "GET* http://203.0.113.1/  no-grant\n"
	 "GET* https://203.0.113.1/  no-sni\n"
	 "POST* http://203.0.113.1/x 0 method:0\n"
	 "POST* https://203.0.113.1/x 0 no-sni\n"
	 "GET http://203.0.113.1/x 0 granted:0\n"
	 "GET https://203.0.113.1/x 0 no-sni\n"
	 "CONNECT? http://203.0.113.1/ 0 method\n"
	 "CONNECT? https://203.0.113.1/ 0 no-sni\n"},
	{"allow a.test http=GET+/x http=GET+PUT+/x/y\n", NULL, "a.test", NULL, 80,
	 NULL,
	 "GET* http://a.test/  no-grant\n"
	 "GET* https://a.test/  no-grant\n"
	 "POST* http://a.test/x 0 method:0\n"
	 "POST* https://a.test/x 0 method:0\n"
	 "GET http://a.test/x 0 granted:0\n"
	 "GET https://a.test/x 0 granted:0\n"
	 "POST* http://a.test/x/y 0 method:0\n"
	 "POST* https://a.test/x/y 0 method:0\n"
	 "GET http://a.test/x/y 0 granted:0\n"
	 "GET https://a.test/x/y 0 granted:0\n"
	 "PUT http://a.test/x/y 0 granted:0\n"
	 "PUT https://a.test/x/y 0 granted:0\n"
	 "CONNECT? http://a.test/ 0 method\n"
	 "CONNECT? https://a.test/ 0 method\n"},
	{"allow a.test http=GET+/x+/x/y\n", NULL, "a.test", NULL, 80, NULL,
	 "GET* http://a.test/  no-grant\n"
	 "GET* https://a.test/  no-grant\n"
	 "POST* http://a.test/x 0 method:0\n"
	 "POST* https://a.test/x 0 method:0\n"
	 "GET http://a.test/x 0 granted:0\n"
	 "GET https://a.test/x 0 granted:0\n"
	 "POST* http://a.test/x/y 0 method:0\n"
	 "POST* https://a.test/x/y 0 method:0\n"
	 "GET http://a.test/x/y 0 granted:0\n"
	 "GET https://a.test/x/y 0 granted:0\n"
	 "CONNECT? http://a.test/ 0 method\n"
	 "CONNECT? https://a.test/ 0 method\n"},
	{"allow a.test http=GET+/x/y http=PUT\nallow b.test http=POST\n", NULL,
	 "a.test", NULL, 80, NULL,
	 "GET* http://a.test/ 0,1 method:0\n"
	 "GET* https://a.test/ 0,1 method:0\n"
	 "PUT http://a.test/ 0,1 granted:0\n"
	 "PUT https://a.test/ 0,1 granted:0\n"
	 "POST http://a.test/ 0,1 method:0\n"
	 "POST https://a.test/ 0,1 method:0\n"
	 "GET* http://a.test/x 0,1 method:0\n"
	 "GET* https://a.test/x 0,1 method:0\n"
	 "PUT http://a.test/x 0,1 granted:0\n"
	 "PUT https://a.test/x 0,1 granted:0\n"
	 "POST http://a.test/x 0,1 method:0\n"
	 "POST https://a.test/x 0,1 method:0\n"
	 "DELETE* http://a.test/x/y 0,1 method:0\n"
	 "DELETE* https://a.test/x/y 0,1 method:0\n"
	 "GET http://a.test/x/y 0,1 granted:0\n"
	 "GET https://a.test/x/y 0,1 granted:0\n"
	 "PUT http://a.test/x/y 0,1 granted:0\n"
	 "PUT https://a.test/x/y 0,1 granted:0\n"
	 "POST http://a.test/x/y 0,1 method:0\n"
	 "POST https://a.test/x/y 0,1 method:0\n"
	 "CONNECT? http://a.test/ 0,1 method\n"
	 "CONNECT? https://a.test/ 0,1 method\n"},
	{"", NULL, "a.test", NULL, 443, NULL,
	 "GET* https://a.test/  no-grant\n"
	 "GET* http://a.test/  no-grant\n"
	 "CONNECT? https://a.test/  no-grant\n"
	 "CONNECT? http://a.test/  method\n"},
};

static void check_requests(void)
{
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		struct ir_grant set = {0};
		struct cells c;

		begin_cells(&c, requests[i].was, requests[i].now,
			    requests[i].name, requests[i].addr);
		c.port = requests[i].port;
		if (requests[i].only)
			test_http(c.was.a, &set, (struct ir_origin){0},
				  str_of(requests[i].only));
		cells_http(&c.s, &c.to, c.port, c.ids, c.n, set.http.v,
			   show_request, &c);
		CHECK_MSG(str_is(buf_str(&c.shown), requests[i].shown),
			  "%zu %s:\n%.*s", i, requests[i].was,
			  STR_ARG(buf_str(&c.shown)));
		end_cells(&c);
	}
}

/* --- where the floor denies ----------------------------------------------- */

/* Of 127.0.0.1, with the floor's own rule: a network that may open it is there
 * on all ports that another has. */
static const struct {
	const char *was, *shown;
} opened[] = {
	{"allow 127.0.0.1 tcp/80\n", "tcp/80-80=0@80 "},
	{"allow 127.0.0.1 tcp/80\nallow 127.0.0.0/9 tcp/22\n",
	 "tcp/22-22=0,1@22 tcp/80-80=0,1@80 "},
	{"allow 127.0.0.1 tcp/80-90\nallow 127.0.0.0/9 tcp/85-99\n",
	 "tcp/80-84=0,1@80 tcp/85-90=0,1@85 tcp/91-99=0,1@91 "},
	{"allow 127.0.0.1 tcp/80 http\nallow 127.0.0.0/9 tcp/22\n",
	 "tcp/22-22=0@22 tcp/80-80=0,1@80 "},
	{"allow 127.0.0.1 tcp/80\ndeny 127.0.0.0/9 tcp/22\n",
	 "tcp/80-80=0@80 "},
	{"allow * tcp/80\nallow 127.0.0.0/9 tcp/22\n",
	 "tcp/22-22=1@22 tcp/80-80=0,1@80 "},
	{"ask 127.0.0.1 tcp/80\nallow 127.0.0.0/9 tcp/22\n",
	 "tcp/22-22=0,1@22 tcp/80-80=0,1@80 "},
};

static void show_opened(void *ctx, const struct cells_ports *p)
{
	struct cells *c = ctx;
	struct cells_ports users = *p;
	uint32_t ids[64];

	users.ids = ids;
	users.n = 0;
	for (uint32_t i = 0; i < p->n; i++)
		if (place_of(c, p->ids[i]) != UINT32_MAX)
			ids[users.n++] = p->ids[i];
	CHECK(users.n + 1 == p->n);
	show_ports(ctx, &users);
}

static void check_opened(void)
{
	for (size_t i = 0; i < ARRAY_LEN(opened); i++) {
		struct cells c;
		uint32_t ids[64], n = 0;

		begin_cells(&c, opened[i].was, NULL, "", "127.0.0.1");
		for (uint32_t k = 0; k < c.s.rules.n; k++) {
			const struct ir_grant *g =
				rule_grant(&c.s.rules.v[k]);
			const struct cidr *net = ir_dest_net(&g->dest);

			if (!net || cidr_has(net, &c.to.addr))
				ids[n++] = k;
		}
		ids[n] = UINT32_MAX / 2;
		cells_ports(&c.s, ids, n, NULL, show_opened, &c);
		CHECK_MSG(str_is(buf_str(&c.shown), opened[i].shown),
			  "%zu %s:\n\t\t\"%.*s\"", i, opened[i].was,
			  STR_ARG(buf_str(&c.shown)));
		end_cells(&c);
	}
}

/* --- the others ----------------------------------------------------------- */

/* CONNECT alone, as of all requests it would be. */
static void check_tunnel(void)
{
	static const struct {
		const char *policy, *shown;
	} rows[] = {
		{"allow a.test\n",
		 "CONNECT? http://a.test/ 0 method\n"
		 "CONNECT? https://a.test/ 0 granted:0\n"},
		{"allow a.test http=CONNECT\n",
		 "CONNECT http://a.test/ 0 method\n"
		 "CONNECT https://a.test/ 0 method\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cells c;

		begin_cells(&c, rows[i].policy, NULL, "a.test", NULL);
		c.port = 80;
		cells_tunnel(&c.s, &c.to, 80, c.ids, c.n, show_request, &c);
		CHECK_MSG(str_is(buf_str(&c.shown), rows[i].shown), "%zu:\n%.*s",
			  i, STR_ARG(buf_str(&c.shown)));
		end_cells(&c);
	}
}

static const struct {
	const char *was, *now;
	const char *shown; /* empty: no rule is about paths */
} crooked[] = {
	{"allow a.test\n", NULL, ""},
	{"allow a.test http=GET\n", NULL, ""},
	{"allow a.test http=GET+/x\n", NULL,
	 "POST* http://a.test/a/../b 0 path-not-canonical\n"
	 "POST* https://a.test/a/../b 0 path-not-canonical\n"
	 "GET http://a.test/a/../b 0 path-not-canonical\n"
	 "GET https://a.test/a/../b 0 path-not-canonical\n"},
	{"allow a.test http=GET+/x\nallow *.test\n", NULL,
	 "POST* http://a.test/a/../b 0,1 path-not-canonical\n"
	 "POST* https://a.test/a/../b 0,1 path-not-canonical\n"
	 "GET http://a.test/a/../b 0,1 path-not-canonical\n"
	 "GET https://a.test/a/../b 0,1 path-not-canonical\n"},
	{"allow https://a.test/x\n", NULL,
	 "GET* http://a.test/a/../b 0 port:0\n"
	 "GET* https://a.test/a/../b 0 port:0\n"},
	{"allow a.test\ndeny a.test tcp/80 http=GET+PUT+CONNECT+/x\n", NULL,
	 "POST* http://a.test/a/../b 0,1 path-not-canonical\n"
	 "POST* https://a.test/a/../b 0,1 path-not-canonical\n"
	 "GET http://a.test/a/../b 0,1 path-not-canonical\n"
	 "GET https://a.test/a/../b 0,1 path-not-canonical\n"
	 "PUT http://a.test/a/../b 0,1 path-not-canonical\n"
	 "PUT https://a.test/a/../b 0,1 path-not-canonical\n"},
	{"allow a.test http=GET\nallow *.test http=GET+/x\n",
	 "allow a.test http=GET\n",
	 "POST* http://a.test/a/../b 0,1 path-not-canonical method:1\n"
	 "POST* https://a.test/a/../b 0,1 path-not-canonical method:1\n"
	 "GET http://a.test/a/../b 0,1 path-not-canonical granted:1\n"
	 "GET https://a.test/a/../b 0,1 path-not-canonical granted:1\n"},
};

static void check_crooked(void)
{
	for (size_t i = 0; i < ARRAY_LEN(crooked); i++) {
		struct cells c;

		begin_cells(&c, crooked[i].was, crooked[i].now, "a.test", NULL);
		c.port = 80;
		cells_crooked(&c.s, &c.to, 80, c.ids, c.n, show_request, &c);
		CHECK_MSG(str_is(buf_str(&c.shown), crooked[i].shown),
			  "%zu %s:\n%.*s", i, crooked[i].was,
			  STR_ARG(buf_str(&c.shown)));
		end_cells(&c);
	}
}

static void check_no_requests(void)
{
	static const struct {
		const char *policy, *addr;
		bool none;
	} rows[] = {
		{"allow a.test\n", NULL, true},
		{"allow a.test\n", "203.0.113.1", false},
		{"allow a.test http=GET\n", NULL, false},
		{"allow http://a.test/\n", NULL, false},
		{"allow a.test\ndeny a.test tcp/80 http=GET\n", NULL, false},
		{"", NULL, true},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cells c;

		begin_cells(&c, rows[i].policy, NULL, "a.test", rows[i].addr);
		CHECK_MSG(cells_no_requests(&c.s, &c.to, c.ids, c.n) ==
				  rows[i].none,
			  "%zu", i);
		end_cells(&c);
	}
}

/* What is kept is a copy, of each text. */
static void check_copy(void)
{
	struct arena *a = arena_new();
	char text[] = "abcde";
	struct ir_request r = {.name = {text, 1},
			       .method = {text + 1, 1},
			       .type = {text + 2, 1},
			       .url = {.name = {text + 3, 1},
				       .path = {text + 4, 1}}};
	struct ir_request kept = cells_kept(a, &r);

	memset(text, 'x', 5);
	CHECK(str_is(kept.name, "a") && str_is(kept.method, "b") &&
	      str_is(kept.type, "c") && str_is(kept.url.name, "d") &&
	      str_is(kept.url.path, "e"));
	arena_free(a);
}

int main(void)
{
	check_opened();
	check_tunnel();
	check_crooked();
	check_no_requests();
	check_copy();
	check_ports();
	check_requests();
	return check_status();
}
