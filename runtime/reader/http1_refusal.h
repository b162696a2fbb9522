/*
 * What HAProxy reads, and what a client gets, where HTTP/1 is not what it has
 * to be: a refusal in membrane's words, never a page of HAProxy's.
 *
 * Like http1.h it allocates nothing and knows of no descriptors.
 */
#ifndef RUNTIME_READER_HTTP1_REFUSAL_H
#define RUNTIME_READER_HTTP1_REFUSAL_H

#include "runtime/reader/http1.h"

#define HTTP1_REFUSAL_MAX 4096
#define HTTP1_PAGE_MAX	  512 /* HAProxy's longest is half of it */

/*
 * What HAProxy is to read in place of the p that was not vetted: the rest of a
 * head with "Membrane-Refused: WHY" in it, for which it has a rule. Of p only
 * the method, the path, Host and Accept are taken, for the refusal's text.
 * Returns its length; out holds HTTP1_REFUSAL_MAX.
 */
size_t http1_refusal(const struct http1 *h, enum http1_fault fault,
		     const char *p, size_t n, char *out);
/*
 * Are these bytes, as a whole, a page of HAProxy's own, for an error that none
 * of its rules sees (a request that does not come in time)? Then out is one of
 * the same length that says so in our words; it holds HTTP1_PAGE_MAX.
 */
bool http1_page(const char *p, size_t n, char *out);

#endif
