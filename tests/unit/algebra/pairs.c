/*
 * compare.h, where a name and an address together make a difference that
 * neither makes alone, or a rule one to what it does not speak of.
 */
#include "compiler/algebra/compare/compare.h"

#include "tests/unit/algebra/compared.h"

static const struct compared_case cases[] = {
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
	/* Ports that one of the two protocols has; names of no rule's own. */
	{"allow * udp/443 private\n"
	 "deny 0.0.0.0/0\n",
	 "allow * udp/443 private\n",
	 "+ udp/443 0.0.0.0/0 | udp 1.1.1.1:443\n"
	 "\told 'deny 0.0.0.0/0': denied -> granted\n"
	 "+ udp/443 0.0.0.0/0 under granted names | udp 10.0.0.1:443 example.com\n"
	 "\told 'deny 0.0.0.0/0': denied -> granted\n"},
	{"",
	 "allow *.a.test tcp/443,udp/443 http=*+/x/y\n"
	 "allow *.a.test\n",
	 "+ tcp/1-65535 *.a.test | www.a.test:80\n"
	 "\tnew 'allow *.a.test': no-grant -> granted\n"},
	{"allow 0.0.0.0/0\n",
	 "allow a.test\n",
	 "+ tcp/1-65535 a.test | a.test:443\n"
	 "\tnew 'allow a.test': no-grant -> granted\n"
	 "- tcp/1-65535 0.0.0.0/0 | tcp 1.1.1.1:443\n"
	 "\told 'allow 0.0.0.0/0': granted -> no-grant\n"},
	{"",
	 "deny b.*.test tcp/80,tcp/443\n"
	 "allow **.test tcp/80,tcp/443\n",
	 "+ tcp/80,tcp/443 **.test | example.test:80\n"
	 "\tnew 'allow **.test tcp/80,tcp/443': no-grant -> granted\n"
	 "+ **.test | resolve b.example.test\n"
	 "\tnew 'allow **.test tcp/80,tcp/443': no-grant -> granted\n"},
	/* What is refused for the sake of others: QUIC, and CONNECT to addresses,
	   which nobody is asked about then. */
	{"allow 203.0.113.0/28 udp/443\n",
	 "ask b.*.test\n"
	 "allow 203.0.113.0/28 udp/443\n"
	 "deny 192.168.0.0/16 http=GET+/x\n",
	 "+ tcp/1-65535 b.*.test | b.example.test:443\n"
	 "\tnew 'ask b.*.test': no-grant -> ask\n"
	 "- QUIC udp/443 203.0.113.0/28 | quic 203.0.113.1:443\n"
	 "\tnew 'deny 192.168.0.0/16 http=GET+/x': granted -> quic\n"},
	{"allow 10.0.0.0/8\n"
	 "deny http://10.0.0.1/\n",
	 "allow 10.0.0.0/8\n"
	 "deny **.c.b.test\n",
	 "+ * http://10.0.0.1/ | GET http://10.0.0.1/\n"
	 "\told 'deny http://10.0.0.1/': denied -> granted\n"
	 "- tcp/1-65535 **.c.b.test at private addresses | tcp 10.0.0.0:22 www.c.b.test\n"
	 "\tnew 'deny **.c.b.test': granted -> denied\n"
	 "- CONNECT 10.0.0.0/8 tcp/1-79,tcp/81-65535 / in the clear (requests that are read now) | CONNECT http://10.0.0.0:22/\n"
	 "\tnew 'deny **.c.b.test': granted -> method\n"},
	{"ask 8.8.8.8/32\n",
	 "ask 8.8.8.8/32\n"
	 "deny https://203.0.113.8/x\n",
	 "- CONNECT http://8.8.8.8:443/ (requests that are read now) | CONNECT http://8.8.8.8:443/\n"
	 "\tnew 'deny https://203.0.113.8/x': ask -> method\n"},
	{"ask 169.254.169.254/32\n"
	 "deny **.c.b.test\n",
	 "ask 169.254.169.254/32\n",
	 "+ tcp/1-65535 **.c.b.test at private addresses | tcp 169.254.169.254:443 www.c.b.test\n"
	 "\told 'deny **.c.b.test': floor -> ask\n"
	 "+ CONNECT 169.254.169.254/32 tcp/1-65535 / in the clear (requests that are not read) | CONNECT http://169.254.169.254:443/\n"
	 "\told 'deny **.c.b.test': floor -> ask\n"},
	{"",
	 "ask *.test\n"
	 "ask * tcp/22\n",
	 "+ tcp/1-21,tcp/23-65535 *.test | example.test:1\n"
	 "\tnew 'ask *.test': no-grant -> ask\n"
	 "+ tcp/22 * | example.com:22\n"
	 "\tnew 'ask * tcp/22': no-grant -> ask\n"},
};

int main(void)
{
	compared_check(cases, ARRAY_LEN(cases), compared_read, false,
		       compare_policies);
	return check_status();
}
