#include "runtime/launch/docker_api.h"

#include "compiler/base/buf.h"

#include <cjson/cJSON.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define CONNECT_TIMEOUT_MS 5000L
#define REQUEST_TIMEOUT_MS 30000L /* removing may wait for a busy disk */
#define EVENT_LINE_MAX 65536u
#define API_MAJOR 1u
#define API_MINOR_MAX 48u /* what these requests were read against */

struct docker {
	struct arena *a;
	const struct endpoint *at;
	CURL *easy;            /* requests, over one kept connection */
	CURLM *multi;          /* the event stream */
	CURL *stream;
	CURL *leaving;         /* a request that nobody waits for */
	struct curl_slist *leaving_headers;
	char version[16];      /* "v1.41" */
	unsigned minor;
	docker_on_event *on_event;
	void *on_event_ctx;
	struct buf line;       /* of the event stream, not yet whole */
	bool skipping;         /* the rest of a line that was too long */
};

struct answer {
	struct buf body;
	bool too_long;
	long status;
	unsigned minor; /* of the Api-Version header; 0 without one */
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
	struct str line = {p, size * n};
	struct str value, major;
	struct answer *r = ctx;
	uint64_t minor;

	if (line.n < name.n || strncasecmp(line.p, name.p, name.n) != 0)
		return size * n;
	value = str_trim(str_slice(line, name.n, str_find(line, '\r', 0)));
	if (str_field(&value, '.', &major) && str_is(major, "1") &&
	    str_u64(value, 9999, &minor))
		r->minor = (unsigned)minor;
	return size * n;
}

static void set_endpoint(CURL *c, const struct endpoint *e)
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
static int refused(struct docker *d, const struct answer *r, struct err *err)
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

static int unanswered(struct docker *d, const struct answer *r, CURLcode rc,
		      const char *detail, struct err *err)
{
	const char *why = detail[0] ? detail : curl_easy_strerror(rc);
	const char *at = d->at->socket ? d->at->socket : d->at->base;

	if (r->too_long)
		why = "the answer is too long";
	else if (d->at->socket && access(d->at->socket, R_OK | W_OK) < 0)
		why = strerror(errno); /* curl speaks of a port there */
	else if (d->at->socket && rc == CURLE_COULDNT_CONNECT)
		why = "nobody listens there: is dockerd running?";
	return err_set(err,
		       rc == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT
						      : -ECONNREFUSED,
		       "docker at %s does not answer: %s", at, why);
}

static int perform(struct docker *d, const char *url, struct answer *r,
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
		return unanswered(d, r, rc, detail, err);
	curl_easy_getinfo(d->easy, CURLINFO_RESPONSE_CODE, &r->status);
	return 0;
}

/*
 * One request. body: JSON, taken over, or NULL. ok, when not 0, is a status
 * beyond 2xx that is no error. The answer, when out is not NULL, is parsed;
 * the caller deletes it.
 */
