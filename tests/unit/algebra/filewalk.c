/*
 * filewalk.h and the automata below it: one path of each class that lists of
 * patterns tell apart. What a list says of a path is asked of gitignore.h.
 */
#include "compiler/algebra/space/filewalk.h"

#include "compiler/base/buf.h"

#include "tests/check.h"

struct visits {
	struct arena *a;
	const struct gitignore *lists[FILEWALK_LISTS];
	uint32_t n;
	struct buf shown;
	uint32_t stop_at, visited; /* stop_at: of visits; 0: at the end */
	uint32_t keep;		   /* lists that matter below a directory */
	VEC(struct filewalk_end) ends;
};

/* Lists with '|' between them, lines with ';'. "=": the list before. */
static struct filewalk *begin_walk(struct visits *v, const char *lists)
{
	struct str rest = str_of(lists), list, line;

	*v = (struct visits){.a = arena_new()};
	buf_init(&v->shown, v->a);
	while (str_field(&rest, '|', &list)) {
		struct gitignore *g = gitignore_new(v->a);

		if (str_is(list, "=")) {
			v->lists[v->n] = v->lists[v->n - 1];
			v->n++;
			continue;
		}
		while (str_field(&list, ';', &line))
			CHECK(gitignore_add(g, line, NULL) == GITIGNORE_OK);
		v->lists[v->n++] = g;
	}
	v->keep = (1u << v->n) - 1;
	return filewalk_new(v->a, v->lists, v->n);
}

/* What the lists say of a path; those of dropped are not asked. */
static struct filewalk_end end_of(const struct visits *v, struct str path,
				  bool is_dir, uint32_t dropped)
{
	struct filewalk_end e = {.is_dir = is_dir, .dropped = dropped};

	for (uint32_t i = 0; i < v->n; i++) {
		uint32_t at;

		e.held[i] = e.back[i] = AUTOMATON_NONE;
		if (dropped >> i & 1)
			continue;
		switch (gitignore_match(v->lists[i], path, is_dir, &at)) {
		case GITIGNORE_MATCH:
			e.held[i] = at;
			break;
		case GITIGNORE_BACK:
			e.back[i] = at;
			break;
		case GITIGNORE_NONE:
			break;
		}
	}
	return e;
}

static bool same_end(const struct visits *v, const struct filewalk_end *x,
		     const struct filewalk_end *y)
{
	if (x->is_dir != y->is_dir || x->dropped != y->dropped)
		return false;
	for (uint32_t i = 0; i < v->n; i++)
		if (x->held[i] != y->held[i] || x->back[i] != y->back[i])
			return false;
	return true;
}

static uint32_t held_lists(const struct visits *v, const struct filewalk_end *e)
{
	uint32_t out = 0;

	for (uint32_t i = 0; i < v->n; i++)
		if (e->held[i] != AUTOMATON_NONE)
			out |= 1u << i;
	return out;
}

/* "path:" and of each list the line that holds it, behind a '!' the one that
 * takes it back, '-' for none, '.' where it is not looked at. */
static void show_end(struct visits *v, struct str path,
		     const struct filewalk_end *e)
{
	buf_addf(&v->shown, "%.*s:", STR_ARG(path));
	for (uint32_t i = 0; i < v->n; i++)
		if (e->dropped >> i & 1)
			buf_addc(&v->shown, '.');
		else if (e->held[i] != AUTOMATON_NONE)
			buf_addf(&v->shown, "%u", e->held[i]);
		else if (e->back[i] != AUTOMATON_NONE)
			buf_addf(&v->shown, "!%u", e->back[i]);
		else
			buf_addc(&v->shown, '-');
	buf_addc(&v->shown, ' ');
}

static uint32_t visit_end(void *ctx, struct filewalk *w,
			  const struct filewalk_end *e)
{
	struct visits *v = ctx;
	struct str path = filewalk_path(w, e->is_dir);
	struct filewalk_end wanted;

	CHECK(str_ends(path, STR("/")) == e->is_dir);
	wanted = end_of(v, str_unslashed(path), e->is_dir, e->dropped);
	CHECK_MSG(same_end(v, &wanted, e), "%.*s", STR_ARG(path));
	show_end(v, path, e);
	*vec_push(v->a, &v->ends) = *e;
	if (++v->visited == v->stop_at)
		filewalk_stop(w);
	return ~held_lists(v, e) & v->keep;
}

