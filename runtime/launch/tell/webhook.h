/*
 * Refusals, told to a URL of the user's: one POST of JSON, signed.
 *
 *	{"version":1,"session":ID,"refusals":[…]}  refusal.schema.json each
 *	Membrane-Signature: t=SECONDS,v1=HEX
 *
 * HEX is HMAC-SHA256 (RFC 2104) of "SECONDS.BODY" by the key, so whoever takes
 * it can tell a repeated or an altered one. By TLS that is verified, and to
 *that URL alone: an answer that leads elsewhere is an error. What may pass by
 *itself (no connection, 408, 429, 5xx) is tried again. Waits: for a process of
 *its own.
 */
#ifndef RUNTIME_LAUNCH_TELL_WEBHOOK_H
#define RUNTIME_LAUNCH_TELL_WEBHOOK_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

#define WEBHOOK_VERSION	  1
#define WEBHOOK_BATCH	  32u
#define WEBHOOK_TRIES	  4u
#define WEBHOOK_TRY_MS	  10000
#define WEBHOOK_PAUSE_MS  500	/* before the second try; then twice as long */
#define WEBHOOK_TIME_MS	  45000 /* all of it */
#define WEBHOOK_SIGNATURE 65u	/* hex digits and a NUL */

struct webhook_call {
	const char *url, *key, *session; /* borrowed */
	uint32_t n;
	struct str events[WEBHOOK_BATCH]; /* JSON */
};

/* Pure: what goes there. */
struct str webhook_body(struct arena *a, const struct webhook_call *c);
/* Pure: the digits for a body at that time, in seconds since 1970. */
void webhook_sign(const char *key, int64_t now_s, struct str body,
		  char out[WEBHOOK_SIGNATURE]);
/*
 * All tries.
 *   -EPERM  somebody answered, and not with 2xx
 *   -EIO    nobody did
 */
must_check int webhook_post(struct arena *a, const struct webhook_call *c,
			    struct err *err);

#endif
