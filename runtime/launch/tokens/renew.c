#include "runtime/launch/tokens/renew.h"

#include "compiler/base/ascii.h"
#include "compiler/base/oauth.h"
#include "compiler/base/sha256.h"
#include "compiler/base/sys/fileio.h"
#include "runtime/launch/docker/secrets.h"
#include "runtime/launch/tokens/sentinel.h"
#include "runtime/launch/tokens/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

const struct vectors_credential *renew_credential(const struct renew_ask *ask)
{
	vec_each(c, &ask->v->credentials)
		if (c->n == ask->n && c->refresh)
			return c;
	return NULL;
}

const char *renew_field(const struct vectors_credential *c, const char *member)
{
	vec_each(name, &c->fields) {
		const char *had = oauth_member(str_of(*name));

		if (had && strcmp(had, member) == 0)
			return *name;
	}
	return NULL;
}

/* --- what is sent ----------------------------------------------------------
 */

/* NAME=VALUE pairs; what a sentinel is made of needs no escape. */
static bool fill_form(struct arena *a, const char *body, const char *digits,
		      const char *secret, struct str *out)
{
	struct str rest = str_of(body), pair, name;
	bool grant = false, token = false;
	struct buf b;

	buf_init(&b, a);
	while (str_field(&rest, '&', &pair)) {
		struct str value = pair;

		buf_adds(&b, b.n ? "&" : "");
		str_field(&value, '=', &name);
		grant |= str_is(pair, "grant_type=" OAUTH_REFRESH);
		if (str_is(name, OAUTH_REFRESH) && !token &&
		    sentinel_is(value, digits)) {
			buf_adds(&b, OAUTH_REFRESH "=");
			ascii_escape(&b, secret);
			token = true;
		} else {
			buf_add(&b, pair);
		}
	}
	*out = buf_str(&b);
	return grant && token;
}

static bool fill_json(struct arena *a, const char *body, const char *digits,
		      const char *secret, struct str *out)
{
	cJSON *root = fields_parse(str_of(body));
	const cJSON *grant =
		cJSON_GetObjectItemCaseSensitive(root, "grant_type");
	cJSON *token = cJSON_GetObjectItemCaseSensitive(root, OAUTH_REFRESH);
	struct err ignored;
	bool fits = cJSON_IsString(grant) &&
		    strcmp(grant->valuestring, OAUTH_REFRESH) == 0 &&
		    cJSON_IsString(token) &&
		    sentinel_is(str_of(token->valuestring), digits) &&
		    cJSON_SetValuestring(token, secret) &&
		    fields_print(a, root, STR(""), out, &ignored) == 0;

	fields_delete(root);
	return fits;
}

bool renew_body(struct arena *a, const struct renew_ask *ask,
		const char *secret, struct str *out)
{
	const struct vectors_credential *c = renew_credential(ask);
	const char *field = renew_field(c, OAUTH_REFRESH);
	const char *digits = sentinel_digits(a, c->file, field);

	return ask->is_form ? fill_form(a, ask->body, digits, secret, out)
			    : fill_json(a, ask->body, digits, secret, out);
}

/* --- the host's file -------------------------------------------------------
 */

static const char *real_path(struct arena *a, const struct renew_ask *ask,
			     char real[PATH_MAX])
{
	const struct vectors_credential *c = renew_credential(ask);

	return ask->home
		       ? realpath(
				 arena_fmt(a, "%s%s", ask->home, c->file + 1).p,
				 real)
		       : NULL;
}

/* As it was read; the caller ends it. */
struct held {
	cJSON *file;
	struct str text;
};

static void held_done(struct held *h)
{
	fields_delete(h->file);
	if (h->text.n)
		explicit_bzero((void *)(uintptr_t)h->text.p, h->text.n);
	*h = (struct held){0};
}

static int read_host(struct arena *a, const struct renew_ask *ask,
		     struct held *out, struct err *err)
{
	char real[PATH_MAX];
	int rc = real_path(a, ask, real)
			 ? fileio_read(a, AT_FDCWD, real, TOKENS_FILE_MAX,
				       &out->text, err)
			 : err_set(err, -ENOENT, "it is not there");

	if (rc < 0)
		return rc;
	out->file = fields_parse(out->text);
	return out->file ? 0 : err_set(err, -EINVAL, "it is no JSON");
}

static int write_host(struct arena *a, const struct renew_ask *ask,
		      const struct held *h, struct err *err)
{
	char real[PATH_MAX];
	struct str text = {0};
	struct stat st;
	int rc;

	if (!real_path(a, ask, real) || stat(real, &st) < 0)
		return err_set(err, -errno, "%s", strerror(errno));
	rc = fields_print(a, h->file, h->text, &text, err);
	if (rc == 0)
		rc = fileio_write(AT_FDCWD, real, text, st.st_mode & 0777, err);
	if (text.n)
		explicit_bzero((void *)(uintptr_t)text.p, text.n);
	return rc;
}

/*
 * Sessions renew one after the other: each finds what the one before it got.
 * Those with a state folder of their own meet at the folder of the file; where
 * that cannot be locked, the lock of the state folder has to do.
 */
static int lock_all(struct arena *a, const struct renew_ask *ask, int fds[2],
		    struct err *err)
{
	char real[PATH_MAX], *slash;

	fds[1] = -1;
	fds[0] = open(ask->lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fds[0] < 0 || flock(fds[0], LOCK_EX) < 0)
		return err_set(err, -errno, "%s: %s", ask->lock,
			       strerror(errno));
	if (!real_path(a, ask, real))
		return err_set(err, -ENOENT, "it is not there");
	slash = strrchr(real, '/');
	slash[slash == real] = '\0';
	fds[1] = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fds[1] >= 0)
		ignore(flock(fds[1], LOCK_EX));
	return 0;
}

