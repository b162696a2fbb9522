#include "compiler/cli/traces/traces.h"

#include "compiler/base/ascii.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "runtime/launch/session/metadata.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define SUFFIX	 ".jsonl.gz"
#define ID_HEX	 12u
#define ID_LEAST 4u /* digits that stand for a whole ID */

/* One file of a session: ID.jsonl.gz is part 0, ID.7.jsonl.gz part 7. */
struct part {
	struct str id;
	uint64_t number;
	time_t at;
};
typedef VEC(struct part) parts;

static bool parse_name(struct str name, struct part *out)
{
	struct str rest = name;

	if (!str_ends(name, STR(SUFFIX)))
		return false;
	rest.n -= sizeof(SUFFIX) - 1;
	out->number = 0;
	return str_field(&rest, '.', &out->id) && out->id.n == ID_HEX &&
	       ascii_is_hex(out->id) &&
	       (rest.n == 0 || str_u64(rest, UINT32_MAX, &out->number));
}

static void list_parts(struct arena *a, const char *dir, parts *out)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	struct stat st;
	struct part p;

	while (d && (e = readdir(d))) {
		struct str name = arena_str(a, str_of(e->d_name));

		if (!parse_name(name, &p) ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		p.at = st.st_mtime;
		*vec_push(a, out) = p;
	}
	if (d)
		closedir(d);
}

static int by_part(const void *va, const void *vb)
{
	const struct part *a = va, *b = vb;
	int c = str_cmp(a->id, b->id);

	if (c)
		return c;
	return a->number < b->number ? -1 : a->number > b->number;
}

void traces_ids(struct arena *a, const char *state, trace_ids *out)
{
	parts all = {0};

	list_parts(a, arena_fmt(a, "%s/trace", state).p, &all);
	vec_sort(&all, by_part);
	vec_each(p, &all)
		if (!out->n || !str_eq(out->v[out->n - 1], p->id))
			*vec_push(a, out) = p->id;
}

/* The ID that is meant: the newest, or the only one that begins so. */
static int choose_id(const parts *all, struct str what, struct str *out,
		     struct err *err)
{
	const struct part *best = NULL;

	vec_each(p, all) {
		if (!str_starts(p->id, what))
			continue;
		if (what.n && best && !str_eq(best->id, p->id))
			return err_set(
				err, -ENOENT,
				"'%.*s' is the beginning of several sessions",
				STR_ARG(what));
		if (!best || p->at > best->at ||
		    (p->at == best->at && str_cmp(p->id, best->id) > 0))
			best = p;
	}
	if (!best && what.n)
		return err_set(
			err, -ENOENT,
			"there is no trace of a session '%.*s': 'membrane ps --all' lists sessions",
			STR_ARG(what));
	if (!best)
		return err_set(
			err, -ENOENT,
			"there is no trace yet: 'membrane run' makes one");
	*out = best->id;
	return 0;
}

static bool is_file(struct arena *a, struct str word)
{
	struct stat st;

	return str_is(word, "-") || stat(arena_cstr(a, word), &st) == 0;
}

/*
 * The newest session's trace, not whichever file was written last; where that
 * has none, the last one is another session's, which nobody would guess.
 */
static int choose_newest(struct arena *a, const char *state, const parts *all,
			 struct str *out, struct err *err)
{
	struct metadata x;
	struct err ignored;
	bool known = metadata_find(a, state, STR(""), &x, &ignored) == 0;
	struct str newest = known ? str_of(x.session.id) : STR("");
	int rc;

	vec_each(p, all)
		if (str_eq(p->id, newest)) {
			*out = p->id;
			return 0;
		}
	rc = choose_id(all, STR(""), out, err);
	if (rc == 0 && known)
		console_error(
			"the newest session, %.*s, has no trace: this is of %.*s",
			STR_ARG(newest), STR_ARG(*out));
	return rc;
}

bool traces_is_id(struct str word)
{
	return word.n >= ID_LEAST && word.n <= ID_HEX && ascii_is_hex(word);
}

/* No expression begins with a '/' or a '.', and no field is called as an ID. */
bool traces_is_name(struct arena *a, struct str word)
{
	return is_file(a, word) || str_ends(word, STR(".gz")) ||
	       str_ends(word, STR(".jsonl")) || str_starts(word, STR("/")) ||
	       str_starts(word, STR(".")) || traces_is_id(word);
}

