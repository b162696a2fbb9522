/*
 * Requests as the reader hands them on: the same however they arrive, and for
 * another parser, node's old one, without a fault and with the same ends.
 */
#include "runtime/reader/stream.h"

#include <errno.h>
#include <http_parser.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ROOM 32768
#define ENDS 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* --- handed on ----------------------------------------------------------- */

struct source {
	const uint8_t *p;
	size_t n, at;
	uint32_t seed; /* 0: in one piece */
};

struct result {
	char out[1 << 18];
	size_t n;
	ssize_t last;
	enum stream_end end;
	bool marked;
};

static struct result whole, cut;

static size_t draw(struct source *s, size_t most)
{
	if (!s->seed)
		return most;
	s->seed = s->seed * 1664525 + 1013904223;
	return 1 + (s->seed >> 16) % (most < 40 ? most : 40);
}

static ssize_t piece(void *data, char *buf, size_t n)
{
	struct source *s = data;

	if (n > s->n - s->at)
		n = s->n - s->at;
	if (n == 0)
		return -1;
	n = draw(s, n);
	memcpy(buf, s->p + s->at, n);
	s->at += n;
	return (ssize_t)n;
}

static void hand_on(struct source s, struct result *r)
{
	struct stream stream = {0};
	char buf[ROOM];

	r->n = 0;
	for (;;) {
		r->last = stream_read(&stream, piece, &s, buf, draw(&s, ROOM));
		if (r->last <= 0)
			break;
		must(r->n + (size_t)r->last <= sizeof(r->out));
		memcpy(r->out + r->n, buf, (size_t)r->last);
		r->n += (size_t)r->last;
	}
	r->end = stream.end;
	r->marked = stream.http.asked ||
		    memmem(r->out, r->n, "Membrane-Upgrade", 16);
	stream_done(&stream);
}

/* --- where messages end -------------------------------------------------- */

struct ends {
	size_t v[ENDS], n, at;
};

static struct ends ours, theirs;

static void find_ours(const char *p, size_t n, struct http1 *h)
{
	struct http1_found f;
	size_t from = 0;

	ours.n = 0;
	for (size_t to = 1; to <= n; to++) {
		bool was = h->begun && h->state != HTTP1_START;

		was |= h->state == HTTP1_HEAD;
		http1_feed(h, p + from, to - from, &f);
		must(!f.fault);
		from += f.vetted;
		if (was && h->state == HTTP1_START && ours.n < ENDS)
			ours.v[ours.n++] = to;
	}
}

static int on_complete(http_parser *parser)
{
	(void)parser;
	if (theirs.n < ENDS)
		theirs.v[theirs.n++] = theirs.at;
	return 0;
}

static void find_theirs(const char *p, size_t n, http_parser *parser)
{
	http_parser_settings settings;

	http_parser_settings_init(&settings);
	settings.on_message_complete = on_complete;
	http_parser_init(parser, HTTP_REQUEST);
	theirs.n = 0;
	for (size_t i = 0; i < n && HTTP_PARSER_ERRNO(parser) == HPE_OK; i++) {
		theirs.at = i + 1;
		http_parser_execute(parser, &settings, p + i, 1);
		if (parser->upgrade)
			return;
	}
}

/* It takes a longer name for the one that it begins with. */
static bool is_misread(const char *p, size_t n)
{
	static const char *const names[] = {"transfer-encoding",
					    "content-length"};

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < 2; k++) {
			size_t size = strlen(names[k]);

			if (i + size < n && p[i + size] != ':' &&
			    strncasecmp(p + i, names[k], size) == 0)
				return true;
		}
	return false;
}

/* It knows fewer methods and targets, and that nothing follows a close. */
static bool is_excused(enum http_errno e)
{
	return e == HPE_INVALID_METHOD || e == HPE_INVALID_URL ||
	       e == HPE_CLOSED_CONNECTION || e == HPE_INVALID_HOST ||
	       e == HPE_INVALID_PATH || e == HPE_INVALID_PORT ||
	       e == HPE_INVALID_QUERY_STRING || e == HPE_INVALID_FRAGMENT ||
	       e == HPE_HEADER_OVERFLOW;
}

static void compare(const char *p, size_t n)
{
	struct http1 h = {0};
	http_parser parser;
	size_t least;

	find_ours(p, n, &h);
	if (h.state == HTTP1_UNREAD || h.state == HTTP1_NOTHING ||
	    is_misread(p, n))
		return;
	find_theirs(p, n, &parser);
	must(HTTP_PARSER_ERRNO(&parser) == HPE_OK ||
	     is_excused(HTTP_PARSER_ERRNO(&parser)));
	least = ours.n < theirs.n ? ours.n : theirs.n;
	for (size_t i = 0; i < least; i++)
		must(ours.v[i] == theirs.v[i]);
	must(theirs.n <= ours.n);
	must(theirs.n == ours.n || parser.upgrade ||
	     HTTP_PARSER_ERRNO(&parser) != HPE_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source s = {data, size, 0, 0};

	if (size < 2 || size > sizeof(whole.out) / 2)
		return 0;
	hand_on(s, &whole);
	s.seed = 1 + data[0] * 256 + data[size - 1];
	hand_on(s, &cut);
	/* A fault in a body is found with its head, or behind it. */
	must((whole.end == STREAM_OPEN) == (cut.end == STREAM_OPEN));
	if (whole.end == STREAM_OPEN && !whole.marked) {
		must(whole.n == cut.n &&
		     memcmp(whole.out, cut.out, cut.n) == 0);
		must(whole.n <= size && memcmp(whole.out, data, whole.n) == 0);
		compare(whole.out, whole.n);
	}
	return 0;
}
