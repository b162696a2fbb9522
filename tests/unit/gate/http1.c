/* What is vetted of HTTP/1, however it is cut, and what stands for the rest. */
#include "runtime/reader/http1_refusal.h"
#include "runtime/reader/stream.h"

#include "tests/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define OUT_MAX 200000

/* What the reader asks the system for: the Makefile wraps it, for this test. */
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
ssize_t __real_getrandom(void *to, size_t n, unsigned flags);
ssize_t __wrap_getrandom(void *to, size_t n, unsigned flags);

static bool no_memory, no_random;

void *__wrap_malloc(size_t n)
{
	return no_memory ? NULL : __real_malloc(n);
}

ssize_t __wrap_getrandom(void *to, size_t n, unsigned flags)
{
	return no_random ? -1 : __real_getrandom(to, n, flags);
}

/* Pieces of a text, then nothing for now, or the end. */
struct pieces {
	const char *p;
	size_t n, at; /* the next one ends where a multiple of step is */
	size_t step, first;
	bool ends;
};

static ssize_t piece(void *data, char *buf, size_t n)
{
	struct pieces *s = data;
	size_t stop = s->at < s->first ? s->first : s->at + s->step;

	if (stop > s->n)
		stop = s->n;
	if (n > stop - s->at)
		n = stop - s->at;
	if (n == 0) {
		errno = EAGAIN;
		return s->ends ? 0 : -1;
	}
	memcpy(buf, s->p + s->at, n);
	s->at += n;
	return (ssize_t)n;
}

struct resolved {
	char out[OUT_MAX];
	size_t n;
	ssize_t last;
	enum stream_end end;
	enum http1_state state;
};

static struct resolved seen;

/* All of it, into buffers of one size. */
static void run(struct pieces s, size_t room)
{
	static struct stream stream;
	char buf[40000];

	memset(&stream, 0, sizeof(stream));
	seen.n = 0;
	while ((seen.last = stream_read(&stream, piece, &s, buf, room)) > 0) {
		memcpy(seen.out + seen.n, buf, (size_t)seen.last);
		seen.n += (size_t)seen.last;
	}
	seen.out[seen.n] = '\0';
	seen.end = stream.end;
	seen.state = stream.http.state;
	stream_done(&stream);
}

static bool got(const char *text)
{
	return seen.n == strlen(text) && memcmp(seen.out, text, seen.n) == 0;
}

/* Cut at each place, byte by byte, and into small buffers. */
#define EACH_WAY(text, size, check)                                            \
	do {                                                                   \
		for (size_t cut = 0; cut <= (size); cut++) {                   \
			run((struct pieces){text, size, 0, size, cut, false},  \
			    32768);                                            \
			check;                                                 \
		}                                                              \
		for (size_t room = 1; room < 40; room += 3) {                  \
			run((struct pieces){text, size, 0, 1, 0, false},       \
			    room);                                             \
			check;                                                 \
			run((struct pieces){text, size, 0, size, 0, false},    \
			    room);                                             \
			check;                                                 \
		}                                                              \
	} while (0)

static const char *const good[] = {
	"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
	"\r\n\r\nGET /x?y HTTP/1.0\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a\r\n\r\nHEAD /b HTTP/1.1\r\nHost: a\r\n\r\n",
	"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\na\nb\nc"
	"GET / HTTP/1.1\r\nA:\r\nB: \t c \t\r\n\r\n",
	"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
	"PUT / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\n\r\nx\r\n"
	"00a;e=\"f\"\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n"
	"DELETE / HTTP/1.1\r\nHost: b\r\n\r\n",
	"GET http://a/b HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\n\r\n"
	"GET / HTTP/1.1\r\nX: \x80\xff\r\n\r\n",
	"GET http://a/b HTTP/1.1\r\nHost: A:80\r\n\r\n"
	"GET http://a:80?b HTTP/1.1\r\nHost: a\r\n\r\n"
	"GET https://[::1]:443/ HTTP/1.1\r\nHost: [::1]\r\n\r\n"
	"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"
	"GET /http://b/ HTTP/1.1\r\nHost: a\r\n\r\n"
	"GET /x HTTP/1.0\r\nContent-Length: 0\r\n\r\n",
	"POST /x HTTP/1.0\r\nContent-Length: 1\r\n\r\nx",
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\n\n \n",
};

static void passes_what_is_good(void)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const char *text = good[i];

		EACH_WAY(text, strlen(text), {
			CHECK(got(text));
			CHECK(seen.last == -1 && seen.end == STREAM_OPEN);
		});
	}
}