int traces_find(struct arena *a, const char *state, struct str what,
		trace_paths *out, struct err *err)
{
	const char *dir = arena_fmt(a, "%s/trace", state).p;
	struct str id = {0};
	parts all = {0};
	int rc;

	if (what.n && (is_file(a, what) || !traces_is_id(what))) {
		*vec_push(a, out) = arena_cstr(a, what);
		return 0;
	}
	list_parts(a, dir, &all);
	rc = what.n ? choose_id(&all, what, &id, err)
		    : choose_newest(a, state, &all, &id, err);
	if (rc < 0)
		return rc;
	vec_sort(&all, by_part);
	out->found = true;
	vec_each(p, &all) {
		if (!str_eq(p->id, id))
			continue;
		*vec_push(a, out) =
			p->number ? arena_fmt(a, "%s/%.*s.%llu" SUFFIX, dir,
					      STR_ARG(id),
					      (unsigned long long)p->number)
					    .p
				  : arena_fmt(a, "%s/%.*s" SUFFIX, dir,
					      STR_ARG(id))
					    .p;
	}
	return 0;
}

static bool part_of(const char *path, struct part *out)
{
	struct str name = str_of(path);

	name = str_slice(name, name.n ? str_parent(name).n : 0, name.n);
	if (str_starts(name, STR("/")))
		name = str_slice(name, 1, name.n);
	return parse_name(name, out);
}

struct str traces_session(const trace_paths *paths)
{
	struct part p;

	return paths->n && part_of(paths->v[0], &p) ? p.id : STR("");
}

void traces_tell_missing(const trace_paths *paths)
{
	struct part last;
	uint64_t missing;

	/* A file that was named is what is wanted, and all of it. */
	if (paths->n < 1 || !paths->found ||
	    !part_of(paths->v[paths->n - 1], &last))
		return;
	missing = last.number + 1 - paths->n;
	if (missing)
		console_error(
			"the first %llu of %llu files of this trace are gone: 'trace: {rotate: …}' says how much is kept",
			(unsigned long long)missing,
			(unsigned long long)last.number + 1);
}

/* --- reading -------------------------------------------------------------- */

static void tell_bad(const char *path, const struct reader_counts *c)
{
	if (c->bad)
		console_error(
			"%s: %llu line%s no record, the first is line %llu",
			path, (unsigned long long)c->bad,
			c->bad == 1 ? " is" : "s are",
			(unsigned long long)c->first_bad);
	if (c->cut)
		console_error("%s: the last record is cut off", path);
}

static int judge_counts(const struct reader_counts *c, struct err *err)
{
	if (c->records == 0 && (c->bad || c->damaged))
		return err_set(
			err, -EPROTO,
			"no trace: records are JSON, each on a line of its own, plain or gzip");
	if (c->damaged)
		return err_set(
			err, -EBADMSG,
			"damaged in %llu place%s: what was there is missing",
			(unsigned long long)c->damaged,
			c->damaged == 1 ? "" : "s");
	return 0;
}

/* 1: the visitor wants no more. */
static int read_trace(const char *path, trace_visit *visit, void *ctx,
		      struct err *err)
{
	const struct trace_event *e;
	struct reader *r;
	int rc = reader_open(path, &r, err);

	if (rc < 0)
		return rc;
	while ((rc = reader_next(r, &e, err)) > 0) {
		rc = visit(ctx, e);
		if (rc)
			break;
	}
	if (rc == 0)
		rc = judge_counts(reader_counts(r), err);
	if (rc != -EPROTO)
		tell_bad(path, reader_counts(r));
	if (rc < 0)
		err_while(err, "reading %s", path);
	reader_close(r);
	return rc;
}

/* One that cannot be read keeps nobody from the others. */
int traces_read(const trace_paths *paths, trace_visit *visit, void *ctx,
		struct err *err)
{
	int worst = 0;

	vec_each(path, paths) {
		struct err one;
		int rc = read_trace(*path, visit, ctx, &one);

		if (rc > 0)
			break;
		if (rc < 0 && worst == 0) {
			worst = rc;
			*err = one;
		}
	}
	return worst;
}
