#include "runtime/view/aside/outside.h"

#include "compiler/base/buf.h"
#include "compiler/base/hash.h"
#include "compiler/base/limits.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/plan/docker_json.h"
#include "runtime/view/aside/aside.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

/* git skips a longer line of attributes. */
#define ATTRIBUTES_LINE_MAX 2048u
#define FILTER		    " filter=" DOCKER_JSON_GIT_FILTER "\n"

/* --- names ---------------------------------------------------------------- */

static struct copy *make_at(struct view *v, struct str path)
{
	char at[sizeof(VIEW_HELLO_BESIDE) + LIMIT_PATH_BYTES];

	snprintf(at, sizeof(at), VIEW_HELLO_BESIDE "/%.*s", STR_ARG(path));
	return copies_make(&v->copies, at);
}

static bool fill_entry(struct view *v, struct copy *c, enum copy_kind kind,
		       const struct statx *x, struct str text)
{
	struct copy_data *d = c ? copies_data(&v->copies, -1) : NULL;

	if (!d)
		return false;
	d->husk = malloc(sizeof(*d->husk));
	if (!d->husk || !copies_set(&v->copies, c, kind, d))
		return false;
	*d->husk = *x;
	if (text.n)
		c->text = strndup(text.p, text.n);
	return text.n == 0 || c->text;
}

static bool put_entry(struct view *v, struct str path, enum copy_kind kind,
		      const struct statx *x, struct str text)
{
	struct copy *c = make_at(v, path);

	if (!fill_entry(v, c, kind, x, text))
		return false;
	c->given = true;
	return true;
}

static bool put_folder(struct view *v, const struct hello *h, struct str dir)
{
	struct statx x = {.stx_mode = S_IFDIR | 0755,
			  .stx_nlink = 2,
			  /* any number that another folder does not have */
			  .stx_ino =
				  hash64_bytes(HASH64_SEED, dir.p, dir.n) | 1,
			  .stx_uid = h->uid,
			  .stx_gid = h->gid,
			  .stx_dev_major = major(h->dev),
			  .stx_dev_minor = minor(h->dev)};

	return put_entry(v, dir, COPY_FOLDER, &x, STR(""));
}

/* Those above a path that are not there yet, the first one first. */
static bool put_above(struct view *v, const struct hello *h, struct str path)
{
	for (size_t end = str_find(path, '/', 0); end < path.n;
	     end = str_find(path, '/', end + 1)) {
		struct str dir = str_slice(path, 0, end);
		const struct copy *c = make_at(v, dir);

		if (!c || (c->kind == COPY_NONE && !put_folder(v, h, dir)))
			return false;
	}
	return true;
}

static mode_t mode_of(enum view_outside kind)
{
	switch (kind) {
	case VIEW_OUTSIDE_FILE:
		return S_IFREG | 0444;
	case VIEW_OUTSIDE_PROGRAM:
		return S_IFREG | 0555;
	case VIEW_OUTSIDE_LINK:
		return S_IFLNK | 0777;
	case VIEW_OUTSIDE_FOLDER:
		break;
	}
	return S_IFDIR | 0755;
}

static struct statx_timestamp time_of(uint64_t s, uint64_t ns)
{
	return (struct statx_timestamp){.tv_sec = (int64_t)s,
					.tv_nsec = (uint32_t)ns};
}

/* As statx(2) would say it. */
static struct statx statx_of(const struct hello *h, const struct hello_index *o)
{
	const uint64_t *n = o->numbers;

	return (struct statx){
		.stx_mode = (uint16_t)mode_of(o->kind),
		.stx_nlink = 1,
		/* Nobody lists a file without a number. */
		.stx_ino = n[VIEW_OUTSIDE_INO] ? n[VIEW_OUTSIDE_INO] : 1,
		.stx_uid = (uint32_t)n[VIEW_OUTSIDE_UID],
		.stx_gid = (uint32_t)n[VIEW_OUTSIDE_GID],
		.stx_size = n[VIEW_OUTSIDE_SIZE],
		.stx_mtime = time_of(n[VIEW_OUTSIDE_MTIME],
				     n[VIEW_OUTSIDE_MTIME_NS]),
		.stx_ctime = time_of(n[VIEW_OUTSIDE_CTIME],
				     n[VIEW_OUTSIDE_CTIME_NS]),
		.stx_dev_major = major(h->dev),
		.stx_dev_minor = minor(h->dev)};
}

static bool put_file(struct view *v, const struct hello *h,
		     const struct hello_index *o)
{
	struct statx x = statx_of(h, o);

	return put_entry(v, o->path, COPY_HUSK, &x, o->text);
}

static bool put_outside(struct view *v, const struct hello *h,
			const struct hello_index *o)
{
	if (!put_above(v, h, o->path))
		return false;
	return o->kind == VIEW_OUTSIDE_FOLDER ? put_folder(v, h, o->path)
					      : put_file(v, h, o);
}

static bool know_beside(struct view *v, struct arena *a, const struct hello *h)
{
	/* the workspace is mounted on the last of them */
	if (!put_above(v, h, arena_fmt(a, "%.*s/", STR_ARG(h->part))))
		return false;
	vec_each(o, &h->outside)
		if (!put_outside(v, h, o))
			return false;
	return true;
}

bool outside_know(struct view *v, struct arena *a, const struct hello *h)
{
	copies_open(&v->copies);
	vec_each(o, &h->tracked) {
		struct copy *c =
			copies_make(&v->copies, arena_cstr(a, o->path));
		struct statx x = statx_of(h, o);

		if (!fill_entry(v, c, COPY_TRACKED, &x, o->text))
			return false;
	}
	return h->part.n == 0 || know_beside(v, a, h);
}

