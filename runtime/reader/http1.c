#include "runtime/reader/http1.h"

#include <string.h>
#include <strings.h>

#define REFUSED	     "Membrane-Refused"
#define MARKED	     "Membrane-Upgrade"
#define PREFACE	     "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define LENGTH_MAX   18 /* digits: no overflow, more than any disk */
#define CHUNK_DIGITS 16
#define CHUNK_MAX    INT32_MAX /* as in HAProxy */
#define SHOWN_MAX    1024      /* of each thing that a refusal quotes */

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

/* --- heads --------------------------------------------------------------- */

/* method SP target SP HTTP/1.x; which bytes of a target are good, HAProxy and
 * its rules know. */
static enum http1_fault read_request(struct http1 *h, struct text line)
{
	size_t n = span(line, is_token), target = n + 1;
	static const char version[] = " HTTP/1.";

	if (n == 0 || n == line.n || line.p[n] != ' ')
		return HTTP1_LINE;
	h->connect = n == 7 && memcmp(line.p, "CONNECT", 7) == 0;
	for (n = target; n < line.n && (unsigned char)line.p[n] > ' '; n++)
		;
	if (n == target || line.n != n + sizeof(version) ||
	    memcmp(line.p + n, version, sizeof(version) - 1) != 0 ||
	    (line.p[line.n - 1] != '0' && line.p[line.n - 1] != '1'))
		return HTTP1_LINE;
	h->old = line.p[line.n - 1] == '0';
	h->state = HTTP1_HEAD;
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
	if (is(name, "host") && h->has_host)
		return HTTP1_HOSTS;
	h->has_host |= is(name, "host");
	h->has_accept |= is(name, "accept");
	/* Java's client offers h2c all the time; a rule takes that off. */
	h->upgrade |= is(name, "upgrade") && !is(value, "h2c");
	return HTTP1_GOOD;
}

static void end_head(struct http1 *h)
{
	h->asked = h->upgrade;
	h->begun = true;
	if (h->connect)
		h->state = HTTP1_NOTHING;
	else if (h->chunked)
		h->state = HTTP1_SIZE;
	else
		h->state = h->left ? HTTP1_BODY : HTTP1_START;
}

static void begin(struct http1 *h)
{
	h->connect = h->chunked = h->upgrade = h->marked = h->old = false;
	h->has_host = h->has_accept = h->has_length = false;
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
	switch (h->state) {
	case HTTP1_START:
		/* Empty lines before a request: section 2.2. */
		return line.n ? read_request(h, line) : HTTP1_GOOD;
	case HTTP1_HEAD:
		if (line.n)
			return read_header(h, line);
		end_head(h);
		return HTTP1_GOOD;
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
		  t.n > 1 && memcmp(t.p, "\r\n", 2) == 0;
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

static bool is_shown(unsigned char c)
{
	return c > ' ' && c < 127;
}

/* What can be read of a line that is no request line. */
static void put_request(struct out *o, struct text line)
{
	struct text method = {line.p, span(line, is_token)}, path = {"/", 1};

	if (method.n && method.n < 40 && method.n + 1 < line.n &&
	    line.p[method.n] == ' ' && line.p[method.n + 1] == '/') {
		path = from(line, method.n + 1);
		path.n = span(path, is_shown);
	}
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

/* Host and Accept of the lines behind the fault, where they are good ones. */
static void put_known(struct out *o, const struct http1 *h, struct text rest)
{
	bool host = h->has_host, accept = h->has_accept;

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
		put(o, name);
		put_word(o, ": ");
		put(o, value);
		put_word(o, "\r\n");
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
	put_word(&o, REFUSED ": ");
	put_word(&o, http1_fault_text(fault));
	put_word(&o, "\r\nConnection: close\r\n\r\n");
	return o.n;
}
