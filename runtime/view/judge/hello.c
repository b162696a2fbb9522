#include "runtime/view/judge/hello.h"

#include "compiler/base/limits.h"
#include "compiler/plan/view_hello.h"

#include <errno.h>

/* In the order in which they come; those that may come often stay. */
enum part {
	PART_HEAD,
	PART_OWNER,
	PART_ROOT,
	PART_AT,
	PART_PROGRAM,
	PART_READONLY,
	PART_SHOWN,
	PART_PART,
	PART_MODULE,
	PART_LINKED,
	PART_FILTERED,
	PART_HOLD,
	PART_HIDE,
	PART_INODE,
	PART_TRACKED,
	PART_OUTSIDE,
	PART_TEXT,
	PART_GO,
	PARTS,
};

static const char *const words[PARTS] = {
	"membrane-view",    VIEW_HELLO_OWNER,	 VIEW_HELLO_ROOT,
	VIEW_HELLO_AT,	    VIEW_HELLO_PROGRAM,	 VIEW_HELLO_READONLY,
	VIEW_HELLO_SHOWN,   VIEW_HELLO_PART,	 VIEW_HELLO_MODULE,
	VIEW_HELLO_LINKED,  VIEW_HELLO_FILTERED, VIEW_HELLO_HOLD,
	VIEW_HELLO_HIDE,    VIEW_HELLO_INODE,	 VIEW_HELLO_TRACKED,
	VIEW_HELLO_OUTSIDE, VIEW_HELLO_TEXT,	 VIEW_HELLO_GO,
};

struct reader {
	struct arena *a;
	struct hello *out;
	bool seen[PARTS];
	enum part last;
	uint32_t line;
	struct err *err;
};

static int line_fault(const struct reader *r, const char *what)
{
	return err_set(r->err, -EPROTO, "the launcher's line %u: %s", r->line,
		       what);
}

