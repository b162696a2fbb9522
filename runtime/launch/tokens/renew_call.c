/* How a renewal gets to the URL: by libcurl, from the host's own network or by
 * the uplink that the policy names. */
#include "runtime/launch/tokens/renew.h"

#include "compiler/base/standin_nets.h"
#include "compiler/base/sys/fileio.h"
#include "runtime/launch/tokens/uplink.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define CONNECT_MS 10000
#define TOTAL_MS   30000
#define POLL_MS	   1000
#define ROOTS_MAX  (16u << 20)

struct taken {
	struct buf b;
	bool too_long;
};

static size_t take_body(const char *data, size_t size, size_t n, void *ctx)
{
	struct taken *t = ctx;

	if (t->b.n + size * n > RENEW_BODY_MAX) {
		t->too_long = true;
		return 0;
	}
	buf_add(&t->b, (struct str){data, size * n});
	return size * n;
}

struct url {
	const char *host, *port;
};

/* Of "https://HOST/…" and "https://HOST:PORT/…". */
static struct url url_of(struct arena *a, const char *text)
{
	struct str rest = str_of(text + strlen("https://")), host;
	size_t colon;

	str_field(&rest, '/', &host);
	colon = str_find(host, ':', 0);
	return (struct url){
		arena_cstr(a, str_slice(host, 0, colon)),
		colon < host.n
			? arena_cstr(a, str_slice(host, colon + 1, host.n))
			: "443"};
}

/* "HOST:PORT:ADDR", so that nobody is asked for the name once more. */
static struct curl_slist *pinned_to(struct arena *a,
				    const struct renew_ask *ask)
{
	struct url at = url_of(a, renew_credential(ask)->refresh);
	bool six = strchr(ask->addr, ':') != NULL;

	return curl_slist_append(NULL, arena_fmt(a, "%s:%s:%s%s%s", at.host,
						 at.port, six ? "[" : "",
						 ask->addr, six ? "]" : "")
					       .p);
}

static struct curl_slist *headers_of(const struct renew_ask *ask)
{
	struct curl_slist *list = curl_slist_append(
		NULL,
		ask->is_form ? "Content-Type: application/x-www-form-urlencoded"
			     : "Content-Type: application/json");

	return curl_slist_append(list, "Accept: application/json");
}

/* --- the call --------------------------------------------------------------
 */

static void set_call(CURL *c, const struct renew_ask *ask, struct str body,
		     struct taken *taken)
{
	curl_easy_setopt(c, CURLOPT_URL, renew_credential(ask)->refresh);
	curl_easy_setopt(c, CURLOPT_PROXY, "");
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)TOTAL_MS);
	if (ask->agent[0])
		curl_easy_setopt(c, CURLOPT_USERAGENT, ask->agent);
	curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE, (long)body.n);
	curl_easy_setopt(c, CURLOPT_POSTFIELDS, body.p);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, taken);
}

/*
 * libcurl takes one list of roots, so its own is read for it; where it looks
 * for each root by itself it goes on to do so.
 */
static int add_roots(struct arena *a, CURL *c, struct str roots,
		     struct err *err)
{
	struct str own = {0};
	struct curl_blob blob = {.flags = CURL_BLOB_COPY};
	char *path = NULL;
	struct buf all;

	if (roots.n == 0)
		return 0;
	(void)curl_easy_getinfo(c, CURLINFO_CAINFO, &path);
	if (path && fileio_read(a, AT_FDCWD, path, ROOTS_MAX, &own, err) < 0)
		return err->code;
	buf_init(&all, a);
	buf_add(&all, own);
	buf_addc(&all, '\n');
	buf_add(&all, roots);
	blob.data = all.p;
	blob.len = all.n;
	return curl_easy_setopt(c, CURLOPT_CAINFO_BLOB, &blob) == CURLE_OK
		       ? 0
		       : err_set(err, -EIO, "libcurl takes no roots");
}

static int said_by(CURLcode code, struct err *err)
{
	return code == CURLE_OK
		       ? 0
		       : err_set(err, -EIO, "%s", curl_easy_strerror(code));
}

/* It connects to a socket of ours, and somebody has to answer that. */
static int perform_by(CURL *c, struct uplink *way, struct err *err)
{
	CURLM *m = curl_multi_init();
	const CURLMsg *msg = NULL;
	int running = 1, left, rc = 0;

	if (!m || curl_multi_add_handle(m, c) != CURLM_OK)
		rc = err_set(err, -ENOMEM, "out of memory");
	while (rc == 0 && running) {
		struct curl_waitfd w = {way->listener, CURL_WAIT_POLLIN, 0};

		if (curl_multi_perform(m, &running) != CURLM_OK ||
		    (running &&
		     curl_multi_poll(m, &w, way->listener >= 0 ? 1 : 0, POLL_MS,
				     NULL) != CURLM_OK))
			rc = err_set(err, -EIO, "libcurl does not go on");
		else if (w.revents)
			rc = uplink_take(way, err);
	}
	if (rc == 0)
		msg = curl_multi_info_read(m, &left);
	if (rc == 0)
		rc = said_by(msg ? msg->data.result : CURLE_FAILED_INIT, err);
	curl_multi_remove_handle(m, c);
	curl_multi_cleanup(m);
	return rc;
}

