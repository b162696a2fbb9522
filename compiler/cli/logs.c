/*
 * `membrane logs`: what the gate decided, or the command of a session printed.
 */
#include "compiler/cli/account/abouts.h"
#include "compiler/cli/account/logs_line.h"
#include "compiler/cli/account/records.h"
#include "compiler/cli/parts.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/workspace/inputs.h"
#include "runtime/launch/attach/join.h"
#include "runtime/launch/attach/keeper.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reading {
	struct metadata about;
	struct records records;
	struct abouts *abouts; /* of what was there from the beginning */
	bool json;
	bool colour;
	unsigned width;
	uint64_t bad;
};

static void print_line(void *ctx, struct str line)
{
	struct reading *r = ctx;
	struct arena *a;
	struct buf out;
	struct str about;
	struct view v = {&out, r->width, r->colour};

	if (r->json) {
		fwrite(line.p, 1, line.n, stdout);
		return;
	}
	if (abouts_was_given(r->abouts, line))
		return;
	/* One for each line: a session may go on for days. */
	a = arena_new();
	buf_init(&out, a);
	if (logs_line(&v, line)) {
		about = abouts_of(r->abouts, line);
		if (about.n && !logs_line(&v, about))
			r->bad++;
		fwrite(out.p, 1, out.n, stdout);
	} else {
		r->bad++;
	}
	arena_free(a);
}

/* Whose decisions they are, where somebody reads them. */
static void print_heading(void *ctx)
{
	struct reading *r = ctx;
	struct arena *a = r->records.a;
	struct buf out;
	struct view v = {&out, r->width, r->colour};

	if (r->json || !r->about.known)
		return;
	buf_init(&out, a);
	view_row(&v, 0, VIEW_DIM,
		 arena_fmt(a, "session %s, run by %s", r->about.session.id,
			   metadata_engine(r->about.engine)),
		 (struct str){0});
	fwrite(out.p, 1, out.n, stdout);
}

static int read_decisions(struct reading *r, bool follow, struct err *err)
{
	int rc;

	/* What came behind later lines, for its place: -f shows the rest as it
	 * comes. */
	r->abouts = abouts_new(r->records.a);
	if (!r->json)
		abouts_read(r->abouts, r->about.session.dir);
	rc = records_read(&r->records, follow, err);

	if (rc == -ENOENT) {
		console_error("session %s decided nothing",
			      r->about.session.id);
		rc = 0;
	}
	return rc;
}

/* What the command printed, instead of what the gate decided. */
static int show_output(struct arena *a, const struct options *o,
		       const struct metadata *x)
{
	const struct option_given *tail = options_get(o, OPTION_TAIL);
	uint64_t lines = 0;
	bool skipped = false;
	struct err err;
	int rc;

	if (tail && !str_u64(tail->value, UINT32_MAX, &lines)) {
		console_error("--tail takes a number of lines");
		return STATUS_USAGE;
	}
	signal(SIGPIPE, SIG_DFL);
	rc = join_print(x, tail != NULL, lines,
			options_get(o, OPTION_FOLLOW) != NULL, &skipped, &err);
	if (skipped)
		console_error(
			"the beginning is gone: the last %u MB of what a command prints are kept",
			SPOOL_SEGMENTS * (SPOOL_SEGMENT >> 20));
	if (rc == 0)
		return STATUS_OK;
	if (rc == -ENOENT)
		console_error(
			"session %s has no record of its output, which went to its caller\n  those of 'membrane start' have one",
			x->session.id);
	else
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
	return rc == -ENOENT ? STATUS_REFUSED : STATUS_IO;
}

int command_logs(struct arena *a, const struct options *o)
{
	bool output = options_get(o, OPTION_AGENT) != NULL;
	struct reading r = {
		.json = options_get(o, OPTION_JSON) != NULL,
		.colour = console_colour(STDOUT_FILENO),
		.width = console_width(STDOUT_FILENO),
	};
	const char *state;
	struct err err;
	int rc;

	if (output ? r.json : options_get(o, OPTION_TAIL) != NULL) {
		console_error(
			output ? "--json goes with what the gate decided, not with --agent"
			       : "--tail is of what the command printed: it needs --agent");
		return STATUS_USAGE;
	}
	if (logs_is_fleet(a, o))
		return logs_fleet(a, o);
	if (options_get(o, OPTION_CONTEXT) || options_get(o, OPTION_NAMESPACE)) {
		console_error(
			"--context and --namespace say where Pods are: they need --selector");
		return STATUS_USAGE;
	}
	rc = inputs_state(a, &state, &err);
	if (rc == 0)
		rc = metadata_find(a, state,
				   o->words.n ? o->words.v[0] : (struct str){0},
				   &r.about, &err);
	if (rc == 0 && output)
		return show_output(a, o, &r.about);
	if (rc == 0) {
		r.records = (struct records){.a = a,
					     .about = &r.about,
					     .on_begin = print_heading,
					     .on_line = print_line,
					     .ctx = &r,
					     .out = STDOUT_FILENO};
		rc = read_decisions(&r, options_get(o, OPTION_FOLLOW) != NULL,
				    &err);
		records_done(&r.records);
	}
	if (r.bad)
		console_error("%s: %llu line%s no decision", r.records.path,
			      (unsigned long long)r.bad,
			      r.bad == 1 ? " is" : "s are");
	if (rc == 0)
		return STATUS_OK;
	console_error("%s", view_cleaned(a, str_of(err.text)).p);
	return rc == -ENOENT ? STATUS_REFUSED : STATUS_IO;
}
