#include "runtime/launch/tracer/tracee_log.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *text_of(const cJSON *o, const char *name,
			   const char *otherwise)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, name);

	if (!m)
		m = cJSON_GetObjectItemCaseSensitive(o, otherwise);
	return cJSON_IsString(m) ? m->valuestring : "";
}

static void keep(struct tracee_words *out, enum tracee_said said,
		 const char *text, const char *more)
{
	out->said = said;
	snprintf(out->text, sizeof(out->text), "%s%s%s", text,
		 *more ? ": " : "", more);
	for (char *p = out->text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
}

/* "Lost 3 events"; of other buffers too: "Lost 3 control plane signals". */
static bool take_lost(const char *msg, struct tracee_words *out)
{
	struct str rest = str_of(msg), n;

	if (!str_starts(rest, STR("Lost ")))
		return false;
	rest = str_slice(rest, 5, rest.n);
	if (!str_field(&rest, ' ', &n) || !str_u64(n, UINT64_MAX / 2, &out->n))
		return false;
	if (out->n == 0)
		return true;
	if (str_is(rest, "events"))
		out->said = TRACEE_SAID_LOST;
	else
		keep(out, TRACEE_SAID_ERROR, msg, "");
	return true;
}

/* The wording changed from release to release; that an event is named not. */
static bool take_event(const char *msg, const char *event,
		       struct tracee_words *out)
{
	if (!*event)
		return false;
	if (strstr(msg, "switched to fallback"))
		keep(out, TRACEE_SAID_AGAIN, event, "");
	else if (strcasestr(msg, "cancel") || strstr(msg, "removing event") ||
		 strstr(msg, "Failing event") ||
		 strstr(msg, "Missing event in dependencies"))
		keep(out, TRACEE_SAID_WITHOUT, event, "");
	else
		return false;
	return true;
}

static void take_object(const cJSON *o, struct tracee_words *out)
{
	const char *level = text_of(o, "L", "level");
	const char *msg = text_of(o, "M", "msg");
	const char *error = text_of(o, "error", "err");

	if (strcmp(msg, "Tracee is ready callback") == 0)
		out->said = TRACEE_SAID_READY;
	else if (take_lost(msg, out) ||
		 take_event(msg, text_of(o, "event", ""), out))
		return;
	else if (strcasecmp(level, "error") == 0)
		keep(out, TRACEE_SAID_ERROR, msg, error);
	else if (strcasecmp(level, "fatal") == 0 || strcasestr(level, "panic"))
		keep(out, TRACEE_SAID_FATAL, msg, error);
}

void tracee_log_read(struct str line, struct tracee_words *out)
{
	cJSON *o = cJSON_ParseWithLength(line.p, line.n);
	char text[TRACEE_LOG_TEXT];

	memset(out, 0, sizeof(*out));
	if (cJSON_IsObject(o)) {
		take_object(o, out);
	} else if (str_trim(line).n) {
		snprintf(text, sizeof(text), "%.*s", STR_ARG(str_trim(line)));
		keep(out, TRACEE_SAID_WORDS, text, "");
	}
	cJSON_Delete(o);
}
