#include "runtime/reader/http1.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define REFUSED	     "Membrane-Refused"
#define MARKED	     "Membrane-Upgrade"
#define PREFACE	     "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define LENGTH_MAX   18 /* digits: no overflow, more than any disk */
#define CHUNK_DIGITS 16
#define CHUNK_MAX    INT32_MAX /* as in HAProxy */
#define SHOWN_MAX    1024      /* of each thing that a refusal quotes */
#define KEY_SIZE     24	       /* of 16 bytes in base64: RFC 6455, 4.1 */
#define KEY	     "AAAAAAAAAAAAAAAAAAAAAA=="

struct text {
	const char *p;
	size_t n;
};

const char *http1_fault_text(enum http1_fault fault)
{
	static const char *const texts[] = {
		"nothing",
#define FAULT(name, text) text,
#include "runtime/reader/http1.def"
#undef FAULT
	};

	return texts[fault];
}

/* --- letters ------------------------------------------------------------- */

/* tchar of RFC 9110, 5.6.2 */
static bool is_token(unsigned char c)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9'))
		return true;
	return c && strchr("!#$%&'*+-.^_`|~", c);
}

/* field-vchar, SP and HTAB */
static bool is_value(unsigned char c)
{
	return (c >= ' ' && c != 127) || c == '\t';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static size_t span(struct text t, bool (*is)(unsigned char c))
{
	size_t n = 0;

	while (n < t.n && is((unsigned char)t.p[n]))
		n++;
	return n;
}

static struct text from(struct text t, size_t at)
{
	return (struct text){t.p + at, t.n - at};
}

/* How many bytes there are before any of these. */
static size_t before(struct text t, const char *any)
{
	size_t n = 0;

	while (n < t.n && !strchr(any, t.p[n]))
		n++;
	return n;
}

static struct text trimmed(struct text t)
{
	while (t.n && is_blank(t.p[0]))
		t = from(t, 1);
	while (t.n && is_blank(t.p[t.n - 1]))
		t.n--;
	return t;
}

static bool is(struct text t, const char *word)
{
	return t.n == strlen(word) && strncasecmp(t.p, word, t.n) == 0;
}

/* Does a list have it? RFC 9110, 5.6.1. */
static bool has_word(struct text list, const char *word)
{
	while (list.n) {
		size_t n = before(list, ",");

		if (is(trimmed((struct text){list.p, n}), word))
			return true;
		list = from(list, n < list.n ? n + 1 : n);
	}
	return false;
}

/* --- heads --------------------------------------------------------------- */

/* What HAProxy takes in a target. */
static bool is_target(unsigned char c)
{
	return c > ' ' && c < 127 && c != '#';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "http" before "://", or nothing. */
static struct text scheme_of(struct text target)
{
	struct text none = {target.p, 0};
	size_t n = before(target, ":");

	if (n == 0 || target.n < n + 3 || memcmp(target.p + n, "://", 3) != 0 ||
	    is_digit(target.p[0]))
		return none;
	for (size_t i = 0; i < n; i++)
		if (!is_token((unsigned char)target.p[i]))
			return none;
	return (struct text){target.p, n};
}

/* So many digits at its end, behind a colon; 0: it has no port. */
static size_t port_digits(struct text t)
{
	size_t n = 0;

	while (n < t.n && is_digit(t.p[t.n - 1 - n]))
		n++;
	return n && n < 6 && n + 1 < t.n && t.p[t.n - 1 - n] == ':' ? n : 0;
}

/* Where the target leads, if it says so itself: RFC 9112, 3.2. */
static enum http1_fault read_target(struct http1 *h, struct text target)
{
	struct text scheme = scheme_of(target), who = target;

	if (span(target, is_target) != target.n)
		return HTTP1_TARGET_BYTE;
	if (!h->connect && (target.p[0] == '/' || is(target, "*")))
		return HTTP1_GOOD;
	if (!h->connect && scheme.n == 0)
		return HTTP1_TARGET;
	if (!h->connect)
		who = from(target, scheme.n + 3);
	who.n = before(who, "/?");
	if (who.n == 0 || who.n > HTTP1_AUTHORITY_MAX ||
	    (h->connect && (who.n != target.n || !port_digits(who))))
		return HTTP1_TARGET;
	memcpy(h->authority, who.p, who.n);
	h->n_authority = (uint16_t)who.n;
	h->default_port = is(scheme, "http") ? 80 : 443;
	return HTTP1_GOOD;
}

/* method SP target SP HTTP/1.x */
static enum http1_fault read_request(struct http1 *h, struct text line)
{
	size_t n = span(line, is_token), target = n + 1;
	static const char version[] = " HTTP/1.";
	struct text method = {line.p, n};

	/* PRI is a word of HTTP/2 alone. */
	if (n == 0 || n == line.n || line.p[n] != ' ' || is(method, "PRI"))
		return HTTP1_LINE;
	h->connect = n == 7 && memcmp(line.p, "CONNECT", 7) == 0;
	h->no_body =
		is(method, "GET") || is(method, "HEAD") || is(method, "DELETE");
	for (n = target; n < line.n && (unsigned char)line.p[n] > ' '; n++)
		;
	if (n == target || line.n != n + sizeof(version) ||
	    memcmp(line.p + n, version, sizeof(version) - 1) != 0 ||
	    (line.p[line.n - 1] != '0' && line.p[line.n - 1] != '1'))
		return HTTP1_LINE;
	h->old = line.p[line.n - 1] == '0';
	line.n = n;
	return read_target(h, from(line, target));
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
	if (h->chunked || !is(value, "chunked"))
		return HTTP1_CODING;
	h->chunked = true;
	return HTTP1_GOOD;
}

/* Name and value of a line, where it has good ones. */
static enum http1_fault split(struct text line, struct text *name,
			      struct text *value)
{
	*name = (struct text){line.p, span(line, is_token)};
	if (is_blank(line.p[0]))
		return HTTP1_FOLD;
	if (name->n == 0 || name->n == line.n || line.p[name->n] != ':')
		return HTTP1_NAME;
	*value = from(line, name->n + 1);
	if (span(*value, is_value) != value->n)
		return HTTP1_VALUE;
	*value = trimmed(*value);
	return HTTP1_GOOD;
}

static enum http1_fault read_header(struct http1 *h, struct text line)
{
	struct text name, value;
	enum http1_fault fault = split(line, &name, &value);

	if (fault)
		return fault;
	if (++h->lines > HTTP1_LINES_MAX)
		return HTTP1_MANY;
	if (is(name, "content-length"))
		return read_length(h, value);
	if (is(name, "transfer-encoding"))
		return read_coding(h, value);
	if (is(name, REFUSED) || is(name, MARKED))
		return HTTP1_OWN;
	if (is(name, "host"))
		return read_host(h, value);
	h->has_accept |= is(name, "accept");
	/* Java's client offers h2c all the time; a rule takes that off. */
	h->upgrade |= is(name, "upgrade") && !is(value, "h2c");
	h->websocket |= is(name, "upgrade") && has_word(value, "websocket");
	h->has_key |= is(name, "sec-websocket-key") && value.n == KEY_SIZE;
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

static void begin(struct http1 *h)
{
	h->connect = h->chunked = h->upgrade = h->marked = h->old = false;
	h->has_host = h->has_accept = h->has_length = false;
	h->no_body = h->websocket = h->has_key = false;
	h->n_authority = 0;
	h->lines = h->n_head = 0;
	h->left = 0;
}

/* --- bodies -------------------------------------------------------------- */

static int hex(char c)
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
	for (; n < line.n && n < CHUNK_DIGITS && hex(line.p[n]) >= 0; n++)
		h->left = h->left * 16 + (uint64_t)hex(line.p[n]);
	if (n == 0 || h->left > CHUNK_MAX || (n < line.n && line.p[n] != ';') ||
	    span(line, is_value) != line.n)
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
	fault = split(line, &name, &value);
	if (fault)
		return fault;
	if (++h->lines > HTTP1_LINES_MAX)
		return HTTP1_MANY;
	if (is(name, "content-length") || is(name, "transfer-encoding") ||
	    is(name, "host") || is(name, "upgrade") || is(name, "connection"))
		return HTTP1_FIELD;
	return HTTP1_GOOD;
}

/* Bytes of a body, and of a chunk; a chunk's last two are a CRLF. */
static size_t skip(struct http1 *h, struct text t, enum http1_fault *fault)
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
		/* Empty lines before a request: section 2.2. */
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
	return HTTP1_GOOD;
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
static int preface(struct text t)
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
		int found = preface(t);

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
		return skip(h, t, &f->fault);
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
			begin(h);
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

/* --- refusals ------------------------------------------------------------ */

struct out {
	char *p;
	size_t n;
};

static void put(struct out *o, struct text t)
{
	size_t n = t.n < SHOWN_MAX ? t.n : SHOWN_MAX;

	if (o->n + n > HTTP1_REFUSAL_MAX)
		n = HTTP1_REFUSAL_MAX - o->n;
	memcpy(o->p + o->n, t.p, n);
	o->n += n;
}

static void put_word(struct out *o, const char *word)
{
	put(o, (struct text){word, strlen(word)});
}

/* What can be read of a line that is no request line. */
static void put_request(struct out *o, struct text line)
{
	struct text method = {line.p, span(line, is_token)}, path = {"/", 1};

	if (method.n && method.n < 40 && method.n + 1 < line.n &&
	    line.p[method.n] == ' ' && line.p[method.n + 1] == '/') {
		path = from(line, method.n + 1);
		path.n = span(path, is_target);
	}
	/* HAProxy wants targets of their own for these. */
	if (is(method, "CONNECT") || is(method, "PRI"))
		method.n = 0;
	put(o, method.n && method.n < 40 ? method : (struct text){"-", 1});
	put_word(o, " ");
	put(o, path);
	put_word(o, " HTTP/1.1\r\n");
}

static struct text take_line(struct text *t)
{
	const char *end = memchr(t->p, '\n', t->n);
	struct text line = {t->p, end ? (size_t)(end - t->p) : t->n};

	*t = from(*t, end ? line.n + 1 : t->n);
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	return line;
}

static void put_line(struct out *o, struct text name, struct text value)
{
	put(o, name);
	put_word(o, ": ");
	put(o, value);
	put_word(o, "\r\n");
}

/*
 * Host and Accept of the lines behind the fault, where they are good ones. What
 * HAProxy has of the head already wants a Host like its target's.
 */
static void put_known(struct out *o, const struct http1 *h, struct text rest)
{
	bool host = h->has_host, accept = h->has_accept;

	if (h->state != HTTP1_START && h->n_authority && !host) {
		put_line(o, (struct text){"Host", 4},
			 (struct text){h->authority, h->n_authority});
		host = true;
	}
	while (rest.n) {
		struct text line = take_line(&rest), name, value;

		if (line.n == 0)
			return;
		if (split(line, &name, &value) || value.n > SHOWN_MAX)
			continue;
		if (is(name, "host") ? host : !is(name, "accept") || accept)
			continue;
		host |= is(name, "host");
		accept |= is(name, "accept");
		put_line(o, name, value);
	}
}

size_t http1_refusal(const struct http1 *h, enum http1_fault fault,
		     const char *p, size_t n, char *out)
{
	struct text rest = {p, n};
	struct out o = {out, 0};

	if (h->state == HTTP1_START)
		put_request(&o, take_line(&rest));
	put_known(&o, h, rest);
	if (h->state != HTTP1_START && h->websocket && !h->has_key)
		put_word(&o, "Sec-WebSocket-Key: " KEY "\r\n");
	put_word(&o, REFUSED ": ");
	put_word(&o, http1_fault_text(fault));
	put_word(&o, "\r\nConnection: close\r\n\r\n");
	return o.n;
}

/* --- pages --------------------------------------------------------------- */

/* Nobody knows what was asked for: HAProxy says no more than the status. */
static const char *page_text(const char *status)
{
	if (memcmp(status, "408", 3) == 0)
		return "membrane refused this: bad-request, the head was not "
		       "complete in time";
	if (status[0] == '4')
		return "membrane refused this: bad-request, what HTTP/1 does "
		       "not permit";
	return "membrane: an error in the gate";
}

static bool is_page(const char *p, size_t n)
{
	static const char begin[] = "HTTP/1.1 ", end[] = "</body></html>\n";
	static const char html[] =
		"\r\nContent-Type: text/html\r\n\r\n<html><body><h1>";

	return n > sizeof(begin) + sizeof(end) + sizeof(html) &&
	       n <= HTTP1_PAGE_MAX &&
	       memcmp(p, begin, sizeof(begin) - 1) == 0 &&
	       memcmp(p + n - (sizeof(end) - 1), end, sizeof(end) - 1) == 0 &&
	       memmem(p, n, "\r\nContent-length: ", 18) &&
	       memmem(p, n, html, sizeof(html) - 1);
}

bool http1_page(const char *p, size_t n, char *out)
{
	char head[HTTP1_PAGE_MAX];
	size_t body = 100, size = 0;
	const char *text;

	if (!is_page(p, n))
		return false;
	text = page_text(p + sizeof("HTTP/1.1"));
	/* Twice: its own length is in it. */
	for (int i = 0; i < 2; i++) {
		int got = snprintf(
			head, sizeof(head),
			"%.*s\r\nContent-Length: %zu\r\nConnection: close\r\n"
			"Content-Type: text/plain\r\n\r\n",
			(int)before((struct text){p, n}, "\r"), p, body);

		if (got < 0 || (size_t)got + strlen(text) + 1 > n)
			return false;
		size = (size_t)got;
		body = n - size;
	}
	memset(out, ' ', n);
	memcpy(out, head, size);
	memcpy(out + size, text, strlen(text));
	out[n - 1] = '\n';
	return true;
}