static int request(struct docker *d, const char *method, const char *path,
		   cJSON *body, long ok, cJSON **out, struct err *err)
{
	const char *url = arena_fmt(d->a, "%s/%s%s", d->at->base, d->version,
				    path).p;
	char *text = body ? cJSON_PrintUnformatted(body) : NULL;
	struct curl_slist *headers = NULL;
	struct answer r = {0};
	int rc;

	cJSON_Delete(body);
	buf_init(&r.body, d->a);
	curl_easy_reset(d->easy);
	set_endpoint(d->easy, d->at);
	curl_easy_setopt(d->easy, CURLOPT_CUSTOMREQUEST, method);
	if (strcmp(method, "POST") == 0) {
		headers = curl_slist_append(headers,
					    "Content-Type: application/json");
		curl_easy_setopt(d->easy, CURLOPT_HTTPHEADER, headers);
		curl_easy_setopt(d->easy, CURLOPT_POSTFIELDS,
				 text ? text : "");
	}
	rc = perform(d, url, &r, err);
	curl_slist_free_all(headers);
	cJSON_free(text);
	if (rc < 0)
		return rc;
	if ((r.status < 200 || r.status > 299) && r.status != ok)
		return refused(d, &r, err);
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

unsigned docker_minor(const struct docker *d)
{
	return d->minor;
}

static int agree_version(struct docker *d, struct err *err)
{
	const char *wanted = getenv("DOCKER_API_VERSION");
	const char *url = arena_fmt(d->a, "%s/_ping", d->at->base).p;
	struct answer r = {0};
	int rc;

	buf_init(&r.body, d->a);
	set_endpoint(d->easy, d->at);
	rc = perform(d, url, &r, err);
	if (rc < 0)
		return rc;
	if (r.status != 200 || r.minor == 0)
		return err_set(err, -EPROTO,
			       "%s is no Docker daemon (status %ld)",
			       d->at->socket ? d->at->socket : d->at->base,
			       r.status);
	d->minor = r.minor < API_MINOR_MAX ? r.minor : API_MINOR_MAX;
	if (wanted && strlen(wanted) < sizeof(d->version) - 1)
		snprintf(d->version, sizeof(d->version), "v%s", wanted);
	else
		snprintf(d->version, sizeof(d->version), "v%u.%u", API_MAJOR,
			 d->minor);
	return 0;
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

static void end_handle(struct docker *d, CURL *c)
{
	if (!c)
		return;
	curl_multi_remove_handle(d->multi, c);
	curl_easy_cleanup(c);
}

void docker_close(struct docker *d)
{
	if (!d)
		return;
	end_handle(d, d->stream);
	end_handle(d, d->leaving);
	curl_slist_free_all(d->leaving_headers);
	curl_easy_cleanup(d->easy);
	curl_multi_cleanup(d->multi);
	d->stream = d->leaving = d->easy = NULL;
	d->leaving_headers = NULL;
	d->multi = NULL;
}

/* A path segment or a query value, escaped. */
static const char *escaped(struct docker *d, const char *s)
{
	char *e = curl_easy_escape(d->easy, s, 0);
	const char *copy = arena_cstr(d->a, str_of(e ? e : ""));

	curl_free(e);
	return copy;
}

static const char *text_of(struct docker *d, const cJSON *o, const char *key)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsString(m) ? arena_cstr(d->a, str_of(m->valuestring))
				 : "";
}

int docker_has_image(struct docker *d, const char *ref, struct err *err)
{
	/* a reference may hold slashes, and Docker wants them as they are */
	struct buf path;
	struct str rest = str_of(ref), part;
	int rc;

	buf_init(&path, d->a);
	buf_adds(&path, "/images");
	while (str_field(&rest, '/', &part))
		buf_addf(&path, "/%s",
			 escaped(d, arena_cstr(d->a, part)));
	buf_adds(&path, "/json");
	rc = request(d, "GET", path.p, NULL, 404, NULL, err);
	return rc < 0 ? rc : rc == 200;
}

static void add_tags(struct docker *d, const cJSON *image, struct str front,
		     docker_tags *out)
{
	const cJSON *tag;

	cJSON_ArrayForEach(tag, cJSON_GetObjectItemCaseSensitive(image,
								 "RepoTags")) {
		struct str text = cJSON_IsString(tag) ? str_of(tag->valuestring)
						      : (struct str){0};

		if (str_starts(text, front))
			*vec_push(d->a, out) = arena_cstr(
				d->a, str_slice(text, front.n, text.n));
	}
}

/* The path that lists the images of one repository; NULL: no memory. */
static const char *images_of(struct docker *d, const char *repository)
{
	cJSON *filter = cJSON_CreateObject();
	cJSON *names = cJSON_AddArrayToObject(filter, "reference");
	const char *path = NULL;
	char *text = NULL;

	if (cJSON_AddItemToArray(names, cJSON_CreateString(repository)))
		text = cJSON_PrintUnformatted(filter);
	if (text)
		path = arena_fmt(d->a, "/images/json?filters=%s",
				 escaped(d, text))
			       .p;
	cJSON_free(text);
	cJSON_Delete(filter);
	return path;
}

int docker_image_tags(struct docker *d, const char *repository,
		      docker_tags *out, struct err *err)
{
	struct str front = arena_fmt(d->a, "%s:", repository);
	const char *path = images_of(d, repository);
	cJSON *root = NULL;
	const cJSON *image;
	int rc = path ? request(d, "GET", path, NULL, 0, &root, err)
		      : err_set(err, -ENOMEM, "no memory for a request");

	if (rc < 0)
		return rc;
	cJSON_ArrayForEach(image, root)
		add_tags(d, image, front, out);
	cJSON_Delete(root);
	return 0;
}

int docker_has_runtime(struct docker *d, const char *name, struct err *err)
{
	cJSON *root = NULL;
	int rc = request(d, "GET", "/info", NULL, 0, &root, err);

	if (rc < 0)
		return rc;
	rc = cJSON_GetObjectItemCaseSensitive(
		     cJSON_GetObjectItemCaseSensitive(root, "Runtimes"),
		     name) != NULL;
	cJSON_Delete(root);
	return rc;
}

/* --- the daemon ---------------------------------------------------------- */

static bool truth(const cJSON *o, const char *key)
{
	return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, key));
}