#define WORDS(why) "Membrane-Refused: " why "\r\nConnection: close\r\n\r\n"
#define HOST	   "Host: a\r\n"

static const struct {
	const char *text, *out;
} bad[] = {
	{"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
	 "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	 "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n" WORDS(
		 "Content-Length beside Transfer-Encoding (6.3)")},
	{"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
	 "Content-Length: 1\r\n",
	 "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" WORDS(
		 "Content-Length beside Transfer-Encoding (6.3)")},
	{"GET / HTTP/1.1\r\nA:\r\n b\r\n",
	 "GET / HTTP/1.1\r\nA:\r\n" WORDS("a folded header line "
					  "(5.2)")},
	{"GET / HTTP/1.1\r\nA : b\r\n",
	 "GET / HTTP/1.1\r\n" WORDS("a header line without a proper name and "
				    "colon (5)")},
	{"GET / HTTP/1.1\r\n: b\r\n",
	 "GET / HTTP/1.1\r\n" WORDS("a header line without a proper name and "
				    "colon (5)")},
	{"GET / HTTP/1.1\r\nA: b\rc\r\n",
	 "GET / HTTP/1.1\r\n" WORDS("a control byte in a header (5.5)")},
	{"GET / HTTP/1.1\r\nHost: a\r\nHOST: a\r\n",
	 "GET / HTTP/1.1\r\n" HOST WORDS("more than one Host (3.2)")},
	{"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n",
	 "POST / HTTP/1.1\r\nContent-Length: 1\r\n" WORDS(
		 "more than one Content-Length (6.3)")},
	{"POST / HTTP/1.1\r\nContent-Length: +1\r\n",
	 "POST / HTTP/1.1\r\n" WORDS("a Content-Length that is not one number "
				     "(6.2)")},
	{"POST / HTTP/1.1\r\nContent-Length: 1234567890123456789\r\n",
	 "POST / HTTP/1.1\r\n" WORDS("a Content-Length that is not one number "
				     "(6.2)")},
	{"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n",
	 "POST / HTTP/1.1\r\n" WORDS("a Transfer-Encoding that is not just "
				     "chunked (6.1)")},
	{"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n",
	 "POST / HTTP/1.0\r\n" WORDS("Transfer-Encoding in HTTP/1.0 (6.1)")},
	{"GET http://a/ HTTP/1.1\r\nHost: b\r\n",
	 "GET http://a/ HTTP/1.1\r\n" HOST WORDS(
		 "a target whose authority is not Host's (3.2.2)")},
	{"GET http://a:81/ HTTP/1.1\r\nHost: a\r\n",
	 "GET http://a:81/ HTTP/1.1\r\nHost: a:81\r\n" WORDS(
		 "a target whose authority is not Host's (3.2.2)")},
	{"GET https://a/ HTTP/1.1\r\nHost: a:80\r\n",
	 "GET https://a/ HTTP/1.1\r\n" HOST WORDS(
		 "a target whose authority is not Host's (3.2.2)")},
	{"CONNECT a:443 HTTP/1.1\r\nX y\r\n",
	 "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n" WORDS(
		 "a header line without a proper name and colon (5)")},
	{"GET / HTTP/1.0\r\nContent-Length: 1\r\n",
	 "GET / HTTP/1.0\r\n" WORDS("a body of GET, HEAD or DELETE in "
				    "HTTP/1.0")},
	{"GET / HTTP/1.1\r\nUpgrade: a, WebSocket\r\n"
	 "Sec-WebSocket-Key: short\r\n\r\n",
	 "GET / HTTP/1.1\r\nUpgrade: a, WebSocket\r\n"
	 "Sec-WebSocket-Key: short\r\n"
	 "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" WORDS(
		 "an upgrade to websocket without a key (RFC 6455, 4.1)")},
	{"GET / HTTP/1.1\r\nMembrane-Upgrade: 1\r\n",
	 "GET / HTTP/1.1\r\n" WORDS("a header that is the gate's own")},
	{"GET http://123/ HTTP/1.1\r\nHost: a\r\n",
	 "GET http://123/ HTTP/1.1\r\nHost: 123\r\n" WORDS(
		 "a target whose authority is not Host's (3.2.2)")},
	{"GET http://a:123456/ HTTP/1.1\r\nHost: a\r\n",
	 "GET http://a:123456/ HTTP/1.1\r\nHost: a:123456\r\n" WORDS(
		 "a target whose authority is not Host's (3.2.2)")},
	{"GET http://ab12/ HTTP/1.1\r\nHost: a\r\n",
	 "GET http://ab12/ HTTP/1.1\r\nHost: ab12\r\n" WORDS(
		 "a target whose authority is not Host's (3.2.2)")},
	{"GET http://a:80/ HTTP/1.1\r\nHost: ab\r\n",
	 "GET http://a:80/ HTTP/1.1\r\nHost: a:80\r\n" WORDS(
		 "a target whose authority is not Host's (3.2.2)")},
	{"GET http://a:80/ HTTP/1.1\r\nHost: b\r\n",
	 "GET http://a:80/ HTTP/1.1\r\nHost: a:80\r\n" WORDS(
		 "a target whose authority is not Host's (3.2.2)")},
	{"CONNECT a:443 HTTP/1.1\r\nHost: b\r\n",
	 "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n" WORDS(
		 "a target whose authority is not Host's (3.2.2)")},
	{"POST / HTTP/1.1\r\nContent-Length: \r\n",
	 "POST / HTTP/1.1\r\n" WORDS(
		 "a Content-Length that is not one number (6.2)")},
	{"POST / HTTP/1.1\r\nContent-Length: 1a\r\n",
	 "POST / HTTP/1.1\r\n" WORDS(
		 "a Content-Length that is not one number (6.2)")},
	{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
	 "chunked\r\n",
	 "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" WORDS(
		 "a Transfer-Encoding that is not just chunked (6.1)")},
	{"GET / HTTP/1.1\r\nMembrane-Refused: 1\r\n",
	 "GET / HTTP/1.1\r\n" WORDS("a header that is the gate's own")},
	{"GET http://a/ HTTP/1.1\r\nHost: a\r\nX y\r\n",
	 "GET http://a/ HTTP/1.1\r\nHost: a\r\n" WORDS(
		 "a header line without a proper name and colon (5)")},
	{"GET / HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Key: "
	 "AAAAAAAAAAAAAAAAAAAAAA==\r\nX y\r\n",
	 "GET / HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Key: "
	 "AAAAAAAAAAAAAAAAAAAAAA==\r\n" WORDS(
		 "a header line without a proper name and colon (5)")},
};