static bool read_numbers(struct str line, const uint64_t *max, uint64_t *out,
			 size_t n)
{
	struct str word;

	for (size_t i = 0; i < n; i++)
		if (!str_field(&line, ' ', &word) ||
		    !str_u64(word, max[i], &out[i]))
			return false;
	return line.n == 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* False: a byte that had to be written otherwise. */
static bool decode_text(struct arena *a, struct str text, struct str *out)
{
	char *p = arena_alloc(a, text.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++) {
		uint8_t c = (uint8_t)text.p[i];
		int high, low;

		if (c <= 0x20 || c == 0x7f)
			return false;
		if (c == '%') {
			high = i + 2 < text.n ? hex_digit(text.p[i + 1]) : -1;
			low = i + 2 < text.n ? hex_digit(text.p[i + 2]) : -1;
			if (high < 0 || low < 0 || (high == 0 && low == 0))
				return false;
			c = (uint8_t)(high << 4 | low);
			i += 2;
		}
		p[n++] = (char)c;
	}
	*out = (struct str){p, n};
	return true;
}

/* False: that, or too long. */
static bool decode_path(struct arena *a, struct str text, struct str *out)
{
	return decode_text(a, text, out) && out->n < LIMIT_PATH_BYTES;
}

/* Segments that are there, none of them '.' or '..'. */
static bool is_relative(struct str s)
{
	for (size_t beg = 0, end; beg <= s.n; beg = end + 1) {
		struct str seg;

		end = str_find(s, '/', beg);
		seg = str_slice(s, beg, end);
		if (seg.n == 0 || str_is(seg, ".") || str_is(seg, ".."))
			return false;
	}
	return true;
}

static int read_owner(struct reader *r, struct str line)
{
	/* (uid_t)-1 is nobody's: "do not change" in most calls. */
	static const uint64_t max[2] = {UINT32_MAX - 1, UINT32_MAX - 1};
	uint64_t v[2];

	if (!read_numbers(line, max, v, 2))
		return line_fault(r, "expected 'owner UID GID'");
	r->out->uid = (uid_t)v[0];
	r->out->gid = (gid_t)v[1];
	return 0;
}

static int read_root(struct reader *r, struct str line)
{
	static const uint64_t max[2] = {UINT64_MAX, UINT64_MAX};
	uint64_t v[2];

	if (!read_numbers(line, max, v, 2))
		return line_fault(r, "expected 'root DEV INO'");
	r->out->dev = v[0];
	r->out->ino = v[1];
	return 0;
}

static int read_shown(struct reader *r, struct str line)
{
	static const uint64_t max[2] = {UINT64_MAX, UINT64_MAX};
	uint64_t v[2];

	if (!read_numbers(line, max, v, 2))
		return line_fault(r, "expected 'repository DEV INO'");
	r->out->has_repository = true;
	r->out->repository_dev = v[0];
	r->out->repository_ino = v[1];
	return 0;
}

/* Anchored: those without a slash are for names, wherever they are. */
static int read_linked(struct reader *r, struct str line)
{
	struct str pattern;

	if (!r->out->linked)
		r->out->linked = gitignore_new(r->a);
	if (gitignore_count(r->out->linked) >= VIEW_HELLO_LINKED_MAX)
		return err_set(r->err, -E2BIG,
			       "the launcher says more than %u linked patterns",
			       VIEW_HELLO_LINKED_MAX);
	if (!decode_path(r->a, line, &pattern) ||
	    gitignore_add(r->out->linked, pattern, NULL) != GITIGNORE_OK ||
	    !gitignore_shape(r->out->linked,
			     gitignore_count(r->out->linked) - 1)
		     .anchored)
		return line_fault(r, "not an anchored pattern");
	return 0;
}

static int read_at(struct reader *r, struct str line)
{
	struct str path;

	if (!decode_path(r->a, line, &path) || path.n < 2 || path.p[0] != '/' ||
	    !is_relative(str_slice(path, 1, path.n)))
		return line_fault(r, "not an absolute path");
	r->out->at = path;
	return 0;
}

static int read_module(struct reader *r, struct str line)
{
	if (!decode_path(r->a, line, &r->out->module) || !r->out->module.n)
		return line_fault(r, "nothing for its configuration");
	return 0;
}

static int read_program(struct reader *r, struct str line)
{
	if (!decode_path(r->a, line, &r->out->program) ||
	    !is_relative(r->out->program) ||
	    str_find(r->out->program, '/', 0) < r->out->program.n)
		return line_fault(r, "not the name of a program");
	return 0;
}

static int read_path(struct reader *r, struct str line, judge_paths *to)
{
	struct str path;

	if (r->out->holds.n + r->out->hides.n >= VIEW_HELLO_PATHS_MAX)
		return err_set(r->err, -E2BIG,
			       "the launcher says more than %u paths",
			       VIEW_HELLO_PATHS_MAX);
	if (!decode_path(r->a, line, &path) || !is_relative(path))
		return line_fault(r, "not a path below the workspace");
	*vec_push(r->a, to) = path;
	return 0;
}

static int read_inode(struct reader *r, struct str line)
{
	static const uint64_t max[4] = {UINT64_MAX, UINT64_MAX, INT64_MAX,
					999999999};
	uint64_t v[4];

	if (r->out->inodes.n >= VIEW_HELLO_INODES_MAX)
		return err_set(r->err, -E2BIG,
			       "the launcher says more than %u inodes",
			       VIEW_HELLO_INODES_MAX);
	if (!read_numbers(line, max, v, 4))
		return line_fault(r, "expected 'inode DEV INO SEC NSEC'");
	*vec_push(r->a, &r->out->inodes) =
		(struct hidden_file){.dev = v[0],
				     .ino = v[1],
				     .born_s = (int64_t)v[2],
				     .born_ns = (uint32_t)v[3]};
	return 0;
}

static int read_part(struct reader *r, struct str line)
{
	if (!decode_path(r->a, line, &r->out->part) ||
	    !is_relative(r->out->part))
		return line_fault(r, "not a path below the repository");
	return 0;
}

static bool read_kind(struct str word, enum view_outside *out)
{
	static const char *const kinds[] = VIEW_OUTSIDE_KINDS;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (str_is(word, kinds[i])) {
			*out = (enum view_outside)i;
			return true;
		}
	return false;
}

/* Not in the workspace, and not what leads to it: that is a folder. */
static bool is_outside(struct str path, struct str part)
{
	struct str shorter = path.n < part.n ? path : part,
		   longer = path.n < part.n ? part : path;

	return is_relative(path) && !str_starts(path, STR(".git/")) &&
	       !str_is(path, ".git") &&
	       !(str_starts(longer, shorter) &&
		 (longer.n == shorter.n || longer.p[shorter.n] == '/'));
}

/* KIND, PATH, numbers and TEXT. */
static int read_index(struct reader *r, struct str line,
		      struct hello_index *out)
{
	struct hello_index o = {0};
	struct str kind, path, word;

	if (!str_field(&line, ' ', &kind) || !read_kind(kind, &o.kind) ||
	    !str_field(&line, ' ', &path) || !decode_path(r->a, path, &o.path))
		return line_fault(r, "expected 'KIND PATH …'");
	for (size_t i = 0; i < VIEW_OUTSIDE_NUMBERS; i++)
		if (!str_field(&line, ' ', &word) ||
		    !str_u64(word, UINT32_MAX, &o.numbers[i]))
			return line_fault(r, "eight numbers are expected");
	if (!decode_path(r->a, line, &o.text))
		return line_fault(r, "no text of a link");
	*out = o;
	return 0;
}

static int read_tracked(struct reader *r, struct str line)
{
	struct hello_index o;
	int rc;

	if (r->out->tracked.n >= VIEW_HELLO_TRACKED_MAX)
		return err_set(r->err, -E2BIG,
			       "the launcher says more than %u tracked files",
			       VIEW_HELLO_TRACKED_MAX);
	rc = read_index(r, line, &o);
	if (rc < 0)
		return rc;
	if (o.kind == VIEW_OUTSIDE_FOLDER || !is_relative(o.path))
		return line_fault(r, "expected 'tracked KIND PATH …'");
	*vec_push(r->a, &r->out->tracked) = o;
	return 0;
}

static int read_outside(struct reader *r, struct str line)
{
	struct hello_index o;
	int rc;

	if (r->out->outside.n >= VIEW_HELLO_OUTSIDE_MAX)
		return err_set(r->err, -E2BIG,
			       "the launcher says more than %u files beside "
			       "the workspace",
			       VIEW_HELLO_OUTSIDE_MAX);
	rc = read_index(r, line, &o);
	if (rc < 0)
		return rc;
	if (!is_outside(o.path, r->out->part))
		return line_fault(r, "expected 'outside KIND PATH …'");
	*vec_push(r->a, &r->out->outside) = o;
	return 0;
}

static int read_text(struct reader *r, struct str line)
{
	struct hello_text t;
	struct str path;

	if (r->out->texts.n >= VIEW_HELLO_TEXTS_MAX)
		return err_set(r->err, -E2BIG,
			       "the launcher says more than %u texts",
			       VIEW_HELLO_TEXTS_MAX);
	if (!str_field(&line, ' ', &path) ||
	    !decode_path(r->a, path, &t.path) ||
	    !is_outside(t.path, r->out->part) ||
	    !decode_text(r->a, line, &t.text))
		return line_fault(r, "expected 'text PATH TEXT'");
	*vec_push(r->a, &r->out->texts) = t;
	return 0;
}

static bool is_in_order(const struct reader *r, enum part p)
{
	if (p < r->last || (p > PART_HEAD && !r->seen[PART_HEAD]))
		return false;
	if ((p > PART_OWNER && !r->seen[PART_OWNER]) ||
	    (p > PART_ROOT && !r->seen[PART_ROOT]))
		return false;
	if ((p == PART_LINKED || p == PART_MODULE || p == PART_PART) &&
	    !r->seen[PART_SHOWN])
		return false;
	if ((p == PART_OUTSIDE || p == PART_TEXT) && !r->seen[PART_PART])
		return false;
	return !r->seen[p] || p == PART_LINKED || p == PART_HOLD ||
	       p == PART_HIDE || p == PART_INODE || p == PART_TRACKED ||
	       p == PART_OUTSIDE || p == PART_TEXT;
}

static int read_line(struct reader *r, struct str line)
{
	struct str word = STR(""), all = line;
	enum part p = PART_HEAD;

	str_field(&line, ' ', &word);
	while (p < PARTS && !str_is(word, words[p]))
		p++;
	if (p == PARTS || !is_in_order(r, p))
		return line_fault(r, "unknown, or out of order");
	r->seen[p] = true;
	r->last = p;
	switch (p) {
	case PART_HEAD:
		return str_is(all, VIEW_HELLO_HEAD)
			       ? 0
			       : line_fault(r, "unknown version");
	case PART_OWNER:
		return read_owner(r, line);
	case PART_ROOT:
		return read_root(r, line);
	case PART_AT:
		return read_at(r, line);
	case PART_MODULE:
		return read_module(r, line);
	case PART_PROGRAM:
		return read_program(r, line);
	case PART_SHOWN:
		return read_shown(r, line);
	case PART_PART:
		return read_part(r, line);
	case PART_LINKED:
		return read_linked(r, line);
	case PART_HOLD:
		return read_path(r, line, &r->out->holds);
	case PART_HIDE:
		return read_path(r, line, &r->out->hides);
	case PART_INODE:
		return read_inode(r, line);
	case PART_TRACKED:
		return read_tracked(r, line);
	case PART_OUTSIDE:
		return read_outside(r, line);
	case PART_TEXT:
		return read_text(r, line);
	case PART_READONLY:
	case PART_FILTERED:
	case PART_GO:
		r->out->readonly |= p == PART_READONLY;
		r->out->filtered |= p == PART_FILTERED;
		return str_is(all, words[p])
			       ? 0
			       : line_fault(r, "more than a word");
	case PARTS:
		break;
	}
	return line_fault(r, "unknown");
}

int hello_read(struct arena *a, struct str text, struct hello *out,
	       size_t *out_used, struct err *err)
{
	struct hello h = {0};
	struct reader r = {.a = a, .out = &h, .err = err};
	struct str rest = text, line;
	int rc = 0;

	while (rc == 0 && !r.seen[PART_GO]) {
		if (str_find(rest, '\n', 0) == rest.n) {
			if (text.n > VIEW_HELLO_BYTES_MAX)
				return err_set(err, -E2BIG,
					       "the launcher says too much");
			*out_used = 0;
			return 0;
		}
		str_line(&rest, &line);
		r.line++;
		rc = read_line(&r, line);
	}
	if (rc < 0)
		return rc;
	*out = h;
	*out_used = text.n - rest.n;
	return 0;
}
