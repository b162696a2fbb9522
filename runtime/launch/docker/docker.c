#include "runtime/launch/docker/docker.h"

#include "compiler/base/ascii.h"
#include "compiler/plan/docker_json.h"
#include "runtime/launch/docker/docker_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define CONNECT_TIMEOUT_MS 5000L
#define REQUEST_TIMEOUT_MS 30000L /* removing may wait for a busy disk */
#define API_MAJOR	   1u
#define API_MINOR_MAX	   48u /* what these requests were read against */

struct answer {
	struct buf body;
	bool too_long;
	long status;
	unsigned minor; /* of the Api-Version header; 0 without one */
	bool podman;	/* it has a header that podman's service alone sends */
};

static size_t on_body(char *p, size_t size, size_t n, void *ctx)
{
	struct answer *r = ctx;

	if (size * n > DOCKER_ANSWER_MAX - r->body.n) {
		r->too_long = true;
		return 0;
	}
	buf_add(&r->body, (struct str){p, size * n});
	return size * n;
}

static size_t on_header(char *p, size_t size, size_t n, void *ctx)
{
	static const struct str name = STR_INIT("Api-Version:");
	static const struct str podman = STR_INIT("Libpod-Api-Version:");
	struct str line = {p, size * n};
	struct str value, major;
	struct answer *r = ctx;
	uint64_t minor;

	if (line.n >= podman.n &&
	    strncasecmp(line.p, podman.p, podman.n) == 0)
		r->podman = true;
	if (line.n < name.n || strncasecmp(line.p, name.p, name.n) != 0)
		return size * n;
	value = str_trim(str_slice(line, name.n, str_find(line, '\r', 0)));
	if (str_field(&value, '.', &major) && str_is(major, "1") &&
	    str_u64(value, 9999, &minor))
		r->minor = (unsigned)minor;
	return size * n;
}

void docker_set_endpoint(CURL *c, const struct endpoint *e)
{
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_PROXY, "");
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
	if (e->socket)
		curl_easy_setopt(c, CURLOPT_UNIX_SOCKET_PATH, e->socket);
	if (e->ca)
		curl_easy_setopt(c, CURLOPT_CAINFO, e->ca);
	if (e->cert)
		curl_easy_setopt(c, CURLOPT_SSLCERT, e->cert);
	if (e->key)
		curl_easy_setopt(c, CURLOPT_SSLKEY, e->key);
	curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, e->tls_verify ? 1L : 0L);
	curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, e->tls_verify ? 2L : 0L);
}

/* "message" of Docker's answer, or its first bytes. */
static int fail_refused(struct docker *d, const struct answer *r,
			struct err *err)
{
	cJSON *root = cJSON_ParseWithLength(r->body.p, r->body.n);
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(root, "message");
	struct str text = str_slice(buf_str(&r->body), 0, 300);

	if (cJSON_IsString(m))
		text = arena_str(d->a, str_of(m->valuestring));
	cJSON_Delete(root);
	return err_set(err, r->status == 404 ? -ENOENT : -EREMOTEIO,
		       "docker: %.*s", STR_ARG(text));
}

/* What is wrong with the socket itself, of which curl speaks as of a port, and
 * what to do; in 100 columns for the usual one. */
static const char *socket_fault(const char *path, CURLcode rc)
{
	if (access(path, R_OK | W_OK) == 0)
		return rc == CURLE_COULDNT_CONNECT
			       ? "does not answer: no listener; sudo systemctl start docker"
			       : NULL;
	if (errno == EACCES || errno == EPERM)
		return "refuses you: sudo usermod -aG docker $USER, log in anew";
	if (errno == ENOENT)
		return "does not answer: no such socket; install Docker, or start it";
	return NULL;
}

static int fail_unanswered(struct docker *d, const struct answer *r,
			   CURLcode rc, const char *detail, struct err *err)
{
	int code = rc == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -ECONNREFUSED;
	const char *why = detail[0] ? detail : curl_easy_strerror(rc);
	const char *at = d->at->socket ? d->at->socket : d->at->base;
	const char *fault = NULL;

	if (r->too_long)
		why = "the answer is too long";
	else if (d->at->socket)
		fault = socket_fault(at, rc);
	if (fault)
		return err_set(err, code, "docker at %s %s", at, fault);
	return err_set(err, code, "docker at %s does not answer: %s", at, why);
}

static int perform_request(struct docker *d, const char *url, struct answer *r,
			   struct err *err)
{
	char detail[CURL_ERROR_SIZE] = "";
	CURLcode rc;

