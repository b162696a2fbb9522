/* Destinations: what they mean, their canonical text, where errors point. */
#include "compiler/front/word/dest.h"

#include "compiler/base/limits.h"
#include "compiler/front/word/request.h"
#include "tests/unit/front.h"

#define U4  "\303\274\303\274\303\274\303\274"
#define U8  U4 U4
#define A10 "aaaaaaaaaa"

static const struct {
	const char *text;
	enum ir_dest_kind kind;
	const char *canon;
	unsigned lo, hi; /* 0: no port */
	enum ir_proto proto;
} good[] = {
	{"*", IR_DEST_ANY, "*", 0, 0, 0},
	{"*:443", IR_DEST_ANY, "*", 443, 443, 0},
	{"github.com", IR_DEST_HOST, "github.com", 0, 0, 0},
	{"GitHub.com.", IR_DEST_HOST, "github.com", 0, 0, 0},
	{"localhost:1", IR_DEST_HOST, "localhost", 1, 1, 0},
	{"a.b:65535/tcp", IR_DEST_HOST, "a.b", 65535, 65535, 0},
	{"a.b:53/UDP", IR_DEST_HOST, "a.b", 53, 53, IR_PROTO_UDP},
	{"a.b:8000-8999/tcp", IR_DEST_HOST, "a.b", 8000, 8999, 0},
	{"_x._tcp.a.b", IR_DEST_HOST, "_x._tcp.a.b", 0, 0, 0},
	{"1.2.3.4.in-addr.arpa", IR_DEST_HOST, "1.2.3.4.in-addr.arpa", 0, 0, 0},
	{"xn--BCHER-kva.de", IR_DEST_HOST, "xn--bcher-kva.de", 0, 0, 0},
	{"b\303\274cher.de", IR_DEST_HOST, "xn--bcher-kva.de", 0, 0, 0},
	{"B\303\234CHER.DE", IR_DEST_HOST, "xn--bcher-kva.de", 0, 0, 0},
	{"*.github.com", IR_DEST_PATTERN, "*.github.com", 0, 0, 0},
	{"**.github.com:22", IR_DEST_PATTERN, "**.github.com", 22, 22, 0},
	{"a.*.b.com", IR_DEST_PATTERN, "a.*.b.com", 0, 0, 0},
	{"a.*", IR_DEST_PATTERN, "a.*", 0, 0, 0},
	{"10.0.0.0.*", IR_DEST_PATTERN, "10.0.0.0.*", 0, 0, 0},
	{"a.0xzz", IR_DEST_HOST, "a.0xzz", 0, 0, 0},
	/* eight labels, for which there is room in the parser, and one more */
	{"a.b.c.d.e.f.g.h", IR_DEST_HOST, "a.b.c.d.e.f.g.h", 0, 0, 0},
	{"a.b.c.d.e.f.g.h.i", IR_DEST_HOST, "a.b.c.d.e.f.g.h.i", 0, 0, 0},
	/* 64 bytes, of which an A-label of fewer is made */
	{U8 U8 U8 U8, IR_DEST_HOST, "xn--tdaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0,
	 0, 0},
	{"host:11434", IR_DEST_CIDR, "host", 11434, 11434, 0},
	{"Host.Docker.Internal.:80", IR_DEST_CIDR, "host", 80, 80, 0},
	{"http://host:3000/v1", IR_DEST_URL, "http://host:3000/v1", 0, 0, 0},
	{"host.test", IR_DEST_HOST, "host.test", 0, 0, 0},
	{"*.docker.internal", IR_DEST_PATTERN, "*.docker.internal", 0, 0, 0},
	{"192.0.2.1", IR_DEST_CIDR, "192.0.2.1/32", 0, 0, 0},
	{"192.0.2.1:80", IR_DEST_CIDR, "192.0.2.1/32", 80, 80, 0},
	{"192.0.2.0/24:80", IR_DEST_CIDR, "192.0.2.0/24", 80, 80, 0},
	{"0.0.0.0/0", IR_DEST_CIDR, "0.0.0.0/0", 0, 0, 0},
	{"::/0", IR_DEST_CIDR, "::/0", 0, 0, 0},
	{"2001:DB8::1", IR_DEST_CIDR, "2001:db8::1/128", 0, 0, 0},
	{"2001:db8::/32", IR_DEST_CIDR, "2001:db8::/32", 0, 0, 0},
	{"[2001:db8::1]:443", IR_DEST_CIDR, "2001:db8::1/128", 443, 443, 0},
	{"64:ff9b::192.0.2.1", IR_DEST_CIDR, "64:ff9b::c000:201/128", 0, 0, 0},
	{"https://A.b", IR_DEST_URL, "https://a.b/", 0, 0, 0},
	{"HTTP://a.b:80/X", IR_DEST_URL, "http://a.b/X", 0, 0, 0},
	{"http://a.b:443/", IR_DEST_URL, "http://a.b:443/", 0, 0, 0},
	{"https://*.a.b/v1", IR_DEST_URL, "https://*.a.b/v1", 0, 0, 0},
	{"https://[2001:db8::1]:8443/x", IR_DEST_URL,
	 "https://[2001:db8::1]:8443/x", 0, 0, 0},
	{"https://192.0.2.1/%20;x=1", IR_DEST_URL, "https://192.0.2.1/%20;x=1",
	 0, 0, 0},
};

