#include "runtime/launch/gate.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/json.h"
#include "compiler/base/question.h"
#include "compiler/base/sys/proc.h"
#include "compiler/plan/docker_json.h"
#include "runtime/launch/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(GATE_LINE_MAX <= SAYS_LINE_MAX &&
		       GATE_WORDS_MAX <= SAYS_WORDS_MAX,
	       "what the gate says has room");

static int open_record(const char *dir, const char *name, int *out,
		       struct err *err)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >=
	    (int)sizeof(path))
		return err_set(err, -ENAMETOOLONG, "%s: name too long", dir);
	*out = fileio_create(AT_FDCWD, path, O_WRONLY | O_APPEND, 0600);
	if (*out < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	return 0;
}

int gate_record(struct gate *g, const char *dir, struct err *err)
{
	int rc = decisions_open(&g->decisions, dir, err);

	g->dir = dir;
	return rc < 0 ? rc : open_record(dir, "gate.log", &g->log, err);
}

int gate_start(struct gate *g, struct engine *e, char *const *argv,
	       const char *dir, int keep_fd, struct err *err)
{
	int rc = gate_record(g, dir, err);

	if (rc == 0)
		rc = engine_start_piped(e, ENGINE_GATE, argv, keep_fd, &g->pid,
					&g->in, &g->out, &g->err, err);
	return rc;
}

int gate_hello(struct gate *g, struct str hello, struct err *err)
{
	/* bounded far below what a pipe takes without anybody reading:
	 * otherwise this fails instead of waiting */
	int rc = fileio_write_all(g->in, hello, err);

	return rc < 0 ? err_while(err, "telling the gate about the host") : 0;
}

int gate_change(struct gate *g, uint32_t number, bool cut, struct err *err)
{
	char line[64];

	snprintf(line, sizeof(line), "change %u %s\n", number,
		 cut ? "cut" : "keep");
	return fileio_write_all(g->in, str_of(line), err);
}

int gate_say(struct gate *g, struct str line, struct err *err)
{
	return fileio_write_all(g->in, line, err);
}

/* For the agent to read, whoever it is; anew for each session. */
static int open_shared(const struct gate *g, const char *name, int *out,
		       struct err *err)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", g->dir, name) >=
	    (int)sizeof(path))
		return err_set(err, -ENAMETOOLONG, "%s: name too long", g->dir);
	*out = fileio_create(AT_FDCWD, path, O_WRONLY | O_TRUNC, 0644);
	if (*out < 0 || fchmod(*out, 0644) < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	return 0;
}

static int add_roots(struct gate *g, const cJSON *pem, struct err *err)
{
	struct str text;
	int rc = 0;

	if (g->ready || !cJSON_IsString(pem))
		return err_set(err, -EPROTO,
			       "the gate sent roots at a wrong time, or none");
	text = str_of(pem->valuestring);
	if (text.n > GATE_BUNDLE_MAX - g->bundle_bytes)
		return err_set(err, -EPROTO, "the gate sent too many roots");
	if (g->bundle < 0)
		rc = open_shared(g, DOCKER_JSON_BUNDLE, &g->bundle, err);
	g->bundle_bytes += text.n;
	return rc < 0 ? rc : fileio_write_all(g->bundle, text, err);
}

static int take_ca(struct gate *g, const cJSON *pem, struct err *err)
{
	auto_fd int fd = -1;
	struct str text;
	int rc;

	if (!cJSON_IsString(pem) || g->bundle < 0)
		return err_set(err, -EPROTO,
			       "the gate sent a CA without roots");
	text = str_of(pem->valuestring);
	rc = open_shared(g, "ca.pem", &fd, err);
	if (rc == 0)
		rc = fileio_write_all(fd, text, err);
	if (rc == 0)
		rc = fileio_write_all(fd, g->roots, err);
	if (rc == 0)
		rc = fileio_write_all(g->bundle, text, err);
	fd_close(&g->bundle);
	g->bundle = -1;
	return rc;
}

static int on_ready(struct gate *g, const cJSON *o, struct err *err)
{
	const cJSON *ms = cJSON_GetObjectItemCaseSensitive(o, "ms");
	const cJSON *ca = cJSON_GetObjectItemCaseSensitive(o, "ca");
	int rc = ca ? take_ca(g, ca, err) : 0;

	if (rc < 0)
		return rc;
	g->ready_ms = cJSON_IsNumber(ms) ? ms->valuedouble : 0;
	g->netns = (uint32_t)json_find_u64(o, "netns", UINT32_MAX);
	g->pidns = (uint32_t)json_find_u64(o, "pidns", UINT32_MAX);
	g->ipv6 = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "ipv6"));
	g->ready = true;
	return 0;
}