/* --- what is visited ------------------------------------------------------ */

static const struct {
	const char *lists, *shown;
} cases[] = {
	{"|a", "x:-- x/:-- a:-0 a/:-0 a/x:-. a/x/:-. "},
	{"a", "x:- x/:- a:0 a/:0 "},
	{"a/", "x:- x/:- a:- a/:0 "},
	{"/a/b", "x:- x/:- a:- a/:- a/b:0 a/b/:0 "},
	{"*.pem;!ca.pem",
	 "x:- x/:- c:- c/:- x.:- x./:- ca:- ca/:- .p:- .p/:- ca.:- ca./:- .pe:- .pe/:- ca.p:- ca.p/:- .pem:0 .pem/:0 ca.pe:- ca.pe/:- ca.pem:!1 ca.pem/:!1 "},
	{"a|=", "x:-- x/:-- a:00 a/:00 "},
	{"a|b",
	 "x:-- x/:-- a:0- a/:0- b:-0 b/:-0 a/x:.- a/x/:.- a/b:.0 a/b/:.0 b/x:-. b/x/:-. b/a:0. b/a/:0. "},
	{"a;!a/b", "x:- x/:- a:0 a/:0 x/a:0 x/a/:0 "},
	{"?", "x:0 x/:0 xx:- xx/:- "},
	{"[ab]", "x:- x/:- a:0 a/:0 "},
	{"a/**", "x:- x/:- a:- a/:- a/x:0 a/x/:0 "},
	{"a/**/b", "x:- x/:- a:- a/:- a/x:- a/x/:- a/b:0 a/b/:0 "},
	{"**/a", "x:- x/:- a:0 a/:0 "},
	{"..a", "x:- x/:- ..a:0 ..a/:0 "},
	{"a;[a-c]", "x:- x/:- a:1 a/:1 b:1 b/:1 "},
	{"a*", "x:- x/:- a:0 a/:0 "},
	{"*a", "x:- x/:- a:0 a/:0 "},
	{"*", "x:0 x/:0 "},
	{"*;!a", "x:0 x/:0 a:!1 a/:!1 "},
	{"*/a", "x:- x/:- x/x:- x/x/:- x/a:0 x/a/:0 "},
	{"?/a", "x:- x/:- xx:- xx/:- x/a:0 x/a/:0 "},
	{"/*", "x:0 x/:0 "},
	{"/*/", "x:- x/:0 "},
	{"a/*/b", "x:- x/:- a:- a/:- a/x:- a/x/:- a/x/b:0 a/x/b/:0 "},
	{"0", "x:- x/:- 0:0 0/:0 "},
	{"@", "x:- x/:- @:0 @/:0 "},
	{"\xc3\xa4", "x:- x/:- \xc3:- \xc3/:- \xc3\xa4:0 \xc3\xa4/:0 "},
	{"[\x80-\xff]", "x:- x/:- \x80:0 \x80/:0 "},
	{"/[ ]a", "x:- x/:-  :-  /:-  a:0  a/:0 "},
	{"[ ]", "x:- x/:-  :0  /:0 "},
	{"x[ ]", "x:- x/:- a:- a/:- x :0 x /:0 "},
	{"[ -.];[0-\xff]", "x:1 x/:1 -:0 -/:0 \x01:- \x01/:- "},
	{"/a|/b|/a/c|/b/c",
	 "x:---- x/:---- a:0--- a/:0--- b:-0-- b/:-0-- a/x:.--- a/x/:.--- a/c:.-0- a/c/:.-0- b/x:-.-- b/x/:-.-- b/c:-.-0 b/c/:-.-0 a/c/x:.-.- a/c/x/:.-.- b/c/x:-.-. b/c/x/:-.-. "},
	{"*k1*;*k2*;*k3*",
	 "x:- x/:- k:- k/:- k1:0 k1/:0 k2:1 k2/:1 k3:2 k3/:2 k1k:0 k1k/:0 k2k:1 k2k/:1 k3k:2 k3k/:2 "},
	{"*k1*;!*k2*;*k3*",
	 "x:- x/:- k:- k/:- k1:0 k1/:0 k2:!1 k2/:!1 k3:2 k3/:2 k1k:0 k1k/:0 k2k:!1 k2k/:!1 k3k:2 k3k/:2 "},
	{"k/**;/k/a", "x:- x/:- k:- k/:- k/x:0 k/x/:0 k/a:1 k/a/:1 "},
	{"/a/;a", "x:- x/:- a:1 a/:1 x/a:1 x/a/:1 "},
	{"a;!*a", "x:- x/:- a:!1 a/:!1 xa:!1 xa/:!1 "},
	{"**", "x:0 x/:0 "},
	{"a|=|b|=",
	 "x:---- x/:---- a:00-- a/:00-- b:--00 b/:--00 a/x:..-- a/x/:..-- a/b:..00 a/b/:..00 b/x:--.. b/x/:--.. b/a:00.. b/a/:00.. "},
	{"*a*/;b", "x:- x/:- a:- a/:0 b:1 b/:1 "},
	{"b;*a*/;!a", "x:- x/:- a:!2 a/:!2 b:0 b/:0 xa:- xa/:1 "},
	{"!a", "x:- x/:- a:!0 a/:!0 "},
	{"a?b;a*b",
	 "x:- x/:- a:- a/:- ax:- ax/:- ab:1 ab/:1 axx:- axx/:- axb:1 axb/:1 axxb:1 axxb/:1 "},
	{"/**/a/**/b",
	 "x:- x/:- a:- a/:- a/x:- a/x/:- a/a:- a/a/:- a/b:0 a/b/:0 "},
	{"*b;*a*/", "x:- x/:- a:- a/:1 b:0 b/:0 ab:0 ab/:1 "},
	{"/a/b;!*a*", "x:- x/:- a:!1 a/:!1 xa:!1 xa/:!1 a/b:0 a/b/:0 "},
	{"/a?b;a/?/x",
	 "x:- x/:- a:- a/:- ax:- ax/:- a/x:- a/x/:- axb:0 axb/:0 a/x/x:1 a/x/x/:1 "},
	{"x!", "x:- x/:- a:- a/:- x!:0 x!/:0 "},
	{"[.#]", "x:- x/:- #:0 #/:0 "},
};

