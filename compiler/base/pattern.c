#include "compiler/base/pattern.h"

#include "compiler/base/hash.h"

#include <stdlib.h>

size_t pattern_base(struct str path)
{
	for (size_t i = path.n; i > 0; i--)
		if (path.p[i - 1] == '/')
			return i;
	return 0;
}

struct str pattern_extension(struct str base)
{
	for (size_t i = base.n; i > 0; i--)
		if (base.p[i - 1] == '.')
			return str_slice(base, i - 1, base.n);
	return (struct str){base.p, 0};
}

/* --- reading -------------------------------------------------------------- */

static void set_put(struct pattern_set *s, uint8_t c)
{
	s->bits[c >> 6] |= 1ull << (c & 63);
}

static bool set_has(const struct pattern_set *s, uint8_t c)
{
	return s->bits[c >> 6] >> (c & 63) & 1;
}

static void set_range(struct pattern_set *s, uint8_t lo, uint8_t hi)
{
	for (unsigned c = lo; c <= hi; c++)
		set_put(s, (uint8_t)c);
}

/* The classes of POSIX in the C locale: ASCII only, whatever the locale. */
static bool set_class(struct pattern_set *s, struct str name)
{
	static const struct {
		const char *name;
		uint8_t ranges[10]; /* pairs, closed by 0 0 */
	} classes[] = {
		{"alnum", {'0', '9', 'A', 'Z', 'a', 'z'}},
		{"alpha", {'A', 'Z', 'a', 'z'}},
		{"blank", {'\t', '\t', ' ', ' '}},
		{"cntrl", {1, 31, 127, 127}},
		{"digit", {'0', '9'}},
		{"graph", {'!', '~'}},
		{"lower", {'a', 'z'}},
		{"print", {' ', '~'}},
		{"punct", {'!', '/', ':', '@', '[', '`', '{', '~'}},
		{"space", {'\t', '\r', ' ', ' '}},
		{"upper", {'A', 'Z'}},
		{"xdigit", {'0', '9', 'A', 'F', 'a', 'f'}},
	};

	for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
		const uint8_t *r = classes[i].ranges;

		if (!str_is(name, classes[i].name))
			continue;
		for (; r[1]; r += 2)
			set_range(s, r[0], r[1]);
		return true;
	}
	return false;
}

/* "[:name:]" at p[at]: its length, 0 when it is none, -1 when unknown. */
static int class_at(struct str p, size_t at, struct pattern_set *s)
{
	size_t end;

	if (at + 1 >= p.n || p.p[at + 1] != ':')
		return 0;
	end = str_find(p, ']', at + 2);
	if (end == p.n)
		return -1;
	if (end - (at + 2) < 1 || p.p[end - 1] != ':')
		return 0;
	if (!set_class(s, str_slice(p, at + 2, end - 1)))
		return -1;
	return (int)(end - at + 1);
}

/*
 * The set that starts with the '[' at p[at]. Returns the offset behind its
 * ']', or 0. As in git, a ']' that comes first is a member, and so is a '-'
 * at either end or behind a range.
 */
static size_t read_set(struct str p, size_t at, struct pattern_set *out)
{
	struct pattern_set s = {0};
	size_t i = at + 1;
	int prev = -1; /* what a '-' would start its range at */
	bool negated = i < p.n && (p.p[i] == '!' || p.p[i] == '^');

	if (negated)
		i++;
	for (bool first = true; i < p.n; first = false) {
		uint8_t c = (uint8_t)p.p[i];
		int len;

		if (c == ']' && !first) {
			for (int w = 0; negated && w < 4; w++)
				s.bits[w] = ~s.bits[w];
			s.bits['/' >> 6] &= ~(1ull << ('/' & 63));
			*out = s;
			return i + 1;
		}
		if (c == '-' && prev >= 0 && i + 1 < p.n && p.p[i + 1] != ']') {
			i++;
			if (p.p[i] == '\\' && ++i == p.n)
				return 0;
			set_range(&s, (uint8_t)prev, (uint8_t)p.p[i++]);
			prev = -1;
			continue;
		}
		len = c == '[' ? class_at(p, i, &s) : 0;
		if (len < 0)
			return 0;
		if (len > 0) {
			i += (size_t)len;
			prev = -1;
			continue;
		}
		if (c == '\\') {
			if (++i == p.n)
				return 0;
			c = (uint8_t)p.p[i];
		}
		set_put(&s, c);
		prev = c;
		i++;
	}
	return 0;
}

/*
 * The run of two or more stars at p[at], which spans whole segments when it
 * stands alone between slashes. Returns the offset behind what it used.
 */
