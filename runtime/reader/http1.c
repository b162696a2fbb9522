#include "runtime/reader/http1.h"

#include "runtime/reader/http1_parts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MARKED	     "Membrane-Upgrade"
#define PREFACE	     "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define LENGTH_MAX   18 /* digits: no overflow, more than any disk */
#define CHUNK_DIGITS 16
#define CHUNK_MAX    INT32_MAX /* as in HAProxy */

/* --- heads --------------------------------------------------------------- */

/* "http" before "://", or nothing. */
static struct text scheme_of(struct text target)
{
	struct text none = {target.p, 0};
	size_t n = text_before(target, ":");

	if (n == 0 || target.n < n + 3 || memcmp(target.p + n, "://", 3) != 0 ||
	    text_is_digit(target.p[0]))
		return none;
	for (size_t i = 0; i < n; i++)
		if (!text_is_token((unsigned char)target.p[i]))
			return none;
	return (struct text){target.p, n};
}

/* So many digits at its end, behind a colon; 0: it has no port. */
static size_t port_digits(struct text t)
{
	size_t n = 0;

	while (n < t.n && text_is_digit(t.p[t.n - 1 - n]))
		n++;
	return n && n < 6 && n + 1 < t.n && t.p[t.n - 1 - n] == ':' ? n : 0;
}

/* Where the target leads, if it says so itself: RFC 9112, 3.2. */
static enum http1_fault read_target(struct http1 *h, struct text target)
{
	struct text scheme = scheme_of(target), who = target;

	if (text_span(target, text_is_target) != target.n)
		return HTTP1_TARGET_BYTE;
	if (!h->connect && (target.p[0] == '/' || text_is(target, "*")))
		return HTTP1_GOOD;
	if (!h->connect && scheme.n == 0)
		return HTTP1_TARGET;
	if (!h->connect)
		who = text_from(target, scheme.n + 3);
	who.n = text_before(who, "/?");
	if (who.n == 0 || who.n > HTTP1_AUTHORITY_MAX ||
	    (h->connect && (who.n != target.n || !port_digits(who))))
		return HTTP1_TARGET;
	memcpy(h->authority, who.p, who.n);
	h->n_authority = (uint16_t)who.n;
	h->default_port = text_is(scheme, "http") ? 80 : 443;
	return HTTP1_GOOD;
}

/* method SP target SP HTTP/1.x */
static enum http1_fault read_request(struct http1 *h, struct text line)
{
	size_t n = text_span(line, text_is_token), target = n + 1;
	static const char version[] = " HTTP/1.";
	struct text method = {line.p, n};

	/* PRI is a word of HTTP/2 alone. */
	if (n == 0 || n == line.n || line.p[n] != ' ' || text_is(method, "PRI"))
		return HTTP1_LINE;
	h->connect = n == 7 && memcmp(line.p, "CONNECT", 7) == 0;
	h->no_body = text_is(method, "GET") || text_is(method, "HEAD") ||
		     text_is(method, "DELETE");
	n = target + text_before(text_from(line, target), " ");
	if (n == target || line.n != n + sizeof(version) ||
	    memcmp(line.p + n, version, sizeof(version) - 1) != 0 ||
	    (line.p[line.n - 1] != '0' && line.p[line.n - 1] != '1'))
		return HTTP1_LINE;
	h->old = line.p[line.n - 1] == '0';
	line.n = n;
	return read_target(h, text_from(line, target));
}

/* Is it the other, with the port that need not be said? */
static bool is_but_port(struct text with, struct text without, uint16_t port)
{
	size_t digits = port_digits(with);
	unsigned value = 0;

	for (size_t i = with.n - digits; i < with.n; i++)
		value = value * 10 + (unsigned)(with.p[i] - '0');
	return digits && value == port && with.n == without.n + digits + 1 &&
	       strncasecmp(with.p, without.p, without.n) == 0;
}

static enum http1_fault read_host(struct http1 *h, struct text value)
{
	struct text who = {h->authority, h->n_authority};

	if (h->has_host)
		return HTTP1_HOSTS;
	if (who.n &&
	    !(who.n == value.n && strncasecmp(who.p, value.p, who.n) == 0) &&
	    !is_but_port(who, value, h->default_port) &&
	    (h->connect || !is_but_port(value, who, h->default_port)))
		return HTTP1_AUTHORITY;
	h->has_host = true;
	return HTTP1_GOOD;
}

static enum http1_fault read_length(struct http1 *h, struct text value)
{
	if (h->has_length)
		return HTTP1_LENGTHS;
	if (h->chunked)
		return HTTP1_BOTH;
	if (value.n == 0 || value.n > LENGTH_MAX)
		return HTTP1_LENGTH;
	h->left = 0;
	for (size_t i = 0; i < value.n; i++) {
		if (value.p[i] < '0' || value.p[i] > '9')
			return HTTP1_LENGTH;
		h->left = h->left * 10 + (uint64_t)(value.p[i] - '0');
	}
	if (h->old && h->no_body && h->left)
		return HTTP1_BODY_OLD;
	h->has_length = true;
	return HTTP1_GOOD;
}

