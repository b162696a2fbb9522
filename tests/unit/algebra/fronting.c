/*
 * compare.h, of requests to an address under a name: what follows from neither
 * of the two alone, and what goes without saying.
 */
#include "compiler/algebra/compare/parts.h"

#include "tests/unit/algebra/compared.h"

static const struct compared_case cases[] = {
	{"ask 203.0.113.8/32\n", "allow a.test tcp/80 http=GET+/x%40y\n",
	 "+ GET http://a.test/x%40y | GET http://a.test/x%40y\n"
	 "\tnew 'allow a.test tcp/80 http=GET+/x%40y': no-grant -> granted\n"
	 "- tcp/1-65535 203.0.113.8/32 | tcp 203.0.113.8:443\n"
	 "\told 'ask 203.0.113.8/32': ask -> no-grant\n"},
	{"deny **.a.test\n"
	 "ask *\n",
	 "allow 203.0.113.0/24\n"
	 "allow 0.0.0.0/0 tcp/80 http=CONNECT\n",
	 "+ tcp/1-65535 203.0.113.0/24 | tcp 203.0.113.1:22\n"
	 "\tnew 'allow 203.0.113.0/24': ask -> granted\n"
	 "+ tcp/1-65535 203.0.113.0/24 under granted names | tcp 203.0.113.1:22 www.a.test\n"
	 "\tnew 'allow 203.0.113.0/24': denied -> granted\n"
	 "+ * 203.0.113.0/24 tcp/1-65535 / over TLS | GET https://203.0.113.1:22/\n"
	 "\tnew 'allow 203.0.113.0/24': no-sni -> granted\n"
	 "+ CONNECT 203.0.113.0/24 tcp/80 / | CONNECT http://203.0.113.1/\n"
	 "\tnew 'allow 203.0.113.0/24': method -> granted\n"
	 "- tcp/1-65535 * | example.com:443\n"
	 "\told 'ask *': ask -> no-grant\n"},
	{"allow 10.0.0.0/8 http=*+/x/y\n",
	 "allow 10.0.0.0/8 http=*+/x/y\n"
	 "ask fd00::/8 tcp/1-1024 http=GET+POST\n",
	 "+ GET,POST fd00::/8 tcp/1-1024 / in the clear | GET http://[fd00::1]:443/\n"
	 "\tnew 'ask fd00::/8 tcp/1-1024 http=GET+POST': no-grant -> ask\n"
	 "+ GET,POST fd00::/8 tcp/1-1024 / over TLS under granted names | GET https://example.com/ at fd00::1\n"
	 "\tnew 'ask fd00::/8 tcp/1-1024 http=GET+POST': no-grant -> ask\n"},
	{"allow a.test\n"
	 "deny 203.0.113.0/24\n",
	 "ask https://a.test/\n",
	 "+ * https://a.test/ at addresses that other rules are about | GET https://a.test/ at 203.0.113.1\n"
	 "\tnew 'ask https://a.test/': denied -> ask\n"
	 "- tcp/1-65535 a.test | a.test:80\n"
	 "\told 'allow a.test': granted -> no-grant\n"
	 "- * http://a.test:443/ | GET http://a.test:443/\n"
	 "\told 'allow a.test': granted -> no-grant\n"
	 "- * https://a.test/ | GET https://a.test/\n"
	 "\tnew 'ask https://a.test/': granted -> ask\n"},
	{"",
	 "allow http://a.test/\n"
	 "deny 203.0.113.0/24 tcp/80 http=*+/x\n",
	 "+ * http://a.test/ | GET http://a.test/\n"
	 "\tnew 'allow http://a.test/': no-grant -> granted\n"},
	{"deny 2001:db8::/32 http=GET+CONNECT\n"
	 "allow www.a.test\n",
	 "allow www.a.test\n",
	 "+ CONNECT 2001:db8::/32 tcp/1-65535 / over TLS under granted names | CONNECT https://www.a.test/ at 2001:db8::1\n"
	 "\told 'deny 2001:db8::/32 http=GET+CONNECT': method -> granted\n"
	 "+ GET 2001:db8::/32 tcp/1-65535 / under granted names | GET https://www.a.test/ at 2001:db8::1\n"
	 "\told 'deny 2001:db8::/32 http=GET+CONNECT': denied -> granted\n"},
	{"ask *\n"
	 "deny **.test tcp/443-444 http=GET+/x%40y\n",
	 "allow a.test\n",
	 "+ tcp/1-65535 a.test | a.test:80\n"
	 "\tnew 'allow a.test': ask -> granted\n"
	 "+ GET a.test tcp/443-444 /x%40y | GET https://a.test/x%40y\n"
	 "\tnew 'allow a.test': no-grant -> granted\n"
	 "- tcp/1-65535 * | example.com:80\n"
	 "\told 'ask *': ask -> no-grant\n"},
	{"allow 203.0.113.0/24 tcp/80 http=GET+/x\n",
	 "allow 203.0.113.0/28 tcp/443 http=GET\n",
	 "+ GET 203.0.113.0/28 tcp/443 / in the clear | GET http://203.0.113.1:443/\n"
	 "\tnew 'allow 203.0.113.0/28 tcp/443 http=GET': port -> granted\n"
	 "+ GET 203.0.113.0/28 tcp/443 / over TLS under granted names | GET https://example.com/ at 203.0.113.1\n"
	 "\tnew 'allow 203.0.113.0/28 tcp/443 http=GET': port -> granted\n"
	 "- GET 203.0.113.0/24 tcp/80 /x in the clear | GET http://203.0.113.1/x\n"
	 "\told 'allow 203.0.113.0/24 tcp/80 http=GET+/x': granted -> port\n"
	 "- GET 203.0.113.0/24 tcp/80 /x over TLS under granted names | GET https://example.com:80/x at 203.0.113.16\n"
	 "\told 'allow 203.0.113.0/24 tcp/80 http=GET+/x': granted -> no-grant\n"},
	{"",
	 "allow http://a.test/\n"
	 "ask *\n"
	 "deny 8.8.8.8/32 udp/443\n"
	 "allow a.test\n",
	 "+ tcp/1-65535 * | example.com:443\n"
	 "\tnew 'ask *': no-grant -> ask\n"
	 "+ tcp/1-65535 a.test | a.test:22\n"
	 "\tnew 'allow a.test': no-grant -> granted\n"
	 "+ * * tcp/1-65535 / in the clear | GET http://1.1.1.1:443/\n"
	 "\tnew 'ask *': no-grant -> ask\n"
	 "+ * * tcp/1-65535 / over TLS at addresses that other rules are about | GET https://a.test:22/ at 8.8.8.8 unresolved\n"
	 "\tnew 'ask *': no-grant -> ask\n"},
	{"ask a.test\n",
	 "ask a.test\n"
	 "allow 198.51.100.0/24 http=GET+/x+/y\n",
	 "+ GET 198.51.100.0/24 tcp/1-65535 /x /y in the clear | GET http://198.51.100.1:443/x\n"
	 "\tnew 'allow 198.51.100.0/24 http=GET+/x+/y': no-grant -> granted\n"
	 "+ GET 198.51.100.0/24 tcp/1-65535 /x /y over TLS under granted names | GET https://example.com/x at 198.51.100.1\n"
	 "\tnew 'allow 198.51.100.0/24 http=GET+/x+/y': no-grant -> granted\n"
	 "+ GET 198.51.100.0/24 tcp/1-65535 /x /y under granted names | GET https://a.test/x at 198.51.100.1\n"
	 "\tnew 'allow 198.51.100.0/24 http=GET+/x+/y': ask -> granted\n"
	 "- CONNECT 198.51.100.0/24 tcp/1-65535 / over TLS (requests that are read now) under granted names | CONNECT https://a.test/ at 198.51.100.1\n"
	 "\tnew 'allow 198.51.100.0/24 http=GET+/x+/y': ask -> method\n"},
	{"allow * tcp/443-444 http=GET+CONNECT\n",
	 "allow https://*.a.test/ private\n",
	 "+ * https://*.a.test/ | POST https://www.a.test/\n"
	 "\tnew 'allow https://*.a.test/ private': method -> granted\n"
	 "+ GET https://*.a.test/ at private addresses | GET https://www.a.test/ at 10.0.0.1\n"
	 "\tnew 'allow https://*.a.test/ private': private-address -> granted\n"
	 "- GET * tcp/443-444 / | GET https://example.com/\n"
	 "\told 'allow * tcp/443-444 http=GET+CONNECT': granted -> no-grant\n"},
	{"allow 203.0.113.0/24\n", "ask www.a.test http=GET+CONNECT\n",
	 "+ GET www.a.test tcp/1-65535 / | GET https://www.a.test/\n"
	 "\tnew 'ask www.a.test http=GET+CONNECT': no-grant -> ask\n"
	 "- tcp/1-65535 203.0.113.0/24 | tcp 203.0.113.1:443\n"
	 "\told 'allow 203.0.113.0/24': granted -> no-grant\n"
	 "- GET www.a.test tcp/1-65535 / at addresses that other rules are about | GET https://www.a.test/ at 203.0.113.1\n"
	 "\tnew 'ask www.a.test http=GET+CONNECT': granted -> ask\n"},
	{"allow **.test\n",
	 "deny b.test\n"
	 "deny http://[2001:db8::1]/x\n"
	 "ask *\n",
	 "+ tcp/1-65535 * | example.com:443\n"
	 "\tnew 'ask *': no-grant -> ask\n"
	 "+ * * tcp/1-65535 / in the clear | GET http://1.1.1.1:443/\n"
	 "\tnew 'ask *': no-grant -> ask\n"
	 "+ * * tcp/1-65535 / over TLS at addresses that other rules are about | GET https://example.test:22/ at 2001:db8::1 unresolved\n"
	 "\tnew 'ask *': no-grant -> ask\n"
	 "- tcp/1-65535 **.test | example.test:443\n"
	 "\tnew 'ask *': granted -> ask\n"
	 "- tcp/1-65535 b.test | b.test:443\n"
	 "\tnew 'deny b.test': granted -> denied\n"
	 "- * http://**.test/x at addresses that other rules are about | GET http://example.test/x at 2001:db8::1\n"
	 "\told 'allow **.test': granted -> no-grant\n"},
	{"allow a.test tcp/1-1024 http private\n", "ask 10.0.0.1/32\n",
	 "+ tcp/1-65535 10.0.0.1/32 | tcp 10.0.0.1:443\n"
	 "\tnew 'ask 10.0.0.1/32': no-grant -> ask\n"
	 "- * a.test tcp/1-1024 / | GET https://a.test/\n"
	 "\told 'allow a.test tcp/1-1024 http private': granted -> no-grant\n"
	 "- * 10.0.0.1/32 tcp/1-1024 / under granted names | GET https://a.test/ at 10.0.0.1\n"
	 "\tnew 'ask 10.0.0.1/32': granted -> ask\n"},
	{"allow 10.0.0.0/8 tcp/443,udp/443 http=GET\n", "allow 10.0.0.0/8\n",
	 "+ tcp/1-65535 10.0.0.0/8 | tcp 10.0.0.1:80\n"
	 "\tnew 'allow 10.0.0.0/8': port -> granted\n"},
	/* CONNECT where the session did not resolve the name goes without
	   saying. */
	{"ask * tcp/443-444\n"
	 "allow https://a.test/ private\n"
	 "ask * tcp/80 http=GET\n",
	 "deny 203.0.113.8/32 tcp/443 http=CONNECT\n"
	 "allow 203.0.113.8/32 private\n"
	 "allow a.test tcp/80 http=POST+/x+/y\n"
	 "ask www.a.test tcp/80 http=CONNECT\n",
	 "+ tcp/1-442,tcp/445-65535 203.0.113.8/32 | tcp 203.0.113.8:22\n"
	 "\tnew 'allow 203.0.113.8/32 private': no-grant -> granted\n"
	 "+ tcp/443-444 203.0.113.8/32 | tcp 203.0.113.8:443\n"
	 "\tnew 'allow 203.0.113.8/32 private': ask -> granted\n"
	 "+ * 203.0.113.8/32 tcp/80,tcp/443 / in the clear | GET http://203.0.113.8/\n"
	 "\tnew 'allow 203.0.113.8/32 private': ask -> granted\n"
	 "+ * https://203.0.113.8:444/ | GET https://203.0.113.8:444/\n"
	 "\tnew 'allow 203.0.113.8/32 private': no-sni -> granted\n"
	 "+ POST http://a.test/x /y | POST http://a.test/x\n"
	 "\tnew 'allow a.test tcp/80 http=POST+/x+/y': port -> granted\n"
	 "+ GET https://203.0.113.8:80/ under granted names | GET https://example.com:80/ at 203.0.113.8\n"
	 "\tnew 'allow 203.0.113.8/32 private': ask -> granted\n"
	 "- tcp/443-444 * | example.com:443\n"
	 "\told 'ask * tcp/443-444': ask -> no-grant\n"
	 "- * https://a.test/ | GET https://a.test/\n"
	 "\told 'allow https://a.test/ private': granted -> port\n"
	 "- GET http://*/ | GET http://example.com/\n"
	 "\told 'ask * tcp/80 http=GET': ask -> no-grant\n"},
	/* Names that are alike, and addresses. */
	{"allow b.test\n"
	 "allow a.test\n"
	 "deny 203.0.113.0/24 http=GET\n"
	 "deny 198.51.100.0/24 http=GET\n",
	 "allow b.test\n"
	 "allow a.test\n",
	 "+ GET 198.51.100.0/24 tcp/1-65535 / under granted names | GET https://a.test/ at 198.51.100.1\n"
	 "\told 'deny 198.51.100.0/24 http=GET': denied -> granted\n"
	 "+ GET 203.0.113.0/24 tcp/1-65535 / under granted names | GET https://a.test/ at 203.0.113.1\n"
	 "\told 'deny 203.0.113.0/24 http=GET': denied -> granted\n"},
};

