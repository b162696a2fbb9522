#include "compiler/commands/inputs.h"
#include "compiler/commands/logs_line.h"
#include "compiler/commands/say.h"
#include "runtime/launch/about.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define FOLLOW_MS 100

struct reading {
	struct about about;
	const char *path;
	bool json, follow;
	bool colour;
	unsigned width;
	FILE *file;
	char *line; /* getline(3)'s */
	size_t room;
	uint64_t bad;
};

static void print(struct reading *r, struct str line)
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
		print(r, (struct str){r->line, (size_t)n});
	}
	if (ferror(r->file))
		return err_set(err, -errno, "%s: %s", r->path, strerror(errno));
	clearerr(r->file);
	return 0;
}

static bool runs(const struct reading *r)
{
	enum session_found state;
	struct err ignored;

	return about_state(&r->about, &state, &ignored) == 0 &&
	       state == SESSION_ALIVE;
}

/* -ENOENT: a session that just begins, or that never got to its gate. */
static int open_file(struct reading *r, struct err *err)
{
	r->file = fopen(r->path, "re");
	return r->file ? 0
		       : err_set(err, -errno, "%s: %s", r->path,
				 strerror(errno));
}

static int read_all(struct reading *r, struct err *err)
{
	bool last;
	int rc;

	do {
		/* Asked first: what it wrote until then is read after that. */
		last = !r->follow || !runs(r);
		rc = r->file ? 0 : open_file(r, err);
		if (rc == -ENOENT && !last)
			rc = 0;
		else if (rc == 0)
			rc = read_lines(r, err);
		fflush(stdout);
		if (!last)
			poll(NULL, 0, FOLLOW_MS);
	} while (rc == 0 && !last && !ferror(stdout));
	if (rc == -ENOENT) {
		say("session %s decided nothing", r->about.session.id);
		rc = 0;
	}
	return rc;
}

int command_logs(struct arena *a, const struct options *o)
{
	struct reading r = {
		.json = options_get(o, OPTION_JSON) != NULL,
		.follow = options_get(o, OPTION_FOLLOW) != NULL,
		.colour = say_colour(STDOUT_FILENO),
		.width = say_width(STDOUT_FILENO),
	};
	const char *state;
	struct err err;
	int rc = inputs_state(a, &state, &err);

	if (rc == 0)
		rc = about_find(a, state,
				o->words.n ? o->words.v[0] : (struct str){0},
				&r.about, &err);
	if (rc == 0) {
		r.path = arena_fmt(a, "%s/decisions.jsonl", r.about.session.dir)
				 .p;
		rc = read_all(&r, &err);
		if (r.file)
			fclose(r.file);
		free(r.line);
	}
	if (r.bad)
		say("%s: %llu line%s no decision", r.path,
		    (unsigned long long)r.bad, r.bad == 1 ? " is" : "s are");
	if (rc == 0)
		return STATUS_OK;
	say("%s", view_cleaned(a, str_of(err.text)).p);
	return rc == -ENOENT ? STATUS_REFUSED : STATUS_IO;
}
