/*
 * What is said of destinations, ports, requests and paths: the words, and what
 * is next to them and taken.
 */
#include "compiler/front/word/dest_parser.h"
#include "compiler/front/word/request.h"
#include "tests/unit/front.h"

#include <stdlib.h>

enum what { DEST, PORT, REQUEST, PATH };

static const struct {
	enum what what;
	const char *text, *want;
} list[] = {
	/* a port by its service, and what is none */
	{DEST, "a.test:http",
	 "7-11 E309 'http' is not a port number | write '80'\n"},
	{DEST, "a.test:https",
	 "7-12 E309 'https' is not a port number | write '443'\n"},
	{DEST, "a.test:ssh",
	 "7-10 E309 'ssh' is not a port number | write '22'\n"},
	{DEST, "a.test:dns",
	 "7-10 E309 'dns' is not a port number | write '53'\n"},
	{DEST, "a.test:git",
	 "7-10 E309 'git' is not a port number | write '9418'\n"},
	{DEST, "a.test:ntp",
	 "7-10 E309 'ntp' is not a port number | write '123'\n"},
	{DEST, "a.test:postgres",
	 "7-15 E309 'postgres' is not a port number | write '5432'\n"},
	{DEST, "a.test:smtp",
	 "7-11 E309 'smtp' is not a port number | write '25'\n"},
	{DEST, "a.test:htt",
	 "7-10 E309 'htt' is not a port number | a port is 1 to 65535, a range, or either with '/udp'\n"},
	{DEST, "a.test:*",
	 "7-8 E309 a '*' for a port | leave the port out for any TCP port, or write '1-65535'\n"},
	{DEST, "a.test:0",
	 "7-8 E309 port '0' is out of range | a port is 1 to 65535\n"},
	{DEST, "a.test:65536",
	 "7-12 E309 port '65536' is out of range | a port is 1 to 65535\n"},
	{DEST, "a.test:080",
	 "7-10 E309 a leading zero in port '080' | write '80'\n"},
	{DEST, "a.test:2-1",
	 "7-10 E309 a port range that runs backwards | write '1-2'\n"},
	{DEST, "a.test:1-0",
	 "9-10 E309 port '0' is out of range | a port is 1 to 65535\n"},
	{DEST, "a.test:",
	 "7-7 E300 a destination that ends too early | expected a port number\n"},
	{DEST, "a.test:1/sctp",
	 "9-13 E310 unknown protocol 'sctp' | 'tcp' or 'udp'; for a path write a URL: 'https://a.test:1/sctp'\n"},
	{DEST, "a.test:1/",
	 "8-9 E310 no protocol behind '/' | 'tcp' or 'udp'; for a path write a URL: 'https://a.test:1/'\n"},
	{DEST, "*.test:1/x",
	 "9-10 E310 unknown protocol 'x' | 'tcp' or 'udp'; for a path write a URL: 'https://*.test:1/x'\n"},
	{DEST, "10.0.0.0/8:1/x",
	 "13-14 E310 unknown protocol 'x' | 'tcp' or 'udp'; nothing else passes the gate\n"},
	{DEST, "10.0.0.0/8:1/",
	 "12-13 E310 no protocol behind '/' | 'tcp' or 'udp'; nothing else passes the gate\n"},

	/* user names */
	{DEST, "git@a.test",
	 "0-4 E305 a user name in a destination | leave 'git@' out; secrets go under 'credentials'\n"},
	{DEST, "git@a.test:org/repo",
	 "0-4 E305 a user name in a destination | write 'a.test:22' for git over ssh\n"},
	{DEST, "https://u:p@a.test/",
	 "8-12 E305 a user name in a destination | leave 'u:p@' out; secrets go under 'credentials'\n"},
	{DEST, "https://u@a.test:80/",
	 "8-10 E305 a user name in a destination | leave 'u@' out; secrets go under 'credentials'\n"},

	/* labels */
	{DEST, "a..test",
	 "2-3 E302 an empty label | one dot between two labels\n"},
	{DEST, ".a.test",
	 "0-1 E302 an empty label | for every name below it write '**.a.test'\n"},
	{DEST, ".", "0-1 E302 an empty label | one dot between two labels\n"},
	{DEST, "a.te*t",
	 "2-6 E301 'te*t' has a wildcard inside a label | a '*' stands for one whole label, as in '*.example.com', a leading '**' for one or more\n"},
	{DEST, "**",
	 "0-2 E301 '**' without a name | write '*' for every destination\n"},
	{DEST, "**.",
	 "0-3 E301 '**' without a name | write '*' for every destination\n"},
	{DEST, "a.**.test",
	 "2-4 E301 '**' stands leftmost or not at all | write '*' for one label here\n"},
	{DEST, "*.**.test",
	 "2-4 E301 '**' stands leftmost or not at all | write '*' for one label here\n"},
	{DEST, "-a.test",
	 "0-2 E302 the label '-a' begins with a hyphen | no host has such a name (RFC 1123)\n"},
	{DEST, "a-.test",
	 "0-2 E302 the label 'a-' ends with a hyphen | no host has such a name (RFC 1123)\n"},
	{DEST, "a.test-",
	 "2-7 E302 the label 'test-' ends with a hyphen | no host has such a name (RFC 1123)\n"},
	{DEST, "_a.test", ""},

	/* paths where none belong */
	{DEST, "a.test/x",
	 "6-8 E316 a path behind a bare name | write a URL: 'https://a.test/x'\n"},
	{DEST, "*.test/x",
	 "6-8 E316 a path behind a bare name | write a URL: 'https://*.test/x'\n"},
	{DEST, "/x",
	 "0-2 E300 a path where a destination belongs | as in 'https://example.com/x'\n"},
	{DEST, "https:///x",
	 "8-10 E300 a URL without a host | as in 'https://example.com/api/'\n"},
	{DEST, "https://a.test:/x",
	 "15-17 E309 no port behind the ':' | without the ':' it is the scheme's own\n"},
	{DEST, "https://a.test:80-81/",
	 "15-20 E309 a URL has one TCP port | write one entry per port\n"},
	{DEST, "https://a.test:443-443/", ""},
	{DEST, "https://*/",
	 "8-9 E300 a URL for every host | write '*' with 'http' rules, or name the host\n"},
	{DEST, "https://*:80/x",
	 "8-9 E300 a URL for every host | write '*' with 'http' rules, or name the host\n"},
	{DEST, "host/x",
	 "4-6 E316 a path behind a bare name | write a URL: 'https://host/x'\n"},

	/* addresses */
	{DEST, "10.0.*.*",
	 "0-8 E313 a '*' in an address | write a network: '10.0.0.0/16'\n"},
	{DEST, "10.*",
	 "0-4 E313 a '*' in an address | write a network: '10.0.0.0/8'\n"},
	{DEST, "10.*.*",
	 "0-6 E313 a '*' in an address | write a network: '10.0.0.0/8'\n"},
	{DEST, "*.10",
	 "0-1 E313 '*' is no part of an IPv4 address | four decimal numbers from 0 to 255, as in '192.0.2.1'; a name does not end in a number\n"},
	{DEST, "10.0.0.*",
	 "0-8 E313 a '*' in an address | write a network: '10.0.0.0/24'\n"},
	{DEST, "10.*.0.1",
	 "3-4 E313 '*' is no part of an IPv4 address | four decimal numbers from 0 to 255, as in '192.0.2.1'; a name does not end in a number\n"},
	{DEST, "10.0.0.0.*", ""},
	{DEST, "1.2.3",
	 "0-5 E313 an IPv4 address has four parts, this has 3 | a name does not end in a number; for a network write '10.0.0.0/8'\n"},
	{DEST, "1.2.3.4.5",
	 "0-9 E313 an IPv4 address has four parts, this has 5 | a name does not end in a number; for a network write '10.0.0.0/8'\n"},
	{DEST, "1.2.3.256", "6-9 E313 '256' is more than 255\n"},
	{DEST, "1.2.3.255", ""},
	{DEST, "1.2.03.4",
	 "4-6 E313 a leading zero in '03' | some programs read it as octal; write it in decimal\n"},
	{DEST, "1.2.3.0", ""},
	{DEST, "1.2.3.00",
	 "6-8 E313 a leading zero in '00' | some programs read it as octal; write it in decimal\n"},
	{DEST, "a.2.3.4",
	 "0-1 E313 'a' is no part of an IPv4 address | four decimal numbers from 0 to 255, as in '192.0.2.1'; a name does not end in a number\n"},
	{DEST, "0x10",
	 "0-4 E313 '0x10' is no part of an IPv4 address | four decimal numbers from 0 to 255, as in '192.0.2.1'; a name does not end in a number\n"},
	{DEST, "0X10",
	 "0-4 E313 '0X10' is no part of an IPv4 address | four decimal numbers from 0 to 255, as in '192.0.2.1'; a name does not end in a number\n"},
	{DEST, "0x", ""},
	{DEST, "0xg", ""},
	{DEST, "a.0x1f",
	 "0-1 E313 'a' is no part of an IPv4 address | four decimal numbers from 0 to 255, as in '192.0.2.1'; a name does not end in a number\n"},
	{DEST, "a.1x10", ""},
	{DEST, "a.0a10", ""},
	{DEST, "1.2.3.4.256",
	 "0-11 E313 an IPv4 address has four parts, this has 5 | a name does not end in a number; for a network write '10.0.0.0/8'\n"},
	{DEST, "htp://a.test",
	 "0-3 E308 unknown scheme 'htp' | did you mean 'https'?\n"},
	{DEST, " ",
	 "0-1 E300 an empty destination\n"},
	{DEST, "",
	 "0-0 E300 an empty destination\n"},
	{DEST, "10.0.0.1/8",
	 "0-10 E311 '10.0.0.1/8' has bits set behind its prefix | the network is '10.0.0.0/8'; the address alone is '10.0.0.1'\n"},
	{DEST, "10.0.0.0/33",
	 "9-11 E312 '33' is not a prefix length | a number from 0 to 32 for IPv4\n"},
	{DEST, "10.0.0.0/32", ""},
	{DEST, "10.0.0.0/08",
	 "9-11 E312 '08' is not a prefix length | a number from 0 to 32 for IPv4\n"},
	{DEST, "10.0.0.0/0",
	 "0-10 E311 '10.0.0.0/0' has bits set behind its prefix | the network is '0.0.0.0/0'; the address alone is '10.0.0.0'\n"},
	{DEST, "0.0.0.0/0", ""},
	{DEST, "10.0.0.0/",
	 "8-9 E312 no prefix length behind '/' | a number from 0 to 32 for IPv4\n"},
	{DEST, "10.0.0.0/255.0.0.0",
	 "9-18 E312 '255.0.0.0' is not a prefix length | write the mask as a number: '/8'\n"},
	{DEST, "10.0.0.0/255.255.255.255",
	 "9-24 E312 '255.255.255.255' is not a prefix length | write the mask as a number: '/32'\n"},
	{DEST, "10.0.0.0/0.0.0.0",
	 "9-16 E312 '0.0.0.0' is not a prefix length | write the mask as a number: '/0'\n"},
	{DEST, "10.0.0.0/x",
	 "9-10 E312 'x' is not a prefix length | a number from 0 to 32 for IPv4\n"},
	{DEST, "2001:db8::/129",
	 "11-14 E312 '129' is not a prefix length | a number from 0 to 128 for IPv6\n"},
	{DEST, "2001:db8::/128", ""},
	{DEST, "2001:db8::1/32",
	 "0-14 E311 '2001:db8::1/32' has bits set behind its prefix | the network is '2001:db8::/32'; the address alone is '2001:db8::1'\n"},
	{DEST, "2001:db8::/x",
	 "11-12 E312 'x' is not a prefix length | a number from 0 to 128 for IPv6\n"},
	{DEST, "2001:db8::/ffff:ffff::",
	 "11-15 E312 'ffff' is not a prefix length | a number from 0 to 128 for IPv6\n"},
	{DEST, "2001:db8::/255.0.0.0",
	 "11-20 E312 '255.0.0.0' is not a prefix length | a number from 0 to 128 for IPv6\n"},
	{DEST, "[2001:db8::/32]", "11-12 E300 unexpected '/' | expected ']'\n"},
	{DEST, "[2001:db8::]/32",
	 "0-15 E314 a network in brackets | write '2001:db8::/32', and its ports under 'ports'\n"},
	{DEST, "[10.0.0.1]",
	 "1-9 E314 an IPv4 address in brackets | write '10.0.0.1'\n"},
	{DEST, "::ffff:10.0.0.1",
	 "0-15 E314 an IPv4 address in the clothes of IPv6 | write '10.0.0.1'\n"},
	{DEST, "::ffff:10.0.0.0/104",
	 "0-15 E314 an IPv4 address in the clothes of IPv6 | write '10.0.0.0'\n"},
	{DEST, "::fffe:10.0.0.1", ""},
	{DEST, "1::2::3",
	 "0-7 E314 '1::2::3' is not an IPv6 address | eight groups of hex digits, '::' once for a run of zeros; with a port: '[2001:db8::1]:443'\n"},
	{DEST, "fe80::1%eth0",
	 "7-8 E300 unexpected '%' | expected the end or ':' or '/'\n"},
	{DEST, "https://2001:db8::1/",
	 "8-19 E314 an IPv6 address in a URL stands in brackets | write '[2001:db8::1]'\n"},
	{DEST, "https://[::ffff:10.0.0.1]/",
	 "9-24 E314 an IPv4 address in the clothes of IPv6 | write '10.0.0.1'\n"},
	{DEST, "https://[1::2::3]/",
	 "9-16 E314 '1::2::3' is not an IPv6 address | eight groups of hex digits, '::' once for a run of zeros; with a port: '[2001:db8::1]:443'\n"},

	/* schemes */
	{DEST, "ssh://a.test",
	 "0-3 E308 unknown scheme 'ssh' | grant the port instead: 'a.test:22'\n"},
	{DEST, "ssh://git@a.test/x",
	 "0-3 E308 unknown scheme 'ssh' | grant the port instead: 'a.test:22'\n"},
	{DEST, "SSH://a.test:22/x",
	 "0-3 E308 unknown scheme 'SSH' | grant the port instead: 'a.test:22'\n"},
	{DEST, "git://a.test/x",
	 "0-3 E308 unknown scheme 'git' | grant the port instead: 'a.test:9418'\n"},
	{DEST, "git+ssh://a.test",
	 "0-7 E308 unknown scheme 'git+ssh' | grant the port instead: 'a.test:22'\n"},
	{DEST, "ftp://a.test",
	 "0-3 E308 unknown scheme 'ftp' | grant the port instead: 'a.test:21'\n"},
	{DEST, "ws://a.test",
	 "0-2 E308 unknown scheme 'ws' | grant the port instead: 'a.test:80'\n"},
	{DEST, "wss://a.test",
	 "0-3 E308 unknown scheme 'wss' | grant the port instead: 'a.test:443'\n"},
	{DEST, "ldaps://a.test",
	 "0-5 E308 unknown scheme 'ldaps' | grant the port instead: 'a.test:636'\n"},
	{DEST, "redis://a.test",
	 "0-5 E308 unknown scheme 'redis' | grant the port instead: 'a.test:6379'\n"},
	{DEST, "postgres://a.test",
	 "0-8 E308 unknown scheme 'postgres' | grant the port instead: 'a.test:5432'\n"},
	{DEST, "postgresql://a.test",
	 "0-10 E308 unknown scheme 'postgresql' | grant the port instead: 'a.test:5432'\n"},
	{DEST, "mysql://a.test",
	 "0-5 E308 unknown scheme 'mysql' | grant the port instead: 'a.test:3306'\n"},
	{DEST, "mysql:///x",
	 "0-5 E308 unknown scheme 'mysql' | only 'http' and 'https' have rules; anything else is granted by host and port, as in 'example.com:22'\n"},
	{DEST, "htps://a.test",
	 "0-4 E308 unknown scheme 'htps' | did you mean 'https'?\n"},
	{DEST, "httpss://a.test",
	 "0-6 E308 unknown scheme 'httpss' | did you mean 'https'?\n"},
	{DEST, "hppt://a.test",
	 "0-4 E308 unknown scheme 'hppt' | only 'http' and 'https' have rules; anything else is granted by host and port, as in 'example.com:22'\n"},
	{DEST, "gopher://a.test",
	 "0-6 E308 unknown scheme 'gopher' | only 'http' and 'https' have rules; anything else is granted by host and port, as in 'example.com:22'\n"},
	{DEST, "https://a.test/?q",
	 "15-17 E306 a query in a destination | leave it out: rules look at the path alone\n"},
	{DEST, "https://a.test/x#y",
	 "16-18 E307 a fragment in a destination | leave it out: it never leaves the client\n"},
	{DEST, "https://a.test?q",
	 "14-16 E306 a query in a destination | leave it out: rules look at the path alone\n"},
	{DEST, "https://a.test#y",
	 "14-16 E307 a fragment in a destination | leave it out: it never leaves the client\n"},

	/* other characters */
	{DEST, "a b",
	 "1-2 E300 a blank in a destination | one destination per item\n"},
	{DEST, "a,b", "1-2 E300 unexpected ',' | one per item\n"},
	{DEST, "a.test,", "6-7 E300 unexpected ',' | one per item\n"},
	{DEST, "a;b", "1-2 E300 unexpected ';'\n"},
	{DEST, "[::1",
	 "4-4 E300 a destination that ends too early | expected ']'\n"},
	{DEST, "a.test]", "6-7 E300 unexpected ']'\n"},

	/* names in other scripts */
	{DEST, "b\303\274cher.test", ""},
	{DEST, "\357\254\201x.test",
	 "0-4 E304 '\357\254\201x' is no name by IDNA 2008: characters that map to others | did you mean 'fix'?\n"},
	{DEST, "\303\274\343\200\202b.test",
	 "0-6 E304 '\303\274\343\200\202b' holds a character that means a dot | write 'xn--tda.b'\n"},
	{DEST, "xn--bcher-kva.test", ""},

	{PORT, "443", ""},
	{PORT, " ",
	 "0-1 E300 an empty port\n"},
	{PORT, "443/udp", ""},
	{PORT, "443/TCP", ""},
	{PORT, "1-65535", ""},
	{PORT, "0",
	 "0-1 E309 port '0' is out of range | a port is 1 to 65535\n"},
	{PORT, "65536",
	 "0-5 E309 port '65536' is out of range | a port is 1 to 65535\n"},
	{PORT, "01", "0-2 E309 a leading zero in port '01' | write '1'\n"},
	{PORT, "x",
	 "0-1 E309 'x' is not a port number | a port is 1 to 65535, a range, or either with '/udp'\n"},
	{PORT, "https",
	 "0-5 E309 'https' is not a port number | write '443'\n"},
	{PORT, "1-",
	 "2-2 E300 a destination that ends too early | expected a port number\n"},
	{PORT, "-1", "0-1 E300 unexpected '-' | expected a port number\n"},
	{PORT, "1-2-3", "3-4 E300 unexpected '-' | expected the end or '/'\n"},
	{PORT, "443/",
	 "3-4 E310 no protocol behind '/' | 'tcp' or 'udp'; nothing else passes the gate\n"},

	{REQUEST, "connect a.test:443", ""},
	{REQUEST, "tcp a.test 443", ""},
	{REQUEST, "quic a.test:443", ""},
	{REQUEST, "quic a.test:443/tcp",
	 "5-19 E217 two protocols in one request | as in 'udp 192.0.2.1:53' or '192.0.2.1:53/udp'\n"},
	{REQUEST, "tcp a.test:443/tcp", ""},
	{REQUEST, "udp a.test:443/udp", ""},
	{REQUEST, "tcp a.test:443/udp",
	 "4-18 E217 two protocols in one request | as in 'udp 192.0.2.1:53' or '192.0.2.1:53/udp'\n"},
	{REQUEST, "udp a.test:443/tcp",
	 "4-18 E217 two protocols in one request | as in 'udp 192.0.2.1:53' or '192.0.2.1:53/udp'\n"},
	{REQUEST, "udp a.test 443", ""},
	{REQUEST, "udp a.test 443/tcp",
	 "4-10 E217 a connection without a port | as in 'example.com:443' or 'udp 192.0.2.1:53'\n"},
	{REQUEST, "GET https://a.test at 10.0.0.2", ""},
	{REQUEST, "",
	 "0-0 E217 an empty request | as in 'example.com:443' or 'udp 192.0.2.1:53'\n"},
	{REQUEST, "GET https://a.test/a//b", ""},
	{REQUEST, "GET a.test at 10.0.0.1",
	 "4-10 E217 not the URL of a request | as in 'GET https://example.com/'\n"},
	{REQUEST, "GET https://a.test?y at 10.0.0.2", ""},
	{REQUEST, "a.test:443-443", ""},
	{REQUEST, "a.test:443-444",
	 "0-14 E217 a request has one port | as in 'example.com:443' or 'udp 192.0.2.1:53'\n"},
	{REQUEST, "a.test",
	 "0-6 E217 a connection without a port | as in 'example.com:443' or 'udp 192.0.2.1:53'\n"},
	{REQUEST, "a.test 443", ""},
	{REQUEST, "reed .env",
	 "0-4 E217 'reed' is neither a kind of request nor a host with a port | did you mean 'read'?\n"},
	{REQUEST, "conect a.test",
	 "0-6 E217 'conect' is neither a kind of request nor a host with a port | did you mean 'connect'?\n"},
	{REQUEST, "nothing a.test",
	 "0-7 E217 'nothing' is neither a kind of request nor a host with a port | 'host:port', 'METHOD url', 'resolve name', 'read path', 'write path' or 'docker-arg word'\n"},
	{REQUEST, "rsolve a.test",
	 "0-6 E217 'rsolve' is neither a kind of request nor a host with a port | did you mean 'resolve'?\n"},
	{REQUEST, "10.0.0.1:443 a.test", ""},
	{REQUEST, "10.0.0.1:443 host", ""},
	{REQUEST, "10.0.0.1:443 *.test",
	 "13-19 E217 not the name of one host | as in 'example.com'\n"},
	{REQUEST, "10.0.0.1:443 a.test:80",
	 "13-22 E217 not the name of one host | as in 'example.com'\n"},
	{REQUEST, "10.0.0.1 443 a.test", ""},
	{REQUEST, "10.0.0.0/8:443",
	 "0-14 E217 a request goes to one address | as in 'example.com:443' or 'udp 192.0.2.1:53'\n"},
	{REQUEST, "10.0.0.0/32:443", ""},
	{REQUEST, "a.test:443 b.test",
	 "11-17 E217 a second name | only an address is followed by the name that it was resolved from\n"},
	{REQUEST, "a.test:443 444",
	 "11-14 E217 a second port | as in 'example.com:443' or 'udp 192.0.2.1:53'\n"},
	{REQUEST, "*:443",
	 "0-5 E217 a wildcard in a request | name one host: what the policy says of it is the answer\n"},
	{REQUEST, "*.test:443",
	 "0-10 E217 a wildcard in a request | name one host: what the policy says of it is the answer\n"},
	{REQUEST, "https://a.test/",
	 "0-15 E217 a URL without a method | as in 'GET https://example.com/'\n"},
	{REQUEST, "tcp https://a.test/",
	 "4-19 E217 a URL without a method | as in 'GET https://example.com/'\n"},
	{REQUEST, "host:80", ""},
	{REQUEST, "resolve host", ""},
	{REQUEST, "resolve a.test", ""},
	{REQUEST, "resolve 10.0.0.1",
	 "8-16 E217 not the name of one host | as in 'example.com'\n"},
	{REQUEST, "resolve a.test AAAA", ""},
	{REQUEST, "resolve a.test DNSKEY", ""},
	{REQUEST, "resolve a.test aaaa",
	 "15-19 E217 an unknown type of record | upper case, as in 'AAAA' or 'TXT'\n"},
	{REQUEST, "resolve a.test X",
	 "15-16 E217 an unknown type of record | upper case, as in 'AAAA' or 'TXT'\n"},
	{REQUEST, "resolve a.test:53",
	 "8-17 E217 not the name of one host | as in 'example.com'\n"},
	{REQUEST, "read .env", ""},
	{REQUEST, "read /etc",
	 "5-9 E217 an absolute path | paths are relative to the workspace\n"},
	{REQUEST, "read a//b",
	 "5-9 E217 not a path in the workspace | no '.', '..' or empty segment\n"},
	{REQUEST, "read a/./b",
	 "5-10 E217 not a path in the workspace | no '.', '..' or empty segment\n"},
	{REQUEST, "read a/..",
	 "5-9 E217 not a path in the workspace | no '.', '..' or empty segment\n"},
	{REQUEST, "read a/", ""},
	{REQUEST, "write",
	 "5-5 E217 a request that ends too early | as in 'write .git/hooks/pre-commit'\n"},
	{REQUEST, "docker-arg --privileged", ""},
	{REQUEST, "docker-arg",
	 "10-10 E217 a request that ends too early | as in 'docker-arg --privileged'\n"},
	{REQUEST, "GET https://a.test/x?y", ""},
	{REQUEST, "GET https://a.test?y", ""},
	{REQUEST, "GET https://a.test/x#y",
	 "20-22 E217 a fragment in a request | leave it out: it never leaves the client\n"},
	{REQUEST, "GET https://a.test#y",
	 "18-20 E217 a fragment in a request | leave it out: it never leaves the client\n"},
	{REQUEST, "GET https://a.test/x?y#z",
	 "22-24 E217 a fragment in a request | leave it out: it never leaves the client\n"},
	{REQUEST, "GET a.test",
	 "4-10 E217 not the URL of a request | as in 'GET https://example.com/'\n"},
	{REQUEST, "GET *",
	 "4-5 E217 not the URL of a request | as in 'GET https://example.com/'\n"},
	{REQUEST, "GET https://*.test/",
	 "4-19 E217 a wildcard in a request | name one host: what the policy says of it is the answer\n"},
	{REQUEST, "GET https://host/", ""},
	{REQUEST, "GET https://10.0.0.1/ at 10.0.0.2",
	 "25-33 E217 a second address | the URL has one: 'at' is for names\n"},
	{REQUEST, "GET https://a.test/ at 10.0.0.2", ""},
	{REQUEST, "GET https://a.test/ at 10.0.0.2:443", ""},
	{REQUEST, "GET https://a.test/ at 10.0.0.2:444",
	 "23-35 E217 another port than the URL's | as in 'GET http://example.com:8080/ at 192.0.2.1'\n"},
	{REQUEST, "GET https://a.test/ at 10.0.0.2:443/udp",
	 "23-39 E217 another port than the URL's | as in 'GET http://example.com:8080/ at 192.0.2.1'\n"},
	{REQUEST, "GET https://a.test/ at 10.0.0.2:443-444",
	 "23-39 E217 another port than the URL's | as in 'GET http://example.com:8080/ at 192.0.2.1'\n"},
	{REQUEST, "GET https://a.test/ at 10.0.0.0/8",
	 "23-33 E217 not one address | as in 'GET http://example.com/ at 192.0.2.1'\n"},
	{REQUEST, "GET https://a.test/ at b.test",
	 "23-29 E217 not one address | as in 'GET http://example.com/ at 192.0.2.1'\n"},
	{REQUEST, "GET https://a.test/ at host", ""},
	{REQUEST, "GET https://a.test/ at",
	 "22-22 E217 a request that ends too early | as in 'GET https://example.com/'\n"},
	{REQUEST, "GET https://a.test/ to",
	 "20-22 E217 unexpected 'to' in a request | as in 'GET https://example.com/'\n"},
	{REQUEST, "get https://a.test/",
	 "0-3 E217 unknown method 'get' | methods are upper case: 'GET'\n"},
	{REQUEST, "Get https://a.test/",
	 "0-3 E217 unknown method 'Get' | methods are upper case: 'GET'\n"},
	{REQUEST, "options https://a.test/",
	 "0-7 E217 unknown method 'options' | methods are upper case: 'OPTIONS'\n"},
	{REQUEST, "x-y https://a.test/", ""},
	{REQUEST, "GET http:x",
	 "9-10 E309 'x' is not a port number | a port is 1 to 65535, a range, or either with '/udp'\n"},
	{REQUEST, "GET",
	 "3-3 E217 a request that ends too early | as in 'GET https://example.com/'\n"},

	{PATH, "/a/b", ""},
	{PATH, "/a//b",
	 "2-4 E315 an empty segment in a path | write one '/'\n"},
	{PATH, "//", "0-2 E315 an empty segment in a path | write one '/'\n"},
	{PATH, "/", ""},
	{PATH, "/a//", "2-4 E315 an empty segment in a path | write one '/'\n"},
	{PATH, "a//b", "1-3 E315 an empty segment in a path | write one '/'\n"},
	{PATH, "/.",
	 "1-2 E315 a '.' segment in a path | write the path that it leads to\n"},
	{PATH, "/..",
	 "1-3 E315 a '..' segment in a path | write the path that it leads to\n"},
	{PATH, "/a/.",
	 "3-4 E315 a '.' segment in a path | write the path that it leads to\n"},
	{PATH, "/./a",
	 "1-2 E315 a '.' segment in a path | write the path that it leads to\n"},
	{PATH, "/a/../b",
	 "3-5 E315 a '..' segment in a path | write the path that it leads to\n"},
	{PATH, "/a/...", ""},
	{PATH, "/.;x", "1-4 E315 a ';' in a dot segment in a path\n"},
	{PATH, "/..;x/b", "1-5 E315 a ';' in a dot segment in a path\n"},
	{PATH, "/a;x", ""},
	{PATH, "/%20", ""},
	{PATH, "/%2f",
	 "1-4 E315 an encoded '/', '\\' or '.' in a path | the gate refuses every request with one\n"},
	{PATH, "/%2F",
	 "1-4 E315 an encoded '/', '\\' or '.' in a path | the gate refuses every request with one\n"},
	{PATH, "/%5C",
	 "1-4 E315 an encoded '/', '\\' or '.' in a path | the gate refuses every request with one\n"},
	{PATH, "/%2E",
	 "1-4 E315 an encoded '/', '\\' or '.' in a path | the gate refuses every request with one\n"},
	{PATH, "/%25",
	 "1-4 E315 an encoded '%' in a path | the gate refuses every request with one\n"},
	{PATH, "/%1F",
	 "1-4 E315 an encoded control character in a path | the gate refuses every request with one\n"},
	{PATH, "/%7F",
	 "1-4 E315 an encoded control character in a path | the gate refuses every request with one\n"},
	{PATH, "/%00",
	 "1-4 E315 an encoded control character in a path | the gate refuses every request with one\n"},
	{PATH, "/%41",
	 "1-4 E315 an escape that needs none in a path | write 'A'\n"},
	{PATH, "/%7E",
	 "1-4 E315 an escape that needs none in a path | write '~'\n"},
	{PATH, "/%3b",
	 "1-4 E315 an escape in lower case in a path | write '%3B'\n"},
	{PATH, "/\303\251x",
	 "1-3 E315 a character outside ASCII in a path | write '%C3%A9'\n"},
	{PATH, "/\200",
	 "1-2 E315 a character outside ASCII in a path | write its UTF-8 bytes as '%XX' each\n"},
	{PATH, "/\177",
	 "1-2 E315 a control character in a path\n"},
	{PATH, "/\001",
	 "1-2 E315 a control character in a path\n"},
	{PATH, "/%3a",
	 "1-4 E315 an escape in lower case in a path | write '%3A'\n"},
	{PATH, "/%a9",
	 "1-4 E315 an escape in lower case in a path | write '%A9'\n"},
	{PATH, "/%3B", ""},
	{PATH, "/%c3%a9",
	 "1-4 E315 an escape in lower case in a path | write '%C3'\n"},
	{PATH, "/%C3%A9", ""},
	{PATH, "/%C3%a9",
	 "4-7 E315 an escape in lower case in a path | write '%A9'\n"},
	{PATH, "/%", "1-2 E315 a '%' without two hex digits in a path\n"},
	{PATH, "/%2", "1-2 E315 a '%' without two hex digits in a path\n"},
	{PATH, "/%2g", "1-2 E315 a '%' without two hex digits in a path\n"},
	{PATH, "/%g2", "1-2 E315 a '%' without two hex digits in a path\n"},
	{PATH, "/a?b",
	 "2-4 E315 a query in a path | leave it out: rules look at the path alone\n"},
	{PATH, "/a#b",
	 "2-4 E315 a fragment in a path | leave it out: rules look at the path alone\n"},
	{PATH, "/a\\b", "2-3 E315 a backslash in a path\n"},
	{PATH, "/a b", "2-3 E315 a blank in a path\n"},
	{PATH, "/a*",
	 "2-3 E315 a '*' in a path | paths are prefixes: '/api' matches all below it\n"},
	{PATH, "/\303\251",
	 "1-3 E315 a character outside ASCII in a path | write '%C3%A9'\n"},
	{PATH, "/\342\202\254",
	 "1-4 E315 a character outside ASCII in a path | write its UTF-8 bytes as '%XX' each\n"},
};