static void refuses_what_is_not(void)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *text = bad[i].text;

		EACH_WAY(text, strlen(text), {
			CHECK(got(bad[i].out));
			CHECK(seen.end == STREAM_TOLD);
		});
	}
}

/* In one piece: what comes behind says whom it was for. */
static void says_what_it_can(void)
{
	static const struct {
		const char *text, *out;
	} told[] = {
		{"GET /x HTTP/1.1\nHost: a\nX: y\nAccept: b/c\n\nHost: d\n",
		 "GET /x HTTP/1.1\r\nHost: a\r\nAccept: b/c\r\n" WORDS(
			 "a line ends in a bare LF (2.2)")},
		{"GET  /x HTTP/1.1\r\nHost: a\r\n\r\n",
		 "GET / HTTP/1.1\r\nHost: a\r\n" WORDS("a malformed request "
						       "line (3)")},
		{"GET /\x80y HTTP/1.2\r\n\r\n",
		 "GET / HTTP/1.1\r\n" WORDS("a malformed request line (3)")},
		{"GET /a#b HTTP/1.1\r\nHost: a\r\n",
		 "GET /a HTTP/1.1\r\nHost: a\r\n" WORDS(
			 "a byte in the target that has to be escaped (3.2)")},
		{"GET /\xc3\xa4 HTTP/1.1\r\n",
		 "GET / HTTP/1.1\r\n" WORDS("a byte in the target that has to "
					    "be escaped (3.2)")},
		{"GET a/b HTTP/1.1\r\n",
		 "GET / HTTP/1.1\r\n" WORDS("a target that is none of HTTP's "
					    "forms (3.2)")},
		{"GET http:///b HTTP/1.1\r\n",
		 "GET / HTTP/1.1\r\n" WORDS("a target that is none of HTTP's "
					    "forms (3.2)")},
		{"CONNECT /a HTTP/1.1\r\nHost: a\r\n",
		 "- /a HTTP/1.1\r\nHost: a\r\n" WORDS(
			 "a target that is none of HTTP's forms (3.2)")},
		{"PRI * HTTP/1.1\r\nHost: a\r\n",
		 "- / HTTP/1.1\r\nHost: a\r\n" WORDS("a malformed request "
						     "line (3)")},
		{"\n", "- / HTTP/1.1\r\n" WORDS("a line ends in a bare LF "
						"(2.2)")},
		{"GET /x\r\n",
		 "GET /x HTTP/1.1\r\n" WORDS("a malformed request line (3)")},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\nx",
		 "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" WORDS(
			 "a line ends in a bare LF (2.2)")},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
		 "1\r\nxx\r\n",
		 "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" WORDS(
			 "a malformed chunk (7.1)")},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
		 "80000000\r\n",
		 "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" WORDS(
			 "a malformed chunk (7.1)")},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
		 "Host: b\r\n\r\n",
		 "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" WORDS(
			 "a trailer that is about framing or routing (6.5)")},
		{"GET :a HTTP/1.1\r\n",
		 "GET / HTTP/1.1\r\n" WORDS(
			 "a target that is none of HTTP's forms (3.2)")},
		{"GET 1a://b HTTP/1.1\r\n",
		 "GET / HTTP/1.1\r\n" WORDS(
			 "a target that is none of HTTP's forms (3.2)")},
		{"CONNECT a/b HTTP/1.1\r\nHost: a\r\n",
		 "- / HTTP/1.1\r\nHost: a\r\n" WORDS(
			 "a target that is none of HTTP's forms (3.2)")},
		{"CONNECT a HTTP/1.1\r\n",
		 "- / HTTP/1.1\r\n" WORDS(
			 "a target that is none of HTTP's forms (3.2)")},
		{" GET / HTTP/1.1\r\n",
		 "- / HTTP/1.1\r\n" WORDS("a malformed request line (3)")},
		{"GET\r\n",
		 "GET / HTTP/1.1\r\n" WORDS("a malformed request line (3)")},
		{"GET:/ HTTP/1.1\r\n",
		 "GET / HTTP/1.1\r\n" WORDS("a malformed request line (3)")},
		{"GET / HTTQ/1.1\r\n",
		 "GET / HTTP/1.1\r\n" WORDS("a malformed request line (3)")},
		{"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA /x HTTP/1.1\n",
		 "- / HTTP/1.1\r\n" WORDS("a line ends in a bare LF (2.2)")},
		{"GET /x HTTP/1.1\nAccept: a\nAccept: b\n",
		 "GET /x HTTP/1.1\r\nAccept: a\r\n" WORDS(
			 "a line ends in a bare LF (2.2)")},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1g\r\n",
		 "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" WORDS(
			 "a malformed chunk (7.1)")},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: "
		 "chunked\r\n\r\n00000000000000001\r\n",
		 "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" WORDS(
			 "a malformed chunk (7.1)")},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: "
		 "chunked\r\n\r\n1;\1\r\n",
		 "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" WORDS(
			 "a malformed chunk (7.1)")},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: "
		 "chunked\r\n\r\n0\r\nContent-Length: 1\r\n",
		 "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" WORDS(
			 "a trailer that is about framing or routing (6.5)")},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: "
		 "chunked\r\n\r\n0\r\nTransfer-Encoding: chunked\r\n",
		 "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" WORDS(
			 "a trailer that is about framing or routing (6.5)")},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: "
		 "chunked\r\n\r\n0\r\nUpgrade: x\r\n",
		 "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" WORDS(
			 "a trailer that is about framing or routing (6.5)")},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: "
		 "chunked\r\n\r\n0\r\nConnection: x\r\n",
		 "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" WORDS(
			 "a trailer that is about framing or routing (6.5)")},
	};

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		size_t n = strlen(told[i].text);

		run((struct pieces){told[i].text, n, 0, n, 0, false}, 32768);
		CHECK(got(told[i].out));
		CHECK(seen.end == STREAM_TOLD);
	}
}

