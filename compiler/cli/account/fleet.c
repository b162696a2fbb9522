#include "compiler/cli/account/fleet.h"

#include "compiler/base/json.h"
#include "runtime/launch/session/decisions.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX	    "[pod/"
#define LENGTH_BITS 24u
#define LENGTH_MAX  ((1u << LENGTH_BITS) - 1)
#define FIRST_ROOM  4096u

/* Where a record is in the file, and when it was: 16 bytes of each. */
struct at {
	uint64_t time; /* its digits, from the decade on: 260131120001123456 */
	uint64_t place; /* its offset, above LENGTH_BITS of its length */
};

struct fleet {
	FILE *file;
	uint64_t end; /* of the file */
	struct at *at;
	uint64_t n, room;
	uint64_t last; /* time of the line before */
	unsigned columns;
	struct err err; /* the first one; code 0: none */
};

/* --- whose ---------------------------------------------------------------- */

/* "[pod/NAME/CONTAINER] " before a record. */
struct str fleet_source(struct str *line, struct str otherwise)
{
	size_t end = str_find(*line, ']', 0);
	struct str name;

	if (!str_starts(*line, STR(PREFIX)) || end == line->n)
		return otherwise;
	name = str_slice(*line, sizeof(PREFIX) - 1, end);
	*line = str_slice(*line, end + 2, line->n);
	return str_slice(name, 0, str_find(name, '/', 0));
}

/* --- a folder ------------------------------------------------------------- */

struct reading {
	struct arena *a;
	fleet_line *tell;
	void *ctx;
	char *line; /* getline(3)'s */
	size_t room;
	uint64_t files;
};

static bool is_of_records(struct str name)
{
	return str_ends(name, STR(".jsonl")) || str_ends(name, STR(".json")) ||
	       str_ends(name, STR(".log"));
}

static int read_file(struct reading *r, const char *path, struct str source,
		     struct err *err)
{
	FILE *f = fopen(path, "re");
	ssize_t n;
	int rc = 0;

	if (!f)
		return err_errno(err, path);
	while ((n = getline(&r->line, &r->room, f)) > 0) {
		struct str line = {r->line, (size_t)n};
		struct str whose;

		if (n > FLEET_LINE_MAX)
			continue;
		line.n -= str_ends(line, STR("\n"));
		whose = fleet_source(&line, source);
		r->tell(r->ctx, whose, line);
	}
	if (ferror(f))
		rc = err_set(err, -EIO, "%s: cannot be read", path);
	fclose(f);
	r->files++;
	return rc;
}

/* Of one session: its parts in order. -ENOENT: it has decided nothing. */
static int read_session(struct reading *r, const char *dir, struct str source,
			struct err *err)
{
	unsigned part = 0;
	int rc;

	do
		rc = read_file(r, decisions_path(r->a, dir, part++), source,
			       err);
	while (rc == 0);
	return rc == -ENOENT && part > 1 ? 0 : rc;
}

static int read_entry(struct reading *r, const char *dir, const char *name,
		      struct err *err)
{
	const char *path = arena_fmt(r->a, "%s/%s", dir, name).p;
	struct stat st;
	int rc;

	if (stat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_errno(err, path);
	if (S_ISDIR(st.st_mode)) {
		rc = read_session(r, path, str_of(name), err);
		return rc == -ENOENT ? 0 : rc;
	}
	if (!S_ISREG(st.st_mode) || !is_of_records(str_of(name)))
		return 0;
	return read_file(r, path,
			 str_slice(str_of(name), 0,
				   str_find(str_of(name), '.', 0)),
			 err);
}

static int read_folder(struct reading *r, const char *path, struct err *err)
{
	struct dirent **names;
	int n = scandir(path, &names, NULL, alphasort), rc = 0;

	if (n < 0)
		return err_errno(err, path);
	if ((unsigned)n > FLEET_FILES_MAX)
		rc = err_set(err, -E2BIG, "%s: more than %u files", path,
			     FLEET_FILES_MAX);
	for (int i = 0; i < n; i++) {
		if (rc == 0 && names[i]->d_name[0] != '.')
			rc = read_entry(r, path, names[i]->d_name, err);
		free(names[i]);
	}
	free(names);
	if (rc == 0 && r->files == 0)
		return err_set(
			err, -ENOENT,
			"%s holds no records: no folder of a session, and no *.jsonl, *.json or *.log",
			path);
	return rc;
}

/* The last part of a path, without what follows its first dot. */
static struct str name_of(struct arena *a, const char *path)
{
	char *whole = realpath(path, NULL);
	struct str s = arena_str(a, str_of(whole ? whole : path));
	size_t dir = str_parent(s).n;

	free(whole);
	s = str_slice(s, dir, s.n);
	if (str_starts(s, STR("/")))
		s = str_slice(s, 1, s.n);
	return str_slice(s, 0, str_find(s, '.', 0));
}

int fleet_read(struct arena *a, const char *path, fleet_line *tell, void *ctx,
	       struct err *err)
{
	struct reading r = {.a = a, .tell = tell, .ctx = ctx};
	struct stat st;
	int rc;

