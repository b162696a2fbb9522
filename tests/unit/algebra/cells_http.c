/*
 * cells.h: which requests stand for all, and what two policies say of them, in
 * a view of a few rules.
 */
#include "tests/unit/algebra/cells.h"

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
		CHECK_MSG(
			decide_asked(c->was.a, c->s.p[side], NULL, r).verdict ==
				x.d.verdict,
			"%.*s", STR_ARG(buf_str(&c->shown)));
		CHECK((x.rule == SIDES_NONE) == !x.d.grant);
		CHECK(!x.d.grant || x.d.grant == c->s.rules.v[x.rule].g[side]);
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
	{"allow a.test tcp/443 http=GET+/x http=POST+/x+/y\n", NULL, "a.test",
	 NULL, 443, NULL,
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
	{"allow a.test tcp/443 http=GET+POST+GET\n", NULL, "a.test", NULL, 443,
	 NULL,
	 "PUT* https://a.test/ 0 method:0\n"
	 "PUT* http://a.test/ 0 method:0\n"
	 "GET https://a.test/ 0 granted:0\n"
	 "GET http://a.test/ 0 granted:0\n"
	 "POST https://a.test/ 0 granted:0\n"
	 "POST http://a.test/ 0 granted:0\n"
	 "CONNECT? https://a.test/ 0 method\n"
	 "CONNECT? http://a.test/ 0 method\n"},
	{"allow a.test tcp/443 http=GET+CONNECT\n", NULL, "a.test", NULL, 443,
	 NULL,
	 "POST* https://a.test/ 0 method:0\n"
	 "POST* http://a.test/ 0 method:0\n"
	 "GET https://a.test/ 0 granted:0\n"
	 "GET http://a.test/ 0 granted:0\n"
	 "CONNECT https://a.test/ 0 method\n"
	 "CONNECT http://a.test/ 0 method\n"},
	{"allow a.test tcp/443 http=GET\n", "allow a.test tcp/443 http=POST\n",
	 "a.test", NULL, 443, NULL,
	 "PUT* https://a.test/ 0,1 method:0 method:1\n"
	 "PUT* http://a.test/ 0,1 method:0 method:1\n"
	 "GET https://a.test/ 0,1 granted:0 method:1\n"
	 "GET http://a.test/ 0,1 granted:0 method:1\n"
	 "POST https://a.test/ 0,1 method:0 granted:1\n"
	 "POST http://a.test/ 0,1 method:0 granted:1\n"
	 "CONNECT? https://a.test/ 0,1 method method\n"
	 "CONNECT? http://a.test/ 0,1 method method\n"},
	{"allow a.test:443\ndeny a.test tcp/1-65535 http=GET+/x\n", NULL,
	 "a.test", NULL, 443, NULL,
	 "GET* https://a.test/ 0 granted:0\n"
	 "GET* http://a.test/ 0 granted:0\n"
	 "POST* https://a.test/x 0,1 granted:0\n"
	 "POST* http://a.test/x 0,1 granted:0\n"
	 "GET https://a.test/x 0,1 denied:1\n"
	 "GET http://a.test/x 0,1 denied:1\n"
	 "CONNECT? https://a.test/ 0,1 method\n"
	 "CONNECT? http://a.test/ 0,1 method\n"},
	{"allow a.test tcp/443 http=*+/%28\ndeny a.test tcp/1-65535 http=GET+/(\n",
	 NULL, "a.test", NULL, 443, NULL,
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
	{"allow a.test tcp/443 http=GET+/x\n", NULL, "a.test", NULL, 443,
	 "GET+/x/y+/z",
	 "GET https://a.test/x/y 0 granted:0\n"
	 "GET http://a.test/x/y 0 granted:0\n"
	 "GET https://a.test/z  no-grant\n"
	 "GET http://a.test/z  no-grant\n"},
	{"allow a.test tcp/443 http=GET+/x\n", NULL, "a.test", NULL, 443,
	 "*+/x",
	 "POST* https://a.test/x 0 method:0\n"
	 "POST* http://a.test/x 0 method:0\n"
	 "GET https://a.test/x 0 granted:0\n"
	 "GET http://a.test/x 0 granted:0\n"},
	{"allow a.test tcp/443 http=GET+/x\n", NULL, "a.test", NULL, 443,
	 "CONNECT",
	 "CONNECT https://a.test/ 0 method\n"
	 "CONNECT http://a.test/ 0 method\n"},
	{"allow a.test tcp/443 http=GET+CONNECT\n", NULL, "a.test", NULL, 443,
	 "*",
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
	{"allow a.test tcp/443 http=GET+CONNECT\n", NULL, "a.test", NULL, 443,
	 "*+/x",
	 "POST* https://a.test/x 0 method:0\n"
	 "POST* http://a.test/x 0 method:0\n"
	 "GET https://a.test/x 0 granted:0\n"
	 "GET http://a.test/x 0 granted:0\n"},
	{"allow a.test tcp/443 http=GET+CONNECT\n", NULL, "a.test", NULL, 443,
	 "CONNECT+/x", ""},
	{"allow 203.0.113.0/24\n", NULL, "", "203.0.113.1", 80, NULL,
	 "GET* http://203.0.113.1/ 0 granted:0\n"
	 "GET* https://203.0.113.1/ 0 granted:0\n"
	 "CONNECT? http://203.0.113.1/ 0 granted:0\n"
	 "CONNECT? https://203.0.113.1/ 0 granted:0\n"},
	{"allow 203.0.113.0/24\ndeny a.test\n", NULL, "", "203.0.113.1", 80,
	 NULL,
	 "GET* http://203.0.113.1/ 0,1 granted:0\n"
	 "GET* https://203.0.113.1/ 0,1 granted:0\n"
	 "CONNECT? http://203.0.113.1/ 0,1 method\n"
	 "CONNECT? https://203.0.113.1/ 0,1 granted:0\n"},
	{"allow 203.0.113.0/24\ndeny 203.0.113.0/24 tcp/1-65535 http=GET+/x\n",
	 NULL, "", "203.0.113.1", 443, NULL,
	 "GET* https://203.0.113.1/ 0,1 no-sni:1\n"
	 "GET* http://203.0.113.1/ 0,1 granted:0\n"
	 "POST* https://203.0.113.1/x 0,1 no-sni:1\n"
	 "POST* http://203.0.113.1/x 0,1 granted:0\n"
	 "GET https://203.0.113.1/x 0,1 no-sni:1\n"
	 "GET http://203.0.113.1/x 0,1 denied:1\n"
	 "CONNECT? https://203.0.113.1/ 0,1 no-sni:1\n"
	 "CONNECT? http://203.0.113.1/ 0,1 method\n"},
	{"allow 203.0.113.0/24 http=GET\nallow a.test http=POST\n", NULL,
	 "a.test", "203.0.113.1", 80, NULL,
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
	{"allow a.test tcp/443 http=GET+POST+PUT+DELETE+PATCH+HEAD+OPTIONS+REPORT+SEARCH\n",
	 NULL, "a.test", NULL, 443, "*+/x",
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
	{"allow a.test tcp/443 http=GET+POST+PUT+DELETE+PATCH+HEAD+OPTIONS+REPORT+SEARCH+X-A+X-AA\n",
	 NULL, "a.test", NULL, 443, "*+/x",
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
	{"allow a.test http=GET+/x http=GET+PUT+/x/y\n", NULL, "a.test", NULL,
	 80, NULL,
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

/* --- the others ----------------------------------------------------------- */

/* CONNECT alone, as of all requests it would be. */
static void check_tunnel(void)
{
	static const struct {
		const char *policy, *shown;
	} rows[] = {
		{"allow a.test\n", "CONNECT? http://a.test/ 0 method\n"
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
		CHECK_MSG(str_is(buf_str(&c.shown), rows[i].shown),
			  "%zu:\n%.*s", i, STR_ARG(buf_str(&c.shown)));
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

int main(void)
{
	check_requests();
	check_tunnel();
	check_crooked();
	check_no_requests();
	return check_status();
}