/* A body that was begun has no words: it ends in an error. */
static void cuts_bodies(void)
{
	static const char head[] = "POST / HTTP/1.1\r\n"
				   "Transfer-Encoding: chunked\r\n\r\n";
	static const char *const tails[] = {"1\nx", "1\r\nxy\r\n", "\r\n",
					    "0\r\nA : b\r\n", "-1\r\n"};
	char text[200];

	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		size_t n = (size_t)snprintf(text, sizeof(text), "%s%s", head,
					    tails[i]);

		run((struct pieces){text, n, 0, n, sizeof(head) - 1, false},
		    32768);
		CHECK(seen.last == STREAM_ERROR && seen.end == STREAM_CUT);
		CHECK(seen.n >= sizeof(head) - 1 && seen.n < n &&
		      memcmp(seen.out, text, seen.n) == 0);
	}
}

static void ends_short(void)
{
	run((struct pieces){"GET / HTTP/1.1\r\nHo", 18, 0, 18, 0, true}, 100);
	CHECK(got("GET / HTTP/1.1\r\n" WORDS("the request ends within its "
					     "head")));
	run((struct pieces){"GE", 2, 0, 2, 0, true}, 100);
	CHECK(got("- / HTTP/1.1\r\n" WORDS("the request ends within its "
					   "head")) ||
	      got("GE / HTTP/1.1\r\n" WORDS("the request ends within its "
					    "head")));
	run((struct pieces){"", 0, 0, 0, 0, true}, 100);
	CHECK(seen.n == 0 && seen.last == 0);
	run((struct pieces){"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nx", 39,
			    0, 39, 0, true},
	    100);
	CHECK(seen.last == 0 && seen.out[seen.n - 1] == 'x');
}

