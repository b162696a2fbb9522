#include "runtime/launch/tell/webhook.h"

#include "compiler/base/ascii.h"
#include "compiler/base/buf.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <nettle/hmac.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define CONNECT_MS 5000

struct str webhook_body(struct arena *a, const struct webhook_call *c)
{
	struct buf b;

	buf_init(&b, a);
	buf_addf(&b, "{\"version\":%d,\"session\":\"%s\",\"refusals\":[",
		 WEBHOOK_VERSION, c->session);
	for (uint32_t i = 0; i < c->n; i++) {
		buf_adds(&b, i ? "," : "");
		buf_add(&b, c->events[i]);
	}
	buf_adds(&b, "]}");
	return buf_str(&b);
}

void webhook_sign(const char *key, int64_t now_s, struct str body,
		  char out[WEBHOOK_SIGNATURE])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct hmac_sha256_ctx c;
	char time[24];
	int n = snprintf(time, sizeof(time), "%" PRId64 ".", now_s);

	hmac_sha256_set_key(&c, strlen(key), (const uint8_t *)key);
	hmac_sha256_update(&c, (size_t)n, (const uint8_t *)time);
	hmac_sha256_update(&c, body.n, (const uint8_t *)body.p);
	hmac_sha256_digest(&c, sizeof(digest), digest);
	ascii_put_hex(digest, sizeof(digest), out);
}

/* What it says is for nobody. */
static size_t drop_body(const char *data, size_t size, size_t n, void *ctx)
{
	(void)data;
	(void)ctx;
	return size * n;
}

static struct curl_slist *headers_of(struct arena *a, const char *key,
				     struct str body)
{
	char hex[WEBHOOK_SIGNATURE];
	int64_t now_s = time(NULL);
	struct curl_slist *list;

	webhook_sign(key, now_s, body, hex);
	list = curl_slist_append(NULL, "Content-Type: application/json");
	return curl_slist_append(
		list, arena_fmt(a, "Membrane-Signature: t=%" PRId64 ",v1=%s",
				now_s, hex)
			      .p);
}

/* 0: taken; 1: another time perhaps. */
static int try_once(struct arena *a, CURL *c, const struct webhook_call *call,
		    struct str body, struct err *err)
{
	struct curl_slist *headers = headers_of(a, call->key, body);
	long status = 0;
	CURLcode code;

	if (!headers)
		return err_set(err, -ENOMEM, "out of memory");
	curl_easy_reset(c);
	curl_easy_setopt(c, CURLOPT_URL, call->url);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)WEBHOOK_TRY_MS);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE, (long)body.n);
	curl_easy_setopt(c, CURLOPT_POSTFIELDS, body.p);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, drop_body);
	code = curl_easy_perform(c);
	curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
	curl_slist_free_all(headers);
	if (code != CURLE_OK) {
		err_set(err, -EIO, "%s", curl_easy_strerror(code));
		return 1;
	}
	if (status >= 200 && status < 300)
		return 0;
	err_set(err, -EPERM, "it answered with status %ld", status);
	return status == 408 || status == 429 || status >= 500 ? 1 : -EPERM;
}

int webhook_post(struct arena *a, const struct webhook_call *call,
		 struct err *err)
{
	struct str body = webhook_body(a, call);
	int pause_ms = WEBHOOK_PAUSE_MS, rc = 1;
	CURL *c;

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_set(err, -ENOENT,
			       "libcurl is not here (libcurl4, libcurl)");
	c = curl_easy_init();
	if (!c)
		return err_set(err, -ENOMEM, "out of memory");
	for (unsigned i = 0; rc == 1 && i < WEBHOOK_TRIES; i++) {
		if (i) {
			poll(NULL, 0, pause_ms);
			pause_ms *= 2;
		}
		rc = try_once(a, c, call, body, err);
	}
	curl_easy_cleanup(c);
	return rc == 1 ? err->code : rc;
}