static void test_good(void)
{
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct rig r;
		struct ir_dest d;
		struct text t;
		bool ok;

		rig_init(&r);
		t = rig_text(&r, str_of(good[i].text));
		ok = dest_parse(&r.c, &t, &d);
		CHECK_MSG(ok && d.kind == good[i].kind, "%s", good[i].text);
		if (ok)
			CHECK_MSG(str_is(ir_dest_text(r.a, &d), good[i].canon),
				  "%s", good[i].text);
		CHECK_MSG(d.has_port == (good[i].lo != 0), "%s", good[i].text);
		if (d.has_port)
			CHECK_MSG(d.port.lo == good[i].lo &&
					  d.port.hi == good[i].hi &&
					  d.port.proto == good[i].proto,
				  "%s", good[i].text);
		rig_done(&r);
	}
}

/* Where the error points, and which. */
static const struct {
	const char *text;
	enum diag_id id;
	unsigned beg, end;
} bad[] = {
	{"", DIAG_DEST, 0, 0},
	{"a..b", DIAG_LABEL, 2, 3},
	{".a", DIAG_LABEL, 0, 1},
	{"a..", DIAG_LABEL, 2, 3},
	{"a.fo*o.b", DIAG_WILDCARD, 2, 6},
	{"**", DIAG_WILDCARD, 0, 2},
	{"*.**.a", DIAG_WILDCARD, 2, 4},
	{"a.b:0", DIAG_PORT, 4, 5},
	{"a.b:65536", DIAG_PORT, 4, 9},
	{"a.b:99999999999999999999999", DIAG_PORT, 4, 27},
	{"a.b:2-1", DIAG_PORT, 4, 7},
	{"a.b:*", DIAG_PORT, 4, 5},
	{"a.b:", DIAG_DEST, 4, 4},
	{"a.b:1/sctp", DIAG_PROTO, 6, 10},
	{"a.b/c", DIAG_PATH_WITHOUT_URL, 3, 5},
	{"10.0.0.1/8", DIAG_HOST_BITS, 0, 10},
	{"10.0.0.0/33", DIAG_PREFIX, 9, 11},
	{"10.0.0.0/-1", DIAG_PREFIX, 9, 11},
	{"1.2.03.4", DIAG_IPV4, 4, 6},
	{"1.2.3", DIAG_IPV4, 0, 5},
	{"1.2.3.4.5", DIAG_IPV4, 0, 9},
	{"0x7f000001", DIAG_IPV4, 0, 10},
	{"1::2::3", DIAG_IPV6, 0, 7},
	{"[::1", DIAG_DEST, 4, 4},
	{"[fe80::1%1]", DIAG_IPV6, 8, 10},
	{"u@h", DIAG_USERINFO, 0, 2},
	{"https://u:p@h/", DIAG_USERINFO, 8, 12},
	{"https://h/?a#b", DIAG_QUERY, 10, 14},
	{"https://h#b", DIAG_FRAGMENT, 9, 11},
	{"ftp://h", DIAG_SCHEME, 0, 3},
	{"https://", DIAG_DEST, 8, 8},
	{"https://h/a/../b", DIAG_URL_PATH, 12, 14},
	{"https://h/%2E", DIAG_URL_PATH, 10, 13},
	{"https://h/%", DIAG_URL_PATH, 10, 11},
	{"a b", DIAG_DEST, 1, 2},
	{"a;b", DIAG_DEST, 1, 2},
	{"\360\237\222\251.a", DIAG_IDN, 0, 4},
	{"xn--zzzz", DIAG_IDN, 0, 8},
	/* a ligature beside a letter that stays, and a full stop of Chinese */
	{"\357\254\201\303\274.a", DIAG_IDN, 0, 5},
	{"\303\274\343\200\202b", DIAG_IDN, 0, 6},
	/* a full-width letter is as many code points as what it maps to */
	{"\357\275\201b.a", DIAG_IDN, 0, 4},
	{".", DIAG_LABEL, 0, 1},
	{"10.0.0.0/255.255.255.255", DIAG_PREFIX, 9, 24},
	{"2001:db8::/1.2.3.4", DIAG_PREFIX, 11, 18},
	{"a.b:1-0", DIAG_PORT, 6, 7},
	{"*.b:1/x", DIAG_PROTO, 6, 7},
	{"https://[1::2::3]/", DIAG_IPV6, 9, 16},
	{"https://h/%2x", DIAG_URL_PATH, 10, 11},
	{"https://h/%5C", DIAG_URL_PATH, 10, 13},
	{"https://h/%25", DIAG_URL_PATH, 10, 13},
	{"https://h/%01", DIAG_URL_PATH, 10, 13},
	{"https://h/%7F", DIAG_URL_PATH, 10, 13},
	{"https://h/%3b", DIAG_URL_PATH, 10, 13},
	{"https://h/%2F", DIAG_URL_PATH, 10, 13},
	{"https://h/%c3", DIAG_URL_PATH, 10, 13},
	{"https://h/..;v=1/x", DIAG_URL_PATH, 10, 16},
	/* an "unequal" that is an "=" with a stroke, a soft hyphen alone */
	{"\342\211\240.a", DIAG_IDN, 0, 3},
	{"\302\255.a", DIAG_IDN, 0, 2},
	/* what is wrong with all of it is said before the dot in it */
	{"\303\274" A10 A10 A10 A10 "\343\200\202" A10 A10 A10, DIAG_LABEL, 0,
	 75},
};