/* --- all of it -------------------------------------------------------------
 */

static void say_renewal(const struct renew_ask *ask, const char *what,
			const char *why)
{
	fprintf(stderr, "membrane: %s '%.200s': %s\n", what,
		renew_credential(ask)->file, why);
}

cJSON *renew_error(const char *code, const char *what)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddStringToObject(o, "error", code);
	cJSON_AddStringToObject(o, "error_description", what);
	return o;
}

static void fail(struct renew_done *out, unsigned status, const char *code,
		 const char *what)
{
	*out = (struct renew_done){.status = status,
				   .body = renew_error(code, what)};
}

static const char *access_of(const struct renew_ask *ask, const struct held *h,
			     char out[SHA256_HEX_MAX])
{
	const char *name = renew_field(renew_credential(ask), OAUTH_ACCESS);
	const cJSON *item = name ? fields_find(h->file, name) : NULL;

	return cJSON_IsString(item) ? sha256_hex(str_of(item->valuestring), out)
				    : "";
}

static void say_unwritten(const struct renew_ask *ask, struct renew_done *out,
			  const char *why)
{
	say_renewal(
		ask,
		out->unusable
			? "the new tokens are lost, log in again on the host: this session cannot use them, and they cannot be written to"
			: "the new tokens last for this session alone, they cannot be written to",
		why);
	out->unusable = NULL;
}

/* h: what the file was when the URL was asked, which takes its time. */
static void take_reply(struct arena *a, const struct renew_ask *ask,
		       struct held *h, const struct renew_reply *reply,
		       struct str random, struct renew_done *out)
{
	char digest[SHA256_HEX_MAX];
	struct renew_done ignored = {0};
	struct held then = {0};
	int64_t now = time(NULL);
	struct err err;
	bool read = read_host(a, ask, &then, &err) == 0;

	if (read && renew_found(a, ask, access_of(ask, h, digest), then.file,
				now, random, out)) {
		held_done(&then);
		return;
	}
	if (renew_answer(a, ask, reply, h->file, now, random, out)) {
		/* What else has been written to it stays. */
		if (read)
			(void)renew_answer(a, ask, reply, then.file, now,
					   random, &ignored);
		if (write_host(a, ask, read ? &then : h, &err) < 0)
			say_unwritten(ask, out, err.text);
	}
	fields_delete(ignored.body);
	fields_delete(ignored.values);
	held_done(&then);
}

static void renew_with(struct arena *a, const struct renew_ask *ask,
		       struct held *h, struct str random,
		       struct renew_done *out)
{
	const struct vectors_credential *c = renew_credential(ask);
	const cJSON *secret =
		fields_find(h->file, renew_field(c, OAUTH_REFRESH));
	struct renew_reply reply = {0};
	struct str body = {0};
	struct err err;
	int rc;

	if (!cJSON_IsString(secret) ||
	    !renew_body(a, ask, secret->valuestring, &body)) {
		fail(out, 400, "invalid_request",
		     "membrane: not a renewal with a sentinel of this session");
		return;
	}
	if (renew_found(a, ask, ask->had, h->file, time(NULL), random, out))
		return;
	rc = renew_post(a, ask, body, &reply, &err);
	explicit_bzero((void *)(uintptr_t)body.p, body.n);
	if (rc < 0) {
		say_renewal(ask, "renewing the tokens of", err.text);
		fail(out, 502, "server_error",
		     "membrane: nobody could be asked");
		return;
	}
	take_reply(a, ask, h, &reply, random, out);
	if (reply.body.n)
		explicit_bzero((void *)(uintptr_t)reply.body.p, reply.body.n);
}

static struct str line_of(struct arena *a, struct renew_done *done)
{
	cJSON *o = cJSON_CreateObject();
	char *body = cJSON_PrintUnformatted(done->body), *text;
	struct str line;

	if (!body || strlen(body) > RENEW_ANSWER_MAX) {
		free(body);
		done->status = 502;
		body = strdup("{\"error\":\"server_error\"}");
	}
	cJSON_AddNumberToObject(o, "status", done->status);
	cJSON_AddStringToObject(o, "body", body ? body : "{}");
	if (done->values)
		cJSON_AddItemToObject(o, "values", done->values);
	fields_delete(done->body);
	text = cJSON_PrintUnformatted(o);
	line = arena_str(a, str_of(text ? text : ""));
	free(text);
	free(body);
	fields_delete(o);
	return line;
}

struct str renew_run(struct arena *a, const struct renew_ask *ask)
{
	const struct vectors_credential *c = renew_credential(ask);
	struct renew_done done = {0};
	struct held h = {0};
	struct str random;
	struct err err;
	int locks[2], rc;

	if (!c || !renew_field(c, OAUTH_REFRESH)) {
		fail(&done, 400, "invalid_request",
		     "membrane: nothing to renew");
		return line_of(a, &done);
	}
	rc = lock_all(a, ask, locks, &err);
	if (rc == 0)
		rc = read_host(a, ask, &h, &err);
	if (rc == 0)
		rc = tokens_digits(a, &random, &err);
	if (rc == 0) {
		renew_with(a, ask, &h, random, &done);
		if (done.unusable)
			say_renewal(
				ask,
				"this session goes on with the tokens that it has, not with the new ones in",
				done.unusable);
	} else {
		say_renewal(ask, "renewing the tokens of", err.text);
		fail(&done, 502, "server_error",
		     "membrane: the host's file cannot be read");
	}
	held_done(&h);
	fd_close(&locks[1]);
	fd_close(&locks[0]);
	return line_of(a, &done);
}