static bool take(struct rig *r, enum what what, const struct text *t)
{
	struct ir_request q;
	struct ir_dest d;
	struct ir_port p;

	switch (what) {
	case DEST:
		return dest_parse(&r->c, t, &d);
	case PORT:
		return dest_parse_port(&r->c, t, &p);
	case REQUEST:
		return request_parse(&r->c, t, &q);
	case PATH:
		return dest_path_check(&r->c, t,
				       (struct span){0, (uint32_t)t->s.n});
	}
	abort();
}

/* What stands behind a path is no part of it. */
static void check_part(const char *text, uint32_t end, const char *want)
{
	struct str got;
	struct text t;
	struct rig r;

	rig_init(&r);
	t = rig_text(&r, str_of(text));
	CHECK(!dest_path_check(&r.c, &t, (struct span){0, end}));
	got = rig_said(&r);
	CHECK_MSG(str_is(got, want), "%s: %.*s", text, STR_ARG(got));
	rig_done(&r);
}

static void check_parts(void)
{
	check_part("/%41", 2,
		   "1-2 E315 a '%' without two hex digits in a path\n");
	check_part("/%41", 3,
		   "1-2 E315 a '%' without two hex digits in a path\n");
	check_part("/\303\251", 2,
		   "1-2 E315 a character outside ASCII in a path | write its UTF-8 bytes as '%XX' each\n");
}