static void test_bad(void)
{
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct diag_view v = {0};
		struct rig r;
		struct ir_dest d;
		struct text t;

		rig_init(&r);
		t = rig_text(&r, str_of(bad[i].text));
		CHECK_MSG(!dest_parse(&r.c, &t, &d) && d.kind == IR_DEST_POISON,
			  "%s", bad[i].text);
		CHECK_MSG(r.diags.errors == 1, "%s", bad[i].text);
		diags_get(&r.diags, 0, &v);
		CHECK_MSG(v.id == bad[i].id, "%s: %d", bad[i].text, v.id);
		CHECK_MSG(v.at.beg - t.at.beg == bad[i].beg &&
				  v.at.end - t.at.beg == bad[i].end,
			  "%s: %u to %u", bad[i].text, v.at.beg - t.at.beg,
			  v.at.end - t.at.beg);
		rig_done(&r);
	}
}

/* A mask of all ones is the longest prefix, and no longer. */
static void test_masks(void)
{
	static const char *const masks[][2] = {
		{"10.0.0.0/255.255.255.255",
		 "write the mask as a number: '/32'"},
		{"10.0.0.0/255.255.255.254",
		 "write the mask as a number: '/31'"},
	};

	for (size_t i = 0; i < ARRAY_LEN(masks); i++) {
		struct diag_view v = {0};
		struct ir_dest d;
		struct text t;
		struct rig r;

		rig_init(&r);
		t = rig_text(&r, str_of(masks[i][0]));
		CHECK(!dest_parse(&r.c, &t, &d) && diags_get(&r.diags, 0, &v));
		CHECK_MSG(str_is(v.help, masks[i][1]), "%s: %.*s", masks[i][0],
			  STR_ARG(v.help));
		rig_done(&r);
	}
}

