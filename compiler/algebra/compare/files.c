/*
 * What may be read and written: compare.h and never.h, of files.
 */
#include "compiler/algebra/compare/parts.h"

#include "compiler/algebra/space/filewalk.h"
#include "compiler/ir/text.h"

#include <string.h>

/* A list as decide.h compiles it. */
struct list {
	struct gitignore *compiled;
	VEC(const struct ir_pattern *) patterns; /* by index in compiled */
};

static void compile_list(struct arena *a, struct list *l,
			 const ir_patterns *from)
{
	l->compiled = gitignore_new(a);
	vec_each(p, from)
		if (gitignore_add(l->compiled, p->line, NULL) == GITIGNORE_OK)
			*vec_push(a, &l->patterns) = p;
}

static bool has_line(const struct list *l, struct str line)
{
	vec_each(p, &l->patterns)
		if (str_eq((*p)->line, line))
			return true;
	return false;
}

bool files_same_patterns(const ir_patterns *x, const ir_patterns *y)
{
	if (x->n != y->n)
		return false;
	for (uint32_t i = 0; i < x->n; i++)
		if (!str_eq(x->v[i].line, y->v[i].line))
			return false;
	return true;
}

/* --- witnesses ----------------------------------------------------------- */

static struct ir_request request_for(struct arena *a, enum access_kind kind,
				     struct str path)
{
	struct ir_request r = {.kind = kind == ACCESS_READ ? IR_REQ_READ
							   : IR_REQ_WRITE,
			       .path = path};

	r.text = ir_request_text(a, &r);
	return r;
}

/* --- comparing ----------------------------------------------------------- */

/* Lists by their index: what is hidden, and what is read-only. */
enum { OLD_IGNORE, NOW_IGNORE, OLD_READONLY, NOW_READONLY };
#define IGNORES	  3u
#define READONLYS 12u

/* What takes a path back that is not hidden, or not read-only. */
struct kept {
	enum access_kind kind;
	uint32_t by[2]; /* AUTOMATON_NONE: nothing speaks of it */
};

struct compare {
	struct arena *a;
	struct comparison *out;
	struct list lists[FILEWALK_LISTS];
	const struct decide_files *files[2];
	/* Per list, pattern, way and kind: it is a change already. */
	bool *known[FILEWALK_LISTS];
	VEC(struct kept) kept; /* those that are among out->kept */
	/* Per list and pattern: the other of its pair has it not. One more,
	 * false, is behind the last. */
	bool *own[FILEWALK_LISTS];
	bool ordered;	/* same_order() of both pairs */
	bool all_known; /* and nothing is looked for any more */
};

static uint32_t pending_changes(const struct compare *c, uint32_t *out_gains);

static struct decision ask_decision(const struct compare *c, int side,
				    const struct ir_request *r)
{
	return r->kind == IR_REQ_READ ? decide_read(c->files[side], r->path)
				      : decide_write(c->files[side], r->path);
}

static bool permits_file(const struct compare *c, int side,
			 const struct ir_request *r)
{
	return ask_decision(c, side, r).verdict == VERDICT_ALLOW;
}

static bool shows_way(const struct compare *c, enum access_way way,
		      const struct ir_request *r)
{
	bool was = permits_file(c, 0, r), is = permits_file(c, 1, r);

	return was != is && is == (way == ACCESS_GAINED);
}

static struct str cause_text(struct arena *a, enum access_kind kind,
			     struct str line)
{
	if (str_starts(line, STR("!")))
		line = str_slice(line, 1, line.n);
	return arena_fmt(a, "%s %.*s", kind == ACCESS_READ ? "read" : "write",
			 STR_ARG(line));
}

static void add_change(struct compare *c, enum access_way way,
		       enum access_kind kind, uint32_t list,
		       const struct ir_pattern *cause, struct str path)
{
	struct access_change *x = vec_push(c->a, &c->out->changes);

	x->way = way;
	x->kind = kind;
	x->text = cause_text(c->a, kind, cause->line);
	x->has_witness = true;
	x->witness = request_for(c->a, kind, path);
	for (int below = 0; below < 2; below++) {
		struct str p = example_path(c->a, cause->line, below);
		struct ir_request r;

		if (!p.n)
			continue;
		r = request_for(c->a, kind, p);
		if (!shows_way(c, way, &r))
			continue;
		x->witness = r;
		break;
	}
	x->was = ask_decision(c, 0, &x->witness);
	x->is = ask_decision(c, 1, &x->witness);
	x->why = cause->from;
	x->why_old = list == OLD_IGNORE || list == OLD_READONLY;
}

