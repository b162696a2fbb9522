/* What a reply to a renewal means: to the host's file, the gate, the agent. */
#include "runtime/launch/tokens/renew.h"

#include "compiler/base/oauth.h"
#include "runtime/launch/docker/secrets.h"
#include "runtime/launch/tokens/ends.h"
#include "runtime/launch/tokens/sentinel.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const members[] = {OAUTH_ACCESS, OAUTH_REFRESH, OAUTH_ID};

/* A field of the file, what it was and what it is to be. */
struct renewed {
	const char *name, *member, *digits;
	struct str was, is; /* is: empty where it stays */
	struct str sentinel;
};

typedef VEC(struct renewed) renewed_list;

/* --- tokens ----------------------------------------------------------------
 */

/* As RFC 6749, appendix A.12, has them, however long: the server may have
 * ended the old ones with its reply, so none of these is let fall. */
static bool is_token(const cJSON *item)
{
	size_t n = cJSON_IsString(item) ? strlen(item->valuestring) : 0;

	for (size_t i = 0; i < n; i++)
		if (item->valuestring[i] < ' ' || item->valuestring[i] >= 127)
			return false;
	return n > 0;
}

static void collect_fields(struct arena *a, const struct renew_ask *ask,
			   cJSON *file, renewed_list *out)
{
	const struct vectors_credential *c = renew_credential(ask);

	vec_each(name, &c->fields) {
		const cJSON *item = fields_find(file, *name);

		*vec_push(a, out) = (struct renewed){
			.name = *name,
			.member = oauth_member(str_of(*name)),
			.digits = sentinel_digits(a, c->file, *name),
			.was = arena_str(a, cJSON_IsString(item)
						    ? str_of(item->valuestring)
						    : STR(""))};
	}
}

/* Every token of the reply is one; the access token is there. */
static bool take_tokens(struct arena *a, const cJSON *reply, struct str random,
			renewed_list *list)
{
	bool any = false;

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const cJSON *item =
			cJSON_GetObjectItemCaseSensitive(reply, members[i]);

		if (!item || (cJSON_IsNull(item) && i > 0))
			continue;
		if (!is_token(item))
			return false;
		any |= i == 0;
		vec_each(r, list) {
			if (!r->member || strcmp(r->member, members[i]) != 0)
				continue;
			r->is = arena_str(a, str_of(item->valuestring));
			r->sentinel =
				sentinel_make(a, r->is, r->digits, random);
		}
	}
	return any;
}

/* --- the agent's answer ----------------------------------------------------
 */

static bool holds(const char *text, struct str secret)
{
	return secret.n && memmem(text, strlen(text), secret.p, secret.n);
}

static bool is_member(const cJSON *item)
{
	for (size_t i = 0; item->string && i < ARRAY_LEN(members); i++)
		if (strcmp(item->string, members[i]) == 0)
			return true;
	return false;
}

/* Whatever is named as a token, or has one in it, stands for nothing. */
static void strike_tokens(struct arena *a, cJSON *item, struct str random,
			  const renewed_list *list)
{
	for (; item; item = item->next) {
		const char *digits = sentinel_digits(a, "", "");
		bool strike = is_member(item);

		strike_tokens(a, item->child, random, list);
		if (!cJSON_IsString(item))
			continue;
		vec_each(r, list)
			strike |= holds(item->valuestring, r->was) ||
				  holds(item->valuestring, r->is);
		if (strike)
			cJSON_SetValuestring(
				item,
				sentinel_make(a, STR(""), digits, random).p);
	}
}

static void put_sentinels(cJSON *reply, const renewed_list *list)
{
	vec_each(r, list) {
		cJSON *item = r->is.n ? cJSON_GetObjectItemCaseSensitive(
						reply, r->member)
				      : NULL;

		if (item)
			cJSON_SetValuestring(item, r->sentinel.p);
	}
}

/* --- the file and the gate -------------------------------------------------
 */

static void set_last(cJSON *file, int64_t now)
{
	cJSON *item = cJSON_GetObjectItemCaseSensitive(file, "last_refresh");
	time_t at = (time_t)now;
	char text[32];
	struct tm tm;

	if (!cJSON_IsString(item) || !gmtime_r(&at, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		return;
	cJSON_SetValuestring(item, text);
}

static void renew_file(struct arena *a, cJSON *file, const cJSON *reply,
		       const renewed_list *list, int64_t now)
{
	const cJSON *left =
		cJSON_GetObjectItemCaseSensitive(reply, OAUTH_EXPIRES);

	vec_each(r, list) {
		cJSON *item = r->is.n ? fields_find(file, r->name) : NULL;

		if (cJSON_IsString(item))
			cJSON_SetValuestring(item, r->is.p);
		if (r->member && strcmp(r->member, OAUTH_ACCESS) == 0 &&
		    cJSON_IsNumber(left))
			ends_set(a, file, r->name, left->valuedouble, now);
	}
	set_last(file, now);
}

/* Why the gate cannot put one of them into a header; NULL: it can. */
static const char *too_odd(const renewed_list *list)
{
	vec_each(r, list) {
		if (!r->member || strcmp(r->member, OAUTH_REFRESH) == 0)
			continue;
		if (r->is.n > SECRETS_VALUE_MAX)
			return "one of them is longer than 4096 bytes";
		if (str_find(r->is, ' ', 0) < r->is.n)
			return "one of them has a space in it";
	}
	return NULL;
}

/* For every host that gets tokens of this file; the refresh token is nobody's
 * but ours. */
static cJSON *gate_values(const struct renew_ask *ask, const renewed_list *list)
{
	const char *file = renew_credential(ask)->file;
	cJSON *o = cJSON_CreateObject();
	char key[64];

	vec_each(c, &ask->v->credentials) {
		if (c->fields.n == 0 || strcmp(c->file, file) != 0)
			continue;
		vec_each(name, &c->fields)
			vec_each(r, list) {
				if (strcmp(r->name, *name) != 0 || !r->is.n ||
				    strcmp(r->member, OAUTH_REFRESH) == 0)
					continue;
				snprintf(key, sizeof(key), "%u:%s", c->n,
					 r->digits);
				cJSON_AddStringToObject(o, key, r->is.p);
			}
	}
	return o;
}

/* --- all of it -------------------------------------------------------------
 */

bool renew_answer(struct arena *a, const struct renew_ask *ask,
		  const struct renew_reply *reply, cJSON *file, int64_t now,
		  struct str random, struct renew_done *out)
{
	bool fine = reply->status >= 200 && reply->status < 300, taken;
	cJSON *root = fields_parse(reply->body);
	renewed_list list = {0};

	collect_fields(a, ask, file, &list);
	taken = fine && cJSON_IsObject(root) &&
		take_tokens(a, root, random, &list);
	*out = (struct renew_done){.status = (unsigned)reply->status};
	if (taken) {
		renew_file(a, file, root, &list, now);
		out->unusable = too_odd(&list);
	}
	if (taken && !out->unusable)
		out->values = gate_values(ask, &list);
	if (fine && (!taken || out->unusable)) {
		out->status = 502;
		out->body = renew_error(
			"server_error",
			taken ? "membrane: the new tokens are the host's alone, a session cannot use them"
			      : "membrane: what answered the renewal is no answer");
		fields_delete(root);
		return taken;
	}
	if (!cJSON_IsObject(root)) {
		out->body = renew_error("server_error",
					"membrane: the renewal failed");
		fields_delete(root);
		return false;
	}
	strike_tokens(a, root->child, random, &list);
	if (taken)
		put_sentinels(root, &list);
	out->body = root;
	return taken;
}
