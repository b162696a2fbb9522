/*
 * `membrane watch`: a session beside the terminal that it has. What is new is
 * told once, by destination and verdict; at a terminal what waits for a person
 * is asked.
 */
#include "compiler/base/hash.h"
#include "compiler/base/json.h"
#include "compiler/base/question.h"
#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/cli/account/logs_line.h"
#include "compiler/cli/account/records.h"
#include "compiler/cli/answer/answer.h"
#include "compiler/cli/answer/asked.h"
#include "compiler/cli/text/bottom.h"
#include "compiler/cli/text/confirm.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/note.h"
#include "compiler/cli/workspace/inputs.h"
#include "runtime/launch/listeners.h"
#include "runtime/launch/session/decisions.h"
#include "runtime/launch/session/refusal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEEN_SLOTS   16384u /* and half of them are used: the rest is counted */
#define NOTE_REST_MS 5000   /* between two notes of refusals */

struct watching {
	struct arena *a;
	const struct options *o;
	struct metadata about;
	struct records records;
	bool json, colour;
	unsigned width;
	int listens; /* questions wait for us; -1: nobody can be asked here */
	asked_list asked;
	uint32_t open; /* the one that stands there; 0: none */
	struct arena *open_a; /* its texts are there */
	int tty;	      /* of the person; -1: nobody sits there */
	struct bottom bottom;
	char status[192];
	enum note_way note;
	bool is_past;	    /* what was there before us is not news */
	int64_t note_at_ms; /* the next one of a refusal */
	uint64_t not_noted;
	struct str seen[SEEN_SLOTS];
	unsigned n_seen;
	uint64_t allowed, denied, sent, received, untold;
	uint64_t lost; /* of the trace and the decisions, as the record says */
};

/* --- what is new ---------------------------------------------------------- */

/* False when that was there before, or there is no room to know. */
static bool is_new(struct watching *w, struct str key)
{
	uint32_t at = hash_mixed(hash_str(key)) % SEEN_SLOTS;

	while (w->seen[at].n && !str_eq(w->seen[at], key))
		at = (at + 1) % SEEN_SLOTS;
	if (w->seen[at].n)
		return false;
	if (w->n_seen >= SEEN_SLOTS / 2) {
		w->untold++;
		return false;
	}
	w->seen[at] = arena_str(w->a, key);
	w->n_seen++;
	return true;
}

/* Whom a decision is about, and what became of it. */
static struct str key_of(struct arena *a, const cJSON *d)
{
	struct str name = json_find_str(d, "name");

	if (name.n == 0)
		name = json_find_str(d, "addr");
	if (name.n == 0)
		name = json_find_str(d, "path");
	return arena_fmt(a, "%s %s %.*s %" PRIu64,
			 json_find_str(d, "verdict").p,
			 json_find_str(d, "reason").p, STR_ARG(name),
			 json_find_u64(d, "port", UINT16_MAX));
}

/* Names that are resolved go on to be connected to: those are told. */
static bool is_worth(struct watching *w, struct arena *a, const cJSON *d)
{
	bool allow = str_is(json_find_str(d, "verdict"), "allow");
	uint64_t count = json_find_u64(d, "count", UINT32_MAX);

	*(allow ? &w->allowed : &w->denied) += count ? count : 1;
	if (allow && str_is(json_find_str(d, "kind"), "resolve"))
		return false;
	return is_new(w, key_of(a, d));
}

static void add_bytes(struct watching *w, const cJSON *d)
{
	w->sent += json_find_u64(d, "sent", JSON_WHOLE_MAX);
	w->received += json_find_u64(d, "received", JSON_WHOLE_MAX);
}

static void add_losses(struct watching *w, const cJSON *d)
{
	if (str_is(json_find_str(d, "event"), DECISIONS_LOST_EVENT))
		w->lost += json_find_u64(d, "count", JSON_WHOLE_MAX);
}

/* --- notes ---------------------------------------------------------------- */

static void send_note(struct watching *w, struct arena *a, struct str text)
{
	struct err ignored;

	ignore(fileio_write_all(w->tty, note_bytes(a, w->note, text),
				&ignored));
}