/*
 * What holds a path in one policy and not in the other: the pattern that the
 * other has not, or else the one that takes it back there.
 */
static void note_change(struct compare *c, struct filewalk *w,
			const struct filewalk_end *e, enum access_way way,
			enum access_kind kind, uint32_t list)
{
	uint32_t other = list ^ 1u, by = e->held[list], gains;
	bool *known;

	if (has_line(&c->lists[other], c->lists[list].patterns.v[by]->line) &&
	    e->back[other] != AUTOMATON_NONE) {
		list = other;
		by = e->back[other];
	}
	known = &c->known[list][by * 4 + way * 2u + (kind == ACCESS_WRITE)];
	if (*known)
		return;
	*known = true;
	c->all_known = c->ordered && !c->out->with_kept &&
		       pending_changes(c, &gains) == 0;
	add_change(c, way, kind, list, c->lists[list].patterns.v[by],
		   filewalk_path(w, e->is_dir));
}

static bool holds_list(const struct filewalk_end *e, uint32_t list)
{
	return e->held[list] != AUTOMATON_NONE;
}

/* Which of a pair of lists alone holds the path. */
static bool ends_differ(const struct filewalk_end *e, uint32_t old,
			enum access_way *out_way, uint32_t *out_list)
{
	if (holds_list(e, old) == holds_list(e, old + 1))
		return false;
	*out_way = holds_list(e, old) ? ACCESS_GAINED : ACCESS_LOST;
	*out_list = holds_list(e, old) ? old : old + 1;
	return true;
}

/* A path that people know, where nothing speaks of paths. */
static struct str usual_path(const struct compare *c, enum access_kind kind,
			     struct str path)
{
	static const char *const known[] = {"README.md", "src/main.c",
					    "Makefile", "docs/index.md"};

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		struct ir_request r = request_for(c->a, kind, str_of(known[i]));

		if (permits_file(c, 0, &r) && permits_file(c, 1, &r))
			return r.path;
	}
	return path;
}

/* A path that people would think of, for the pattern that takes it back. */
static struct str taken_back(const struct compare *c, enum access_kind kind,
			     struct str line, struct str path)
{
	for (int below = 0; below < 2; below++) {
		struct str p = example_path(c->a, line, below);
		struct ir_request r;

		if (!p.n)
			continue;
		r = request_for(c->a, kind, p);
		if (permits_file(c, 0, &r) && permits_file(c, 1, &r))
			return p;
	}
	return path;
}

static void add_kept(struct compare *c, const struct kept *k, uint32_t old,
		     struct str path)
{
	struct access_change *x = vec_push(c->a, &c->out->kept);
	const struct ir_pattern *by[2] = {NULL, NULL};

	for (uint32_t i = 0; i < 2; i++)
		if (k->by[i] != AUTOMATON_NONE)
			by[i] = c->lists[old + i].patterns.v[k->by[i]];
	x->way = ACCESS_KEPT;
	x->kind = k->kind;
	x->has_witness = true;
	if (by[1]) {
		x->text = cause_text(c->a, k->kind, by[1]->line);
		path = taken_back(c, k->kind, by[1]->line, path);
		x->why = by[1]->from;
	} else {
		x->text = k->kind == ACCESS_READ
				  ? STR("read what nothing hides")
				  : STR("write what nothing protects");
		path = usual_path(c, k->kind, path);
	}
	if (by[0] && !(by[1] && str_eq(by[0]->line, by[1]->line))) {
		x->has_before = true;
		x->before = by[0]->from;
	}
	x->witness = request_for(c->a, k->kind, path);
	x->was = ask_decision(c, 0, &x->witness);
	x->is = ask_decision(c, 1, &x->witness);
}

