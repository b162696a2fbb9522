#include "runtime/launch/tokens/ends.h"

#include "compiler/base/buf.h"

#include <nettle/base64.h>
#include <stdlib.h>
#include <string.h>

#define MS_LEAST   1e11 /* a time as large as that is in milliseconds */
#define LEFT_MAX   1e10 /* seconds; more is no time */
#define CLAIMS_MAX 4096u

static const char *const names[] = {"expiresAt", "expires_at", "expires"};

cJSON *ends_beside(struct arena *a, cJSON *file, const char *field,
		   const char *name)
{
	const char *dot = strrchr(field, '.');
	int n = dot ? (int)(dot - field) + 1 : 0;

	return fields_find(file, arena_fmt(a, "%.*s%s", n, field, name).p);
}

void ends_set(struct arena *a, cJSON *file, const char *access, double left,
	      int64_t now)
{
	if (!(left >= 0 && left <= LEFT_MAX))
		return;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		cJSON *item = ends_beside(a, file, access, names[i]);
		int64_t end;

		if (!cJSON_IsNumber(item))
			continue;
		end = now + (int64_t)left;
		cJSON_SetNumberValue(item, item->valuedouble >= MS_LEAST
						   ? (double)end * 1000
						   : (double)end);
	}
}

/* base64url without padding, RFC 7515, as JSON; NULL: it is none. */
static cJSON *claims_of(struct str token)
{
	char out[CLAIMS_MAX];
	struct base64_decode_ctx c;
	struct str part;
	size_t n;

	if (!str_field(&token, '.', &part) || !str_field(&token, '.', &part) ||
	    BASE64_DECODE_LENGTH(part.n) > sizeof(out))
		return NULL;
	base64url_decode_init(&c);
	if (!base64_decode_update(&c, &n, (uint8_t *)out, part.n, part.p))
		return NULL;
	return fields_parse((struct str){out, n});
}

static bool end_of(struct arena *a, cJSON *file, const char *access,
		   double *out)
{
	const cJSON *token = fields_find(file, access), *end;
	cJSON *claims;
	bool found;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		end = ends_beside(a, file, access, names[i]);
		if (!cJSON_IsNumber(end))
			continue;
		*out = end->valuedouble >= MS_LEAST ? end->valuedouble / 1000
						    : end->valuedouble;
		return true;
	}
	if (!cJSON_IsString(token))
		return false;
	claims = claims_of(str_of(token->valuestring));
	end = cJSON_GetObjectItemCaseSensitive(claims, "exp");
	found = cJSON_IsNumber(end);
	if (found)
		*out = end->valuedouble;
	fields_delete(claims);
	return found;
}

bool ends_left(struct arena *a, cJSON *file, const char *access, int64_t now,
	       int64_t *out_left)
{
	double end;

	if (!end_of(a, file, access, &end))
		return false;
	end -= (double)now;
	*out_left = end > LEFT_MAX    ? (int64_t)LEFT_MAX
		    : end < -LEFT_MAX ? -(int64_t)LEFT_MAX
				      : (int64_t)end;
	return true;
}