static size_t read_stars(struct arena *a, struct pattern *pt, struct str p,
			 size_t at)
{
	bool starts = at == 0 || p.p[at - 1] == '/';
	size_t end = at;

	while (end < p.n && p.p[end] == '*')
		end++;
	if (end - at >= 2 && starts && end == p.n) {
		vec_push(a, &pt->tokens)->kind = GITIGNORE_REST;
		return end;
	}
	if (end - at >= 2 && starts && p.p[end] == '/') {
		vec_push(a, &pt->tokens)->kind = GITIGNORE_DIRS;
		return end + 1;
	}
	vec_push(a, &pt->tokens)->kind = GITIGNORE_STAR;
	/* An escaped slash ends the run as well, but then `**` needs at
	 * least one segment; so git has it. */
	if (end - at >= 2 && starts && end + 1 < p.n && p.p[end] == '\\' &&
	    p.p[end + 1] == '/') {
		*vec_push(a, &pt->tokens) = (struct pattern_token){
			.kind = GITIGNORE_BYTE, .byte = '/'};
		vec_push(a, &pt->tokens)->kind = GITIGNORE_DIRS;
		return end + 2;
	}
	return end;
}

static enum gitignore_fault read_tokens(struct arena *a, struct pattern *pt,
					struct str p, size_t *out_at)
{
	size_t i = 0;

	while (i < p.n) {
		uint8_t c = (uint8_t)p.p[i];

		*out_at = i;
		if (c == '*') {
			i = read_stars(a, pt, p, i);
		} else if (c == '?') {
			vec_push(a, &pt->tokens)->kind = GITIGNORE_ANY;
			i++;
		} else if (c == '[') {
			uint32_t n = pt->sets.n;

			i = read_set(p, i, vec_push(a, &pt->sets));
			if (i == 0)
				return GITIGNORE_CLASS;
			*vec_push(a, &pt->tokens) = (struct pattern_token){
				.kind = GITIGNORE_SET, .set = n};
		} else {
			if (c == '\\' && ++i == p.n)
				return GITIGNORE_ESCAPE;
			*vec_push(a, &pt->tokens) = (struct pattern_token){
				.kind = GITIGNORE_BYTE,
				.byte = (uint8_t)p.p[i++]};
		}
	}
	return GITIGNORE_OK;
}

/* Blanks at the end go, unless a backslash keeps them. */
static struct str trim_end(struct str s)
{
	size_t keep = 0;

	for (size_t i = 0; i < s.n; i++) {
		bool blank = s.p[i] == ' ';

		if (s.p[i] == '\\' && ++i == s.n)
			return s;
		if (!blank)
			keep = i + 1;
	}
	return str_slice(s, 0, keep);
}

static bool bad_segment(struct str p, size_t *out_at)
{
	size_t beg = 0;

	while (beg <= p.n) {
		size_t end = str_find(p, '/', beg);
		struct str seg = str_slice(p, beg, end);

		*out_at = beg;
		if (seg.n == 0 || str_is(seg, ".") || str_is(seg, ".."))
			return true;
		beg = end + 1;
	}
	return false;
}

/* The literal bytes in tokens beg..end, in the arena. */
static struct str literal_part(struct arena *a, const struct pattern *pt,
			       uint32_t beg, uint32_t end)
{
	char *p = arena_alloc(a, end - beg + 1);

	for (uint32_t i = beg; i < end; i++)
		p[i - beg] = (char)pt->tokens.v[i].byte;
	return (struct str){p, end - beg};
}

static uint32_t literal_run(const struct pattern *pt, uint32_t beg)
{
	while (beg < pt->tokens.n && pt->tokens.v[beg].kind == GITIGNORE_BYTE)
		beg++;
	return beg;
}

static void classify_pattern(struct arena *a, struct pattern *pt)
{
	uint32_t n = pt->tokens.n;

	if (literal_run(pt, 0) == n) {
		pt->kind = PATTERN_LITERAL;
		pt->lit = literal_part(a, pt, 0, n);
		pt->hash = hash_str(
			str_slice(pt->lit, pattern_base(pt->lit), pt->lit.n));
		return;
	}
	if (!pt->anchored && pt->tokens.v[0].kind == GITIGNORE_STAR &&
	    literal_run(pt, 1) == n) {
		pt->kind = PATTERN_SUFFIX;
		pt->lit = literal_part(a, pt, 1, n);
		pt->hash = hash_str(pt->lit);
		return;
	}
	pt->kind = PATTERN_GLOB;
	pt->lit = literal_part(a, pt, 0, literal_run(pt, 0));
}

/* A `*.ext` can be looked up by what follows the last dot. */
bool pattern_is_filed(const struct pattern *pt)
{
	switch (pt->kind) {
	case PATTERN_LITERAL:
		return true;
	case PATTERN_SUFFIX:
		return pt->lit.n && pattern_extension(pt->lit).n == pt->lit.n;
	case PATTERN_GLOB:
		return false;
	}
	abort();
}

