#include "compiler/plan/mountsplan.h"

#include "compiler/base/limits.h"
#include "compiler/plan/mounts_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum section {
	SECTION_IGNORE,
	SECTION_READONLY,
	SECTION_HOLD,
	SECTION_FAST,
	SECTION_PROTECT,
};

struct reader {
	struct arena *a;
	struct mountsplan plan;
	enum section section;
	uint32_t line;
	struct err *err;
};

static int plan_fault(const struct reader *r, const char *what)
{
	return err_set(r->err, -EPROTO, "mounts.plan, line %u: %s", r->line,
		       what);
}

static bool is_clean_path(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((uint8_t)s.p[i] < 0x20 || s.p[i] == 0x7f)
			return false;
	return s.n < LIMIT_PATH_BYTES;
}

/* Segments that are there, none of them '.' or '..'. */
static bool is_path(struct str s)
{
	size_t beg = 0;

	while (beg <= s.n) {
		size_t end = str_find(s, '/', beg);
		struct str seg = str_slice(s, beg, end);

		if (seg.n == 0 || str_is(seg, ".") || str_is(seg, ".."))
			return false;
		beg = end + 1;
	}
	return is_clean_path(s);
}

static int read_pattern(struct reader *r, struct gitignore *g, struct str text)
{
	enum gitignore_fault f;

	if (gitignore_count(r->plan.ignore) +
		    gitignore_count(r->plan.readonly) +
		    gitignore_count(r->plan.protect) >=
	    LIMIT_PATTERNS)
		return err_set(r->err, -E2BIG,
			       "mounts.plan: more than %u patterns",
			       LIMIT_PATTERNS);
	f = gitignore_add(g, text, NULL);
	return f == GITIGNORE_OK ? 0 : plan_fault(r, gitignore_fault_text(f));
}

static int read_hold(struct reader *r, struct str path)
{
	bool is_dir = str_ends(path, STR("/"));

	path.n -= is_dir;
	if (!is_path(path))
		return plan_fault(r, "not a path below the workspace");
	if (r->plan.holds.n >= LIMIT_PATTERNS)
		return err_set(r->err, -E2BIG,
			       "mounts.plan: more than %u holds",
			       LIMIT_PATTERNS);
	*vec_push(r->a, &r->plan.holds) =
		(struct mountsplan_hold){path, is_dir};
	return 0;
}

static int read_fast(struct reader *r, struct str path)
{
	if (!is_path(path))
		return plan_fault(r, "not a path below the workspace");
	if (r->plan.fast.n >= LIMIT_FAST)
		return err_set(r->err, -E2BIG,
			       "mounts.plan: more than %u fast folders",
			       LIMIT_FAST);
	*vec_push(r->a, &r->plan.fast) = path;
	return 0;
}

static bool is_program(struct str s)
{
	return s.n > 0 && str_find(s, '/', 0) == s.n && is_clean_path(s);
}

static int read_protect(struct reader *r, struct str line)
{
	struct str by;

	if (!str_field(&line, ' ', &by) || !is_program(by) ||
	    !str_starts(line, STR("/")))
		return plan_fault(r, "expected 'protect NAME /PATTERN'");
	*vec_push(r->a, &r->plan.by) = by;
	return read_pattern(r, r->plan.protect, line);
}

static int read_record(struct reader *r, struct str line)
{
	static const char *const words[] = {
		MOUNTS_PLAN_IGNORE, MOUNTS_PLAN_READONLY, MOUNTS_PLAN_HOLD,
		MOUNTS_PLAN_FAST, MOUNTS_PLAN_PROTECT};
	struct str word = STR("");
	size_t s = 0;

	str_field(&line, ' ', &word); /* not from an empty line */
	while (s < ARRAY_LEN(words) && !str_is(word, words[s]))
		s++;
	if (s == ARRAY_LEN(words))
		return plan_fault(r, "unknown record");
	if (s < r->section)
		return plan_fault(r, "record out of order");
	r->section = (enum section)s;
	switch (r->section) {
	case SECTION_IGNORE:
		return read_pattern(r, r->plan.ignore, line);
	case SECTION_READONLY:
		return read_pattern(r, r->plan.readonly, line);
	case SECTION_HOLD:
		return read_hold(r, line);
	case SECTION_FAST:
		return read_fast(r, line);
	case SECTION_PROTECT:
		return read_protect(r, line);
	}
	abort();
}

static int read_head(struct reader *r, struct str *rest)
{
	struct str line;

	r->line = 1;
	if (!str_line(rest, &line) || !str_is(line, MOUNTS_PLAN_HEAD))
		return plan_fault(r, "expected '" MOUNTS_PLAN_HEAD "'");
	r->line = 2;
	if (!str_line(rest, &line) ||
	    !str_starts(line, STR(MOUNTS_PLAN_WORKSPACE " /")))
		return plan_fault(r,
				  "expected '" MOUNTS_PLAN_WORKSPACE " /PATH'");
	r->plan.target =
		str_slice(line, strlen(MOUNTS_PLAN_WORKSPACE " "), line.n);
	if (!is_path(str_slice(r->plan.target, 1, r->plan.target.n)))
		return plan_fault(r,
				  "expected '" MOUNTS_PLAN_WORKSPACE " /PATH'");
	return 0;
}

int mountsplan_read(struct arena *a, struct str text, struct mountsplan *out,
		    struct err *err)
{
	struct reader r = {.a = a, .err = err};
	struct str line;
	int rc;

	r.plan.ignore = gitignore_new(a);
	r.plan.readonly = gitignore_new(a);
	r.plan.protect = gitignore_new(a);
	if (!str_ends(text, STR("\n")))
		return err_set(err, -EPROTO,
			       "mounts.plan: empty, or cut in its last line");
	rc = read_head(&r, &text);
	while (rc == 0 && str_line(&text, &line)) {
		r.line++;
		rc = read_record(&r, line);
	}
	if (rc == 0)
		*out = r.plan;
	return rc;
}