static void check_shown(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct visits v;
		struct filewalk *w = begin_walk(&v, cases[i].lists);

		CHECK(filewalk_run(w, visit_end, &v));
		CHECK_MSG(str_is(buf_str(&v.shown), cases[i].shown),
			  "%s:\n\t\t\"%.*s\"", cases[i].lists,
			  STR_ARG(buf_str(&v.shown)));
		arena_free(v.a);
	}
}

/* --- that it is all ------------------------------------------------------- */

static bool is_name(struct str segment)
{
	return segment.n && !str_is(segment, ".") && !str_is(segment, "..");
}

/* All paths that go on from this one, for so many bytes more, are of a class
 * that was visited. */
static void check_path(const struct visits *v, struct str path,
		       uint32_t dropped, int more)
{
	static const char bytes[] = "abx.";
	size_t slash = path.n;

	while (slash && path.p[slash - 1] != '/')
		slash--;
	for (int is_dir = 0;
	     is_dir < 2 && is_name(str_slice(path, slash, path.n)); is_dir++) {
		struct filewalk_end e = end_of(v, path, is_dir, dropped);
		uint32_t below = dropped | held_lists(v, &e);
		bool found = false;

		vec_each(x, &v->ends)
			found |= same_end(v, x, &e);
		CHECK_MSG(found, "nothing like %.*s%s", STR_ARG(path),
			  is_dir ? "/" : "");
		if (more && is_dir && below != v->keep)
			check_path(v, arena_fmt(v->a, "%.*s/", STR_ARG(path)),
				   below, more - 1);
	}
	for (size_t i = 0; more && i < sizeof(bytes) - 1; i++)
		check_path(v,
			   arena_fmt(v->a, "%.*s%c", STR_ARG(path), bytes[i]),
			   dropped, more - 1);
}

static void check_complete(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct visits v;
		struct filewalk *w = begin_walk(&v, cases[i].lists);

		CHECK(filewalk_run(w, visit_end, &v));
		check_path(&v, STR(""), 0, 4);
		arena_free(v.a);
	}
}

/* --- how far -------------------------------------------------------------- */