static bool accepts(struct str s)
{
	struct rig r;
	struct ir_dest d;
	struct text t;
	bool ok;

	rig_init(&r);
	t = rig_text(&r, s);
	ok = dest_parse(&r.c, &t, &d);
	rig_done(&r);
	return ok;
}

/* Labels of n bytes, as many as given, joined by dots. */
static struct str name_of(char *out, const unsigned *lens, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (i)
			out[at++] = '.';
		memset(out + at, 'a', lens[i]);
		at += lens[i];
	}
	return (struct str){out, at};
}

static void test_lengths(void)
{
	char buf[1300];

	CHECK(accepts(name_of(buf, (unsigned[]){63}, 1)));
	CHECK(!accepts(name_of(buf, (unsigned[]){64}, 1)));
	CHECK(accepts(name_of(buf, (unsigned[]){63, 63, 63, 61}, 4)));
	CHECK(!accepts(name_of(buf, (unsigned[]){63, 63, 63, 62}, 4)));
	/* A full stop of another script hides two labels in one. */
	snprintf(buf, sizeof(buf), "\303\274\343\200\202%062d", 0);
	CHECK(!accepts(str_of(buf)));
	/* More than the scanner has room for in its caller. */
	snprintf(buf, sizeof(buf), "https://a.b/%01200d", 0);
	CHECK(accepts(str_of(buf)));
}

/* Every byte in every place of a small destination: no crash, one error. */
static void test_bytes(void)
{
	static const char *const seeds[] = {"a.b:80", "10.0.0.0/8", "[::1]:80",
					    "http://a/b"};

	for (size_t s = 0; s < ARRAY_LEN(seeds); s++)
		for (size_t at = 0; at < strlen(seeds[s]); at++)
			for (int byte = 0; byte < 256; byte++) {
				char text[32];
				struct rig r;
				struct ir_dest d;
				struct text t;
				bool ok;

				rig_init(&r);
				snprintf(text, sizeof(text), "%s", seeds[s]);
				text[at] = (char)byte;
				t = rig_text(
					&r,
					(struct str){text, strlen(seeds[s])});
				ok = dest_parse(&r.c, &t, &d);
				if (r.diags.errors != (ok ? 0 : 1))
					CHECK_MSG(0, "%s at %zu: %d", text, at,
						  byte);
				rig_done(&r);
			}
	CHECK(1);
}