/*
 * Take the marks off both ends of a pattern; *off is how far it moved from
 * the start of its line.
 */
static struct str strip_marks(struct pattern *pt, struct str p, size_t *off)
{
	*off = p.p[0] == '!';
	pt->back = *off == 1;
	p = str_slice(p, *off, p.n);
	if (p.n > 1 && p.p[p.n - 1] == '/') {
		pt->dir_only = true;
		p.n--;
	}
	pt->anchored = str_find(p, '/', 0) < p.n;
	if (p.n && p.p[0] == '/') {
		p = str_slice(p, 1, p.n);
		++*off;
	}
	return p;
}

enum gitignore_fault pattern_read(struct arena *a, struct str line,
				  size_t *out_at, struct pattern **out)
{
	struct pattern *pt;
	enum gitignore_fault fault;
	struct str p;
	size_t off, at;

	for (size_t i = 0; i < line.n; i++) {
		if ((uint8_t)line.p[i] < 0x20 || line.p[i] == 0x7f) {
			*out_at = i;
			return GITIGNORE_CONTROL;
		}
	}
	*out_at = 0;
	p = trim_end(line);
	if (p.n == 0 || p.p[0] == '#' || str_is(p, "!"))
		return GITIGNORE_BLANK;
	pt = arena_new_of(a, struct pattern);
	p = strip_marks(pt, p, &off);
	if (bad_segment(p, &at)) {
		*out_at = off + at;
		return GITIGNORE_ABOVE;
	}
	/* `**\/` before a single segment says no more than the segment. */
	if (str_starts(p, STR("**/")) && str_find(p, '/', 3) == p.n) {
		p = str_slice(p, 3, p.n);
		off += 3;
		pt->anchored = false;
	}
	at = 0;
	fault = read_tokens(a, pt, p, &at);
	*out_at = off + at;
	if (fault != GITIGNORE_OK)
		return fault;
	classify_pattern(a, pt);
	*out = pt;
	return GITIGNORE_OK;
}

/* --- matching ------------------------------------------------------------- */

/*
 * Two places to go back to are enough: the last star of this segment, and the
 * last `**` before it. What stood before either has matched as early as it
 * can, which leaves the most for the rest; the work is polynomial.
 */
struct retry {
	uint32_t token; /* what follows the star */
	size_t at;	/* where the next attempt starts */
	bool set;
};

static bool back_up(struct str s, struct retry *star, struct retry *dirs,
		    uint32_t *t, size_t *i)
{
	if (star->set && star->at < s.n && s.p[star->at] != '/') {
		*t = star->token;
		*i = ++star->at;
		return true;
	}
	star->set = false;
	if (!dirs->set)
		return false;
	dirs->at = str_find(s, '/', dirs->at) + 1;
	if (dirs->at > s.n)
		return false;
	*t = dirs->token;
	*i = dirs->at;
	return true;
}

static bool glob_match(const struct pattern *pt, struct str s)
{
	struct retry star = {0}, dirs = {0};
	uint32_t t = 0;
	size_t i = 0;

	for (;;) {
		const struct pattern_token *tok;
		bool ok = false;

		if (t == pt->tokens.n) {
			if (i == s.n)
				return true;
			goto judge;
		}
		tok = &pt->tokens.v[t];
		switch (tok->kind) {
		case GITIGNORE_BYTE:
			ok = i < s.n && (uint8_t)s.p[i] == tok->byte;
			break;
		case GITIGNORE_ANY:
			ok = i < s.n && s.p[i] != '/';
			break;
		case GITIGNORE_SET:
			ok = i < s.n &&
			     set_has(&pt->sets.v[tok->set], (uint8_t)s.p[i]);
			break;
		case GITIGNORE_STAR:
			star = (struct retry){++t, i, true};
			continue;
		case GITIGNORE_DIRS:
			star.set = false;
			dirs = (struct retry){++t, i, true};
			continue;
		case GITIGNORE_REST:
			return true;
		}
	judge:
		if (ok) {
			t++;
			i++;
		} else if (!back_up(s, &star, &dirs, &t, &i)) {
			return false;
		}
	}
}

bool pattern_match(const struct pattern *pt, struct str path, struct str base)
{
	struct str s = pt->anchored ? path : base;

	switch (pt->kind) {
	case PATTERN_LITERAL:
		return str_eq(s, pt->lit);
	case PATTERN_SUFFIX:
		return str_ends(base, pt->lit);
	case PATTERN_GLOB:
		return str_starts(s, pt->lit) && glob_match(pt, s);
	}
	abort();
}
