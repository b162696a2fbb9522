/*
 * `membrane answer`: a person's answer to what waits at a session's gate.
 *
 * What an answer permits is shown first, as `allow` shows it; an answer that
 * lasts is put in force as `allow` and `deny` are, and then those who wait are
 * let through, or refused.
 */
#include "compiler/cli/answer/answer.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/cli/amend/amend.h"
#include "compiler/cli/answer/asked.h"
#include "compiler/cli/text/confirm.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/workspace/inputs.h"

#include <errno.h>
#include <string.h>

struct answering {
	struct amend x;
	struct asked asked;
	enum ir_lasts most; /* the widest that the policy has for it */
};

static int fail(struct arena *a, const struct err *err)
{
	console_error("%s", view_cleaned(a, str_of(err->text)).p);
	return STATUS_IO;
}

/* --- which question ------------------------------------------------------- */

static int find_question(struct answering *w, uint32_t id)
{
	struct arena *a = w->x.a;
	asked_list list = {0};
	struct err err;

	if (asked_read(a, w->x.about.session.dir, &list, &err) < 0)
		return fail(a, &err);
	vec_each(q, &list)
		if (q->id == id) {
			w->asked = *q;
			return STATUS_OK;
		}
	console_error(
		"question %u of session %s does not wait: 'membrane answer' lists those that do",
		id, w->x.about.session.id);
	return STATUS_REFUSED;
}

/* What the policy that runs says of it. */
static int find_bound(struct answering *w)
{
	vec_each(g, &w->x.old.c.policy.ask)
		if (str_eq(g->id, w->asked.rule)) {
			w->most = g->lasts.v;
			return STATUS_OK;
		}
	console_error("nothing that session %s runs asks about %.*s",
		      w->x.about.session.id, STR_ARG(w->asked.text));
	return STATUS_REFUSED;
}

/* --- which answer --------------------------------------------------------- */

static bool may_be(const struct answering *w, enum questions_answer answer)
{
	switch (answer) {
	case QUESTIONS_ONCE:
	case QUESTIONS_NEVER:
		return true;
	case QUESTIONS_SESSION:
		return w->most >= IR_LASTS_SESSION;
	case QUESTIONS_ALWAYS:
		return w->most >= IR_LASTS_ALWAYS;
	case QUESTIONS_ANSWERS:
		break;
	}
	return false;
}

static int check_answer(const struct answering *w, enum questions_answer answer)
{
	if (may_be(w, answer))
		return STATUS_OK;
	console_error(
		"the policy has '%s' for the widest answer to this ('for' of its entry)",
		ir_lasts_name(w->most));
	return STATUS_REFUSED;
}

/* "o" for "once": no two begin alike. A plain yes is the least of them. */
static bool find_typed(const struct answering *w, const char *typed,
		       enum questions_answer *out)
{
	size_t n = strlen(typed);

	*out = QUESTIONS_ONCE;
	if (strcmp(typed, "y") == 0 || strcmp(typed, "yes") == 0)
		return true;
	for (int i = 0; n > 0 && i < QUESTIONS_ANSWERS; i++) {
		*out = (enum questions_answer)i;
		if (may_be(w, *out) &&
		    strncmp(questions_answer_word(*out), typed, n) == 0)
			return true;
	}
	return false;
}

static struct str choices(const struct answering *w)
{
	struct buf b;

	buf_init(&b, w->x.a);
	for (int i = 0; i < QUESTIONS_ANSWERS; i++) {
		const char *word =
			questions_answer_word((enum questions_answer)i);

		if (may_be(w, (enum questions_answer)i))
			buf_addf(&b, "%s[%c]%s", b.n ? ", " : "", word[0],
				 word + 1);
	}
	buf_adds(&b, "? (Enter leaves it) ");
	return buf_str(&b);
}

static struct str shown(const struct answering *w, int fd)
{
	struct buf out;
	struct view v = {&out, console_width(fd), console_colour(fd)};