/* "name=seccomp,profile=default"; before Docker 1.13 "seccomp". */
static void read_option(struct docker *d, const char *text,
			struct docker_info *out)
{
	struct str rest = str_of(text), part, name = {0}, profile = {0};

	while (str_field(&rest, ',', &part)) {
		if (str_starts(part, STR("name=")))
			name = str_slice(part, 5, part.n);
		else if (str_starts(part, STR("profile=")))
			profile = str_slice(part, 8, part.n);
	}
	if (str_is(name, "rootless"))
		out->rootless = true;
	else if (str_is(name, "seccomp"))
		out->seccomp = arena_cstr(d->a, profile.n ? profile
							  : STR("default"));
	else if (str_is(name, "apparmor") || str_is(name, "selinux"))
		out->mac = arena_cstr(d->a, name);
}

static void read_info(struct docker *d, const cJSON *root,
		      struct docker_info *out)
{
	const cJSON *o;
	struct buf names;

	out->version = text_of(d, root, "ServerVersion");
	out->kernel = text_of(d, root, "KernelVersion");
	out->storage = text_of(d, root, "Driver");
	out->cgroup_driver = text_of(d, root, "CgroupDriver");
	/* Docker has it from 20.10 on; before, there was only one. */
	out->cgroup_version = text_of(d, root, "CgroupVersion");
	out->limits_memory = truth(root, "MemoryLimit");
	out->limits_pids = truth(root, "PidsLimit");
	out->seccomp = out->mac = "";
	cJSON_ArrayForEach(
		o, cJSON_GetObjectItemCaseSensitive(root, "SecurityOptions"))
		if (cJSON_IsString(o))
			read_option(d, o->valuestring, out);
	buf_init(&names, d->a);
	cJSON_ArrayForEach(o,
			   cJSON_GetObjectItemCaseSensitive(root, "Runtimes"))
		buf_addf(&names, "%s%s", names.n ? ", " : "", o->string);
	out->runtimes = names.n ? names.p : "";
}

int docker_info(struct docker *d, struct docker_info *out, struct err *err)
{
	cJSON *root = NULL;
	const cJSON *o;
	struct docker_info info = {0};
	int rc = request(d, "GET", "/info", NULL, 0, &root, err);

	if (rc < 0)
		return rc;
	read_info(d, root, &info);
	cJSON_Delete(root);
	rc = request(d, "GET", "/version", NULL, 0, &root, err);
	if (rc < 0)
		return rc;
	info.api = text_of(d, root, "ApiVersion");
	info.runc = "";
	cJSON_ArrayForEach(o,
			   cJSON_GetObjectItemCaseSensitive(root, "Components"))
		if (strcmp(text_of(d, o, "Name"), "runc") == 0)
			info.runc = text_of(d, o, "Version");
	cJSON_Delete(root);
	*out = info;
	return 0;
}

/* {"label":["membrane.session=ID"], …} for ?filters= */
static const char *label_filter(struct docker *d, const char *session,
				bool containers_only)
{
	const char *label =
		session ? arena_fmt(d->a, DOCKER_LABEL "=%s", session).p
			: DOCKER_LABEL;
	cJSON *f = cJSON_CreateObject();
	char *text;
	const char *out;

	cJSON_AddItemToObject(f, "label", cJSON_CreateStringArray(&label, 1));
	if (containers_only) {
		const char *type = "container";

		cJSON_AddItemToObject(f, "type",
				      cJSON_CreateStringArray(&type, 1));
	}
	text = cJSON_PrintUnformatted(f);
	out = escaped(d, text ? text : "");
	cJSON_free(text);
	cJSON_Delete(f);
	return out;
}

int docker_list(struct docker *d, const char *session, docker_containers *out,
		struct err *err)
{
	const char *path = arena_fmt(d->a, "/containers/json?all=1&filters=%s",
				     label_filter(d, session, false)).p;
	cJSON *root = NULL;
	const cJSON *o;
	int rc = request(d, "GET", path, NULL, 0, &root, err);

	if (rc < 0)
		return rc;
	cJSON_ArrayForEach(o, root) {
		const cJSON *labels =
			cJSON_GetObjectItemCaseSensitive(o, "Labels");
		const cJSON *name = cJSON_GetArrayItem(
			cJSON_GetObjectItemCaseSensitive(o, "Names"), 0);
		struct docker_container *c = vec_push(d->a, out);

		c->id = text_of(d, o, "Id");
		c->session = text_of(d, labels, DOCKER_LABEL);
		c->role = text_of(d, labels, "membrane.role");
		c->state = text_of(d, o, "State");
		c->name = "";
		if (cJSON_IsString(name)) /* "/membrane-gate-…" */
			c->name = arena_cstr(
				d->a, str_of(name->valuestring +
					     (name->valuestring[0] == '/')));
	}
	cJSON_Delete(root);
	return 0;
}

