/*
 * What the files docker*.c share: the connection, one request, and the small
 * change of the API's JSON. For nobody else.
 */
#ifndef RUNTIME_LAUNCH_DOCKER_DOCKER_PARTS_H
#define RUNTIME_LAUNCH_DOCKER_DOCKER_PARTS_H

#include "compiler/base/json.h"
#include "runtime/launch/docker/docker_events.h"

#include <curl/curl.h>

struct docker {
	struct arena *a;
	const struct endpoint *at;
	CURL *easy;   /* requests, over one kept connection */
	CURLM *multi; /* the event stream */
	CURL *stream;
	CURL *leaving; /* a request that nobody waits for */
	struct curl_slist *leaving_headers;
	char version[16]; /* "v1.41" */
	unsigned minor;
	engine_on_event *on_event;
	void *on_event_ctx;
	struct buf line; /* of the event stream, not yet whole */
	bool skipping;	 /* the rest of a line that was too long */
};

/*
 * One request. path: of the API, without its version. body: JSON, taken over,
 * or NULL. ok, when not 0, is a status beyond 2xx that is no error. The answer,
 * when out is not NULL, is parsed; the caller deletes it.
 *
 * The status, or
 *   -ENOENT     Docker answered 404
 *   -EREMOTEIO  another refusal
 *   -EPROTO     the answer is not JSON
 *   -ETIMEDOUT, -ECONNREFUSED  as for docker_open()
 */
must_check int docker_request(struct docker *d, const char *method,
			      const char *path, cJSON *body, long ok,
			      cJSON **out, struct err *err);
/* A GET whose answer is a list; -EPROTO when it is anything else. */
must_check int docker_request_list(struct docker *d, const char *path,
				   cJSON **out, struct err *err);
/* Where the daemon answers, for a handle of one's own. */
void docker_set_endpoint(CURL *c, const struct endpoint *e);
/* A path segment or a query value, escaped. */
const char *docker_escaped(struct docker *d, const char *s);
/* A member that is a text, copied; "" if it is none. */
const char *docker_text(struct docker *d, const cJSON *o, const char *key);
/*
 * {"label":["membrane.session=ID"], …}, escaped, for ?filters=. session: NULL
 * for anybody's.
 */
const char *docker_label_filter(struct docker *d, const char *session,
				bool containers_only);
/* What docker_events.c has under way. */
void docker_events_end(struct docker *d);

#endif
