/* Tokens in the host's file that somebody else has renewed: another session, or
 * the host's own program. They serve as well, and the refresh token that this
 * session knows of may be none any more. */
#include "runtime/launch/tokens/renew.h"

#include "compiler/base/oauth.h"
#include "compiler/base/sha256.h"
#include "runtime/launch/tokens/ends.h"

#include <stdlib.h>
#include <string.h>

#define FRESH_S 300 /* what clients renew before is not for them */

static bool is_known(const cJSON *access, const char *had)
{
	char digest[SHA256_HEX_MAX];

	return strcmp(sha256_hex(str_of(access->valuestring), digest), had) ==
	       0;
}

/* "a b" of "scopes": ["a", "b"], which clients ask answers for. */
static void add_scope(struct arena *a, cJSON *reply, cJSON *file,
		      const char *access)
{
	const cJSON *list = ends_beside(a, file, access, "scopes");
	const cJSON *text = ends_beside(a, file, access, "scope"), *one;
	struct buf b;

	buf_init(&b, a);
	cJSON_ArrayForEach(one, list)
		if (cJSON_IsString(one))
			buf_addf(&b, "%s%s", b.n ? " " : "", one->valuestring);
	if (b.n)
		cJSON_AddStringToObject(reply, "scope", buf_str(&b).p);
	else if (cJSON_IsString(text))
		cJSON_AddStringToObject(reply, "scope", text->valuestring);
}

/* What the server would have said to whoever renewed them. */
static char *reply_of(struct arena *a, const struct renew_ask *ask, cJSON *file,
		      const char *access, const int64_t *left)
{
	cJSON *o = cJSON_CreateObject();
	char *text;

	vec_each(name, &renew_credential(ask)->fields) {
		const cJSON *item = fields_find(file, *name);
		const char *member = oauth_member(str_of(*name));

		if (member && cJSON_IsString(item))
			cJSON_AddStringToObject(o, member, item->valuestring);
	}
	cJSON_AddStringToObject(o, "token_type", "Bearer");
	if (left)
		cJSON_AddNumberToObject(o, OAUTH_EXPIRES, (double)*left);
	add_scope(a, o, file, access);
	text = cJSON_PrintUnformatted(o);
	fields_delete(o);
	return text;
}

bool renew_found(struct arena *a, const struct renew_ask *ask, const char *had,
		 cJSON *file, int64_t now, struct str random,
		 struct renew_done *out)
{
	const char *access = renew_field(renew_credential(ask), OAUTH_ACCESS);
	const cJSON *token = access ? fields_find(file, access) : NULL;
	struct renew_reply reply = {.status = 200};
	struct renew_done done;
	int64_t left = 0;
	bool ends, found;
	char *text;

	if (!had[0] || !cJSON_IsString(token) || is_known(token, had))
		return false;
	ends = ends_left(a, file, access, now, &left);
	if (ends && left < FRESH_S)
		return false;
	text = reply_of(a, ask, file, access, ends ? &left : NULL);
	if (!text)
		return false;
	reply.body = str_of(text);
	found = renew_answer(a, ask, &reply, file, now, random, &done);
	explicit_bzero(text, reply.body.n);
	free(text);
	if (found)
		*out = done;
	else
		fields_delete(done.body);
	return found;
}
