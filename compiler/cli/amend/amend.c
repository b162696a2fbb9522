#include "compiler/cli/amend/amend.h"

#include "compiler/cli/text/confirm.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/trust/trust_ask.h"

#include <errno.h>
#include <string.h>

#define TRIES 20u /* when the session is changed between looking and asking */

static struct str shown_view(struct amend *x, int fd)
{
	struct buf out;
	struct view v = {&out, console_width(fd), console_colour(fd)};

	buf_init(&out, x->a);
	amend_view(&v, x, VIEW_ALL_JSON);
	return buf_str(&out);
}

/* What was looked at is what is agreed to. */
static int confirm_change(struct amend *x)
{
	auto_fd int tty = -1;

	if (x->is_agreed)
		return x->json || x->is_shown
			       ? STATUS_OK
			       : console_result(shown_view(x, STDOUT_FILENO));
	tty = x->json ? -1 : confirm_terminal();
	if (tty < 0) {
		if (!x->json &&
		    console_result(shown_view(x, STDOUT_FILENO)) != STATUS_OK)
			return STATUS_IO;
		console_error(
			"nobody can be asked here: --yes does it; nothing was changed");
		return STATUS_REFUSED;
	}
	if (confirm_ask(tty, shown_view(x, tty),
			x->save.wanted ? STR("Do that, and save it? [y/N] ")
				       : STR("Do that? [y/N] ")))
		return STATUS_OK;
	console_error("nothing was changed");
	return STATUS_REFUSED;
}

static void add_texts(struct amend *x, enum access_way way,
		      change_log_texts *out)
{
	vec_each(c, &x->diff.found.changes) {
		struct str text = view_cleaned(x->a, c->text);

		if ((way == ACCESS_GAINED) == (c->way == ACCESS_GAINED) &&
		    out->n < CHANGE_LOG_TEXTS)
			*vec_push(x->a, out) = arena_cstr(
				x->a, str_slice(text, 0, CHANGE_LOG_TEXT_MAX));
	}
}

bool amend_cuts(const struct amend *x)
{
	vec_each(c, &x->diff.found.changes)
		if (c->way == ACCESS_OTHER ||
		    (c->way == ACCESS_LOST &&
		     !(c->has_witness && c->was.verdict == VERDICT_ASK)))
			return true;
	return false;
}

static int hand_over(struct amend *x)
{
	struct change_log what = {.allow = x->allow,
				  .dest = arena_cstr(x->a, x->dest),
				  .saved = x->save.wanted};
	struct err err;
	int rc;

	what.cut = amend_cuts(x);
	add_texts(x, ACCESS_GAINED, &what.gained);
	add_texts(x, ACCESS_LOST, &what.lost);
	rc = ask_change(x->a, &x->about.session, x->generation, &x->now.c.plan,
			&what, &x->answer, &err);
	if (rc == -ENOENT) {
		console_error(
			"session %s takes no changes now: it is starting, or ending, or an older membrane started it",
			x->about.session.id);
		return STATUS_REFUSED;
	}
	if (rc < 0) {
		console_error("%s", view_cleaned(x->a, str_of(err.text)).p);
		return STATUS_IO;
	}
	if (x->answer.ok || x->answer.stale)
		return STATUS_OK;
	console_error("%s", view_cleaned(x->a, str_of(x->answer.message)).p);
	return STATUS_REFUSED;
}

static void release_attempt(struct amend *x)
{
	amend_release(x);
	amend_save_release(x);
	x->save.hunks.n = 0;
}

/* Once: STATUS_OK with answer.ok, or stale, when the change was handed over. */
static int attempt_change(struct amend *x)
{
	int status = amend_compile(x);

	if (status == STATUS_OK && x->save.wanted)
		status = amend_save_prepare(x);
	if (status == STATUS_OK)
		status = confirm_change(x);
	if (status == STATUS_OK && !x->is_idle)
		status = hand_over(x);
	return status;
}

static int finish_change(struct amend *x)
{
	int status = STATUS_OK, printed = STATUS_OK;

	if (x->save.wanted)
		status = amend_save_write(x);
	if (x->json)
		printed = console_result(amend_json(x));
	else if (x->answer.ok)
		console_error(
			"in force in session %s after %.0f ms (generation %u)",
			x->about.session.id, x->answer.ms,
			x->answer.generation);
	if (x->save.done)
		console_error("saved to %.*s", STR_ARG(x->save.file));
	return status == STATUS_OK ? printed : status;
}

int amend_run(struct amend *x)
{
	int status = amend_find(x);

	for (unsigned i = 0; status == STATUS_OK && i < TRIES; i++) {
		release_attempt(x);
		x->answer = (struct ask_answer){0};
		status = attempt_change(x);
		if (status != STATUS_OK || !x->answer.stale)
			break;
		console_error(
			"the session was changed meanwhile: this is against what it is now");
	}
	if (status == STATUS_OK && x->answer.stale)
		status = STATUS_REFUSED;
	if (status == STATUS_OK)
		status = finish_change(x);
	release_attempt(x);
	return status;
}

static int amend_session(struct arena *a, const struct options *o, bool allow)
{
	struct amend x = {
		.a = a,
		.o = o,
		.allow = allow,
		.is_agreed = options_get(o, OPTION_YES) != NULL,
		.json = options_get(o, OPTION_JSON) != NULL,
		.save.wanted = options_get(o, OPTION_SAVE) != NULL,
	};

	if (o->words.n != 1 || o->words.v[0].n == 0) {
		console_error("%s needs one destination: 'membrane help %s'",
			      allow ? "allow" : "deny",
			      allow ? "allow" : "deny");
		return STATUS_USAGE;
	}
	x.dest = o->words.v[0];
	return amend_run(&x);
}

int command_allow(struct arena *a, const struct options *o)
{
	return amend_session(a, o, true);
}

int command_deny(struct arena *a, const struct options *o)
{
	return amend_session(a, o, false);
}