	buf_init(&out, w->x.a);
	buf_addf(&out, "question %u of session %s, since %.*s\n", w->asked.id,
		 w->x.about.session.id, STR_ARG(w->asked.since));
	view_row(&v, 2, VIEW_TITLE, w->asked.text, w->asked.at);
	if (w->asked.by.n)
		view_row(&v, 4, VIEW_PLAIN, w->asked.by, (struct str){0});
	if (w->asked.place.n)
		view_row(&v, 4, VIEW_WARN, w->asked.place, (struct str){0});
	if (may_be(w, QUESTIONS_SESSION)) {
		buf_adds(&out, "\n");
		amend_view(&v, &w->x, NULL);
	}
	return buf_str(&out);
}

static void say_it_waits(void)
{
	console_error("it waits on");
}

static int ask_person(const struct answering *w, enum questions_answer *out)
{
	auto_fd int tty = confirm_terminal();
	char typed[CONFIRM_TYPED];

	if (tty < 0) {
		if (console_result(shown(w, STDOUT_FILENO)) != STATUS_OK)
			return STATUS_IO;
		console_error(
			"nobody can be asked here: 'membrane answer %u once' (session, always, never) is an answer",
			w->asked.id);
		return STATUS_REFUSED;
	}
	if (confirm_line(tty, shown(w, tty), choices(w), typed,
			 sizeof(typed)) &&
	    find_typed(w, typed, out))
		return STATUS_OK;
	say_it_waits();
	return STATUS_REFUSED;
}

/* --- giving it ------------------------------------------------------------ */

static int tell(struct answering *w, enum questions_answer answer)
{
	struct ask_answer said;
	struct err err;
	int rc = ask_tell(w->x.a, &w->x.about.session, w->asked.id, answer,
			  &said, &err);

	if (rc == -ENOENT) {
		console_error("session %s takes no answers now",
			      w->x.about.session.id);
		return STATUS_REFUSED;
	}
	if (rc < 0)
		return fail(w->x.a, &err);
	if (said.ok)
		return STATUS_OK;
	console_error("%s", view_cleaned(w->x.a, str_of(said.message)).p);
	/* What lasts is in force for whoever asks next. */
	return answer == QUESTIONS_ONCE ? STATUS_REFUSED : STATUS_OK;
}

/*
 * A denial of a URL is one of all methods, which is more than was asked: of a
 * request the gate itself remembers that nobody is to be asked again.
 */
static bool changes_policy(const struct answering *w,
			   enum questions_answer answer)
{
	return answer == QUESTIONS_SESSION || answer == QUESTIONS_ALWAYS ||
	       (answer == QUESTIONS_NEVER && !w->asked.is_request);
}

/* The policy of the session first: who is let through needs it. */
static int give(struct answering *w, enum questions_answer answer)
{
	int status = STATUS_OK;

	w->x.is_agreed = w->x.is_shown = true;
	w->x.allow = answer != QUESTIONS_NEVER;
	w->x.save.wanted = answer == QUESTIONS_ALWAYS;
	if (changes_policy(w, answer))
		status = amend_run(&w->x);
	return status == STATUS_OK ? tell(w, answer) : status;
}

/* Its text is of somebody inside; a star there would be more than was asked. */
static int look(struct answering *w)
{
	w->x.dest = w->asked.dest;
	if (memchr(w->x.dest.p, '*', w->x.dest.n)) {
		console_error("question %u is about no destination: %.*s",
			      w->asked.id, STR_ARG(w->asked.text));
		return STATUS_REFUSED;
	}
	return amend_compile(&w->x);
}

/* about: NULL where the session is to be found. */
static struct answering answering_of(struct arena *a, const struct options *o,
				     const struct metadata *about)
{
	struct answering w = {.x = {.a = a, .o = o, .allow = true}};

	if (about)
		w.x.about = *about;
	return w;
}

static int prepare_answer(struct answering *w, uint32_t id)
{
	int status = amend_find(&w->x);

	if (status == STATUS_OK)
		status = find_question(w, id);
	if (status == STATUS_OK)
		status = look(w);
	return status == STATUS_OK ? find_bound(w) : status;
}

