#include "runtime/reader/http1_refusal.h"

#include "runtime/reader/http1_parts.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_MAX 1024 /* of each thing that a refusal quotes */

struct out {
	char *p;
	size_t n;
};

static const char *fault_text(enum http1_fault fault)
{
	static const char *const texts[] = {
		"nothing",
#define FAULT(name, text) text,
#include "runtime/reader/http1.def"
#undef FAULT
	};

	return texts[fault];
}

static void put_text(struct out *o, struct text t)
{
	size_t n = t.n < SHOWN_MAX ? t.n : SHOWN_MAX;

	/* A path, Host and Accept are the three that may be long. */
	assert(o->n + n <= HTTP1_REFUSAL_MAX);
	memcpy(o->p + o->n, t.p, n);
	o->n += n;
}

static void put_word(struct out *o, const char *word)
{
	put_text(o, (struct text){word, strlen(word)});
}

/* What can be read of a line that is no request line. */
static void put_request(struct out *o, struct text line)
{
	struct text method = {line.p, text_span(line, text_is_token)},
		    path = {"/", 1};

	if (method.n && method.n < 40 && method.n + 1 < line.n &&
	    line.p[method.n] == ' ' && line.p[method.n + 1] == '/') {
		path = text_from(line, method.n + 1);
		path.n = text_span(path, text_is_target);
	}
	/* HAProxy wants targets of their own for these. */
	if (text_is(method, "CONNECT") || text_is(method, "PRI"))
		method.n = 0;
	put_text(o, method.n && method.n < 40 ? method : (struct text){"-", 1});
	put_word(o, " ");
	put_text(o, path);
	put_word(o, " HTTP/1.1\r\n");
}

static struct text take_line(struct text *t)
{
	const char *end = memchr(t->p, '\n', t->n);
	struct text line = {t->p, end ? (size_t)(end - t->p) : t->n};

	*t = text_from(*t, end ? line.n + 1 : t->n);
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	return line;
}

static void put_line(struct out *o, struct text name, struct text value)
{
	put_text(o, name);
	put_word(o, ": ");
	put_text(o, value);
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
		if (http1_field(line, &name, &value) || value.n > SHOWN_MAX)
			continue;
		if (text_is(name, "host") ? host
					  : !text_is(name, "accept") || accept)
			continue;
		host |= text_is(name, "host");
		accept |= text_is(name, "accept");
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
		put_word(&o, "Sec-WebSocket-Key: " HTTP1_ANY_KEY "\r\n");
	put_word(&o, HTTP1_REFUSED ": ");
	put_word(&o, fault_text(fault));
	put_word(&o, "\r\nConnection: close\r\n\r\n");
	return o.n;
}

/* --- pages --------------------------------------------------------------- */

/* Nobody knows what was asked for: HAProxy says no more than the status. */
static const char *page_text(const char *status)
{
	if (memcmp(status, "408", 3) == 0)
		return "membrane refused this: bad-request, the head was not complete in time";
	if (status[0] == '4')
		return "membrane refused this: bad-request, what HTTP/1 does not permit";
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
		size = (size_t)snprintf(
			head, sizeof(head),
			"%.*s\r\nContent-Length: %zu\r\nConnection: close\r\n"
			"Content-Type: text/plain\r\n\r\n",
			(int)text_before((struct text){p, n}, "\r"), p, body);
		if (size + strlen(text) + 1 > n)
			return false;
		body = n - size;
	}
	memset(out, ' ', n);
	memcpy(out, head, size);
	memcpy(out + size, text, strlen(text));
	out[n - 1] = '\n';
	return true;
}
