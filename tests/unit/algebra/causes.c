/*
 * compare.h, of what changed: the rule that is responsible, whosever it is.
 */
#include "compiler/algebra/compare/compare.h"
#include "compiler/base/buf.h"

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
	{"ask *.test:443\n", "allow **.test:443\n",
	 "+ tcp/443 **.test | www.example.test:443\n"
	 "\tnew 'allow **.test:443': no-grant -> granted\n"
	 "+ tcp/443 **.test | example.test:443\n"
	 "\tnew 'allow **.test:443': ask -> granted\n"},
	{"allow **.test:443\n"
	 "ask *.a.test:443\n",
	 "ask *.a.test:443\n",
	 "- tcp/443 **.test | example.test:443\n"
	 "\told 'allow **.test:443': granted -> no-grant\n"
	 "- tcp/443 **.test | www.a.test:443\n"
	 "\told 'allow **.test:443': granted -> ask\n"},
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
	{"allow a.test inspect\n", "allow b.test\n",
	 "+ tcp/1-65535 b.test | b.test:443\n"
	 "\tnew 'allow b.test': no-grant -> granted\n"
	 "- tcp/1-65535 a.test | a.test:443\n"
	 "\told 'allow a.test inspect': granted -> no-grant\n"},
	{"allow 203.0.113.8/32 tcp/80\n",
	 "allow 203.0.113.8/32 tcp/80\n"
	 "deny http://203.0.113.8/ http=CONNECT+GET\n",
	 "- CONNECT http://203.0.113.8/ | CONNECT http://203.0.113.8/\n"
	 "\tnew 'deny http://203.0.113.8/ http=CONNECT+GET': granted -> method\n"
	 "- GET http://203.0.113.8/ | GET http://203.0.113.8/\n"
	 "\tnew 'deny http://203.0.113.8/ http=CONNECT+GET': granted -> denied\n"},
	{"allow a.test udp/443\n",
	 "allow a.test udp/443\n"
	 "deny https://203.0.113.8/x\n",
	 "- QUIC udp/443 203.0.113.8 under granted names | quic 203.0.113.8:443 a.test\n"
	 "\tnew 'deny https://203.0.113.8/x': granted -> quic\n"},
	{"allow a.test udp/443\n"
	 "allow b.test udp/443\n"
	 "deny https://203.0.113.8/x\n",
	 "allow a.test udp/443\n"
	 "allow b.test udp/443\n",
	 "+ QUIC udp/443 203.0.113.8 under granted names | quic 203.0.113.8:443 a.test\n"
	 "\told 'deny https://203.0.113.8/x': quic -> granted\n"},
	/* QUIC is refused for a denial of both, since an address is granted
	   that whoever is denied may have: not for another denial. */
	{"allow a.test udp/443\n"
	 "deny https://b.test/x\n",
	 "allow a.test udp/443\n"
	 "allow 203.0.113.0/24 udp/443\n"
	 "deny https://b.test/x\n",
	 "+ udp/443 203.0.113.0/24 | udp 203.0.113.1:443\n"
	 "\tnew 'allow 203.0.113.0/24 udp/443': no-grant -> granted\n"
	 "- QUIC udp/443 203.0.113.0/24 under granted names | quic 203.0.113.1:443 a.test\n"
	 "\tnew 'allow 203.0.113.0/24 udp/443': granted -> quic\n"},
	{"allow a.test udp/443\n"
	 "deny https://b.test/x\n",
	 "allow a.test udp/443\n"
	 "allow 203.0.113.0/24 udp/443\n"
	 "deny a.test tcp/22\n"
	 "deny https://b.test/x\n"
	 "deny https://c.test/x\n",
	 "+ udp/443 203.0.113.0/24 | udp 203.0.113.1:443\n"
	 "\tnew 'allow 203.0.113.0/24 udp/443': no-grant -> granted\n"
	 "- QUIC udp/443 203.0.113.0/24 under granted names | quic 203.0.113.1:443 a.test\n"
	 "\tnew 'allow 203.0.113.0/24 udp/443': granted -> quic\n"},
	{"allow a.test udp/443\n"
	 "allow a.test tcp/22\n",
	 "allow a.test udp/443\n"
	 "allow a.test tcp/22\n"
	 "deny a.test tcp/443\n",
	 "- QUIC udp/443 a.test | quic a.test:443\n"
	 "\tnew 'deny a.test tcp/443': granted -> quic\n"},
	/* A denial of requests before a grant, as what refuses QUIC. */
	{"allow a.test udp/443\n"
	 "deny *.b.test tcp/443\n",
	 "allow a.test udp/443\n"
	 "allow *.test udp/443\n"
	 "deny *.b.test tcp/443\n"
	 "deny https://203.0.113.8/x\n",
	 "+ udp/443 *.test | udp example.test:443\n"
	 "\tnew 'allow *.test udp/443': no-grant -> granted\n"
	 "- QUIC udp/443 203.0.113.8 under granted names | quic 203.0.113.8:443 a.test\n"
	 "\tnew 'deny https://203.0.113.8/x': granted -> quic\n"},
	/* Of what is over TCP, no QUIC. */
	{"allow a.test tcp/443,udp/443\n"
	 "deny 203.0.113.8/32 udp/443\n",
	 "allow a.test tcp/443,udp/443\n"
	 "deny 203.0.113.8/32 udp/443\n"
	 "deny https://203.0.113.8/x\n",
	 "- * https://203.0.113.8/x under granted names | GET https://a.test/x at 203.0.113.8\n"
	 "\tnew 'deny https://203.0.113.8/x': granted -> denied\n"},
	{"allow a.test tcp/443,udp/443\n"
	 "allow 203.0.113.8/32 udp/443\n",
	 "allow a.test tcp/443,udp/443\n"
	 "allow 203.0.113.8/32 udp/443\n"
	 "deny https://203.0.113.8/x\n",
	 "- QUIC udp/443 203.0.113.8/32 | quic 203.0.113.8:443\n"
	 "\tnew 'deny https://203.0.113.8/x': granted -> quic\n"
	 "- * https://203.0.113.8/x under granted names | GET https://a.test/x at 203.0.113.8\n"
	 "\tnew 'deny https://203.0.113.8/x': granted -> denied\n"},
	/* Of several rules, which: the one that has to do with it. */
	{"ask *\n", "allow https://b.test/x\n",
	 "+ * https://b.test/x | GET https://b.test/x\n"
	 "\tnew 'allow https://b.test/x': ask -> granted\n"
	 "- tcp/1-65535 * | example.com:443\n"
	 "\told 'ask *': ask -> no-grant\n"
	 "- * https://*/ | GET https://b.test/\n"
	 "\told 'ask *': ask -> path\n"},
	{"allow 203.0.113.9/32\n"
	 "allow **.a.test\n",
	 "allow 203.0.113.9/32\n"
	 "deny www.a.test\n",
	 "- tcp/1-65535 **.a.test | api.a.test:443\n"
	 "\told 'allow **.a.test': granted -> no-grant\n"
	 "- tcp/1-65535 www.a.test | www.a.test:443\n"
	 "\tnew 'deny www.a.test': granted -> denied\n"
	 "- CONNECT 203.0.113.9/32 tcp/1-65535 / in the clear (requests that are read now) | CONNECT http://203.0.113.9:443/\n"
	 "\tnew 'deny www.a.test': granted -> method\n"},
	{"ask b.*.test http=CONNECT\n"
	 "ask **.a.test\n",
	 "allow *\n",
	 "+ tcp/1-65535 * | example.com:443\n"
	 "\tnew 'allow *': no-grant -> granted\n"
	 "+ tcp/1-65535 * | www.a.test:443\n"
	 "\tnew 'allow *': ask -> granted\n"
	 "+ CONNECT * tcp/1-65535 / in the clear | CONNECT http://b.a.test:443/\n"
	 "\tnew 'allow *': method -> granted\n"
	 "+ CONNECT * tcp/1-65535 / in the clear (requests that are not read) | CONNECT http://www.a.test:443/\n"
	 "\tnew 'allow *': method -> granted\n"
	 "+ * | resolve b.example.test\n"
	 "\tnew 'allow *': ask -> granted\n"},
	{"allow 203.0.113.0/24\n"
	 "allow 10.0.0.1/32\n",
	 "allow 203.0.113.0/24\n"
	 "allow 10.0.0.1/32\n"
	 "deny 203.0.113.9/32 tcp/80,tcp/443 http=GET\n",
	 "- * 203.0.113.9/32 tcp/80,tcp/443 / | POST https://203.0.113.9:80/\n"
	 "\tnew 'deny 203.0.113.9/32 tcp/80,tcp/443 http=GET': granted -> no-sni\n"
	 "- CONNECT 10.0.0.1/32 tcp/80,tcp/443 / in the clear (requests that are read now) | CONNECT http://10.0.0.1/\n"
	 "\tnew 'deny 203.0.113.9/32 tcp/80,tcp/443 http=GET': granted -> method\n"
	 "- CONNECT 203.0.113.0/24 tcp/80,tcp/443 / in the clear (requests that are read now) | CONNECT http://203.0.113.1/\n"
	 "\tnew 'deny 203.0.113.9/32 tcp/80,tcp/443 http=GET': granted -> method\n"},
	{"allow a.test tcp/443-444 http=GET http=POST+/x\n", "",
	 "- GET a.test tcp/443-444 /; GET,POST /x | GET https://a.test/\n"
	 "\told 'allow a.test tcp/443-444 http=GET http=POST+/x': granted -> no-grant\n"},
	{"ask *\n",
	 "ask *\n"
	 "deny 203.0.113.0/28 http\n"
	 "deny *.test\n",
	 "- tcp/1-65535 *.test | example.test:443\n"
	 "\tnew 'deny *.test': ask -> denied\n"
	 "- * * tcp/1-65535 / over TLS | GET https://1.1.1.1/\n"
	 "\tnew 'deny *.test': ask -> no-sni\n"
	 "- * 203.0.113.0/28 tcp/1-65535 / | GET https://203.0.113.1/\n"
	 "\tnew 'deny 203.0.113.0/28 http': ask -> no-sni\n"
	 "- CONNECT * tcp/1-65535 / in the clear (requests that are read now) | CONNECT http://example.com:443/\n"
	 "\tnew 'deny *.test': ask -> method\n"},
	{"ask 203.0.113.0/24\n"
	 "deny 203.0.113.0/28 http=GET\n",
	 "deny 0.0.0.0/0\n",
	 "- tcp/1-65535 203.0.113.0/24 | tcp 203.0.113.1:443\n"
	 "\tnew 'deny 0.0.0.0/0': ask -> denied\n"},
	{"allow a.test tcp/22 http=GET+CONNECT\n"
	 "allow *.test\n",
	 "deny a.test tcp/443,udp/443\n"
	 "allow *.test\n",
	 "+ CONNECT https://*.test:22/ | CONNECT https://a.test:22/\n"
	 "\tnew 'allow *.test': method -> granted\n"
	 "- tcp/443 a.test | a.test:443\n"
	 "\tnew 'deny a.test tcp/443,udp/443': granted -> denied\n"},
	{"allow **.test\n",
	 "allow **.test\n"
	 "allow http://a.test/x/\n"
	 "deny b.*.test\n",
	 "- tcp/1-65535 b.*.test | b.example.test:443\n"
	 "\tnew 'deny b.*.test': granted -> denied\n"
	 "- * http://a.test/ (paths that are not canonical) | GET http://a.test/a/../b\n"
	 "\tnew 'allow http://a.test/x/': granted -> path-not-canonical\n"},
	{"allow *\n"
	 "deny https://a.test/\n"
	 "allow 10.0.0.1/32\n",
	 "allow *\n",
	 "+ * * tcp/1-65535 / over TLS | GET https://1.1.1.1:80/\n"
	 "\told 'deny https://a.test/': no-sni -> granted\n"
	 "+ * https://a.test/ | GET https://a.test/\n"
	 "\told 'deny https://a.test/': denied -> granted\n"
	 "+ CONNECT * tcp/1-65535 / in the clear (requests that are not read) | CONNECT http://example.com/\n"
	 "\told 'deny https://a.test/': method -> granted\n"
	 "- tcp/1-65535 10.0.0.1/32 | tcp 10.0.0.1:80\n"
	 "\told 'allow 10.0.0.1/32': granted -> no-grant\n"},
	{"ask 8.8.8.8/32\n"
	 "deny 0.0.0.0/0 http=POST\n",
	 "ask 8.8.8.8/32\n"
	 "deny * http=*+/x\n",
	 "+ POST 8.8.8.8/32 tcp/1-65535 / in the clear | POST http://8.8.8.8:443/\n"
	 "\told 'deny 0.0.0.0/0 http=POST': denied -> ask\n"
	 "+ POST 0.0.0.0/0 tcp/1-65535 / over TLS under granted names | POST https://example.com/ at 8.8.8.8\n"
	 "\told 'deny 0.0.0.0/0 http=POST': no-grant -> ask\n"
	 "- * 8.8.8.8/32 tcp/1-65535 /x in the clear | GET http://8.8.8.8:443/x\n"
	 "\tnew 'deny * http=*+/x': ask -> denied\n"
	 "- * * tcp/1-65535 /x over TLS at addresses that other rules are about | GET https://example.com/x at 8.8.8.8\n"
	 "\tnew 'deny * http=*+/x': ask -> no-grant\n"},
	{"allow *\n",
	 "allow *\n"
	 "allow https://b.test/x\n"
	 "allow a.test\n",
	 "- * * tcp/1-65535 / over TLS | GET https://1.1.1.1/\n"
	 "\tnew 'allow https://b.test/x': granted -> no-sni\n"
	 "- CONNECT * tcp/1-65535 / in the clear (requests that are read now) | CONNECT http://example.com:443/\n"
	 "\tnew 'allow https://b.test/x': granted -> method\n"
	 "- CONNECT https://b.test/ (requests that are read now) | CONNECT https://b.test/\n"
	 "\tnew 'allow https://b.test/x': granted -> method\n"},
	{"allow *.test\n"
	 "allow *\n",
	 "deny www.a.test\n"
	 "allow *\n",
	 "- tcp/1-65535 www.a.test | www.a.test:443\n"
	 "\tnew 'deny www.a.test': granted -> denied\n"
	 "- * * tcp/1-65535 / over TLS | GET https://1.1.1.1/\n"
	 "\tnew 'deny www.a.test': granted -> no-sni\n"
	 "- CONNECT * tcp/1-65535 / in the clear (requests that are read now) | CONNECT http://example.com:443/\n"
	 "\tnew 'deny www.a.test': granted -> method\n"
	 "- CONNECT *.test tcp/1-65535 / in the clear (requests that are read now) | CONNECT http://example.test:443/\n"
	 "\told 'allow *.test': granted -> method\n"},
	{"ask http://a.test/ for=once\n", "allow *.test\n",
	 "+ tcp/1-65535 *.test | example.test:443\n"
	 "\tnew 'allow *.test': no-grant -> granted\n"
	 "+ * http://*.test/ | GET http://a.test/\n"
	 "\tnew 'allow *.test': ask -> granted\n"},
	{"ask *\n",
	 "ask *\n"
	 "allow https://a.test/\n",
	 "+ * https://a.test/ | GET https://a.test/\n"
	 "\tnew 'allow https://a.test/': ask -> granted\n"
	 "- * * tcp/1-65535 / over TLS | GET https://1.1.1.1/\n"
	 "\tnew 'allow https://a.test/': ask -> no-sni\n"
	 "- CONNECT * tcp/1-65535 / in the clear (requests that are read now) | CONNECT http://example.com:443/\n"
	 "\tnew 'allow https://a.test/': ask -> method\n"
	 "- CONNECT https://a.test/ (requests that are read now) | CONNECT https://a.test/\n"
	 "\tnew 'allow https://a.test/': ask -> method\n"},
	{"ask *\n",
	 "ask *\n"
	 "deny * tcp/80,tcp/443 http=*+/x\n"
	 "allow https://203.0.113.8/x\n",
	 "- * * tcp/1-79,tcp/81-442,tcp/444-65535 / over TLS | GET https://1.1.1.1:22/\n"
	 "\tnew 'allow https://203.0.113.8/x': ask -> no-sni\n"
	 "- * * tcp/80,tcp/443 / | GET http://example.com/x\n"
	 "\tnew 'deny * tcp/80,tcp/443 http=*+/x': ask -> denied\n"
	 "- CONNECT * tcp/1-79,tcp/81-442,tcp/444-65535 / in the clear (requests that are read now) | CONNECT http://example.com:22/\n"
	 "\tnew 'allow https://203.0.113.8/x': ask -> method\n"},
};