/* What was prepared is over; given, where there is an answer by now. */
static int finish(struct answering *w, int status, enum questions_answer answer)
{
	if (status == STATUS_OK)
		status = give(w, answer);
	amend_release(&w->x);
	return status;
}

/* given: NULL, or what was said beforehand. */
static int answer_with(struct answering *w, uint32_t id,
		       const enum questions_answer *given)
{
	enum questions_answer answer = given ? *given : QUESTIONS_ONCE;
	int status = prepare_answer(w, id);

	if (status == STATUS_OK)
		status = given ? check_answer(w, answer)
			       : ask_person(w, &answer);
	return finish(w, status, answer);
}

int answer_show(struct arena *a, const struct options *o,
		const struct metadata *about, uint32_t id, int tty,
		struct str *out_choices)
{
	struct answering w = answering_of(a, o, about);
	int status = prepare_answer(&w, id);
	struct err err;

	if (status == STATUS_OK &&
	    fileio_write_all(tty, shown(&w, tty), &err) < 0)
		status = STATUS_IO;
	if (status == STATUS_OK)
		*out_choices = choices(&w);
	amend_release(&w.x);
	return status;
}

int answer_typed(struct arena *a, const struct options *o,
		 const struct metadata *about, uint32_t id, const char *typed)
{
	struct answering w = answering_of(a, o, about);
	enum questions_answer answer = QUESTIONS_ONCE;
	int status = prepare_answer(&w, id);

	if (status == STATUS_OK && !find_typed(&w, typed, &answer)) {
		say_it_waits();
		status = STATUS_REFUSED;
	}
	return finish(&w, status, answer);
}

static int answer_one(struct arena *a, const struct options *o)
{
	struct answering w = answering_of(a, o, NULL);
	bool is_given = o->words.n > 1;
	enum questions_answer answer;
	uint64_t id;

	if (!str_u64(o->words.v[0], UINT32_MAX, &id) || id == 0) {
		console_error(
			"a question has a number: 'membrane answer' lists them");
		return STATUS_USAGE;
	}
	if (is_given &&
	    !questions_answer_parse(arena_cstr(a, o->words.v[1]), &answer)) {
		console_error("an answer is once, session, always or never");
		return STATUS_USAGE;
	}
	return answer_with(&w, (uint32_t)id, is_given ? &answer : NULL);
}

/* --- all that wait -------------------------------------------------------- */

static int list_session(const struct view *v, const struct metadata *about,
			unsigned *n)
{
	struct arena *a = v->out->a;
	asked_list list = {0};
	struct err err;

	if (asked_read(a, about->session.dir, &list, &err) < 0)
		return fail(a, &err);
	vec_each(q, &list)
		view_row(v, 0, VIEW_PLAIN,
			 arena_fmt(a, "%4u  %.*s", q->id, STR_ARG(q->text)),
			 arena_fmt(a, "session %s, since %.*s",
				   about->session.id, STR_ARG(q->since)));
	*n += list.n;
	return STATUS_OK;
}

static int list_all(struct arena *a, const struct options *o)
{
	struct buf out;
	struct view v = {&out, console_width(STDOUT_FILENO),
			 console_colour(STDOUT_FILENO)};
	sessions all = {0};
	const char *state;
	unsigned n = 0;
	struct err err;

	buf_init(&out, a);
	if (inputs_state(a, &state, &err) < 0 ||
	    session_list(a, state, &all, &err) < 0)
		return fail(a, &err);
	vec_each(s, &all) {
		const struct option_given *id = options_get(o, OPTION_SESSION);
		enum session_found found;
		struct metadata about;

		metadata_read(a, s, &about);
		if (metadata_state(&about, &found, &err) < 0)
			return fail(a, &err);
		if (found == SESSION_ALIVE &&
		    (!id || str_starts(str_of(s->id), id->value)) &&
		    list_session(&v, &about, &n) != STATUS_OK)
			return STATUS_IO;
	}
	if (n == 0)
		console_error("nothing waits for an answer");
	return console_result(buf_str(&out));
}

int command_answer(struct arena *a, const struct options *o)
{
	return o->words.n ? answer_one(a, o) : list_all(a, o);
}