/* The first, and of a storm a number; a bell is for who has to answer. */
static void note_refusal(struct watching *w, struct arena *a, const cJSON *d)
{
	struct str what = json_find_str(d, "what");
	struct str text;

	if (w->note == NOTE_BELL)
		return;
	if (clock_ms() < w->note_at_ms) {
		w->not_noted++;
		return;
	}
	text = w->not_noted ? arena_fmt(a, "refused %.*s and %" PRIu64 " more",
					STR_ARG(what), w->not_noted)
			    : arena_fmt(a, "refused %.*s", STR_ARG(what));
	send_note(w, a, text);
	w->note_at_ms = clock_ms() + NOTE_REST_MS;
	w->not_noted = 0;
}

static void note_news(struct watching *w, struct arena *a, const cJSON *d)
{
	struct str event = json_find_str(d, "event");

	if (w->is_past || w->note == NOTE_NONE)
		return;
	if (str_is(event, REFUSAL_EVENT))
		note_refusal(w, a, d);
	else if (str_is(event, QUESTION_EVENT))
		send_note(w, a, STR("somebody waits for your answer"));
}

/* --- what is told --------------------------------------------------------- */

static bool is_told(struct watching *w, struct arena *a, const cJSON *d)
{
	struct str event = json_find_str(d, "event");

	add_bytes(w, d);
	add_losses(w, d);
	if (str_is(event, "decision"))
		return is_worth(w, a, d);
	return str_is(event, "change") || str_is(event, QUESTION_EVENT) ||
	       str_is(event, ANSWERED_EVENT) || str_is(event, REFUSAL_EVENT) ||
	       str_is(event, DECISIONS_LOST_EVENT);
}

static void take_line(void *ctx, struct str line)
{
	struct watching *w = ctx;
	struct arena *a = arena_new();
	cJSON *d = cJSON_ParseWithLength(line.p, line.n);
	struct buf out;
	struct view v = {&out, w->width, w->colour};

	buf_init(&out, a);
	asked_take(w->a, line, &w->asked);
	note_news(w, a, d);
	if (is_told(w, a, d)) {
		bottom_hide(&w->bottom);
		if (w->json)
			fwrite(line.p, 1, line.n, stdout);
		else if (logs_line(&v, line))
			fwrite(out.p, 1, out.n, stdout);
	}
	cJSON_Delete(d);
	arena_free(a);
}

/* --- what waits ----------------------------------------------------------- */

static void set_status(struct watching *w)
{
	char now[sizeof(w->status)];
	int n;

	n = snprintf(now, sizeof(now),
		     "session %s: %" PRIu64 " allowed, %" PRIu64
		     " refused, %" PRIu64 " bytes out, %" PRIu64 " in",
		     w->about.session.id, w->allowed, w->denied, w->sent,
		     w->received);
	if (w->lost)
		snprintf(now + n, sizeof(now) - (size_t)n,
			 ", %" PRIu64 " lost", w->lost);
	if (strcmp(now, w->status) == 0)
		return;
	bottom_hide(&w->bottom);
	memcpy(w->status, now, sizeof(now));
	w->bottom.status = str_of(w->status);
}

static void end_question(struct watching *w)
{
	arena_free(w->open_a);
	w->open_a = NULL;
	w->open = 0;
}

static bool waits(const struct watching *w, uint32_t id)
{
	vec_each(q, &w->asked)
		if (q->id == id)
			return true;
	return false;
}

static void ask_next(struct watching *w)
{
	struct asked *q;
	struct str choices;

	while (!w->open && !console_is_behind(w->tty) &&
	       (q = asked_next(&w->asked))) {
		bottom_hide(&w->bottom);
		w->open = q->id;
		w->open_a = arena_new();
		q->was_shown = true;
		if (answer_show(w->open_a, w->o, &w->about, q->id, w->tty,
				&choices) == STATUS_OK) {
			/* In the background since then: once more in front. */
			q->was_shown = bottom_ask(&w->bottom, choices);
			if (!q->was_shown)
				end_question(w);
			return;
		}
		/* It has said what went wrong, and the next one is another. */
		fflush(stderr);
		end_question(w);
	}
}