int docker_signal(struct docker *d, const char *container, const char *signame,
		  struct err *err)
{
	const char *path = arena_fmt(d->a, "/containers/%s/kill?signal=%s",
				     escaped(d, container), signame).p;
	int rc = request(d, "POST", path, NULL, 409, NULL, err);

	if (rc == 409) /* created, and not running */
		return err_set(err, -ENOENT, "docker: %s does not run",
			       container);
	return rc < 0 ? rc : 0;
}

int docker_remove(struct docker *d, const char *container, struct err *err)
{
	const char *path = arena_fmt(d->a, "/containers/%s?force=1&v=1",
				     escaped(d, container)).p;
	/* 409: its removal is under way */
	int rc = request(d, "DELETE", path, NULL, 409, NULL, err);

	return rc < 0 && rc != -ENOENT ? rc : 0;
}

static void read_network(struct docker *d, const cJSON *o,
			 docker_networks *out)
{
	const cJSON *config = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(o, "IPAM"), "Config");
	const cJSON *c;
	struct docker_network base = {
		.id = text_of(d, o, "Id"),
		.name = text_of(d, o, "Name"),
		.session = text_of(d,
				   cJSON_GetObjectItemCaseSensitive(o,
								    "Labels"),
				   DOCKER_LABEL),
		.gateway = "",
		.subnet = "",
	};

	if (cJSON_GetArraySize(config) == 0)
		*vec_push(d->a, out) = base;
	cJSON_ArrayForEach(c, config) { /* one per family */
		base.gateway = text_of(d, c, "Gateway");
		base.subnet = text_of(d, c, "Subnet");
		*vec_push(d->a, out) = base;
	}
}

int docker_list_networks(struct docker *d, const char *session,
			 docker_networks *out, struct err *err)
{
	const char *path = "/networks";
	cJSON *root = NULL;
	const cJSON *o;
	int rc;

	if (session)
		path = arena_fmt(d->a, "/networks?filters=%s",
				 label_filter(d, session, false)).p;
	rc = request(d, "GET", path, NULL, 0, &root, err);
	if (rc < 0)
		return rc;
	cJSON_ArrayForEach(o, root)
		read_network(d, o, out);
	cJSON_Delete(root);
	return 0;
}

int docker_make_link(struct docker *d, const char *name, const char *session,
		     struct err *err)
{
	cJSON *root = cJSON_CreateObject();
	cJSON *o = cJSON_AddObjectToObject(root, "Options");
	cJSON *config = cJSON_CreateObject();
	int rc;

	cJSON_AddStringToObject(root, "Name", name);
	cJSON_AddStringToObject(root, "Driver", "bridge");
	cJSON_AddBoolToObject(root, "CheckDuplicate", true);
	cJSON_AddStringToObject(o, "com.docker.network.bridge.inhibit_ipv4",
				"true");
	cJSON_AddStringToObject(
		o, "com.docker.network.bridge.enable_ip_masquerade", "false");
	o = cJSON_AddObjectToObject(root, "Labels");
	cJSON_AddStringToObject(o, DOCKER_LABEL, session);
	o = cJSON_AddObjectToObject(root, "IPAM");
	o = cJSON_AddArrayToObject(o, "Config");
	cJSON_AddItemToArray(o, config);
	cJSON_AddStringToObject(config, "Subnet", DOCKER_LINK_SUBNET);
	cJSON_AddStringToObject(config, "Gateway", DOCKER_LINK_GATEWAY);
	rc = request(d, "POST", "/networks/create", root, 0, NULL, err);
	return rc < 0 ? rc : 0;
}

int docker_connect(struct docker *d, const char *network,
		   const char *container, struct err *err)
{
	const char *path = arena_fmt(d->a, "/networks/%s/connect",
				     escaped(d, network)).p;
	cJSON *root = cJSON_CreateObject();
	int rc;

	cJSON_AddStringToObject(root, "Container", container);
	rc = request(d, "POST", path, root, 0, NULL, err);
	return rc < 0 ? rc : 0;
}

static size_t on_nothing(char *p, size_t size, size_t n, void *ctx)
{
	(void)p;
	(void)ctx;
	return size * n;
}

