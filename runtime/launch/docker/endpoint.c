#include "runtime/launch/docker/endpoint.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sha256.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_MAX	 (1u << 20)
#define ENDPOINT_DEFAULT "unix:///var/run/docker.sock"

struct finder {
	struct arena *a;
	endpoint_env *env;
	struct err *err;
	const char *folder; /* ~/.docker */
};

const char *endpoint_getenv(const char *name)
{
	return getenv(name);
}

static const char *set_or_null(const char *s)
{
	return s && *s ? s : NULL;
}

static int read_json(struct finder *f, const char *path, cJSON **out)
{
	struct str text;
	int rc = fileio_read(f->a, AT_FDCWD, path, CONFIG_MAX, &text, f->err);

	if (rc < 0)
		return rc;
	*out = cJSON_ParseWithLength(text.p, text.n);
	if (!*out)
		return err_set(f->err, -EINVAL, "%s: not JSON", path);
	return 0;
}

static const char *copy_string(struct finder *f, const cJSON *s)
{
	if (!cJSON_IsString(s) || !s->valuestring[0])
		return NULL;
	return arena_cstr(f->a, str_of(s->valuestring));
}

/* The context that applies; NULL is the default one. */
static int context_name(struct finder *f, const char **out)
{
	const char *name = set_or_null(f->env("DOCKER_CONTEXT"));
	cJSON *root = NULL;
	int rc;

	if (!name) {
		rc = read_json(f,
			       arena_fmt(f->a, "%s/config.json", f->folder).p,
			       &root);
		if (rc < 0 && rc != -ENOENT && rc != -ENOTDIR)
			return rc;
		name = copy_string(f, cJSON_GetObjectItemCaseSensitive(
					      root, "currentContext"));
		cJSON_Delete(root);
	}
	*out = name && strcmp(name, "default") != 0 ? name : NULL;
	return 0;
}

static void use_certs(struct finder *f, const char *folder, struct endpoint *e)
{
	e->ca = arena_fmt(f->a, "%s/ca.pem", folder).p;
	e->cert = arena_fmt(f->a, "%s/cert.pem", folder).p;
	e->key = arena_fmt(f->a, "%s/key.pem", folder).p;
}

static const char *if_readable(const char *path)
{
	return path && access(path, R_OK) == 0 ? path : NULL;
}

static int from_url(struct finder *f, const char *url, bool tls,
		    struct endpoint *e)
{
	struct str u = str_of(url);

	if (str_starts(u, STR("unix://")) && u.n > 7) {
		e->socket = arena_cstr(f->a, str_slice(u, 7, u.n));
		e->base = "http://localhost";
		return 0;
	}
	if (str_starts(u, STR("tcp://")) || str_starts(u, STR("http://")) ||
	    str_starts(u, STR("https://"))) {
		struct str at = str_slice(u, str_find(u, '/', 0) + 2, u.n);

		while (at.n && at.p[at.n - 1] == '/')
			at.n--;
		if (at.n == 0)
			return err_set(f->err, -EINVAL,
				       "docker endpoint '%s' has no address",
				       url);
		tls = tls || str_starts(u, STR("https://"));
		e->base = arena_fmt(f->a, "%s://%.*s", tls ? "https" : "http",
				    STR_ARG(at))
				  .p;
		return 0;
	}
	if (str_starts(u, STR("ssh://")) || str_starts(u, STR("npipe://")) ||
	    str_starts(u, STR("fd://")))
		return err_set(
			f->err, -ENOTSUP,
			"docker endpoint '%s': membrane reaches Docker by unix:// or tcp:// only; forward the socket, for example with ssh -L, and set DOCKER_HOST",
			url);
	return err_set(
		f->err, -EINVAL,
		"docker endpoint '%s' is not a URL of the form unix:///path or tcp://host:port",
		url);
}

static int from_context(struct finder *f, const char *name, struct endpoint *e)
{
	char hex[SHA256_HEX_MAX];
	const char *host, *tls;
	const cJSON *docker;
	cJSON *root = NULL;
	int rc;

	sha256_hex(str_of(name), hex);
	rc = read_json(
		f,
		arena_fmt(f->a, "%s/contexts/meta/%s/meta.json", f->folder, hex)
			.p,
		&root);
	if (rc < 0)
		return err_while(f->err, "docker context '%s'", name);
	docker = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(root, "Endpoints"), "docker");
	host = copy_string(f, cJSON_GetObjectItemCaseSensitive(docker, "Host"));
	e->tls_verify = !cJSON_IsTrue(
		cJSON_GetObjectItemCaseSensitive(docker, "SkipTLSVerify"));
	cJSON_Delete(root);
	if (!host)
		return err_set(f->err, -EINVAL,
			       "docker context '%s' names no host", name);
	tls = arena_fmt(f->a, "%s/contexts/tls/%s/docker", f->folder, hex).p;
	use_certs(f, tls, e);
	e->ca = if_readable(e->ca);
	e->cert = if_readable(e->cert);
	e->key = if_readable(e->key);
	return from_url(f, host, e->ca || e->cert, e);
}

static int from_environment(struct finder *f, const char *host,
			    struct endpoint *e)
{
	const char *folder = set_or_null(f->env("DOCKER_CERT_PATH"));
	bool tls;

	e->tls_verify = set_or_null(f->env("DOCKER_TLS_VERIFY")) != NULL;
	tls = e->tls_verify || set_or_null(f->env("DOCKER_TLS"));
	if (tls)
		use_certs(f, folder ? folder : f->folder, e);
	return from_url(f, host, tls, e);
}

int endpoint_find(struct arena *a, endpoint_env *env, struct endpoint *out,
		  struct err *err)
{
	const char *home = set_or_null(env("HOME"));
	const char *host = set_or_null(env("DOCKER_HOST"));
	struct finder f = {.a = a, .env = env, .err = err};
	struct endpoint e = {.tls_verify = true};
	const char *context = NULL;
	int rc;

	f.folder = set_or_null(env("DOCKER_CONFIG"));
	if (!f.folder)
		f.folder = arena_fmt(a, "%s/.docker", home ? home : "").p;
	/* the docker command prefers DOCKER_HOST to DOCKER_CONTEXT, too */
	if (host) {
		rc = from_environment(&f, host, &e);
	} else {
		rc = context_name(&f, &context);
		if (rc == 0)
			rc = context ? from_context(&f, context, &e)
				     : from_url(&f, ENDPOINT_DEFAULT, false,
						&e);
	}
	if (rc == 0)
		*out = e;
	return rc;
}
