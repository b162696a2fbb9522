/*
 * When an access token ends, as its file says: a number beside it, expiresAt,
 * expires_at or expires, of seconds or milliseconds since 1970, or the claim of
 * a JWT (RFC 7519, section 4.1.4). Pure.
 */
#ifndef RUNTIME_LAUNCH_TOKENS_ENDS_H
#define RUNTIME_LAUNCH_TOKENS_ENDS_H

#include "runtime/launch/tokens/fields.h"

/* What stands beside a field: "tokens.expires" beside "tokens.access". */
cJSON *ends_beside(struct arena *a, cJSON *file, const char *field,
		   const char *name);
/*
 * It has so many seconds left; numbers that are there are set, in the unit that
 * they have. What is no time changes nothing.
 */
void ends_set(struct arena *a, cJSON *file, const char *access, double left,
	      int64_t now);
/* False: nothing says when; *out_left may be negative. */
bool ends_left(struct arena *a, cJSON *file, const char *access, int64_t now,
	       int64_t *out_left);

#endif