	curl_easy_setopt(d->easy, CURLOPT_URL, url);
	curl_easy_setopt(d->easy, CURLOPT_TIMEOUT_MS,
			 d->at->timeout_ms ? d->at->timeout_ms
					   : REQUEST_TIMEOUT_MS);
	curl_easy_setopt(d->easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(d->easy, CURLOPT_WRITEDATA, r);
	curl_easy_setopt(d->easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(d->easy, CURLOPT_HEADERDATA, r);
	curl_easy_setopt(d->easy, CURLOPT_ERRORBUFFER, detail);
	rc = curl_easy_perform(d->easy);
	curl_easy_setopt(d->easy, CURLOPT_ERRORBUFFER, NULL);
	if (rc != CURLE_OK)
		return fail_unanswered(d, r, rc, detail, err);
	curl_easy_getinfo(d->easy, CURLINFO_RESPONSE_CODE, &r->status);
	return 0;
}

int docker_request(struct docker *d, const char *method, const char *path,
		   cJSON *body, long ok, cJSON **out, struct err *err)
{
	const char *url =
		arena_fmt(d->a, "%s/%s%s", d->at->base, d->version, path).p;
	const char *text = body ? json_compact(d->a, body).p : "";
	struct curl_slist *headers = NULL;
	struct answer r = {0};
	int rc;

	buf_init(&r.body, d->a);
	curl_easy_reset(d->easy);
	docker_set_endpoint(d->easy, d->at);
	curl_easy_setopt(d->easy, CURLOPT_CUSTOMREQUEST, method);
	if (strcmp(method, "POST") == 0) {
		headers = curl_slist_append(headers,
					    "Content-Type: application/json");
		curl_easy_setopt(d->easy, CURLOPT_HTTPHEADER, headers);
		curl_easy_setopt(d->easy, CURLOPT_POSTFIELDS, text);
	}
	rc = perform_request(d, url, &r, err);
	curl_slist_free_all(headers);
	if (rc < 0)
		return rc;
	if ((r.status < 200 || r.status > 299) && r.status != ok)
		return fail_refused(d, &r, err);
	if (out) {
		*out = cJSON_ParseWithLength(r.body.p ? r.body.p : "",
					     r.body.n);
		if (!*out)
			return err_set(err, -EPROTO,
				       "docker: %s: the answer is not JSON",
				       path);
	}
	return (int)r.status;
}

int docker_request_list(struct docker *d, const char *path, cJSON **out,
			struct err *err)
{
	cJSON *root = NULL;
	int rc = docker_request(d, "GET", path, NULL, 0, &root, err);

	if (rc < 0)
		return rc;
	if (!cJSON_IsArray(root)) {
		cJSON_Delete(root);
		return err_set(err, -EPROTO,
			       "docker: %s: the answer is no list", path);
	}
	*out = root;
	return 0;
}

unsigned docker_minor(const struct docker *d)
{
	return d->minor;
}

/* The user's word, as for the docker command; else the newest of both. */
static int set_version(struct docker *d, struct err *err)
{
	const char *wanted = getenv("DOCKER_API_VERSION");
	struct str rest = str_of(wanted ? wanted : ""), major;
	uint64_t minor = d->minor;

	if (wanted && !(str_field(&rest, '.', &major) && str_is(major, "1") &&
			str_u64(rest, 9999, &minor)))
		return err_set(
			err, -EINVAL,
			"DOCKER_API_VERSION is '%.32s', and no version such as 1.41",
			wanted);
	snprintf(d->version, sizeof(d->version), "v%u.%u", API_MAJOR,
		 (unsigned)minor);
	return 0;
}

static int agree_version(struct docker *d, struct err *err)
{
	const char *url = arena_fmt(d->a, "%s/_ping", d->at->base).p;
	struct answer r = {0};
	int rc;

	buf_init(&r.body, d->a);
	docker_set_endpoint(d->easy, d->at);
	rc = perform_request(d, url, &r, err);
	if (rc < 0)
		return rc;
	if (r.status != 200 || r.minor == 0)
		return err_set(
			err, -EPROTO, "%s is no Docker daemon (status %ld)",
			d->at->socket ? d->at->socket : d->at->base, r.status);
	/* It takes the same requests, and holds less: doc/engines.md. */
	if (r.podman)
		return err_set(
			err, -ENOTSUP,
			"%s is podman's, which does not hold what Docker's words close; 'engine: native' needs no daemon",
			d->at->socket ? d->at->socket : d->at->base);
	d->minor = r.minor < API_MINOR_MAX ? r.minor : API_MINOR_MAX;
	return set_version(d, err);
}

int docker_open(struct arena *a, const struct endpoint *e, struct docker **out,
		struct err *err)
{
	struct docker *d = arena_new_of(a, struct docker);
	int rc;

	d->a = a;
	d->at = e;
	buf_init(&d->line, a);
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_set(err, -ENOMEM, "libcurl does not start");
	d->easy = curl_easy_init();
	d->multi = curl_multi_init();
	if (!d->easy || !d->multi)
		rc = err_set(err, -ENOMEM, "libcurl: out of memory");
	else
		rc = agree_version(d, err);
	if (rc < 0)
		docker_close(d);
	else
		*out = d;
	return rc;
}

void docker_close(struct docker *d)
{
	if (!d)
		return;
	docker_events_end(d);
	curl_easy_cleanup(d->easy);
	curl_multi_cleanup(d->multi);
	d->easy = NULL;
	d->multi = NULL;
}

const char *docker_escaped(struct docker *d, const char *s)
{
	struct buf out;

	buf_init(&out, d->a);
	buf_adds(&out, "");
	ascii_escape(&out, s);
	return out.p;
}

const char *docker_text(struct docker *d, const cJSON *o, const char *key)
{
	return arena_cstr(d->a, json_find_str(o, key));
}

static cJSON *list_of(const char *s)
{
	cJSON *list = json_array();

	json_push_str(list, str_of(s));
	return list;
}

const char *docker_label_filter(struct docker *d, const char *session,
				bool containers_only)
{
	const char *label =
		session ? arena_fmt(d->a, DOCKER_JSON_LABEL_SESSION "=%s",
				    session)
				  .p
			: DOCKER_JSON_LABEL_SESSION;
	cJSON *filter = json_object();

	json_put(filter, "label", list_of(label));
	if (containers_only)
		json_put(filter, "type", list_of("container"));
	return docker_escaped(d, json_compact(d->a, filter).p);
}
