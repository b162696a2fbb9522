/*
 * `complete`, which the shells' functions ask, and `completion`, which prints
 * these. What a key press runs says nothing when it fails, waits for nobody,
 * and is never asked of Docker.
 */
#include "compiler/base/sys/fileio.h"
#include "compiler/cli/traces/traces.h"
#include "compiler/cli/frame/completion.h"
#include "compiler/cli/frame/options.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/workspace/inputs.h"
#include "runtime/launch/session/metadata.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SESSIONS_MAX 1000u /* more than anybody chooses from */

/* The state folder, without asking whose home it might be. */
static bool find_state(struct arena *a, const char **out)
{
	struct err ignored;

	return (getenv("HOME") || getenv("MEMBRANE_HOME")) &&
	       inputs_state(a, out, &ignored) == 0;
}

typedef VEC(struct metadata) known;

/* The newest first. */
static int by_start(const void *va, const void *vb)
{
	const struct metadata *a = va, *b = vb;

	if (a->started_s != b->started_s)
		return a->started_s < b->started_s ? 1 : -1;
	return strcmp(a->session.id, b->session.id);
}

static void know_session(struct completion *c, const struct session *s,
			 known *out)
{
	if (str_starts(str_of(s->id), c->typed) && out->n < SESSIONS_MAX)
		metadata_read(c->out->a, s, vec_push(c->out->a, out));
}

static bool is_alive(const struct session *s)
{
	const struct metadata x = {.session = *s};
	enum session_found state;
	struct err ignored;

	return metadata_state(&x, &state, &ignored) == 0 &&
	       state != SESSION_FINISHED;
}

static void find_sessions(struct completion *c, const char *state, known *out)
{
	sessions all = {0};
	struct err ignored;

	if (session_list(c->out->a, state, &all, &ignored) < 0)
		return;
	vec_each(s, &all)
		if (c->sessions == WORDS_RECORD || is_alive(s))
			know_session(c, s, out);
}

/* A trace may be kept longer than what its session was about. */
static void find_traces(struct completion *c, const char *state, known *out)
{
	struct arena *a = c->out->a;
	trace_ids ids = {0};

	traces_ids(a, state, &ids);
	vec_each(id, &ids) {
		struct session s = {.lock_fd = -1};

		if (id->n != SESSION_ID_LEN)
			continue;
		memcpy(s.id, id->p, id->n);
		s.dir = arena_fmt(a, "%s/sessions/%s", state, s.id).p;
		know_session(c, &s, out);
	}
}

/* Each with the time of its start, and its command. */
static void offer_sessions(struct completion *c)
{
	known all = {0};
	const char *state;
	struct buf b;

	if (!find_state(c->out->a, &state))
		return;
	if (c->sessions == WORDS_TRACE)
		find_traces(c, state, &all);
	else
		find_sessions(c, state, &all);
	vec_sort(&all, by_start);
	vec_each(x, &all) {
		buf_init(&b, c->out->a);
		if (x->known)
			buf_adds(&b, x->started);
		vec_each(w, &x->command)
			buf_addf(&b, " %s", *w);
		completion_offer(c, str_of(x->session.id), buf_str(&b));
	}
}

int command_complete(struct arena *a, const struct options *o)
{
	static char *const nothing[] = {NULL};
	struct completion c;
	struct err ignored;
	struct buf out;

	buf_init(&out, a);
	completion_find(&out, o->exec ? o->exec : nothing, &c);
	if (c.sessions != WORDS_NONE)
		offer_sessions(&c);
	ignore(fileio_write_all(STDOUT_FILENO, buf_str(&out), &ignored));
	return STATUS_OK;
}

/* --- the shells' side ----------------------------------------------------- */

static const char in_bash[] =
#include "compiler/cli/complete.bash.inc"
	;
static const char in_zsh[] =
#include "compiler/cli/complete.zsh.inc"
	;
static const char in_fish[] =
#include "compiler/cli/complete.fish.inc"
	;

int command_completion(struct arena *a, const struct options *o)
{
	struct str shell = o->words.n ? o->words.v[0] : STR("");

	(void)a;
	if (str_is(shell, "bash"))
		return console_result(STR(in_bash));
	if (str_is(shell, "zsh"))
		return console_result(STR(in_zsh));
	if (str_is(shell, "fish"))
		return console_result(STR(in_fish));
	console_error("membrane completion needs a shell: bash, zsh or fish");
	return STATUS_USAGE;
}