static void keep_change(struct compare *c, struct filewalk *w,
			const struct filewalk_end *e, enum access_kind kind,
			uint32_t old)
{
	struct kept k = {kind, {e->back[old], e->back[old + 1]}};

	/* What nothing hides is one: no matter what took which back before. */
	if (k.by[1] == AUTOMATON_NONE)
		k.by[0] = AUTOMATON_NONE;
	vec_each(had, &c->kept)
		if (had->kind == kind && had->by[0] == k.by[0] &&
		    had->by[1] == k.by[1])
			return;
	*vec_push(c->a, &c->kept) = k;
	add_kept(c, &k, old, filewalk_path(w, e->is_dir));
}

/* Whatever both permit; changes are told apart by visit_end(). */
static void visit_kept(struct compare *c, struct filewalk *w,
		       const struct filewalk_end *e)
{
	if (holds_list(e, OLD_IGNORE) || holds_list(e, NOW_IGNORE))
		return;
	keep_change(c, w, e, ACCESS_READ, OLD_IGNORE);
	if ((e->dropped & READONLYS) || holds_list(e, OLD_READONLY) ||
	    holds_list(e, NOW_READONLY))
		return;
	keep_change(c, w, e, ACCESS_WRITE, OLD_READONLY);
}

static uint32_t visit_end(void *ctx, struct filewalk *w,
			  const struct filewalk_end *e)
{
	struct compare *c = ctx;
	enum access_way way;
	uint32_t list;

	if (c->all_known) {
		filewalk_stop(w);
		return 0;
	}
	if (c->out->with_kept)
		visit_kept(c, w, e);
	/* What can be read can be written, but for readonly: not said twice. */
	if (ends_differ(e, OLD_IGNORE, &way, &list)) {
		note_change(c, w, e, way, ACCESS_READ, list);
		return 0; /* below, more of the same */
	}
	if (holds_list(e, OLD_IGNORE))
		return 0;
	if (e->dropped & READONLYS)
		return IGNORES;
	if (ends_differ(e, OLD_READONLY, &way, &list))
		note_change(c, w, e, way, ACCESS_WRITE, list);
	return holds_list(e, OLD_READONLY) || holds_list(e, NOW_READONLY)
		       ? IGNORES
		       : IGNORES | READONLYS;
}

/* --- without a walk ------------------------------------------------------ */

/*
 * Where the lines that both lists have stand in the same order in both, only
 * the others can make a difference, and each in one way: a line less that hides
 * and a line more that takes back give access, a line more that hides and a
 * line less that takes back take it. Later lines win, so that it takes a path
 * that the line itself matches.
 */
static bool same_order(const struct compare *c, uint32_t old)
{
	const struct list *x = &c->lists[old], *y = &c->lists[old + 1];
	uint32_t i = 0, k = 0;

	for (;; i++, k++) {
		while (c->own[old][i])
			i++;
		while (c->own[old + 1][k])
			k++;
		if (i == x->patterns.n || k == y->patterns.n)
			return i == x->patterns.n && k == y->patterns.n;
		if (!str_eq(x->patterns.v[i]->line, y->patterns.v[k]->line))
			return false;
	}
}

static void find_own(struct compare *c, uint32_t list)
{
	const struct list *l = &c->lists[list];

	c->own[list] = arena_array(c->a, l->patterns.n + 1, 1);
	for (uint32_t i = 0; i < l->patterns.n; i++)
		c->own[list][i] =
			!has_line(&c->lists[list ^ 1u], l->patterns.v[i]->line);
}

/* Of a line that one list alone has. */
static enum access_way way_of(uint32_t list, const struct ir_pattern *line)
{
	bool old = list == OLD_IGNORE || list == OLD_READONLY;
	bool back = str_starts(line->line, STR("!"));

	return old != back ? ACCESS_GAINED : ACCESS_LOST;
}

static bool *known_of(const struct compare *c, uint32_t list, uint32_t by)
{
	enum access_way way = way_of(list, c->lists[list].patterns.v[by]);
	bool write = list == OLD_READONLY || list == NOW_READONLY;

	return &c->known[list][by * 4 + way * 2u + write];
}