/* --- lists of git's ------------------------------------------------------- */

/* As it stands for itself in a pattern. */
static struct str quoted_glob(struct arena *a, struct str path)
{
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < path.n; i++) {
		if (strchr("\\*?[", path.p[i]))
			buf_addc(&b, '\\');
		buf_addc(&b, path.p[i]);
	}
	return buf_str(&b);
}

/* In quotes of git's: the pattern as it is, whatever its bytes. */
static void put_quoted(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		uint8_t c = (uint8_t)text.p[i];

		if (c < 0x20 || c == 0x7f)
			buf_addf(out, "\\%03o", c);
		else if (c == '"' || c == '\\')
			buf_addf(out, "\\%c", c);
		else
			buf_addc(out, (char)c);
	}
}

/* What has this name beside the workspace, and all below it. */
static void put_filter(struct arena *a, struct buf *out, struct str path)
{
	static const char *const ends[] = {"", "/**"};
	struct str glob = quoted_glob(a, path);

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		struct buf line;

		buf_init(&line, a);
		buf_adds(&line, "\"/");
		put_quoted(&line, glob);
		buf_addf(&line, "%s\"" FILTER, ends[i]);
		if (line.n < ATTRIBUTES_LINE_MAX)
			buf_add(out, buf_str(&line));
		else
			buf_adds(out, "\"**\"" FILTER);
	}
}

/* The name at which a path leaves the way to the workspace: "a/x" of "a/x/y",
 * where the workspace is "a/b". */
static struct str branch_of(struct str path, struct str part)
{
	size_t end = 0, next = str_find(path, '/', 0);

	while (next < path.n && next < part.n && part.p[next] == '/' &&
	       memcmp(path.p, part.p, next) == 0) {
		end = next + 1;
		next = str_find(path, '/', end);
	}
	return str_slice(path, 0, next);
}

/*
 * A line of the plan's is in quotes, and begins with a slash or with two stars:
 * it speaks of the workspace, whose folder goes before that.
 */
static void put_moved(struct buf *out, struct str part, struct str line)
{
	size_t at = out->n;

	if (!str_starts(line, STR("\""))) {
		buf_addf(out, "%.*s\n", STR_ARG(line));
		return;
	}
	line = str_slice(line, 1, line.n);
	buf_adds(out, "\"/");
	put_quoted(out, part);
	buf_addf(out, "%s%.*s\n", str_starts(line, STR("/")) ? "" : "/",
		 STR_ARG(line));
	if (out->n - at < ATTRIBUTES_LINE_MAX)
		return;
	buf_cut(out, at);
	buf_adds(out, "\"**\"" FILTER);
}

struct str outside_attributes(struct arena *a, const struct hello *h,
			      struct str attributes)
{
	struct str part = quoted_glob(a, h->part), last = STR(""), line;
	struct buf out;

	buf_init(&out, a);
	while (str_line(&attributes, &line))
		put_moved(&out, part, line);
	vec_each(o, &h->outside) {
		struct str branch = branch_of(o->path, h->part);

		if (!str_eq(branch, last))
			put_filter(a, &out, branch);
		last = branch;
	}
	return buf_str(&out);
}

static bool is_anchored(struct str line)
{
	return str_find(str_unslashed(line), '/', 0) < str_unslashed(line).n;
}

struct str outside_exclude(struct arena *a, struct str part, struct str exclude)
{
	struct str glob = quoted_glob(a, part), line;
	struct buf out;

	buf_init(&out, a);
	while (str_line(&exclude, &line)) {
		bool back = str_starts(line, STR("!"));
		struct str text = back ? str_slice(line, 1, line.n) : line;

		if (str_starts(line, STR("#")) || !is_anchored(text)) {
			buf_addf(&out, "%.*s\n", STR_ARG(line));
			continue;
		}
		if (str_starts(text, STR("/")))
			text = str_slice(text, 1, text.n);
		buf_addf(&out, "%s/%.*s/%.*s\n", back ? "!" : "", STR_ARG(glob),
			 STR_ARG(text));
	}
	return buf_str(&out);
}

/* --- what git reads ------------------------------------------------------- */

static int put_list(struct view *v, struct arena *a, const char *name,
		    struct str lines, struct err *err)
{
	struct str host = STR("");
	int rc = fileio_read_inside(a, v->beside, str_of(name),
				    VIEW_HELLO_CONFIG_MAX, &host, err);

	if (rc < 0 && rc != -ENOENT)
		return err_while(err, "git's lists");
	host = arena_fmt(a, "%.*s\n%.*s", STR_ARG(host), STR_ARG(lines));
	return aside_seed(v, arena_fmt(a, VIEW_HELLO_BESIDE "/%s", name).p,
			  host, false)
		       ? 0
		       : err_set(err, -EINVAL,
				 "git's lists cannot be kept aside");
}

int outside_read(struct view *v, struct arena *a, const struct hello *h,
		 struct str attributes, struct str exclude, struct err *err)
{
	int rc = put_list(v, a, VIEW_HELLO_ATTRIBUTES,
			  outside_attributes(a, h, attributes), err);

	if (rc == 0)
		rc = put_list(v, a, VIEW_HELLO_EXCLUDE,
			      outside_exclude(a, h->part, exclude), err);
	vec_each(t, &h->texts) {
		struct str path = arena_fmt(a, VIEW_HELLO_BESIDE "/%.*s",
					    STR_ARG(t->path));

		if (rc == 0 && !aside_seed(v, path.p, t->text, false))
			rc = err_set(err, -EINVAL, "%s cannot be kept aside",
				     path.p);
	}
	return rc;
}
