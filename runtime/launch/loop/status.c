/*
 * What the session ends with: the first reason why it failed, or the status of
 * the command.
 */
#include "runtime/launch/loop/parts.h"

#include "compiler/base/sys/proc.h"

#include <errno.h>
#include <signal.h>

void status_note(struct loop *r, const struct err *why)
{
	if (r->failed)
		return;
	r->failed = why->code < 0 ? why->code : -EIO;
	r->why = *why;
}

/*
 * No command ran, and the gate did not end well. What docker's status says then
 * is said of a network that is gone, at times as if the command were missing.
 */
static bool lost_gate(const struct loop *r)
{
	return !r->failed && !r->signal.number && !r->agent_runs &&
	       r->agent_status >= 125 && r->agent_status <= 127 &&
	       (r->gate->status != 0 || r->gate->says.words_done);
}

/*
 * What the view could not close did not begin (125), or ended with it, of which
 * Docker told before the view's own words came.
 */
static bool lost_view(const struct loop *r)
{
	int status = r->agent_status;

	return !r->failed && !r->signal.number && r->view &&
	       r->view->says.words_done && !r->view->says.done &&
	       (status == 125 || status == 128 + SIGKILL);
}

/* Its status where it is known that it is one of a failure. */
static int say_gate(const struct loop *r, struct err *err)
{
	const char *words = gate_last_words(r->gate);
	char how[PROC_STATUS_TEXT_MAX];

	if (r->gate->status == 0)
		return err_set(err, -EPIPE, "%s: %s", r->why.text, words);
	return err_set(err, -EPIPE, "%s (%s): %s", r->why.text,
		       proc_status_text(r->gate->status, how), words);
}

static int say_view(const struct loop *r, struct err *err)
{
	char how[PROC_STATUS_TEXT_MAX];

	return err_set(err, -ENOTCONN, "%s (%s): %s", r->why.text,
		       proc_status_text(r->view->status, how),
		       view_last_words(r->view));
}

int status_exit(struct loop *r, struct err *err)
{
	struct err why;

	if (lost_gate(r)) {
		err_set(&why, -EPIPE, PARTS_GATE_ENDED);
		status_note(r, &why);
	}
	if (lost_view(r)) {
		err_set(&why, -ENOTCONN, PARTS_VIEW_ENDED);
		status_note(r, &why);
	}
	if (r->failed == -EPIPE)
		return say_gate(r, err);
	if (r->failed == -ENOTCONN && r->view)
		return say_view(r, err);
	if (r->failed) {
		*err = r->why;
		return r->failed;
	}
	if (r->signal.number)
		return 128 + r->signal.number;
	return r->agent_status;
}
