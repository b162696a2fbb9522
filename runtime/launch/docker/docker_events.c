#include "runtime/launch/docker/docker_events.h"

#include "compiler/plan/docker_json.h"
#include "runtime/launch/docker/docker_parts.h"

#include <errno.h>

#define EVENT_LINE_MAX 65536u

static void on_line(struct docker *d)
{
	cJSON *root = cJSON_ParseWithLength(d->line.p, d->line.n);
	const cJSON *action = cJSON_GetObjectItemCaseSensitive(root, "Action");
	const cJSON *actor = cJSON_GetObjectItemCaseSensitive(root, "Actor");
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(actor, "ID");
	const cJSON *role = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(actor, "Attributes"),
		DOCKER_JSON_LABEL_ROLE);

	if (cJSON_IsString(action) && cJSON_IsString(role)) {
		struct engine_event e = {action->valuestring, role->valuestring,
					 cJSON_IsString(id) ? id->valuestring
							    : ""};

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
		  engine_on_event *on_event, void *ctx, struct err *err)
{
	const char *url =
		arena_fmt(d->a, "%s/%s/events?filters=%s", d->at->base,
			  d->version, docker_label_filter(d, session, true))
			.p;
	int running;

	d->stream = curl_easy_init();
	if (!d->stream)
		return err_set(err, -ENOMEM, "libcurl: out of memory");
	d->on_event = on_event;
	d->on_event_ctx = ctx;
	docker_set_endpoint(d->stream, d->at);
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
	struct curl_waitfd wait[ENGINE_FDS_MAX] = {0};
	unsigned n = 0;
	int running;

	for (size_t i = 0; i < n_fds && n < ENGINE_FDS_MAX; i++) {
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

static size_t on_nothing(char *p, size_t size, size_t n, void *ctx)
{
	(void)p;
	(void)ctx;
	return size * n;
}

void docker_leave(struct docker *d, const char *network, const char *container)
{
	const char *url =
		arena_fmt(d->a, "%s/%s/networks/%s/disconnect", d->at->base,
			  d->version, docker_escaped(d, network))
			.p;
	cJSON *root;
	int running;
	CURL *c = d->leaving ? NULL : curl_easy_init();

	if (!c)
		return;
	root = json_object();
	json_put_cstr(root, "Container", container);
	d->leaving = c;
	d->leaving_headers =
		curl_slist_append(NULL, "Content-Type: application/json");
	docker_set_endpoint(c, d->at);
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, d->leaving_headers);
	curl_easy_setopt(c, CURLOPT_POSTFIELDS, json_compact(d->a, root).p);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_nothing);
	curl_multi_add_handle(d->multi, c);
	curl_multi_perform(d->multi, &running);
}

static void end_handle(struct docker *d, CURL *c)
{
	if (!c)
		return;
	curl_multi_remove_handle(d->multi, c);
	curl_easy_cleanup(c);
}

void docker_events_end(struct docker *d)
{
	end_handle(d, d->stream);
	end_handle(d, d->leaving);
	curl_slist_free_all(d->leaving_headers);
	d->stream = d->leaving = NULL;
	d->leaving_headers = NULL;
}
