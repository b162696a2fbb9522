#include "compiler/cli/answer/asked.h"

#include "compiler/base/json.h"
#include "compiler/base/question.h"
#include "compiler/cli/account/logs_line.h"
#include "compiler/cli/text/view.h"
#include "runtime/launch/session/decisions.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK_AT    11u /* "2026-01-31T" */
#define CLOCK_BYTES 8u	/* "12:00:00" */

/* "x.test", "[2001:db8::1]" */
static struct str host_of(struct arena *a, const cJSON *o)
{
	struct str name = json_find_str(o, "name");
	struct str addr = json_find_str(o, "addr");

	if (name.n)
		return view_cleaned(a, name);
	addr = view_cleaned(a, addr);
	return memchr(addr.p, ':', addr.n)
		       ? arena_fmt(a, "[%.*s]", STR_ARG(addr))
		       : addr;
}

static struct str url_of(struct arena *a, const cJSON *o, struct str host)
{
	bool tls = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "tls"));
	unsigned port = (unsigned)json_find_u64(o, "port", UINT16_MAX);
	struct str path = view_cleaned(a, json_find_str(o, "path"));
	struct str scheme = tls ? STR("https") : STR("http");

	/* a policy says nothing of what stands behind a path */
	path = str_slice(path, 0, str_find(path, '?', 0));
	if (port == (tls ? 443u : 80u))
		return arena_fmt(a, "%.*s://%.*s%.*s", STR_ARG(scheme),
				 STR_ARG(host), STR_ARG(path));
	return arena_fmt(a, "%.*s://%.*s:%u%.*s", STR_ARG(scheme),
			 STR_ARG(host), port, STR_ARG(path));
}

static struct asked asked_of(struct arena *a, const cJSON *o)
{
	struct str host = host_of(a, o);
	struct str method = view_cleaned(a, json_find_str(o, "method"));
	struct str time = view_cleaned(a, json_find_str(o, "time"));
	struct asked x = {
		.id = (uint32_t)json_find_u64(o, "id", UINT32_MAX),
		.rule = view_cleaned(a, json_find_str(o, "rule")),
		.since = str_slice(time, CLOCK_AT, CLOCK_AT + CLOCK_BYTES),
		.by = logs_line_process(a, o),
		.place = logs_line_readers(a, o),
		.at = logs_line_why(a, o, true),
	};

	x.is_request = method.n > 0;
	if (x.is_request) {
		x.dest = url_of(a, o, host);
		x.text = arena_fmt(a, "%.*s %.*s", STR_ARG(method),
				   STR_ARG(x.dest));
	} else {
		x.dest = arena_fmt(
			a, "%.*s:%u", STR_ARG(host),
			(unsigned)json_find_u64(o, "port", UINT16_MAX));
		x.text = x.dest;
	}
	return x;
}

static void forget(asked_list *list, uint32_t id)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++)
		if (list->v[i].id != id)
			list->v[n++] = list->v[i];
	list->n = n;
}

void asked_take(struct arena *a, struct str line, asked_list *list)
{
	cJSON *o = cJSON_ParseWithLength(line.p, line.n);
	struct str event = json_find_str(o, "event");

	if (str_is(event, QUESTION_EVENT))
		*vec_push(a, list) = asked_of(a, o);
	else if (str_is(event, ANSWERED_EVENT))
		forget(list, (uint32_t)json_find_u64(o, "id", UINT32_MAX));
	cJSON_Delete(o);
}

struct asked *asked_next(asked_list *list)
{
	vec_each(q, list)
		if (!q->was_shown)
			return q;
	return NULL;
}

/* Most lines are of decisions, which nobody needs to read for this. */
static bool is_about_one(struct str line)
{
	struct str head = STR("{\"event\":\"");
	struct str event = str_slice(line, head.n, line.n);

	return str_starts(line, head) &&
	       (str_starts(event, STR(QUESTION_EVENT)) ||
		str_starts(event, STR(ANSWERED_EVENT)));
}

static int read_part(struct arena *a, const char *path, asked_list *out,
		     struct err *err)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int rc = 0;

	if (!f)
		return err_errno(err, path);
	while ((n = getline(&line, &room, f)) > 0)
		if (is_about_one((struct str){line, (size_t)n}))
			asked_take(a, (struct str){line, (size_t)n}, out);
	if (ferror(f))
		rc = err_set(err, -errno, "%s: %s", path, strerror(errno));
	free(line);
	fclose(f);
	return rc;
}

int asked_read(struct arena *a, const char *dir, asked_list *out,
	       struct err *err)
{
	int rc = 0;

	out->n = 0;
	for (unsigned part = 0; rc == 0; part++)
		rc = read_part(a, decisions_path(a, dir, part), out, err);
	return rc == -ENOENT ? 0 : rc;
}