/* The path that people would think of, where it shows what the line does. */
static void try_example(struct compare *c, uint32_t list, uint32_t by)
{
	bool write = list == OLD_READONLY || list == NOW_READONLY;
	const struct ir_pattern *line = c->lists[list].patterns.v[by];
	enum access_kind kind = write ? ACCESS_WRITE : ACCESS_READ;
	enum access_way way = way_of(list, line);

	for (int below = 0; below < 2; below++) {
		struct str p = example_path(c->a, line->line, below);
		struct ir_request r, read;

		if (!p.n)
			continue;
		r = request_for(c->a, kind, p);
		read = request_for(c->a, ACCESS_READ, p);
		/* What cannot be read in one of them is another change. */
		if (!shows_way(c, way, &r) ||
		    (write && (!permits_file(c, 0, &read) ||
			       !permits_file(c, 1, &read))))
			continue;
		*known_of(c, list, by) = true;
		add_change(c, way, kind, list, line, p);
		return;
	}
}

/* Lines of one list alone that no change is known of: how many may give. */
static uint32_t pending_changes(const struct compare *c, uint32_t *out_gains)
{
	uint32_t n = 0;

	*out_gains = 0;
	for (uint32_t i = 0; i < FILEWALK_LISTS; i++)
		for (uint32_t k = 0; k < c->lists[i].patterns.n; k++) {
			const struct ir_pattern *p = c->lists[i].patterns.v[k];

			if (!c->own[i][k] || *known_of(c, i, k))
				continue;
			n++;
			*out_gains += way_of(i, p) == ACCESS_GAINED;
		}
	return n;
}

static void try_all_examples(struct compare *c)
{
	for (uint32_t i = 0; i < FILEWALK_LISTS; i++)
		for (uint32_t k = 0; k < c->lists[i].patterns.n; k++)
			if (c->own[i][k])
				try_example(c, i, k);
}

/* Lines that both have, and that take something back in both. */
static void keep_example(struct compare *c, enum access_kind kind, uint32_t old)
{
	const struct list *was = &c->lists[old], *is = &c->lists[old + 1];
	struct kept none = {kind, {AUTOMATON_NONE, AUTOMATON_NONE}};

	for (uint32_t i = 0, k = 0; i < is->patterns.n; i++) {
		struct str line = is->patterns.v[i]->line, p;
		struct kept by = {kind, {0, i}};

		while (k < was->patterns.n &&
		       !str_eq(was->patterns.v[k]->line, line))
			k++;
		if (k == was->patterns.n) {
			k = 0;
			continue;
		}
		by.by[0] = k;
		if (!str_starts(line, STR("!")))
			continue;
		p = taken_back(c, kind, line, STR(""));
		if (p.n) {
			*vec_push(c->a, &c->kept) = by;
			add_kept(c, &by, old, p);
		}
	}
	if (usual_path(c, kind, STR("")).n) {
		*vec_push(c->a, &c->kept) = none;
		add_kept(c, &none, old, STR(""));
	}
}

static bool has_usual(const struct compare *c)
{
	return usual_path(c, ACCESS_READ, STR("")).n &&
	       usual_path(c, ACCESS_WRITE, STR("")).n;
}

/* Beyond the bounds: what was not looked at may have been widened, unless
 * nothing is left that could have done so. */
static void add_unknown(struct compare *c, bool ordered)
{
	uint32_t gains = 1;

	if (ordered)
		(void)pending_changes(c, &gains);
	*vec_push(c->a, &c->out->changes) = (struct access_change){
		.way = gains ? ACCESS_OTHER : ACCESS_LOST,
		.kind = ACCESS_READ,
		.text = gains ? STR("more combinations of patterns than can be compared")
			      : STR("perhaps more: too many combinations of patterns, of which none gives access")};
}

