#include "runtime/launch/questions.h"

#include "compiler/base/json.h"
#include "compiler/base/question.h"
#include "compiler/base/secret.h"
#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"
#include "runtime/launch/gate.h"
#include "runtime/launch/listeners.h"
#include "runtime/launch/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What people say, and what the gate is told of it. */
static const struct {
	const char *word, *gate;
} answers[QUESTIONS_ANSWERS] = {
	[QUESTIONS_ONCE] = {"once", "once"},
	[QUESTIONS_SESSION] = {"session", "yes"},
	[QUESTIONS_ALWAYS] = {"always", "yes"},
	[QUESTIONS_NEVER] = {"never", "no"},
};

const char *questions_answer_word(enum questions_answer answer)
{
	return answer < QUESTIONS_ANSWERS ? answers[answer].word : NULL;
}

bool questions_answer_parse(const char *text, enum questions_answer *out)
{
	for (int i = 0; i < QUESTIONS_ANSWERS; i++)
		if (strcmp(text, answers[i].word) == 0) {
			*out = (enum questions_answer)i;
			return true;
		}
	return false;
}

static struct questions_open *find(struct questions *q, uint32_t id)
{
	for (size_t i = 0; i < ARRAY_LEN(q->open); i++)
		if (q->open[i].id == id)
			return &q->open[i];
	return NULL;
}

static int tell_gate(struct questions *q, uint32_t id, const char *word,
		     struct err *err)
{
	char line[64];

	snprintf(line, sizeof(line), "answer %u %s\n", id, word);
	return gate_say(q->gate, str_of(line), err);
}

/* --- at our own terminal -------------------------------------------------- */

static void ask_at(struct questions *q, uint32_t id)
{
	static char exe[] = "/proc/self/exe", verb[] = "answer",
		    option[] = "--session";
	char session[SESSION_ID_LEN + 1], number[16];
	char *argv[] = {exe, verb, option, session, number, NULL};
	const struct proc_opts o = {
		.argv = argv, .in = -1, .out = STDERR_FILENO, .err = -1};
	struct err err;

	snprintf(session, sizeof(session), "%s", q->id);
	snprintf(number, sizeof(number), "%u", id);
	if (proc_spawn(&o, &q->asker, &err) < 0) {
		q->asker = 0;
		return; /* it waits for others, and no longer than it may */
	}
	q->asked = id;
}

/* The first that nobody was asked about. */
static void ask_next(struct questions *q)
{
	for (size_t i = 0; q->asker == 0 && i < ARRAY_LEN(q->open); i++) {
		const struct questions_open *x = &q->open[i];

		if (x->id && !x->record && !x->is_answered && !x->is_left)
			ask_at(q, x->id);
	}
}

void questions_reap(struct questions *q)
{
	struct questions_open *x;

	if (q->asker == 0 || waitpid(q->asker, NULL, WNOHANG) != q->asker)
		return;
	q->asker = 0;
	x = find(q, q->asked);
	if (x)
		x->is_left = true;
	ask_next(q);
}

void questions_close(struct questions *q)
{
	q->has_terminal = false;
	if (q->asker)
		kill(q->asker, SIGTERM);
	while (q->asker && waitpid(q->asker, NULL, 0) < 0 && errno == EINTR)
		;
	q->asker = 0;
}

/* --- what the gate says --------------------------------------------------- */

static const struct refusal_by nobody = {.sure = HELLO_NOBODY};

static int note_question(struct questions *q, struct questions_open *x,
			 const struct refusal_by *by, struct err *err)
{
	struct arena *a = arena_new();
	struct refusal_by shown = *by;
	int rc;

	shown.command = secret_hidden(a, by->command);
	json_put(x->record, "process", refusal_by_json(&shown));
	rc = gate_note(q->gate,
		       arena_fmt(a, "%s\n", json_compact(a, x->record).p), err);
	arena_free(a);
	x->record = NULL; /* it went with its text */
	return rc;
}

/* From here on it can be answered, and whoever is asked knows whose it is. */
static int tell_question(struct questions *q, struct questions_open *x,
			 const struct refusal_by *by, struct err *err)
{
	int rc = note_question(q, x, by, err);

	/* A gate that is to end hears nothing more, and asks nothing more. */
	if (rc < 0 || q->gate->in < 0)
		return rc;
	if (q->has_terminal)
		ask_next(q);
	return q->has_terminal || listeners_any(q->dir)
		       ? 0
		       : tell_gate(q, x->id, "none", err);
}