#define CHUNKED "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"

static void bounds(void)
{
	static char text[OUT_MAX];
	size_t n = (size_t)sprintf(text, "GET / HTTP/1.1\r\nX: ");

	memset(text + n, 'x', HTTP1_HEAD_MAX);
	n += HTTP1_HEAD_MAX;
	for (size_t step = 1000; step <= n; step += n - 1000) {
		run((struct pieces){text, n, 0, step, 0, false}, 32768);
		CHECK(got("GET / HTTP/1.1\r\n" WORDS("a head that is too "
						     "long")));
	}
	n = (size_t)sprintf(text, "GET / HTTP/1.1\r\n");
	for (int i = 0; i <= HTTP1_LINES_MAX; i++)
		n += (size_t)sprintf(text + n, "X: y\r\n");
	run((struct pieces){text, n, 0, n, 0, false}, 32768);
	CHECK(strstr(seen.out, "too many header lines"));
	/* A body is as long as it says, and in one piece with what follows. */
	n = (size_t)sprintf(text, "PUT / HTTP/1.1\r\nContent-Length: "
				  "100000\r\n\r\n");
	memset(text + n, '\n', 100000);
	n += 100000;
	n += (size_t)sprintf(text + n, "GET /\n");
	run((struct pieces){text, n, 0, n, 0, false}, 32768);
	CHECK(memcmp(seen.out, text, n - 6) == 0 &&
	      strcmp(seen.out + n - 6,
		     "GET / HTTP/1.1\r\n" WORDS("a line ends in a bare LF "
						"(2.2)")) == 0);
	n = (size_t)sprintf(text, "GET http://");
	memset(text + n, 'a', HTTP1_AUTHORITY_MAX + 1);
	n += HTTP1_AUTHORITY_MAX + 1;
	n += (size_t)sprintf(text + n, "/ HTTP/1.1\r\n");
	run((struct pieces){text, n, 0, n, 0, false}, 32768);
	CHECK(got("GET / HTTP/1.1\r\n" WORDS(
		"a target that is none of HTTP's forms (3.2)")));
	/* Of a path so much is quoted, of a header's value all or nothing. */
	n = (size_t)sprintf(text, "GET /");
	memset(text + n, 'a', 3000);
	n += 3000;
	n += (size_t)sprintf(text + n, "\nAccept: ");
	memset(text + n, 'b', 3000);
	n += 3000;
	text[n++] = '\n';
	run((struct pieces){text, n, 0, n, 0, false}, 32768);
	CHECK(seen.n < 1200 && !strstr(seen.out, "Accept") &&
	      strstr(seen.out,
		     "a HTTP/1.1\r\n" WORDS("a line ends in a bare LF (2.2)")));
	/* Lines of chunks and of trailers. */
	n = (size_t)sprintf(text, CHUNKED "1;");
	memset(text + n, 'x', HTTP1_CHUNK_LINE_MAX);
	n += HTTP1_CHUNK_LINE_MAX;
	run((struct pieces){text, n, 0, n, 0, false}, 32768);
	CHECK(strstr(seen.out, "a malformed chunk (7.1)"));
	n = (size_t)sprintf(text, CHUNKED "0\r\n");
	for (int i = 0; i <= HTTP1_LINES_MAX; i++)
		n += (size_t)sprintf(text + n, "X: y\r\n");
	run((struct pieces){text, n, 0, n, 0, false}, 32768);
	CHECK(strstr(seen.out, "too many header lines"));
	/* Nothing behind a CONNECT. */
	n = (size_t)sprintf(text, "CONNECT a:1 HTTP/1.1\r\n\r\nGET / HTTP/1.1");
	run((struct pieces){text, n, 0, n, 0, false}, 32768);
	CHECK(got("CONNECT a:1 HTTP/1.1\r\n\r\n"));
}