static void walk_lists(struct compare *c, bool ignore, bool readonly,
		       bool ordered)
{
	const struct gitignore *lists[FILEWALK_LISTS];

	for (uint32_t i = 0; i < FILEWALK_LISTS; i++)
		lists[i] = c->lists[i].compiled;
	if (ignore)
		lists[NOW_IGNORE] = lists[OLD_IGNORE];
	if (readonly)
		lists[NOW_READONLY] = lists[OLD_READONLY];
	c->ordered = ordered;
	if (!filewalk_run(filewalk_new(c->a, lists, FILEWALK_LISTS), visit_end,
			  c) &&
	    !(ignore && readonly))
		add_unknown(c, ordered);
}

void files_compare(struct arena *a, const struct ir_policy *old,
		   const struct ir_policy *now, struct comparison *out)
{
	const ir_patterns *from[] = {&old->ignore, &now->ignore, &old->readonly,
				     &now->readonly};
	bool ignore = files_same_patterns(&old->ignore, &now->ignore);
	bool readonly = files_same_patterns(&old->readonly, &now->readonly);
	struct compare c = {.a = a, .out = out};
	bool ordered;
	uint32_t gains;

	if (ignore && readonly && !out->with_kept)
		return;
	for (uint32_t i = 0; i < FILEWALK_LISTS; i++) {
		compile_list(a, &c.lists[i], from[i]);
		c.known[i] = arena_array(a, c.lists[i].patterns.n + 1, 4);
	}
	c.files[0] = decide_files_new(a, old);
	c.files[1] = decide_files_new(a, now);
	for (uint32_t i = 0; i < FILEWALK_LISTS; i++)
		find_own(&c, i);
	ordered = same_order(&c, OLD_IGNORE) && same_order(&c, OLD_READONLY);
	if (ordered)
		try_all_examples(&c);
	if (ordered && out->with_kept) {
		keep_example(&c, ACCESS_READ, OLD_IGNORE);
		keep_example(&c, ACCESS_WRITE, OLD_READONLY);
	}
	if (ordered && pending_changes(&c, &gains) == 0 &&
	    (!out->with_kept || has_usual(&c)))
		return;
	walk_lists(&c, ignore, readonly, ordered);
}

/* --- never --------------------------------------------------------------- */

enum { IGNORE, SET, READONLY };

struct never {
	bool found;
	struct str path;
};

static uint32_t visit_never(void *ctx, struct filewalk *w,
			    const struct filewalk_end *e)
{
	struct never *n = ctx;

	if (holds_list(e, IGNORE) || holds_list(e, READONLY))
		return 0;
	if (!holds_list(e, SET))
		return 7;
	n->found = true;
	n->path = filewalk_path(w, e->is_dir);
	filewalk_stop(w);
	return 0;
}

bool files_never(struct arena *a, const struct ir_policy *p,
		 const struct ir_never *set, struct ir_request *out,
		 bool *out_unknown)
{
	bool write = set->kind == IR_NEVER_WRITE;
	struct never n = {0};
	const ir_patterns none = {0};
	struct ir_pattern one = {.line = set->pattern};
	const ir_patterns wanted = {.v = &one, .n = 1};
	enum access_kind kind = write ? ACCESS_WRITE : ACCESS_READ;
	const struct gitignore *compiled[3];
	struct list lists[3] = {0};

	compile_list(a, &lists[IGNORE], &p->ignore);
	compile_list(a, &lists[SET], &wanted);
	compile_list(a, &lists[READONLY], write ? &p->readonly : &none);
	for (int i = 0; i < 3; i++)
		compiled[i] = lists[i].compiled;
	*out_unknown =
		!filewalk_run(filewalk_new(a, compiled, 3), visit_never, &n);
	if (!n.found)
		return false;
	*out = request_for(a, kind, n.path);
	for (int below = 0; below < 2; below++) {
		const struct decide_files *f = decide_files_new(a, p);
		struct str path = example_path(a, set->pattern, below);
		bool in;

		if (!path.n)
			continue;
		in = gitignore_match(compiled[SET], path, false, NULL) ==
			     GITIGNORE_MATCH ||
		     (below && gitignore_match(compiled[SET], str_parent(path),
					       true, NULL) == GITIGNORE_MATCH);
		if (!in ||
		    (write ? decide_write(f, path) : decide_read(f, path))
				    .verdict == VERDICT_DENY)
			continue;
		*out = request_for(a, kind, path);
		break;
	}
	return true;
}
