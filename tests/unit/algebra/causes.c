/*
 * compare.h, of what changed: the rule that is responsible, whosever it is, and
 * where a name and an address make a difference that neither makes alone.
 */
#include "compiler/algebra/compare/compare.h"

#include "tests/unit/algebra/compared.h"

static const struct compared_case cases[] = {
	{"allow a.test:443\n",
	 "allow a.test:443\n"
	 "allow b.test:443\n",
	 "+ tcp/443 b.test | b.test:443\n"
	 "\tnew 'allow b.test:443': no-grant -> granted\n"},
	{"allow a.test:443\n"
	 "allow b.test:443\n",
	 "allow a.test:443\n",
	 "- tcp/443 b.test | b.test:443\n"
	 "\told 'allow b.test:443': granted -> no-grant\n"},
	{"allow *.a.test:443\n"
	 "deny www.a.test\n",
	 "allow *.a.test:443\n",
	 "+ tcp/443 www.a.test | www.a.test:443\n"
	 "\told 'deny www.a.test': denied -> granted\n"},
	{"allow *.a.test:443\n",
	 "allow *.a.test:443\n"
	 "deny www.a.test\n",
	 "- tcp/443 www.a.test | www.a.test:443\n"
	 "\tnew 'deny www.a.test': granted -> denied\n"},
	{"allow a.test:443\n", "ask a.test:443\n",
	 "- tcp/443 a.test | a.test:443\n"
	 "\tnew 'ask a.test:443': granted -> ask\n"},
	{"ask a.test:443\n", "allow a.test:443\n",
	 "+ tcp/443 a.test | a.test:443\n"
	 "\tnew 'allow a.test:443': ask -> granted\n"},
	{"ask a.test:443\n", "",
	 "- tcp/443 a.test | a.test:443\n"
	 "\told 'ask a.test:443': ask -> no-grant\n"},
	{"", "ask a.test:443\n",
	 "+ tcp/443 a.test | a.test:443\n"
	 "\tnew 'ask a.test:443': no-grant -> ask\n"},
	{"ask a.test:443 for=once\n", "ask a.test:443 for=always\n",
	 "+ tcp/443 a.test | a.test:443\n"
	 "\tnew 'ask a.test:443 for=always': ask -> ask\n"},
	{"ask a.test:443 for=always\n", "ask a.test:443 for=session\n",
	 "- tcp/443 a.test | a.test:443\n"
	 "\tnew 'ask a.test:443 for=session': ask -> ask\n"},
	{"allow a.test:443\n"
	 "ask *.test:443\n",
	 "ask *.test:443\n",
	 "- tcp/443 a.test | a.test:443\n"
	 "\told 'allow a.test:443': granted -> ask\n"},
	{"ask *.test:443\n"
	 "ask a.test:443 for=once\n",
	 "ask *.test:443\n"
	 "deny a.test\n",
	 "- tcp/443 a.test | a.test:443\n"
	 "\tnew 'deny a.test': ask -> denied\n"},
	{"allow *\n",
	 "allow *\n"
	 "deny x.test\n",
	 "- tcp/1-65535 x.test | x.test:443\n"
	 "\tnew 'deny x.test': granted -> denied\n"
	 "- * * tcp/1-65535 / over TLS | GET https://1.1.1.1/\n"
	 "\tnew 'deny x.test': granted -> no-sni\n"
	 "- CONNECT * tcp/1-65535 / in the clear (requests that are read now) | CONNECT http://example.com:443/\n"
	 "\tnew 'deny x.test': granted -> method\n"},
	{"allow *\n"
	 "deny x.test\n",
	 "allow *\n",
	 "+ tcp/1-65535 x.test | x.test:443\n"
	 "\told 'deny x.test': denied -> granted\n"
	 "+ * * tcp/1-65535 / over TLS | GET https://1.1.1.1/\n"
	 "\told 'deny x.test': no-sni -> granted\n"
	 "+ CONNECT * tcp/1-65535 / in the clear (requests that are not read) | CONNECT http://example.com:443/\n"
	 "\told 'deny x.test': method -> granted\n"},
	{"allow *\n",
	 "allow *\n"
	 "allow a.test http=GET\n",
	 "- * * tcp/1-65535 / over TLS | GET https://1.1.1.1/\n"
	 "\tnew 'allow a.test http=GET': granted -> no-sni\n"
	 "- CONNECT * tcp/1-65535 / in the clear (requests that are read now) | CONNECT http://example.com:443/\n"
	 "\tnew 'allow a.test http=GET': granted -> method\n"
	 "- CONNECT a.test tcp/1-65535 / (requests that are read now) | CONNECT https://a.test/\n"
	 "\tnew 'allow a.test http=GET': granted -> method\n"},
	{"allow 203.0.113.0/24 tcp/443,udp/443\n",
	 "allow 203.0.113.0/24 tcp/443,udp/443\n"
	 "deny https://a.test/x\n",
	 "- QUIC udp/443 203.0.113.0/24 | quic 203.0.113.1:443\n"
	 "\tnew 'deny https://a.test/x': granted -> quic\n"
	 "- CONNECT 203.0.113.0/24 tcp/443 / in the clear (requests that are read now) | CONNECT http://203.0.113.1:443/\n"
	 "\tnew 'deny https://a.test/x': granted -> method\n"
	 "- * https://a.test/x at addresses that other rules are about | GET https://a.test/x at 203.0.113.1\n"
	 "\tnew 'deny https://a.test/x': granted -> denied\n"},
	{"allow 203.0.113.0/24 tcp/443,udp/443\n"
	 "deny a.test tcp/443\n",
	 "allow 203.0.113.0/24 tcp/443,udp/443\n",
	 "+ tcp/443 a.test at addresses that other rules are about | tcp 203.0.113.1:443 a.test\n"
	 "\told 'deny a.test tcp/443': denied -> granted\n"
	 "+ QUIC udp/443 203.0.113.0/24 | quic 203.0.113.1:443\n"
	 "\told 'deny a.test tcp/443': quic -> granted\n"
	 "+ CONNECT 203.0.113.0/24 tcp/443 / in the clear (requests that are not read) | CONNECT http://203.0.113.1:443/\n"
	 "\told 'deny a.test tcp/443': method -> granted\n"},
	{"allow 203.0.113.0/24 udp/443\n"
	 "deny a.test tcp/443\n"
	 "deny b.test tcp/443\n",
	 "allow 203.0.113.0/24 udp/443\n"
	 "deny b.test tcp/443\n",
	 ""},
	{"allow a.test inspect\n", "allow a.test\n",
	 "+ CONNECT a.test tcp/1-65535 / over TLS (requests that are not read) | CONNECT https://a.test/\n"
	 "\tnew 'allow a.test': method -> granted\n"
	 "+ tls of a.test inspect -> verify\n"
	 "\told 'allow a.test inspect'\n"},
	{"allow a.test:443\n",
	 "allow a.test:443\n"
	 "deny https://a.test/x\n",
	 "- * https://a.test/x | GET https://a.test/x\n"
	 "\tnew 'deny https://a.test/x': granted -> denied\n"},
	{"allow a.test:443\n"
	 "deny https://a.test/x\n",
	 "allow a.test:443\n",
	 "+ * https://a.test/x | GET https://a.test/x\n"
	 "\told 'deny https://a.test/x': denied -> granted\n"},
	{"allow 203.0.113.0/24 tcp/80\n",
	 "allow 203.0.113.0/24 tcp/80\n"
	 "deny bad.test\n",
	 "- tcp/80 bad.test at addresses that other rules are about | tcp 203.0.113.1:80 bad.test\n"
	 "\tnew 'deny bad.test': granted -> denied\n"
	 "- CONNECT 203.0.113.0/24 tcp/80 / in the clear (requests that are read now) | CONNECT http://203.0.113.1/\n"
	 "\tnew 'deny bad.test': granted -> method\n"},
	{"allow 203.0.113.0/24 tcp/80\n"
	 "deny bad.test tcp/443\n",
	 "allow 203.0.113.0/24 tcp/80\n"
	 "deny bad.test tcp/80\n",
	 "- tcp/80 bad.test at addresses that other rules are about | tcp 203.0.113.1:80 bad.test\n"
	 "\tnew 'deny bad.test tcp/80': granted -> denied\n"
	 "- CONNECT 203.0.113.0/24 tcp/80 / in the clear (requests that are read now) | CONNECT http://203.0.113.1/\n"
	 "\tnew 'deny bad.test tcp/80': granted -> method\n"},
	{"allow 203.0.113.0/24 tcp/80\n"
	 "ask 203.0.113.0/28 tcp/443\n",
	 "allow 203.0.113.0/24 tcp/80\n"
	 "ask 203.0.113.0/28 tcp/80,tcp/443\n"
	 "deny 203.0.113.9/32\n",
	 "- tcp/443 203.0.113.9/32 | tcp 203.0.113.9:443\n"
	 "\tnew 'deny 203.0.113.9/32': ask -> denied\n"
	 "- tcp/80 203.0.113.9/32 | tcp 203.0.113.9:80\n"
	 "\tnew 'deny 203.0.113.9/32': granted -> denied\n"},
	{"allow a.test tcp/443 http=GET\n",
	 "allow a.test tcp/443 http=GET http=GET+/x\n",
	 "- GET https://a.test/ (paths that are not canonical) | GET https://a.test/a/../b\n"
	 "\told 'allow a.test tcp/443 http=GET': granted -> path-not-canonical\n"},
	{"allow a.test tcp/443 http=GET\n",
	 "allow a.test tcp/443 http=GET\n"
	 "deny https://a.test/x\n",
	 "- GET https://a.test/x | GET https://a.test/x\n"
	 "\tnew 'deny https://a.test/x': granted -> denied\n"},
	/* Several of a kind: each rule that is responsible is told. */
	{"allow 203.0.113.0/24 tcp/22\n",
	 "allow 203.0.113.0/24 tcp/22\n"
	 "deny a.test tcp/22\n"
	 "deny b.test tcp/22\n",
	 "- tcp/22 a.test at addresses that other rules are about | tcp 203.0.113.1:22 a.test\n"
	 "\tnew 'deny a.test tcp/22': granted -> denied\n"
	 "- tcp/22 b.test at addresses that other rules are about | tcp 203.0.113.1:22 b.test\n"
	 "\tnew 'deny b.test tcp/22': granted -> denied\n"
	 "- CONNECT 203.0.113.0/24 tcp/22 / in the clear (requests that are read now) | CONNECT http://203.0.113.1:22/\n"
	 "\tnew 'deny a.test tcp/22': granted -> method\n"},
	{"allow a.test:443\n"
	 "allow b.test:443\n",
	 "allow a.test:443\n"
	 "allow b.test:443\n"
	 "deny 203.0.113.0/24\n"
	 "deny 198.51.100.0/24\n",
	 "- tcp/443 198.51.100.0/24 under granted names | tcp 198.51.100.1:443 a.test\n"
	 "\tnew 'deny 198.51.100.0/24': granted -> denied\n"
	 "- tcp/443 203.0.113.0/24 under granted names | tcp 203.0.113.1:443 a.test\n"
	 "\tnew 'deny 203.0.113.0/24': granted -> denied\n"},
	{"allow a.test:443\n"
	 "allow b.test:443\n",
	 "allow a.test:443 private\n"
	 "allow b.test:443 private\n",
	 "+ tcp/443 a.test at private addresses | tcp 10.0.0.1:443 a.test\n"
	 "\tnew 'allow a.test:443 private': private-address -> granted\n"
	 "+ tcp/443 b.test at private addresses | tcp 10.0.0.1:443 b.test\n"
	 "\tnew 'allow b.test:443 private': private-address -> granted\n"},
	{"allow a.test:443 private\n"
	 "allow 10.0.0.0/8 tcp/22\n",
	 "allow a.test:443\n"
	 "allow 10.0.0.0/8 tcp/22\n",
	 "- tcp/443 a.test at private addresses | tcp 100.64.0.1:443 a.test\n"
	 "\told 'allow a.test:443 private': granted -> private-address\n"},
	/* Datagrams, and those of QUIC among them. */
	{"allow a.test udp/443\n",
	 "allow a.test udp/443\n"
	 "deny https://a.test/x\n",
	 "- QUIC udp/443 a.test | quic a.test:443\n"
	 "\tnew 'deny https://a.test/x': granted -> quic\n"},
	{"allow a.test udp/443\n",
	 "allow a.test udp/443\n"
	 "deny a.test tcp/443\n",
	 "- QUIC udp/443 a.test | quic a.test:443\n"
	 "\tnew 'deny a.test tcp/443': granted -> quic\n"},
	{"allow a.test udp/443\n"
	 "allow b.test udp/443\n",
	 "allow a.test udp/443\n"
	 "allow b.test udp/443\n"
	 "deny a.test tcp/443\n",
	 "- QUIC udp/443 a.test | quic a.test:443\n"
	 "\tnew 'deny a.test tcp/443': granted -> quic\n"},
	{"allow 203.0.113.0/24 udp/443\n"
	 "deny b.test tcp/443\n",
	 "allow 203.0.113.0/24 udp/443\n"
	 "deny a.test tcp/22\n"
	 "deny b.test tcp/443\n"
	 "deny b.test tcp/22\n",
	 ""},
	{"allow * udp/443\n",
	 "allow * udp/443\n"
	 "deny https://a.test/x\n",
	 "- QUIC udp/443 * | quic 1.1.1.1:443\n"
	 "\tnew 'deny https://a.test/x': granted -> quic\n"
	 "- QUIC udp/443 a.test | quic a.test:443\n"
	 "\tnew 'deny https://a.test/x': granted -> quic\n"},
	{"allow * udp/443\n"
	 "deny a.test tcp/80\n"
	 "deny https://b.test/x\n",
	 "allow * udp/443\n"
	 "deny a.test tcp/80\n",
	 "+ QUIC udp/443 * | quic 1.1.1.1:443\n"
	 "\told 'deny https://b.test/x': quic -> granted\n"
	 "+ QUIC udp/443 b.test | quic b.test:443\n"
	 "\told 'deny https://b.test/x': quic -> granted\n"},
	{"allow 203.0.113.0/24 udp/400-500\n",
	 "allow 203.0.113.0/24 udp/400-500\n"
	 "deny a.test tcp/443\n",
	 "- QUIC udp/443 203.0.113.0/24 | quic 203.0.113.1:443\n"
	 "\tnew 'deny a.test tcp/443': granted -> quic\n"},
	{"allow 203.0.113.0/24 udp/443\n",
	 "allow 203.0.113.0/24 udp/443\n"
	 "deny 203.0.113.9/32 udp/443\n"
	 "deny https://203.0.113.8/x\n",
	 "- udp/443 203.0.113.9/32 | udp 203.0.113.9:443\n"
	 "\tnew 'deny 203.0.113.9/32 udp/443': granted -> denied\n"
	 "- QUIC udp/443 203.0.113.0/24 | quic 203.0.113.1:443\n"
	 "\tnew 'deny https://203.0.113.8/x': granted -> quic\n"
	 "- QUIC udp/443 203.0.113.8/32 | quic 203.0.113.8:443\n"
	 "\tnew 'deny https://203.0.113.8/x': granted -> quic\n"},
	/* Requests to an address under a name. */
	{"allow 203.0.113.0/24 tcp/80\n",
	 "allow 203.0.113.0/24 tcp/80\n"
	 "deny http://a.test/x\n"
	 "deny http://b.test/x\n",
	 "- CONNECT 203.0.113.0/24 tcp/80 / in the clear (requests that are read now) | CONNECT http://203.0.113.1/\n"
	 "\tnew 'deny http://a.test/x': granted -> method\n"
	 "- * http://a.test/x at addresses that other rules are about | GET http://a.test/x at 203.0.113.1\n"
	 "\tnew 'deny http://a.test/x': granted -> denied\n"
	 "- * http://b.test/x at addresses that other rules are about | GET http://b.test/x at 203.0.113.1\n"
	 "\tnew 'deny http://b.test/x': granted -> denied\n"},
	{"allow a.test tcp/80 http=GET\n"
	 "allow b.test tcp/80 http=GET\n",
	 "allow a.test tcp/80 http=GET\n"
	 "allow b.test tcp/80 http=GET\n"
	 "deny http://203.0.113.8/x\n",
	 "- GET http://203.0.113.8/x under granted names | GET http://a.test/x at 203.0.113.8\n"
	 "\tnew 'deny http://203.0.113.8/x': granted -> denied\n"},
	{"allow a.test tcp/80 http=GET\n",
	 "allow a.test tcp/80 http=GET\n"
	 "deny http://203.0.113.8/x\n"
	 "deny http://203.0.113.9/x\n",
	 "- GET http://203.0.113.8/x under granted names | GET http://a.test/x at 203.0.113.8\n"
	 "\tnew 'deny http://203.0.113.8/x': granted -> denied\n"
	 "- GET http://203.0.113.9/x under granted names | GET http://a.test/x at 203.0.113.9\n"
	 "\tnew 'deny http://203.0.113.9/x': granted -> denied\n"},
	{"allow 203.0.113.0/24 tcp/80 http=GET\n",
	 "allow 203.0.113.0/24 tcp/80 http=GET\n"
	 "deny a.test http=GET+/x\n",
	 "- GET http://a.test/x at addresses that other rules are about | GET http://a.test/x at 203.0.113.1\n"
	 "\tnew 'deny a.test http=GET+/x': granted -> denied\n"},
	{"allow http://203.0.113.8/\n", "allow 203.0.113.8/32 tcp/80\n",
	 "+ tcp/80 203.0.113.8/32 | tcp 203.0.113.8:80\n"
	 "\tnew 'allow 203.0.113.8/32 tcp/80': not-http -> granted\n"},
	{"allow http://203.0.113.8/\n"
	 "deny a.test\n",
	 "allow http://203.0.113.8/\n",
	 "+ * http://a.test/ at addresses that other rules are about | GET http://a.test/ at 203.0.113.8\n"
	 "\told 'deny a.test': denied -> granted\n"},
	{"allow a.test tcp/80 http=CONNECT\n"
	 "allow 203.0.113.8/32 tcp/80\n",
	 "allow 203.0.113.8/32 tcp/80\n",
	 "- a.test | resolve a.test\n"
	 "\told 'allow a.test tcp/80 http=CONNECT': granted -> no-grant\n"},
	{"allow a.test tcp/80 http=CONNECT\n",
	 "allow a.test tcp/80 http=GET+CONNECT\n",
	 "+ GET http://a.test/ | GET http://a.test/\n"
	 "\tnew 'allow a.test tcp/80 http=GET+CONNECT': method -> granted\n"},
	{"allow * tcp/80 http=GET\n",
	 "allow * tcp/80 http=GET\n"
	 "deny 203.0.113.8/32 http=GET+/x\n",
	 "- GET http://203.0.113.8/x | GET http://203.0.113.8/x\n"
	 "\tnew 'deny 203.0.113.8/32 http=GET+/x': granted -> denied\n"
	 "- GET https://203.0.113.8:80/x under granted names | GET https://example.com:80/x at 203.0.113.8\n"
	 "\tnew 'deny 203.0.113.8/32 http=GET+/x': granted -> denied\n"},
	{"allow * tcp/80 http=GET\n", "allow * tcp/80 http=GET private\n",
	 "+ GET http://*/ at private addresses | GET http://example.com/ at 10.0.0.1\n"
	 "\tnew 'allow * tcp/80 http=GET private': private-address -> granted\n"},
	{"allow a.test tcp/80 http=GET\n"
	 "allow * tcp/80 http=HEAD\n",
	 "allow a.test tcp/80 http=GET private\n"
	 "allow * tcp/80 http=HEAD\n",
	 "+ GET http://a.test/ at private addresses | GET http://a.test/ at 10.0.0.1\n"
	 "\tnew 'allow a.test tcp/80 http=GET private': private-address -> granted\n"},
	/* CONNECT, where one of the two alone reads requests. */
	{"allow a.test inspect\n"
	 "allow b.test\n",
	 "allow a.test inspect\n"
	 "allow b.test inspect\n",
	 "- CONNECT b.test tcp/1-65535 / over TLS (requests that are read now) | CONNECT https://b.test/\n"
	 "\told 'allow b.test': granted -> method\n"
	 "- tls of b.test verify -> inspect\n"
	 "\tnew 'allow b.test inspect'\n"},
	{"allow a.test tcp/443,tcp/80\n",
	 "allow a.test tcp/443,tcp/80\n"
	 "allow a.test tcp/80 http=GET\n",
	 "- CONNECT https://a.test:80/ (requests that are read now) | CONNECT https://a.test:80/\n"
	 "\tnew 'allow a.test tcp/80 http=GET': granted -> method\n"},
	{"allow a.test tcp/443\n"
	 "deny a.test tcp/443 http=GET\n",
	 "allow a.test tcp/443\n",
	 "+ GET https://a.test/ | GET https://a.test/\n"
	 "\told 'deny a.test tcp/443 http=GET': denied -> granted\n"},
	{"allow * tcp/443\n",
	 "allow * tcp/443\n"
	 "deny a.test tcp/443 http=GET\n",
	 "- * https://*/ | GET https://1.1.1.1/\n"
	 "\tnew 'deny a.test tcp/443 http=GET': granted -> no-sni\n"
	 "- CONNECT http://*:443/ (requests that are read now) | CONNECT http://example.com:443/\n"
	 "\tnew 'deny a.test tcp/443 http=GET': granted -> method\n"
	 "- GET https://a.test/ | GET https://a.test/\n"
	 "\tnew 'deny a.test tcp/443 http=GET': granted -> denied\n"},
	{"allow * tcp/443\n"
	 "deny a.test tcp/80\n",
	 "allow * tcp/443\n"
	 "deny a.test tcp/443\n",
	 "- tcp/443 a.test | a.test:443\n"
	 "\tnew 'deny a.test tcp/443': granted -> denied\n"},
	{"allow 203.0.113.0/24 tcp/443\n"
	 "deny a.test tcp/443 http=GET\n",
	 "allow 203.0.113.0/24 tcp/443\n"
	 "deny a.test tcp/80 http=GET\n",
	 "+ CONNECT 203.0.113.0/24 tcp/443 / in the clear (requests that are not read) | CONNECT http://203.0.113.1:443/\n"
	 "\told 'deny a.test tcp/443 http=GET': method -> granted\n"
	 "+ GET https://a.test/ at addresses that other rules are about | GET https://a.test/ at 203.0.113.1\n"
	 "\told 'deny a.test tcp/443 http=GET': denied -> granted\n"},
	/* A rule that is about others. */
	{"allow *\n"
	 "allow b.test inspect\n",
	 "allow *\n",
	 "+ * * tcp/1-65535 / over TLS | GET https://1.1.1.1/\n"
	 "\told 'allow b.test inspect': no-sni -> granted\n"
	 "+ CONNECT * tcp/1-65535 / in the clear (requests that are not read) | CONNECT http://example.com:443/\n"
	 "\told 'allow b.test inspect': method -> granted\n"
	 "+ CONNECT b.test tcp/1-65535 / (requests that are not read) | CONNECT https://b.test/\n"
	 "\told 'allow b.test inspect': method -> granted\n"},
	{"allow * private\n",
	 "allow * private\n"
	 "allow b.test http=GET\n"
	 "allow c.test http=GET\n",
	 "- * * tcp/1-65535 / over TLS | GET https://1.1.1.1/\n"
	 "\tnew 'allow b.test http=GET': granted -> no-sni\n"
	 "- CONNECT * tcp/1-65535 / in the clear (requests that are read now) | CONNECT http://example.com:443/\n"
	 "\tnew 'allow b.test http=GET': granted -> method\n"
	 "- CONNECT b.test tcp/1-65535 / (requests that are read now) | CONNECT https://b.test/\n"
	 "\tnew 'allow b.test http=GET': granted -> method\n"
	 "- CONNECT c.test tcp/1-65535 / (requests that are read now) | CONNECT https://c.test/\n"
	 "\tnew 'allow c.test http=GET': granted -> method\n"},
	{"allow *\n"
	 "ask c.test http=GET\n",
	 "allow *\n"
	 "ask b.test http=GET\n"
	 "deny x.test http=GET\n",
	 "- * * tcp/1-65535 / over TLS | GET https://1.1.1.1/\n"
	 "\tnew 'deny x.test http=GET': granted -> no-sni\n"
	 "- CONNECT * tcp/1-65535 / in the clear (requests that are read now) | CONNECT http://example.com:443/\n"
	 "\tnew 'deny x.test http=GET': granted -> method\n"
	 "- GET x.test tcp/1-65535 / | GET https://x.test/\n"
	 "\tnew 'deny x.test http=GET': granted -> denied\n"},
	/* A rule that two or more grants feel is about all that is its own. */
	{"allow a.test:443\n"
	 "allow b.test:443\n",
	 "allow a.test:443\n"
	 "allow b.test:443\n"
	 "deny *.test\n",
	 "- tcp/443 *.test | a.test:443\n"
	 "\tnew 'deny *.test': granted -> denied\n"},
	{"allow a.test:443\n"
	 "allow b.test:443\n"
	 "allow c.test:443\n",
	 "allow a.test:443\n"
	 "allow b.test:443\n"
	 "allow c.test:443\n"
	 "deny *.test\n",
	 "- tcp/443 *.test | a.test:443\n"
	 "\tnew 'deny *.test': granted -> denied\n"},
	/* From one level and from another: the lower one first. */
	{"ask a.test:443\n", "allow *.test:443\n",
	 "+ tcp/443 *.test | example.test:443\n"
	 "\tnew 'allow *.test:443': no-grant -> granted\n"
	 "+ tcp/443 *.test | a.test:443\n"
	 "\tnew 'allow *.test:443': ask -> granted\n"},
	{"allow a.test:443\n"
	 "allow b.test:443\n"
	 "ask c.test:443\n"
	 "ask d.test:443\n"
	 "deny *.test\n",
	 "allow a.test:443\n"
	 "allow b.test:443\n"
	 "ask c.test:443\n"
	 "ask d.test:443\n",
	 "+ tcp/443 *.test | c.test:443\n"
	 "\told 'deny *.test': denied -> ask\n"
	 "+ tcp/443 *.test | a.test:443\n"
	 "\told 'deny *.test': denied -> granted\n"},
	/* What is looked into, by the grant that says so. */
	{"allow a.test\n",
	 "allow a.test tcp/443 inspect\n"
	 "allow a.test tcp/444 inspect\n",
	 "- tcp/1-442,tcp/445-65535 a.test | a.test:80\n"
	 "\told 'allow a.test': granted -> port\n"
	 "- CONNECT a.test tcp/443-444 / over TLS (requests that are read now) | CONNECT https://a.test/\n"
	 "\told 'allow a.test': granted -> method\n"
	 "- tls of a.test verify -> inspect\n"
	 "\tnew 'allow a.test tcp/443 inspect'\n"},
	{"allow a.test tcp/443 verify\n"
	 "allow a.test tcp/444\n",
	 "allow a.test tcp/443\n"
	 "allow a.test tcp/444 inspect\n",
	 "- CONNECT https://a.test:444/ (requests that are read now) | CONNECT https://a.test:444/\n"
	 "\told 'allow a.test tcp/444': granted -> method\n"
	 "- tls of a.test verify -> inspect\n"
	 "\tnew 'allow a.test tcp/444 inspect'\n"},
	{"allow a.test inspect\n"
	 "allow b.test\n",
	 "allow b.test inspect\n"
	 "allow c.test\n",
	 "+ tcp/1-65535 c.test | c.test:443\n"
	 "\tnew 'allow c.test': no-grant -> granted\n"
	 "- tcp/1-65535 a.test | a.test:443\n"
	 "\told 'allow a.test inspect': granted -> no-grant\n"
	 "- CONNECT b.test tcp/1-65535 / over TLS (requests that are read now) | CONNECT https://b.test/\n"
	 "\told 'allow b.test': granted -> method\n"
	 "- tls of b.test verify -> inspect\n"
	 "\tnew 'allow b.test inspect'\n"},
	{"allow 203.0.113.8/32 tcp/443 inspect\n",
	 "allow 203.0.113.8/32 tcp/443\n", ""},
	{"allow a.test inspect\n", "allow a.test http=GET\n",
	 "- tcp/1-65535 a.test | a.test:443\n"
	 "\told 'allow a.test inspect': granted -> not-http\n"
	 "- * a.test tcp/1-65535 / | POST https://a.test/\n"
	 "\told 'allow a.test inspect': granted -> method\n"},
	{"allow 203.0.113.0/24 tcp/443\n"
	 "deny a.test tcp/443\n"
	 "deny b.test http=GET\n",
	 "allow 203.0.113.0/24 tcp/443\n"
	 "deny a.test tcp/443\n",
	 "+ GET https://b.test/ at addresses that other rules are about | GET https://b.test/ at 203.0.113.1\n"
	 "\told 'deny b.test http=GET': denied -> granted\n"},
	{"allow 10.0.0.0/8 tcp/22\n"
	 "allow a.test tcp/80 http=GET\n",
	 "allow 10.0.0.0/8 tcp/22\n"
	 "allow a.test tcp/80 http=GET private\n",
	 "+ GET http://a.test/ at private addresses | GET http://a.test/ at 100.64.0.1\n"
	 "\tnew 'allow a.test tcp/80 http=GET private': private-address -> granted\n"},
	{"allow a.test tcp/443\n"
	 "allow a.test tcp/444\n"
	 "allow b.test\n",
	 "allow a.test tcp/443\n"
	 "allow a.test tcp/444\n"
	 "allow b.test inspect\n",
	 "- CONNECT b.test tcp/1-65535 / over TLS (requests that are read now) | CONNECT https://b.test/\n"
	 "\told 'allow b.test': granted -> method\n"
	 "- tls of b.test verify -> inspect\n"
	 "\tnew 'allow b.test inspect'\n"},
};

int main(void)
{
	compared_check(cases, ARRAY_LEN(cases), compared_read, false,
		       compare_policies);
	return check_status();
}
