/*
 * One connection's bytes on their way to HAProxy: read from somewhere, vetted
 * by http1.h, handed on. What is not vetted yet waits here; behind a fault come
 * the words of a refusal and then the end.
 *
 * A body goes straight into the caller's buffer and is not touched.
 */
#ifndef RUNTIME_READER_STREAM_H
#define RUNTIME_READER_STREAM_H

#include "runtime/reader/http1.h"

#include <sys/types.h>

/* Above 0: so many bytes. 0: the end. Below: nothing now, or an error. */
typedef ssize_t stream_source(void *data, char *buf, size_t n);

struct stream_room {
	char *p;
	size_t n;
};

enum stream_end {
	STREAM_OPEN,
	STREAM_TOLD, /* behind a refusal: what comes is thrown away */
	STREAM_CUT,  /* in the middle of a body: an error */
};

struct stream {
	struct http1 http;
	enum stream_end end;
	char *hold;    /* NULL, or STREAM_HOLD bytes */
	size_t held;   /* bytes in it */
	size_t vetted; /* of these, from its start */
	size_t thrown; /* bytes thrown away */
};

#define STREAM_HOLD	 (2 * HTTP1_HEAD_MAX) /* and room for our words */
#define STREAM_THROW_MAX (1u << 20)

#define STREAM_AGAIN (-2) /* nothing now, though the source was not asked */
#define STREAM_ERROR (-3) /* the connection is to be ended */

/*
 * Like the source itself, or STREAM_AGAIN, STREAM_ERROR. All zero is a new
 * stream. Where the source says that there is nothing, or an error, that is the
 * last thing it was asked.
 */
ssize_t stream_read(struct stream *s, stream_source *source, void *data,
		    char *buf, size_t n);
void stream_done(struct stream *s);

#endif