/* --- all endpoints -------------------------------------------------------- */

static void turn_around(endpoint_list *l)
{
	for (uint32_t i = 0; i < l->n / 2; i++) {
		struct endpoint e = l->v[i];

		l->v[i] = l->v[l->n - 1 - i];
		l->v[l->n - 1 - i] = e;
	}
}

/* This part alone; backwards: its endpoints come so. */
static bool compare_fronts(struct compared *x, bool backwards)
{
	struct arena *a = x->side[1].a;
	struct access *access;
	struct endpoints all;
	struct sides s;
	bool complete;

	x->c = (struct comparison){.with_kept = false};
	sides_init(&s, a, &x->side[0].policy, &x->side[1].policy);
	access = access_new(a, &s, &x->c);
	endpoints_find(&s, NULL, false, &all);
	endpoints_sort(&all.names);
	endpoints_sort(&all.addrs);
	if (backwards) {
		turn_around(&all.names);
		turn_around(&all.addrs);
	}
	complete = fronting_compare(&s, access, &all);
	access_finish(access);
	sides_done(&s);
	return complete;
}

/* Of those alike the first is shown, in whatever order they come. */
static void check_order(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct compared x = {.c = {.with_kept = false}};
		struct str got;

		compared_read(&x, cases[i].old, cases[i].now);
		CHECK(compare_fronts(&x, false));
		got = compared_said(&x);
		CHECK(compare_fronts(&x, true));
		CHECK_MSG(str_eq(compared_said(&x), got),
			  "%zu:\n%.*swanted:\n%.*s", i,
			  STR_ARG(compared_said(&x)), STR_ARG(got));
		compared_done(&x);
	}
}

