/*
 * A strict reading of the requests of one HTTP/1 connection (RFC 9112).
 *
 * HAProxy mends what is malformed in a few ways before any of its rules sees
 * it. This reads the same bytes first, in one way only, and says where the
 * first byte is that has another reading. It takes less than HAProxy does, so
 * whatever passes is framed by both alike: a length that is one number, or
 * chunked coding alone, CRLF at the end of each line, no folds. What HAProxy's
 * own parser would answer, with a page of its own, is refused here before it.
 * It allocates nothing and knows of no descriptors; interpose.c feeds it.
 *
 * Bytes are vetted in units: a line of a head, of a chunk or of a trailer as a
 * whole, bytes of a body as they come. What is left over is to be given again
 * with more behind it.
 */
#ifndef RUNTIME_READER_HTTP1_H
#define RUNTIME_READER_HTTP1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* tune.bufsize without tune.maxrewrite is what HAProxy takes: with this and a
 * refusal's words it is not full. Its tune.http.maxhdr is above the lines. */
#define HTTP1_HEAD_MAX	     24576
#define HTTP1_LINES_MAX	     100
#define HTTP1_CHUNK_LINE_MAX 4096
#define HTTP1_MARK	     16 /* hexadecimal digits */
#define HTTP1_MARK_MAX	     64
#define HTTP1_AUTHORITY_MAX  300 /* a name, a port and their like */

enum http1_state {
	HTTP1_START,   /* before a request line */
	HTTP1_HEAD,    /* before a header line, or the end of the head */
	HTTP1_BODY,    /* left bytes of a body */
	HTTP1_SIZE,    /* before a chunk's size */
	HTTP1_DATA,    /* left bytes of a chunk and its CRLF */
	HTTP1_TRAILER, /* before a trailer line, or the end */
	HTTP1_UNREAD,  /* HTTP/2 or a tunnel: nothing is read any more */
	HTTP1_NOTHING, /* nothing may follow: CONNECT */
};

enum http1_fault {
	HTTP1_GOOD,
#define FAULT(name, text) HTTP1_##name,
#include "runtime/reader/http1.def"
#undef FAULT
};

struct http1 {
	enum http1_state state;
	bool begun; /* there was a request */
	/* Of this request. */
	bool old; /* HTTP/1.0 */
	bool connect, chunked, upgrade, marked;
	bool has_host, has_accept, has_length;
	bool no_body;	/* GET, HEAD or DELETE */
	bool websocket; /* is asked for */
	bool has_key;	/* for it */
	/* Of a target that has one; 0: none. */
	uint16_t n_authority;
	char authority[HTTP1_AUTHORITY_MAX];
	uint16_t default_port; /* that it need not have */
	bool asked;	       /* an upgrade that nobody answered yet */
	char mark[HTTP1_MARK]; /* its number */
	uint32_t lines, n_head;
	uint64_t left; /* of a body or chunk */
};

struct http1_found {
	size_t vetted;		/* bytes from the start that may be passed on */
	enum http1_fault fault; /* of what stands behind them */
	/* The vetted bytes end within a head: a refusal can be told. */
	bool in_head;
	/* They end a head that asks for an upgrade: a mark is to be added. */
	bool mark;
};

/* All zero is the start of a connection. */

/*
 * Read on: p begins where the last call's vetted bytes ended. A fault in a body
 * whose head ended within p is put at that end, so that nothing of the request
 * is acted upon. After a fault the connection must be fed nothing any more.
 */
void http1_feed(struct http1 *h, const char *p, size_t n,
		struct http1_found *out);
/* Whether a client may end here, n bytes not vetted: false within a head. */
bool http1_may_end(const struct http1 *h, size_t n);
/*
 * A line to be put behind the vetted bytes, with a number that nobody else
 * knows: the answer that has it is the one that begins another protocol. A rule
 * takes it off the request and adds it to an answer 101, so that neither end
 * can make up such an answer. Returns its length; out holds HTTP1_MARK_MAX.
 */
size_t http1_mark(struct http1 *h, uint64_t number, char *out);
/* What the gate answers. */
void http1_answer(struct http1 *h, const char *p, size_t n);

#endif