/* What is looked into for a setting's sake: no rule is responsible for that. */
static const struct compared_case settings[] = {
	{"allow: [\"*\", a.test]\n",
	 "tls: inspect\n"
	 "allow: [\"*\", a.test]\n",
	 "- * * tcp/1-65535 / over TLS | GET https://1.1.1.1/\n"
	 "\told '\"*\"': granted -> no-sni\n"
	 "- CONNECT * tcp/1-65535 / (requests that are read now) | CONNECT https://example.com/\n"
	 "\told '\"*\"': granted -> method\n"
	 "- tls verify -> inspect\n"
	 "\tnew 'inspect'\n"},
	{"allow: [a.test]\n",
	 "tls: inspect\n"
	 "allow: [a.test]\n",
	 "- CONNECT a.test tcp/1-65535 / over TLS (requests that are read now) | CONNECT https://a.test/\n"
	 "\told 'a.test': granted -> method\n"
	 "- tls verify -> inspect\n"
	 "\tnew 'inspect'\n"},
	{"tls: inspect\n"
	 "allow: [a.test]\n",
	 "allow: [{dest: a.test, tls: verify}]\n",
	 "+ CONNECT a.test tcp/1-65535 / over TLS (requests that are not read) | CONNECT https://a.test/\n"
	 "\tnew 'a.test': method -> granted\n"
	 "+ tls inspect -> verify\n"
	 "\told 'inspect'\n"
	 "+ tls of a.test inspect -> verify\n"
	 "\tnew 'verify'\n"},
	{"allow: [\"*\"]\n",
	 "allow: [\"*\"]\n"
	 "credentials: [{host: a.test, header: X-Key, from_env: KEY}]\n",
	 "+ credentials + X-Key for a.test from $KEY\n"
	 "\tnew '{'\n"
	 "- * * tcp/1-65535 / over TLS | GET https://1.1.1.1/\n"
	 "\told '\"*\"': granted -> no-sni\n"
	 "- CONNECT * tcp/1-65535 / in the clear (requests that are read now) | CONNECT http://example.com:443/\n"
	 "\told '\"*\"': granted -> method\n"},
	{"allow: [a.test]\n",
	 "allow: [a.test]\n"
	 "credentials: [{host: a.test, header: X-Key, from_env: KEY}]\n",
	 "+ credentials + X-Key for a.test from $KEY\n"
	 "\tnew '{'\n"
	 "- CONNECT a.test tcp/1-65535 / over TLS (requests that are read now) | CONNECT https://a.test/\n"
	 "\told 'a.test': granted -> method\n"},
};

