#include "runtime/reader/stream.h"

#include "runtime/reader/http1_refusal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define THROWS 16 /* in one call */

/* Room for what has to wait; false: no memory, and the end. */
static bool hold_open(struct stream *s)
{
	if (!s->hold)
		s->hold = malloc(STREAM_HOLD + 2 * HTTP1_REFUSAL_MAX);
	if (!s->hold)
		s->end = STREAM_CUT;
	return s->hold != NULL;
}

void stream_done(struct stream *s)
{
	free(s->hold);
	s->hold = NULL;
	s->held = s->vetted = 0;
}

/* Vetted bytes that waited. */
static size_t take_held(struct stream *s, char *buf, size_t n)
{
	size_t got = n < s->vetted ? n : s->vetted;

	if (got == 0)
		return 0;
	memcpy(buf, s->hold, got);
	memmove(s->hold, s->hold + got, s->held - got);
	s->held -= got;
	s->vetted -= got;
	if (s->held == 0)
		stream_done(s);
	return got;
}

/* Behind what is vetted come the words of a refusal, where they can. */
static void refuse_request(struct stream *s, const struct http1_found *f,
			   const char *rest, size_t n)
{
	char words[HTTP1_REFUSAL_MAX];

	s->end = STREAM_CUT;
	s->held = s->vetted;
	/* An upgrade may have begun: the words would go into the tunnel. */
	if (!f->in_head || s->http.asked || !hold_open(s))
		return;
	n = http1_refusal(&s->http, f->fault, rest, n, words);
	memcpy(s->hold + s->vetted, words, n);
	s->held = s->vetted += n;
	s->end = STREAM_TOLD;
}

/*
 * The mark of an upgrade behind what is vetted, and n bytes at rest behind
 * that, which may be held already.
 */
static bool put_mark(struct stream *s, const char *rest, size_t n)
{
	char mark[HTTP1_MARK_MAX];
	uint64_t number;
	size_t size;

	if (!hold_open(s))
		return false;
	s->end = STREAM_CUT;
	s->held = s->vetted;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return false;
	size = http1_mark(&s->http, number, mark);
	if (s->vetted + size + n > STREAM_HOLD + HTTP1_REFUSAL_MAX)
		return false;
	memmove(s->hold + s->vetted + size, rest, n);
	memcpy(s->hold + s->vetted, mark, size);
	s->vetted += size;
	s->held = s->vetted + n;
	s->end = STREAM_OPEN;
	return true;
}

/* What is new in p; so many bytes of it are good as they are. */
static size_t look_at_bytes(struct stream *s, const char *p, size_t n,
			    bool is_held)
{
	struct http1_found f;
	size_t good;

	http1_feed(&s->http, p, n, &f);
	good = f.vetted;
	s->vetted = is_held ? good : 0;
	while (f.mark) {
		if (!put_mark(s, p + f.vetted, n - f.vetted))
			return good;
		p = s->hold + s->vetted;
		n = s->held - s->vetted;
		http1_feed(&s->http, p, n, &f);
		s->vetted += f.vetted;
		is_held = true;
	}
	p += f.vetted;
	n -= f.vetted;
	if (f.fault) {
		refuse_request(s, &f, p, n);
	} else if (is_held) {
		s->held = s->vetted + n;
	} else if (n && s->http.state != HTTP1_NOTHING && hold_open(s)) {
		memcpy(s->hold, p, n);
		s->held = n;
	}
	return good;
}

/* New bytes behind what waits. */
static ssize_t fill_hold(struct stream *s, stream_source *source, void *data)
{
	ssize_t got = source(data, s->hold + s->held, STREAM_HOLD - s->held);

	if (got > 0)
		(void)look_at_bytes(s, s->hold, s->held + (size_t)got, true);
	return got;
}

/* New bytes where the caller wants them; so many of them are good. */
static ssize_t fill_buf(struct stream *s, stream_source *source, void *data,
			struct stream_room room, size_t *out_good)
{
	ssize_t got = source(data, room.p, room.n);

	if (got > 0)
		*out_good = look_at_bytes(s, room.p, (size_t)got, false);
	return got;
}

/* What comes behind a refusal is nobody's. */
static ssize_t throw_away(struct stream *s, stream_source *source, void *data,
			  struct stream_room room)
{
	for (int i = 0; i < THROWS; i++) {
		ssize_t got = source(data, room.p, room.n);

		if (got <= 0)
			return got;
		s->thrown += (size_t)got;
		if (s->thrown > STREAM_THROW_MAX)
			return 0;
	}
	return STREAM_AGAIN;
}

/* The client ended in the middle of a head. */
static void end_short(struct stream *s)
{
	struct http1_found f = {.fault = HTTP1_SHORT, .in_head = true};

	refuse_request(s, &f, s->hold, s->held);
}

ssize_t stream_read(struct stream *s, stream_source *source, void *data,
		    char *buf, size_t n)
{
	size_t out = 0;

	while (n) {
		struct stream_room room;
		size_t good = 0;
		ssize_t got;

		out += take_held(s, buf + out, n - out);
		if (s->end == STREAM_OPEN && s->vetted == 0 &&
		    s->http.state == HTTP1_NOTHING)
			s->end = STREAM_TOLD;
		if (out == n || (out && s->end != STREAM_OPEN))
			break;
		room = (struct stream_room){buf + out, n - out};
		if (s->end == STREAM_CUT)
			return STREAM_ERROR;
		if (s->end == STREAM_TOLD)
			return throw_away(s, source, data, room);
		got = s->held ? fill_hold(s, source, data)
			      : fill_buf(s, source, data, room, &good);
		out += good;
		if (got == 0 && !http1_may_end(&s->http, s->held))
			end_short(s);
		else if (got <= 0 && out == 0)
			return got;
		else if (got <= 0 || (size_t)got == good)
			break;
	}
	return (ssize_t)out;
}