static enum http1_fault read_coding(struct http1 *h, struct text value)
{
	if (h->has_length)
		return HTTP1_BOTH;
	if (h->old)
		return HTTP1_CODING_OLD;
	if (h->chunked || !text_is(value, "chunked"))
		return HTTP1_CODING;
	h->chunked = true;
	return HTTP1_GOOD;
}

enum http1_fault http1_field(struct text line, struct text *name,
			     struct text *value)
{
	*name = (struct text){line.p, text_span(line, text_is_token)};
	if (text_is_blank(line.p[0]))
		return HTTP1_FOLD;
	if (name->n == 0 || name->n == line.n || line.p[name->n] != ':')
		return HTTP1_NAME;
	*value = text_from(line, name->n + 1);
	if (text_span(*value, text_is_value) != value->n)
		return HTTP1_VALUE;
	*value = text_trimmed(*value);
	return HTTP1_GOOD;
}

static enum http1_fault read_header(struct http1 *h, struct text line)
{
	struct text name, value;
	enum http1_fault fault = http1_field(line, &name, &value);

	if (fault)
		return fault;
	if (++h->lines > HTTP1_LINES_MAX)
		return HTTP1_MANY;
	if (text_is(name, "content-length"))
		return read_length(h, value);
	if (text_is(name, "transfer-encoding"))
		return read_coding(h, value);
	if (text_is(name, HTTP1_REFUSED) || text_is(name, MARKED))
		return HTTP1_OWN;
	if (text_is(name, "host"))
		return read_host(h, value);
	h->has_accept |= text_is(name, "accept");
	/* Java's client offers h2c all the time; a rule takes that off. */
	h->upgrade |= text_is(name, "upgrade") && !text_is(value, "h2c");
	h->websocket |=
		text_is(name, "upgrade") && text_has_word(value, "websocket");
	h->has_key |= text_is(name, "sec-websocket-key") &&
		      value.n == strlen(HTTP1_ANY_KEY);
	return HTTP1_GOOD;
}

static enum http1_fault end_head(struct http1 *h)
{
	if (h->websocket && !h->has_key)
		return HTTP1_KEY;
	h->asked = h->upgrade;
	h->begun = true;
	if (h->connect)
		h->state = HTTP1_NOTHING;
	else if (h->chunked)
		h->state = HTTP1_SIZE;
	else
		h->state = h->left ? HTTP1_BODY : HTTP1_START;
	return HTTP1_GOOD;
}

static void begin_head(struct http1 *h)
{
	h->connect = h->chunked = h->upgrade = h->marked = h->old = false;
	h->has_host = h->has_accept = h->has_length = false;
	h->no_body = h->websocket = h->has_key = false;
	h->n_authority = 0;
	h->lines = h->n_head = 0;
	h->left = 0;
}

/* --- bodies -------------------------------------------------------------- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* chunk-size [ ";" ... ]: what an extension says is nobody's. */
static enum http1_fault read_size(struct http1 *h, struct text line)
{
	size_t n = 0;

	h->left = 0;
	for (; n < line.n && n < CHUNK_DIGITS && hex_digit(line.p[n]) >= 0; n++)
		h->left = h->left * 16 + (uint64_t)hex_digit(line.p[n]);
	if (n == 0 || h->left > CHUNK_MAX || (n < line.n && line.p[n] != ';') ||
	    text_span(line, text_is_value) != line.n)
		return HTTP1_CHUNK;
	h->state = h->left ? HTTP1_DATA : HTTP1_TRAILER;
	h->left += h->left ? 2 : 0;
	h->lines = h->n_head = 0;
	return HTTP1_GOOD;
}

static enum http1_fault read_trailer(struct http1 *h, struct text line)
{
	struct text name, value;
	enum http1_fault fault;

	if (line.n == 0) {
		h->state = HTTP1_START;
		return HTTP1_GOOD;
	}
	fault = http1_field(line, &name, &value);
	if (fault)
		return fault;
	if (++h->lines > HTTP1_LINES_MAX)
		return HTTP1_MANY;
	if (text_is(name, "content-length") ||
	    text_is(name, "transfer-encoding") || text_is(name, "host") ||
	    text_is(name, "upgrade") || text_is(name, "connection"))
		return HTTP1_FIELD;
	return HTTP1_GOOD;
}

/* Bytes of a body, and of a chunk; a chunk's last two are a CRLF. */
static size_t skip_body(struct http1 *h, struct text t, enum http1_fault *fault)
{
	size_t n = t.n < h->left ? t.n : (size_t)h->left;

	if (h->state == HTTP1_DATA)
		for (uint64_t k = h->left > 2 ? h->left - 2 : 0; k < n; k++)
			if (t.p[k] != (h->left - k == 2 ? '\r' : '\n')) {
				*fault = HTTP1_CHUNK;
				return (size_t)k;
			}
	h->left -= n;
	if (h->left == 0)
		h->state = h->state == HTTP1_DATA ? HTTP1_SIZE : HTTP1_START;
	return n;
}