static void test_requests(void)
{
	struct rig r;
	struct ir_request q;
	struct text t;

	rig_init(&r);
	t = rig_text(&r, STR("udp 192.0.2.1:53"));
	CHECK(request_parse(&r.c, &t, &q) && q.kind == IR_REQ_CONNECT &&
	      q.proto == IR_PROTO_UDP && q.has_addr && q.port == 53);
	t = rig_text(&r, STR("tcp [2001:db8::1]:80 a.b"));
	CHECK(request_parse(&r.c, &t, &q) && q.has_addr && q.port == 80 &&
	      str_is(q.name, "a.b"));
	t = rig_text(&r, STR("connect tcp 192.0.2.1 22"));
	CHECK(request_parse(&r.c, &t, &q) && q.port == 22);
	t = rig_text(&r, STR("POST https://A.b/x"));
	CHECK(request_parse(&r.c, &t, &q) && q.kind == IR_REQ_HTTP &&
	      str_is(q.method, "POST") && str_is(q.url.name, "a.b") &&
	      str_is(q.url.path, "/x"));
	t = rig_text(&r, STR("GET https://a.b/x?y=http://c/"));
	CHECK(request_parse(&r.c, &t, &q) && str_is(q.url.path, "/x") &&
	      str_is(q.text, "GET https://a.b/x?y=http://c/"));
	t = rig_text(&r, STR("GET https://a.b"));
	CHECK(request_parse(&r.c, &t, &q) && str_is(q.url.path, "/"));
	t = rig_text(&r, STR("GET https://a.b?y"));
	CHECK(request_parse(&r.c, &t, &q) && str_is(q.url.path, "/"));
	/* Methods that are not common, and where the name leads. */
	t = rig_text(&r, STR("M-SEARCH http://a.b:81/ at 192.0.2.1:81"));
	CHECK(request_parse(&r.c, &t, &q) && str_is(q.method, "M-SEARCH") &&
	      q.has_addr && !q.unresolved);
	t = rig_text(&r, STR("x-get http://a.b/"));
	CHECK(request_parse(&r.c, &t, &q) && str_is(q.method, "x-get"));
	t = rig_text(&r, STR("GET http://a.b/ at 192.0.2.1 unresolved"));
	CHECK(request_parse(&r.c, &t, &q) && q.has_addr && q.unresolved);
	t = rig_text(&r, STR("a.b:53/udp"));
	CHECK(request_parse(&r.c, &t, &q) && q.proto == IR_PROTO_UDP);
	t = rig_text(&r, STR("udp 192.0.2.1 53 a.b"));
	CHECK(request_parse(&r.c, &t, &q) && q.port == 53 &&
	      str_is(q.name, "a.b"));
	/* Of a block scalar: bytes of the text are not those of the file. */
	t = rig_text(&r, STR("resolve a.b"));
	t.verbatim = 0;
	CHECK(request_parse(&r.c, &t, &q) && str_is(q.type, "A"));
	t = rig_text(&r, STR("resolve a.b TXT"));
	CHECK(request_parse(&r.c, &t, &q) && str_is(q.type, "TXT"));
	t = rig_text(&r, STR("read a b/c"));
	CHECK(request_parse(&r.c, &t, &q) && str_is(q.path, "a b/c"));
	t = rig_text(&r, STR("docker-arg -v /:/host"));
	CHECK(request_parse(&r.c, &t, &q) && str_is(q.arg, "-v /:/host"));
	CHECK(r.diags.errors == 0);
	t = rig_text(&r, STR("read ../x"));
	CHECK(!request_parse(&r.c, &t, &q));
	rig_done(&r);
}

/* Where the error of a request points, and which. */
static const struct {
	const char *text;
	enum diag_id id;
	unsigned beg, end;
} bad_requests[] = {
	{"write", DIAG_REQUEST, 5, 5},
	{"resolve a..b", DIAG_LABEL, 10, 11},
	{"udp *:53", DIAG_REQUEST, 4, 8},
	{"tcp a.b 0", DIAG_PORT, 8, 9},
	{"udp 192.0.2.1 0 a.b", DIAG_PORT, 14, 15},
	{"GET https://a.b#x", DIAG_REQUEST, 15, 17},
	{"GET https://a..b/", DIAG_LABEL, 14, 15},
	{"GET https://a.b/ at 1.2.3", DIAG_IPV4, 20, 25},
	{"GET https://a.b/ at 1.2.3 unresolved", DIAG_IPV4, 20, 25},
	{"GET https://a.b/ at 192.0.2.1:443-444", DIAG_REQUEST, 20, 37},
	{"GET https://a.b/ at 192.0.2.1:443/udp", DIAG_REQUEST, 20, 37},
	{"read ./x", DIAG_REQUEST, 5, 8},
	{"read a//b", DIAG_REQUEST, 5, 9},
	{"read /etc/passwd", DIAG_REQUEST, 5, 16},
	{"", DIAG_REQUEST, 0, 0},
	{"resolve", DIAG_REQUEST, 7, 7},
	{"resolve *.a.b", DIAG_REQUEST, 8, 13},
	{"resolve a.b:53", DIAG_REQUEST, 8, 14},
	{"resolve a.b txt", DIAG_REQUEST, 12, 15},
	{"udp *.a.b:53", DIAG_REQUEST, 4, 12},
	{"tcp 10.0.0.0/8 80", DIAG_REQUEST, 4, 14},
	{"tcp https://a.b/", DIAG_REQUEST, 4, 16},
	{"connect https://a.b/", DIAG_REQUEST, 8, 20},
	{"tcp a.b", DIAG_REQUEST, 4, 7},
	{"a.b:80-81", DIAG_REQUEST, 0, 9},
	{"a.b:80 81", DIAG_REQUEST, 7, 9},
	{"tcp a.b:53/udp", DIAG_REQUEST, 4, 14},
	{"udp a.b:53/tcp", DIAG_REQUEST, 4, 14},
	{"a.b:80 c.d", DIAG_REQUEST, 7, 10},
	{"a..b:80", DIAG_LABEL, 2, 3},
	{"reed .env", DIAG_REQUEST, 0, 4},
	{"nonsense x", DIAG_REQUEST, 0, 8},
	{"get https://a.b/", DIAG_REQUEST, 0, 3},
	{"GET a.b", DIAG_REQUEST, 4, 7},
	{"GET https://*.a.b/", DIAG_REQUEST, 4, 18},
	{"GET https://a.b/ x", DIAG_REQUEST, 17, 18},
	{"GET https://192.0.2.1/ at 192.0.2.2", DIAG_REQUEST, 26, 35},
	{"GET https://a.b/ at c.d", DIAG_REQUEST, 20, 23},
	{"GET https://a.b/ at 10.0.0.0/8", DIAG_REQUEST, 20, 30},
	{"GET https://a.b/ at 192.0.2.1:80", DIAG_REQUEST, 20, 32},
};

