/*
 * What the session ends with: the first reason why it failed, or the status of
 * the command.
 */
#include "runtime/launch/loop/parts.h"

#include "compiler/base/sys/proc.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

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
 * The view ended without its last word, of which the command may know first and
 * Docker tell first: it has read errors, and what it wrote may be nowhere. One
 * that Docker was told to remove has not said its last word either.
 */
static bool lost_view(const struct loop *r)
{
	/* The first of two servers that ends in order takes the other along,
	 * which says the same as a death: there the command's status tells. */
	if (r->view && r->view->serves_home && r->agent_status != 125 &&
	    r->agent_status != 128 + SIGKILL)
		return false;
	return !r->failed && !r->signal.number && r->view &&
	       !r->view->says.done && r->course.state <= COURSE_ENDING;
}

/* The same of a tracer in whose namespace of processes the command's was: it
 * ended with that, by the kernel's hand. */
static bool lost_tracer(const struct loop *r)
{
	return !r->failed && !r->signal.number && r->tracer &&
	       r->tracer->holds_agent && r->tracer->state == TRACER_FAILED &&
	       r->tracer->why.code == -EPIPE && !r->was_killed &&
	       r->agent_status == 128 + SIGKILL;
}

/* "0.0.0.0:80" or "[::]:80", at the beginning; else the first word. */
static size_t port_length(const char *at)
{
	size_t n = *at == '[' ? strcspn(at, "]") : 0, digits;

	n += strcspn(at + n, ": /");
	digits = at[n] == ':' ? strspn(at + n + 1, "0123456789") : 0;
	if (digits)
		return n + 1 + digits;
	n = strcspn(at, " /");
	return n && at[n - 1] == ':' ? n - 1 : n;
}

/*
 * A port of the host's that Docker could not take, as it says it: "Bind for
 * 0.0.0.0:80 failed: port is already allocated", "failed to bind host port
 * 127.0.0.1:80/tcp: address already in use", "listen tcp4 0.0.0.0:80: bind:
 * address already in use". An empty text where it names none.
 */
static bool find_taken(const char *words, struct str *out)
{
	static const char *const before[] = {
		"Bind for ",	"host port for ", "host port ", "listen tcp4 ",
		"listen tcp6 ", "listen tcp ",	  "listen udp "};
	const char *at = NULL;

	if (!strstr(words, "port is already allocated") &&
	    !strstr(words, "address already in use"))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(before) && !at; i++) {
		at = strstr(words, before[i]);
		at = at ? at + strlen(before[i]) : NULL;
	}
	*out = at ? (struct str){at, port_length(at)} : STR("");
	return true;
}

static int say_taken(struct str port, struct err *err)
{
	return err_set(
		err, -EPIPE,
		"port %.*s%sof this host is taken: end what listens there, or publish another",
		STR_ARG(port), port.n ? " " : "");
}

/* Its status where it is known that it is one of a failure. */
static int say_gate(const struct loop *r, struct err *err)
{
	const char *words = gate_last_words(r->gate);
	char how[PROC_STATUS_TEXT_MAX];
	struct str port;

	if (find_taken(words, &port))
		return say_taken(port, err);
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
	if (lost_tracer(r)) {
		beside_say_tracer(r, &why);
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