/* --- units --------------------------------------------------------------- */

/* How long a line may be where it stands. */
static size_t line_max(const struct http1 *h)
{
	return h->state == HTTP1_SIZE ? HTTP1_CHUNK_LINE_MAX
				      : HTTP1_HEAD_MAX - h->n_head;
}

static enum http1_fault read_line(struct http1 *h, struct text line)
{
	enum http1_fault fault = HTTP1_GOOD;

	switch (h->state) {
	case HTTP1_START:
		/* Empty lines before it: RFC 9112, section 2.2. */
		if (line.n)
			fault = read_request(h, line);
		if (line.n && !fault)
			h->state = HTTP1_HEAD;
		return fault;
	case HTTP1_HEAD:
		if (line.n)
			return read_header(h, line);
		return end_head(h);
	case HTTP1_SIZE:
		return read_size(h, line);
	case HTTP1_TRAILER:
		return read_trailer(h, line);
	case HTTP1_BODY:
	case HTTP1_DATA:
	case HTTP1_UNREAD:
	case HTTP1_NOTHING:
		break;
	}
	/* No lines are read there: take_unit(). */
	abort();
}

/* The next line with its end; 0: not there yet. */
static size_t next_line(struct http1 *h, struct text t, enum http1_fault *fault)
{
	const char *end = memchr(t.p, '\n', t.n);
	size_t n = end ? (size_t)(end - t.p) + 1 : 0;

	if ((end ? n : t.n) > line_max(h))
		*fault = h->state == HTTP1_SIZE ? HTTP1_CHUNK : HTTP1_LONG;
	else if (end && (n < 2 || end[-1] != '\r'))
		*fault = HTTP1_BARE_LF;
	else if (end)
		*fault = read_line(h, (struct text){t.p, n - 2});
	if (*fault || !end)
		return 0;
	h->n_head += (uint32_t)n;
	return n;
}

/* HTTP/2 without TLS or ALPN: 1 it is, 0 it may be, -1 not. */
static int match_preface(struct text t)
{
	size_t n = sizeof(PREFACE) - 1;

	if (memcmp(t.p, PREFACE, t.n < n ? t.n : n) != 0)
		return -1;
	return t.n >= n;
}

static bool in_head(enum http1_state s)
{
	return s == HTTP1_START || s == HTTP1_HEAD;
}

/* What stands at t as a whole: how long it is; 0: no more can be taken. */
static size_t take_unit(struct http1 *h, struct text t, struct http1_found *f)
{
	if (h->state == HTTP1_START && h->n_head == 0 && !h->begun) {
		int found = match_preface(t);

		if (found == 0)
			return 0;
		if (found > 0)
			h->state = HTTP1_UNREAD;
	}
	f->mark = h->state == HTTP1_HEAD && h->upgrade && !h->marked &&
		  (h->has_key || !h->websocket) && t.n > 1 &&
		  memcmp(t.p, "\r\n", 2) == 0;
	if (f->mark || h->state == HTTP1_NOTHING)
		return 0;
	if (h->state == HTTP1_UNREAD)
		return t.n;
	if (h->state == HTTP1_BODY || h->state == HTTP1_DATA)
		return skip_body(h, t, &f->fault);
	return next_line(h, t, &f->fault);
}

void http1_feed(struct http1 *h, const char *p, size_t n,
		struct http1_found *out)
{
	struct http1_found f = {0};
	size_t cut = SIZE_MAX; /* where the last head's empty line begins */

	while (f.vetted < n && !f.fault) {
		enum http1_state was = h->state;
		struct text t = {p + f.vetted, n - f.vetted};
		size_t got = take_unit(h, t, &f);

		if (got == 0)
			break;
		if (was == HTTP1_HEAD && h->state != HTTP1_HEAD)
			cut = f.vetted;
		if (was != HTTP1_START && h->state == HTTP1_START) {
			begin_head(h);
			cut = SIZE_MAX;
		}
		f.vetted += got;
	}
	f.in_head = in_head(h->state);
	if (f.fault && !f.in_head && cut != SIZE_MAX) {
		f.vetted = cut;
		f.in_head = true;
		h->state = HTTP1_HEAD;
	}
	*out = f;
}

bool http1_may_end(const struct http1 *h, size_t n)
{
	return h->state != HTTP1_HEAD && (h->state != HTTP1_START || n == 0);
}

size_t http1_mark(struct http1 *h, uint64_t number, char *out)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = sizeof(MARKED ": ") - 1;

	memcpy(out, MARKED ": ", n);
	for (int i = 0; i < HTTP1_MARK; i++, number >>= 4)
		out[n++] = h->mark[i] = digits[number & 15];
	memcpy(out + n, "\r\n", 2);
	h->marked = true;
	return n + 2;
}

void http1_answer(struct http1 *h, const char *p, size_t n)
{
	if (!h->asked || !memmem(p, n, h->mark, HTTP1_MARK))
		return;
	h->asked = false;
	h->state = HTTP1_UNREAD;
}