static void test_bad_requests(void)
{
	struct rig r;
	struct ir_request q;
	struct ir_port port;
	struct text t;

	for (size_t i = 0; i < ARRAY_LEN(bad_requests); i++) {
		struct diag_view v = {0};

		rig_init(&r);
		t = rig_text(&r, str_of(bad_requests[i].text));
		CHECK_MSG(!request_parse(&r.c, &t, &q), "%s",
			  bad_requests[i].text);
		CHECK_MSG(r.diags.errors == 1, "%s", bad_requests[i].text);
		diags_get(&r.diags, 0, &v);
		CHECK_MSG(v.id == bad_requests[i].id &&
				  v.at.beg - t.at.beg == bad_requests[i].beg &&
				  v.at.end - t.at.beg == bad_requests[i].end,
			  "%s: %d, %u to %u", bad_requests[i].text, v.id,
			  v.at.beg - t.at.beg, v.at.end - t.at.beg);
		rig_done(&r);
	}
	rig_init(&r);
	t = rig_text(&r, STR("read a\0b"));
	CHECK(!request_parse(&r.c, &t, &q) && r.diags.errors == 1);
	t = rig_text(&r, STR(" "));
	CHECK(!dest_parse_port(&r.c, &t, &port) && r.diags.errors == 2);
	t = rig_text(&r, STR("/a#b"));
	CHECK(!dest_path_check(&r.c, &t, (struct span){0, 4}) &&
	      r.diags.errors == 3);
	t = rig_text(&r, STR("/a?b"));
	CHECK(!dest_path_check(&r.c, &t, (struct span){0, 4}) &&
	      r.diags.errors == 4);
	rig_done(&r);
}

/* Written with escapes, all of it is what is meant. */
static void test_escaped_requests(void)
{
	for (size_t i = 0; i < ARRAY_LEN(bad_requests); i++) {
		struct diag_view v = {0};
		struct ir_request q;
		struct text t;
		struct rig r;

		rig_init(&r);
		t = rig_text(&r, str_of(bad_requests[i].text));
		t.verbatim = 0;
		CHECK_MSG(!request_parse(&r.c, &t, &q) &&
				  diags_get(&r.diags, 0, &v) &&
				  v.at.beg == t.at.beg && v.at.end == t.at.end,
			  "%s", bad_requests[i].text);
		rig_done(&r);
	}
}

int main(void)
{
	test_good();
	test_bad();
	test_masks();
	test_lengths();
	test_bytes();
	test_requests();
	test_bad_requests();
	test_escaped_requests();
	return check_status();
}