/*
 * Of many rules about one name: what refuses it now is looked for among all of
 * them for the first changes, and for each where the rules are few.
 */
#define MANY   200u
#define LOOKED ((1u << 15) / (MANY + 1)) /* access.c: REASONS_MAX */
#define FEW    8u

static void check_reasons(void)
{
	struct test_policy old, now;
	uint32_t port = 0, few = 0;
	struct comparison c;
	struct arena *a = arena_new();
	struct buf b;

	buf_init(&b, a);
	buf_adds(&b, "allow *.a.test tcp/60000\n");
	for (uint32_t i = 0; i < FEW * FEW; i++)
		buf_addf(&b, "allow %c.test tcp/%u\n", 'k' + i % FEW,
			 60000 + i / FEW * 2);
	CHECK(test_policy_make(&now, arena_cstr(a, buf_str(&b))));
	for (uint32_t i = 0; i < MANY; i++)
		buf_addf(&b, "allow *.a.test tcp/%u\n", 2 * i + 1);
	for (uint32_t i = 0; i < FEW; i++)
		buf_addf(&b, "allow %c.test tcp/9\n", 'k' + i);
	CHECK(test_policy_make(&old, arena_cstr(a, buf_str(&b))));
	compare_policies(a, &old.policy, &now.policy, &c);
	CHECK_MSG(c.changes.n == MANY + FEW, "%u", c.changes.n);
	vec_each(x, &c.changes) {
		bool is_few = !str_starts(x->witness.name, STR("www."));

		CHECK(x->way == ACCESS_LOST && x->was.reason == REASON_GRANTED);
		few += is_few && x->is.reason == REASON_PORT;
		port += !is_few && x->is.reason == REASON_PORT;
	}
	CHECK_MSG(port == LOOKED && few == FEW, "%u, %u", port, few);
	test_policy_done(&old);
	test_policy_done(&now);
	arena_free(a);
}