static int on_generation(struct gate *g, const cJSON *o, struct err *err)
{
	const cJSON *why = cJSON_GetObjectItemCaseSensitive(o, "message");
	uint32_t n = (uint32_t)json_find_u64(o, "generation", UINT32_MAX);

	if (!n || !g->on_generation)
		return err_set(
			err, -EPROTO,
			"the gate tells of a change that nobody asked for");
	g->on_generation(
		g->ctx, n,
		cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "ok")),
		cJSON_IsString(why) ? why->valuestring : "");
	return 0;
}

int gate_note(struct gate *g, struct str line, struct err *err)
{
	return decisions_add(&g->decisions, line, DECISIONS_PERMITTED, err);
}

static void tell_newest(const struct gate *g, const cJSON *o)
{
	struct arena *a = arena_new();
	struct refusal r;

	if (summary_newest(g->summary, a, o, &r))
		g->on_refusal(g->refusal_ctx, &r);
	arena_free(a);
}

static int on_decision(struct gate *g, const cJSON *o, struct str line,
		       struct err *err)
{
	enum decisions_kind kind;
	enum summary_news news;
	int rc = summary_add(g->summary, o, &news, err);

	if (rc < 0)
		return rc;
	kind = news == SUMMARY_PERMITTED ? DECISIONS_PERMITTED
	       : news == SUMMARY_NEW	 ? DECISIONS_REFUSED_NEW
					 : DECISIONS_REFUSED;
	line.n++; /* with its LF */
	rc = decisions_add(&g->decisions, line, kind, err);
	if (rc == 0 && news == SUMMARY_NEW && g->on_refusal)
		tell_newest(g, o);
	return rc;
}

static int on_event(void *ctx, const char *name, const cJSON *o,
		    struct str line, struct err *err)
{
	struct gate *g = ctx;

	if (strcmp(name, "ready") == 0)
		return on_ready(g, o, err);
	if (strcmp(name, "roots") == 0)
		return add_roots(g, cJSON_GetObjectItemCaseSensitive(o, "pem"),
				 err);
	if (strcmp(name, "generation") == 0)
		return on_generation(g, o, err);
	if (strcmp(name, "renewal") == 0)
		return g->on_renewal
			       ? g->on_renewal(g->renewal_ctx, o, err)
			       : err_set(err, -EPROTO,
					 "the gate asks for tokens that nobody has");
	if (strcmp(name, QUESTION_EVENT) == 0 ||
	    strcmp(name, ANSWERED_EVENT) == 0)
		return g->on_question
			       ? g->on_question(g->question_ctx, name, o, line,
						err)
			       : err_set(err, -EPROTO,
					 "the gate asks, and nobody is there");
	if (strcmp(name, "answer") == 0) {
		line.n++;
		if (g->tracer)
			tracer_answer(g->tracer, line);
		return 0;
	}
	if (strcmp(name, "decision") == 0)
		return on_decision(g, o, line, err);
	if (strcmp(name, "lost") == 0) {
		g->lost += json_find_u64(o, "count", JSON_WHOLE_MAX);
		return 0;
	}
	if (strcmp(name, "end") == 0) {
		line.n++;
		return gate_note(g, line, err);
	}
	return says_unknown(&g->says, name, err);
}

static void on_stderr(void *ctx, struct str text)
{
	struct gate *g = ctx;
	size_t room = GATE_LOG_MAX - g->log_bytes;
	struct err ignored;

	text = str_slice(text, 0, room);
	g->log_bytes += text.n;
	if (fileio_write_all(g->log, text, &ignored) < 0)
		g->log_bytes = GATE_LOG_MAX; /* no room: it is only a log */
}

static void on_words(void *ctx, struct str line)
{
	struct gate *g = ctx;

	says_words(&g->says, advice_for(line));
}

void gate_init(struct gate *g, struct summary *summary)
{
	g->in = g->out = g->err = -1;
	decisions_init(&g->decisions);
	g->log = g->bundle = -1;
	g->summary = summary;
	g->says.who = "gate";
	g->says.line_max = GATE_LINE_MAX;
	g->says.words_max = GATE_WORDS_MAX;
	g->says.on_event = on_event;
	g->says.on_stderr = on_stderr;
	g->says.on_line = on_words;
	g->says.ctx = g;
}

int gate_pump(struct gate *g, struct err *err)
{
	return says_pump(&g->says, &g->out, &g->err, err);
}

int gate_take(struct gate *g, struct str text, struct err *err)
{
	return says_take(&g->says, text, err);
}

void gate_take_words(struct gate *g, struct str line)
{
	on_stderr(g, line);
	on_stderr(g, STR("\n"));
	if (!g->says.words_done && line.n)
		on_words(g, line);
}

void gate_close_stdin(struct gate *g)
{
	fd_close(&g->in);
	g->in = -1;
}

void gate_done(struct gate *g)
{
	gate_close_stdin(g);
	fd_close(&g->out);
	fd_close(&g->err);
	decisions_done(&g->decisions);
	fd_close(&g->log);
	fd_close(&g->bundle);
	g->out = g->err = g->log = g->bundle = -1;
}

const char *gate_last_words(const struct gate *g)
{
	return says_last_words(&g->says);
}