static int call_by_uplink(struct arena *a, const struct renew_ask *ask, CURL *c,
			  struct err *err)
{
	struct url at = url_of(a, renew_credential(ask)->refresh);
	struct uplink way;
	int rc = uplink_open(a, &ask->v->relay, ask->values, ask->addr, at.port,
			     &way, err);

	if (rc < 0) {
		uplink_done(&way);
		return err_while(err, "the way by the uplink");
	}
	curl_easy_setopt(c, CURLOPT_ABSTRACT_UNIX_SOCKET, way.name);
	/* A container has to start first; and its end is told by ours. */
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)TOTAL_MS);
	curl_easy_setopt(c, CURLOPT_FORBID_REUSE, 1L);
	rc = perform_by(c, &way, err);
	uplink_done(&way);
	return rc;
}

/* The agent went to what stands in for a name: that is the proxy's to find. */
static bool goes_by_proxy(const struct renew_ask *ask)
{
	struct addr to;

	return ask->proxy && ask->proxy->port &&
	       addr_parse(str_of(ask->addr), &to) && standin_nets_have(&to);
}

static int call_by_proxy(struct arena *a, const struct renew_ask *ask, CURL *c,
			 struct err *err)
{
	const struct proxy *p = ask->proxy;
	char text[ADDR_TEXT_MAX];
	bool six = p->addr.family == ADDR_V6;
	const char *url =
		arena_fmt(a, "http://%s%s%s:%u", six ? "[" : "",
			  addr_text(&p->addr, text), six ? "]" : "", p->port)
			.p;
	long status = 0;
	CURLcode code;
	int rc;

	curl_easy_setopt(c, CURLOPT_PROXY, url);
	curl_easy_setopt(c, CURLOPT_NOPROXY, "");
	curl_easy_setopt(c, CURLOPT_HTTPPROXYTUNNEL, 1L);
	if (p->login) {
		struct str user = str_of(p->login);
		size_t colon = str_find(user, ':', 0);

		curl_easy_setopt(c, CURLOPT_PROXYAUTH, (long)CURLAUTH_BASIC);
		curl_easy_setopt(c, CURLOPT_PROXYUSERNAME,
				 arena_cstr(a, str_slice(user, 0, colon)));
		curl_easy_setopt(c, CURLOPT_PROXYPASSWORD,
				 p->login + colon + 1);
	}
	code = curl_easy_perform(c);
	rc = said_by(code, err);
	curl_easy_getinfo(c, CURLINFO_HTTP_CONNECTCODE, &status);
	return rc < 0 && status >= 300
		       ? err_set(err, -EIO, "the proxy refuses it (%ld)",
				 status)
		       : rc;
}

static int call_from_here(struct arena *a, const struct renew_ask *ask, CURL *c,
			  struct err *err)
{
	struct curl_slist *pins = pinned_to(a, ask);
	int rc;

	curl_easy_setopt(c, CURLOPT_RESOLVE, pins);
	rc = said_by(curl_easy_perform(c), err);
	curl_slist_free_all(pins);
	return rc;
}

int renew_post(struct arena *a, const struct renew_ask *ask, struct str body,
	       struct renew_reply *out, struct err *err)
{
	struct curl_slist *headers;
	struct taken taken = {0};
	CURL *c;
	int rc;

	/* where no Docker was asked nobody has opened the library yet */
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_set(err, -ENOENT,
			       "libcurl is not here (libcurl4, libcurl)");
	c = curl_easy_init();
	headers = headers_of(ask);
	if (!c)
		return err_set(err, -ENOMEM, "out of memory");
	buf_init(&taken.b, a);
	set_call(c, ask, body, &taken);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
	rc = add_roots(a, c, ask->values->roots, err);
	if (rc == 0)
		rc = goes_by_proxy(ask)	   ? call_by_proxy(a, ask, c, err)
		     : ask->v->relay.image ? call_by_uplink(a, ask, c, err)
					   : call_from_here(a, ask, c, err);
	if (rc == 0)
		curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &out->status);
	out->body = buf_str(&taken.b);
	curl_easy_cleanup(c);
	curl_slist_free_all(headers);
	return rc;
}
