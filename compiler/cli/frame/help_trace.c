/*
 * `help events`, `help EVENT` and `help filter`: what a policy can have
 * recorded, and how a trace is asked about it. At most 24 lines of 80 columns
 * each.
 */
#include "compiler/cli/frame/parts.h"

#include "compiler/cli/text/view.h"
#include "compiler/ir/native.h"
#include "compiler/ir/tracee.h"

#define COLUMNS 80u

static bool is_rest(const struct native_event *e)
{
	return !e->is_default;
}

static bool is_default(const struct native_event *e)
{
	return e->is_default;
}

static bool is_somewhere(const struct native_event *e)
{
	return e->somewhere;
}

/* A paragraph of those that are. */
static void put_events(struct buf *out, const char *title,
		       bool (*is)(const struct native_event *e))
{
	struct view v = {out, COLUMNS, false};
	const struct native_event *e;
	unsigned n = 0;
	struct buf b;

	buf_init(&b, out->a);
	buf_adds(&b, title);
	for (size_t i = 0; (e = native_event_at(i)); i++)
		if (is(e))
			buf_addf(&b, "%s%s%s", n++ ? ", " : " ", e->name,
				 e->is_asked ? "*" : "");
	view_wrap(&v, 0, 2, buf_str(&b));
}

static void put_page_of_events(struct buf *out)
{
	buf_adds(out, "What the built-in tracer takes as 'trace: {events: "
		      "[...]}': a set, an event, or\n"
		      "'security_*'. 'engine: tracee' has hundreds more.\n\n");
	put_events(out, "default:", is_default);
	put_events(out, "full: all of these, and", is_rest);
	put_events(out, "not on every kernel:", is_somewhere);
	buf_adds(out, "asked: those of default with a *, which a user's session "
		      "has natively, too\n");
	buf_adds(out, "execve, execveat: those that failed, unless nothing of "
		      "that name was there\n");
	buf_adds(out, "\nfilters of one: comm, uid, pid, tid, ppid, syscall, "
		      "retval, data.FIELD; as in\n"
		      "  {event: security_file_open, filters: "
		      "[\"data.pathname=/workspace/*\", \"uid!=0\"]}\n"
		      "'membrane help EVENT' lists the fields of one\n");
}

/* What a filter can compare: not lists, and not what an option would add. */
static void put_fields(struct buf *out, const struct tracee_event *e)
{
	struct view v = {out, COLUMNS, false};
	const struct tracee_arg *arg;
	unsigned n = 0;
	struct buf b;

	buf_init(&b, out->a);
	buf_addf(&b, "%s:", e->name);
	for (size_t i = 0; (arg = tracee_arg_at(e, i)); i++) {
		if (arg->last < TRACEE_RELEASE_DEFAULT ||
		    arg->since > TRACEE_RELEASE_DEFAULT ||
		    (arg->flags & TRACEE_UNDECLARED) ||
		    arg->shape == TRACEE_STRINGS || arg->shape == TRACEE_OBJECT)
			continue;
		buf_addf(&b, "%s data.%s", n++ ? "," : "", arg->name);
	}
	if (n == 0)
		buf_adds(&b, " nothing of its own that a filter can compare");
	view_wrap(&v, 0, 2, buf_str(&b));
	buf_adds(out,
		 "and of every event comm, uid, pid, tid, ppid, syscall, "
		 "retval. '=' and '!=' take\n"
		 "several values at commas, each a text, prefix*, *suffix or "
		 "*contains*; numbers\n"
		 "of these also <= and >=\n");
}

const char *help_filter(void)
{
	return
#include "compiler/cli/frame/filter.txt.inc"
		;
}

static void put_page_of_filter(struct buf *out)
{
	buf_adds(
		out,
		"Expressions of 'membrane trace show|grep|stats|tree|follow', as in:\n\n");
	buf_adds(out, help_filter());
}

bool help_trace(struct buf *out, struct str word)
{
	if (str_is(word, "events"))
		put_page_of_events(out);
	else if (native_event_named(word))
		put_fields(out, tracee_event_named(word));
	else if (str_is(word, "filter"))
		put_page_of_filter(out);
	else
		return false;
	return true;
}