#define ASK                                                                    \
	"GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n"                           \
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

/* As long as websocket, and another protocol, which has no key. */
#define ANOTHER "GET / HTTP/1.1\r\nUpgrade: webzocket\r\n"
#define PLAIN	"GET / HTTP/1.1\r\nUpgrade: other\r\n"

/* The number of the last upgrade, from what was handed on. */
static const char *number(const char *text)
{
	const char *at = strstr(text, "Membrane-Upgrade: ");

	return at ? at + 18 : "";
}

static void upgrades(void)
{
	static const char after[] = ASK "\r\nGET / HTTP/1.1\r\n\r\n";
	static struct stream s;
	struct pieces p = {ASK "\r\n", sizeof(ASK) + 1, 0, 1, 0, false};
	char buf[1000], answer[200];
	size_t n = 0;
	ssize_t more;

	EACH_WAY(after, sizeof(after) - 1, {
		CHECK(memcmp(seen.out, after, sizeof(ASK) - 1) == 0);
		CHECK(strlen(number(seen.out)) > HTTP1_MARK);
		CHECK(strcmp(number(seen.out) + HTTP1_MARK,
			     "\r\n\r\nGET / HTTP/1.1\r\n\r\n") == 0);
	});
	while ((more = stream_read(&s, piece, &p, buf + n, 900 - n)) > 0)
		n += (size_t)more;
	buf[n] = '\0';
	CHECK(s.http.asked && s.http.state == HTTP1_START);
	/* An answer that somebody made up. */
	http1_answer(&s.http, "HTTP/1.1 101 X\r\n\r\n", 18);
	CHECK(s.http.asked);
	snprintf(answer, sizeof(answer),
		 "HTTP/1.1 101 X\r\nmembrane-upgrade: %.16s\r\n\r\n",
		 number(buf));
	http1_answer(&s.http, answer, strlen(answer));
	CHECK(!s.http.asked && s.http.state == HTTP1_UNREAD);
	p = (struct pieces){"\x81\n \n", 4, 0, 4, 0, false};
	CHECK(stream_read(&s, piece, &p, buf, 100) == 4);
	stream_done(&s);
	/* What nobody waits for changes nothing. */
	memset(&s, 0, sizeof(s));
	http1_answer(&s.http, answer, strlen(answer));
	CHECK(s.http.state == HTTP1_START);
	/* Another protocol than websocket has no key, and is marked. */
	run((struct pieces){PLAIN "X: y\r\n\r\n", sizeof(PLAIN) + 7, 0, 100, 0,
			    false},
	    1000);
	CHECK(strncmp(seen.out, PLAIN "X: y\r\nMembrane-Upgrade: ",
		      sizeof(PLAIN) + 23) == 0);
	/* Frames before the answer: no words may go into a tunnel. */
	run((struct pieces){ASK "\r\n\x81\n", sizeof(ASK) + 3, 0, 100, 0,
			    false},
	    1000);
	CHECK(seen.last == STREAM_ERROR && !strstr(seen.out, "Refused"));
}

#define HTML(status, n, title)                                                 \
	"HTTP/1.1 " status "\r\nContent-length: " n                            \
	"\r\nCache-Control: no-cache\r\nConnection: close\r\n"                 \
	"Content-Type: text/html\r\n\r\n<html><body><h1>" title                \
	"</h1>\nYour browser sent an invalid request.\n</body></html>\n"

#define FILLER "X: 0123456789012345678901234567890123456789"
#define LONG   FILLER FILLER FILLER FILLER FILLER FILLER FILLER FILLER FILLER