/* --- the bound ------------------------------------------------------------ */

/* Rules that speak of every pair: what each costs. */
#define EVERYWHERE 400

/* So many denials of names and of addresses, each of a kind of its own. */
static const char *many_denials(struct arena *a, int n)
{
	struct buf b;

	buf_init(&b, a);
	for (int i = 1; i <= EVERYWHERE; i++)
		buf_addf(&b, "allow * tcp/%d http=GET\n", i);
	for (int i = 1; i <= n; i++)
		buf_addf(&b,
			 "deny n%d.test tcp/%d\n"
			 "deny 203.0.113.%d/32 tcp/%d\n",
			 i, i, i, i);
	return buf_str(&b).p;
}

static void check_bound(int n, bool complete)
{
	struct arena *a = arena_new();
	const char *text = many_denials(a, n);
	struct compared x = {.c = {.with_kept = false}};

	compared_read(&x, text, text);
	CHECK(compare_fronts(&x, false) == complete);
	CHECK(x.c.changes.n == 0);
	compared_done(&x);
	arena_free(a);
}

int main(void)
{
	/* Room for rules, and not for all numbers there are. */
	arena_bound(256u << 20);
	check_order();
	check_bound(71, true);
	check_bound(72, false);
	compared_check(cases, ARRAY_LEN(cases), compared_read, false,
		       compare_policies);
	return check_status();
}