void docker_leave(struct docker *d, const char *network, const char *container)
{
	const char *url = arena_fmt(d->a, "%s/%s/networks/%s/disconnect",
				    d->at->base, d->version,
				    escaped(d, network)).p;
	cJSON *root = cJSON_CreateObject();
	char *text;
	int running;

	cJSON_AddStringToObject(root, "Container", container);
	text = cJSON_PrintUnformatted(root);
	cJSON_Delete(root);
	if (!d->leaving && text && (d->leaving = curl_easy_init())) {
		d->leaving_headers = curl_slist_append(
			NULL, "Content-Type: application/json");
		set_endpoint(d->leaving, d->at);
		curl_easy_setopt(d->leaving, CURLOPT_URL, url);
		curl_easy_setopt(d->leaving, CURLOPT_HTTPHEADER,
				 d->leaving_headers);
		curl_easy_setopt(d->leaving, CURLOPT_COPYPOSTFIELDS, text);
		curl_easy_setopt(d->leaving, CURLOPT_WRITEFUNCTION, on_nothing);
		curl_multi_add_handle(d->multi, d->leaving);
		curl_multi_perform(d->multi, &running);
	}
	cJSON_free(text);
}

int docker_remove_network(struct docker *d, const char *network,
			  struct err *err)
{
	const char *path =
		arena_fmt(d->a, "/networks/%s", escaped(d, network)).p;
	int rc = request(d, "DELETE", path, NULL, 404, NULL, err);

	return rc < 0 ? rc : 0;
}

/* --- events -------------------------------------------------------------- */

static void on_line(struct docker *d)
{
	cJSON *root = cJSON_ParseWithLength(d->line.p, d->line.n);
	const cJSON *action = cJSON_GetObjectItemCaseSensitive(root, "Action");
	const cJSON *actor = cJSON_GetObjectItemCaseSensitive(root, "Actor");
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(actor, "ID");
	const cJSON *role = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(actor, "Attributes"),
		"membrane.role");

	if (cJSON_IsString(action) && cJSON_IsString(role)) {
		struct docker_event e = {
			action->valuestring, role->valuestring,
			cJSON_IsString(id) ? id->valuestring : ""};

		d->on_event(d->on_event_ctx, &e);
	}
	cJSON_Delete(root);
}

static size_t on_stream(char *p, size_t size, size_t n, void *ctx)
{
	struct docker *d = ctx;

	for (size_t i = 0; i < size * n; i++) {
		if (p[i] == '\n') {
			if (!d->skipping && d->line.n)
				on_line(d);
			d->line.n = 0;
			d->skipping = false;
		} else if (d->line.n >= EVENT_LINE_MAX) {
			d->skipping = true;
		} else {
			buf_addc(&d->line, p[i]);
		}
	}
	return size * n;
}

int docker_follow(struct docker *d, const char *session,
		  docker_on_event *on_event, void *ctx, struct err *err)
{
	const char *url = arena_fmt(d->a, "%s/%s/events?filters=%s",
				    d->at->base, d->version,
				    label_filter(d, session, true)).p;
	int running;

	d->stream = curl_easy_init();
	if (!d->stream)
		return err_set(err, -ENOMEM, "libcurl: out of memory");
	d->on_event = on_event;
	d->on_event_ctx = ctx;
	set_endpoint(d->stream, d->at);
	curl_easy_setopt(d->stream, CURLOPT_URL, url);
	curl_easy_setopt(d->stream, CURLOPT_WRITEFUNCTION, on_stream);
	curl_easy_setopt(d->stream, CURLOPT_WRITEDATA, d);
	curl_multi_add_handle(d->multi, d->stream);
	curl_multi_perform(d->multi, &running);
	return 0;
}

int docker_poll(struct docker *d, const struct pollfd *fds, size_t n_fds,
		int timeout_ms, struct err *err)
{
	struct curl_waitfd wait[DOCKER_FDS_MAX] = {0};
	unsigned n = 0;
	int running;

	for (size_t i = 0; i < n_fds && n < DOCKER_FDS_MAX; i++) {
		short events = fds[i].events & POLLIN ? CURL_WAIT_POLLIN : 0;

		if (fds[i].events & POLLOUT)
			events |= CURL_WAIT_POLLOUT;
		if (fds[i].fd >= 0)
			wait[n++] = (struct curl_waitfd){.fd = fds[i].fd,
							 .events = events};
	}
	if (curl_multi_poll(d->multi, wait, n, timeout_ms, NULL) != CURLM_OK ||
	    curl_multi_perform(d->multi, &running) != CURLM_OK)
		return err_set(err, -EIO, "libcurl: waiting failed");
	return 0;
}