/* All that is there was read: what waits now waits for an answer. */
static void see_all(void *ctx)
{
	struct watching *w = ctx;

	w->is_past = false;
	if (w->open && !waits(w, w->open)) { /* another's answer, or its time */
		bottom_withdraw(&w->bottom);
		end_question(w);
	}
	fflush(stdout);
	if (w->listens >= 0)
		ask_next(w);
	if (w->tty >= 0)
		set_status(w);
	bottom_show(&w->bottom);
}

static void take_keys(void *ctx)
{
	struct watching *w = ctx;
	uint32_t id = w->open;
	struct arena *a;

	switch (bottom_read(&w->bottom)) {
	case BOTTOM_MORE:
		return;
	case BOTTOM_GONE:
		w->records.on_keys = NULL;
		fd_close(&w->listens);
		w->listens = -1;
		if (id)
			bottom_withdraw(&w->bottom);
		break;
	case BOTTOM_LINE:
		a = arena_new();
		bottom_answered(&w->bottom);
		if (answer_typed(a, w->o, &w->about, id, w->bottom.typed) !=
		    STATUS_OK)
			fflush(stderr);
		arena_free(a);
		break;
	}
	if (id)
		end_question(w);
}

/* Who is at a terminal can be asked: from now on questions wait. */
static void listen_for(struct watching *w)
{
	struct err err;

	w->tty = w->json ? -1 : confirm_terminal();
	w->note = w->tty < 0 ? NOTE_NONE : note_way_of(getenv);
	bottom_init(&w->bottom, w->tty);
	w->listens = -1;
	w->is_past = true;
	if (w->tty >= 0 &&
	    listeners_join(w->about.session.dir, &w->listens, &err) < 0)
		w->listens = -1; /* a session of before: nothing waits there */
}

/* --- the end -------------------------------------------------------------- */

static void say_end(struct watching *w)
{
	struct metadata_end end;

	metadata_end_read(w->a, &w->about.session, &end);
	if (!end.known)
		console_error("session %s is not watched any more",
			      w->about.session.id);
	else
		console_error("session %s has ended with %d: %" PRIu64
			      " allowed, %" PRIu64 " refused, %" PRIu64
			      " bytes out, %" PRIu64 " in",
			      w->about.session.id, end.status, w->allowed,
			      w->denied, w->sent, w->received);
	if (w->untold)
		console_error(
			"%" PRIu64
			" more had a destination of their own: 'membrane logs %s' has them",
			w->untold, w->about.session.id);
}

static int watch_session(struct watching *w)
{
	struct err err;
	int rc;

	listen_for(w);
	w->records = (struct records){
		.a = w->a,
		.about = &w->about,
		.on_line = take_line,
		.on_read = see_all,
		.on_keys = w->tty >= 0 ? take_keys : NULL,
		.keys = w->tty,
		.ctx = w,
		.out = STDOUT_FILENO,
	};
	rc = records_read(&w->records, true, &err);
	records_done(&w->records);
	if (w->open)
		bottom_withdraw(&w->bottom);
	bottom_hide(&w->bottom);
	fd_close(&w->tty);
	if (w->listens >= 0)
		close(w->listens);
	if (rc < 0 && rc != -ENOENT) {
		console_error("%s", view_cleaned(w->a, str_of(err.text)).p);
		return STATUS_IO;
	}
	say_end(w);
	return STATUS_OK;
}

int command_watch(struct arena *a, const struct options *o)
{
	struct watching *w = arena_new_of(a, struct watching);
	const char *state;
	struct err err;
	int rc;

	w->a = a;
	w->o = o;
	w->json = options_get(o, OPTION_JSON) != NULL;
	w->colour = console_colour(STDOUT_FILENO);
	w->width = console_width(STDOUT_FILENO);
	rc = inputs_state(a, &state, &err);
	if (rc == 0)
		rc = metadata_find(a, state,
				   o->words.n ? o->words.v[0] : (struct str){0},
				   &w->about, &err);
	if (rc == 0)
		return watch_session(w);
	console_error("%s", view_cleaned(a, str_of(err.text)).p);
	return rc == -ENOENT ? STATUS_REFUSED : STATUS_IO;
}