/* What a visit says matters below, of lists that are the same and of others. */
static const struct {
	const char *lists;
	uint32_t keep;
	const char *shown;
} kept[] = {
	{"a|b", 0, "x:-- x/:-- a:0- a/:0- b:-0 b/:-0 "},
	{"/x/a|/x/b", 1,
	 "x:-- x/:-- a:-- a/:-- x/x:-. x/x/:-. x/a:0. x/a/:0. "},
	{"/x/a|/x/b", 2,
	 "x:-- x/:-- a:-- a/:-- x/x:.- x/x/:.- x/b:.0 x/b/:.0 "},
	/* the one that stands for both */
	{"/x/a|=", 2, "x:-- x/:-- a:-- a/:-- x/a:00 x/a/:00 "},
	{"/x/a|=", 1, "x:-- x/:-- a:-- a/:-- x/x:-. x/x/:-. x/a:0. x/a/:0. "},
};

static void check_kept(void)
{
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		struct visits v;
		struct filewalk *w = begin_walk(&v, kept[i].lists);

		v.keep = kept[i].keep;
		CHECK(filewalk_run(w, visit_end, &v));
		CHECK_MSG(str_is(buf_str(&v.shown), kept[i].shown),
			  "%s:\n\t\t\"%.*s\"", kept[i].lists,
			  STR_ARG(buf_str(&v.shown)));
		arena_free(v.a);
	}
}

static void check_stop(void)
{
	for (uint32_t at = 1; at <= 3; at++) {
		struct visits v;
		struct filewalk *w = begin_walk(&v, "a");

		v.stop_at = at;
		CHECK(filewalk_run(w, visit_end, &v));
		CHECK(v.visited == at);
		arena_free(v.a);
	}
}

static uint32_t count_end(void *ctx, struct filewalk *w,
			  const struct filewalk_end *e)
{
	struct visits *v = ctx;

	(void)w;
	(void)e;
	v->visited++;
	return v->keep;
}

/* Where an 'a' was among the last so many bytes is told apart; and of lines
 * that hold a name whatever else it has, the last alone counts. */
static const struct {
	const char *lists;
	uint32_t visited; /* 0: there are more than the walk looks at */
} counts[] = {
	{"*a????????", 2 * 512},
	{"*a????????????", 2 * 8192},
	{"*a?????????????????", 0},
	{"*a*;*b*;*c*;*d*;*e*;*f*;*g*;*h*", 2 * 9},
	{"*a*;*b*;*c*;/k/**", 2 * 6},
	{"*;*a*;/k/**", 2 * 4},
	{"*a*/;*b*/;*c*/", 2 * 8},
};

static void check_counts(void)
{
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		struct visits v;
		struct filewalk *w = begin_walk(&v, counts[i].lists);

		CHECK(filewalk_run(w, count_end, &v) ==
		      (counts[i].visited > 0));
		CHECK_MSG(!counts[i].visited || v.visited == counts[i].visited,
			  "%s: %u", counts[i].lists, v.visited);
		arena_free(v.a);
	}
}

/* --- memory --------------------------------------------------------------- */

/* What a visit takes lies behind all that the walk has so far. */
static uint32_t fill_end(void *ctx, struct filewalk *w,
			 const struct filewalk_end *e)
{
	struct visits *v = ctx;
	struct str path;

	memset(arena_alloc(v->a, 512), 0x41, 512);
	path = filewalk_path(w, e->is_dir);
	memset(arena_alloc(v->a, 512), 0x41, 512);
	CHECK(str_is(path, e->is_dir ? "x/" : "x"));
	v->visited++;
	return 0;
}

/* Four states: nothing yet, what is no name, and all names. */
static void check_filled(void)
{
	struct visits v = {.a = arena_new()};
	const struct gitignore *none = gitignore_new(v.a);

	CHECK(filewalk_run(filewalk_new(v.a, &none, 1), fill_end, &v));
	CHECK(v.visited == 2);
	arena_free(v.a);
}

/* Slashes, where the next function that is called has its variables. */
static __attribute__((noinline)) void leave_slashes(void)
{
	volatile char room[1 << 15];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = '/';
}

/* Below a directory of which nobody wants anything nothing is visited. */
static void check_slashes(void)
{
	struct visits v;
	struct filewalk *w = begin_walk(&v, "?/a");

	v.keep = 0;
	leave_slashes();
	CHECK(filewalk_run(w, count_end, &v));
	CHECK(v.visited == 4);
	arena_free(v.a);
}