/* Memory for the scanner: all of the room, then the arena's. */
static void check_room(void)
{
	struct dest_parser *p;
	struct rig r;
	char *first;

	rig_init(&r);
	p = arena_new_of(r.a, struct dest_parser);
	p->c = &r.c;
	first = dest_room(p, sizeof(p->room) - sizeof(max_align_t));
	CHECK(first == (char *)p->room);
	CHECK(dest_room(p, sizeof(max_align_t) + 1) < (void *)p->room ||
	      (char *)dest_room(p, sizeof(max_align_t) + 1) >=
		      (char *)p->room + sizeof(p->room));
	CHECK(dest_room(p, 1) == (char *)p->room + sizeof(p->room) -
					 sizeof(max_align_t));
	CHECK((char *)dest_room(p, 1) < (char *)p->room ||
	      (char *)dest_room(p, 1) >= (char *)p->room + sizeof(p->room));
	p->used = 0;
	CHECK(dest_room(p, sizeof(p->room)) == p->room);
	rig_done(&r);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct str got;
		struct text t;
		struct rig r;
		bool ok;

		rig_init(&r);
		t = rig_text(&r, str_of(list[i].text));
		ok = take(&r, list[i].what, &t);
		got = rig_said(&r);
		CHECK_MSG(ok == !list[i].want[0] && str_is(got, list[i].want),
			  "%s\n%.*s", list[i].text, STR_ARG(got));
		rig_done(&r);
	}
	check_parts();
	check_room();
	return check_status();
}