	if (stat(path, &st) < 0)
		return err_errno(err, path);
	if (!S_ISDIR(st.st_mode))
		rc = read_file(&r, path, name_of(a, path), err);
	else if (access(decisions_path(a, path, 0), F_OK) == 0)
		rc = read_session(&r, path, name_of(a, path), err);
	else
		rc = read_folder(&r, path, err);
	free(r.line);
	return rc;
}

bool fleet_is_there(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 &&
	       (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode));
}

/* --- by time -------------------------------------------------------------- */

int fleet_open(struct arena *a, struct fleet **out, struct err *err)
{
	struct fleet *f = arena_new_of(a, struct fleet);

	f->file = tmpfile();
	if (!f->file)
		return err_errno(err, "a temporary file");
	*out = f;
	return 0;
}

void fleet_close(struct fleet *f)
{
	if (!f)
		return;
	fclose(f->file);
	free(f->at);
}

unsigned fleet_columns(const struct fleet *f)
{
	return f->columns;
}

/* "2026-01-31T12:00:01.123456Z": all digits but those of the century. */
static bool parse_time(struct str text, uint64_t *out)
{
	uint64_t t = 0;
	unsigned digits = 0;

	for (size_t i = 2; i < text.n && digits < 18; i++) {
		char c = text.p[i];

		if (c < '0' || c > '9')
			continue;
		t = t * 10 + (uint64_t)(c - '0');
		digits++;
	}
	if (digits < 12)
		return false;
	for (; digits < 18; digits++)
		t *= 10;
	*out = t;
	return true;
}

/* That of the record, or of the decision that it is about. */
static uint64_t time_of(const struct fleet *f, struct str line)
{
	cJSON *o = cJSON_ParseWithLength(line.p, line.n);
	const cJSON *of = cJSON_GetObjectItemCaseSensitive(o, "decision");
	uint64_t t = f->last;

	if (!parse_time(json_find_str(o, "time"), &t) && of)
		(void)parse_time(json_find_str(of, "time"), &t);
	cJSON_Delete(o);
	return t;
}

static bool has_room(struct fleet *f)
{
	uint64_t room = f->room ? f->room * 2 : FIRST_ROOM;
	struct at *more;

	if (f->n < f->room)
		return true;
	if (f->n >= FLEET_RECORDS_MAX) {
		err_set(&f->err, -E2BIG, "more than %u records",
			FLEET_RECORDS_MAX);
		return false;
	}
	more = reallocarray(f->at, room, sizeof(*more));
	if (!more) {
		err_set(&f->err, -ENOMEM, "no memory for %llu records",
			(unsigned long long)room);
		return false;
	}
	f->at = more;
	f->room = room;
	return true;
}

void fleet_put(void *ctx, struct str source, struct str line)
{
	struct fleet *f = ctx;
	size_t n = source.n + 1 + line.n;

	if (f->err.code || n > LENGTH_MAX || line.n == 0 || !has_room(f))
		return;
	if (source.n > f->columns)
		f->columns = (unsigned)source.n;
	f->last = time_of(f, line);
	fwrite(source.p, 1, source.n, f->file);
	fputc('\n', f->file);
	fwrite(line.p, 1, line.n, f->file);
	f->at[f->n++] = (struct at){f->last, f->end << LENGTH_BITS | n};
	f->end += n;
}

static int by_time(const void *va, const void *vb)
{
	const struct at *a = va, *b = vb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

static int tell_at(const struct fleet *f, const struct at *at, char **room,
		   size_t *size, fleet_line *tell, void *ctx)
{
	size_t n = at->place & LENGTH_MAX, cut;

	if (n > *size) {
		free(*room);
		*size = 2 * n;
		*room = malloc(*size);
		if (!*room)
			return -ENOMEM;
	}
	if (pread(fileno(f->file), *room, n,
		  (off_t)(at->place >> LENGTH_BITS)) != (ssize_t)n)
		return -EIO;
	cut = str_find((struct str){*room, n}, '\n', 0);
	tell(ctx, (struct str){*room, cut},
	     (struct str){*room + cut + 1, n - cut - 1});
	return 0;
}

int fleet_each(struct fleet *f, fleet_line *tell, void *ctx, struct err *err)
{
	char *room = NULL;
	size_t size = 0;
	int rc = 0;

	*err = f->err;
	if (err->code)
		return err->code;
	if (fflush(f->file) == EOF || ferror(f->file))
		return err_set(err, -EIO, "a temporary file: not written");
	if (f->n)
		qsort(f->at, f->n, sizeof(*f->at), by_time);
	for (uint64_t i = 0; rc == 0 && i < f->n; i++)
		rc = tell_at(f, &f->at[i], &room, &size, tell, ctx);
	free(room);
	return rc < 0 ? err_set(err, rc, "a temporary file: %s", strerror(-rc))
		      : 0;
}