static void says_pages_in_our_words(void)
{
	static const char page[] =
		HTML("400 Bad request", "90", "400 Bad request");
	static const char late[] =
		HTML("408 Request Time-out", "110", "408 Request Time-out");
	static const char ours[] = HTML("500 Internal Server Error", "90",
					"500 Internal Server Error");
	static const char brief[] =
		"HTTP/1.1 408 x\r\nContent-length: 1\r\n"
		"Content-Type: text/html\r\n\r\n<html><body><h1>"
		"</body></html>\n";
	static const char sizes[] =
		"HTTP/1.1 400 x\r\n" FILLER "\r\n"
		"Content-Type: text/html\r\n\r\n<html><body><h1>"
		"</body></html>\n";
	static const char types[] =
		"HTTP/1.1 400 x\r\nContent-length: 1\r\n" FILLER "\r\n\r\n"
		"</body></html>\n";
	char out[HTTP1_PAGE_MAX + 1] = "", *body;

	CHECK(http1_page(page, sizeof(page) - 1, out));
	CHECK(strlen(out) == sizeof(page) - 1 && !strstr(out, "html"));
	CHECK(strncmp(out, "HTTP/1.1 400 Bad request\r\n", 26) == 0);
	body = strstr(out, "\r\n\r\n");
	CHECK(body && strstr(body, "membrane refused this: bad-request"));
	CHECK(body &&
	      (size_t)atoi(strstr(out, "Length: ") + 8) == strlen(body + 4));
	memset(out, 0, sizeof(out));
	CHECK(http1_page(late, sizeof(late) - 1, out));
	CHECK(strlen(out) == sizeof(late) - 1 && strstr(out, "in time"));
	memset(out, 0, sizeof(out));
	CHECK(http1_page(ours, sizeof(ours) - 1, out));
	CHECK(strstr(out, "membrane: an error in the gate"));
	/* Too short for our words, too long for theirs, parts of one. */
	CHECK(!http1_page(brief, sizeof(brief) - 1, out));
	CHECK(!http1_page(
		HTML("400 Bad request", "600", "400 Bad request" LONG),
		sizeof(HTML("400 Bad request", "600", "400 Bad request" LONG)) -
			1,
		out));
	CHECK(!http1_page(sizes, sizeof(sizes) - 1, out));
	CHECK(!http1_page(types, sizeof(types) - 1, out));
	/* An answer of a server's, and what is not all of a page. */
	CHECK(!http1_page(page, sizeof(page) - 2, out));
	CHECK(!http1_page(page + 1, sizeof(page) - 2, out));
	CHECK(!http1_page("HTTP/1.1 200 OK\r\n\r\n", 19, out));
}

/* Two megabytes, and then no more: the end. */
static void throws_so_much(const char *text, size_t size)
{
	struct pieces p = {text, size, 0, 10000, 0, false};
	struct stream s = {0};
	char buf[32768];
	size_t again = 0;
	ssize_t last;

	do {
		last = stream_read(&s, piece, &p, buf, sizeof(buf));
		again += last == STREAM_AGAIN;
	} while (last > 0 || (last == STREAM_AGAIN && again < 100));
	CHECK(last == 0 && again > 1 && s.end == STREAM_TOLD);
	CHECK(s.thrown > STREAM_THROW_MAX && p.at < p.n);
	stream_done(&s);
}

static void throws_away(void)
{
	static char text[STREAM_THROW_MAX + 100000];
	size_t n = (size_t)sprintf(text, "GET /\n");

	memset(text + n, 'x', sizeof(text) - n);
	run((struct pieces){text, sizeof(text), 0, 10000, 0, false}, 32768);
	CHECK(seen.last == STREAM_AGAIN && strstr(seen.out, "bare LF"));
	throws_so_much(text, sizeof(text));
}

#define ALNUM "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
/* RFC 9110, section 5.6.2; and what RFC 3986, section 2 leaves of a target. */
#define TOKEN  ALNUM "!#$%&'*+-.^_`|~"
#define TARGET ALNUM "!\"$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

static void run_all(const char *text, size_t n)
{
	run((struct pieces){text, n, 0, n, 0, false}, 1000);
}

/* A byte in a method, a name, a value, a target: taken, or not. */
static void takes_byte(char c)
{
	bool token = strchr(TOKEN, c), target = strchr(TARGET, c);
	unsigned char code = (unsigned char)c;
	bool value = (code >= ' ' && code != 127) || c == '\t';
	char text[100];
	size_t n;

	n = (size_t)sprintf(text, "G%cT /x HTTP/1.1\r\nHost: a\r\n\r\n", c);
	run_all(text, n);
	CHECK_MSG(got(text) == token, "method %d", code);
	n = (size_t)sprintf(text, "GET / HTTP/1.1\r\nX%c: a\r\n\r\n", c);
	run_all(text, n);
	CHECK_MSG(got(text) == (token || c == ':'), "name %d", code);
	n = (size_t)sprintf(text, "GET / HTTP/1.1\r\nX: a%cb\r\n\r\n", c);
	run_all(text, n);
	CHECK_MSG(got(text) == value, "value %d", code);
	n = (size_t)sprintf(text, "GET /a%cb HTTP/1.1\r\n\r\n", c);
	run_all(text, n);
	CHECK_MSG(got(text) == target, "target %d", code);
}

