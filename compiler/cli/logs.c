/*
 * `membrane logs`: what the gate decided, or the command of a session printed.
 */
#include "compiler/base/sys/fileio.h"
#include "compiler/cli/account/logs_line.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/workspace/inputs.h"
#include "runtime/launch/attach/join.h"
#include "runtime/launch/attach/keeper.h"
#include "runtime/launch/session/decisions.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLLOW_MS 100

struct reading {
	struct metadata about;
	struct arena *a;
	unsigned part; /* of the decisions; the file below is it */
	const char *path;
	bool json, follow;
	bool colour;
	unsigned width;
	FILE *file;
	char *line; /* getline(3)'s */
	size_t room;
	uint64_t bad;
};

static void print_line(struct reading *r, struct str line)
{
	struct arena *a;
	struct buf out;
	struct view v = {&out, r->width, r->colour};

	if (r->json) {
		fwrite(line.p, 1, line.n, stdout);
		return;
	}
	/* One for each line: a session may go on for days. */
	a = arena_new();
	buf_init(&out, a);
	if (logs_line(&v, line))
		fwrite(out.p, 1, out.n, stdout);
	else
		r->bad++;
	arena_free(a);
}

/* All whole lines that are there; what is being written is left for later. */
static int read_lines(struct reading *r, struct err *err)
{
	ssize_t n;

	while ((n = getline(&r->line, &r->room, r->file)) > 0) {
		if (r->line[n - 1] != '\n') {
			if (fseeko(r->file, -n, SEEK_CUR) < 0)
				break;
			return 0;
		}
		print_line(r, (struct str){r->line, (size_t)n});
	}
	if (ferror(r->file))
		return err_set(err, -errno, "%s: %s", r->path, strerror(errno));
	clearerr(r->file);
	return 0;
}

static bool session_runs(const struct reading *r)
{
	enum session_found state;
	struct err ignored;

	return metadata_state(&r->about, &state, &ignored) == 0 &&
	       state == SESSION_ALIVE;
}

/* -ENOENT: a session that just begins, or that never got to its gate. */
static int open_part(struct reading *r, unsigned part, struct err *err)
{
	const char *path = decisions_path(r->a, r->about.session.dir, part);
	FILE *file = fopen(path, "re");

	if (!file)
		return err_errno(err, path);
	if (r->file)
		fclose(r->file);
	r->file = file;
	r->path = path;
	r->part = part;
	return 0;
}

/* What a part has got to when the next one is there, it keeps. */
static int read_parts(struct reading *r, struct err *err)
{
	bool is_next =
		access(decisions_path(r->a, r->about.session.dir, r->part + 1),
		       F_OK) == 0;
	int rc = read_lines(r, err);

	while (rc == 0 && is_next) {
		rc = open_part(r, r->part + 1, err);
		is_next = access(decisions_path(r->a, r->about.session.dir,
						r->part + 1),
				 F_OK) == 0;
		if (rc == 0)
			rc = read_lines(r, err);
	}
	return rc;
}

static int read_decisions(struct reading *r, struct err *err)
{
	bool last;
	int rc;

	do {
		/* Asked first: what it wrote until then is read after that. */
		last = !r->follow || !session_runs(r);
		rc = r->file ? 0 : open_part(r, 0, err);
		if (rc == -ENOENT && !last)
			rc = 0;
		else if (rc == 0)
			rc = read_parts(r, err);
		fflush(stdout);
	} while (rc == 0 && !last && !ferror(stdout) &&
		 fileio_wait(STDOUT_FILENO, FOLLOW_MS));
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
		.a = a,
		.json = options_get(o, OPTION_JSON) != NULL,
		.follow = options_get(o, OPTION_FOLLOW) != NULL,
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
	rc = inputs_state(a, &state, &err);
	if (rc == 0)
		rc = metadata_find(a, state,
				   o->words.n ? o->words.v[0] : (struct str){0},
				   &r.about, &err);
	if (rc == 0 && output)
		return show_output(a, o, &r.about);
	if (rc == 0) {
		rc = read_decisions(&r, &err);
		if (r.file)
			fclose(r.file);
		free(r.line);
	}
	if (r.bad)
		console_error("%s: %llu line%s no decision", r.path,
			      (unsigned long long)r.bad,
			      r.bad == 1 ? " is" : "s are");
	if (rc == 0)
		return STATUS_OK;
	console_error("%s", view_cleaned(a, str_of(err.text)).p);
	return rc == -ENOENT ? STATUS_REFUSED : STATUS_IO;
}