static int take_question(struct questions *q, uint32_t id, const cJSON *event,
			 struct err *err)
{
	struct questions_open *slot = find(q, 0);
	const struct third_party *place = third_party_of(
		json_find_str(event, "name"), json_find_str(event, "method"),
		json_find_str(event, "path"));

	if (!slot || find(q, id))
		return err_set(err, -EPROTO,
			       "the gate asks too much, or one thing twice");
	*slot = (struct questions_open){
		.id = id,
		.record = cJSON_Duplicate(event, true),
		.until_ms = clock_ms() + REFUSAL_WHOSE_MS,
	};
	if (place)
		json_put(slot->record, "third_party",
			 refusal_place_json(place));
	return q->on_ask && q->on_ask(q->ask_ctx, id, event)
		       ? 0
		       : tell_question(q, slot, &nobody, err);
}

int questions_whose(struct questions *q, uint32_t id,
		    const struct refusal_by *by, struct err *err)
{
	struct questions_open *x = id ? find(q, id) : NULL;

	return x && x->record ? tell_question(q, x, by, err) : 0;
}

int64_t questions_deadline(const struct questions *q)
{
	int64_t first = 0;

	for (size_t i = 0; i < ARRAY_LEN(q->open); i++)
		if (q->open[i].record)
			first = clock_earlier(first, q->open[i].until_ms);
	return first;
}

int questions_pump(struct questions *q, struct err *err)
{
	int64_t now_ms = clock_ms();
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(q->open); i++)
		if (q->open[i].record && q->open[i].until_ms <= now_ms)
			rc = tell_question(q, &q->open[i], &nobody, err);
	return rc;
}

/* Its record says who answered, which the gate does not know. */
static int note_answered(struct questions *q, const struct questions_open *x,
			 const cJSON *event, struct err *err)
{
	struct arena *a = arena_new();
	cJSON *o = cJSON_Duplicate(event, true);
	int rc;

	if (x->is_answered) {
		cJSON_DeleteItemFromObjectCaseSensitive(o, "answer");
		cJSON_DeleteItemFromObjectCaseSensitive(o, "time");
		cJSON_AddStringToObject(o, "answer",
					questions_answer_word(x->answer));
		who_add(a, o);
	}
	rc = gate_note(q->gate, arena_fmt(a, "%s\n", json_compact(a, o).p),
		       err);
	arena_free(a);
	return rc;
}

static int on_question(void *ctx, const char *name, const cJSON *event,
		       struct str line, struct err *err)
{
	struct questions *q = ctx;
	uint32_t id = (uint32_t)json_find_u64(event, "id", UINT32_MAX);
	struct questions_open *x;
	int rc = 0;

	(void)line; /* its record says more */
	if (id == 0)
		return err_set(err, -EPROTO, "the gate asks about nothing");
	if (strcmp(name, QUESTION_EVENT) == 0)
		return take_question(q, id, event, err);
	x = find(q, id);
	if (!x)
		return err_set(err, -EPROTO,
			       "the gate answers what it did not ask");
	/* Over before anybody was told, and nobody is asked about it now. */
	if (x->record)
		rc = note_question(q, x, &nobody, err);
	if (rc == 0)
		rc = note_answered(q, x, event, err);
	*x = (struct questions_open){0};
	return rc;
}

/* --- what people say ------------------------------------------------------ */

int questions_open(struct questions *q, struct gate *g, const struct session *s,
		   struct err *err)
{
	char path[4096];
	auto_fd int fd = -1;

	q->gate = g;
	q->dir = s->dir;
	q->id = s->id;
	g->on_question = on_question;
	g->question_ctx = q;
	if (snprintf(path, sizeof(path), "%s/" SESSION_ASKING, s->dir) >=
	    (int)sizeof(path))
		return err_set(err, -ENAMETOOLONG, "%s: name too long", s->dir);
	fd = fileio_create(AT_FDCWD, path, O_WRONLY, 0600);
	if (fd < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	return 0;
}

int questions_begin(struct questions *q, struct err *err)
{
	return q->never_asks ? 0 : gate_say(q->gate, STR("asking on\n"), err);
}

int questions_answer(struct questions *q, uint32_t id,
		     enum questions_answer answer, struct err *err)
{
	struct questions_open *x = id ? find(q, id) : NULL;
	int rc;

	if (!x || x->record || x->is_answered)
		return err_set(err, -ENOENT,
			       "question %u does not wait any more", id);
	rc = tell_gate(q, id, answers[answer].gate, err);
	if (rc < 0)
		return rc;
	x->is_answered = true;
	x->answer = answer;
	return 0;
}
