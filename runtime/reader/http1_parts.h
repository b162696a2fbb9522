/*
 * What http1.c, which reads requests, and http1_refusal.c, which words their
 * refusals, share. For nobody else.
 */
#ifndef RUNTIME_READER_HTTP1_PARTS_H
#define RUNTIME_READER_HTTP1_PARTS_H

#include "runtime/reader/http1.h"
#include "runtime/reader/text.h"

/* A header that HAProxy has a rule for, and no client may send. */
#define HTTP1_REFUSED "Membrane-Refused"
/* A good Sec-WebSocket-Key, and as long as each: 16 bytes in base64, RFC 6455,
 * 4.1. */
#define HTTP1_ANY_KEY "AAAAAAAAAAAAAAAAAAAAAA=="

/* Name and value of a line that is not empty, where it has good ones. */
enum http1_fault http1_field(struct text line, struct text *name,
			     struct text *value);

#endif
