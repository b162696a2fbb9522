/*
 * compare.h, in words: sets of connections and requests as people write grants.
 */
#include "compiler/algebra/compare/compare.h"

#include "tests/unit/algebra/compared.h"

static const struct compared_case cases[] = {
	/* Four paths are shown, and three lists of methods. */
	{"", "allow a.test tcp/443 http=GET+/a+/b+/c+/d\n",
	 "+ GET https://a.test/a /b /c /d | GET https://a.test/a\n"
	 "\tnew 'allow a.test tcp/443 http=GET+/a+/b+/c+/d': no-grant -> granted\n"},
	{"", "allow a.test tcp/443 http=GET+/a+/b+/c+/d+/e+/f\n",
	 "+ GET https://a.test/a /b /c /d and 2 more | GET https://a.test/a\n"
	 "\tnew 'allow a.test tcp/443 http=GET+/a+/b+/c+/d+/e+/f': no-grant -> granted\n"},
	{"", "allow a.test tcp/443 http=GET+/a http=POST+/b http=PUT+/c\n",
	 "+ GET https://a.test/a; POST /b; PUT /c | GET https://a.test/a\n"
	 "\tnew 'allow a.test tcp/443 http=GET+/a http=POST+/b http=PUT+/c': no-grant -> granted\n"},
	{"",
	 "allow a.test tcp/443 http=GET+/a http=POST+/b http=PUT+/c http=DELETE+/d\n",
	 "+ GET https://a.test/a; POST /b; PUT /c; and more | DELETE https://a.test/d\n"
	 "\tnew 'allow a.test tcp/443 http=GET+/a http=POST+/b http=PUT+/c http=DELETE+/d': no-grant -> granted\n"},
	{"",
	 "allow a.test tcp/443 http=GET+POST+/a http=GET+/b http=GET+POST+/c\n",
	 "+ GET,POST https://a.test/a /c; GET /b | GET https://a.test/b\n"
	 "\tnew 'allow a.test tcp/443 http=GET+POST+/a http=GET+/b http=GET+POST+/c': no-grant -> granted\n"},
	/* What is below another path, with no other method, is said by that. */
	{"", "allow a.test tcp/443 http=GET+/a http=GET+/a/b\n",
	 "+ GET https://a.test/a | GET https://a.test/a\n"
	 "\tnew 'allow a.test tcp/443 http=GET+/a http=GET+/a/b': no-grant -> granted\n"},
	{"", "allow a.test tcp/443 http=GET+/a http=GET+/ab\n",
	 "+ GET https://a.test/a /ab | GET https://a.test/a\n"
	 "\tnew 'allow a.test tcp/443 http=GET+/a http=GET+/ab': no-grant -> granted\n"},
	{"", "allow a.test tcp/443 http=GET+/a http=GET+POST+/a/b\n",
	 "+ GET https://a.test/a; GET,POST /a/b | GET https://a.test/a\n"
	 "\tnew 'allow a.test tcp/443 http=GET+/a http=GET+POST+/a/b': no-grant -> granted\n"},
	{"",
	 "allow a.test tcp/443 http=GET+POST+/a http=GET+/a/b http=PUT+/a/c\n",
	 "+ GET,POST https://a.test/a; GET,POST,PUT /a/c | GET https://a.test/a\n"
	 "\tnew 'allow a.test tcp/443 http=GET+POST+/a http=GET+/a/b http=PUT+/a/c': no-grant -> granted\n"},
	{"", "allow a.test tcp/443 http=GET+/a http=/a/b\n",
	 "+ GET https://a.test/a; * /a/b | GET https://a.test/a\n"
	 "\tnew 'allow a.test tcp/443 http=GET+/a http=/a/b': no-grant -> granted\n"},
	{"", "allow a.test tcp/443 http=*+/a http=GET+/a/b\n",
	 "+ * https://a.test/a | GET https://a.test/a\n"
	 "\tnew 'allow a.test tcp/443 http=*+/a http=GET+/a/b': no-grant -> granted\n"},
	{"", "allow a.test tcp/443 http=GET+/a/ http=GET+/a/b\n",
	 "+ GET https://a.test/a | GET https://a.test/a\n"
	 "\tnew 'allow a.test tcp/443 http=GET+/a/ http=GET+/a/b': no-grant -> granted\n"},
	{"", "allow a.test tcp/443 http=GET+PUT+POST+DELETE\n",
	 "+ DELETE,GET,POST,PUT https://a.test/ | DELETE https://a.test/\n"
	 "\tnew 'allow a.test tcp/443 http=GET+PUT+POST+DELETE': no-grant -> granted\n"},
	/* As a URL where one port has one scheme. */
	{"", "allow http://a.test/x\n",
	 "+ * http://a.test/x | GET http://a.test/x\n"
	 "\tnew 'allow http://a.test/x': no-grant -> granted\n"},
	{"", "allow https://a.test:8443/x\n",
	 "+ * https://a.test:8443/x | GET https://a.test:8443/x\n"
	 "\tnew 'allow https://a.test:8443/x': no-grant -> granted\n"},
	{"", "allow http://a.test:443/x\n",
	 "+ * http://a.test:443/x | GET http://a.test:443/x\n"
	 "\tnew 'allow http://a.test:443/x': no-grant -> granted\n"},
	{"", "allow https://a.test:80/x\n",
	 "+ * https://a.test:80/x | GET https://a.test:80/x\n"
	 "\tnew 'allow https://a.test:80/x': no-grant -> granted\n"},
	{"", "allow a.test tcp/443 http=GET\n",
	 "+ GET https://a.test/ | GET https://a.test/\n"
	 "\tnew 'allow a.test tcp/443 http=GET': no-grant -> granted\n"},
	{"", "allow a.test tcp/80 http=GET\n",
	 "+ GET http://a.test/ | GET http://a.test/\n"
	 "\tnew 'allow a.test tcp/80 http=GET': no-grant -> granted\n"},
	{"", "allow a.test tcp/8080 http=GET\n",
	 "+ GET a.test tcp/8080 / | GET https://a.test:8080/\n"
	 "\tnew 'allow a.test tcp/8080 http=GET': no-grant -> granted\n"},
	{"", "allow a.test tcp/80,tcp/443 http=GET\n",
	 "+ GET a.test tcp/80,tcp/443 / | GET http://a.test/\n"
	 "\tnew 'allow a.test tcp/80,tcp/443 http=GET': no-grant -> granted\n"},
	{"", "allow a.test tcp/80-81 http=GET\n",
	 "+ GET a.test tcp/80-81 / | GET http://a.test/\n"
	 "\tnew 'allow a.test tcp/80-81 http=GET': no-grant -> granted\n"},
	{"", "allow *.a.test tcp/443 http=GET\n",
	 "+ GET https://*.a.test/ | GET https://www.a.test/\n"
	 "\tnew 'allow *.a.test tcp/443 http=GET': no-grant -> granted\n"},
	/* Of addresses one, in brackets where it has colons; a network is none.
	 */
	{"", "allow 203.0.113.8/32 tcp/443 http=GET\n",
	 "+ GET http://203.0.113.8:443/ | GET http://203.0.113.8:443/\n"
	 "\tnew 'allow 203.0.113.8/32 tcp/443 http=GET': no-grant -> granted\n"
	 "+ GET https://203.0.113.8/ under granted names | GET https://example.com/ at 203.0.113.8\n"
	 "\tnew 'allow 203.0.113.8/32 tcp/443 http=GET': no-grant -> granted\n"},
	{"", "allow 2001:db8::1/128 tcp/443 http=GET\n",
	 "+ GET http://[2001:db8::1]:443/ | GET http://[2001:db8::1]:443/\n"
	 "\tnew 'allow 2001:db8::1/128 tcp/443 http=GET': no-grant -> granted\n"
	 "+ GET https://[2001:db8::1]/ under granted names | GET https://example.com/ at 2001:db8::1\n"
	 "\tnew 'allow 2001:db8::1/128 tcp/443 http=GET': no-grant -> granted\n"},
	{"", "allow 203.0.113.0/31 tcp/443 http=GET\n",
	 "+ GET 203.0.113.0/31 tcp/443 / in the clear | GET http://203.0.113.1:443/\n"
	 "\tnew 'allow 203.0.113.0/31 tcp/443 http=GET': no-grant -> granted\n"
	 "+ GET 203.0.113.0/31 tcp/443 / over TLS under granted names | GET https://example.com/ at 203.0.113.1\n"
	 "\tnew 'allow 203.0.113.0/31 tcp/443 http=GET': no-grant -> granted\n"},
	{"", "allow http://203.0.113.8/x\n",
	 "+ * http://203.0.113.8/x | GET http://203.0.113.8/x\n"
	 "\tnew 'allow http://203.0.113.8/x': no-grant -> granted\n"},
	{"", "allow http://[2001:db8::1]/x\n",
	 "+ * http://[2001:db8::1]/x | GET http://[2001:db8::1]/x\n"
	 "\tnew 'allow http://[2001:db8::1]/x': no-grant -> granted\n"},
	{"", "allow 192.0.0.5/32 tcp/8080\n",
	 "+ tcp/8080 host | tcp host:8080\n"
	 "\tnew 'allow 192.0.0.5/32 tcp/8080': floor -> granted\n"},
	{"", "allow 192.0.0.5/32 tcp/80 http=GET\n",
	 "+ GET http://host/ | GET http://host/\n"
	 "\tnew 'allow 192.0.0.5/32 tcp/80 http=GET': floor -> granted\n"
	 "+ GET https://host:80/ under granted names | GET https://example.com:80/ at host\n"
	 "\tnew 'allow 192.0.0.5/32 tcp/80 http=GET': floor -> granted\n"},
	{"", "allow * tcp/443 http=GET\n",
	 "+ GET https://*/ | GET https://example.com/\n"
	 "\tnew 'allow * tcp/443 http=GET': no-grant -> granted\n"},
	{"", "allow * tcp/443,udp/443 private\n",
	 "+ tcp/443,udp/443 * | example.com:443\n"
	 "\tnew 'allow * tcp/443,udp/443 private': no-grant -> granted\n"},
	{"", "allow 203.0.113.0/24 tcp/1-65535,udp/53\n",
	 "+ tcp/1-65535,udp/53 203.0.113.0/24 | tcp 203.0.113.1:443\n"
	 "\tnew 'allow 203.0.113.0/24 tcp/1-65535,udp/53': no-grant -> granted\n"},
	/* In the clear and over TLS apart. */
	{"allow a.test tcp/80-81 http=GET\n",
	 "allow a.test tcp/80-81 http=GET\n"
	 "deny http://a.test/x\n",
	 "- GET http://a.test/x | GET http://a.test/x\n"
	 "\tnew 'deny http://a.test/x': granted -> denied\n"},
	{"allow a.test tcp/80-90 http=GET\n",
	 "allow a.test tcp/80-90 http=GET\n"
	 "deny a.test tcp/80-90 http=GET+/x\n",
	 "- GET a.test tcp/80-90 /x | GET http://a.test/x\n"
	 "\tnew 'deny a.test tcp/80-90 http=GET+/x': granted -> denied\n"},
	{"allow https://a.test/\n", "allow a.test tcp/443 http=*\n",
	 "+ * http://a.test:443/ | GET http://a.test:443/\n"
	 "\tnew 'allow a.test tcp/443 http=*': scheme -> granted\n"},
	{"allow http://a.test:443/\n", "allow a.test tcp/443 http=*\n",
	 "+ * https://a.test/ | GET https://a.test/\n"
	 "\tnew 'allow a.test tcp/443 http=*': scheme -> granted\n"},
	{"allow http://a.test/\n", "allow a.test tcp/80 http=*\n",
	 "+ * https://a.test:80/ | GET https://a.test:80/\n"
	 "\tnew 'allow a.test tcp/80 http=*': scheme -> granted\n"},
	{"allow https://a.test:80/\n", "allow a.test tcp/80 http=*\n",
	 "+ * http://a.test/ | GET http://a.test/\n"
	 "\tnew 'allow a.test tcp/80 http=*': scheme -> granted\n"},
	/* Paths that are not canonical, of whatever methods. */
	{"allow a.test tcp/443 http=*\n",
	 "allow a.test tcp/443 http=* http=GET+/x\n",
	 "- * https://a.test/ (paths that are not canonical) | POST https://a.test/a/../b\n"
	 "\told 'allow a.test tcp/443 http=*': granted -> path-not-canonical\n"},
	{"allow a.test tcp/443 http=GET+PUT\n",
	 "allow a.test tcp/443 http=GET+PUT http=GET+/x\n",
	 "- GET,PUT https://a.test/ (paths that are not canonical) | GET https://a.test/a/../b\n"
	 "\told 'allow a.test tcp/443 http=GET+PUT': granted -> path-not-canonical\n"},
	/* The machine, by its name. */
	{"", "allow http://192.0.0.5/x\n",
	 "+ * http://host/x | GET http://host/x\n"
	 "\tnew 'allow http://192.0.0.5/x': floor -> granted\n"},
};

int main(void)
{
	compared_check(cases, ARRAY_LEN(cases), compared_read, false,
		       compare_policies);
	return check_status();
}
