#include "runtime/launch/session/says.h"

#include "compiler/base/sys/proc.h"
#include "runtime/launch/session/summary.h"

#include <errno.h>
#include <string.h>

#define CHUNK		16384u
#define CHUNKS_PER_PUMP 64u /* so that who says much starves nobody */

void says_words(struct says *s, struct str text)
{
	struct arena *a = arena_new();
	struct buf b;

	buf_init(&b, a);
	summary_escape(&b, text, s->words_max - 16);
	snprintf(s->words, s->words_max, "%s", b.p ? b.p : "");
	arena_free(a);
}

const char *says_last_words(const struct says *s)
{
	return s->words[0] ? s->words : "it said nothing";
}

int says_unknown(const struct says *s, const char *event, struct err *err)
{
	return err_set(err, -EPROTO, "the %s sent an unknown event '%.40s'",
		       s->who, event);
}

/* --- stdout --------------------------------------------------------------- */

static int take_event(struct says *s, const cJSON *o, struct str line,
		      struct err *err)
{
	const cJSON *event = cJSON_GetObjectItemCaseSensitive(o, "event");
	const cJSON *message = cJSON_GetObjectItemCaseSensitive(o, "message");
	const char *name = cJSON_IsString(event) ? event->valuestring : "";

	if (s->done)
		return err_set(err, -EPROTO,
			       "the %s sent more after its last record",
			       s->who);
	if (strcmp(name, VIEW_SAYS_DONE) == 0) {
		s->done = true;
		return 0;
	}
	if (strcmp(name, VIEW_SAYS_ERROR) == 0) {
		if (cJSON_IsString(message))
			says_words(s, str_of(message->valuestring));
		s->words_done = true;
		return 0;
	}
	return s->on_event(s->ctx, name, o, line, err);
}

static int take_line(struct says *s, struct str line, struct err *err)
{
	const char *end = NULL;
	cJSON *o = cJSON_ParseWithLengthOpts(line.p, line.n, &end, false);
	int rc;

	if (cJSON_IsObject(o) && end == line.p + line.n)
		rc = take_event(s, o, line, err);
	else
		rc = err_set(err, -EPROTO,
			     "the %s sent something else than a record",
			     s->who);
	cJSON_Delete(o);
	return rc;
}

int says_take(struct says *s, struct str got, struct err *err)
{
	for (size_t i = 0; i < got.n; i++) {
		struct str line = {s->line, s->line_n};
		int rc;

		if (s->line_n >= s->line_max)
			return err_set(
				err, -EPROTO,
				"the %s sent a line of more than %u bytes",
				s->who, s->line_max);
		s->line[s->line_n++] = got.p[i];
		if (got.p[i] != '\n')
			continue;
		s->line_n = 0;
		rc = take_line(s, line, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* --- stderr --------------------------------------------------------------- */

/* docker's own last line says nothing. */
static void take_words(struct says *s, struct str got)
{
	struct str line;

	if (s->on_stderr)
		s->on_stderr(s->ctx, got);
	while (!s->words_done && str_line(&got, &line)) {
		line = str_trim(line);
		if (line.n && !str_starts(line, STR("Run 'docker")) &&
		    !str_starts(line, STR("See 'docker")))
			s->on_line(s->ctx, line);
	}
}

/* --- both ----------------------------------------------------------------- */

static int drain_pipe(struct says *s, int *fd, bool is_err, struct err *err)
{
	char buf[CHUNK];
	int rc = 0;

	for (unsigned i = 0; i < CHUNKS_PER_PUMP && rc == 0; i++) {
		struct str text = {buf, proc_read(fd, buf, sizeof(buf))};

		if (text.n == 0)
			break;
		if (is_err)
			take_words(s, text);
		else
			rc = says_take(s, text, err);
	}
	return rc;
}

int says_pump(struct says *s, int *out, int *err_out, struct err *err)
{
	int rc = drain_pipe(s, err_out, true, err);

	return rc < 0 ? rc : drain_pipe(s, out, false, err);
}