/*
 * The same of few rules that have many about requests: each of those counts as
 * one. The last that is looked for goes beyond what is left.
 */
#define LARGE  5u /* grants, with so many rules each: */
#define WITHIN 200u
#define SMALL  40u
#define SEEN   ((1u << 15) / (LARGE + SMALL + LARGE * WITHIN))

static void check_request_reasons(void)
{
	struct test_policy old, now;
	struct comparison c;
	struct arena *a = arena_new();
	uint32_t port = 0;
	struct buf b;

	buf_init(&b, a);
	for (uint32_t i = 0; i < LARGE; i++) {
		buf_addf(&b, "allow *.a.test tcp/%u", 10000 + i);
		for (uint32_t k = 0; k < WITHIN; k++)
			buf_addf(&b, " http=M%u+/p%u", k, k);
		buf_addc(&b, '\n');
	}
	CHECK(test_policy_make(&now, arena_cstr(a, buf_str(&b))));
	for (uint32_t i = 0; i < SMALL; i++)
		buf_addf(&b, "allow *.a.test tcp/%u\n", 20000 + 2 * i);
	CHECK(test_policy_make(&old, arena_cstr(a, buf_str(&b))));
	compare_policies(a, &old.policy, &now.policy, &c);
	CHECK_MSG(c.changes.n == SMALL, "%u", c.changes.n);
	vec_each(x, &c.changes) {
		CHECK(x->way == ACCESS_LOST && x->was.reason == REASON_GRANTED);
		port += x->is.reason == REASON_PORT;
	}
	CHECK_MSG(port == SEEN, "%u", port);
	test_policy_done(&old);
	test_policy_done(&now);
	arena_free(a);
}

int main(void)
{
	compared_check(cases, ARRAY_LEN(cases), compared_read, false,
		       compare_policies);
	compared_check(settings, ARRAY_LEN(settings), compared_read_yaml, false,
		       compare_policies);
	check_reasons();
	check_request_reasons();
	return check_status();
}