/* The same byte in what a refusal quotes: up to it, or with it. */
static void quotes_byte(char c)
{
	bool token = strchr(TOKEN, c), target = strchr(TARGET, c);
	char text[100], out[200];

	sprintf(text, "G%cT  / HTTP/1.1\r\n", c);
	sprintf(out, "G%s / HTTP/1.1\r\n" WORDS("a malformed request line (3)"),
		token ? (char[]){c, 'T', '\0'} : "");
	run_all(text, strlen(text));
	CHECK_MSG(got(out), "method %d", c);
	sprintf(text, "GET /a%cb HTTP/9\r\n", c);
	sprintf(out,
		"GET /a%s HTTP/1.1\r\n" WORDS("a malformed request line (3)"),
		target ? (char[]){c, 'b', '\0'} : "");
	run_all(text, strlen(text));
	CHECK_MSG(got(out), "target %d", c);
}

#define RUN(text) run_all(text, sizeof(text) - 1)

static void knows_bytes(void)
{
	for (int c = 1; c < 256; c++) {
		takes_byte((char)c);
		if (c != '\n' && c != ' ')
			quotes_byte((char)c);
	}
	/* No byte of a text at all, and one that ends C's. */
	RUN("G\0T / HTTP/1.1\r\n\r\n");
	CHECK(got("G / HTTP/1.1\r\n" WORDS("a malformed request line (3)")));
	RUN("GET  / HTTP/1.1\r\nAccept:\tb\t\r\n\r\n");
	CHECK(got("GET / HTTP/1.1\r\nAccept: b\r\n" WORDS(
		"a malformed request line (3)")));
	RUN("GET /a\tb HTTP/1.1\r\n");
	CHECK(got("GET /a HTTP/1.1\r\n" WORDS(
		"a byte in the target that has to be escaped (3.2)")));
	RUN("GET / HTTP/1.1\r\n\tX: a\r\n");
	CHECK(got("GET / HTTP/1.1\r\n" WORDS("a folded header line (5.2)")));
	RUN(ANOTHER "\r\n");
	CHECK(strstr(seen.out, "Membrane-Upgrade: "));
	RUN("GET  / HTTP/1.1\r\nAccess: b\r\n\r\n");
	CHECK(got("GET / HTTP/1.1\r\n" WORDS("a malformed request line (3)")));
}

/* What cannot be held or marked is not handed on. */
static void ends_without_room(void)
{
	static const char half[] = "GET / HTTP/1.1\r\nHo";
	static const char wrong[] = "GET  / HTTP/1.1\r\n";
	static const char upgrade[] = ASK "\r\nx";

	no_memory = true;
	run_all(half, sizeof(half) - 1);
	CHECK(seen.last == STREAM_ERROR && seen.end == STREAM_CUT);
	CHECK(got("GET / HTTP/1.1\r\n"));
	run_all(wrong, sizeof(wrong) - 1);
	CHECK(seen.n == 0 && seen.last == STREAM_ERROR);
	run_all(upgrade, sizeof(upgrade) - 1);
	CHECK(got(ASK) && seen.last == STREAM_ERROR);
	no_memory = false;
	no_random = true;
	run_all(upgrade, sizeof(upgrade) - 1);
	CHECK(got(ASK) && seen.last == STREAM_ERROR);
	no_random = false;
}

/* In one piece with more than has to wait for an upgrade's answer. */
static void ends_with_too_much(void)
{
	static char text[2 * STREAM_HOLD], buf[2 * STREAM_HOLD];
	struct pieces p = {text, sizeof(text), 0, sizeof(text), 0, false};
	struct stream s = {0};
	size_t head = sizeof(ASK) - 1;

	memset(text, 'x', sizeof(text));
	memcpy(text, ASK "\r\n", head + 2);
	CHECK(stream_read(&s, piece, &p, buf, 0) == 0 && p.at == 0);
	CHECK(stream_read(&s, piece, &p, buf, sizeof(buf)) == (ssize_t)head);
	CHECK(memcmp(buf, ASK, head) == 0 && s.end == STREAM_CUT);
	CHECK(stream_read(&s, piece, &p, buf, sizeof(buf)) == STREAM_ERROR);
	stream_done(&s);
}

int main(void)
{
	passes_what_is_good();
	refuses_what_is_not();
	says_what_it_can();
	cuts_bodies();
	ends_short();
	bounds();
	upgrades();
	says_pages_in_our_words();
	throws_away();
	knows_bytes();
	ends_without_room();
	ends_with_too_much();
	return check_status();
}
