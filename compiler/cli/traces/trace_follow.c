#include "compiler/cli/traces/trace_follow.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/cli/text/console.h"
#include "runtime/launch/session/metadata.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FOLLOW_MS 100 /* a file that grows tells nobody, portably */

struct following {
	const char *state;
	struct metadata about; /* of the session */
	bool is_session;       /* otherwise a file of somewhere else */
	trace_follow_visit *visit;
	void *ctx;
	const char *path; /* that is read */
	bool has_end;	  /* its last record was there */
};

static bool session_lives(const struct following *f)
{
	enum session_found state;
	struct err ignored;

	return f->is_session &&
	       metadata_state(&f->about, &state, &ignored) == 0 &&
	       state == SESSION_ALIVE;
}

/* The first file of the trace, which a session that begins has not yet. */
static int find_first(struct following *f, struct arena *a, struct str what,
		      struct err *err)
{
	struct arena *tries = arena_new();
	struct err ignored;
	int rc;

	f->is_session =
		(what.n == 0 || traces_is_id(what)) &&
		metadata_find(a, f->state, what, &f->about, &ignored) == 0;
	if (session_lives(f))
		what = str_of(f->about.session.id);
	for (;;) {
		trace_paths paths = {0};
		bool waits = session_lives(f);

		rc = traces_find(tries, f->state, what, &paths, err);
		if (rc == 0) {
			traces_tell_missing(&paths);
			f->path = arena_cstr(a, str_of(paths.v[0]));
			f->is_session &= paths.found;
		}
		if (rc != -ENOENT || !waits ||
		    !fileio_wait(STDOUT_FILENO, FOLLOW_MS))
			break;
	}
	arena_free(tries);
	return rc;
}

/* The one behind a file of them; of those that are left, if it is gone. */
static const char *path_behind(const trace_paths *paths, const char *path)
{
	for (uint32_t i = 0; i < paths->n; i++)
		if (strcmp(paths->v[i], path) == 0)
			return i + 1 < paths->n ? paths->v[i + 1] : NULL;
	return paths->n ? paths->v[0] : NULL;
}

/* The next file; what is read is whole then. */
static const char *next_of(const struct following *f, struct arena *a)
{
	struct arena *one = arena_new();
	const char *next = NULL;
	trace_paths paths = {0};
	struct err ignored;

	if (f->is_session &&
	    traces_find(one, f->state, str_of(f->about.session.id), &paths,
			&ignored) == 0)
		next = path_behind(&paths, f->path);
	if (next)
		next = arena_cstr(a, str_of(next));
	arena_free(one);
	return next;
}

/* All that is there: 0. */
static int drain_events(struct following *f, struct reader *r, struct err *err)
{
	const struct trace_event *e;
	int rc;

	while ((rc = reader_next(r, &e, err)) > 0 && !ferror(stdout)) {
		f->has_end |= str_is(e->name, "membrane_end");
		f->visit(f->ctx, e);
	}
	f->visit(f->ctx, NULL);
	return rc < 0 ? err_while(err, "reading %s", f->path) : 0;
}

/* Until there is another file, or will be no more of this one. */
static int follow_one(struct following *f, struct arena *a, const char **next,
		      struct err *err)
{
	const char *then = NULL;
	struct reader *r;
	int rc = reader_open(f->path, &r, err);
	bool last = false;

	if (rc < 0)
		return rc;
	for (;;) {
		rc = drain_events(f, r, err);
		if (rc < 0 || last || f->has_end || ferror(stdout))
			break;
		/* What it wrote until now is read after that was asked. */
		then = next_of(f, a);
		last = then || strcmp(f->path, "-") == 0 ||
		       (f->is_session && !session_lives(f));
		if (!last && !fileio_wait(STDOUT_FILENO, FOLLOW_MS))
			break;
	}
	if (reader_counts(r)->damaged)
		console_error("%s: damaged, records are missing", f->path);
	reader_close(r);
	*next = f->has_end ? NULL : then;
	return rc;
}

int trace_follow(struct arena *a, const char *state, struct str what,
		 trace_follow_visit *visit, void *ctx, struct err *err)
{
	struct following f = {.state = state, .visit = visit, .ctx = ctx};
	int rc = find_first(&f, a, what, err);

	while (rc == 0 && f.path)
		rc = follow_one(&f, a, &f.path, err);
	if (rc == 0 && f.is_session && !f.has_end && !session_lives(&f))
		console_error(
			"session %s is over, and its trace has no end: the tracer was stopped, or its disk is full",
			f.about.session.id);
	return rc;
}