/* An automaton leaves the memory behind its own as it was. */
static void check_room(void)
{
	static const char nothing[512];

	for (unsigned n = 1; n <= 16; n++) {
		struct arena *a = arena_new();
		struct gitignore *g = gitignore_new(a);

		for (unsigned i = 0; i < n; i++)
			CHECK(gitignore_add(g, STR("x/"), NULL) ==
			      GITIGNORE_OK);
		(void)automaton_new(a, g);
		CHECK(memcmp(arena_alloc(a, sizeof(nothing)), nothing,
			     sizeof(nothing)) == 0);
		arena_free(a);
	}
}

/* --- automata ------------------------------------------------------------- */

static bool is_sorted(const automaton_set *set)
{
	for (uint32_t i = 1; i < set->n; i++)
		if (set->v[i - 1] >= set->v[i])
			return false;
	return true;
}

/* Of few patterns and of many, each place once and in order, so that sets with
 * the same places are the same. */
static void check_sets(void)
{
	static const char path[] = "a/b/ab/a1a2";

	for (unsigned many = 0; many < 400; many += 399) {
		struct arena *a = arena_new();
		struct gitignore *g = gitignore_new(a);
		automaton_set sets[2] = {0};
		struct automaton *m;

		CHECK(gitignore_add(g, STR("a*"), NULL) == GITIGNORE_OK);
		CHECK(gitignore_add(g, STR("/a/**/b"), NULL) == GITIGNORE_OK);
		CHECK(gitignore_add(g, STR("*b*"), NULL) == GITIGNORE_OK);
		for (unsigned i = 0; i < many; i++)
			CHECK(gitignore_add(g, arena_fmt(a, "*a%u", i), NULL) ==
			      GITIGNORE_OK);
		m = automaton_new(a, g);
		automaton_start(m, &sets[0]);
		CHECK(sets[0].n > many && is_sorted(&sets[0]));
		for (size_t i = 0; i < sizeof(path) - 1; i++) {
			automaton_step(m, &sets[i % 2], (uint8_t)path[i],
				       &sets[!(i % 2)]);
			CHECK(is_sorted(&sets[!(i % 2)]));
		}
		arena_free(a);
	}
}

/* What an automaton says of each path of these bytes, of four at most. */
static void check_verdict(struct arena *a, struct automaton *m,
			  const struct gitignore *g, struct str path,
			  const automaton_set *at, int more)
{
	static const char bytes[] = "abx./";
	size_t slash = path.n;

	while (slash && path.p[slash - 1] != '/')
		slash--;
	for (int is_dir = 0;
	     is_dir < 2 && is_name(str_slice(path, slash, path.n)); is_dir++) {
		uint32_t by = AUTOMATON_NONE;
		bool back;
		enum gitignore_verdict wanted =
			gitignore_match(g, path, is_dir, &by);

		if (wanted == GITIGNORE_NONE)
			by = AUTOMATON_NONE;
		CHECK_MSG(automaton_verdict(m, at, is_dir, &back) == by, "%.*s",
			  STR_ARG(path));
		CHECK(back == (wanted == GITIGNORE_BACK));
	}
	for (size_t i = 0; more && i < sizeof(bytes) - 1; i++) {
		automaton_set next = {0};

		if (bytes[i] == '/' && !is_name(str_slice(path, slash, path.n)))
			continue;
		automaton_step(m, at, (uint8_t)bytes[i], &next);
		check_verdict(a, m, g,
			      arena_fmt(a, "%.*s%c", STR_ARG(path), bytes[i]),
			      &next, more - 1);
	}
}

static void check_verdicts(void)
{
	static const char *const lists[] = {
		"a/**/b",    "**/a",	"a/**",	    "/**/a/**/b", "a?b;a*b",
		"/a/b;!*a*", "*b;*a*/", "a/*/b;!x", "[ab]/x;/a",
	};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		struct visits v;
		automaton_set first = {0};
		struct automaton *m;

		(void)begin_walk(&v, lists[i]);
		m = automaton_new(v.a, v.lists[0]);
		automaton_start(m, &first);
		check_verdict(v.a, m, v.lists[0], STR(""), &first, 4);
		arena_free(v.a);
	}
}

int main(void)
{
	check_verdicts();
	check_sets();
	check_shown();
	check_complete();
	check_kept();
	check_stop();
	check_counts();
	check_filled();
	check_slashes();
	check_room();
	return check_status();
}
