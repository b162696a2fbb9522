/*
 * compare.h, of what is unchanged: the rules of both that permit it, and what
 * of it goes without saying.
 */
#include "compiler/algebra/compare/compare.h"

#include "tests/unit/algebra/compared.h"

#define USUAL                                                                  \
	"= read what nothing hides | read README.md\n"                         \
	"\tnew '-': granted -> granted\n"                                      \
	"= write what nothing protects | write README.md\n"                    \
	"\tnew '-': granted -> granted\n"

static const struct compared_case cases[] = {
	/* By the rule that both have; else by one of each. */
	{"allow a.test:443\n", "allow a.test:443\n",
	 "= tcp/443 a.test | a.test:443\n"
	 "\tnew 'allow a.test:443': granted -> granted\n" USUAL},
	{"allow *.a.test:443\n"
	 "allow b.a.test:443\n",
	 "allow b.a.test:443\n",
	 "- tcp/443 *.a.test | www.a.test:443\n"
	 "\told 'allow *.a.test:443': granted -> no-grant\n"
	 "= tcp/443 b.a.test | b.a.test:443\n"
	 "\tnew 'allow b.a.test:443': granted -> granted\n" USUAL},
	{"allow *.a.test:443\n",
	 "allow *.a.test:443\n"
	 "allow b.a.test:443\n",
	 "= tcp/443 *.a.test | www.a.test:443\n"
	 "\tnew 'allow *.a.test:443': granted -> granted\n" USUAL},
	{"allow *.a.test:443\n"
	 "allow b.a.test:443\n",
	 "allow **.a.test:443\n",
	 "+ tcp/443 **.a.test | www.eu.a.test:443\n"
	 "\tnew 'allow **.a.test:443': no-grant -> granted\n"
	 "= tcp/443 *.a.test | www.a.test:443\n"
	 "\tnew 'allow **.a.test:443', old 'allow *.a.test:443': granted -> granted\n" USUAL},
	{"allow b.*.test:443\n", "allow *.a.test:443\n",
	 "+ tcp/443 *.a.test | www.a.test:443\n"
	 "\tnew 'allow *.a.test:443': no-grant -> granted\n"
	 "- tcp/443 b.*.test | b.example.test:443\n"
	 "\told 'allow b.*.test:443': granted -> no-grant\n"
	 "= tcp/443 b.a.test | b.a.test:443\n"
	 "\tnew 'allow *.a.test:443', old 'allow b.*.test:443': granted -> granted\n" USUAL},
	{"allow a.test tcp/80,tcp/443\n", "allow a.test tcp/443,tcp/8443\n",
	 "+ tcp/8443 a.test | a.test:8443\n"
	 "\tnew 'allow a.test tcp/443,tcp/8443': port -> granted\n"
	 "- tcp/80 a.test | a.test:80\n"
	 "\told 'allow a.test tcp/80,tcp/443': granted -> port\n"
	 "= tcp/443 a.test | a.test:443\n"
	 "\tnew 'allow a.test tcp/443,tcp/8443', old 'allow a.test tcp/80,tcp/443': granted -> granted\n" USUAL},
	/* What is asked about by both, as widely. */
	{"ask a.test:443\n", "ask a.test:443\n",
	 "= tcp/443 a.test | a.test:443\n"
	 "\tnew 'ask a.test:443': ask -> ask\n" USUAL},
	{"ask a.test:443 for=once\n", "ask *.test:443 for=once\n",
	 "+ tcp/443 *.test | example.test:443\n"
	 "\tnew 'ask *.test:443 for=once': no-grant -> ask\n"
	 "= tcp/443 a.test | a.test:443\n"
	 "\tnew 'ask *.test:443 for=once', old 'ask a.test:443 for=once': ask -> ask\n" USUAL},
	{"ask a.test:443 for=once\n", "ask a.test:443 for=always\n",
	 "+ tcp/443 a.test | a.test:443\n"
	 "\tnew 'ask a.test:443 for=always': ask -> ask\n" USUAL},
	{"allow a.test:443\n"
	 "ask *.test:443\n",
	 "allow a.test:443\n"
	 "ask *.test:443\n",
	 "= tcp/443 *.test | example.test:443\n"
	 "\tnew 'ask *.test:443': ask -> ask\n"
	 "= tcp/443 a.test | a.test:443\n"
	 "\tnew 'allow a.test:443': granted -> granted\n" USUAL},
	{"ask a.test tcp/443 http=GET\n", "ask a.test tcp/443 http=GET\n",
	 "= GET https://a.test/ | GET https://a.test/\n"
	 "\tnew 'ask a.test tcp/443 http=GET': ask -> ask\n" USUAL},
	{"ask a.test tcp/443 http=GET\n", "ask a.test tcp/443 http=GET+POST\n",
	 "+ POST https://a.test/ | POST https://a.test/\n"
	 "\tnew 'ask a.test tcp/443 http=GET+POST': no-grant -> ask\n"
	 "= GET https://a.test/ | GET https://a.test/\n"
	 "\tnew 'ask a.test tcp/443 http=GET+POST', old 'ask a.test tcp/443 http=GET': ask -> ask\n" USUAL},
	/* Requests where connections are not; and questions where neither is.
	 */
	{"allow a.test tcp/443 http=GET\n", "allow a.test tcp/443 http=GET\n",
	 "= GET https://a.test/ | GET https://a.test/\n"
	 "\tnew 'allow a.test tcp/443 http=GET': granted -> granted\n" USUAL},
	{"allow a.test tcp/443 http=GET\n", "allow a.test:443\n",
	 "+ tcp/443 a.test | a.test:443\n"
	 "\tnew 'allow a.test:443': not-http -> granted\n"
	 "= GET https://a.test/ | GET https://a.test/\n"
	 "\tnew 'allow a.test:443', old 'allow a.test tcp/443 http=GET': granted -> granted\n" USUAL},
	{"allow a.test:443\n", "allow a.test tcp/443 http=GET\n",
	 "- tcp/443 a.test | a.test:443\n"
	 "\told 'allow a.test:443': granted -> not-http\n"
	 "- * https://a.test/ | POST https://a.test/\n"
	 "\told 'allow a.test:443': granted -> method\n"
	 "= GET https://a.test/ | GET https://a.test/\n"
	 "\tnew 'allow a.test tcp/443 http=GET', old 'allow a.test:443': granted -> granted\n" USUAL},
	{"allow a.test tcp/443 http=GET\n", "allow a.test tcp/443 http=POST\n",
	 "+ POST https://a.test/ | POST https://a.test/\n"
	 "\tnew 'allow a.test tcp/443 http=POST': method -> granted\n"
	 "- GET https://a.test/ | GET https://a.test/\n"
	 "\told 'allow a.test tcp/443 http=GET': granted -> method\n"
	 "= a.test | resolve a.test\n"
	 "\tnew 'allow a.test tcp/443 http=POST', old 'allow a.test tcp/443 http=GET': granted -> granted\n" USUAL},
	{"allow a.test:443\n"
	 "deny a.test tcp/443 http=POST\n",
	 "allow a.test:443\n"
	 "deny a.test tcp/443 http=POST\n",
	 "= tcp/443 a.test | a.test:443\n"
	 "\tnew 'allow a.test:443': granted -> granted\n" USUAL},
	{"allow a.test:443\n"
	 "deny a.test tcp/443 http=POST\n",
	 "allow a.test:443\n",
	 "+ POST https://a.test/ | POST https://a.test/\n"
	 "\told 'deny a.test tcp/443 http=POST': denied -> granted\n"
	 "= tcp/443 a.test | a.test:443\n"
	 "\tnew 'allow a.test:443': granted -> granted\n" USUAL},
	{"allow *.a.test tcp/443\n", "allow www.a.test tcp/22\n",
	 "+ tcp/22 www.a.test | www.a.test:22\n"
	 "\tnew 'allow www.a.test tcp/22': port -> granted\n"
	 "- tcp/443 *.a.test | api.a.test:443\n"
	 "\told 'allow *.a.test tcp/443': granted -> no-grant\n"
	 "= www.a.test | resolve www.a.test\n"
	 "\tnew 'allow www.a.test tcp/22', old 'allow *.a.test tcp/443': granted -> granted\n" USUAL},
	{"allow a.test tcp/443 inspect\n", "allow a.test tcp/443\n",
	 "+ CONNECT https://a.test/ (requests that are not read) | CONNECT https://a.test/\n"
	 "\tnew 'allow a.test tcp/443': method -> granted\n"
	 "+ tls of a.test inspect -> verify\n"
	 "\told 'allow a.test tcp/443 inspect'\n"
	 "= tcp/443 a.test | a.test:443\n"
	 "\tnew 'allow a.test tcp/443', old 'allow a.test tcp/443 inspect': granted -> granted\n" USUAL},
	{"allow a.test tcp/443 inspect\n", "allow a.test tcp/443 inspect\n",
	 "= tcp/443 a.test | a.test:443\n"
	 "\tnew 'allow a.test tcp/443 inspect': granted -> granted\n" USUAL
	 "= tls of a.test inspect\n"
	 "\tnew 'allow a.test tcp/443 inspect'\n"},
	/* Addresses. */
	{"allow 203.0.113.0/24 tcp/443\n", "allow 203.0.113.0/28 tcp/400-500\n",
	 "+ tcp/400-442,tcp/444-500 203.0.113.0/28 | tcp 203.0.113.1:400\n"
	 "\tnew 'allow 203.0.113.0/28 tcp/400-500': port -> granted\n"
	 "- tcp/443 203.0.113.0/24 | tcp 203.0.113.16:443\n"
	 "\told 'allow 203.0.113.0/24 tcp/443': granted -> no-grant\n"
	 "= tcp/443 203.0.113.0/28 | tcp 203.0.113.1:443\n"
	 "\tnew 'allow 203.0.113.0/28 tcp/400-500', old 'allow 203.0.113.0/24 tcp/443': granted -> granted\n" USUAL},
	{"allow 203.0.113.0/28 tcp/443\n"
	 "allow 203.0.113.32/28 tcp/443\n",
	 "allow 203.0.113.0/24 tcp/443\n",
	 "+ tcp/443 203.0.113.0/24 | tcp 203.0.113.16:443\n"
	 "\tnew 'allow 203.0.113.0/24 tcp/443': no-grant -> granted\n"
	 "= tcp/443 203.0.113.0/28 | tcp 203.0.113.1:443\n"
	 "\tnew 'allow 203.0.113.0/24 tcp/443', old 'allow 203.0.113.0/28 tcp/443': granted -> granted\n"
	 "= tcp/443 203.0.113.32/28 | tcp 203.0.113.32:443\n"
	 "\tnew 'allow 203.0.113.0/24 tcp/443', old 'allow 203.0.113.32/28 tcp/443': granted -> granted\n" USUAL},
	{"allow 203.0.113.8/32 tcp/443,udp/443\n",
	 "allow 203.0.113.8/32 tcp/443,udp/443\n"
	 "deny https://a.test/x\n",
	 "- QUIC udp/443 203.0.113.8/32 | quic 203.0.113.8:443\n"
	 "\tnew 'deny https://a.test/x': granted -> quic\n"
	 "- CONNECT http://203.0.113.8:443/ (requests that are read now) | CONNECT http://203.0.113.8:443/\n"
	 "\tnew 'deny https://a.test/x': granted -> method\n"
	 "- * https://a.test/x at addresses that other rules are about | GET https://a.test/x at 203.0.113.8\n"
	 "\tnew 'deny https://a.test/x': granted -> denied\n"
	 "= tcp/443,udp/443 203.0.113.8/32 | tcp 203.0.113.8:443\n"
	 "\tnew 'allow 203.0.113.8/32 tcp/443,udp/443': granted -> granted\n" USUAL},
	/* A name at an address, which one alone has. */
	{"allow a.test:443\n", "allow 203.0.113.0/24 tcp/443\n",
	 "+ tcp/443 203.0.113.0/24 | tcp 203.0.113.1:443\n"
	 "\tnew 'allow 203.0.113.0/24 tcp/443': no-grant -> granted\n"
	 "- tcp/443 a.test | a.test:443\n"
	 "\told 'allow a.test:443': granted -> no-grant\n"
	 "= tcp/443 * (addresses granted now, under names that were) | tcp 203.0.113.1:443 a.test\n"
	 "\tnew 'allow 203.0.113.0/24 tcp/443', old 'allow a.test:443': granted -> granted\n" USUAL},
	{"allow 203.0.113.0/24 tcp/443\n", "allow a.test:443\n",
	 "+ tcp/443 a.test | a.test:443\n"
	 "\tnew 'allow a.test:443': no-grant -> granted\n"
	 "- tcp/443 203.0.113.0/24 | tcp 203.0.113.1:443\n"
	 "\told 'allow 203.0.113.0/24 tcp/443': granted -> no-grant\n"
	 "= tcp/443 * (names granted now, at addresses that were) | tcp 203.0.113.1:443 a.test\n"
	 "\tnew 'allow a.test:443', old 'allow 203.0.113.0/24 tcp/443': granted -> granted\n" USUAL},
	{"allow 203.0.113.0/24 tcp/443\n"
	 "allow a.test:443\n",
	 "allow 203.0.113.0/24 tcp/443\n",
	 "- tcp/443 a.test | a.test:443\n"
	 "\told 'allow a.test:443': granted -> no-grant\n"
	 "= tcp/443 203.0.113.0/24 | tcp 203.0.113.1:443\n"
	 "\tnew 'allow 203.0.113.0/24 tcp/443': granted -> granted\n" USUAL},
	{"allow 203.0.113.0/24 tcp/443\n",
	 "allow 203.0.113.0/24 tcp/443\n"
	 "deny a.test\n",
	 "- tcp/443 a.test at addresses that other rules are about | tcp 203.0.113.1:443 a.test\n"
	 "\tnew 'deny a.test': granted -> denied\n"
	 "- CONNECT 203.0.113.0/24 tcp/443 / in the clear (requests that are read now) | CONNECT http://203.0.113.1:443/\n"
	 "\tnew 'deny a.test': granted -> method\n"
	 "= tcp/443 203.0.113.0/24 | tcp 203.0.113.1:443\n"
	 "\tnew 'allow 203.0.113.0/24 tcp/443': granted -> granted\n" USUAL},
	{"allow a.test:443\n"
	 "allow b.test:443\n",
	 "allow 203.0.113.0/24 tcp/443\n"
	 "allow 198.51.100.0/24 tcp/443\n",
	 "+ tcp/443 198.51.100.0/24 | tcp 198.51.100.1:443\n"
	 "\tnew 'allow 198.51.100.0/24 tcp/443': no-grant -> granted\n"
	 "+ tcp/443 203.0.113.0/24 | tcp 203.0.113.1:443\n"
	 "\tnew 'allow 203.0.113.0/24 tcp/443': no-grant -> granted\n"
	 "- tcp/443 a.test | a.test:443\n"
	 "\told 'allow a.test:443': granted -> no-grant\n"
	 "- tcp/443 b.test | b.test:443\n"
	 "\told 'allow b.test:443': granted -> no-grant\n"
	 "= tcp/443 * (addresses granted now, under names that were) | tcp 198.51.100.1:443 a.test\n"
	 "\tnew 'allow 198.51.100.0/24 tcp/443', old 'allow a.test:443': granted -> granted\n" USUAL},
	{"allow a.test:443 private\n",
	 "allow a.test:443 private\n"
	 "allow 10.0.0.0/8 tcp/443\n",
	 "+ tcp/443 10.0.0.0/8 | tcp 10.0.0.1:443\n"
	 "\tnew 'allow 10.0.0.0/8 tcp/443': no-grant -> granted\n"
	 "= tcp/443 a.test | a.test:443\n"
	 "\tnew 'allow a.test:443 private': granted -> granted\n" USUAL},
	{"allow a.test:443 private\n",
	 "allow *.test:443 private\n"
	 "allow a.test:443\n",
	 "+ tcp/443 *.test | example.test:443\n"
	 "\tnew 'allow *.test:443 private': no-grant -> granted\n"
	 "= tcp/443 a.test | a.test:443\n"
	 "\tnew 'allow *.test:443 private', old 'allow a.test:443 private': granted -> granted\n" USUAL},
	{"allow *\n", "allow a.test\n",
	 "- tcp/1-65535 * | example.com:443\n"
	 "\told 'allow *': granted -> no-grant\n"
	 "- CONNECT * tcp/1-65535 / in the clear (requests that are read now) | CONNECT http://a.test:443/\n"
	 "\told 'allow *': granted -> method\n"
	 "= tcp/1-65535 a.test | a.test:443\n"
	 "\tnew 'allow a.test', old 'allow *': granted -> granted\n" USUAL},
	{"allow *\n", "allow *\n",
	 "= tcp/1-65535 * | example.com:443\n"
	 "\tnew 'allow *': granted -> granted\n" USUAL},
	{"allow a.test:443\n",
	 "allow *\n"
	 "allow b.test http=GET\n",
	 "+ tcp/1-65535 * | example.com:443\n"
	 "\tnew 'allow *': no-grant -> granted\n"
	 "+ * * tcp/1-65535 / in the clear | GET http://1.1.1.1:443/\n"
	 "\tnew 'allow *': no-grant -> granted\n"
	 "= tcp/443 a.test | a.test:443\n"
	 "\tnew 'allow *', old 'allow a.test:443': granted -> granted\n" USUAL},
	{"allow *\n", "allow 203.0.113.0/24\n",
	 "- tcp/1-65535 * | example.com:443\n"
	 "\told 'allow *': granted -> no-grant\n"
	 "= tcp/1-65535 203.0.113.0/24 | tcp 203.0.113.1:443\n"
	 "\tnew 'allow 203.0.113.0/24', old 'allow *': granted -> granted\n" USUAL},
	{"allow 203.0.113.0/24\n", "allow *\n",
	 "+ tcp/1-65535 * | example.com:443\n"
	 "\tnew 'allow *': no-grant -> granted\n"
	 "= tcp/1-65535 203.0.113.0/24 | tcp 203.0.113.1:443\n"
	 "\tnew 'allow *', old 'allow 203.0.113.0/24': granted -> granted\n" USUAL},
	{"allow b.a.test:443\n",
	 "allow *.a.test:443\n"
	 "allow b.a.test:443\n",
	 "+ tcp/443 *.a.test | www.a.test:443\n"
	 "\tnew 'allow *.a.test:443': no-grant -> granted\n"
	 "= tcp/443 b.a.test | b.a.test:443\n"
	 "\tnew 'allow b.a.test:443': granted -> granted\n" USUAL},
	/* Each pair of rules is one; names and addresses that cross are one. */
	{"allow *.a.test:443\n",
	 "allow b.a.test:443\n"
	 "allow c.a.test:443\n",
	 "- tcp/443 *.a.test | www.a.test:443\n"
	 "\told 'allow *.a.test:443': granted -> no-grant\n"
	 "= tcp/443 b.a.test | b.a.test:443\n"
	 "\tnew 'allow b.a.test:443', old 'allow *.a.test:443': granted -> granted\n"
	 "= tcp/443 c.a.test | c.a.test:443\n"
	 "\tnew 'allow c.a.test:443', old 'allow *.a.test:443': granted -> granted\n" USUAL},
	{"allow a.test:443\n"
	 "allow b.test tcp/80,tcp/443\n",
	 "allow 203.0.113.0/24 tcp/80,tcp/443\n",
	 "+ tcp/80,tcp/443 203.0.113.0/24 | tcp 203.0.113.1:80\n"
	 "\tnew 'allow 203.0.113.0/24 tcp/80,tcp/443': no-grant -> granted\n"
	 "- tcp/443 a.test | a.test:443\n"
	 "\told 'allow a.test:443': granted -> no-grant\n"
	 "- tcp/80,tcp/443 b.test | b.test:80\n"
	 "\told 'allow b.test tcp/80,tcp/443': granted -> no-grant\n"
	 "= tcp/80,tcp/443 * (addresses granted now, under names that were) | tcp 203.0.113.1:443 a.test\n"
	 "\tnew 'allow 203.0.113.0/24 tcp/80,tcp/443', old 'allow a.test:443': granted -> granted\n" USUAL},
	{"allow a.test tcp/80,tcp/443\n",
	 "allow 203.0.113.0/24 tcp/80,tcp/443\n"
	 "allow 198.51.100.0/24 tcp/443\n",
	 "+ tcp/443 198.51.100.0/24 | tcp 198.51.100.1:443\n"
	 "\tnew 'allow 198.51.100.0/24 tcp/443': no-grant -> granted\n"
	 "+ tcp/80,tcp/443 203.0.113.0/24 | tcp 203.0.113.1:80\n"
	 "\tnew 'allow 203.0.113.0/24 tcp/80,tcp/443': no-grant -> granted\n"
	 "- tcp/80,tcp/443 a.test | a.test:80\n"
	 "\told 'allow a.test tcp/80,tcp/443': granted -> no-grant\n"
	 "= tcp/80,tcp/443 * (addresses granted now, under names that were) | tcp 198.51.100.1:443 a.test\n"
	 "\tnew 'allow 198.51.100.0/24 tcp/443', old 'allow a.test tcp/80,tcp/443': granted -> granted\n" USUAL},
	/* Asked about at private addresses alone. */
	{"allow *.test:443\n"
	 "allow 10.0.0.0/8 tcp/22\n"
	 "ask a.test:443 private for=once\n"
	 "ask b.test:443 private for=once\n",
	 "allow **.test:443\n"
	 "allow 10.0.0.0/8 tcp/22\n"
	 "ask a.test:443 private for=once\n"
	 "ask b.test:443 private for=once\n",
	 "+ tcp/443 **.test | www.example.test:443\n"
	 "\tnew 'allow **.test:443': no-grant -> granted\n"
	 "= tcp/22 10.0.0.0/8 | tcp 10.0.0.1:22\n"
	 "\tnew 'allow 10.0.0.0/8 tcp/22': granted -> granted\n"
	 "= tcp/443 *.test | example.test:443\n"
	 "\tnew 'allow **.test:443', old 'allow *.test:443': granted -> granted\n"
	 "= tcp/443 a.test at private addresses | tcp 100.64.0.1:443 a.test\n"
	 "\tnew 'ask a.test:443 private for=once': ask -> ask\n"
	 "= tcp/443 b.test at private addresses | tcp 100.64.0.1:443 b.test\n"
	 "\tnew 'ask b.test:443 private for=once': ask -> ask\n" USUAL},
	/* The first of those that say the same of TLS. */
	{"allow a.test tcp/80 verify\n"
	 "allow a.test tcp/443 verify\n",
	 "allow a.test tcp/80 verify\n"
	 "allow a.test tcp/443 verify\n",
	 "= tcp/443 a.test | a.test:443\n"
	 "\tnew 'allow a.test tcp/443 verify': granted -> granted\n"
	 "= tcp/80 a.test | a.test:80\n"
	 "\tnew 'allow a.test tcp/80 verify': granted -> granted\n" USUAL
	 "= tls of a.test verify\n"
	 "\tnew 'allow a.test tcp/443 verify'\n"},
	/* Beside what changed; and what TLS is looked into, of several grants. */
	{"allow www.a.test\n"
	 "allow 203.0.113.0/24 tcp/443-444 http=CONNECT\n"
	 "deny 2001:db8::/32\n",
	 "allow www.a.test\n",
	 "+ tcp/1-65535 2001:db8::/32 under granted names | tcp [2001:db8::1]:443 www.a.test\n"
	 "\told 'deny 2001:db8::/32': denied -> granted\n"
	 "+ CONNECT 203.0.113.0/24 tcp/443-444 / over TLS under granted names | CONNECT https://www.a.test/ at 203.0.113.1\n"
	 "\told 'allow 203.0.113.0/24 tcp/443-444 http=CONNECT': method -> granted\n"
	 "= tcp/1-65535 www.a.test | www.a.test:443\n"
	 "\tnew 'allow www.a.test': granted -> granted\n" USUAL},
	{"allow * tcp/1-65535 http=GET http=POST+/x\n",
	 "ask *\n"
	 "deny 10.0.0.0/8 tcp/443 http=GET+/x%40y\n",
	 "+ tcp/1-65535 * | example.com:80\n"
	 "\tnew 'ask *': not-http -> ask\n"
	 "+ * * tcp/1-65535 / in the clear | POST http://1.1.1.1/\n"
	 "\tnew 'ask *': path -> ask\n"
	 "- GET * tcp/1-65535 /; GET,POST /x | GET http://example.com/\n"
	 "\tnew 'ask *': granted -> ask\n" USUAL},
	{"allow 203.0.113.8/32\n"
	 "allow 198.51.100.0/24 http=GET+/x+/y\n"
	 "deny **.a.test\n",
	 "allow 203.0.113.8/32\n",
	 "+ tcp/1-65535 **.a.test at addresses that other rules are about | tcp 203.0.113.8:443 www.a.test\n"
	 "\told 'deny **.a.test': denied -> granted\n"
	 "+ CONNECT 203.0.113.8/32 tcp/1-65535 / in the clear (requests that are not read) | CONNECT http://203.0.113.8:443/\n"
	 "\told 'deny **.a.test': method -> granted\n"
	 "- GET 198.51.100.0/24 tcp/1-65535 /x /y in the clear | GET http://198.51.100.1:443/x\n"
	 "\told 'allow 198.51.100.0/24 http=GET+/x+/y': granted -> no-grant\n"
	 "- GET 198.51.100.0/24 tcp/1-65535 /x /y over TLS under granted names | GET https://a.test/x at 198.51.100.1\n"
	 "\told 'allow 198.51.100.0/24 http=GET+/x+/y': granted -> no-grant\n"
	 "= tcp/1-65535 203.0.113.8/32 | tcp 203.0.113.8:443\n"
	 "\tnew 'allow 203.0.113.8/32': granted -> granted\n" USUAL},
	{"allow http://*.test/x\n"
	 "ask *\n",
	 "allow http://*.test/x\n"
	 "ask *\n",
	 "= tcp/1-65535 * | example.com:443\n"
	 "\tnew 'ask *': ask -> ask\n"
	 "= * http://*.test/x | GET http://example.test/x\n"
	 "\tnew 'allow http://*.test/x': granted -> granted\n" USUAL},
	{"allow a.test tcp/80,tcp/443 verify\n",
	 "allow a.test tcp/80,tcp/443 verify\n",
	 "= tcp/80,tcp/443 a.test | a.test:80\n"
	 "\tnew 'allow a.test tcp/80,tcp/443 verify': granted -> granted\n" USUAL
	 "= tls of a.test verify\n"
	 "\tnew 'allow a.test tcp/80,tcp/443 verify'\n"},
	{"allow b.test tcp/80 inspect\n"
	 "allow b.test\n",
	 "allow b.test tcp/80 inspect\n",
	 "- tcp/1-79,tcp/81-65535 b.test | b.test:22\n"
	 "\told 'allow b.test': granted -> port\n"
	 "= tcp/80 b.test | b.test:80\n"
	 "\tnew 'allow b.test tcp/80 inspect': granted -> granted\n" USUAL
	 "= tls of b.test inspect\n"
	 "\tnew 'allow b.test tcp/80 inspect'\n"},
};

int main(void)
{
	compared_check(cases, ARRAY_LEN(cases), compared_read, true,
		       compare_whole);
	return check_status();
}
