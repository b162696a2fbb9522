/*
 * Where the Docker daemon answers, by the rules of the docker command.
 *
 * DOCKER_HOST, else the context named by DOCKER_CONTEXT or by currentContext of
 * config.json (in DOCKER_CONFIG or ~/.docker), else the default socket. Only
 * tells where: nothing is connected here. ssh:// and npipe:// are refused.
 */
#ifndef RUNTIME_LAUNCH_DOCKER_ENDPOINT_H
#define RUNTIME_LAUNCH_DOCKER_ENDPOINT_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

struct endpoint {
	const char *socket; /* path of a unix socket; else NULL */
	const char *base;   /* "http://localhost", "https://10.0.0.1:2376" */
	const char *ca, *cert, *key; /* PEM files for https; may be NULL */
	bool tls_verify;
	long timeout_ms; /* for one answer; 0: as long as a session waits */
};

typedef const char *endpoint_env(const char *name);
const char *endpoint_getenv(const char *name); /* getenv(3) */

/*
 * env is endpoint_getenv, or a test's table.
 *   -ENOTSUP  a scheme that membrane cannot speak
 *   -ENOENT   a context that is named but not there
 *   -EINVAL   neither a URL nor a path
 */
must_check int endpoint_find(struct arena *a, endpoint_env *env,
			     struct endpoint *out, struct err *err);

#endif
